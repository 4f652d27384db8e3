//! Checks of what a host has.

use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Ok,
    /// It works, but not as well as it could, or it could not be tried.
    Limited,
    Missing,
}

#[derive(Serialize)]
pub struct Check {
    pub what: String,
    pub verdict: Health,
    pub found: String,
    /// What it is needed for.
    pub why: &'static str,
    /// Empty if there is nothing to do.
    pub cure: String,
    /// The command does not work without it.
    pub is_needed: bool,
}

/// The checks for one command.
pub struct Section {
    pub name: &'static str,
    pub checks: Vec<Check>,
}

impl Section {
    pub fn works(&self) -> bool {
        !self.checks.iter().any(|check| check.is_needed && check.verdict == Health::Missing)
    }
}

impl Check {
    pub fn ok(what: &str, why: &'static str, found: impl ToString) -> Check {
        let (what, found) = (what.to_owned(), found.to_string());
        Check { what, verdict: Health::Ok, found, why, cure: String::new(), is_needed: false }
    }

    pub fn limited(what: &str, why: &'static str, found: impl ToString, cure: &str) -> Check {
        Check { verdict: Health::Limited, cure: cure.to_owned(), ..Check::ok(what, why, found) }
    }

    pub fn missing(what: &str, why: &'static str, found: impl ToString, cure: &str) -> Check {
        Check { verdict: Health::Missing, cure: cure.to_owned(), ..Check::ok(what, why, found) }
    }

    /// The result of a trial.
    pub fn tried(what: &str, why: &'static str, done: Result<String, String>, cure: &str) -> Check {
        match done {
            Ok(found) => Check::ok(what, why, found),
            Err(error) => Check::missing(what, why, error, cure),
        }
    }

    pub fn needed(self) -> Check {
        Check { is_needed: true, ..self }
    }

    /// Lines to print below the check.
    pub fn advice(&self) -> Vec<(&'static str, &str)> {
        match self.verdict {
            Health::Ok => vec![],
            _ => vec![("needed for", self.why), ("cure", &self.cure)],
        }
    }
}

/// An error's text without line breaks.
pub fn words(error: impl ToString) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Finds a program in the PATH.
pub fn program(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
