//! Arguments of hooks.

use airtcp_proto::cc::{self, Cause, Congestion};
use airtcp_wire::Dur;
use pyo3::prelude::*;

/// The contents of an ACK. Sizes and stream positions are in bytes of payload.
#[pyclass(frozen, module = "airtcp._engine")]
pub struct Ack {
    ack: cc::Ack,
    /// The part of `ack.acked` that the hook may count.
    acked: u64,
}

impl Ack {
    pub fn new(ack: &cc::Ack, acked: u64) -> Ack {
        Ack { ack: *ack, acked }
    }
}

#[pymethods]
impl Ack {
    /// Simulated time since the beginning of the run.
    #[getter]
    fn now_s(&self) -> f64 {
        self.ack.now.0 as f64 / 1e9
    }

    /// Newly acknowledged, cumulatively.
    ///
    /// In `on_ack` and `on_slow_start`, only bytes that may grow the window: not those that SACK reported
    /// before, nor those beyond the stack's `byte_counting_limit` or cwnd.
    #[getter]
    fn acked_bytes(&self) -> u64 {
        self.acked
    }

    /// Newly known to have arrived, cumulatively or by SACK.
    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.ack.delivered
    }

    /// Nothing new is acknowledged while data is outstanding (RFC 5681 §2).
    #[getter]
    fn is_duplicate(&self) -> bool {
        self.ack.is_duplicate
    }

    /// The RTT measured with this ACK. Never from an ambiguous one (Karn).
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.ack.rtt.map(Dur::as_secs_f64)
    }

    /// SRTT after this ACK; None before the first sample.
    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        srtt_s(self.ack.srtt)
    }

    /// The smallest RTT of the connection; None before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        min_rtt_s(self.ack.min_rtt)
    }

    /// In flight now.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.ack.in_flight
    }

    /// In flight just before this ACK.
    #[getter]
    fn prior_in_flight_bytes(&self) -> u64 {
        self.ack.prior_in_flight
    }

    /// Whether it arrived in fast recovery, including the ACK that ends it.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.ack.in_recovery
    }

    /// Whether cwnd limits the sender, rather than the application or the receiver.
    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.ack.is_cwnd_limited
    }

    #[getter]
    fn has_ecn_echo(&self) -> bool {
        self.ack.ece
    }

    /// SND.UNA as a position in the stream.
    #[getter]
    fn una_bytes(&self) -> u64 {
        self.ack.una
    }

    /// SND.NXT as a position in the stream.
    #[getter]
    fn nxt_bytes(&self) -> u64 {
        self.ack.nxt
    }

    /// Delivered over the connection's life.
    #[getter]
    fn total_delivered_bytes(&self) -> u64 {
        self.ack.rate.total_delivered
    }

    /// `total_delivered_bytes` when the newest acknowledged packet was sent.
    ///
    /// A round trip ends when this reaches the value that `total_delivered_bytes` had at its beginning.
    #[getter]
    fn prior_delivered_bytes(&self) -> u64 {
        self.ack.rate.prior_delivered
    }

    /// Over about one round trip (draft-ietf-ccwg-bbr, "Delivery rate sampling"); None if unknown.
    #[getter]
    fn delivery_rate_bps(&self) -> Option<f64> {
        let rate = &self.ack.rate;
        let is_valid = rate.interval > Dur::ZERO;
        is_valid.then(|| 8.0 * rate.delivered as f64 / rate.interval.as_secs_f64())
    }

    /// Whether that sample was limited by the application.
    #[getter]
    fn is_app_limited(&self) -> bool {
        self.ack.rate.is_app_limited
    }

    /// Marked lost with this ACK, or by a timer since the previous one.
    #[getter]
    fn newly_lost_bytes(&self) -> u64 {
        self.ack.rate.newly_lost
    }

    fn __repr__(&self) -> String {
        let (now_s, acked) = (self.now_s(), self.acked);
        match self.rtt_s() {
            Some(rtt_s) => format!("<Ack at {now_s} s: {acked} bytes, RTT {rtt_s} s>"),
            None => format!("<Ack at {now_s} s: {acked} bytes>"),
        }
    }
}

/// Why the sender should slow down. Sizes and stream positions are in bytes of payload.
#[pyclass(frozen, module = "airtcp._engine")]
pub struct Loss(pub Congestion);

#[pymethods]
impl Loss {
    /// Simulated time since the beginning of the run.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.0 as f64 / 1e9
    }

    #[getter]
    fn cause(&self) -> &'static str {
        match self.0.cause {
            Cause::Loss => "loss",
            Cause::Ecn => "ecn",
            Cause::Timeout => "timeout",
        }
    }

    /// FlightSize: sent and not yet cumulatively acknowledged; at most cwnd when the loss happened.
    #[getter]
    fn flight_size_bytes(&self) -> u64 {
        self.0.flight_size
    }

    /// In flight according to the scoreboard.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight
    }

    /// None before the first sample.
    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        srtt_s(self.0.srtt)
    }

    /// None before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        min_rtt_s(self.0.min_rtt)
    }

    /// SND.UNA as a position in the stream.
    #[getter]
    fn una_bytes(&self) -> u64 {
        self.0.una
    }

    /// SND.NXT as a position in the stream.
    #[getter]
    fn nxt_bytes(&self) -> u64 {
        self.0.nxt
    }

    fn __repr__(&self) -> String {
        let (now_s, cause, flight_size) = (self.now_s(), self.cause(), self.0.flight_size);
        format!("<Loss at {now_s} s: {cause}, FlightSize {flight_size} bytes>")
    }
}

fn srtt_s(srtt: Dur) -> Option<f64> {
    (srtt > Dur::ZERO).then(|| srtt.as_secs_f64())
}

fn min_rtt_s(min_rtt: Dur) -> Option<f64> {
    (min_rtt < Dur::MAX).then(|| min_rtt.as_secs_f64())
}
