//! The scenario: a path, its flows, the schemes to compare, duration and seeds.
//!
//! [`file`] is what people write, [`model`] what runs.

pub mod file;
pub mod model;

pub use model::Scenario;
