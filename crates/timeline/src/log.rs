//! Log of what the stack under test sent.

use airtcp_wire::{Ecn, Flags, Segment, Seq, Time};

/// A segment as the stack sent it.
#[derive(Clone, Copy, Debug)]
pub struct Emitted {
    pub at: Time,
    pub segment: Segment,
    pub ecn: Ecn,
}

/// The step being played.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub step: usize,
    /// The step's scripted time.
    pub at: Time,
}

/// A sent segment with its place in the script.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    pub emitted: Emitted,
    pub place: Place,
}

/// All segments sent, in order.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub sent: Vec<Logged>,
}

impl Log {
    pub fn len(&self) -> usize {
        self.sent.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    pub(crate) fn push(&mut self, emitted: Emitted, place: Place) {
        self.sent.push(Logged { emitted, place });
    }

    pub(crate) fn segments(&self) -> impl DoubleEndedIterator<Item = &Segment> {
        self.sent.iter().map(|sent| &sent.emitted.segment)
    }

    /// Returns the last SYN or SYN-ACK sent.
    pub(crate) fn syn(&self) -> Option<&Segment> {
        self.segments().rfind(|segment| segment.flags.contains(Flags::SYN))
    }

    /// Returns the stack's initial sequence number; 0 before it sent a SYN.
    pub(crate) fn iss(&self) -> Seq {
        self.syn().map_or(Seq(0), |syn| syn.seq)
    }

    /// Returns the TSval of the last segment sent up to the scripted time `at`.
    pub(crate) fn stamp_at(&self, at: Time) -> Option<u32> {
        let before = self.sent.iter().rev().filter(|sent| sent.place.at <= at);
        before.filter_map(|sent| sent.emitted.segment.timestamps).map(|stamps| stamps.value).next()
    }
}
