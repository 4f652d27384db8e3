//! Replays the same events to both.
//!
//! What the kernel reports to a controller differs in order and extent from what the simulator's sender reports
//! (`bpf/cc/hooks.h`). Here the Rust controller gets the kernel's reports, so that only the controllers are
//! compared:
//!
//! - times are in whole microseconds, quantities in whole segments;
//! - an ACK comes first, and then the loss or the ECN-Echo that it reports, when the kernel asks: once per
//!   window;
//! - for the round trip after ECN-Echo (TCP_CA_CWR), the sender is in recovery;
//! - the smallest RTT is that of the samples reported;
//! - a controller that governs recovery gets ECN-Echo before the ACK, and its window grows with the ACK that
//!   reports a loss;
//! - what proves spurious does so at once, outside of an earlier loss, and the windows become what the kernel
//!   makes of them. While it waits for the proof, the kernel's controller goes on measuring, and the
//!   simulator's forgets what it has measured.

use crate::trace::{Event, Trace, dur};
use airtcp_kernel::cc::Controller;
use airtcp_kernel_host::{self as host, Machine, View};
use airtcp_proto::cc::cubic::CubicRules;
use airtcp_proto::cc::{self, Ack, Build, Cause, Congestion, CongestionControl, RateSample, WindowRules};
use airtcp_wire::{Dur, Time};
use std::collections::BTreeMap;

/// Windows in segments.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kernel: View,
    pub cwnd: f64,
    pub ssthresh: f64,
    /// Bytes per second; infinite if it does not pace.
    pub pace: f64,
}

/// How much the windows may differ.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub segments: f64,
    /// Relative to the window.
    pub share: f64,
}

impl Bound {
    /// The kernel's windows are whole segments; the fraction of one is kept beside them, and counts. So
    /// differences do not add up, and the same decisions follow unless a measurement is within 2^-16 of its
    /// threshold.
    const SEGMENT: Bound = Bound { segments: 1.0, share: 0.0 };

    fn holds(&self, kernel: u32, rust: f64) -> bool {
        if kernel >= INFINITE {
            return rust >= f64::from(INFINITE);
        }
        let (kernel, rust) = (f64::from(kernel).min(LARGE), rust.min(LARGE));
        (kernel - rust.floor()).abs() <= self.segments + self.share * rust
    }

    pub fn allows(&self, step: &Step) -> bool {
        // In recovery, the kernel's ssthresh is the target of its cwnd.
        self.holds(step.kernel.cwnd, step.cwnd)
            && (step.kernel.is_lowering() || self.holds(step.kernel.ssthresh, step.ssthresh))
            && Self::is_pace(step.kernel.pacing_rate, step.pace)
    }

    /// The pacing rate follows the window with its fraction, so that its bound is relative.
    fn is_pace(kernel: u64, rust: f64) -> bool {
        (kernel == u64::MAX && rust.is_infinite()) || (kernel as f64 - rust).abs() <= 1.0 + 1e-5 * rust
    }

    fn of(controller: &Controller) -> Bound {
        match controller.scheme() {
            // What slow start leaves of an ACK for avoidance counts ρ²-fold there, and is whole bytes in Rust:
            // 1/1448 of a segment.
            "hybla" => Bound { share: 2e-3, ..Bound::SEGMENT },
            _ => Bound::SEGMENT,
        }
    }
}

/// TCP_INFINITE_SSTHRESH.
const INFINITE: u32 = 0x7fff_ffff;

/// Larger windows are not compared: gigabytes, which only Hybla opens, and which each form limits differently.
const LARGE: f64 = (1 << 20) as f64;

pub struct Replay {
    pub machine: Machine,
    pub rust: Box<dyn CongestionControl>,
    mss: u64,
    initial_window: u32,
    una: u64,
    nxt: u64,
    /// Segments delivered.
    delivered: u64,
    min_rtt: Dur,
    srtt: Dur,
    /// The step before the last event, if that was the first loss or timeout of a series.
    before: Option<Step>,
}

impl Replay {
    pub fn new(controller: &Controller, params: &BTreeMap<String, f64>, trace: &Trace) -> Replay {
        let build = Build {
            mss: trace.mss,
            initial_window: u64::from(trace.initial_window) * trace.mss,
            initial_ssthresh: u64::MAX,
            loss_window: trace.mss,
            slow_start: None,
            byte_counting_limit: None,
            // The programs keep fractions of a segment.
            windows: WindowRules::Rfc,
            cubic: CubicRules::Linux,
            is_paced: false,
            seed: 1,
        };
        let stored = controller.stored(params).unwrap();
        let mss = u32::try_from(trace.mss).unwrap();
        let first = crate::trace::FIRST_SEQUENCE_NUMBER as u32;
        Replay {
            machine: Machine::new(controller.kernel_name, &stored, mss, trace.initial_window, first),
            rust: cc::build(controller.scheme(), params, &build).unwrap(),
            mss: trace.mss,
            initial_window: trace.initial_window,
            una: 0,
            nxt: 0,
            delivered: 0,
            min_rtt: Dur::MAX,
            srtt: Dur::ZERO,
            before: None,
        }
    }

    pub fn step(&mut self, event: &Event) -> Step {
        let (view, before) = (self.view(), self.before.take());
        let timeouts = self.machine.counters().timeouts;
        let losses = self.losses();
        match *event {
            Event::Ack { una, nxt, ack } => self.ack(una, nxt, &ack),
            Event::Timeout { now_us, packets_out } => self.timeout(now_us, packets_out),
            // If CWR lasts until more is acknowledged, the kernel sets cwnd to ssthresh after all.
            Event::Restart if self.machine.view().is_lowering() => {}
            Event::Restart => {
                self.machine.restart(self.initial_window);
                self.rust.on_restart(Time::ZERO, u64::MAX);
            }
            Event::Spurious => self.spurious(before),
        }
        let is_lossy = self.losses() > losses || self.machine.counters().timeouts > timeouts;
        self.before = Some(view).filter(|view| is_lossy && view.kernel.is_open());
        self.view()
    }

    pub fn view(&self) -> Step {
        Step {
            kernel: self.machine.view(),
            cwnd: self.rust.cwnd() as f64 / self.mss as f64,
            ssthresh: self.rust.ssthresh() as f64 / self.mss as f64,
            pace: self.rust.pacing_rate().map_or(f64::INFINITY, |rate| rate.0 as f64 / 8.0),
        }
    }

    /// Losses reported by the kernel. A controller that governs recovery judges losses when it wants.
    fn losses(&self) -> u64 {
        if self.rust.governs_recovery() {
            u64::from(self.machine.view().recoveries)
        } else {
            self.machine.counters().losses()
        }
    }

    fn ack(&mut self, una: u64, nxt: u64, told: &host::Ack) {
        let governs = self.rust.governs_recovery();
        let (before, losses, echoes) =
            (self.machine.view(), self.losses(), self.machine.counters().ecn_echoes);
        self.machine.ack(told);
        let after = self.machine.view();
        let is_loss = self.losses() > losses;
        let is_echo_answered = self.machine.counters().ecn_echoes > echoes;

        let now = Time(told.now_us * 1000);
        let rtt = u64::try_from(told.rtt_us).ok().map(dur);
        self.min_rtt = self.min_rtt.min(rtt.unwrap_or(Dur::MAX));
        self.srtt = dur(u64::from(told.srtt_us));
        let acked = una - std::mem::replace(&mut self.una, una);
        self.nxt = nxt;
        self.delivered += u64::from(told.delivered);
        if is_echo_answered && governs {
            self.congestion(now, Cause::Ecn, told.packets_out, false);
        }
        self.rust.on_ack(&Ack {
            now,
            acked,
            delivered: u64::from(told.delivered) * self.mss,
            is_duplicate: acked == 0 && told.delivered > 0,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            prior_in_flight: u64::from(told.in_flight + told.delivered) * self.mss,
            in_flight: u64::from(told.in_flight) * self.mss,
            in_recovery: before.is_lowering(),
            in_loss: before.is_loss() && after.is_loss() && !is_echo_answered,
            // Nothing grows with the ACK that reports a loss.
            is_cwnd_limited: told.is_cwnd_limited && (governs || !is_loss),
            ece: told.is_echoed,
            peer_timestamp: Some(told.peer_timestamp).filter(|timestamp| *timestamp != 0),
            una,
            nxt,
            rate: self.rate(told),
        });
        let was_recovering = before.state >= 3;
        if was_recovering && (after.state != before.state || after.recoveries != before.recoveries) {
            self.rust.on_recovery_exit(now);
        }
        if is_loss {
            self.congestion(now, Cause::Loss, told.packets_out, false);
        }
        if is_echo_answered && !governs {
            self.congestion(now, Cause::Ecn, told.packets_out, false);
        }
    }

    fn rate(&self, told: &host::Ack) -> RateSample {
        RateSample {
            total_delivered: self.delivered * self.mss,
            prior_delivered: u64::from(told.prior_delivered) * self.mss,
            newly_lost: u64::from(told.lost) * self.mss,
            is_app_limited: told.is_app_limited,
            ..RateSample::default()
        }
    }

    fn timeout(&mut self, now_us: u64, packets_out: u32) {
        let counted = self.machine.counters();
        self.machine.timeout(now_us, packets_out);
        let is_repeated = self.machine.counters().answers() == counted.answers();
        self.congestion(Time(now_us * 1000), Cause::Timeout, packets_out, is_repeated);
    }

    fn spurious(&mut self, before: Option<Step>) {
        let Some(before) = before else { return };
        // If nothing was reduced, the kernel may raise ssthresh nevertheless.
        let has_reduced = (before.cwnd, before.ssthresh) != (self.view().cwnd, self.view().ssthresh);
        if !has_reduced && before.ssthresh < 0.75 * before.cwnd {
            return;
        }
        self.machine.undo();
        let after = self.machine.view();
        let bytes =
            |segments: u32| if segments >= INFINITE { u64::MAX } else { u64::from(segments) * self.mss };
        self.rust.on_recovery_exit(Time::ZERO);
        self.rust.on_spurious(Time::ZERO, bytes(after.cwnd), bytes(after.ssthresh));
    }

    fn congestion(&mut self, now: Time, cause: Cause, packets_out: u32, is_repeated_timeout: bool) {
        self.rust.on_congestion(&Congestion {
            now,
            cause,
            is_repeated_timeout,
            survivors: 0,
            total_lost: 0,
            flight_size: u64::from(packets_out) * self.mss,
            in_flight: 0,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            una: self.una,
            nxt: self.nxt,
        });
    }
}

/// # Panics
/// At the first step where the windows differ.
pub fn assert_equal(
    controller: &Controller,
    params: &BTreeMap<String, f64>,
    trace: &Trace,
) -> host::Counters {
    let bound = Bound::of(controller);
    let mut replay = Replay::new(controller, params, trace);
    for (at, event) in trace.events.iter().enumerate() {
        let before = replay.view();
        let step = replay.step(event);
        assert!(
            bound.allows(&step),
            "{} with {params:?}, {bound:?}: step {at} of {}: {event:?}\nbefore {before:?}\nafter  {step:?}",
            controller.scheme(),
            trace.events.len(),
        );
    }
    replay.machine.counters()
}
