//! A parsed timeline.

use crate::stack::{Call, Quantity};
use airtcp_wire::{Dur, Ecn, Flags, SynOptions, Time};

/// Contents of a timeline file.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What the timeline proves, and the clause or rule behind it.
    pub title: String,
    pub setup: Setup,
    pub holds_for: Vec<Backend>,
    /// Why it does not hold for both.
    pub why: Option<String>,
    pub steps: Vec<Step>,
}

impl Timeline {
    pub fn holds_for(&self, backend: Backend) -> bool {
        self.holds_for.contains(&backend)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    Machine,
    Kernel,
}

/// The stack under test: Linux defaults with Reno, as changed by the file's head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    pub congestion_control: String,
    pub sack: bool,
    pub timestamps: bool,
    pub window_scaling: bool,
    pub ecn: bool,
    pub nagle: bool,
    /// Longest IP packet in bytes.
    pub mtu: u16,
    /// In segments; `None` for the stack's default.
    pub initial_window: Option<u32>,
    /// In bytes; `None` for the stack's default.
    pub receive_window: Option<u32>,
    /// Retransmissions of one segment; `None` for the stack's default.
    pub max_retries: Option<u32>,
    /// Judge PSH on data segments too.
    pub judges_push: bool,
    /// Options of the peer's SYN.
    pub peer: SynOptions,
    pub peer_timestamps: bool,
    /// The peer's window, in bytes.
    pub peer_window: u64,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            congestion_control: "reno".to_owned(),
            sack: true,
            timestamps: true,
            window_scaling: true,
            ecn: false,
            nagle: true,
            mtu: 1500,
            initial_window: None,
            receive_window: None,
            max_retries: None,
            judges_push: false,
            peer: SynOptions {
                mss: None,
                window_scale: Some(7),
                sack_permitted: true,
                ..SynOptions::default()
            },
            peer_timestamps: true,
            peer_window: 64_000,
        }
    }
}

/// One line of the script.
#[derive(Clone, Debug)]
pub struct Step {
    /// Since the start, if no step above is late.
    pub at: Time,
    /// Delay after the line above, however late that line is.
    pub after: Option<Dur>,
    pub action: Action,
    /// The line's text.
    pub text: String,
}

#[derive(Clone, Debug)]
pub enum Action {
    /// `>`: the stack sends this.
    Expect(Pattern),
    /// `<`: the peer sends this.
    Arrive(Pattern),
    /// `app`
    Call(Call),
    /// `is`
    Check(Vec<(Quantity, String)>),
    /// `end`: nothing is sent up to here.
    End,
}

/// One or more alike segments, in relative sequence numbers: a SYN is at 0, data begins at 1. A field that is `None`
/// follows from earlier lines or is not judged.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    pub flags: Flags,
    pub range: Option<(i64, i64)>,
    /// Number of equal segments that the range is split into.
    pub pieces: u32,
    /// How often each segment is sent in a row.
    pub times: u32,
    pub ack: Option<i64>,
    /// In bytes.
    pub window: Option<u64>,
    pub stamps: Stamps,
    /// SACK blocks, in the numbers of the data's sender.
    pub sack: Vec<(i64, i64)>,
    /// Options of a SYN, if given, and whether it has timestamps.
    pub syn: Option<(SynOptions, bool)>,
    pub ecn: Ecn,
}

/// Timestamps, given as the scripted time at which their sender's clock was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    pub value: Option<Dur>,
    pub echo: Option<Dur>,
    /// The segment omits timestamps although both ends support them.
    pub are_absent: bool,
}

impl Pattern {
    /// Returns the ranges of all segments described; `next` is the sender's next number.
    pub fn ranges(&self, next: i64) -> Vec<(i64, i64)> {
        let next = if self.flags.contains(Flags::SYN) { 0 } else { next };
        let (start, end) = self.range.unwrap_or((next, next));
        let pieces = i64::from(self.pieces);
        let length = (end - start) / pieces;
        let piece = |number| (start + number * length, start + (number + 1) * length);
        let times = self.times as usize;
        (0..pieces).flat_map(|number| std::iter::repeat_n(piece(number), times)).collect()
    }

    /// Returns the number of segments described.
    pub fn count(&self) -> usize {
        (self.pieces * self.times) as usize
    }
}
