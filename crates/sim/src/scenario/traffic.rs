//! What applications send.
//!
//! A new kind is a `Config` that implements [`Keys`], a line in `choice!` below, and what it does in `crate::traffic`.

use airtcp_proto::choice::{Faults, choice};
use airtcp_wire::{Bytes, Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice! {
    /// Kinds of application.
    Traffic: dyn Keys beside Application, by "kind" = Some("unlimited");
    "unlimited" => Unlimited(Unlimited),
    "bytes" => Bytes(Transfer),
    "on-off" => OnOff(Bursts),
    "poisson" => Poisson(Arrivals),
    "udp" => Udp(Datagrams),
}

/// The keys of one kind. Field names are the keys, doc comments their documentation; serde fills in defaults.
pub trait Keys {
    /// Reports values that make no sense.
    fn check(&self, _: &mut Faults) {}
}

/// What the application sends. Keys that belong to another kind are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Traffic", deny_unknown_fields)]
pub struct Application {}

/// Always more to send.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unlimited {}

/// One transfer of `size`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// The whole transfer.
    pub size: Bytes,
}

/// Alternating bursts and silence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bursts {
    /// Mean length (exponential) of the sending periods.
    pub on: Dur,
    /// Mean length (exponential) of the silent periods.
    pub off: Dur,
    /// Rate while on. Absent: as fast as possible.
    pub rate: Option<Rate>,
}

/// Short transfers, each on its own connection, with recorded completion times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// Mean time between two arrivals.
    pub interval: Dur,
    /// The mean transfer.
    pub size: Bytes,
    /// Whether sizes are exponential; otherwise all the same.
    #[serde(default = "yes")]
    pub exponential: bool,
}

/// Constant-rate datagrams without congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Datagrams {
    /// Rate of the IP packets.
    pub rate: Rate,
    /// Length of the IP packet.
    #[serde(default = "usual_packet")]
    pub packet: Bytes,
}

/// From the shortest IPv4 packet that can carry UDP to the longest.
const UDP_PACKET_BYTES: std::ops::RangeInclusive<u64> = 28..=65535;
const ABOVE_ZERO: &str = "must be above zero";

fn yes() -> bool {
    true
}

fn usual_packet() -> Bytes {
    Bytes(1000)
}

impl Keys for Unlimited {}

impl Keys for Transfer {
    fn check(&self, faults: &mut Faults) {
        faults.refuse_if(self.size == Bytes(0), "size", ABOVE_ZERO);
    }
}

impl Keys for Bursts {
    fn check(&self, faults: &mut Faults) {
        faults.above_zero("on", self.on);
        faults.above_zero("off", self.off);
        faults.refuse_if(self.rate == Some(Rate(0)), "rate", ABOVE_ZERO);
    }
}

impl Keys for Arrivals {
    fn check(&self, faults: &mut Faults) {
        faults.above_zero("interval", self.interval);
        faults.refuse_if(self.size == Bytes(0), "size", ABOVE_ZERO);
    }
}

impl Keys for Datagrams {
    fn check(&self, faults: &mut Faults) {
        faults.refuse_if(self.rate == Rate(0), "rate", ABOVE_ZERO);
        let can_be = UDP_PACKET_BYTES.contains(&self.packet.0);
        faults.refuse_if(!can_be, "packet", "must be 28B to 65535B");
    }
}
