//! The counters of a decoupling daemon: its proxy's and its circuit's.

use crate::circuit::SendingCounters;
use crate::daemon::Metrics;
use crate::proxy;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct Counters {
    pub proxy: Arc<proxy::Counters>,
    pub circuit: Arc<SendingCounters>,
}

/// Names of the circuit's counters begin with `circuit_`.
impl Metrics for Counters {
    fn values(&self) -> Map<String, Value> {
        let mut values = self.proxy.values();
        values.extend(
            self.circuit.values().into_iter().map(|(name, value)| (format!("circuit_{name}"), value)),
        );
        values
    }

    fn exposition(&self) -> String {
        self.proxy.exposition() + &self.circuit.exposition()
    }
}
