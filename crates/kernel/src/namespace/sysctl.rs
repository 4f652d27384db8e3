//! The sysctls of the calling thread's network namespace.

use super::with_context;
use std::{fs, io};

/// Sets the sysctl `name` to `value`. A slash stands for a dot inside a part of the name, e.g. an interface's.
///
/// # Errors
/// The kernel's, with the sysctl's name; invalid input for a name outside `net.`, which would be the whole host's.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::write(path(name)?, value).map_err(|error| with_context(error, &format!("sysctl {name}={value}")))
}

/// The value of the sysctl `name`.
///
/// # Errors
/// As [`set`].
pub fn get(name: &str) -> io::Result<String> {
    let read = fs::read_to_string(path(name)?);
    read.map(|value| value.trim_end().to_owned())
        .map_err(|error| with_context(error, &format!("sysctl {name}")))
}

fn path(name: &str) -> io::Result<String> {
    let parts: Vec<String> = name.split('.').map(|part| part.replace('/', ".")).collect();
    if parts[0] != "net" || parts.iter().any(|part| ["", ".", ".."].contains(&part.as_str())) {
        let text = format!("sysctl {name}: only net. sysctls belong to a network namespace");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(format!("/proc/sys/{}", parts.join("/")))
}
