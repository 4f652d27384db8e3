//! The keys of a link: each is declared here, and here alone.

use super::capacity::{Cell, Keys, LogFile, OnMedium, TraceFile};
use super::declare::one_direction;
use super::episodes::{Outages, Spikes, Steps};
use super::jitter::Jitter;
use super::protection::{Arq, ArqKeys, Fec};
use super::queue::Queue;
use super::value::{Around, Plain, Value};
use crate::scenario::check::Check;
use crate::scenario::one_of::OneOf;
use airtcp_proto::choice::choice;
use airtcp_proto::circuit::Compression;
use airtcp_proto::path::jitter::Distribution;
use airtcp_proto::path::lte::Ue;
use airtcp_proto::path::wifi::Snr;
use airtcp_proto::path::{ChannelConfig, Loss};
use airtcp_proto::queue::Discipline;
use airtcp_wire::{Dur, Rate};
use schemars::JsonSchema;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

one_direction! {
    capacity: {
        /// Fixed rate, above zero. Give exactly one of `rate`, `trace`, `log`, `channel` and `medium`. Absent: another one is given.
        rate: Rate => Fixed(Rate),
        /// Capacity trace in mahimahi's format, relative to the scenario's directory: each line the time in ms at which one
        /// 1500-byte packet may cross. Absent: another one is given.
        trace: PathBuf => Trace(TraceFile),
        /// Bandwidth log, relative to the scenario's directory: a JSON list of {duration_ms, bandwidth_kbps, latency_ms}.
        /// Absent: another one is given.
        log: PathBuf => Log(LogFile),
        /// A 3G cell: fading channels, and a proportional-fair scheduler among several users. Each run and each direction
        /// has its own cell. Absent: another one is given.
        channel: ChannelConfig => Channel(Cell),
        /// Name of a medium that the link shares with others: it sends when it has its turn there. Absent: another one is given.
        medium: String => Medium(OnMedium),
    }
    /// Propagation delay, one way. Absent: zero, or with `log` half of its latency_ms, which is a round trip.
    delay: Dur,
    /// Modulation and coding scheme on the `medium`. Absent: the medium's.
    mcs: u32 => Option<u32>,
    /// Signal-to-noise ratio on the `medium`: a frame cannot be read as often as it, the scheme and the frame's length say. Absent:
    /// the signal is strong enough for every frame.
    snr: Snr => Option<Snr>,
    /// The user at the far end of a link in an LTE cell: how well it hears the base station. Absent: as well as can be.
    ue: Ue => Option<Ue>,
    /// Delay that varies from packet to packet, added to the propagation delay. Absent: none.
    jitter: OneOf<Distribution> => Option<Jitter>,
    /// Sudden extra delay in this direction. Absent: none.
    spikes: Spikes => Option<Spikes>,
    /// Packets that the link loses. Absent: none.
    loss: Loss => Loss,
    /// Forward error correction. Absent: none.
    fec: Fec => Option<Fec>,
    /// Local retransmission of what is lost. Absent: none.
    arq: ArqKeys => Option<Arq>,
    /// Compression of TCP circuits' header packets on this link alone (paper 000 §10); in the simulator. Packets must stay in
    /// order. Absent: none.
    compression: Compression => Compression,
    /// The queue in front of the link. Absent: DropTail with its default room.
    queue: OneOf<Discipline> => Queue,
}

impl Plain for Compression {}

impl Value for Option<u32> {
    type Written = u32;

    fn read(written: &u32, _: &Around<'_>, _: &mut Check<'_>) -> Option<Option<u32>> {
        Some(Some(*written))
    }
}

impl Value for Option<Snr> {
    type Written = Snr;

    /// The capacity needs it, too: the link has read it already.
    fn read(_: &Snr, around: &Around<'_>, _: &mut Check<'_>) -> Option<Option<Snr>> {
        around.snr.clone().map(Some)
    }
}

impl Value for Option<Ue> {
    type Written = Ue;

    fn read(written: &Ue, _: &Around<'_>, check: &mut Check<'_>) -> Option<Option<Ue>> {
        if let Some((key, problem)) = written.problem() {
            check.refuse_key(key, problem);
            return None;
        }
        Some(Some(*written))
    }
}
