//! An outstanding segment, as others see it and as the scoreboard keeps it.

use airtcp_wire::Time;

/// What the sender believes of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Fate {
    /// On its way: counts in the pipe.
    #[default]
    InFlight,
    /// Deemed lost, waiting to be resent.
    Lost,
    /// Arrived, as SACK has reported.
    Sacked,
}

/// An outstanding segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub start: u64,
    pub end: u64,
    /// When it was last sent.
    pub sent_at: Time,
    pub fate: Fate,
    pub is_resent: bool,
    /// Carries PSH.
    pub is_pushed: bool,
}

impl Sent {
    /// A segment of the stream that leaves for the first time.
    #[inline]
    pub fn new(now: Time, start: u64, end: u64, is_pushed: bool) -> Sent {
        Sent { start, end, sent_at: now, fate: Fate::InFlight, is_pushed, is_resent: false }
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// A segment in 16 bytes, because a flow has many. Each begins where the one before ends, so that only ends are kept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    pub sent_at: Time,
    /// The low half of the position at which it ends.
    end: u32,
    pub fate: Fate,
    pub is_resent: bool,
    pub is_pushed: bool,
}

impl Kept {
    #[inline(always)]
    pub fn new(sent: &Sent) -> Kept {
        let &Sent { end, sent_at, fate, is_resent, is_pushed, .. } = sent;
        Kept { sent_at, end: end as u32, fate, is_resent, is_pushed }
    }

    /// The position at which it ends, less than 2³² beyond `una`.
    #[inline(always)]
    pub fn end(&self, una: u64) -> u64 {
        una + u64::from(self.distance(una))
    }

    /// How far beyond `una` it ends.
    #[inline(always)]
    pub fn distance(&self, una: u64) -> u32 {
        self.end.wrapping_sub(una as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_16_bytes_and_its_end_survives() {
        assert_eq!(size_of::<Kept>(), 16);
        for una in [0, (1 << 32) - 500, (7 << 32) + 1] {
            let sent = Sent::new(Time(3), una + 2_000, una + 3_000, false);
            assert_eq!(Kept::new(&sent).end(una), sent.end);
        }
    }
}
