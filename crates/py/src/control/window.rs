//! The base class of controllers: the values that they set.

use airtcp_proto::cc::{self, Cause, Congestion};
use airtcp_wire::{Rate, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What a congestion control in Python sets. Sizes are in bytes of payload.
///
/// By itself it represents a connection that has just opened, with ten segments of `mss` bytes.
#[pyclass(subclass, module = "airtcp._engine")]
pub struct Window {
    cwnd: f64,
    ssthresh: f64,
    pacing_rate_bps: Option<f64>,
    /// Has the hook that is running set ssthresh?
    has_set_ssthresh: bool,
    /// Payload of a full segment: SMSS.
    #[pyo3(get)]
    mss: u64,
    now: Time,
}

#[pymethods]
impl Window {
    /// The state of a connection that has just opened, so that a controller can be tried by hand.
    #[new]
    #[pyo3(signature = (*, mss = 1460))]
    fn new(mss: u64) -> Window {
        let cwnd = 10.0 * mss as f64;
        Window {
            cwnd,
            ssthresh: f64::INFINITY,
            pacing_rate_bps: None,
            has_set_ssthresh: false,
            mss,
            now: Time::ZERO,
        }
    }

    /// The congestion window. Fractions are kept; less than one segment counts as one.
    ///
    /// Setting it to a value that is not finite and above 0 raises ValueError.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_right = |cwnd: f64| cwnd.is_finite() && cwnd > 0.0;
        slf.borrow_mut().cwnd = number(slf, "cwnd", value, "bytes, finite and above 0", is_right)?;
        Ok(())
    }

    /// Infinite before the first loss, unless the stack has `initial_ssthresh`.
    ///
    /// A hook that answers a loss or ECN-Echo by setting cwnd alone sets ssthresh to the same
    /// (RFC 5681 §3.2), and one that answers a timeout, to half of FlightSize, at least two segments
    /// (RFC 5681 §3.1).
    ///
    /// Setting it to a value that is not a number of 0 or more raises ValueError.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_right = |ssthresh: f64| ssthresh >= 0.0;
        let wanted = "bytes, 0 or more, or infinite";
        let ssthresh = number(slf, "ssthresh", value, wanted, is_right)?;
        let mut window = slf.borrow_mut();
        (window.ssthresh, window.has_set_ssthresh) = (ssthresh, true);
        Ok(())
    }

    /// Maximum rate of payload; None: only ACKs clock the sender.
    ///
    /// Setting it to a value that is neither None nor finite and above 0, or in a class without `is_paced =
    /// True`, raises ValueError.
    #[getter]
    fn pacing_rate_bps(&self) -> Option<f64> {
        self.pacing_rate_bps
    }

    #[setter]
    fn set_pacing_rate_bps(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_right = |rate: f64| rate.is_finite() && rate > 0.0;
        let rate = match value.is_none() {
            true => None,
            false => {
                let wanted = "bit/s, finite and above 0, or None";
                Some(number(slf, "pacing_rate_bps", value, wanted, is_right)?)
            }
        };
        if rate.is_some() && !slf.getattr("is_paced")?.extract::<bool>()? {
            return Err(PyValueError::new_err("to pace, the class must set is_paced = True"));
        }
        slf.borrow_mut().pacing_rate_bps = rate;
        Ok(())
    }

    /// Simulated time since the beginning of the run.
    #[getter]
    fn now_s(&self) -> f64 {
        self.now.0 as f64 / 1e9
    }
}

/// `wanted` describes the valid values.
fn number(
    slf: &Bound<'_, Window>,
    name: &str,
    value: &Bound<'_, PyAny>,
    wanted: &str,
    is_right: impl Fn(f64) -> bool,
) -> PyResult<f64> {
    let class = slf.get_type().name()?;
    match value.extract::<f64>() {
        Ok(number) if is_right(number) => Ok(number),
        _ => Err(PyValueError::new_err(format!("{class}.{name} = {}: must be {wanted}", value.repr()?))),
    }
}

impl Window {
    /// Takes over the sender's values.
    pub fn begin(&mut self, now: Time, window: &cc::Window) {
        self.now = now;
        self.mss = window.mss();
        self.cwnd = window.exact_cwnd();
        self.ssthresh = if window.ssthresh == u64::MAX { f64::INFINITY } else { window.ssthresh as f64 };
        self.has_set_ssthresh = false;
    }

    /// Applies changes to the sender. A hook that answers an `event` with cwnd alone means ssthresh, too: otherwise the
    /// sender would be in slow start at once.
    pub fn end(&self, window: &mut cc::Window, event: Option<&Congestion>) {
        let has_set_cwnd = self.cwnd != window.exact_cwnd();
        if has_set_cwnd {
            window.set_exact_cwnd(self.cwnd);
        }
        let ssthresh =
            event.filter(|_| has_set_cwnd && !self.has_set_ssthresh).map(|event| match event.cause {
                // RFC 5681 §3.1 eq. (4).
                Cause::Timeout => (event.flight_size / 2).max(2 * window.mss()) as f64,
                // RFC 5681 §3.2 (6): recovery ends with a cwnd of ssthresh.
                Cause::Loss | Cause::Ecn => self.cwnd,
            });
        // The cast saturates, for infinity too.
        window.ssthresh = ssthresh.unwrap_or(self.ssthresh) as u64;
    }

    pub fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate_bps.map(|rate| Rate(rate as u64))
    }
}
