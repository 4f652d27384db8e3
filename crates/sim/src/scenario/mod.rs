//! The scenario: a path, its flows, the schemes to compare, duration and seeds.
//!
//! [`file`] is what people write, [`model`] what runs.

mod document;
mod error;
pub mod file;
pub mod model;
mod overrides;
pub mod quantity;
mod reader;

pub use model::Scenario;
