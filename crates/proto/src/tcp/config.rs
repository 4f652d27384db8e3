//! Every constant and choice of a TCP stack as a parameter.

use crate::cc::Controllers;
use crate::cc::WindowRules;
use crate::cc::cubic::CubicRules;
use crate::cc::slow_start::SlowStartKind;
use crate::cc::unlimited;
use airtcp_wire::{Bytes, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One TCP endpoint's rules. A scenario starts from a profile and changes single keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpConfig {
    /// Congestion control by name, see `airtcp schemes`.
    pub congestion_control: String,
    /// Parameters of the congestion control.
    pub cc: BTreeMap<String, f64>,
    /// Where its name is looked up.
    #[serde(skip)]
    pub controllers: Controllers,
    /// Connections handle every segment the general way, and predict none. What they send is the same.
    #[serde(skip)]
    pub no_shortcuts: bool,
    /// Absent: the controller's own, which is HyStart for CUBIC by Linux's rules and RFC 5681's for all others.
    pub slow_start: Option<SlowStartKind>,
    /// The most segments that one ACK counts for when the window grows (L of RFC 3465). 1 counts ACKs instead of bytes, as
    /// RFC 2581 did. Absent: no limit, as in Linux.
    pub byte_counting_limit: Option<u32>,
    /// Whose rules cwnd and ssthresh follow.
    pub windows: WindowRules,
    /// Whose rules the congestion control `cubic` follows.
    pub cubic: CubicRules,
    /// Pace at 2·cwnd/SRTT in slow start and 1.2·cwnd/SRTT after it, also where the controller does not ask for it.
    pub pacing: bool,

    /// Length in bytes of the IP packet that carries a full segment, headers and options included.
    pub packet_size: u32,
    /// Initial congestion window in segments (RFC 5681 §3.1, RFC 6928).
    pub initial_window: u32,
    /// Initial ssthresh in segments; absent: arbitrarily high (RFC 5681 §3.1).
    pub initial_ssthresh: Option<u32>,
    /// Loss window in segments, to which a timeout reduces cwnd: one in RFC 5681 §3.1, the initial window in paper 001 §II.B. BBR and
    /// Concord have rules of their own.
    pub loss_window: u32,
    /// The largest send buffer (Linux's `tcp_wmem`). On average, unacknowledged data fills four fifths of it at most: the rest holds
    /// the structures around the data, and Linux, having filled the buffer, waits until a third is free. Absent: no limit.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer: the largest window that is advertised.
    pub receive_window: Bytes,
    /// The buffer that a receiver begins with (Linux's `tcp_rmem`), of which its own structures take half. With `quick_acks` each
    /// segment is acknowledged at once while the window offered grows into it. Absent: four times what the path of a
    /// scenario's flow holds, elsewhere 128 KiB.
    pub receive_buffer: Option<Bytes>,
    /// Window scaling (RFC 7323 §2).
    pub window_scaling: bool,
    /// Timestamps (RFC 7323 §3).
    pub timestamps: bool,
    /// Selective acknowledgments (RFC 2018).
    pub sack: bool,
    /// Duplicate SACK blocks (RFC 2883).
    pub dsack: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// With `ecn`, retransmissions are ECN-capable and carry CWR, as ns-2's do: RFC 3168 §6.1.5 and §6.1.2 forbid it,
    /// RFC 2481 did not.
    pub ecn_retransmissions: bool,
    /// Explicit loss notification: what a base station calls corrupted on duplicate ACKs is resent without a reduction.
    pub eln: bool,
    /// Nagle's algorithm (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// Copies of each of the last ten segments that leave once nothing else is to be sent, to a peer with SACK: where many packets are
    /// lost, short transfers then seldom wait for a repair (Flach et al., SIGCOMM 2013). 0: none.
    pub tail_copies: u8,

    /// Acknowledge every so many full segments at the latest: 1 = each at once, 2 = delayed ACKs (RFC 5681 §4.2).
    pub ack_every: u32,
    /// Longest time that an ACK is held back.
    pub delayed_ack: Dur,
    /// Delayed ACKs leave when the stack's clock ticks (BSD's 200 ms timer); zero: exactly `delayed_ack` later.
    pub delayed_ack_tick: Dur,
    /// Linux's quick ACKs: at the start, after a pause and after a duplicate, each of this many segments is acknowledged at once,
    /// and so is each one while the window grows. They end when the application answers. 0: none.
    pub quick_acks: u32,
    /// While a gap is open, hold back at most so many ACKs after the first three, for 5 % of the RTT and 1 ms at most: Linux's
    /// compression of SACKs (`tcp_comp_sack_nr`). 0: each segment is acknowledged at once (RFC 5681 §4.2).
    pub compressed_acks: u32,

    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// What is resent when the timer expires.
    pub timeout_policy: TimeoutPolicy,
    /// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
    pub dupack_threshold: u32,
    /// Send new data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction (RFC 6937) instead of cutting at once, in SACK and RACK recovery, and in NewReno by Linux's
    /// `windows`. Also after ECN-Echo, as in Linux's state CWR: cwnd does not grow in that round trip.
    pub prr: bool,
    /// Eifel detection of spurious retransmissions by timestamps (RFC 3522), with RFC 4015's response.
    pub eifel: bool,
    /// F-RTO detection of spurious timeouts (RFC 5682), with RFC 4015's response.
    pub f_rto: bool,
    pub rto: RtoConfig,

    /// A connection begins with SRTT and RTTVAR of the last one to the same peer (RFC 9040, temporal sharing), so that its SYN's timer
    /// does, too. In a scenario, the peer of a flow.
    pub temporal_sharing: bool,
    /// How long TIME-WAIT lasts: 2·MSL (RFC 9293 §3.6.1).
    pub time_wait: Dur,
    /// Attempts before a connection is given up: retransmissions of one segment in a row.
    pub max_retries: u32,
}

/// The retransmission timer (RFC 6298): RTO = SRTT + max(G, m·RTTVAR), at least `min`, at most `max`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RtoConfig {
    /// Gain of SRTT.
    pub alpha: f64,
    /// Gain of RTTVAR.
    pub beta: f64,
    /// The factor m (K in RFC 6298 §2).
    pub factor: f64,
    /// RTO before the first sample.
    pub initial: Dur,
    pub min: Dur,
    pub max: Dur,
    /// Clock granularity G of RFC 6298 §2.
    pub granularity: Dur,
    /// Double the RTO on each expiry (RFC 6298 §5.5).
    pub backoff: bool,
    /// Expiries of a SYN's timer that do not double the RTO (Linux's `tcp_syn_linear_timeouts`).
    pub syn_linear: u32,
    /// RTTs are measured in whole ticks; zero: exactly.
    pub measure_tick: Dur,
    /// The timer expires only when the stack's clock ticks; zero: exactly.
    pub expire_tick: Dur,
    pub timing: RttTiming,
    /// What has a timer.
    pub timers: RtoTimers,
    /// How SRTT and RTTVAR are kept.
    pub arithmetic: RtoArithmetic,
    /// A fast retransmit restarts the timer, as in ns-2. RFC 6298 §5 restarts it for acknowledgments of new data alone.
    pub restart_at_fast_retransmit: bool,
    /// `min` bounds m·RTTVAR instead of the RTO, and RTTVAR falls no faster than once a round trip: Linux.
    pub min_on_variance: bool,
}

/// Which segments are timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttTiming {
    /// One at a time, never a retransmitted one (Karn).
    OneAtATime,
    /// Each ACK of new data, by timestamps where they are in use, else by the newest segment that was never resent.
    EveryAck,
}

/// What has a retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoTimers {
    /// The connection (RFC 6298 §5): an ACK of new data gives all that is outstanding a new period.
    Connection,
    /// Each segment, with the RTO of the moment at which it is sent (paper 003 §II and §III).
    Segment,
}

/// How SRTT and RTTVAR are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoArithmetic {
    /// To the nanosecond.
    Exact,
    /// SRTT in eighths and RTTVAR in quarters of `measure_tick`, whole numbers that never reach 0; the fourth back-off in a
    /// row forgets SRTT: ns-2.
    Ticks,
}

/// Loss recovery policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment.
    Tahoe,
    /// Fast recovery with window inflation, left at the first new ACK (RFC 2581).
    Reno,
    /// The same, where one window of data may see several fast retransmits: ns-2's until 2004.
    RenoNs2,
    /// Partial ACKs keep recovery going (RFC 6582).
    Newreno,
    /// Scoreboard and pipe (RFC 6675). Falls back to NewReno when the peer has no SACK.
    Sack,
    /// Time-based detection with tail loss probes (RFC 8985). Falls back to NewReno when the peer has no SACK.
    RackTlp,
}

/// What a timeout declares lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutPolicy {
    /// Everything outstanding and not SACKed, from the segment on whose timer expired: all of it is resent, in slow start.
    GoBackN,
    /// The same, all of it at once: paper 003 §III, where go-back-N "resends all outstanding packets". RFC 5681 §3.1 allows one segment
    /// after a timeout.
    GoBackNAtOnce,
    /// That segment only: with one timer, the first unacknowledged one.
    SelectiveRepeat,
}

impl TcpConfig {
    /// Bytes of TCP options on every segment but a SYN.
    pub fn option_bytes(&self) -> u32 {
        if self.timestamps { 12 } else { 0 }
    }

    /// Payload bytes of a full segment over IPv4: the effective MSS (RFC 6691).
    pub fn segment_payload(&self) -> u32 {
        self.packet_size.saturating_sub(40 + self.option_bytes()).max(1)
    }

    /// Returns whether loss recovery reads SACK blocks. The other policies count duplicate ACKs; with both, segments that have
    /// left the network would be counted twice.
    pub fn reads_sack(&self) -> bool {
        matches!(self.recovery, Recovery::Sack | Recovery::RackTlp)
    }

    /// Returns whether, as in Linux without SACK, each duplicate ACK stands for a segment that has arrived and left the pipe.
    pub fn emulates_sack(&self, has_sack: bool) -> bool {
        let is_newreno = matches!(self.recovery, Recovery::Newreno | Recovery::Sack | Recovery::RackTlp);
        let has_window = self.congestion_control != unlimited::SPEC.name;
        !has_sack && is_newreno && has_window && self.windows == WindowRules::Linux
    }

    /// Bytes that the send buffer lets be outstanding, for segments of `mss` bytes: at least two of them, as in Linux. A paced
    /// sender on Linux 6.18 was seen to have 322 kB outstanding, in the mean, with a buffer of 400 kB. Linux stops at a full buffer and
    /// goes on when a third is free; this is the mean of both.
    pub fn most_outstanding(&self, mss: u32) -> u32 {
        let Some(Bytes(buffer)) = self.send_buffer else { return u32::MAX };
        u32::try_from(buffer / 5 * 4).unwrap_or(u32::MAX).max(2 * mss)
    }
}
