//! Logs every packet on every link, in enough detail to draw the path while packets cross it.

use crate::packet::{Load, Packet, Packets};
use crate::series::{cause_name, table};
use crate::topology::{Side, Topology};
use airtcp_proto::path::{Fate, Output};
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Ecn, Segment, Time};

table! {
    /// A row for each packet and link that it enters, in order of entry.
    PacketSeries {
        sent_ns: U64(u64),
        /// Index into [`RunRecord::links`](crate::record::RunRecord::links).
        link: U64(u64),
        /// "data", "resent", "ack", "header", "header-ack" or "repair". What opens and closes connections counts as "ack".
        kind: Text(&'static str),
        /// Index into [`RunRecord::flows`](crate::record::RunRecord::flows); of a circuit's own packets, the circuit.
        flow: U64(u64),
        bytes: U64(u64),
        /// Stream position of the first byte of data.
        offset_bytes: F64(f64),
        /// The first block of SACK that an ACK carries, relative to what it acknowledges; not a number without one.
        sack_from_bytes: F64(f64),
        sack_to_bytes: F64(f64),
        /// When it came out, would have come out had it not been corrupted, or was dropped. Not a number for what is
        /// still on the link when the run ends.
        out_ns: F64(f64),
        /// 1 if the queue has set the ECN field to "congestion experienced".
        marked: U64(u64),
        /// "delivered", "overflow", "aqm", "corruption" or "outage"; empty for what is still on the link.
        fate: Text(&'static str),
    }
}

table! {
    /// A row for each turn of a link on its medium, link by link in order of time.
    TurnSeries {
        begun_ns: U64(u64),
        /// With what acknowledged it.
        ended_ns: U64(u64),
        /// Index into [`RunRecord::links`](crate::record::RunRecord::links).
        link: U64(u64),
        /// 1 if nothing of it could be read, because others sent at once.
        collided: U64(u64),
    }
}

impl TurnSeries {
    /// The turns until `now`.
    pub(crate) fn of(topology: &mut Topology, now: Time) -> TurnSeries {
        let mut series = TurnSeries::default();
        for side in topology.sides() {
            for turn in topology.side_mut(side).take_turns(now) {
                series.push(turn.begun.0, turn.ended.0, side.0.into(), turn.collided.into());
            }
        }
        series
    }
}

/// Logs each packet when it enters a link, and its fate there.
#[derive(Default)]
pub(crate) struct PacketLog {
    rows: PacketSeries,
    /// For each packet in the slab, the row of the link on which it is.
    row_of: Vec<usize>,
}

impl PacketLog {
    pub fn new(topology: &mut Topology) -> PacketLog {
        topology.sides().for_each(|side| topology.side_mut(side).log_turns());
        PacketLog::default()
    }

    pub fn on_sent(&mut self, now: Time, side: Side, id: u32, packets: &Packets) {
        let (packet, [sack_from, sack_to]) = (packets.get(id), first_sack_block(&packets.segment(id)));
        let id = id as usize;
        if self.row_of.len() <= id {
            self.row_of.resize(id + 1, 0);
        }
        self.row_of[id] = self.rows.sent_ns.len();
        self.rows.push(
            now.0,
            side.0.into(),
            kind(packet),
            packet.flow.into(),
            packet.bytes.into(),
            packet.offset as f64,
            sack_from,
            sack_to,
            f64::NAN,
            0,
            "",
        );
    }

    pub fn on_out(&mut self, output: &Output) {
        let row = self.row_of[output.id as usize];
        self.rows.out_ns[row] = output.at.0 as f64;
        self.rows.marked[row] = u64::from(output.ecn == Ecn::Ce);
        self.rows.fate[row] = match output.fate {
            Fate::Delivered => "delivered",
            Fate::Lost(cause) => cause_name(cause),
        };
    }

    pub fn finish(self) -> PacketSeries {
        self.rows
    }
}

fn kind(packet: &Packet) -> &'static str {
    match packet.load {
        Load::Header { .. } => "header",
        Load::HeaderAck { .. } => "header-ack",
        Load::Repair => "repair",
        _ if !packet.is_data() => "ack",
        _ if packet.reason == Reason::New => "data",
        _ => "resent",
    }
}

fn first_sack_block(segment: &Segment) -> [f64; 2] {
    let block = segment.sack.as_slice().first();
    block.map_or([f64::NAN; 2], |(left, right)| [*left, *right].map(|edge| edge.distance(segment.ack).into()))
}
