//! Capacity traces in mahimahi's format.
//!
//! Each line gives a time in ms since the start at which 1500 bytes may cross; a time may be repeated. The trace repeats from its
//! beginning. A packet may span several opportunities, and several small packets may share one. If the queue runs empty, the rest of an
//! opportunity is lost. A packet that waits for its opportunity is in the transmitter: it does not count as queued.

use super::Transmitter;
use airtcp_wire::{Dur, Rate, Time};
use std::sync::Arc;

/// Bytes that may cross at one opportunity.
pub const OPPORTUNITY_BYTES: u32 = 1500;
const NANOS_PER_MS: u64 = 1_000_000;

/// Why a text is not a capacity trace. Lines count from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceError {
    #[error("line {line} is not a whole number of milliseconds")]
    NotANumber { line: usize },
    #[error("line {line}: {ms} ms comes before {previous} ms on the line above; times must not decrease")]
    Decreasing { line: usize, ms: u32, previous: u32 },
    #[error("the trace is empty: write one time in ms per line")]
    Empty,
    #[error("line {line}: the last time is 0 ms; a trace needs a positive length to be repeated")]
    NoDuration { line: usize },
}

/// A capacity trace. Clones share it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// In ms, not decreasing. The last one is the period, and not zero.
    times: Arc<[u32]>,
}

impl Trace {
    /// Reads a trace: one whole number of milliseconds per line. Blank lines and comments after a `#` are skipped.
    ///
    /// # Errors
    /// [`TraceError`], which names the line.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut times: Vec<u32> = Vec::new();
        let mut last_line = 0;
        for (line, content) in super::data_lines(text) {
            let ms = content.parse().map_err(|_| TraceError::NotANumber { line })?;
            match times.last() {
                Some(&previous) if ms < previous => {
                    return Err(TraceError::Decreasing { line, ms, previous });
                }
                _ => times.push(ms),
            }
            last_line = line;
        }
        match times.last() {
            None => Err(TraceError::Empty),
            Some(0) => Err(TraceError::NoDuration { line: last_line }),
            Some(_) => Ok(Trace { times: times.into() }),
        }
    }

    /// Bytes that could have crossed before `until`.
    pub fn capacity_bytes(&self, until: Time) -> u64 {
        let (round, offset) = split(until.0, self.period_ns());
        let opportunities = round * self.times.len() as u64 + self.first_from(offset) as u64;
        opportunities * u64::from(OPPORTUNITY_BYTES)
    }

    /// Length of one pass through the trace.
    pub fn period(&self) -> Dur {
        Dur(self.period_ns())
    }

    /// This trace, started just after the last opportunity before `offset`, so that a pass still ends with an opportunity.
    #[must_use]
    pub fn entered_at(&self, offset: Dur) -> Trace {
        let period_ms = self.times[self.times.len() - 1];
        let offset_ms = (offset.0 % self.period_ns()).div_ceil(NANOS_PER_MS) as u32;
        let Some(&last) = self.times.iter().take_while(|&&ms| ms < offset_ms).last() else {
            return self.clone();
        };
        let (before, after) = self.times.split_at(self.times.partition_point(|&ms| ms <= last));
        let rest = before.iter().map(|ms| period_ms - last + ms);
        Trace { times: after.iter().map(|ms| ms - last).chain(rest).collect() }
    }

    /// The mean rate over the whole trace.
    pub fn mean_rate(&self) -> Rate {
        Rate::of(self.times.len() as u64 * u64::from(OPPORTUNITY_BYTES), self.period())
    }

    fn period_ns(&self) -> u64 {
        u64::from(self.times[self.times.len() - 1]) * NANOS_PER_MS
    }

    /// Index of the first opportunity at or after `offset_ns` into the trace.
    fn first_from(&self, offset_ns: u64) -> usize {
        self.times.partition_point(|&ms| u64::from(ms) * NANOS_PER_MS < offset_ns)
    }
}

/// The pass to which `at_ns` belongs, and the offset into it. The offset is above zero and at most the period, since the last opportunity
/// of a pass is at its very end.
fn split(at_ns: u64, period_ns: u64) -> (u64, u64) {
    let round = at_ns.saturating_sub(1) / period_ns;
    (round, at_ns - round * period_ns)
}

/// Sends as much as the trace allows.
#[derive(Clone, Debug)]
pub struct TraceDriven {
    trace: Trace,
    period_ns: u64,
    /// When the current pass through the trace began.
    round: Time,
    /// Index of the next opportunity in this pass.
    next: usize,
    /// Bytes left of the opportunity at `left_at`.
    left_bytes: u32,
    left_at: Time,
}

impl TraceDriven {
    pub fn new(trace: Trace) -> TraceDriven {
        let period_ns = trace.period_ns();
        TraceDriven { trace, period_ns, round: Time::ZERO, next: 0, left_bytes: 0, left_at: Time::ZERO }
    }

    /// When the next opportunity comes.
    #[inline]
    fn next_at(&self) -> Time {
        Time(self.round.0 + u64::from(self.trace.times[self.next]) * NANOS_PER_MS)
    }

    #[inline]
    fn step(&mut self) {
        self.next += 1;
        if self.next == self.trace.times.len() {
            self.next = 0;
            self.round.0 += self.period_ns;
        }
    }

    /// Skips all opportunities before `start`.
    fn skip_to(&mut self, start: Time) {
        if self.next_at() >= start {
            return;
        }
        let (_, offset) = split(start.0, self.period_ns);
        self.round = Time(start.0 - offset);
        self.next = self.trace.first_from(offset);
    }
}

impl Transmitter for TraceDriven {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        if start > self.left_at {
            self.left_bytes = 0;
            self.skip_to(start);
        }
        let mut missing = bytes;
        while missing > self.left_bytes {
            missing -= self.left_bytes;
            self.left_at = self.next_at();
            self.left_bytes = OPPORTUNITY_BYTES;
            self.step();
        }
        self.left_bytes -= missing;
        self.left_at.max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * NANOS_PER_MS)
    }

    /// When packets of these sizes leave, in ms, if all wait at the given time.
    fn departures(trace: &str, start_ms: u64, sizes: &[u32]) -> Vec<u64> {
        let mut transmitter = TraceDriven::new(Trace::parse(trace).unwrap());
        let mut free_at = ms(start_ms);
        sizes
            .iter()
            .map(|&bytes| {
                free_at = transmitter.departure(free_at, bytes);
                free_at.0 / NANOS_PER_MS
            })
            .collect()
    }

    #[test]
    fn one_packet_an_opportunity_and_the_trace_repeats() {
        assert_eq!(departures("2\n5\n5\n9\n", 0, &[1500; 6]), [2, 5, 5, 9, 11, 14]);
    }

    #[test]
    fn a_trace_can_be_entered_anywhere_and_repeats_as_it_is() {
        let trace = Trace::parse("2\n5\n5\n9\n").unwrap();
        for (offset_ms, times) in
            [(0, [2, 5, 5, 9]), (2, [2, 5, 5, 9]), (4, [3, 3, 7, 9]), (6, [4, 6, 9, 9]), (13, [3, 3, 7, 9])]
        {
            assert_eq!(&*trace.entered_at(Dur::from_millis(offset_ms)).times, &times, "{offset_ms}");
        }
    }

    #[test]
    fn a_large_packet_spans_opportunities_and_small_ones_share_one() {
        assert_eq!(departures("1\n3\n7\n", 0, &[3100]), [7]);
        assert_eq!(departures("1\n3\n7\n", 0, &[500, 500, 500, 500]), [1, 1, 1, 3]);
        assert_eq!(departures("1\n3\n7\n", 0, &[1000, 1000, 1000]), [1, 3, 3]);
    }

    #[test]
    fn what_is_left_when_the_queue_runs_empty_is_wasted() {
        let mut transmitter = TraceDriven::new(Trace::parse("1\n3\n7\n").unwrap());
        assert_eq!(transmitter.departure(ms(0), 500), ms(1));
        assert_eq!(transmitter.departure(ms(2), 1500), ms(3), "not the 1000 bytes left at 1 ms");
        assert_eq!(transmitter.departure(ms(703), 1500), ms(703), "3 ms into round 100");
        assert_eq!(transmitter.departure(ms(777), 1500), ms(777), "the last opportunity of round 110");
        assert_eq!(transmitter.departure(ms(1006), 1500), ms(1008));
    }

    #[test]
    fn a_round_that_begins_at_zero_adds_to_the_end_of_the_one_before() {
        assert_eq!(departures("0\n4\n", 0, &[1500; 5]), [0, 4, 4, 8, 8]);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text| Trace::parse(text).unwrap_err().to_string();
        assert!(error("1\n2\nx\n").starts_with("line 3 is not"));
        assert!(error("1\n\n# comment\n7\n5\n").starts_with("line 5: 5 ms comes before 7 ms"));
        assert!(error("0\n0\n").starts_with("line 2: the last time is 0 ms"));
        assert!(error("\n").contains("empty"));
        assert!(error("-1\n").starts_with("line 1 is not"));
    }

    #[test]
    fn capacity_counts_what_may_cross_before_a_time() {
        let trace = Trace::parse("2\n5\n5\n10\n").unwrap();
        assert_eq!(trace.capacity_bytes(ms(5)), 1500);
        assert_eq!(trace.capacity_bytes(ms(6)), 4500);
        assert_eq!(trace.capacity_bytes(ms(13)), 7500);
        assert_eq!(trace.mean_rate(), Rate(4_800_000));
    }
}
