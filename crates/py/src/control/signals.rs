//! What hooks are told.

use airtcp_proto::cc::{self, Cause, Congestion};
use airtcp_wire::Dur;
use pyo3::prelude::*;

#[pyclass(frozen, module = "airtcp._engine")]
pub struct Ack {
    ack: cc::Ack,
    /// Of `ack.acked`, what the hook is asked about.
    acked: u64,
}

impl Ack {
    pub fn new(ack: &cc::Ack, acked: u64) -> Ack {
        Ack { ack: *ack, acked }
    }
}

#[pymethods]
impl Ack {
    #[getter]
    fn now_s(&self) -> f64 {
        self.ack.now.0 as f64 / 1e9
    }

    #[getter]
    fn acked_bytes(&self) -> u64 {
        self.acked
    }

    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.ack.delivered
    }

    #[getter]
    fn is_duplicate(&self) -> bool {
        self.ack.is_duplicate
    }

    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.ack.rtt.map(Dur::as_secs_f64)
    }

    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        srtt_s(self.ack.srtt)
    }

    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        min_rtt_s(self.ack.min_rtt)
    }

    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.ack.in_flight
    }

    #[getter]
    fn prior_in_flight_bytes(&self) -> u64 {
        self.ack.prior_in_flight
    }

    #[getter]
    fn in_recovery(&self) -> bool {
        self.ack.in_recovery
    }

    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.ack.is_cwnd_limited
    }

    #[getter]
    fn has_ecn_echo(&self) -> bool {
        self.ack.ece
    }

    #[getter]
    fn una_bytes(&self) -> u64 {
        self.ack.una
    }

    #[getter]
    fn nxt_bytes(&self) -> u64 {
        self.ack.nxt
    }

    #[getter]
    fn total_delivered_bytes(&self) -> u64 {
        self.ack.rate.total_delivered
    }

    #[getter]
    fn prior_delivered_bytes(&self) -> u64 {
        self.ack.rate.prior_delivered
    }

    #[getter]
    fn delivery_rate_bps(&self) -> Option<f64> {
        let rate = &self.ack.rate;
        let is_valid = rate.interval > Dur::ZERO;
        is_valid.then(|| 8.0 * rate.delivered as f64 / rate.interval.as_secs_f64())
    }

    #[getter]
    fn is_app_limited(&self) -> bool {
        self.ack.rate.is_app_limited
    }

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

#[pyclass(frozen, module = "airtcp._engine")]
pub struct Loss(pub Congestion);

#[pymethods]
impl Loss {
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

    #[getter]
    fn flight_size_bytes(&self) -> u64 {
        self.0.flight_size
    }

    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight
    }

    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        srtt_s(self.0.srtt)
    }

    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        min_rtt_s(self.0.min_rtt)
    }

    #[getter]
    fn una_bytes(&self) -> u64 {
        self.0.una
    }

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
