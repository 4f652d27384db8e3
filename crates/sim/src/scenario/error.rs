//! Errors in a scenario: what is wrong and where, what is allowed, and what was probably meant.

use super::document::{Node, Place, Step, show_path};
use airtcp_wire::spelling::{did_you_mean, nearest};
use std::fmt;

/// All mistakes that were found, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioError {
    pub problems: Vec<Problem>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub source: Source,
    /// The key path, for example `link[0].loss.ber`; may be empty.
    pub key: String,
    /// What is wrong, what is allowed, and the nearest spelling.
    pub message: String,
}

/// Where a mistake was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In a file. Lines and columns, in characters, count from 1.
    File { name: String, line: usize, column: usize },
    /// In a generated text, where only the key gives the place.
    Values,
    /// In `--set KEY=VALUE`.
    Override { key: String, value: String },
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::File { name, line, column } => write!(f, "{name}:{line}:{column}: ")?,
            Source::Values => {}
            Source::Override { key, value } => write!(f, "--set {key}={value}: ")?,
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Writes "unknown key `rat`; did you mean `rate`? allowed: rate, trace, …".
pub(super) fn unknown<'a>(what: &str, name: &str, allowed: impl Iterator<Item = &'a str> + Clone) -> String {
    format!("unknown {what} `{name}`{}", hint_and_list(name, allowed))
}

/// Writes "; did you mean `rate`? allowed: rate, trace, …".
pub(super) fn hint_and_list<'a>(name: &str, allowed: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = nearest(name, allowed.clone());
    let question = did_you_mean(" ", nearest.as_deref(), "");
    format!(";{question} allowed: {}", list(allowed))
}

pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Mistakes as they are found: the place in the document, the key path and the message.
#[derive(Default)]
pub(super) struct Problems(Vec<(Place, String, String)>);

impl Problems {
    pub fn push(&mut self, place: Place, path: &[Step], message: impl Into<String>) {
        self.0.push((place, show_path(path), message.into()));
    }

    /// Reports a mistake at the deepest node that exists on `path`.
    pub fn push_at(&mut self, root: &Node, path: &[Step], message: impl Into<String>) {
        self.push(root.locate(path), path, message);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// # Errors
    /// There was a problem.
    pub fn into_result(mut self, origin: &Origin<'_>) -> Result<(), ScenarioError> {
        if self.0.is_empty() {
            return Ok(());
        }
        self.0.sort_by_key(|(place, ..)| *place);
        let problem =
            |(place, key, message): (Place, _, _)| Problem { source: origin.source(place), key, message };
        Err(ScenarioError { problems: self.0.into_iter().map(problem).collect() })
    }
}

/// The texts to which places refer.
pub(super) struct Origin<'a> {
    /// Empty if the text was generated.
    pub file_name: &'a str,
    pub text: &'a str,
    pub overrides: &'a [(String, String)],
}

impl Origin<'_> {
    fn source(&self, place: Place) -> Source {
        match place {
            Place::Set(index) => {
                let (key, value) = self.overrides[index].clone();
                Source::Override { key, value }
            }
            Place::File(_) | Place::Implied if self.file_name.is_empty() => Source::Values,
            Place::File(offset) => self.line_and_column(offset),
            Place::Implied => self.line_and_column(0),
        }
    }

    fn line_and_column(&self, offset: usize) -> Source {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Source::File {
            name: self.file_name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}
