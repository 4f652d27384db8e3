//! Congestion controllers, each behind the trait that a sender uses.

mod conformance;
mod curves;
pub mod declared;
mod model;
mod rules;
