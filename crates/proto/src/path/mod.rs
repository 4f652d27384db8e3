//! Path models: what a link does to packets. [`Link`] combines them.

mod burst;
mod calendar;
mod channel;
mod compression;
mod delay;
mod dropped;
mod episodes;
mod fading;
mod front;
mod general;
pub mod jitter;
mod line;
mod link;
mod log;
pub mod loss;
pub mod lte;
pub mod medium;
mod outage;
mod pipe;
mod protection;
mod schedule;
#[cfg_attr(not(feature = "shortcuts"), path = "no_shortcut.rs")]
mod shortcut;
mod stats;
mod trace;
mod transmit;
pub mod wifi;

pub use burst::{Aggregate, Burst, Frame, Supply};
pub use channel::{Channel, ChannelConfig};
pub use compression::Compressible;
pub use delay::{Spikes, Steps, SumOfDelays};
pub use episodes::{Episode, Episodes, Starts};
pub use front::Handoff;
pub use link::{Fate, Link, Output, QueueView};
pub use log::{LogDriven, LogError, LogLatency, LogStep, RateLog};
pub use loss::{BerForm, Loss};
pub use medium::{Access, Airtime, Delays, Hearing, LoggedTurn, Medium, Outcome, RoundRobin, TurnStats};
pub use outage::Interrupted;
pub use protection::{Arq, BlockCode, Cover};
pub use schedule::Schedule;
pub use stats::LinkStats;
pub use trace::{Trace, TraceDriven, TraceError};
pub use transmit::{FixedRate, service_times};

use crate::queue::Item;
use airtcp_wire::{Dur, Time};

/// Decides how long packets take to be sent, and on a [medium](Medium) also which of them leave together.
pub trait Transmitter: Send {
    /// The transmitter, which is free, starts to send `bytes` at `start`. Returns when the last bit leaves, or [`Time::NEVER`] if the
    /// link never serves again. `start` never goes back, nor before the last answer.
    fn departure(&mut self, start: Time, bytes: u32) -> Time;

    /// The transmitter has its turn on a medium at `start`. It takes frames from `supply`, which has at least one, puts those that it
    /// sends into `burst`, which is empty, and says when they have left. It sends at least the first. By default it sends only that.
    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Schedule {
        let Some(frame) = supply.take(1) else { return Schedule::data(start) };
        burst.push(frame);
        Schedule::data(self.departure(start, frame.bytes))
    }

    /// The frames of its last burst arrive at the far end, where other signals add up to `others` times the noise. Clears `is_readable` of
    /// those that cannot be read.
    fn reach(&mut self, _burst: &mut Burst, _others: f64) {}

    /// Strength of its last burst at the far end, as a ratio to noise.
    fn signal(&self) -> f64 {
        f64::INFINITY
    }

    /// Of the `sent` frames of its last burst, so many were `read`. Called after each burst that was sent, before the next.
    fn on_acknowledged(&mut self, _read: usize, _sent: usize) {}

    /// What the far end receives, to which a cell adapts. `now` never goes back.
    fn received(&mut self, _now: Time) -> Received {
        Received::flat(f64::INFINITY)
    }

    /// The first instant from `now` on at which it does not stand still.
    fn resumes_at(&mut self, now: Time) -> Time {
        now
    }

    /// A copy of the transmitter, if its rate is constant.
    fn fixed(&self) -> Option<FixedRate> {
        None
    }
}

/// Ratios of signal to noise over a band, in dB.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Received {
    /// That of a flat channel that carries as much.
    pub effective_db: f64,
    /// Where the signal is weakest.
    pub worst_db: f64,
}

impl Received {
    /// The same over the whole band.
    pub fn flat(db: f64) -> Received {
        Received { effective_db: db, worst_db: db }
    }
}

/// Decides which packets are unreadable at the far end of the link.
pub trait LossModel: Send {
    /// Called once for each packet that crosses the link, and for each repeated copy, in order of departure; where packets are lost before
    /// the queue, for each that arrives.
    fn is_lost(&mut self, now: Time, item: &Item) -> bool;

    /// At least so many packets come through before the next loss, whatever they are. `is_lost` is not called for those.
    fn until_loss(&mut self) -> u32 {
        0
    }
}

/// Variable delay on top of the propagation delay.
pub trait DelayModel: Send {
    /// Extra delay for the packet that leaves the transmitter at `now`.
    fn extra_delay(&mut self, now: Time) -> Dur;
}

/// The lines of a data file that are not blank, trimmed and numbered from 1. What follows a `#` is a comment.
fn data_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty())
}
