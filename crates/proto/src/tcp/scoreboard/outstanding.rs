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
pub struct Outstanding {
    pub start: u64,
    pub end: u64,
    /// When it was last sent.
    pub sent_at: Time,
    pub fate: Fate,
    pub is_resent: bool,
    /// Carries PSH.
    pub is_pushed: bool,
}

impl Outstanding {
    /// A segment of the stream that leaves for the first time.
    #[inline]
    pub fn new(now: Time, start: u64, end: u64, is_pushed: bool) -> Outstanding {
        Outstanding { start, end, sent_at: now, fate: Fate::InFlight, is_pushed, is_resent: false }
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// A segment in 8 bytes, because a flow has many: the time at which it was last sent, and in the lowest bits the rest.
/// [`Ends`](super::ends::Ends) knows where it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept(u64);

const FATE: u64 = 0b11;
const IS_RESENT: u64 = 1 << 2;
const IS_PUSHED: u64 = 1 << 3;
/// The time has the other bits, which last for 36 years.
const TIME_SHIFT: u32 = 4;

impl Kept {
    #[inline(always)]
    pub fn new(sent: &Outstanding) -> Kept {
        debug_assert!(sent.sent_at.0 >> (u64::BITS - TIME_SHIFT) == 0);
        let is_pushed = IS_PUSHED * u64::from(sent.is_pushed);
        let is_resent = IS_RESENT * u64::from(sent.is_resent);
        Kept(sent.sent_at.0 << TIME_SHIFT | is_pushed | is_resent | sent.fate as u64)
    }

    #[inline(always)]
    pub fn sent_at(self) -> Time {
        Time(self.0 >> TIME_SHIFT)
    }

    #[inline(always)]
    pub fn fate(self) -> Fate {
        match self.0 & FATE {
            0 => Fate::InFlight,
            1 => Fate::Lost,
            _ => Fate::Sacked,
        }
    }

    #[inline(always)]
    pub fn set_fate(&mut self, fate: Fate) {
        self.0 = self.0 & !FATE | fate as u64;
    }

    #[inline(always)]
    pub fn is_resent(self) -> bool {
        self.0 & IS_RESENT != 0
    }

    #[inline(always)]
    pub fn is_pushed(self) -> bool {
        self.0 & IS_PUSHED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_8_bytes_and_survives_in_them() {
        assert_eq!(size_of::<Kept>(), 8);
        for (fate, is_resent, is_pushed) in
            [(Fate::InFlight, false, true), (Fate::Lost, true, false), (Fate::Sacked, false, false)]
        {
            let sent =
                Outstanding { fate, is_resent, ..Outstanding::new(Time((1 << 60) - 1), 0, 1, is_pushed) };
            let mut kept = Kept::new(&sent);
            assert_eq!((kept.sent_at(), kept.fate()), (sent.sent_at, fate));
            kept.set_fate(Fate::Lost);
            assert_eq!((kept.sent_at(), kept.fate()), (sent.sent_at, Fate::Lost));
            assert_eq!((kept.is_resent(), kept.is_pushed()), (is_resent, is_pushed));
        }
    }
}
