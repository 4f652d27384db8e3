//! The papers' closed forms, and the quantities that people write.

use airtcp_proto::model::{gain, mat, red, window};
use airtcp_wire::{Bytes, Dur, Rate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::str::FromStr;

/// 1 − (1 − BER)^(8·PS).
#[pyfunction]
pub fn packet_error_rate(ber: f64, packet_bytes: f64) -> f64 {
    window::error_rate(ber, packet_bytes)
}

/// BER·PS·8 (paper 000, eq. 1); may exceed 1.
#[pyfunction]
pub fn packet_error_rate_first_order(ber: f64, packet_bytes: f64) -> f64 {
    window::error_rate_first_order(ber, packet_bytes)
}

/// W in packets, of 3/8·W² + 3/4·W = 1/PER (paper 000, eq. 2).
#[pyfunction]
pub fn maximum_allowable_window(error_rate: f64) -> f64 {
    window::maximum_allowable_window(error_rate)
}

/// MAT = (3/4·W + 3/2)·PS/RTT in bytes a second (paper 000, eq. 3).
#[pyfunction]
pub fn maximum_allowable_throughput(window: f64, packet_bytes: f64, rtt_s: f64) -> f64 {
    mat::maximum_allowable_throughput(window, packet_bytes, rtt_s)
}

/// What of `throughput` is useful at best, in its unit (paper 000, §8.3).
#[pyfunction]
pub fn goodput_bound(throughput: f64, error_rate: f64, packet_bytes: f64, header_bytes: f64) -> f64 {
    mat::goodput_bound(throughput, error_rate, packet_bytes, header_bytes)
}

/// √(MTU/HP_Sz) (paper 000, §7).
#[pyfunction]
pub fn decoupling_gain(mtu_bytes: f64, header_packet_bytes: f64) -> f64 {
    gain::decoupling_gain(mtu_bytes, header_packet_bytes)
}

/// The same by eqs 1 to 3 of paper 000, without the simplification for rare errors.
#[pyfunction]
pub fn decoupling_gain_at(ber: f64, mtu_bytes: f64, header_packet_bytes: f64) -> f64 {
    gain::decoupling_gain_at(ber, mtu_bytes, header_packet_bytes)
}

/// Q̄max in packets (paper 002, eq. 8) for flows of these windows in packets.
///
/// Without a marking `probability`, it is RED's at Q̄max itself.
#[pyfunction]
#[pyo3(signature = (min_threshold, max_threshold, max_probability, weight, windows, probability = None))]
pub fn red_maximum_average_queue(
    min_threshold: f64,
    max_threshold: f64,
    max_probability: f64,
    weight: f64,
    windows: Vec<f64>,
    probability: Option<f64>,
) -> f64 {
    let red = red::Red { min_threshold, max_threshold, max_probability, weight };
    match probability {
        // The RTT cancels out of β.
        Some(probability) => {
            let flows: Vec<_> = windows.into_iter().map(|window| (window, 1.0)).collect();
            red::maximum_average_queue(&red, probability, &flows)
        }
        None => red::self_consistent_maximum_average_queue(&red, &windows),
    }
}

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
