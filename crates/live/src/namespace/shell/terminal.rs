//! The terminal, which an interactive shell behind the link takes for itself.

use nix::unistd::{getpgrp, tcgetpgrp, tcsetpgrp};
use std::fs::File;

/// The terminal, if this process has it.
pub struct Terminal(Option<File>);

impl Terminal {
    pub fn open() -> Terminal {
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok();
        Terminal(terminal.filter(|terminal| tcgetpgrp(terminal) == Ok(getpgrp())))
    }

    /// Takes the terminal back. A shell inside cannot do that, because it has no name for the process group outside.
    /// SIGTTOU must be blocked.
    pub fn restore(&self) {
        if let Some(terminal) = &self.0 {
            // The terminal may have hung up.
            let _ = tcsetpgrp(terminal, getpgrp());
        }
    }
}
