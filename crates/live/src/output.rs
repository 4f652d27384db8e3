//! Lines of output. A reader that has gone, as `head` does, is no reason to stop or to panic.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line to standard output. Takes the arguments of `println!`.
#[macro_export]
macro_rules! say {
    ($($what:tt)*) => { $crate::output::say(format_args!($($what)*)) };
}

/// Prints a line to standard error. Takes the arguments of `eprintln!`.
#[macro_export]
macro_rules! warn {
    ($($what:tt)*) => { $crate::output::warn(format_args!($($what)*)) };
}

/// See [`say!`](crate::say).
pub fn say(line: Arguments<'_>) {
    let mut stdout = io::stdout().lock();
    let said = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    match said {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            warn(format_args!("airtcpd: standard output: {error}"))
        }
        _ => {}
    }
}

/// See [`warn!`](crate::warn).
pub fn warn(line: Arguments<'_>) {
    // An error of standard error can be reported nowhere.
    let _ = writeln!(io::stderr(), "{line}");
}
