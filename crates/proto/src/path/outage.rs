//! Outages: times during which nothing is sent.

use super::{Burst, Episodes, Received, Schedule, Supply, Transmitter};
use airtcp_wire::{Dur, Time};

/// A transmitter that stands still during outages. A packet that is being sent when an outage begins continues after it, and so
/// does the trace or log that the transmitter follows.
pub struct Interrupted {
    transmitter: Box<dyn Transmitter>,
    outages: Episodes,
    /// Total length of past outages: by this much the transmitter's own clock is behind.
    paused: Dur,
}

impl Interrupted {
    pub fn new(transmitter: Box<dyn Transmitter>, outages: Episodes) -> Interrupted {
        Interrupted { transmitter, outages, paused: Dur::ZERO }
    }

    /// Goes past the next outage; returns its length and its end.
    fn pass_outage(&mut self) -> (Dur, Time) {
        let outage = self.outages.current();
        let length = outage.end.since(outage.start);
        self.paused += length;
        self.outages.advance();
        (length, outage.end)
    }

    /// Sends outside outages: `send` says when what begins at a time on the transmitter's clock has left.
    fn send(
        &mut self,
        mut start: Time,
        send: impl FnOnce(&mut dyn Transmitter, Time) -> Schedule,
    ) -> Schedule {
        while self.outages.current().start <= start {
            start = start.max(self.pass_outage().1);
        }
        let mut schedule = send(&mut *self.transmitter, start - self.paused).delayed(Time::ZERO, self.paused);
        while self.outages.current().start < schedule.ends {
            let outage_at = self.outages.current().start;
            schedule = schedule.delayed(outage_at, self.pass_outage().0);
        }
        schedule
    }
}

impl Transmitter for Interrupted {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        self.send(start, |transmitter, start| Schedule::data(transmitter.departure(start, bytes))).ends
    }

    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Schedule {
        self.send(start, |transmitter, start| transmitter.serve(start, supply, burst))
    }

    fn reach(&mut self, burst: &mut Burst, others: f64) {
        self.transmitter.reach(burst, others);
    }

    fn signal(&self) -> f64 {
        self.transmitter.signal()
    }

    fn on_acknowledged(&mut self, read: usize, sent: usize) {
        self.transmitter.on_acknowledged(read, sent);
    }

    fn received(&mut self, now: Time) -> Received {
        self.transmitter.received(now)
    }

    fn resumes_at(&mut self, now: Time) -> Time {
        if self.outages.covers(now) { self.outages.current().end } else { now }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FixedRate, Starts, Trace, TraceDriven};
    use super::*;
    use crate::rng::Chances;
    use airtcp_wire::Rate;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Outages of 10 ms at these times.
    fn interrupted(transmitter: impl Transmitter + 'static, at_ms: &[u64]) -> Interrupted {
        let starts = Starts { at: at_ms.iter().copied().map(ms).collect(), ..Starts::default() };
        let outages = Episodes::new(Dur::from_millis(10), starts, Chances::new(1).chance("outage"));
        Interrupted::new(Box::new(transmitter), outages)
    }

    #[test]
    fn sending_stops_during_an_outage_and_goes_on_after_it() {
        // 1 000 bytes take 4 ms.
        let mut link = interrupted(FixedRate::new(Rate(2_000_000)), &[10, 30, 40]);
        assert_eq!(link.departure(ms(5), 1000), ms(9));
        assert_eq!(link.departure(ms(9), 1000), ms(23), "1 ms of it before the outage");
        assert_eq!(link.departure(ms(26), 1000), ms(30), "done as the next one begins");
        assert_eq!(link.departure(ms(31), 1000), ms(54), "two in a row");
    }

    #[test]
    fn a_trace_stands_still_with_its_transmitter() {
        let mut link = interrupted(TraceDriven::new(Trace::parse("4\n8\n").unwrap()), &[6]);
        let mut free_at = Time::ZERO;
        let departures = [(); 4].map(|()| {
            free_at = link.departure(free_at, 1500);
            free_at.0 / 1_000_000
        });
        assert_eq!(departures, [4, 18, 22, 26]);
    }
}
