//! Puts libbpf's messages into the error, if there is one, instead of on standard error.

use libbpf_rs::PrintLevel;
use std::cell::RefCell;
use std::fmt;
use std::sync::Once;

/// Number of last lines that an error shows. A verifier's reason is at the end.
const LINES: usize = 12;

thread_local! {
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A refusal of the kernel, with libbpf's messages.
#[derive(Debug)]
pub struct Refusal {
    pub source: libbpf_rs::Error,
    log: Vec<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        self.log.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl From<libbpf_rs::Error> for Refusal {
    fn from(source: libbpf_rs::Error) -> Refusal {
        Refusal { source, log: Vec::new() }
    }
}

/// Runs `work`. If it fails, libbpf's messages are in the error.
pub(crate) fn listening<T>(work: impl FnOnce() -> libbpf_rs::Result<T>) -> Result<T, Refusal> {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
    });
    SAID.take();
    work().map_err(|source| {
        let said = SAID.take();
        Refusal { source, log: said[said.len().saturating_sub(LINES)..].to_vec() }
    })
}

fn keep(_level: PrintLevel, message: String) {
    SAID.with_borrow_mut(|said| said.extend(message.lines().map(|line| line.trim_end().to_owned())));
}
