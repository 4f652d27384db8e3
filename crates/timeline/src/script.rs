//! A timeline as it was read.

use crate::stack::{Call, Quantity};
use airtcp_wire::{Dur, Ecn, Flags, SynOptions, Time};

/// A text file's content.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What it proves, and the clause or rule that says so.
    pub title: String,
    pub setup: Setup,
    pub holds_for: Vec<Backend>,
    /// Why not for both.
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

/// The stack under test: Linux as it comes, but for Reno control, and what the file's head changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    pub congestion_control: String,
    pub sack: bool,
    pub timestamps: bool,
    pub window_scaling: bool,
    pub ecn: bool,
    pub nagle: bool,
    /// Bytes of the longest IP packet.
    pub mtu: u16,
    /// In segments; `None`: the stack's own.
    pub initial_window: Option<u32>,
    /// Bytes; `None`: the stack's own.
    pub receive_window: Option<u32>,
    /// Retransmissions of one segment; `None`: the stack's own.
    pub max_retries: Option<u32>,
    /// PSH is judged on data, too.
    pub judges_push: bool,
    /// What the peer's SYN offers.
    pub peer: SynOptions,
    pub peer_timestamps: bool,
    /// The peer's window in bytes.
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
            peer: SynOptions { mss: None, window_scale: Some(7), sack_permitted: true },
            peer_timestamps: true,
            peer_window: 64_000,
        }
    }
}

/// A line of the script.
#[derive(Clone, Debug)]
pub struct Step {
    /// Since the start, if nothing above it is late.
    pub at: Time,
    /// So long after the line above, however late that is.
    pub after: Option<Dur>,
    pub action: Action,
    /// As it was written.
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
    /// `end`: until here nothing more is sent.
    End,
}

/// A segment, or several like it, in relative numbers: a SYN stands at 0, data begins at 1. What is `None` follows from what
/// went before, or is not judged.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    pub flags: Flags,
    pub range: Option<(i64, i64)>,
    /// Segments of equal length into which the range is cut.
    pub pieces: u32,
    /// How often the same leaves in a row.
    pub times: u32,
    pub ack: Option<i64>,
    /// Bytes.
    pub window: Option<u64>,
    pub stamps: Stamps,
    /// As in the option, the peer's numbers or ours.
    pub sack: Vec<(i64, i64)>,
    /// A SYN's options, where they are given.
    pub syn: Option<(SynOptions, bool)>,
    pub ecn: Ecn,
}

/// Timestamps, told by the time in the script at which their sender's clock was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    pub value: Option<Dur>,
    pub echo: Option<Dur>,
    /// There are none though both ends can.
    pub are_absent: bool,
}

impl Pattern {
    /// The ranges of all segments that it stands for, where `next` is the sender's next number.
    pub fn ranges(&self, next: i64) -> Vec<(i64, i64)> {
        let next = if self.flags.contains(Flags::SYN) { 0 } else { next };
        let (start, end) = self.range.unwrap_or((next, next));
        let pieces = i64::from(self.pieces);
        let length = (end - start) / pieces;
        let piece = |number| (start + number * length, start + (number + 1) * length);
        let times = self.times as usize;
        (0..pieces).flat_map(|number| std::iter::repeat_n(piece(number), times)).collect()
    }

    /// Segments that it stands for.
    pub fn count(&self) -> usize {
        (self.pieces * self.times) as usize
    }
}
