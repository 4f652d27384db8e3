//! What a circuit can be set to.

use crate::tcp::TcpConfig;
use airtcp_wire::{Bytes, Dur, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Maximum number of header packets that another one repeats.
pub const MAX_FEC: u8 = 3;

/// A TCP circuit. Its control TCPs' own rules are a [`TcpConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Bytes of data that one header packet represents: the control TCPs' maximum segment size, which is virtual.
    pub vmss: Bytes,
    /// Number of control TCPs (M): one loss costs 1/(2M) of the circuit's rate, and the circuit takes M flows' shares.
    pub controls: u16,
    /// Guaranteed minimum bandwidth: data that leaves without header packets. Absent: none.
    pub gmb: Option<Rate>,
    /// Maximum wait of data packets before the circuit, at its current rate; four packets and one VMSS may wait at
    /// any rate. 0: limited only by `tunnel_queue`.
    pub tunnel_delay: Dur,
    /// Maximum data packets waiting to enter the circuit.
    pub tunnel_queue: u32,
    /// Compress the header packets between the circuit's ends.
    pub compression: Compression,
    /// ACKs report how much data is missing; losses that corruption cannot explain count as congestion. Takes two
    /// bytes of each compressed header packet.
    pub loss_reports: bool,
    /// FEC: number of previous header packets (up to 3) repeated in each one, so that losing them costs nothing; `auto`
    /// also sends repairs for the last data packets of bursts, as many as the losses ask for. Congestion is then detected
    /// from loss reports.
    pub fec: Fec,
    /// How the data TCP finds what is lost.
    pub error_control: ErrorControl,
    /// F1: the data TCP's receiver reports missing packets by SACK.
    pub f1: bool,
    /// F2: the data TCP resends its first unacknowledged packet each time it has counted as many duplicate ACKs as
    /// the control TCPs' window has segments.
    pub f2: bool,
    /// F3: the data TCP's retransmission timer is 50 ms, never backed off.
    pub f3: bool,
}

/// What is sent so that losses need not be repaired by sending again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Fec {
    /// Each header packet repeats so many others.
    Repeat(u8),
    /// It repeats [`MAX_FEC`], since that costs no bytes, and data packets are repaired ([`crate::fec`]).
    Auto,
}

impl Fec {
    /// Header packets that each one repeats.
    pub fn repeats(self) -> u8 {
        match self {
            Fec::Repeat(count) => count,
            Fec::Auto => MAX_FEC,
        }
    }

    /// Are there repairs for data packets?
    pub fn repairs_data(self) -> bool {
        self == Fec::Auto
    }
}

impl TryFrom<Value> for Fec {
    type Error = String;

    fn try_from(value: Value) -> Result<Fec, String> {
        let count = value.as_u64().and_then(|count| u8::try_from(count).ok());
        match (count, value.as_str()) {
            (Some(count), _) => Ok(Fec::Repeat(count)),
            (None, Some("auto")) => Ok(Fec::Auto),
            _ => Err(format!("expected a number of header packets from 0 to {MAX_FEC}, or `auto`")),
        }
    }
}

impl From<Fec> for Value {
    fn from(fec: Fec) -> Value {
        match fec {
            Fec::Repeat(count) => count.into(),
            Fec::Auto => "auto".into(),
        }
    }
}

impl JsonSchema for Fec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fec".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "enum": [0, 1, 2, 3, "auto"] })
    }
}

/// What a data TCP does about losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorControl {
    /// RACK-TLP (RFC 8985), which finds lost retransmissions, too.
    #[default]
    Rack,
    /// The paper's features F1, F2 and F3 (§6).
    Paper,
}

/// How header packets are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    #[default]
    None,
    /// RFC 1144: 3 bytes and the TCP options. After a lost one nothing can be read until a retransmission comes.
    Rfc1144,
    /// RFC 1144 with the repair *twice*: up to two lost ones in a row are guessed.
    Twice,
}

impl Default for Config {
    /// The paper's header packets (§4.8.3), and what has been learned since of queues and of losses.
    fn default() -> Config {
        Config {
            vmss: Bytes(1500),
            controls: 1,
            gmb: None,
            tunnel_delay: Dur::from_millis(10),
            tunnel_queue: 1000,
            compression: Compression::None,
            loss_reports: true,
            fec: Fec::Repeat(0),
            error_control: ErrorControl::Rack,
            f1: true,
            f2: true,
            f3: true,
        }
    }
}

impl Config {
    /// JSON Schema of the keys.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Config).to_value()
    }

    /// The configuration of the control TCPs, made of the stack's configuration `tcp`.
    pub fn control_tcp(&self, tcp: &TcpConfig) -> TcpConfig {
        TcpConfig {
            packet_size: self.vmss.0 as u32 + 40 + tcp.option_bytes(),
            // Virtual bytes fill no buffer: only cwnd limits (§4.5.1).
            send_buffer: None,
            receive_window: Bytes(1 << 30),
            receive_buffer: Some(Bytes(1 << 31)),
            window_scaling: true,
            nagle: false,
            // A control TCP never gives up: nobody would learn of it.
            max_retries: u32::MAX,
            ..tcp.clone()
        }
    }

    /// # Errors
    /// What is wrong with the values, and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        // The MSS option on a SYN has 16 bits (RFC 9293 §3.7.1), and timestamps are taken off it.
        match self {
            Config { vmss: Bytes(vmss), .. } if !(64..=65_000).contains(vmss) => {
                Err(format!("vmss = {vmss} B: must be 64 to 65000 bytes"))
            }
            Config { controls: 0, .. } => Err("controls = 0: a circuit needs at least one".to_owned()),
            Config { tunnel_queue: 0, .. } => Err("tunnel_queue = 0: must be at least 1".to_owned()),
            Config { fec, .. } if fec.repeats() > MAX_FEC => {
                Err(format!("fec = {}: at most {MAX_FEC} header packets can be repeated", fec.repeats()))
            }
            Config { fec, loss_reports: false, .. } if fec.repeats() > 0 => {
                Err("fec needs loss_reports = true: it hides losses of header packets".to_owned())
            }
            Config { gmb: Some(Rate(0)), .. } => Err("gmb = 0: omit it for none".to_owned()),
            Config { error_control: ErrorControl::Rack, f1, f2, f3, .. } if !(*f1 && *f2 && *f3) => {
                Err("f1, f2 and f3 are features of error_control = paper".to_owned())
            }
            _ => Ok(()),
        }
    }
}
