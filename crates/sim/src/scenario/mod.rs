//! The scenario: a path, its flows, the schemes to compare, duration and seeds.
//!
//! [`file`](mod@file) is what people write, [`model`] what runs. [`Scenario::load`] turns the first into the second,
//! and [`Scenario::to_toml`] turns it back. A [`Recipe`] can be read again with other values, or elsewhere. [`schema`]
//! describes the file to editors.
//!
//! `scenario/document.rs` reads TOML and remembers the place of each value; `--set` changes the document
//! (`overrides.rs`). `reader.rs` turns it into `file.rs`, the scenario as written, whose doc comments become
//! the JSON Schema's. `resolve/` fills in defaults, checks, reads traces and returns `model.rs`, the scenario
//! as it runs. `link/` has both for links: each key is declared once. All mistakes are reported together, each with file, line, key, what is allowed and the nearest
//! spelling.
//!
//! A `Recipe` is the source of a scenario: text, overrides, and the files it names, each read once. Read again
//! with more overrides, it gives a variation, whose defaults are recomputed (`Scenario.vary`); serialised, it
//! is a pickle that runs on another machine and in another directory. Values from Python
//! (`crates/py/src/values.rs`) become such a text; their mistakes are reported by key only, since nobody has
//! seen its lines.

mod check;
mod document;
mod error;
pub mod file;
mod files;
mod link;
mod load;
pub mod measurement;
mod medium;
pub mod model;
pub mod one_of;
mod one_or_more;
mod over;
mod overrides;
mod reader;
mod recipe;
mod resolve;
mod room;
mod route;
mod run_path;
mod schema;
#[cfg(test)]
mod tests;
pub mod text_file;
mod traffic;
mod way;
mod wireless;
mod write;

pub use error::{Problem, ScenarioError, Source};
pub use load::DEFAULT;
pub use model::Scenario;
pub use recipe::Recipe;
pub use schema::schema;
