//! The kernel of this host, on which forms depend.

use serde::Serialize;
use std::fs;
use std::io;

/// What forms depend on in a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// As `uname -r` reports it.
    pub kernel: String,
    /// Available congestion controls.
    pub congestion_controls: Vec<String>,
    /// Whether its CUBIC leaves slow start by HyStart.
    pub hystart: bool,
}

impl Host {
    /// The host that this program runs on.
    ///
    /// # Errors
    /// `/proc/sys` cannot be read.
    pub fn this() -> io::Result<Host> {
        let available = read("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
        Ok(Host {
            kernel: read("/proc/sys/kernel/osrelease")?,
            congestion_controls: available.split_whitespace().map(str::to_owned).collect(),
            hystart: read("/sys/module/tcp_cubic/parameters/hystart").is_ok_and(|value| value != "0"),
        })
    }

    /// Returns whether the kernel has this version or a later one.
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        let mut numbers =
            self.kernel.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok());
        let found: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        found >= (major, minor)
    }
}

fn read(path: &str) -> io::Result<String> {
    let text = fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}; this needs Linux")))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_in_order() {
        let host =
            |kernel: &str| Host { kernel: kernel.to_owned(), congestion_controls: Vec::new(), hystart: true };
        assert!(host("6.17.0-rc1").is_at_least(6, 17) && host("7.0").is_at_least(6, 17));
        assert!(!host("6.8.0-51-generic").is_at_least(6, 17) && !host("").is_at_least(6, 0));
    }
}
