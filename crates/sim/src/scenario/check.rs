//! Follows the document alongside its typed form, so that errors of meaning have a place, too.

use super::document::{Node, Place, Step};
use super::error::{Problems, list};
use super::files::{Files, Named};
use super::one_of::{OneOf, required_keys};
use super::reader::{Reader, Stop, read_at};
use airtcp_proto::cc::Controllers;
use airtcp_proto::choice::{Choice, Fault, Faults, keys_of};
use airtcp_wire::Dur;
use schemars::SchemaGenerator;
use serde::Deserialize;
use std::path::Path;

/// The current place in the document, and the problems found so far.
pub(crate) struct Check<'a> {
    root: &'a Node,
    path: Vec<Step>,
    overrides: &'a [(String, String)],
    /// The congestion controls that schemes may name besides those of the registry.
    pub controllers: &'a Controllers,
    files: Files<'a>,
    problems: &'a mut Problems,
}

impl From<&str> for Step {
    fn from(key: &str) -> Step {
        Step::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Step {
        Step::Index(index)
    }
}

impl<'a> Check<'a> {
    pub fn new(
        root: &'a Node,
        overrides: &'a [(String, String)],
        controllers: &'a Controllers,
        files: Files<'a>,
        problems: &'a mut Problems,
    ) -> Check<'a> {
        Check { root, path: Vec::new(), overrides, controllers, files, problems }
    }

    /// Reads the current table: its kind with that kind's keys, and the keys that all kinds have.
    pub fn one_of<C: Choice>(&mut self, written: &OneOf<C>) -> Option<(C, C::Common)> {
        let kind = written.kind();
        self.only(kind.name, &[&[C::KEY], (kind.keys)(), keys_of::<C::Common>()].concat());
        let empty = Node::table(Place::Implied);
        let node = self.find().unwrap_or(&empty);
        let common = self.read(node, |reader| C::Common::deserialize(reader));
        let own = self.read(node, |reader| C::read(kind.name, reader));
        if let Err(Stop::Missing(_)) = own {
            let schema = (kind.schema)(&mut SchemaGenerator::default());
            for key in required_keys(&schema) {
                self.required(key, node.get(key), kind.name);
            }
        }
        let (own, common) = (own.ok()?, common.ok()?);
        let mut faults = Faults::default();
        own.check(&mut faults);
        self.refuse_faults(faults);
        Some((own, common))
    }

    fn read<T>(&mut self, node: &Node, read: impl FnOnce(Reader<'_>) -> Result<T, Stop>) -> Result<T, Stop> {
        read_at(node, &self.path, self.overrides, self.problems, read)
    }

    /// Reports faults in the current table.
    pub fn refuse_faults(&mut self, faults: Faults) {
        let step = |key: &str| key.parse().map_or_else(|_| Step::from(key), Step::Index);
        for Fault { keys, message } in faults {
            let steps = |key: &str| key.split('.').map(step).collect::<Vec<_>>();
            let mut blamed = keys.iter().map(|key| [&self.path[..], &steps(key)].concat());
            let first = blamed.clone().find(|path| self.root.find(path).is_some());
            if let Some(path) = first.or_else(|| blamed.next_back()) {
                self.problems.push_at(self.root, &path, message);
            }
        }
    }

    /// Does `work` one step deeper in the document.
    pub fn inside<T>(&mut self, step: impl Into<Step>, work: impl FnOnce(&mut Check<'a>) -> T) -> T {
        self.path.push(step.into());
        let result = work(self);
        self.path.pop();
        result
    }

    /// Does `work` for each element of the list `key`.
    pub fn each<T, R>(
        &mut self,
        key: &str,
        elements: impl IntoIterator<Item = T>,
        mut work: impl FnMut(T, &mut Check<'a>) -> R,
    ) -> Vec<R> {
        self.inside(key, |check| {
            let one = |(index, element)| check.inside(index, |check| work(element, check));
            elements.into_iter().enumerate().map(one).collect()
        })
    }

    /// Reports that the current table or value is wrong.
    pub fn refuse(&mut self, message: impl Into<String>) {
        self.problems.push_at(self.root, &self.path, message);
    }

    /// Reports that the value of `key` is wrong.
    pub fn refuse_key(&mut self, key: &str, message: impl Into<String>) {
        self.inside(key, |check| check.refuse(message));
    }

    /// Reports that the value of `key` is wrong, if it is.
    pub fn refuse_if(&mut self, wrong: bool, key: &str, message: &str) {
        if wrong {
            self.refuse_key(key, message);
        }
    }

    pub fn above_zero(&mut self, key: &str, value: Dur) {
        self.refuse_if(value == Dur::ZERO, key, "must be above zero");
    }

    /// Reports that the choice `owner` needs `key`, if it has no value. Returns the value.
    pub fn required<T>(&mut self, key: &str, value: Option<T>, owner: &str) -> Option<T> {
        if value.is_none() {
            self.refuse(format!("`{key}` is missing: `{owner}` needs it"));
        }
        value
    }

    /// Reports keys that do not belong to the choice `owner`.
    pub fn only(&mut self, owner: &str, allowed: &[&str]) {
        let written = self.find().and_then(Node::as_table);
        let foreign: Vec<_> = written
            .into_iter()
            .flat_map(|table| table.keys())
            .filter(|key| !allowed.contains(&key.as_str()))
            .collect();
        for key in foreign {
            let message = format!("does not belong to `{owner}`; allowed: {}", list(allowed.iter().copied()));
            self.refuse_key(key, message);
        }
    }

    /// Reads the file that the current value names.
    pub fn file<T>(
        &mut self,
        path: &Path,
        read: impl FnOnce(&mut Files<'a>, Named<'_>) -> Result<T, String>,
    ) -> Option<T> {
        let is_override = matches!(self.root.locate(&self.path), Place::Set(_));
        read(&mut self.files, Named { path, is_override }).map_err(|problem| self.refuse(problem)).ok()
    }

    fn find(&self) -> Option<&'a Node> {
        self.root.find(&self.path)
    }
}
