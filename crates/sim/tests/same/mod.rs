//! A set of runs that between them use everything. `make same` runs it with two engines.

pub mod case;
#[cfg(test)]
mod coverage;
pub mod generator;
#[cfg(test)]
mod pins;
pub mod set;
#[cfg(all(test, feature = "shortcuts"))]
mod switch;
