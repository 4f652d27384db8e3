//! Records what a controller is told over a connection's life.

use airtcp_kernel_host as host;
use airtcp_proto::cc::registry::Values;
use airtcp_proto::cc::{self, Ack, Build, Cause, Congestion, CongestionControl, Controllers, Given, Param};
use airtcp_wire::{Dur, Rate, Time};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A kernel's clock does not begin at zero.
const BOOT_US: u64 = 1_000_000;

/// Makes sequence numbers wrap around soon.
pub const FIRST_SEQUENCE_NUMBER: u64 = 0xffff_0000;

#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Bytes.
    pub mss: u64,
    /// Segments.
    pub initial_window: u32,
    pub events: Vec<Event>,
}

#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Stream offsets SND.UNA and SND.NXT, and the rest as the kernel reports it.
    Ack {
        una: u64,
        nxt: u64,
        ack: host::Ack,
    },
    Timeout {
        now_us: u64,
        packets_out: u32,
    },
    Restart,
    /// The loss or timeout just before was spurious.
    Spurious,
}

/// A controller that records what it is told.
pub struct Recorder {
    inner: Box<dyn CongestionControl>,
    trace: Arc<Mutex<Trace>>,
    /// A loss has been found since the last ACK. The kernel finds it with an ACK.
    is_loss: bool,
}

impl Recorder {
    pub fn around(inner: Box<dyn CongestionControl>, build: &Build) -> (Recorder, Arc<Mutex<Trace>>) {
        let initial_window = u32::try_from(build.initial_window / build.mss).expect("a small window");
        let trace = Arc::new(Mutex::new(Trace { mss: build.mss, initial_window, events: Vec::new() }));
        (Recorder { inner, trace: trace.clone(), is_loss: false }, trace)
    }

    fn write(&self, event: impl FnOnce(u64) -> Event) {
        let mut trace = self.trace.lock().unwrap();
        let event = event(trace.mss);
        trace.events.push(event);
    }
}

fn micros(now: Time) -> u64 {
    BOOT_US + now.since(Time::ZERO).0 / 1000
}

fn segments(bytes: u64, mss: u64) -> u32 {
    u32::try_from(bytes.div_ceil(mss)).expect("fewer segments")
}

fn as_kernel_tells(ack: &Ack, mss: u64, is_loss: bool) -> host::Ack {
    host::Ack {
        now_us: micros(ack.now),
        una: (FIRST_SEQUENCE_NUMBER + ack.una) as u32,
        nxt: (FIRST_SEQUENCE_NUMBER + ack.nxt) as u32,
        acked: segments(ack.acked, mss),
        delivered: segments(ack.delivered, mss),
        packets_out: segments(ack.nxt - ack.una, mss),
        in_flight: segments(ack.in_flight, mss),
        // Zero means none in the kernel's own arithmetic, too.
        rtt_us: ack.rtt.map_or(-1, |rtt| (rtt.0 / 1000).max(1) as i32),
        srtt_us: (ack.srtt.0 / 1000) as u32,
        peer_timestamp: ack.peer_timestamp.unwrap_or(0),
        is_cwnd_limited: ack.is_cwnd_limited,
        is_echoed: ack.ece,
        is_loss,
        lost: segments(ack.rate.newly_lost, mss),
        prior_delivered: segments(ack.rate.prior_delivered, mss),
        is_app_limited: ack.rate.is_app_limited,
    }
}

impl CongestionControl for Recorder {
    fn cwnd(&self) -> u64 {
        self.inner.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.inner.ssthresh()
    }

    fn on_ack(&mut self, ack: &Ack) {
        let is_loss = std::mem::take(&mut self.is_loss);
        self.write(|mss| Event::Ack { una: ack.una, nxt: ack.nxt, ack: as_kernel_tells(ack, mss, is_loss) });
        self.inner.on_ack(ack);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        match event.cause {
            Cause::Loss => self.is_loss = true,
            // The ACK that follows reports it.
            Cause::Ecn => {}
            Cause::Timeout => {
                self.is_loss = false;
                let now_us = micros(event.now);
                self.write(|mss| Event::Timeout {
                    now_us,
                    packets_out: segments(event.nxt - event.una, mss),
                });
            }
        }
        self.inner.on_congestion(event);
    }

    fn on_recovery_exit(&mut self, now: Time) {
        self.inner.on_recovery_exit(now);
    }

    fn on_spurious(&mut self, now: Time, cwnd: u64, ssthresh: u64) {
        self.write(|_| Event::Spurious);
        self.inner.on_spurious(now, cwnd, ssthresh);
    }

    fn on_restart(&mut self, now: Time, rtos: u64) {
        self.write(|_| Event::Restart);
        self.inner.on_restart(now, rtos);
    }

    fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        self.inner.on_sent(now, bytes, in_flight);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }
}

/// The controller `name` of the registry, for the simulator, which calls it `recorded`.
pub struct Recorded {
    name: &'static str,
    params: BTreeMap<String, f64>,
    traces: Mutex<Vec<Arc<Mutex<Trace>>>>,
}

impl Recorded {
    pub fn new(name: &'static str, params: &BTreeMap<String, f64>) -> Arc<Recorded> {
        Arc::new(Recorded { name, params: params.clone(), traces: Mutex::default() })
    }

    pub fn controllers(self: &Arc<Recorded>) -> Controllers {
        airtcp_proto::scheme::controllers(vec![self.clone()]).unwrap()
    }

    /// The trace of the connection's sending end.
    pub fn trace(&self) -> Trace {
        let traces = self.traces.lock().unwrap();
        let longest = traces.iter().max_by_key(|trace| trace.lock().unwrap().events.len());
        longest.expect("a connection").lock().unwrap().clone()
    }
}

impl Given for Recorded {
    fn name(&self) -> &str {
        "recorded"
    }

    fn params(&self) -> Vec<Param<'_>> {
        Vec::new()
    }

    fn build(&self, build: &Build, _values: &Values) -> Box<dyn CongestionControl> {
        let inner = cc::build(self.name, &self.params, build).unwrap();
        let (recorder, trace) = Recorder::around(inner, build);
        self.traces.lock().unwrap().push(trace);
        Box::new(recorder)
    }
}

/// Microseconds as a duration.
pub fn dur(us: u64) -> Dur {
    Dur(us * 1000)
}
