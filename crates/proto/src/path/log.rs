//! Bandwidth logs: a rate, and perhaps a latency, for each stretch of time. A log repeats from its beginning.

use super::{DelayModel, Transmitter};
use airtcp_wire::{Dur, Rate, Time};
use std::sync::Arc;

/// One stretch of a bandwidth log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogStep {
    pub length: Dur,
    pub rate: Rate,
    /// Round trip time, as logs give it.
    pub latency: Option<Dur>,
}

/// Why steps do not form a bandwidth log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LogError {
    #[error("the log is empty")]
    Empty,
    #[error("the log has no capacity: some interval must have a bandwidth above zero")]
    NoCapacity,
}

/// A bandwidth log. Clones share it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RateLog {
    /// Steps that are not empty, each with the offset in ns at which it ends.
    steps: Arc<[(u64, LogStep)]>,
    /// What one pass through the log carries, in the unit of [`work`].
    round_work: u128,
}

/// Bits to send, in units of 10⁻⁹ bit, so that a rate in bit/s times a time in ns is in the same unit.
fn work(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * 1_000_000_000
}

/// What `rate` sends in `ns`, in the unit of [`work`].
fn done(rate: Rate, ns: u64) -> u128 {
    u128::from(rate.0) * u128::from(ns)
}

impl RateLog {
    /// A log of these steps; empty ones are left out.
    ///
    /// # Errors
    /// [`LogError`] if nothing could ever be sent.
    pub fn new(steps: impl IntoIterator<Item = LogStep>) -> Result<RateLog, LogError> {
        let mut end = 0;
        let steps: Arc<[_]> = steps
            .into_iter()
            .filter(|step| step.length > Dur::ZERO)
            .map(|step| {
                end += step.length.0;
                (end, step)
            })
            .collect();
        let round_work = steps.iter().map(|(_, step)| done(step.rate, step.length.0)).sum();
        match round_work {
            _ if steps.is_empty() => Err(LogError::Empty),
            0 => Err(LogError::NoCapacity),
            _ => Ok(RateLog { steps, round_work }),
        }
    }

    /// Bytes that could have crossed before `until`.
    pub fn capacity_bytes(&self, until: Time) -> u64 {
        let (round, offset) = (until.0 / self.period_ns(), until.0 % self.period_ns());
        let mut total = self.round_work * u128::from(round);
        for (end, step) in self.steps.iter() {
            let begin = end - step.length.0;
            total += done(step.rate, offset.clamp(begin, *end) - begin);
        }
        (total / work(1)) as u64
    }

    /// Length of one pass through the log.
    pub fn period(&self) -> Dur {
        Dur(self.period_ns())
    }

    /// This log, started at `offset`.
    #[must_use]
    pub fn entered_at(&self, offset: Dur) -> RateLog {
        let offset = offset.0 % self.period_ns();
        let (index, mut steps) =
            (self.step_at(offset), self.steps.iter().map(|(_, step)| *step).collect::<Vec<_>>());
        let (end, step) = self.steps[index];
        let left = Dur(end - offset);
        steps.splice(
            index..=index,
            [LogStep { length: step.length - left, ..step }, LogStep { length: left, ..step }],
        );
        steps.rotate_left(index + 1);
        RateLog::new(steps).expect("a pass carries as much as before")
    }

    /// The mean rate over the whole log.
    pub fn mean_rate(&self) -> Rate {
        Rate((self.round_work / u128::from(self.period_ns())) as u64)
    }

    fn period_ns(&self) -> u64 {
        self.steps[self.steps.len() - 1].0
    }

    /// Index of the step at `offset_ns` into the log.
    fn step_at(&self, offset_ns: u64) -> usize {
        self.steps.partition_point(|&(end, _)| end <= offset_ns)
    }
}

/// Sends at the log's rate of each moment. A packet that spans several steps is integrated over them exactly; only its end is rounded,
/// down to the nanosecond.
#[derive(Clone, Debug)]
pub struct LogDriven(pub RateLog);

impl Transmitter for LogDriven {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        let LogDriven(log) = self;
        let period = log.period_ns();
        let mut missing = work(u64::from(bytes));
        let mut offset = start.0 % period;
        let mut round_start = start.0 - offset;
        if missing > log.round_work {
            let rounds = (missing - 1) / log.round_work;
            missing -= rounds * log.round_work;
            round_start += rounds as u64 * period;
        }
        let mut index = log.step_at(offset);
        loop {
            let (end, step) = log.steps[index];
            let here = done(step.rate, end - offset);
            if missing <= here {
                let ns = missing.checked_div(u128::from(step.rate.0)).unwrap_or(0);
                return Time(round_start + offset + ns as u64);
            }
            missing -= here;
            offset = end;
            index += 1;
            if index == log.steps.len() {
                (index, offset) = (0, 0);
                round_start += period;
            }
        }
    }
}

/// One direction's share of the log's latency: half of the latency at the time when a packet leaves.
#[derive(Clone, Debug)]
pub struct LogLatency(pub RateLog);

impl DelayModel for LogLatency {
    fn extra_delay(&mut self, now: Time) -> Dur {
        let LogLatency(log) = self;
        let (_, step) = log.steps[log.step_at(now.0 % log.period_ns())];
        step.latency.unwrap_or(Dur::ZERO) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (ms, kbit/s)
    fn log(steps: &[(u64, u64)]) -> RateLog {
        RateLog::new(steps.iter().map(|&(ms, kbps)| LogStep {
            length: Dur::from_millis(ms),
            rate: Rate(kbps * 1000),
            latency: Some(Dur::from_millis(ms)),
        }))
        .unwrap()
    }

    #[test]
    fn a_packet_is_integrated_over_steps_with_rate_zero_among_them() {
        // 4 000 bits at 1 Mbit/s take 4 ms, nothing for 5 ms, the other 8 000 bits at 2 Mbit/s take 4 ms.
        let mut sender = LogDriven(log(&[(10, 1000), (5, 0), (10, 2000)]));
        assert_eq!(sender.departure(Time(6_000_000), 1500), Time(19_000_000));
        assert_eq!(sender.departure(Time(12_000_000), 250), Time(16_000_000));
    }

    #[test]
    fn the_log_repeats_and_whole_rounds_are_skipped_over() {
        let mut sender = LogDriven(log(&[(1, 8), (1, 0)]));
        // A round of 2 ms carries one byte, in its first half.
        assert_eq!(sender.departure(Time::ZERO, 1), Time(1_000_000));
        assert_eq!(sender.departure(Time::ZERO, 2), Time(3_000_000));
        assert_eq!(sender.departure(Time(2_500_000), 100), Time(202_500_000));
    }

    #[test]
    fn departures_back_to_back_never_exceed_the_capacity_and_waste_none() {
        let log = log(&[(7, 313), (3, 0), (11, 977)]);
        let mut sender = LogDriven(log.clone());
        let (mut free_at, mut sent) = (Time::ZERO, 0);
        for bytes in (0..5000).map(|i| 40 + i * 37 % 1461) {
            free_at = sender.departure(free_at, bytes);
            sent += u64::from(bytes);
        }
        // Each rounding down gains less than 1 ns, 977 bit/s · 1 ns < 1e-3 bit: nothing that amounts to a byte.
        assert!(sent.abs_diff(log.capacity_bytes(free_at)) <= 1, "{sent} {}", log.capacity_bytes(free_at));
    }

    #[test]
    fn a_log_can_be_entered_anywhere() {
        let entered = log(&[(10, 1000), (5, 0), (10, 2000)]).entered_at(Dur::from_millis(29));
        let steps: Vec<_> =
            entered.steps.iter().map(|(end, step)| (end / 1_000_000, step.rate.0 / 1000)).collect();
        assert_eq!(steps, [(6, 1000), (11, 0), (21, 2000), (25, 1000)]);
        assert_eq!(log(&[(10, 8)]).entered_at(Dur::from_millis(20)), log(&[(10, 8)]));
    }

    #[test]
    fn half_the_latency_of_the_step_is_one_directions_delay() {
        let mut latency = LogLatency(log(&[(10, 1), (6, 1)]));
        assert_eq!(latency.extra_delay(Time(9_999_999)), Dur::from_millis(5));
        assert_eq!(latency.extra_delay(Time(10_000_000)), Dur::from_millis(3));
        assert_eq!(latency.extra_delay(Time(16_000_000)), Dur::from_millis(5));
    }

    #[test]
    fn a_log_that_never_sends_is_refused() {
        assert_eq!(RateLog::new([]), Err(LogError::Empty));
        let step = LogStep { length: Dur::from_secs(1), rate: Rate(0), latency: None };
        assert_eq!(RateLog::new([step]), Err(LogError::NoCapacity));
    }
}
