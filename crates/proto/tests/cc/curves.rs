//! How each controller's window moves on one lossy bottleneck, pinned as text in `curves/`.
//!
//! 10 Mbit/s, 80 ms, 1000-byte segments (a pipe of 100), room for 50 more, and every 3000th segment lost. After an intended
//! change `UPDATE_CURVES=1 cargo test -p airtcp-proto curves` writes the files anew; read their difference.

use crate::cc::model::{Sender, plain};
use airtcp_proto::cc::cubic::CubicRules;
use airtcp_proto::cc::slow_start::SlowStartKind;
use airtcp_proto::cc::{Build, WindowRules, controllers};
use airtcp_wire::{Dur, Rate, Time};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;

const RATE: Rate = Rate(10_000_000);
const DELAY: Dur = Dur::from_millis(80);
const BUFFER_SEGMENTS: u64 = 50;
const LOSS_PERIOD: u64 = 3000;
const RTO: Dur = Dur::from_secs(1);
const SAMPLE: Dur = Dur::from_millis(500);
const DURATION: Time = Time(28_000_000_000);

/// A link with its queue, and the way back.
#[derive(Default)]
struct Path {
    /// When the link has sent what it has.
    free: Time,
    offered: u64,
    /// When what was sent arrives, and which segment that is.
    arrivals: VecDeque<(Time, u64)>,
}

impl Path {
    fn offer(&mut self, now: Time, offset: u64, bytes: u64) {
        let service = RATE.time_for(bytes);
        self.offered += 1;
        if self.free.since(now) > service * BUFFER_SEGMENTS {
            return;
        }
        self.free = self.free.max(now) + service;
        if !self.offered.is_multiple_of(LOSS_PERIOD) {
            self.arrivals.push_back((self.free + DELAY, offset));
        }
    }
}

struct Run {
    sender: Sender,
    path: Path,
    /// When pacing lets the next segment out.
    next_send: Time,
    rto_expires: Time,
}

impl Run {
    fn send(&mut self) {
        while self.next_send <= self.sender.now {
            let Some(offset) = self.sender.send() else { return };
            self.path.offer(self.sender.now, offset, self.sender.mss);
            if let Some(rate) = self.sender.cc.pacing_rate() {
                self.next_send = self.sender.now + rate.time_for(self.sender.mss);
            }
        }
    }

    fn next_event(&self) -> Time {
        let arrival = self.path.arrivals.front().map_or(Time::NEVER, |arrival| arrival.0);
        let send = if self.next_send > self.sender.now { self.next_send } else { Time::NEVER };
        arrival.min(send).min(self.rto_expires)
    }

    fn step(&mut self) {
        self.sender.now = self.next_event();
        let now = self.sender.now;
        if let Some(&(_, offset)) = self.path.arrivals.front().filter(|arrival| arrival.0 <= now) {
            self.path.arrivals.pop_front();
            let una = self.sender.una;
            self.sender.arrive(&[offset], false);
            // RFC 6298 §5.3.
            if self.sender.una > una {
                self.rto_expires = now + RTO;
            }
        } else if self.rto_expires <= now {
            self.sender.timeout();
            self.rto_expires = now + RTO;
        }
        self.send();
    }
}

fn curve(name: &str, build: &Build) -> String {
    let mut run = Run {
        sender: Sender::new(name, &[], build),
        path: Path::default(),
        next_send: Time::ZERO,
        rto_expires: Time::ZERO + RTO,
    };
    let mut text = String::from("time_s cwnd_segments ssthresh_segments srtt_ms delivered_segments\n");
    let mut sample = Time::ZERO;
    run.send();
    while sample < DURATION {
        while run.next_event() > sample {
            write_sample(&mut text, sample, &run.sender);
            sample += SAMPLE;
        }
        run.step();
    }
    text
}

fn write_sample(text: &mut String, time: Time, sender: &Sender) {
    let ssthresh = match sender.cc.ssthresh() {
        u64::MAX => "-".to_owned(),
        _ => format!("{:.1}", sender.ssthresh()),
    };
    let (time, cwnd, srtt) = (time.as_secs_f64(), sender.cwnd(), sender.srtt.as_secs_f64() * 1e3);
    let delivered = sender.una / sender.mss;
    writeln!(text, "{time:4.1} {cwnd:.1} {ssthresh} {srtt:.1} {delivered}").expect("a string");
}

fn check(file: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cc/curves").join(file);
    if std::env::var_os("UPDATE_CURVES").is_some() {
        std::fs::write(&path, text).expect("curves/ can be written");
    }
    let pinned = std::fs::read_to_string(&path).unwrap_or_default();
    let difference = pinned.lines().zip(text.lines()).find(|(pinned, now)| pinned != now);
    if let Some((pinned, now)) = difference {
        panic!("{file}: was `{pinned}`, is `{now}`; if that is meant, run with UPDATE_CURVES=1");
    }
    assert_eq!(pinned, text, "{file} is missing or of another length; UPDATE_CURVES=1 writes it");
}

#[test]
fn curves_are_as_pinned() {
    for spec in controllers() {
        check(&format!("{}.txt", spec.name), &curve(spec.name, &plain()));
    }
}

#[test]
fn slow_start_curves_are_as_pinned() {
    for (kind, name) in [(SlowStartKind::Hystart, "hystart"), (SlowStartKind::HystartPlusPlus, "hystart++")] {
        let build = Build { slow_start: Some(kind), ..plain() };
        check(&format!("cubic-{name}.txt"), &curve("cubic", &build));
    }
}

#[test]
fn linuxs_cubic_is_as_pinned() {
    let build =
        Build { cubic: CubicRules::Linux, windows: WindowRules::Linux, byte_counting_limit: None, ..plain() };
    check("cubic-linux.txt", &curve("cubic", &build));
}
