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

/// Where this host gets a kernel of that version or a later one.
pub fn newer_kernel(version: &str) -> String {
    newer_kernel_of(&std::fs::read_to_string("/etc/os-release").unwrap_or_default(), version)
}

/// `os_release` is os-release(5)'s.
fn newer_kernel_of(os_release: &str, version: &str) -> String {
    let value = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"')
    };
    let (name, number) = (value("NAME"), value("VERSION_ID"));
    let packages = match (value("ID"), value("VERSION_CODENAME")) {
        ("debian", codename) if !codename.is_empty() => {
            format!("`apt install -t {codename}-backports linux-image-amd64`, or the next release")
        }
        ("ubuntu", _) => format!("`apt install linux-generic-hwe-{number}`, or the next release"),
        _ => return format!("Linux {version} or newer"),
    };
    format!("Linux {version} or newer; {name} {number}: {packages}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_kernel_comes_from_the_distribution() {
        let debian = "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        assert!(
            newer_kernel_of(debian, "6.6")
                .contains("Debian GNU/Linux 12: `apt install -t bookworm-backports")
        );
        let ubuntu = "NAME=\"Ubuntu\"\nVERSION_ID=\"22.04\"\nID=ubuntu\nVERSION_CODENAME=jammy\n";
        assert!(newer_kernel_of(ubuntu, "6.6").contains("linux-generic-hwe-22.04"));
        assert_eq!(newer_kernel_of("", "6.6"), "Linux 6.6 or newer");
        assert_eq!(newer_kernel_of("ID=arch", "6.6"), "Linux 6.6 or newer");
    }
}
