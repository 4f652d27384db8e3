//! Series of round trip times in common formats: a column of numbers, output of `ping`, or a CSV file.

use super::{Draw, Jitter, Keys, TextOf};
use crate::choice::Faults;
use crate::path::{DelayModel, data_lines};
use crate::rng::Chance;
use airtcp_wire::{Dur, Probability, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Values from a file, in order and repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// A file with RTTs in ms, relative to the scenario's directory: one number per line, `ping` output, or CSV with
    /// a heading.
    pub file: PathBuf,
    /// The CSV file's column. Absent: `rtt_ms`, `rtt`, `time_ms` or `time`, or the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// How much of each RTT this direction takes; by default as much as the way back.
    #[serde(default = "half")]
    pub share: Probability,
    /// Time between two values. Absent: one value a packet.
    #[serde(default)]
    pub interval: Option<Dur>,
    /// Delays of this direction, at least one.
    #[serde(skip)]
    pub delays: Arc<[Dur]>,
}

impl Config {
    /// Length of one pass through the series; `None` if each packet takes the next value.
    pub fn period(&self) -> Option<Dur> {
        self.interval.map(|interval| interval * self.delays.len() as u64)
    }

    /// Makes the series begin with value number `value`, modulo its length.
    pub fn enter(&mut self, value: u64) {
        let mut delays = self.delays.to_vec();
        delays.rotate_left((value % self.delays.len() as u64) as usize);
        self.delays = delays.into();
    }
}

fn half() -> Probability {
    Probability::new(0.5)
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        faults.above_zero("interval", self.interval);
    }

    fn load(&mut self, text_of: &mut TextOf<'_>, faults: &mut Faults) {
        let Some(text) = text_of("file", &self.file) else { return };
        match parse_series(&text, self.column.as_deref()) {
            Ok(trips) => self.delays = trips.iter().map(|trip| trip.mul_f64(self.share.get())).collect(),
            Err(wrong) => faults.refuse_if(true, "file", format!("{}: {wrong}", self.file.display())),
        }
    }

    fn build(&self, start: Time, chance: Chance) -> Box<dyn DelayModel> {
        let series = Series { values: self.delays.clone(), interval: self.interval, start, packets: 0 };
        Jitter::boxed(series, start, chance)
    }
}

/// The values in turn, over and over.
struct Series {
    values: Arc<[Dur]>,
    /// How long each value holds. `None`: for one packet.
    interval: Option<Dur>,
    start: Time,
    /// Packets delayed so far.
    packets: u64,
}

impl Draw for Series {
    fn draw(&mut self, now: Time, _: &mut Chance) -> Dur {
        let packet = self.packets;
        self.packets += 1;
        let turn = self.interval.map_or(packet, |interval| now.since(self.start).0 / interval.0.max(1));
        self.values[(turn % self.values.len() as u64) as usize]
    }
}

/// Why a text is not a series of times. Lines count from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
enum SeriesError {
    #[error("line {line} is not a time in milliseconds; write one number per line, e.g. 73.5")]
    NotATime { line: usize },
    #[error("the series is empty: write one time in ms per line")]
    Empty,
    #[error("none of the {columns} columns in its heading is `{wanted}`")]
    NoColumn { wanted: String, columns: usize },
}

/// Names of columns with round trips, if the configuration names none.
const RTT_COLUMNS: [&str; 4] = ["rtt_ms", "rtt", "time_ms", "time"];
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// Reads a series of times in milliseconds, in one of three forms, which is recognised by its content:
/// - output of `ping`: only lines with `time=73.5 ms` (or `time<1ms`) count;
/// - CSV with a heading, separated by commas, semicolons or tabs: the column called `column`, or else `rtt_ms`, `rtt`, `time_ms` or `time`,
///   or the only one;
/// - one number per line.
///
/// Blank lines, comments after a `#`, lost pings and empty fields of a CSV file are skipped.
///
/// # Errors
/// [`SeriesError`], which names the line or the columns.
fn parse_series(text: &str, column: Option<&str>) -> Result<Vec<Dur>, SeriesError> {
    let lines: Vec<_> = data_lines(text).collect();
    let values = if lines.iter().any(|(_, line)| pinged(line).is_some()) {
        lines
            .iter()
            .filter_map(|&(number, line)| Some(time(number, pinged(line)?)))
            .collect::<Result<Vec<_>, _>>()?
    } else {
        match lines.split_first() {
            Some((heading, rows)) if is_heading(heading.1, column) => read_csv(heading.1, rows, column)?,
            _ => lines.iter().map(|&(number, line)| time(number, line)).collect::<Result<_, _>>()?,
        }
    };
    if values.is_empty() { Err(SeriesError::Empty) } else { Ok(values) }
}

/// The number in `time=73.5 ms` or `time<1ms`.
fn pinged(line: &str) -> Option<&str> {
    let at = ["time=", "time<"].iter().find_map(|key| line.find(key).map(|at| at + key.len()))?;
    let rest = line[at..].trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// Is the first line a heading? It is if it has several fields or the name of a column.
fn is_heading(line: &str, column: Option<&str>) -> bool {
    line.contains(SEPARATORS) || column.is_some() || RTT_COLUMNS.contains(&field(line))
}

fn read_csv(heading: &str, rows: &[(usize, &str)], column: Option<&str>) -> Result<Vec<Dur>, SeriesError> {
    let names: Vec<_> = heading.split(SEPARATORS).map(field).collect();
    let find = |wanted: &str| names.iter().position(|name| *name == wanted);
    let index = match column {
        Some(wanted) => find(wanted),
        None => RTT_COLUMNS.iter().find_map(|name| find(name)),
    };
    let index = index.or((column.is_none() && names.len() == 1).then_some(0)).ok_or_else(|| {
        SeriesError::NoColumn { wanted: column.unwrap_or(RTT_COLUMNS[0]).to_owned(), columns: names.len() }
    })?;
    rows.iter()
        .map(|&(number, row)| (number, row.split(SEPARATORS).nth(index).map_or("", field)))
        .filter(|(_, value)| !value.is_empty())
        .map(|(number, value)| time(number, value))
        .collect()
}

fn field(text: &str) -> &str {
    text.trim().trim_matches('"')
}

fn time(line: usize, text: &str) -> Result<Dur, SeriesError> {
    match text.parse::<f64>() {
        Ok(ms) if ms >= 0.0 && ms.is_finite() => Ok(Dur::from_secs_f64(ms / 1000.0)),
        _ => Err(SeriesError::NotATime { line }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    fn micros(text: &str, column: Option<&str>) -> Vec<u64> {
        parse_series(text, column).unwrap().iter().map(|rtt| rtt.0 / 1000).collect()
    }

    #[test]
    fn numbers_are_read_or_refused_with_their_line() {
        assert_eq!(micros("# rtt\n73.5\n\n 80 \n", None), [73_500, 80_000]);
        let error = |text| parse_series(text, None).unwrap_err().to_string();
        assert!(error("1\nten\n").starts_with("line 2 is not"));
        assert!(parse_series("-1", None).is_err() && parse_series("inf", None).is_err());
        assert_eq!(parse_series("# nothing\n", None), Err(SeriesError::Empty));
    }

    #[test]
    fn what_ping_prints_is_read() {
        let linux = "PING 192.0.2.1 (192.0.2.1) 1472(1500) bytes of data.\n\
            [1700000000.123456] 1480 bytes from 192.0.2.1: icmp_seq=1 ttl=60 time=312 ms\n\
            no answer yet for icmp_seq=2\n\
            1480 bytes from 192.0.2.1: icmp_seq=3 ttl=60 time=74.25 ms\n\n\
            --- 192.0.2.1 ping statistics ---\n\
            3 packets transmitted, 2 received, 33% packet loss, time 2003ms\n\
            rtt min/avg/max/mdev = 74.250/193.125/312.000/118.875 ms\n";
        assert_eq!(micros(linux, None), [312_000, 74_250]);
        let windows = "Reply from 192.0.2.1: bytes=32 time<1ms TTL=60\nRequest timed out.\n\
            Reply from 192.0.2.1: bytes=32 time=14ms TTL=60\n";
        assert_eq!(micros(windows, None), [1000, 14_000]);
    }

    #[test]
    fn a_column_of_a_csv_file_is_read() {
        assert_eq!(micros("seq,rtt_ms\n1,10.5\n2,\n3,20\n", None), [10_500, 20_000]);
        assert_eq!(micros("\"seq\";\"delay\"\n1;7\n", Some("delay")), [7_000]);
        assert_eq!(micros("rtt\n5\n", None), [5_000]);
        assert_eq!(micros("delay\n5\n", Some("delay")), [5_000]);
        let error = |text, column| parse_series(text, column).unwrap_err().to_string();
        assert_eq!(error("a,b\n1,2\n", None), "none of the 2 columns in its heading is `rtt_ms`");
        assert!(error("a,rtt\n1,x\n", None).starts_with("line 2 is not"));
        assert!(error("a\n1\n", Some("b")).ends_with("is `b`"));
    }

    #[test]
    fn a_series_goes_by_packet_or_by_time_and_repeats() {
        let ms = |interval: Option<Dur>, start: u64, times: &[u64]| -> Vec<u64> {
            let delays = [1, 2, 3].map(Dur::from_millis).into();
            let config = Config { file: PathBuf::new(), column: None, share: half(), interval, delays };
            let mut model = config.build(Time(start * 1_000_000), Chances::new(1).chance("delay"));
            times.iter().map(|&at| model.extra_delay(Time(at * 1_000_000)).as_millis()).collect()
        };
        assert_eq!(ms(None, 0, &[0; 5]), [1, 2, 3, 1, 2]);
        let held = ms(Some(Dur::from_millis(10)), 5, &[0, 4, 5, 14, 15, 34, 35]);
        assert_eq!(held, [0, 0, 1, 1, 2, 3, 1]);
    }
}
