//! Which shortcuts were taken, so that a test fails when one is silently taken no more. Only builds with debug assertions
//! keep count, each thread for itself.

use std::cell::Cell;

/// A place that only a shortcut comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A connection that only receives takes text that it expects.
    ExpectedText,
    /// A connection that only sends takes an ACK of new data while nothing is lost.
    PlainAck,
    /// New data leaves in a burst that needs no more decisions.
    Burst,
    SenderRests,
    ReceiverRests,
    /// A link is computed by arithmetic.
    LeanLink,
    /// Packets of one size are only counted.
    ExpectedPacket,
    /// A packet enters the next link when it is sent.
    LedOn,
    /// An end handles what arrives ahead of the run.
    Ahead,
    /// A station takes a packet ahead of the run.
    StationAhead,
    /// A circuit's data packet leaves with its header packet.
    Pair,
    /// A paced sender sends again without an event.
    GoesOn,
}

impl Mark {
    pub const ALL: [Mark; 12] = [
        Mark::ExpectedText,
        Mark::PlainAck,
        Mark::Burst,
        Mark::SenderRests,
        Mark::ReceiverRests,
        Mark::LeanLink,
        Mark::ExpectedPacket,
        Mark::LedOn,
        Mark::Ahead,
        Mark::StationAhead,
        Mark::Pair,
        Mark::GoesOn,
    ];
}

thread_local! {
    /// One bit a mark.
    static HIT: Cell<u32> = const { Cell::new(0) };
}

#[inline(always)]
pub fn hit(mark: Mark) {
    if cfg!(debug_assertions) {
        HIT.set(HIT.get() | 1 << mark as u32);
    }
}

/// The marks that this thread has hit since the last call; none without debug assertions.
pub fn take() -> Vec<Mark> {
    let hit = HIT.take();
    Mark::ALL.into_iter().filter(|mark| hit & (1 << *mark as u32) != 0).collect()
}
