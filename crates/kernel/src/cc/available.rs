//! What congestion controls the kernel has.

use super::{CcError, Owner};

/// The kernel's congestion controls, with their owners.
///
/// # Errors
/// There is no TCP.
pub fn available() -> Result<Vec<(String, Owner)>, CcError> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(path).map_err(CcError::io(format!("read {path}")))?;
    Ok(names.split_whitespace().map(|name| (name.to_owned(), Owner::of(name))).collect())
}
