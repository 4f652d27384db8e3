//! The sysctls that a rule changes, in the calling thread's network namespace.

use super::RtoError;
use super::record::Sysctl;
use crate::namespace::sysctl;

pub(super) fn get(name: &str) -> Result<String, RtoError> {
    sysctl::get(name).map_err(RtoError::Sysctl)
}

pub(super) fn set(name: &str, value: &str) -> Result<(), RtoError> {
    sysctl::set(name, value).map_err(RtoError::Sysctl)
}

/// Undoes changes, except those that somebody has changed again since. Returns what it did, in words.
pub(super) fn restore(sysctls: &[Sysctl]) -> Result<Vec<String>, RtoError> {
    let undo = |Sysctl { name, before, now }: &Sysctl| -> Result<String, RtoError> {
        let found = get(name)?;
        if found != *now {
            return Ok(format!("{name} = {found}: left as is, since it was changed from {now}"));
        }
        set(name, before)?;
        Ok(format!("{name} = {before} restored"))
    };
    sysctls.iter().rev().map(undo).collect()
}
