//! The tests read `scenarios/` and, where it is there, the shared traces.

mod loading;
mod messages;
mod properties;
mod recipes;
mod shipped;
mod wireless;

use super::{Scenario, ScenarioError};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scenario/tests/fixtures")
}

fn pairs(overrides: &[(&str, &str)]) -> Vec<(String, String)> {
    overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn load(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    Scenario::load(text, "test.toml", &fixtures(), &pairs(overrides))
}

#[track_caller]
fn good(text: &str) -> Scenario {
    load(text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The texts of the scenarios that are shipped, with their names.
fn shipped_texts() -> Vec<(String, String)> {
    let folder = root().join("scenarios");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of scenarios")
        .map(|entry| entry.expect("its entry").file_name().into_string().expect("a plain name"))
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    let text = |name: &String| std::fs::read_to_string(folder.join(name)).expect("a scenario");
    names.iter().map(|name| (name.clone(), text(name))).collect()
}
