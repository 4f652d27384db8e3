//! Checks of what a host has.

use super::is_root;
use serde::Serialize;

const AS_ROOT: &str = "run it as root (sudo)";
/// The newest kernel that a release gets, where that is not a recent one: (major, minor) by Debian's codename and
/// Ubuntu's version.
const NEWEST_OF: [(&str, (u32, u32)); 4] =
    [("bullseye", (6, 1)), ("bookworm", (6, 12)), ("20.04", (5, 15)), ("22.04", (6, 8))];

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

/// `cure`, and before it how to get the rights, for who may lack them.
pub fn with_rights(cure: &str) -> String {
    if is_root() { cure.to_owned() } else { format!("{AS_ROOT}; {cure}") }
}

/// How to get capabilities. Root lacks some in a container and in a service.
pub fn capable(missing: &str) -> String {
    if !is_root() {
        return AS_ROOT.to_owned();
    }
    format!("give root {missing}: a container's `--cap-add`, a systemd unit's CapabilityBoundingSet=")
}

/// What needs a network namespace to be tried in, where none can be made.
pub fn untried(what: &str, why: &'static str, error: impl ToString) -> Check {
    let (found, cure) = (format!("could not be tried: {}", words(error)), capable("CAP_SYS_ADMIN"));
    match is_root() {
        true => Check::limited(what, why, found, &cure),
        false => Check::missing(what, why, found, &cure).needed(),
    }
}

/// What needs capabilities that are missing.
pub fn incapable(what: &str, why: &'static str, missing: &str) -> Check {
    Check::missing(what, why, format!("could not be tested without {missing}"), &capable(missing)).needed()
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
    let (name, number, codename) = (value("NAME"), value("VERSION_ID"), value("VERSION_CODENAME"));
    let is_late = |release| {
        NEWEST_OF.iter().any(|(of, newest)| *of == release && parts(version).is_some_and(|it| it > *newest))
    };
    let packages = match value("ID") {
        "debian" if is_late(codename) => "the next release, and its backports' kernel".to_owned(),
        "debian" if !codename.is_empty() => {
            format!("`apt install -t {codename}-backports linux-image-amd64`, or the next release")
        }
        "ubuntu" if is_late(number) => "the next release".to_owned(),
        "ubuntu" => format!("`apt install linux-generic-hwe-{number}`, or the next release"),
        "openwrt" => "a later release (24.10 has Linux 6.6)".to_owned(),
        _ => return format!("Linux {version} or newer"),
    };
    format!("Linux {version} or newer; {name} {number}: {packages}")
}

/// Those of a version such as 6.12.
fn parts(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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
        let openwrt = "NAME=\"OpenWrt\"\nVERSION_ID=\"23.05.3\"\nID=\"openwrt\"\n";
        assert!(
            newer_kernel_of(openwrt, "6.6")
                .ends_with("OpenWrt 23.05.3: a later release (24.10 has Linux 6.6)")
        );
        // Their packages of kernels end before that.
        for (release, its) in [(debian, "its backports' kernel"), (ubuntu, "22.04: the next release")] {
            assert!(newer_kernel_of(release, "6.15").ends_with(its));
        }
        assert_eq!(newer_kernel_of("", "6.6"), "Linux 6.6 or newer");
        assert_eq!(newer_kernel_of("ID=arch", "6.6"), "Linux 6.6 or newer");
    }
}
