//! What the base station knows of one flow. The amount of state is fixed, whatever the flow carries.

use super::Verdict;
use super::ack_filter::AckFilter;
use super::data_filter::DataFilter;
use crate::base_station::flows::Ending;
use crate::middlebox::{Direction, FlowId, SeenPacket};
use airtcp_wire::{Flags, Segment, SynOptions};

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
                let acked = self.acks.last.as_ref().map(|last| last.ack);
                self.data.judge(segment, packet.ecn, acked)
            }
            Direction::Reverse if segment.flags.contains(Flags::ACK) => {
                self.acks.judge(segment, self.data.sent)
            }
            Direction::Reverse => Verdict::Pass,
        }
    }

    /// The mobile host's last acknowledgment, repeated by the base station. `None` if there has been none.
    #[cold]
    pub fn answer(&self, flow: FlowId) -> Option<SeenPacket> {
        let last = self.acks.last.as_ref()?;
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
        Some(SeenPacket::made(flow, Direction::Reverse, segment))
    }
}
