//! What happens on a link now and then: delay spikes, steps of delay, and outages.

use super::value::{Around, Value};
use crate::scenario::check::Check;
use airtcp_proto::path;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Delay spikes: every packet that leaves during a spike is delayed by `extra` more. Give `at`, `every` or `period`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spikes {
    /// Given start times.
    #[serde(default)]
    pub at: Vec<Dur>,
    /// Random spikes: mean time from the end of one to the start of the next (exponential). Absent: none at random.
    pub every: Option<Dur>,
    /// Regular spikes: time from the start of one to the start of the next; the first is one period after the
    /// beginning. Absent: none.
    pub period: Option<Dur>,
    /// How long a spike lasts.
    pub length: Dur,
    /// Delay that a spike adds.
    pub extra: Dur,
}

/// Extra delay that holds for a while and then steps to another value, as where satellites take over from each other. Both directions have
/// the same: it is one satellite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Time from one step to the next, at least 1 ms; the first value holds from the beginning.
    pub period: Dur,
    /// The least extra delay, one way. Absent: zero.
    #[serde(default)]
    pub low: Dur,
    /// The greatest extra delay, one way. Each value in between is equally likely.
    pub high: Dur,
}

/// Outages and hand-offs. Give `at`, `every` or `period`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outages {
    /// Given start times.
    #[serde(default)]
    pub at: Vec<Dur>,
    /// Random outages: mean time from the end of one to the start of the next (exponential). Absent: none at random.
    pub every: Option<Dur>,
    /// Regular outages: time from the start of one to the start of the next; the first is one period after the
    /// beginning. Absent: none.
    pub period: Option<Dur>,
    /// How long an outage lasts.
    pub length: Dur,
    /// A hand-off: packets queued or in flight when it starts are lost. Otherwise they wait.
    #[serde(default)]
    pub handoff: bool,
    /// With a hand-off, queued packets are forwarded: so long after its start they join the queue of the next base station, where
    /// what was sent meanwhile is ahead of them (paper 003 §III). Absent: they are lost.
    pub forward: Option<Dur>,
}

/// Starts of what happens now and then, and how long it lasts.
pub struct Episodes {
    pub starts: path::Starts,
    pub length: Dur,
}

impl Spikes {
    pub fn when(&self) -> Episodes {
        Episodes::new(&self.at, self.every, self.period, self.length)
    }
}

impl Outages {
    pub fn when(&self) -> Episodes {
        Episodes::new(&self.at, self.every, self.period, self.length)
    }
}

impl Episodes {
    fn new(at: &[Dur], every: Option<Dur>, period: Option<Dur>, length: Dur) -> Episodes {
        let at = at.iter().map(|&offset| Time::ZERO + offset).collect();
        Episodes { starts: path::Starts { at, every, period }, length }
    }

    fn check(&self, check: &mut Check<'_>) -> Option<()> {
        let path::Starts { at, every, period } = &self.starts;
        check.above_zero("length", self.length);
        if let Some(every) = *every {
            check.above_zero("every", every);
        }
        if let Some(period) = *period {
            let problem = format!("must be longer than `length`, which is {}", self.length);
            check.refuse_if(period <= self.length, "period", &problem);
        }
        if at.is_empty() && every.is_none() && period.is_none() {
            check.refuse("never occurs; give `at`, `every` or `period`");
            return None;
        }
        Some(())
    }
}

impl Value for Option<Spikes> {
    type Written = Spikes;

    fn read(written: &Spikes, _: &Around<'_>, check: &mut Check<'_>) -> Option<Option<Spikes>> {
        written.when().check(check)?;
        check.above_zero("extra", written.extra);
        Some(Some(Spikes { at: sorted(&written.at), ..written.clone() }))
    }

    fn inherited(&self) -> Option<Spikes> {
        None
    }
}

impl Value for Steps {
    type Written = Steps;

    fn read(written: &Steps, _: &Around<'_>, check: &mut Check<'_>) -> Option<Steps> {
        check.refuse_if(written.period < Dur::from_millis(1), "period", "must be at least 1ms");
        check.refuse_if(written.low > written.high, "low", "must not be above `high`");
        Some(written.clone())
    }
}

/// Outages strike both directions at once.
impl Value for Outages {
    type Written = Outages;

    fn read(written: &Outages, _: &Around<'_>, check: &mut Check<'_>) -> Option<Outages> {
        written.when().check(check)?;
        if written.forward.is_some() && !written.handoff {
            check.refuse_key("forward", "only a hand-off forwards packets; add `handoff = true`");
        }
        Some(Outages { at: sorted(&written.at), ..written.clone() })
    }
}

fn sorted(times: &[Dur]) -> Vec<Dur> {
    let mut times = times.to_vec();
    times.sort();
    times
}
