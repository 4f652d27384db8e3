//! What a scenario is read from, kept so that it can be read again: with other values, or on another machine.

use super::error::ScenarioError;
use super::load;
use super::model::Scenario;
use super::text_file;
use airtcp_proto::cc::Controllers;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario's text, the changes made to it, and the files that it names.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recipe {
    pub text: String,
    /// The text's name in errors; empty if it was not written by hand.
    pub file_name: String,
    /// Where the text's relative paths start. Those in overrides start in the current directory.
    pub folder: PathBuf,
    /// See [`Scenario::load`].
    pub overrides: Vec<(String, String)>,
    /// Where its schemes may find congestion controls beside those of the registry.
    #[serde(skip)]
    pub controllers: Controllers,
    files: Files,
}

impl Recipe {
    pub fn new(text: &str, file_name: &str, folder: &Path, overrides: &[(String, String)]) -> Recipe {
        Recipe {
            text: text.to_owned(),
            file_name: file_name.to_owned(),
            folder: folder.to_owned(),
            overrides: overrides.to_vec(),
            controllers: Controllers::default(),
            files: Files::default(),
        }
    }

    /// Of the scenario that runs where none is named.
    pub fn built_in(overrides: &[(String, String)]) -> Recipe {
        Recipe::new(load::DEFAULT, "default.toml", Path::new(""), overrides)
    }

    /// Each file that the scenario names is read once; reading the recipe again gives its content at that time.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn read(&mut self) -> Result<Scenario, ScenarioError> {
        let Recipe { text, file_name, folder, overrides, controllers, files } = self;
        load::read(text, file_name, folder, overrides, controllers, files)
    }
}

/// Texts by the paths at which they were found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Files(BTreeMap<PathBuf, Arc<str>>);

impl Files {
    /// # Errors
    /// If the file cannot be read as UTF-8 and was not read before.
    pub fn read(&mut self, place: &Path) -> io::Result<Arc<str>> {
        if let Some(text) = self.0.get(place) {
            return Ok(text.clone());
        }
        let text: Arc<str> = text_file::read(place)?.into();
        self.0.insert(place.to_owned(), text.clone());
        Ok(text)
    }
}
