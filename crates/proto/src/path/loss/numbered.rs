//! Losses of packets with given numbers.

use super::{Build, Keys};
use crate::choice::Faults;
use crate::path::LossModel;
use crate::queue::Item;
use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counted from 1 in order of departure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Numbers(Vec<u64>);

impl From<Vec<u64>> for Numbers {
    fn from(numbers: Vec<u64>) -> Numbers {
        Numbers(numbers)
    }
}

impl Keys for Numbers {
    fn check(&self, key: &str, faults: &mut Faults) {
        faults.refuse_if(self.0.contains(&0), key, "packets are counted from 1");
    }

    fn build(&self, _: Build) -> Option<Box<dyn LossModel>> {
        let mut numbers = self.0.clone();
        numbers.sort_unstable();
        numbers.dedup();
        (!numbers.is_empty()).then(|| Box::new(NumberedLoss { numbers, done: 0, departed: 0 }) as Box<_>)
    }
}

/// Loses the packets with the given numbers, counted from 1 in order of departure.
struct NumberedLoss {
    /// Ascending.
    numbers: Vec<u64>,
    done: usize,
    departed: u64,
}

impl LossModel for NumberedLoss {
    fn is_lost(&mut self, _now: Time, _item: &Item) -> bool {
        self.departed += 1;
        let lost = self.numbers.get(self.done) == Some(&self.departed);
        self.done += usize::from(lost);
        lost
    }
}
