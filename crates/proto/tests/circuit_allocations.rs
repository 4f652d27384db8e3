//! Property 8 of paper 000 §4.4, simple and efficient: a circuit that has found its window allocates nothing more.

use crate::heap::allocations;
use airtcp_proto::Chances;
use airtcp_proto::circuit::{Compression, Config, Output, Receiver, Sender};
use airtcp_proto::queue::Item;
use airtcp_proto::tcp::{Transmit, profile};
use airtcp_wire::{Dur, Ecn, Rate, Segment, Time};
use std::collections::VecDeque;

/// One control packet a step each way; a step is 1 ms.
struct Path {
    sender: Sender,
    receiver: Receiver,
    forward: VecDeque<(u16, Segment, u32)>,
    back: VecDeque<(u16, Segment)>,
    data: u64,
    headers: u64,
}

impl Path {
    fn step(&mut self, now: Time) {
        if let Some((control, segment, bytes)) = self.forward.pop_front() {
            self.receiver.handle_segment(now, control, &segment, Ecn::NotEct, bytes, 0);
        }
        if let Some((control, segment)) = self.back.pop_front() {
            self.sender.handle_segment(now, control, &segment, Ecn::NotEct);
        }
        self.sender.handle_timeout(now);
        self.receiver.handle_timeout(now);
        loop {
            while self.sender.handle_packet(now, Item { bytes: 1000, ..Item::default() }) {}
            let mut transmit = Transmit::default();
            let Some(output) = self.sender.poll_transmit(now, &mut transmit) else { break };
            self.leave(output, &transmit);
        }
        let mut transmit = Transmit::default();
        while let Some(reply) = self.receiver.poll_transmit(now, &mut transmit) {
            self.back.push_back((reply.control, transmit.segment));
        }
    }

    /// A queue of ten packets in front of the link.
    fn leave(&mut self, output: Output, transmit: &Transmit) {
        match output {
            Output::Data(_) | Output::Repair { .. } => {
                self.data += 1;
                self.receiver.handle_data(1);
            }
            Output::Header { control, bytes, .. } => {
                self.headers += 1;
                if self.forward.len() < 10 {
                    self.forward.push_back((control, transmit.segment, bytes));
                }
            }
        }
    }
}

#[test]
fn nothing_is_allocated_in_steady_state() {
    let config = Config {
        controls: 3,
        gmb: Some(Rate(1_000_000)),
        compression: Compression::Twice,
        ..Config::default()
    };
    let streams = Chances::new(1);
    let mut path = Path {
        sender: Sender::new(&config, &profile::rfc(), &mut streams.chance("s"), Time::ZERO).unwrap(),
        receiver: Receiver::new(&config, &profile::rfc(), &mut streams.chance("r")).unwrap(),
        forward: VecDeque::with_capacity(100),
        back: VecDeque::with_capacity(100),
        data: 0,
        headers: 0,
    };
    let at = |ms: u64| Time::ZERO + Dur::from_millis(ms);
    (0..20_000).for_each(|ms| path.step(at(ms)));
    let (before, data, headers) = (allocations(), path.data, path.headers);
    assert!(before > 0);
    (20_000..40_000).for_each(|ms| path.step(at(ms)));
    assert_eq!(allocations(), before);
    assert!(path.data > data + 10_000 && path.headers > headers + 10_000, "{} {}", path.data, path.headers);
}
