//! The scenario: a path, its flows, the schemes to compare, duration and seeds.

pub mod model;

pub use model::Scenario;
