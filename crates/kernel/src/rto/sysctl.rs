//! Sysctls of the calling thread's network namespace.

use super::RtoError;
use super::record::Sysctl;
use std::fs;

pub(super) fn get(name: &str) -> Result<String, RtoError> {
    let text = fs::read_to_string(path(name)).map_err(|error| RtoError::Io(name.to_owned(), error))?;
    Ok(text.trim_end().to_owned())
}

pub(super) fn set(name: &str, value: &str) -> Result<(), RtoError> {
    fs::write(path(name), value).map_err(|error| RtoError::Io(format!("{name}={value}"), error))
}

/// Undoes changes, each unless someone has changed it again since. Answers in words.
pub(super) fn restore(sysctls: &[Sysctl]) -> Result<Vec<String>, RtoError> {
    let undo = |Sysctl { name, before, now }: &Sysctl| -> Result<String, RtoError> {
        let found = get(name)?;
        if found != *now {
            return Ok(format!("{name} = {found}: left, as it has been changed from {now} since"));
        }
        set(name, before)?;
        Ok(format!("{name} = {before} again"))
    };
    sysctls.iter().rev().map(undo).collect()
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}
