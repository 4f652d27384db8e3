//! A daemon's counters. One table describes them to all who show them.

use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of a daemon, as [`counters!`] declares them.
pub trait Table: Copy + 'static {
    /// Prefix of the names of its metrics.
    const DAEMON: &'static str;
    /// Name, kind and meaning of each counter, in order.
    const TABLE: &'static [(&'static str, Kind, &'static str)];

    fn index(self) -> usize;
}

/// Declares the counters of a daemon: of each, what it is called here, its [`Kind`], and its name and meaning for all who are shown it.
macro_rules! counters {
    ($visibility:vis enum $Counters:ident of $daemon:literal {
        $($Counter:ident: $Kind:ident = $name:literal, $meaning:literal;)*
    }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $visibility enum $Counters {
            $($Counter,)*
        }

        impl $crate::daemon::Table for $Counters {
            const DAEMON: &'static str = $daemon;
            const TABLE: &'static [(&'static str, $crate::daemon::Kind, &'static str)] =
                &[$(($name, $crate::daemon::Kind::$Kind, $meaning),)*];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}
pub(crate) use counters;

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

    /// Name, kind, meaning and value of each counter.
    fn all(&self) -> impl Iterator<Item = (&'static str, Kind, &'static str, u64)> {
        let values = self.values.iter().map(|value| value.load(Ordering::Relaxed));
        T::TABLE.iter().zip(values).map(|(&(name, kind, meaning), value)| (name, kind, meaning, value))
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
        self.all().map(|(name, .., value)| (name.to_owned(), json!(value))).collect()
    }

    fn exposition(&self) -> String {
        let mut text = String::new();
        for (name, kind, meaning, value) in self.all() {
            let name = format!("airtcp_{}_{name}", T::DAEMON);
            let kind = if kind == Kind::Gauge { "gauge" } else { "counter" };
            let _ = write!(text, "# HELP {name} {meaning}\n# TYPE {name} {kind}\n{name} {value}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    counters! {
        pub enum Fruit of "orchard" {
            Apples: Counter = "apples_total", "apples picked";
            Ripe: Gauge = "ripe", "pears that are ripe";
        }
    }

    #[test]
    fn each_counter_is_shown_by_its_own_name() {
        let counters = Counters::default();
        counters.add(Fruit::Apples, 2);
        counters.set(Fruit::Ripe, 7);
        assert_eq!(Value::Object(counters.values()), json!({"apples_total": 2, "ripe": 7}));
        let expected = "# HELP airtcp_orchard_apples_total apples picked\n# TYPE airtcp_orchard_apples_total counter\n\
                        airtcp_orchard_apples_total 2\n# HELP airtcp_orchard_ripe pears that are ripe\n\
                        # TYPE airtcp_orchard_ripe gauge\nairtcp_orchard_ripe 7\n";
        assert_eq!(counters.exposition(), expected);
    }
}
