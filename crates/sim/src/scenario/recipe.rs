//! The source of a scenario, kept so that it can be read again: with other values, or on another machine.

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
    /// The text's name in errors; empty if it was generated.
    pub file_name: String,
    /// The folder to which paths in the text are relative. Those in overrides are relative to the current directory.
    pub folder: PathBuf,
    /// See [`Scenario::load`].
    pub overrides: Vec<(String, String)>,
    /// Congestion controls that its schemes may name besides those of the registry.
    #[serde(skip)]
    pub controllers: Controllers,
    pub(super) files: Files,
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
}

/// Texts, by the paths at which they were found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Files(BTreeMap<PathBuf, Arc<str>>);

impl Files {
    /// # Errors
    /// The file was not read before and cannot be read as UTF-8.
    pub fn read(&mut self, place: &Path) -> io::Result<Arc<str>> {
        if let Some(text) = self.0.get(place) {
            return Ok(text.clone());
        }
        let text: Arc<str> = text_file::read(place)?.into();
        self.0.insert(place.to_owned(), text.clone());
        Ok(text)
    }
}
