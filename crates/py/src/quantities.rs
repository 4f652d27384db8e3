//! Parses quantities with units.

use airtcp_wire::{Bytes, Dur, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::str::FromStr;

/// "52B", "1.5kB". Raises ValueError.
#[pyfunction]
pub fn size_in_bytes(text: &str) -> PyResult<u64> {
    parsed::<Bytes>(text).map(|size| size.0)
}

/// "540ms", "2s". Raises ValueError.
#[pyfunction]
pub fn time_in_seconds(text: &str) -> PyResult<f64> {
    parsed::<Dur>(text).map(Dur::as_secs_f64)
}

/// "5Mbit/s". Raises ValueError.
#[pyfunction]
pub fn rate_in_bps(text: &str) -> PyResult<u64> {
    parsed::<Rate>(text).map(|rate| rate.0)
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> PyResult<T> {
    text.parse().map_err(|error: T::Err| PyValueError::new_err(error.to_string()))
}
