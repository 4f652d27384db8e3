//! A daemon's counters. One table describes them to all who show them.

use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of a daemon.
pub trait Table: Copy + Sized + 'static {
    /// Prefix of the names of its metrics.
    const DAEMON: &'static str;
    /// Name, kind and meaning of each counter, in order.
    const TABLE: &'static [(Self, &'static str, Kind, &'static str)];

    fn index(self) -> usize;
}

/// A gauge rises and falls; a counter only rises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Gauge,
    Counter,
}

/// Values that the serving thread writes and any thread reads.
#[derive(Debug)]
pub struct Counters<T> {
    values: Box<[AtomicU64]>,
    table: PhantomData<T>,
}

impl<T: Table> Default for Counters<T> {
    fn default() -> Counters<T> {
        Counters { values: T::TABLE.iter().map(|_| AtomicU64::new(0)).collect(), table: PhantomData }
    }
}

impl<T: Table> Counters<T> {
    pub fn add(&self, counter: T, amount: u64) {
        self.values[counter.index()].fetch_add(amount, Ordering::Relaxed);
    }

    pub fn set(&self, counter: T, value: u64) {
        self.values[counter.index()].store(value, Ordering::Relaxed);
    }

    pub fn get(&self, counter: T) -> u64 {
        self.values[counter.index()].load(Ordering::Relaxed)
    }

    /// Name, meaning and value of each counter.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        T::TABLE.iter().map(|&(counter, name, _, help)| (name, help, self.get(counter)))
    }
}

/// Counters of any daemon.
pub trait Metrics: Send + Sync {
    /// Values by name.
    fn values(&self) -> Map<String, Value>;

    /// The values in the text format of Prometheus, version 0.0.4.
    fn exposition(&self) -> String;
}

impl<T: Table + Send + Sync> Metrics for Counters<T> {
    fn values(&self) -> Map<String, Value> {
        self.all().map(|(name, _, value)| (name.to_owned(), json!(value))).collect()
    }

    fn exposition(&self) -> String {
        let mut text = String::new();
        for &(counter, name, kind, help) in T::TABLE {
            let name = format!("airtcp_{}_{name}", T::DAEMON);
            let kind = if kind == Kind::Gauge { "gauge" } else { "counter" };
            let value = self.get(counter);
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        }
        text
    }
}
