//! Puts libbpf's messages into the error, if there is one, instead of on standard error.

use libbpf_rs::PrintLevel;
use std::cell::RefCell;
use std::sync::Once;

/// Number of last lines that an error shows. A verifier's reason is at the end.
const LINES: usize = 12;

thread_local! {
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`. If it fails, also returns libbpf's messages.
pub fn listening<T>(
    work: impl FnOnce() -> libbpf_rs::Result<T>,
) -> Result<T, (libbpf_rs::Error, Vec<String>)> {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
    });
    SAID.take();
    work().map_err(|error| {
        let said = SAID.take();
        (error, said[said.len().saturating_sub(LINES)..].to_vec())
    })
}

fn keep(_level: PrintLevel, message: String) {
    SAID.with_borrow_mut(|said| said.extend(message.lines().map(|line| line.trim_end().to_owned())));
}
