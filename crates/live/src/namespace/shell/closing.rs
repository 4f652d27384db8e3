//! Waits for connections that the kernel is still closing after a command has ended.

use crate::namespace::Namespace;
use crate::signals::{Event, Signals};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Milliseconds between two checks.
const INTERVAL_MS: u16 = 10;

/// include/net/tcp_states.h: FIN-WAIT-1, FIN-WAIT-2, LAST-ACK and CLOSING. In the first and the last two, the kernel
/// still sends; in FIN-WAIT-2, the far end has yet to finish.
const CLOSING: [&str; 4] = ["04", "05", "09", "0B"];

/// The connections of a namespace, to be read without a right to enter it.
pub struct Closing(Vec<File>);

impl Closing {
    /// # Errors
    /// The kernel's: without CAP_SYS_ADMIN, permission denied.
    pub fn of(namespace: &Namespace) -> io::Result<Closing> {
        let open = |name: &str| File::open(format!("/proc/thread-self/net/{name}"));
        namespace.run(|| Closing(["tcp", "tcp6"].into_iter().filter_map(|name| open(name).ok()).collect()))
    }

    /// Waits until none is closing, a signal comes, the path ends, or `limit` is over. Returns how many are left.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(
        &mut self,
        signals: &Signals,
        end_of_path: BorrowedFd<'_>,
        limit: Duration,
    ) -> io::Result<usize> {
        let looks = limit.as_millis() / u128::from(INTERVAL_MS);
        for _ in 0..looks {
            if self.count()? == 0 || is_broken_off(signals, end_of_path)? {
                break;
            }
        }
        self.count()
    }

    fn count(&mut self) -> io::Result<usize> {
        let mut count = 0;
        let mut table = String::new();
        for file in &mut self.0 {
            table.clear();
            file.rewind()?;
            file.read_to_string(&mut table)?;
            // The fourth column is the state.
            let states = table.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(3));
            count += states.filter(|state| CLOSING.contains(state)).count();
        }
        Ok(count)
    }
}

/// Waits until the next check. Returns whether a signal or the end of the path has come.
fn is_broken_off(signals: &Signals, end_of_path: BorrowedFd<'_>) -> io::Result<bool> {
    let mut ready =
        [PollFd::new(signals.as_fd(), PollFlags::POLLIN), PollFd::new(end_of_path, PollFlags::POLLIN)];
    match poll(&mut ready, PollTimeout::from(INTERVAL_MS)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_told = matches!(signals.next()?, Some(Event::Forward(_) | Event::Passing));
    Ok(is_told || ready[1].any() == Some(true))
}
