//! Reads a scenario file in steps: text → document → overrides → typed → resolved.

use super::check::Check;
use super::document::{Node, Place, Step, Value};
use super::error::{self, Origin, Problem, Problems, ScenarioError};
use super::file::ScenarioFile;
use super::measurement::Reading;
use super::model::Scenario;
use super::recipe::{Files, Recipe};
use super::{files, overrides, reader, resolve};
use airtcp_proto::cc::Controllers;
use std::path::Path;
use toml::de::DeTable;

/// The scenario that runs where none is named: a lossy wireless link.
pub const DEFAULT: &str = include_str!("../../../../scenarios/default.toml");

impl Scenario {
    /// Reads a scenario.
    ///
    /// Errors call the text `file_name`. Paths in it are relative to `folder`, the file's own; paths in overrides are
    /// relative to the current directory. Each of the `overrides` is a key and a value as in `--set key=value`. They
    /// are applied in order, as if the file had been edited. A key is a dotted path in which a link or a flow goes by
    /// its name or its number from 0, and `link.` may be left out in front of a name: `duration`, `wireless.loss.ber`,
    /// `link.0.rate`, `flow.main.count`. A value is read as TOML; what is not TOML is text.
    ///
    /// # Errors
    /// [`ScenarioError`] with all mistakes that do not hide behind others. Its `Display` has a line for each:
    /// `lossy.toml:7:1: link[0].rat: unknown key; did you mean `rate`? allowed: …`
    pub fn load(
        text: &str,
        file_name: &str,
        folder: &Path,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        Recipe::new(text, file_name, folder, overrides).read()
    }

    /// The built-in scenario, [`DEFAULT`], with `overrides`.
    ///
    /// # Errors
    /// [`ScenarioError`] if the overrides are wrong.
    pub fn built_in(overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        Recipe::built_in(overrides).read()
    }
}

impl Recipe {
    /// The recipe of the scenario that runs where none is named.
    pub fn built_in(overrides: &[(String, String)]) -> Recipe {
        Recipe::new(DEFAULT, "default.toml", Path::new(""), overrides)
    }

    /// Reads the scenario. Each file that it names is read only once: reading the recipe again finds the same content.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn read(&mut self) -> Result<Scenario, ScenarioError> {
        read(self)
    }
}

fn read(recipe: &mut Recipe) -> Result<Scenario, ScenarioError> {
    let Recipe { text, file_name, folder, overrides, controllers, files } = recipe;
    let mut problems = Problems::default();
    let written = written(text, overrides, &mut problems);
    let default_name = match Path::new(&*file_name).file_stem() {
        Some(stem) => stem.to_string_lossy(),
        None => "scenario".into(),
    };
    let mut source = Source { folder, default_name: &default_name, controllers, files };
    let scenario = written.and_then(|(root, written)| {
        let scenario = source.resolve(&root, &written, overrides, &mut problems)?;
        source.try_readings(&root, &written, overrides, &mut problems);
        Some(scenario)
    });
    problems.into_result(&Origin { file_name, text, overrides })?;
    Ok(scenario.expect("what cannot be read is a problem"))
}

/// What a scenario is resolved with, besides its document.
struct Source<'a> {
    folder: &'a Path,
    default_name: &'a str,
    controllers: &'a Controllers,
    files: &'a mut Files,
}

impl Source<'_> {
    fn resolve(
        &mut self,
        root: &Node,
        written: &ScenarioFile,
        overrides: &[(String, String)],
        problems: &mut Problems,
    ) -> Option<Scenario> {
        let files = files::Files::new(self.folder, self.files);
        let mut check = Check::new(root, overrides, self.controllers, files, problems);
        resolve::resolve(written, root, self.default_name, &mut check)
    }

    /// Checks that each reading of the measurement gives a scenario, too.
    fn try_readings(
        &mut self,
        root: &Node,
        written: &ScenarioFile,
        overrides: &[(String, String)],
        problems: &mut Problems,
    ) {
        let unknown = written.measurement.iter().flat_map(|measurement| &measurement.unknown);
        for (index, unknown) in unknown.enumerate() {
            for (number, reading) in unknown.reading.iter().enumerate() {
                let path: [Step; 5] =
                    ["measurement".into(), "unknown".into(), index.into(), "reading".into(), number.into()];
                let Err(error) = self.try_reading(root, reading, overrides) else { continue };
                for problem in error.problems {
                    problems.push_at(
                        root,
                        &path,
                        Problem { source: error::Source::Values, ..problem }.to_string(),
                    );
                }
            }
        }
    }

    fn try_reading(
        &mut self,
        root: &Node,
        reading: &Reading,
        overrides: &[(String, String)],
    ) -> Result<(), ScenarioError> {
        let mut root = root.clone();
        if let Value::Table(table) = &mut root.value {
            table.remove("measurement");
        }
        let all: Vec<_> = overrides.iter().cloned().chain(reading.set.clone()).collect();
        let mut problems = Problems::default();
        for (index, (key, value)) in all.iter().enumerate().skip(overrides.len()) {
            overrides::apply(&mut root, index, key, value, &mut problems);
        }
        if problems.is_empty()
            && let Some(written) = reader::read(&root, &all, &mut problems)
        {
            self.resolve(&root, &written, &all, &mut problems);
        }
        problems.into_result(&Origin { file_name: "", text: "", overrides: &all })
    }
}

/// The document after the overrides, and its typed form.
fn written(
    text: &str,
    overrides: &[(String, String)],
    problems: &mut Problems,
) -> Option<(Node, ScenarioFile)> {
    let (document, errors) = DeTable::parse_recoverable(text);
    // Further errors on a line are mostly consequences of the first.
    let line = |error: &toml::de::Error| error.span().map(|span| text[..span.start].matches('\n').count());
    let mut last_line = None;
    for error in errors {
        if last_line == Some(line(&error)) {
            continue;
        }
        last_line = Some(line(&error));
        let offset = error.span().map_or(0, |span| span.start);
        problems.push(Place::File(offset), &[], format!("not TOML: {}", error.message()));
    }
    let mut root = Node::from_document(&document);
    overrides::imply_flow(&mut root);
    for (index, (key, value)) in overrides.iter().enumerate() {
        overrides::apply(&mut root, index, key, value, problems);
    }
    if !problems.is_empty() {
        return None;
    }
    let written: ScenarioFile = reader::read(&root, overrides, problems)?;
    // Resolving would miss what a misspelt key was meant to set.
    problems.is_empty().then_some((root, written))
}
