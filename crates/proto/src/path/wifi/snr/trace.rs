//! A recorded signal-to-noise ratio.

use crate::path::data_lines;
use airtcp_wire::{Dur, Time};
use std::sync::Arc;

/// Ratios in dB over time, straight lines in between. After the last one the trace begins again. Clones share it.
#[derive(Clone, Debug, PartialEq)]
pub struct SnrTrace {
    /// Times from the first one on, which increase.
    points: Arc<[(Dur, f64)]>,
    /// Where the run enters it.
    offset: Dur,
}

/// Why a text is not such a trace. Lines count from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SnrTraceError {
    #[error("line {line} is not a time in s and a ratio in dB; write e.g. 0.5 23.8")]
    NotAPoint { line: usize },
    #[error("line {line} is not later than the one before it; put the lines in order of time")]
    NotLater { line: usize },
    #[error("the trace is empty: write a time in s and a ratio in dB on each line")]
    Empty,
}

impl SnrTrace {
    /// Reads one point a line, a time in seconds and a ratio in dB, separated by white space or a comma. Blank lines, and comments after a
    /// `#`, are skipped.
    ///
    /// # Errors
    /// [`SnrTraceError`], which names the line.
    pub fn parse(text: &str) -> Result<SnrTrace, SnrTraceError> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (line, data) in data_lines(text) {
            let point = point(data).ok_or(SnrTraceError::NotAPoint { line })?;
            if points.last().is_some_and(|last| point.0 <= last.0) {
                return Err(SnrTraceError::NotLater { line });
            }
            points.push(point);
        }
        let &(first, _) = points.first().ok_or(SnrTraceError::Empty)?;
        let points = points.into_iter().map(|(at, db)| (Dur::from_secs_f64(at - first), db)).collect();
        Ok(SnrTrace { points, offset: Dur::ZERO })
    }

    /// In dB.
    pub fn at(&self, now: Time) -> f64 {
        let at = match self.period() {
            Dur::ZERO => Dur::ZERO,
            period => Dur((now + self.offset).0 % period.0),
        };
        let next = self.points.partition_point(|&(time, _)| time <= at);
        let (from, from_db) = self.points[next - 1];
        match self.points.get(next) {
            Some(&(to, to_db)) => {
                let share = (at - from).as_secs_f64() / (to - from).as_secs_f64();
                from_db + share * (to_db - from_db)
            }
            None => from_db,
        }
    }

    /// Length of one pass through the trace; zero if it is one point.
    pub fn period(&self) -> Dur {
        self.points[self.points.len() - 1].0
    }

    /// The trace as a run finds it that enters it at this offset.
    pub fn entered_at(&self, offset: Dur) -> SnrTrace {
        SnrTrace { points: self.points.clone(), offset }
    }
}

fn point(line: &str) -> Option<(f64, f64)> {
    let mut fields = line.split([',', ' ', '\t']).filter(|field| !field.is_empty());
    let mut number = || fields.next()?.parse::<f64>().ok().filter(|number| number.is_finite());
    let point = (number()?, number()?);
    let is_time = (0.0..=1e9).contains(&point.0);
    (is_time && (-100.0..=200.0).contains(&point.1) && fields.next().is_none()).then_some(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_straight_from_point_to_point_and_repeats() {
        let trace = SnrTrace::parse("# s, dB\n10, 20\n\n12 30\n14\t10 # far\n").unwrap();
        let db = |ms: u64| trace.at(Time(ms * 1_000_000));
        assert_eq!(
            [0, 500, 2000, 3000, 3500, 4000, 9000].map(db),
            [20.0, 22.5, 30.0, 20.0, 15.0, 20.0, 25.0]
        );
        let entered = trace.entered_at(Dur::from_secs(3));
        assert_eq!(entered.at(Time::ZERO), db(3000));
        assert_eq!(SnrTrace::parse("5 17\n").unwrap().at(Time(7)), 17.0);
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        let error = |text| SnrTrace::parse(text).unwrap_err();
        for text in ["0 20\n1\n", "0 20\n1 20 3\n", "0 20\n-1 20\n", "0 20\n1 nan\n", "0 20\n1 500\n"] {
            assert_eq!(error(text), SnrTraceError::NotAPoint { line: 2 }, "{text}");
        }
        assert_eq!(error("1 20\n1 21\n"), SnrTraceError::NotLater { line: 2 });
        assert_eq!(error("# nothing\n"), SnrTraceError::Empty);
    }
}
