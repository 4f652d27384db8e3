//! How many files a run opens.

use super::flows::Flow;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;

/// What a run opens whatever its flows are: devices, eBPF objects, namespaces. Over one link it is 16; each further node and
/// each other controller adds a few.
const OTHERS: u64 = 64;

/// Lets this process open as many files as it may, which is more than it may at first: as many as transfers pile up.
///
/// # Errors
/// If it may not open as many as the flows need.
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

/// Of a flow of datagrams two sockets, of another a listener and a connection's two ends.
fn needed(are_datagrams: impl Iterator<Item = bool>) -> u64 {
    OTHERS + are_datagrams.map(|is_datagrams| if is_datagrams { 2 } else { 3 }).sum::<u64>()
}
