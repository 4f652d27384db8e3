//! Delay that varies from packet to packet.

use airtcp_wire::Dur;

/// Why a text is not a series of delays. Lines count from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SeriesError {
    #[error("line {line}: `{text}` is not a time in milliseconds; write one number a line, e.g. 73.5")]
    NotATime { line: usize, text: String },
    #[error("the series is empty: write one time in ms a line")]
    Empty,
}

/// Reads a series of times: one number of milliseconds a line, with or without a decimal point. Blank lines and what
/// follows a `#` are skipped.
///
/// # Errors
/// [`SeriesError`], which names the line.
pub fn parse_series(text: &str) -> Result<Vec<Dur>, SeriesError> {
    let read = |(line, content): (usize, &str)| match content.parse::<f64>() {
        Ok(ms) if ms >= 0.0 && ms.is_finite() => Ok(Dur::from_secs_f64(ms / 1000.0)),
        _ => Err(SeriesError::NotATime { line, text: content.to_owned() }),
    };
    let values = super::data_lines(text).map(read).collect::<Result<Vec<_>, _>>()?;
    if values.is_empty() { Err(SeriesError::Empty) } else { Ok(values) }
}
