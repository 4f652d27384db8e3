//! Notes which hooks have run.

use super::hooks::{HOOKS, Hook};
use std::sync::atomic::{AtomicBool, Ordering};

/// The hooks of one class that have run, on any connection of a run.
#[derive(Default)]
pub struct Heard {
    /// Has an object been made?
    is_used: AtomicBool,
    hooks: [AtomicBool; HOOKS.len()],
}

impl Heard {
    pub fn begin(&self) {
        self.is_used.store(true, Ordering::Relaxed);
    }

    /// The defaults of `on_timeout` and `on_ecn` call `on_loss`.
    pub fn note(&self, hook: Hook) {
        let calls: &[Hook] =
            if matches!(hook, Hook::Timeout | Hook::Ecn) { &[hook, Hook::Loss] } else { &[hook] };
        calls.iter().for_each(|hook| self.hooks[*hook as usize].store(true, Ordering::Relaxed));
    }

    /// Those of the hooks `named` that should have run and have not.
    pub fn missing<'a>(&'a self, named: &'a [String]) -> impl Iterator<Item = &'a str> {
        let ran = |name: &str| {
            let mut known = HOOKS.iter().zip(&self.hooks);
            known.any(|(hook, ran)| *hook == name && ran.load(Ordering::Relaxed))
        };
        let named = if self.is_used.load(Ordering::Relaxed) { named } else { &[] };
        named.iter().map(String::as_str).filter(move |name| !ran(name))
    }
}
