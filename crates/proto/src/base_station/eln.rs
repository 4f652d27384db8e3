//! Explicit loss notification (Balakrishnan & Katz, GLOBECOM 1998): the base station distinguishes losses on the wireless link from
//! congestion and sets [`Flags::ELN`] on the duplicate ACKs for them, so that the sender resends without reducing its window.
//!
//! Data towards the mobile host that has passed the base station and is missing later was lost on the wireless link, unless the base
//! station's own queue dropped it. Data of the mobile host was lost there if it never reached the base station.

use super::flows::{Ending, Flows, LastAck, end_of};
use super::{Machine, MachineBuild, MachineSpec, check_counts};
use crate::middlebox::{Direction, Middlebox, SeenPacket};
use airtcp_wire::{Flags, Segment, Seq, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Holes remembered per flow and direction; losses beyond them count as congestion.
    pub holes: u32,
    /// Maximum flows remembered. A further one replaces the flow silent for longest.
    pub max_flows: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { holes: 64, max_flows: 4096 }
    }
}

impl Machine for Config {
    const SPEC: MachineSpec = MachineSpec {
        name: "eln",
        summary: "The base station marks wireless losses on duplicate ACKs, and the sender does not reduce for them",
        source: "Balakrishnan & Katz, GLOBECOM 1998",
        changes: &[("eln", "true")],
        has_tcp: false,
    };

    fn check(&self) -> Result<(), String> {
        check_counts(&[("holes", self.holes), ("max_flows", self.max_flows)])
    }

    fn build(&self, _build: MachineBuild<'_>) -> Box<dyn Middlebox> {
        Box::new(Eln { holes: self.holes as usize, flows: Flows::new(self.max_flows) })
    }
}

struct Eln {
    holes: usize,
    flows: Flows<FlowState>,
}

#[derive(Debug, Default)]
struct FlowState {
    /// By the direction of the data.
    tracks: [Option<Track>; 2],
    ending: Ending,
}

/// Which data of one direction has passed.
#[derive(Debug)]
struct Track {
    sent_end: Seq,
    last: LastAck,
    /// Ranges above the last acknowledgment that did not pass, or that the queue behind dropped. A hole that is filled later stays,
    /// since duplicate ACKs for the first copy may be under way.
    holes: Vec<(Seq, Seq)>,
}

impl Middlebox for Eln {
    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool {
        let begins = packet.segment.len > 0;
        let Some(flow) = self.flows.of_packet(now, packet, begins, FlowState::default) else { return true };
        flow.handle_data(packet.direction, &packet.segment, self.holes);
        let is_notice = flow.handle_ack(packet.direction, &packet.segment);
        flow.ending.watch(packet.direction, &packet.segment);
        if flow.ending.is_over() {
            self.flows.remove(packet.flow);
        }
        if is_notice {
            let mut marked = *packet;
            marked.segment.flags.set(Flags::ELN);
            out.push(marked);
        }
        !is_notice
    }

    fn handle_drop(&mut self, now: Time, packet: &SeenPacket) {
        if packet.direction == Direction::Forward
            && let Some(flow) = self.flows.get(now, packet.flow)
            && let Some(track) = &mut flow.tracks[Direction::Forward as usize]
        {
            let segment = &packet.segment;
            track.add_hole(segment.seq, end_of(segment), Direction::Forward, self.holes);
        }
    }
}

impl FlowState {
    fn handle_data(&mut self, direction: Direction, segment: &Segment, max_holes: usize) {
        if segment.seq_len() == 0 {
            return;
        }
        let track = self.tracks[direction as usize].get_or_insert_with(|| Track::new(segment));
        if segment.seq.distance(track.sent_end) > 0 {
            track.add_hole(track.sent_end, segment.seq, direction, max_holes);
        }
        if end_of(segment).distance(track.sent_end) > 0 {
            track.sent_end = end_of(segment);
        }
    }

    /// Returns whether the segment is a duplicate ACK for a loss on the wireless link.
    fn handle_ack(&mut self, direction: Direction, segment: &Segment) -> bool {
        let data = direction.opposite();
        match &mut self.tracks[data as usize] {
            Some(track) if segment.flags.contains(Flags::ACK) => track.handle_ack(data, segment),
            _ => false,
        }
    }
}

impl Track {
    fn new(first: &Segment) -> Track {
        Track {
            sent_end: first.seq,
            last: LastAck { ack: first.seq, window: first.window },
            holes: Vec::new(),
        }
    }

    /// Remembers a hole. Losses in holes beyond the maximum count as congestion.
    fn add_hole(&mut self, start: Seq, end: Seq, direction: Direction, max_holes: usize) {
        if self.holes.len() < max_holes {
            self.holes.push((start, end));
        } else if let (Direction::Forward, Some((_, last_end))) = (direction, self.holes.last_mut())
            && end.distance(*last_end) > 0
        {
            *last_end = end;
        }
    }

    fn handle_ack(&mut self, data: Direction, segment: &Segment) -> bool {
        if self.last.is_repeated_by(segment, self.sent_end) {
            let is_hole = self
                .holes
                .iter()
                .any(|(start, end)| start.distance(segment.ack) <= 0 && end.distance(segment.ack) > 0);
            return is_hole == (data == Direction::Reverse);
        }
        if segment.ack.distance(self.last.ack) >= 0 {
            self.last = LastAck { ack: segment.ack, window: segment.window };
            self.holes.retain(|(_, end)| end.distance(segment.ack) > 0);
        }
        false
    }
}
