//! Congestion controllers, each behind the trait that a sender uses.

mod conformance;
mod curves;
mod model;
mod rules;
