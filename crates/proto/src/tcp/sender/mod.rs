//! The sending half: acknowledgments in, the next segment's range out.

mod acks;
#[cfg_attr(not(feature = "shortcuts"), path = "no_shortcut.rs")]
mod shortcut;
mod timers;
mod transmit;

use super::config::{RtoTimers, RttTiming, TimeoutPolicy};
use super::copies::Copies;
use super::core::Core;
use super::handshake::Rules;
use super::pacer::Pacer;
use super::persist::Persist;
use super::recovery::{self, LossRecovery, Policy};
use super::scoreboard::Outstanding;
use super::segment_timers::SegmentTimers;
use super::stats::Counters;
use super::timed::Timed;
use super::usage::WindowUsage;
use crate::cc::CongestionControl;
use crate::prefetch::prefetch;
use airtcp_wire::{Dur, Seq, Time};
use std::mem::offset_of;
use std::ops::{Range, RangeInclusive};

/// An acknowledgment in the sender's terms: positions, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckIn<'a> {
    pub ack: u64,
    /// SACK blocks above SND.UNA.
    pub blocks: &'a [(u64, u64)],
    /// The range that the ACK reports as received twice (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// The advertised window in bytes.
    pub window: u64,
    /// Sequence number of the segment that carries it.
    pub seq: Seq,
    /// The segment occupies sequence space, so it is no duplicate ACK.
    pub has_payload: bool,
    pub ece: bool,
    /// Explicit loss notification: the segment that this duplicate ACK misses was corrupted.
    pub eln: bool,
    /// Echoed timestamp.
    pub echo: Option<u32>,
    /// The timestamp of the ACK itself.
    pub peer_timestamp: Option<u32>,
}

/// The sending half of a connection. Laid out as [`Connection`](super::connection::Connection) says.
#[repr(C)]
pub struct Sender {
    /// Position after the octet that the last zero-window probe carried.
    probed_end: u64,
    /// Expiries that do not double a SYN's RTO.
    pub syn_linear: u32,
    has_nagle: bool,
    restarts_at_fast_retransmit: bool,
    paces_always: bool,
    timeout_policy: TimeoutPolicy,
    pub core: Core,
    policy: Policy,
    /// The one segment that is timed; `None` if every ACK takes a sample.
    timed: Option<Box<Timed>>,
    /// Boxed, as most connections have none.
    pacer: Option<Box<Pacer>>,
    persist: Persist,
    usage: WindowUsage,
    is_closing: bool,
    /// Data was left when nothing more could be sent.
    has_data_waiting: bool,
    /// Present if the tail is copied.
    copies: Option<Box<Copies>>,
    /// Present if each segment has a timer of its own; `rto_deadline` is then the earliest of them.
    segment_timers: Option<Box<SegmentTimers>>,
    /// Position after the last byte written; the FIN, if any, stands there.
    write_end: u64,
    /// A segment that ends beyond this position carries PSH: half the peer's largest window after the last one that did.
    unpushed_limit: u64,
    /// Position after the last segment that was not full.
    short_end: u64,
    last_sent_at: Time,
    rto_deadline: Time,
    /// When plain ACKs last restarted the retransmission timer, if its deadline has not been computed since.
    restarted_at: Time,
    /// The RTT that the last segment has given; [`Dur::MAX`] if none.
    last_rtt: Dur,
    /// SND.WL2, SND.WND and SND.WL1: the last window, and the ACK and sequence number of the segment that advertised it. No
    /// window is larger than 2³⁰ (RFC 7323 §2.3).
    window_ack: u64,
    last_window: u32,
    window_seq: Seq,
    /// The largest window that the peer ever offered.
    peer_window_max: u32,
    pub retries: u32,
}

pub use shortcut::Burst;

impl Sender {
    /// The byte range that an ACK touches while only data is sent and nothing is lost.
    pub const TOUCHED_BY_ACK: Range<usize> = offset_of!(Sender, core.sampler)..size_of::<Sender>();

    pub fn new(rules: &Rules, mss: u64, has_sack: bool) -> Sender {
        let config = &rules.config;
        Sender {
            core: Core::new(rules, mss, has_sack),
            policy: recovery::build(config, has_sack),
            timeout_policy: config.timeout_policy,
            has_nagle: config.nagle,
            restarts_at_fast_retransmit: config.rto.restart_at_fast_retransmit,
            timed: (config.rto.timing == RttTiming::OneAtATime).then(Box::default),
            pacer: None,
            paces_always: config.pacing,
            write_end: 1,
            unpushed_limit: 1,
            is_closing: false,
            has_data_waiting: false,
            copies: (config.tail_copies > 0).then(|| Box::new(Copies::new(config.tail_copies))),
            short_end: 0,
            peer_window_max: 0,
            last_window: 0,
            window_seq: Seq(0),
            window_ack: 0,
            usage: WindowUsage::default(),
            last_sent_at: Time::ZERO,
            rto_deadline: Time::NEVER,
            restarted_at: Time::NEVER,
            segment_timers: (config.rto.timers == RtoTimers::Segment).then(Box::default),
            persist: Persist::default(),
            probed_end: 0,
            retries: 0,
            syn_linear: 0,
            last_rtt: Dur::MAX,
        }
    }

    /// The handshake is over: what was negotiated replaces what was assumed for the SYN. A controller that there is already, because
    /// data has left before, stays.
    pub fn establish(&mut self, rules: &Rules, mss: u64, has_sack: bool) {
        self.core.establish(rules, mss, has_sack);
        self.policy = recovery::build(&rules.config, has_sack);
    }

    /// Data is to be sent: from now on `cc` decides how much, and how fast.
    pub fn follow(&mut self, cc: Box<dyn CongestionControl>) {
        self.core.follow(cc);
        // A controller that paces does so from the start.
        if self.paces_always || self.core.cc.pacing_rate().is_some() {
            self.pacer = Some(Box::new(Pacer::new(2 * self.core.mss())));
        }
    }

    /// The handshake begins anew. Data that the application has written, its close and the counters are kept.
    pub fn restart(&mut self, rules: &Rules, mss: u64) {
        let (write_end, is_closing, stats) = (self.write_end, self.is_closing, self.core.stats);
        *self = Sender { write_end, is_closing, ..Sender::new(rules, mss, false) };
        // No data has left yet, and the scoreboard is a new one.
        self.core.stats = Counters { without_data: 0, no_data: 0, ..stats };
    }

    /// The RTT that the last segment has given.
    #[inline]
    pub fn last_rtt(&self) -> Option<Dur> {
        if self.last_rtt == Dur::MAX { None } else { Some(self.last_rtt) }
    }

    /// A segment has arrived that gives no RTT.
    #[inline]
    pub fn forget_last_rtt(&mut self) {
        self.last_rtt = Dur::MAX;
    }

    /// Prefetches the memory outside of the sender that an ACK touches.
    #[inline]
    pub fn prefetch(&self) {
        self.core.board.prefetch();
        self.core.cc.prefetch();
        self.policy.prefetch();
        self.pacer.iter().for_each(|pacer| prefetch(&**pacer));
    }

    pub fn write(&mut self, bytes: u64) {
        self.write_end = self.write_end.saturating_add(bytes);
    }

    #[inline]
    pub fn set_unsent(&mut self, bytes: u64) {
        self.write_end = self.core.nxt().max(1) + bytes;
    }

    /// Bytes of new data that cwnd and the peer's window allow now; 0 while lost data waits, or the pacer holds data back.
    pub fn allowance(&self, now: Time) -> u64 {
        let core = &self.core;
        if core.board.lost() > 0 || self.is_held_back(now) {
            return 0;
        }
        let room = self.peer_edge().saturating_sub(core.nxt());
        core.window().saturating_sub(core.board.in_flight()).min(room)
    }

    #[inline]
    pub fn is_paced(&self) -> bool {
        self.pacer.is_some()
    }

    /// Returns whether the pacer lets nothing leave yet.
    #[inline]
    pub fn is_held_back(&self, now: Time) -> bool {
        self.pacer.as_ref().is_some_and(|pacer| pacer.next_departure() > now)
    }

    /// See [`LossRecovery::repeat_first_every`].
    pub fn repeat_first_every(&mut self, duplicates: u32) {
        self.policy.repeat_first_every(duplicates);
    }

    pub fn close(&mut self) {
        self.is_closing = true;
    }

    /// The peer reports no SACK blocks: duplicates would look like losses.
    pub fn forgo_copies(&mut self) {
        self.copies = None;
    }

    /// Returns whether a copy, and no retransmission, explains that a segment has come twice.
    #[cold]
    pub fn explains_duplicate(&mut self) -> bool {
        self.copies.as_mut().is_some_and(|copies| copies.explain_duplicate())
    }

    /// The window on a SYN or SYN-ACK, never scaled.
    pub fn on_initial_window(&mut self, window: u64, seq: Seq) {
        (self.window_seq, self.window_ack, self.last_window) = (seq, self.core.una(), window as u32);
        self.note_largest_window(window);
    }

    /// Right edge of the peer's window. That of a SYN begins behind it.
    #[inline(always)]
    fn peer_edge(&self) -> u64 {
        self.window_ack.max(1) + u64::from(self.last_window)
    }

    /// Bytes that the application has written.
    pub fn written(&self) -> u64 {
        self.write_end - 1
    }

    #[inline]
    fn data_end(&self) -> u64 {
        self.write_end + u64::from(self.is_closing)
    }

    pub fn is_fin(&self, end: u64) -> bool {
        self.is_closing && end == self.write_end + 1
    }

    /// The FIN has left.
    pub fn has_sent_fin(&self) -> bool {
        self.is_closing && self.core.nxt() == self.write_end + 1
    }

    /// Bytes of a segment that are neither SYN nor FIN.
    fn payload(&self, sent: &Outstanding) -> u64 {
        sent.bytes() - u64::from(sent.start == 0) - u64::from(self.is_fin(sent.end))
    }

    /// The acceptable values of SEG.ACK (RFC 5961 §5.2): no more than the peer's largest window below SND.UNA, and not
    /// beyond what was sent, a zero-window probe's octet included.
    #[inline]
    pub fn acceptable_acks(&self) -> RangeInclusive<u64> {
        let core = &self.core;
        core.una().saturating_sub(self.peer_window_max.into()).max(1)..=core.nxt().max(self.probed_end)
    }

    /// Zero-window probes in a row.
    pub fn window_probes(&self) -> u32 {
        self.persist.probes()
    }

    /// All that was written and the FIN have been acknowledged.
    pub fn is_finished(&self) -> bool {
        self.is_closing && self.core.una() == self.write_end + 1
    }

    /// The number of segments that are kept in memory.
    pub fn kept(&self) -> usize {
        self.core.board.len() + self.policy.kept()
    }

    /// When the SYN left, and how long its acknowledgment took, if nothing but one SYN was ever sent or is to be sent.
    pub fn only_syn(&self) -> Option<(Time, Dur)> {
        let Core { sampler, cc, rtt, .. } = &self.core;
        let is_only = self.core.una() == 1 && sampler.lost == 0 && !cc.has_controller() && self.is_idle();
        (is_only && !rtt.is_shared() && rtt.min() != Dur::MAX).then_some((self.last_sent_at, rtt.min()))
    }

    /// SND.WND, the largest window that the peer ever offered, and SND.WL1.
    pub fn windows(&self) -> (u64, u64, Seq) {
        (self.last_window.into(), self.peer_window_max.into(), self.window_seq)
    }

    /// Bytes from SND.UNA to the right edge of the peer's window.
    pub fn peer_window(&self) -> u64 {
        self.peer_edge().saturating_sub(self.core.una())
    }

    /// An acknowledgment without text leaves. Returns its position, SND.NXT.
    #[inline(always)]
    pub fn count_ack(&mut self) -> u64 {
        self.core.stats.acks_sent += 1;
        self.core.nxt()
    }

    pub fn unsent(&self) -> u64 {
        self.data_end() - self.core.nxt()
    }

    /// Returns whether something is to be sent, or outstanding.
    pub fn has_work(&self) -> bool {
        self.unsent() > 0 || !self.core.board.is_empty()
    }

    /// Returns whether nothing is outstanding, unsent or ever resent, and no timer runs.
    pub fn is_idle(&self) -> bool {
        self.core.board.is_empty()
            && self.unsent() == 0
            && self.core.stats.retransmissions == 0
            && self.rto_deadline.is_never()
            && self.persist.is_idle()
            && self.policy_deadline().is_never()
    }

    /// Returns whether nothing is outstanding, nor was resent, so that an ACK of `ack` can report only the peer's window.
    #[inline]
    pub fn is_idle_at(&self, ack: u64) -> bool {
        self.core.board.is_empty() && ack == self.core.una() && self.core.stats.retransmissions == 0
    }
}
