//! TCP Jersey and TCP New Jersey: routers warn of congestion, and every loss without a warning is taken for corruption.
//!
//! A router that warns of congestion (CW) marks every packet while its queue is long, as
//! [`congestion_warning`](crate::queue::congestion_warning) does; the receiver echoes the mark. The window then becomes ownd = RTTmin·R,
//! where R is the measured rate. Three duplicate ACKs without a warning cause only a retransmission.
//!
//! Our reading: the mark is ECN's and its echo ECN-Echo, so that it reduces the window once per window of data
//! (RFC 3168 §6.1.2), whether the ACK that carries it is a duplicate or not. The window is lowered to ownd, never raised to it.
//! For New Jersey, of which we have read only the abstract, we take tₙ to be the time at which the receiver sent the ACK, by its
//! timestamp. Without timestamps New Jersey is Jersey.

use super::registry::{ControllerSpec, Param};
use super::westwood::AckedCount;
use super::{Ack, Avoidance, Cause, Composed, Congestion, Window};
use airtcp_wire::{Dur, Time};

pub const ORIGINAL: ControllerSpec = ControllerSpec {
    name: "jersey",
    summary: "Reduces to the measured bandwidth when a router warns (congestion-warning queues), never for a loss alone",
    source: "Xu, Tian, Ansari, TCP-Jersey for wireless IP communications, IEEE JSAC 22(4), 2004",
    params: &[],
    ordered: &[],
    changes: &[("ecn", "true")],
    exemptions: &[],
    build: |build, _| Box::new(Composed::new(build, Jersey::default())),
};

pub const NEW: ControllerSpec = ControllerSpec {
    name: "new-jersey",
    summary: "Jersey with arrival times from the receiver's timestamps, so that lost or bunched ACKs do not mislead it",
    source: "Xu, Tian, Ansari, Improving TCP performance in integrated wireless communications networks, Computer Networks \
             47(2), 2005",
    params: &[Param {
        name: "timestamp_tick_ms",
        default: 1.0,
        min: 0.001,
        max: 1000.0,
        doc: "One tick of the receiver's timestamp clock, in ms (RFC 7323 §5.4: 1 ms to 1 s)",
    }],
    ordered: &[],
    changes: &[("ecn", "true"), ("timestamps", "true")],
    exemptions: &[],
    build: |build, values| {
        let tick_s = Some(values.get("timestamp_tick_ms") / 1000.0);
        Box::new(Composed::new(build, Jersey { tick_s, ..Jersey::default() }))
    },
};

/// Reno's growth, with ownd in place of half the window, and no answer to a loss without a warning.
#[derive(Clone, Debug, Default)]
struct Jersey {
    /// Seconds per tick of the receiver's timestamp clock. `None`: the sender's own clock times the ACKs.
    tick_s: Option<f64>,
    last_timestamp: Option<u32>,
    last_arrival: Option<Time>,
    count: AckedCount,
    /// R in bytes per second.
    rate: f64,
    min_rtt: Dur,
}

impl Jersey {
    /// ownd = RTTmin·R, in bytes.
    fn ownd(&self) -> f64 {
        self.min_rtt.as_secs_f64() * self.rate
    }

    /// tₙ − tₙ₋₁, the time since the last ACK; `None` on the first one.
    fn since_last(&mut self, ack: &Ack) -> Option<Dur> {
        let (Some(tick_s), Some(timestamp)) = (self.tick_s, ack.peer_timestamp) else {
            let last = self.last_arrival.replace(ack.now)?;
            return Some(ack.now.since(last));
        };
        let Some(last) = self.last_timestamp else {
            self.last_timestamp = Some(timestamp);
            return None;
        };
        // An ACK that another has overtaken carries an older timestamp.
        let ticks = (timestamp.wrapping_sub(last) as i32).max(0);
        self.last_timestamp = Some(last.wrapping_add(ticks as u32));
        Some(Dur::from_secs_f64(f64::from(ticks) * tick_s))
    }

    /// R = (RTT·R₋₁ + L)/((tₙ − tₙ₋₁) + RTT).
    fn estimate(&mut self, length: u64, since_last: Dur, rtt: Dur) {
        let rtt = rtt.as_secs_f64();
        let divisor = since_last.as_secs_f64() + rtt;
        if divisor > 0.0 {
            self.rate = (rtt * self.rate + length as f64) / divisor;
        }
    }
}

impl Avoidance for Jersey {
    fn observe(&mut self, ack: &Ack, window: &mut Window) {
        if ack.min_rtt != Dur::MAX {
            self.min_rtt = ack.min_rtt;
        }
        let length = self.count.count(ack, window.mss());
        if let Some(since_last) = self.since_last(ack) {
            self.estimate(length, since_last, ack.srtt);
        }
    }

    fn increase(&mut self, _ack: &Ack, acked: u64, window: &mut Window) {
        window.grow_additively(acked, 1.0);
    }

    fn reduce(&mut self, event: &Congestion, window: &Window) -> Option<u64> {
        match event.cause {
            // A warning is reported by itself, with the third duplicate ACK, too.
            Cause::Loss => None,
            Cause::Ecn | Cause::Timeout => Some(window.ssthresh_for(self.ownd())),
        }
    }
}
