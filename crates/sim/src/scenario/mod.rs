//! The scenario: a path, its flows, the schemes to compare, duration and seeds.
//!
//! [`file`](mod@file) is what people write, [`model`] what runs. [`Scenario::load`] turns the first into the second,
//! and [`Scenario::to_toml`] turns it back. A [`Recipe`] can be read again with other values, or elsewhere. [`schema`]
//! describes the file to editors.

mod document;
mod error;
pub mod file;
mod load;
pub mod measurement;
pub mod model;
pub mod one_of;
mod overrides;
mod reader;
mod recipe;
mod resolve;
mod room;
mod run_path;
mod schema;
#[cfg(test)]
mod tests;
pub mod text_file;
mod wireless;
mod write;

pub use error::{Problem, ScenarioError, Source};
pub use load::DEFAULT;
pub use model::Scenario;
pub use recipe::Recipe;
pub use schema::schema;
