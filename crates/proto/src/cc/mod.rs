//! Congestion control: how much may be in flight, and how fast it may leave.
//!
//! A controller learns what happened and sets a window (and, if it paces, a rate). It never sees the scoreboard:
//! [`crate::tcp::recovery`] decides which packets are lost and what is resent.
//!
//! A new controller is a module with a [`ControllerSpec`], and one line in [`controllers`]. The command line, the documentation, the
//! conformance tests and the fuzzer find it there.

mod bbr;
mod composed;
mod concord;
pub mod cubic;
mod given;
mod governor;
mod hybla;
mod jersey;
#[cfg(test)]
mod pipe;
pub mod registry;
pub(crate) mod reno;
mod round;
pub mod slow_start;
mod spectcp;
pub(crate) mod unlimited;
mod vegas;
mod veno;
mod westwood;

pub use composed::{Avoidance, Composed, Sent, Window};
pub use given::{Controller, Controllers, Given};
pub(crate) use governor::Governor;
pub use registry::{ControllerSpec, Param, RegistryError, build};

use airtcp_wire::{Dur, Rate, Time};

/// Every controller, in the order in which users see them.
pub fn controllers() -> &'static [&'static ControllerSpec] {
    &[
        &reno::SPEC,
        &cubic::SPEC,
        &vegas::SPEC,
        &veno::SPEC,
        &westwood::original::SPEC,
        &westwood::nr::SPEC,
        &westwood::plus::SPEC,
        &westwood::vt::SPEC,
        &hybla::SPEC,
        &jersey::ORIGINAL,
        &jersey::NEW,
        &spectcp::SPEC,
        &bbr::v1::SPEC,
        &bbr::v3::SPEC,
        &concord::SPEC,
    ]
}

/// A congestion controller. All windows are in bytes.
pub trait CongestionControl: Send {
    fn cwnd(&self) -> u64;

    /// `u64::MAX` before the first loss, and for a controller without an ssthresh.
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    /// All that the controller sets.
    fn limits(&self) -> Limits {
        Limits::new(self.cwnd(), self.ssthresh(), self.pacing_rate())
    }

    /// An acceptable ACK has arrived, and the scoreboard has been updated. Called for every ACK, duplicate or not, in recovery or not.
    fn on_ack(&mut self, ack: &Ack);

    /// As `on_ack`, for a plain ACK. A controller that needs to know no more and does not pace updates the windows in `limits` and
    /// returns true. If it returns false, nothing has changed. Not called if the controller reads rate samples.
    fn on_plain_ack(&mut self, _ack: &PlainAck, _limits: &mut Limits) -> bool {
        false
    }

    /// A loss has been found (once per recovery episode), ECN-Echo has been seen (once per window), or the timer has expired. The
    /// controller may leave cwnd and ssthresh as they are: then the sender assumes that it has not answered congestion in this window
    /// yet.
    fn on_congestion(&mut self, event: &Congestion);

    /// Loss recovery is over: all that was outstanding when it began has been acknowledged. Not called if a timeout ends recovery.
    fn on_recovery_exit(&mut self, _now: Time) {}

    /// The last loss or timeout proved spurious. The controller may continue with this cwnd and ssthresh (RFC 4015 §3.2 step 5).
    fn on_spurious(&mut self, now: Time, cwnd: u64, ssthresh: u64);

    /// Data is about to be sent after more than an RTO without any (RFC 5681 §4.1), namely after `rtos` whole ones.
    fn on_restart(&mut self, _now: Time, _rtos: u64) {}

    /// `bytes` of data have been sent; `in_flight` includes them.
    fn on_sent(&mut self, _now: Time, _bytes: u64, _in_flight: u64) {}

    /// Does `on_sent` do anything?
    fn hears_sends(&self) -> bool {
        true
    }

    /// Data has been sent, and nothing else is in flight. Called after `on_sent`, whatever `hears_sends` returns.
    fn on_sent_alone(&mut self, _now: Time) {}

    /// Does it read [`Ack::rate`]? If not, that holds only totals, which saves the sender much of the work for an ACK.
    fn reads_rate(&self) -> bool {
        true
    }

    /// The rate at which payload bytes may leave. `None`: ACKs alone clock the sender.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Does cwnd hold in recovery and after a timeout, too? Then the sender does not apply proportional rate reduction.
    fn governs_recovery(&self) -> bool {
        false
    }
}

/// All that a controller sets.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub cwnd: u64,
    pub ssthresh: u64,
    /// The highest rate that there is, if the controller does not pace.
    pacing_rate: Rate,
}

const UNPACED: Rate = Rate(u64::MAX);

impl Limits {
    #[inline(always)]
    pub fn new(cwnd: u64, ssthresh: u64, pacing_rate: Option<Rate>) -> Limits {
        Limits { cwnd, ssthresh, pacing_rate: pacing_rate.unwrap_or(UNPACED) }
    }

    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        if self.pacing_rate == UNPACED { None } else { Some(self.pacing_rate) }
    }
}

/// What a controller learns from an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Time,
    /// Bytes newly acknowledged cumulatively: SND.UNA moved by this.
    pub acked: u64,
    /// Bytes newly known to have arrived, cumulatively or by SACK. In Linux, what a DSACK reports as a duplicate counts, too, if the
    /// controller reads rate samples.
    pub delivered: u64,
    /// No new data acknowledged while data is outstanding (RFC 5681 §2).
    pub is_duplicate: bool,
    /// The RTT measured with this ACK. Never from an ambiguous one (Karn).
    pub rtt: Option<Dur>,
    /// SRTT after this ACK; zero before the first sample.
    pub srtt: Dur,
    /// The smallest RTT of the connection; [`Dur::MAX`] before the first sample.
    pub min_rtt: Dur,
    /// Bytes in flight just before this ACK.
    pub prior_in_flight: u64,
    /// Bytes in flight now.
    pub in_flight: u64,
    /// Was the sender in fast recovery (Reno, NewReno, SACK, RACK) when this ACK arrived? Then most controllers do not grow. True for
    /// the ACK that ends recovery. False during repair after a timeout, when slow start runs (RFC 5681 §3.1).
    pub in_recovery: bool,
    /// Is the sender repairing losses after a timeout, for which the window has been reduced?
    pub in_loss: bool,
    /// Did the window, not the application or the receiver, limit the sender? In slow start, it is enough to have used more than half
    /// of the window.
    pub is_cwnd_limited: bool,
    /// Does the ACK carry ECN-Echo?
    pub ece: bool,
    /// When the peer sent the ACK, by its timestamp clock (RFC 7323 §3.2 TSval); `None` without timestamps.
    pub peer_timestamp: Option<u32>,
    /// SND.UNA and SND.NXT as stream offsets.
    pub una: u64,
    pub nxt: u64,
    pub rate: RateSample,
}

/// An [`Ack`] as simple controllers need it. It acknowledges new data, all of which it is the first to report, outside recovery and
/// without ECN-Echo.
#[derive(Clone, Copy, Debug)]
pub struct PlainAck {
    pub now: Time,
    pub acked: u64,
    pub srtt: Dur,
    pub min_rtt: Dur,
    pub in_flight: u64,
    pub is_cwnd_limited: bool,
}

impl From<&Ack> for PlainAck {
    #[inline]
    fn from(ack: &Ack) -> PlainAck {
        let &Ack { now, acked, srtt, min_rtt, in_flight, is_cwnd_limited, .. } = ack;
        PlainAck { now, acked, srtt, min_rtt, in_flight, is_cwnd_limited }
    }
}

/// Delivery rate over about one round trip (draft-ietf-ccwg-bbr, "Delivery rate sampling").
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// `C.delivered`: bytes delivered over the connection's life.
    pub total_delivered: u64,
    /// `C.delivered` when the most recently sent of the acknowledged packets was sent.
    pub prior_delivered: u64,
    /// Bytes delivered over `interval`; the sample is void if `interval` is zero.
    pub delivered: u64,
    pub interval: Dur,
    pub is_app_limited: bool,
    /// Bytes marked lost over the connection's life.
    pub total_lost: u64,
    /// Bytes marked lost with this ACK, or by a timer since the previous one.
    pub newly_lost: u64,
    /// Of `newly_lost`, what a timer has marked. Linux's `rate_sample` leaves that out.
    pub lost_by_timer: u64,
    /// Bytes in flight when the most recently sent of the acknowledged packets was sent.
    pub tx_in_flight: u64,
    /// Bytes marked lost between that sending and now.
    pub lost_since: u64,
}

/// Why a controller is asked to slow down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A packet is lost according to duplicate ACKs, SACK or RACK.
    Loss,
    /// ECN-Echo.
    Ecn,
    /// The retransmission timer has expired.
    Timeout,
}

#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    pub now: Time,
    pub cause: Cause,
    /// The timer has expired again on a packet resent by the last expiry: ssthresh stays (RFC 5681 §3.1 (4)).
    pub is_repeated_timeout: bool,
    /// FlightSize: outstanding, not yet cumulatively acknowledged.
    pub flight_size: u64,
    /// Bytes in flight by the scoreboard's account.
    pub in_flight: u64,
    /// Of `in_flight`, the bytes that a timeout does not declare lost since they were sent too recently (RFC 8985 §6.3).
    pub survivors: u64,
    /// Bytes marked lost over the connection's life, what a timeout declares lost included.
    pub total_lost: u64,
    pub srtt: Dur,
    pub min_rtt: Dur,
    pub una: u64,
    pub nxt: u64,
}

/// The unit of cwnd and ssthresh, and what they become where the RFCs and Linux differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRules {
    /// Bytes. After idleness the restart window (RFC 5681 §4.1); after a timeout one segment (§3.1); after a spurious
    /// episode what RFC 4015 §3.2 computes.
    Rfc,
    /// As `rfc`, but a loss halves cwnd instead of what is outstanding, and each timeout does: ns-2 since 2006.
    Ns2,
    /// The same, and the half is a whole number of segments: ns-2 before.
    Ns2Whole,
    /// Whole segments. Each RTO of idleness halves cwnd (RFC 2861 §3.1); after a timeout one segment beside what RACK does
    /// not deem lost yet; after a spurious episode, which DSACKs prove, too, both are what they were.
    Linux,
}

/// What a controller is built from.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Sender maximum segment size: payload bytes of a full segment.
    pub mss: u64,
    /// Initial window in bytes.
    pub initial_window: u64,
    /// Initial ssthresh in bytes; `u64::MAX` for none.
    pub initial_ssthresh: u64,
    /// Loss window in bytes.
    pub loss_window: u64,
    /// `None`: the controller's default.
    pub slow_start: Option<slow_start::SlowStartKind>,
    /// Segments that one ACK may count for when the window grows; `None` for any number.
    /// See [`crate::tcp::TcpConfig::byte_counting_limit`].
    pub byte_counting_limit: Option<u32>,
    pub windows: WindowRules,
    pub cubic: cubic::CubicRules,
    /// Does the sender pace even if the controller sets no rate?
    pub is_paced: bool,
    /// Seed of the controller's random numbers (BBR's probing phase).
    pub seed: u64,
}

impl Build {
    /// Bytes that one ACK may count for when the window grows; `u64::MAX` for any number.
    pub fn byte_counting_bytes(&self) -> u64 {
        self.byte_counting_limit.map_or(u64::MAX, |segments| u64::from(segments) * self.mss)
    }
}
