//! The papers' closed forms: what a window, a throughput or a queue must come to, on paper.
//!
//! Each function is one formula, in the units of its paper, and answers in `f64`: a simulation is what it is to be held
//! against. `airtcp model` prints both.

pub mod gain;
pub mod mat;
pub mod red;
pub mod window;

#[cfg(test)]
#[track_caller]
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
}
