//! What the base station knows of one flow: a fixed number of integers, whatever the flow carries.

use super::Verdict;
use super::ack_filter::AckFilter;
use super::data_filter::DataFilter;
use crate::middlebox::{Direction, FlowId, Origin, TcpPacket};
use airtcp_wire::{Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Time};

#[derive(Debug)]
pub struct Flow {
    pub last_seen: Time,
    acks: AckFilter,
    data: DataFilter,
    /// Sequence numbers after the FINs, by the direction in which they go, and whether they have been acknowledged.
    fins: [Option<(Seq, bool)>; 2],
}

impl Flow {
    /// A flow whose first segment seen is `first`.
    pub fn new(threshold: u32, first: &Segment) -> Flow {
        Flow {
            last_seen: Time::ZERO,
            acks: AckFilter::new(threshold),
            data: DataFilter::new(first),
            fins: [None; 2],
        }
    }

    pub fn judge(&mut self, packet: &TcpPacket) -> Verdict {
        let segment = &packet.segment;
        self.watch_end(packet.direction, segment);
        match packet.direction {
            Direction::Forward => {
                let acked = self.acks.last().map(|last| last.ack);
                self.data.judge(segment, packet.ecn, acked)
            }
            Direction::Reverse if segment.flags.contains(Flags::ACK) => {
                self.acks.judge(segment, self.data.sent_end)
            }
            Direction::Reverse => Verdict::Pass,
        }
    }

    fn watch_end(&mut self, direction: Direction, segment: &Segment) {
        if segment.flags.contains(Flags::FIN) {
            let end = segment.seq.at(segment.seq_len().into());
            self.fins[direction as usize].get_or_insert((end, false));
        }
        if let Some((end, is_acked)) = &mut self.fins[direction.opposite() as usize] {
            *is_acked |= segment.flags.contains(Flags::ACK) && segment.ack.distance(*end) >= 0;
        }
    }

    /// Both sides have closed, and both know it.
    pub fn is_over(&self) -> bool {
        self.fins.iter().all(|fin| fin.is_some_and(|(_, is_acked)| is_acked))
    }

    /// What the mobile host has acknowledged, said by the base station. `None`: it has not been heard yet.
    pub fn answer(&self, flow: FlowId) -> Option<TcpPacket> {
        let last = self.acks.last()?;
        let segment = Segment {
            seq: last.seq,
            ack: last.ack,
            flags: Flags::ACK,
            window: last.window,
            len: 0,
            timestamps: last.timestamps,
            sack: SackBlocks::default(),
            syn: SynOptions::default(),
        };
        Some(TcpPacket {
            flow,
            direction: Direction::Reverse,
            ecn: Ecn::NotEct,
            bytes: if last.timestamps.is_some() { 52 } else { 40 },
            segment,
            origin: Origin::default(),
        })
    }
}
