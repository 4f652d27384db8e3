//! What became of every packet on every link: what it takes to draw the path while packets cross it.

use crate::packet::{Load, Packet};
use crate::series::{cause_name, table};
use crate::topology::Side;
use airtcp_proto::middlebox::Direction;
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Ecn, Time};
use std::collections::BTreeSet;

table! {
    /// A row for each packet and link that it enters, in order of entry.
    PacketSeries {
        sent_ns: U64(u64),
        /// Index into [`RunRecord::links`](crate::record::RunRecord::links).
        link: U64(u64),
        /// "data", "resent", "ack", "header" or "header-ack". What opens and closes connections counts as "ack".
        kind: Text(&'static str),
        /// Index into [`RunRecord::flows`](crate::record::RunRecord::flows); of a circuit's own packets, the circuit.
        flow: U64(u64),
        bytes: U64(u64),
        /// Stream position of the first byte of data.
        offset_bytes: F64(f64),
        /// The first block of SACK that an ACK carries, relative to what it acknowledges; not a number without one.
        sack_from_bytes: F64(f64),
        sack_to_bytes: F64(f64),
        /// When it came out, would have come out had it not been corrupted, or was dropped. Not a number for what is still
        /// on the link when the run ends.
        out_ns: F64(f64),
        /// 1 if the queue has set the ECN field to "congestion experienced".
        marked: U64(u64),
        /// "delivered", "overflow", "aqm", "corruption" or "outage"; empty for what is still on the link.
        fate: Text(&'static str),
    }
}

/// What only the packet itself tells.
#[derive(Clone, Copy)]
pub struct Seen {
    direction: Direction,
    kind: &'static str,
    flow: u32,
    offset: u64,
    sack: Option<(i32, i32)>,
}

impl Seen {
    pub fn of(packet: &Packet) -> Seen {
        let kind = match packet.load {
            Load::Header { .. } => "header",
            Load::HeaderAck { .. } => "header-ack",
            _ if !packet.is_data() => "ack",
            _ if packet.transmit.reason == Reason::New => "data",
            _ => "resent",
        };
        let segment = &packet.transmit.segment;
        let sack = segment.sack.as_slice().first();
        Seen {
            direction: packet.direction,
            kind,
            flow: packet.flow,
            offset: packet.transmit.offset,
            sack: sack.map(|(left, right)| (left.distance(segment.ack), right.distance(segment.ack))),
        }
    }
}

/// Longer packets are taken for data where nobody has seen inside.
const LONGEST_ACK: u32 = 120;

/// Links tell what they take and give; what taps have seen of the packets is added at the end.
#[derive(Default)]
pub struct PacketLog {
    rows: PacketSeries,
    /// By the packet's number: the row of the link on which it is.
    row_of: Vec<usize>,
    /// Rows in the order in which they were delivered.
    delivered: Vec<usize>,
    /// Connections that send header packets.
    controls: BTreeSet<u32>,
}

impl PacketLog {
    #[cold]
    pub fn on_sent(&mut self, now: Time, side: Side, item: &Item) {
        if item.is_header {
            self.controls.insert(item.flow);
        }
        // No tap sees what is lost on its way back.
        let kind = match self.controls.contains(&item.flow) {
            true => "header-ack",
            false if item.bytes > LONGEST_ACK => "data",
            false => "ack",
        };
        let id = item.id as usize;
        if self.row_of.len() <= id {
            self.row_of.resize(id + 1, 0);
        }
        self.row_of[id] = self.rows.sent_ns.len();
        const NONE: f64 = f64::NAN;
        self.rows.push(now.0, side.0.into(), kind, 0, item.bytes.into(), NONE, NONE, NONE, NONE, 0, "");
    }

    #[cold]
    pub fn on_out(&mut self, output: &Output) {
        let row = self.row_of[output.id as usize];
        self.rows.out_ns[row] = output.at.0 as f64;
        self.rows.marked[row] = u64::from(output.ecn == Ecn::Ce);
        self.rows.fate[row] = match output.fate {
            Fate::Delivered => "delivered",
            Fate::Lost(cause) => cause_name(cause),
        };
        if output.fate == Fate::Delivered {
            self.delivered.push(row);
        }
    }

    /// `seen`: of each link, by its tap. That stands at the near node: it sees what leaves for the link, and what has come
    /// back over it.
    pub fn finish(mut self, seen: &[Vec<Seen>]) -> PacketSeries {
        for (link, seen) in seen.iter().enumerate() {
            let by = |wanted| seen.iter().filter(move |seen| seen.direction == wanted);
            let on = |rows: &PacketSeries, row: usize, side| rows.link[row] == 2 * link as u64 + side;
            let entered: Vec<_> = (0..self.rows.link.len()).filter(|&row| on(&self.rows, row, 0)).collect();
            let back: Vec<_> = self.delivered.iter().copied().filter(|&row| on(&self.rows, row, 1)).collect();
            let there = entered.into_iter().zip(by(Direction::Forward));
            for (row, seen) in there.chain(back.into_iter().zip(by(Direction::Reverse))) {
                self.rows.kind[row] = seen.kind;
                self.rows.flow[row] = seen.flow.into();
                self.rows.offset_bytes[row] = seen.offset as f64;
                if let Some((from, to)) = seen.sack {
                    (self.rows.sack_from_bytes[row], self.rows.sack_to_bytes[row]) = (from.into(), to.into());
                }
            }
        }
        self.rows
    }
}
