//! How many files a run may open.

use super::flows::Flow;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;

/// Files of a run apart from its flows': devices, eBPF objects, namespaces. Over one link there are 16; each further
/// node and each other controller adds a few.
const OTHERS: u64 = 64;

/// Raises the limit on open files as far as allowed, because transfers may pile up.
///
/// # Errors
/// The flows need more files than are allowed.
pub fn allow(flows: &[Flow]) -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    let needed = needed(flows.iter().map(|flow| flow.is_datagrams));
    if needed > hard {
        return Err(io::Error::other(format!(
            "{} flows need {needed} open files, but the limit is {hard}: raise `ulimit -Hn`, or run fewer flows",
            flows.len()
        )));
    }
    Ok(())
}

/// A flow of datagrams has two sockets, another one a listener and a connection's two ends.
fn needed(are_datagrams: impl Iterator<Item = bool>) -> u64 {
    OTHERS + are_datagrams.map(|is_datagrams| if is_datagrams { 2 } else { 3 }).sum::<u64>()
}
