//! The segment that is timed, where it is one at a time and never a resent one (Karn).

use airtcp_wire::Time;

/// The timed segment, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timed(Option<Segment>);

#[derive(Clone, Copy, Debug)]
struct Segment {
    end: u64,
    sent_at: Time,
}

impl Timed {
    /// A segment that ends at `end` has left. It is timed if no other one is.
    #[inline]
    pub fn on_sent(&mut self, now: Time, end: u64) {
        self.0.get_or_insert(Segment { end, sent_at: now });
    }

    /// What starts at `start` is resent.
    pub fn on_resent(&mut self, start: u64) {
        self.0 = self.0.filter(|segment| segment.end <= start);
    }

    /// Times no segment until the next one leaves.
    pub fn stop(&mut self) {
        self.0 = None;
    }

    /// When the timed segment left, if everything below `una` has been acknowledged, and with it that segment. No segment is
    /// timed then.
    #[inline]
    pub fn take(&mut self, una: u64) -> Option<Time> {
        self.0.take_if(|segment| segment.end <= una).map(|segment| segment.sent_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_segment_is_timed_until_it_is_acknowledged() {
        let mut timed = Timed::default();
        timed.on_sent(Time(5), 10);
        timed.on_sent(Time(6), 20);
        assert_eq!([timed.take(9), timed.take(20), timed.take(20)], [None, Some(Time(5)), None]);
        timed.on_sent(Time(7), 30);
        timed.stop();
        assert_eq!(timed.take(30), None);
    }

    /// Karn.
    #[test]
    fn a_resent_segment_is_not_timed() {
        let mut timed = Timed::default();
        timed.on_sent(Time(5), 10);
        timed.on_resent(10);
        assert_eq!(timed.take(20), Some(Time(5)));
        timed.on_sent(Time(6), 30);
        timed.on_resent(20);
        assert_eq!(timed.take(30), None);
    }
}
