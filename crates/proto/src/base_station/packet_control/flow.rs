//! What the base station knows of one flow: a fixed number of integers, whatever the flow carries.

use super::Verdict;
use super::ack_filter::{AckFilter, LastAck};
use super::data_filter::DataFilter;
use crate::base_station::flows::Ending;
use crate::middlebox::{Direction, FlowId, Origin, SeenPacket};
use airtcp_wire::{Ecn, Flags, Segment, SynOptions};

#[derive(Debug)]
pub struct FlowState {
    pub ending: Ending,
    acks: AckFilter,
    data: DataFilter,
}

impl FlowState {
    /// A flow whose first segment seen is `first`.
    pub fn new(threshold: u32, first: &Segment) -> FlowState {
        FlowState { ending: Ending::default(), acks: AckFilter::new(threshold), data: DataFilter::new(first) }
    }

    pub fn judge(&mut self, packet: &SeenPacket) -> Verdict {
        let segment = &packet.segment;
        self.ending.watch(packet.direction, segment);
        match packet.direction {
            Direction::Forward => {
                let acked = self.acks.last().map(|last| last.ack);
                self.data.judge(segment, packet.ecn, acked)
            }
            Direction::Reverse if segment.flags.contains(Flags::ACK) => {
                self.acks.judge(segment, self.data.sent)
            }
            Direction::Reverse => Verdict::Pass,
        }
    }

    /// What the mobile host has acknowledged, said by the base station. `None`: it has not been heard yet.
    pub fn answer(&self, flow: FlowId) -> Option<SeenPacket> {
        let last = self.acks.last()?;
        let segment = Segment {
            seq: last.seq,
            ack: last.ack,
            flags: Flags::ACK,
            window: last.window,
            len: 0,
            timestamps: last.timestamps,
            sack: last.sack,
            syn: SynOptions::default(),
        };
        Some(SeenPacket {
            flow,
            direction: Direction::Reverse,
            ecn: Ecn::NotEct,
            bytes: 40 + options_len(last),
            segment,
            origin: Origin::default(),
        })
    }
}

/// Bytes of timestamps and SACK blocks, each behind two NOPs.
fn options_len(last: &LastAck) -> u32 {
    let timestamps = if last.timestamps.is_some() { 12 } else { 0 };
    let blocks = last.sack.as_slice().len() as u32;
    timestamps + if blocks > 0 { 4 + 8 * blocks } else { 0 }
}
