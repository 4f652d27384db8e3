//! Finds spurious retransmissions by Eifel detection (RFC 3522), F-RTO (RFC 5682) and, in Linux, DSACKs (RFC 3708).

use super::ack_summary::AckSummary;
use super::config::TcpConfig;
use crate::cc::WindowRules;
use airtcp_wire::{Dur, Time};

/// What began the episode that may have been spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    Loss,
    Timeout,
}

/// The state before the episode (RFC 4015 §3.2 step 0).
#[derive(Clone, Copy, Debug)]
pub struct Saved {
    pub trigger: Trigger,
    pub pipe_prev: u64,
    pub cwnd: u64,
    pub ssthresh: u64,
    /// SRTT_prev and RTTVAR_prev.
    pub rtt: (Dur, Dur),
    /// SND.UNA and SND.NXT when it began.
    pub una: u64,
    pub nxt: u64,
    /// The oldest outstanding segment had been resent before the episode: an old echo may answer that retransmission.
    pub was_resent: bool,
}

/// The episode that may still prove spurious.
#[derive(Clone, Copy, Debug)]
struct Episode {
    saved: Saved,
    /// Timestamp of the first retransmission (RFC 3522 §3.2 step 1). `None`: an old echo may answer an earlier
    /// retransmission, and proves nothing.
    retransmit_ts: Option<u32>,
    /// Retransmissions that no DSACK has reported as duplicates; `None` before the first retransmission.
    unanswered: Option<u32>,
}

/// How far F-RTO has come (RFC 5682 §2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FRto {
    Idle,
    /// The timer has expired and the first segment has been resent: step 2 looks at the next ACK.
    Resent,
    /// Up to two new segments have been allowed: step 3 looks at the next ACK.
    Probed,
}

/// What F-RTO concludes from an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrtoStep {
    Nothing,
    /// Step 2b: send up to two new segments instead of retransmissions.
    SendNew,
    /// The timeout was genuine: segments that it declared lost are resent.
    Genuine,
    Spurious,
}

#[derive(Clone, Debug)]
pub struct Spurious {
    has_eifel: bool,
    has_f_rto: bool,
    rules: WindowRules,
    /// The initial window in segments.
    initial_segments: u32,
    /// Boxed, because most connections are in no episode most of the time.
    episode: Option<Box<Episode>>,
    f_rto: FRto,
    /// SRTT and RTTVAR before the episode, to be combined with the next RTT sample (RFC 4015 §3.2 step 9). Boxed, too.
    pub rtt_to_restore: Option<Box<(Dur, Dur)>>,
}

impl Spurious {
    pub fn new(config: &TcpConfig) -> Spurious {
        Spurious {
            has_eifel: config.eifel && config.timestamps,
            has_f_rto: config.f_rto,
            rules: config.windows,
            initial_segments: config.initial_window,
            episode: None,
            f_rto: FRto::Idle,
            rtt_to_restore: None,
        }
    }

    /// RFC 4015 §3.2 step 5: how many segments may leave at once after an episode that proved spurious.
    pub fn initial_segments(&self) -> u32 {
        self.initial_segments
    }

    pub fn begin(&mut self, now: Time, saved: Saved) {
        self.f_rto = FRto::Idle;
        let is_only_copy = saved.trigger == Trigger::Timeout || !saved.was_resent;
        let has_proof = self.has_eifel || self.has_f_rto || self.rules == WindowRules::Linux;
        let retransmit_ts = is_only_copy.then(|| timestamp(now));
        self.episode = has_proof.then(|| Box::new(Episode { saved, retransmit_ts, unanswered: None }));
    }

    pub fn take(&mut self) -> Option<Saved> {
        self.f_rto = FRto::Idle;
        self.episode.take().map(|episode| episode.saved)
    }

    pub fn is_linuxs(&self) -> bool {
        self.rules == WindowRules::Linux
    }

    /// Linux: after ECN-Echo, the episode is not undone any more.
    pub fn forget(&mut self) {
        if self.rules == WindowRules::Linux {
            self.episode = None;
        }
    }

    /// The timer has expired: F-RTO begins if `was_open`. An expiry while losses are being repaired ends F-RTO
    /// (RFC 5682 §2.1 step 1), but in Linux not if it follows another expiry.
    pub fn on_timeout(&mut self, was_open: bool, expiries: u32) {
        let is_repeated = self.rules == WindowRules::Linux && expiries > 1;
        let starts = self.has_f_rto && (was_open || is_repeated) && self.episode.is_some();
        self.f_rto = if starts { FRto::Resent } else { FRto::Idle };
    }

    /// A segment has been resent, other than by a tail loss probe.
    pub fn on_resent(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.unanswered = Some(episode.unanswered.unwrap_or(0) + 1);
        }
    }

    /// A DSACK reports a duplicate that ends at `end`.
    pub fn on_duplicate(&mut self, end: u64) {
        if let Some(episode) = self.episode.as_mut().filter(|episode| end > episode.saved.una) {
            episode.unanswered = episode.unanswered.map(|count| count.saturating_sub(1));
        }
    }

    /// Linux: returns whether DSACKs have reported every retransmission of the episode as a duplicate. That undoes an
    /// episode even when it is over.
    pub fn all_were_duplicates(&self) -> bool {
        self.rules == WindowRules::Linux
            && self.episode.as_ref().is_some_and(|episode| episode.unanswered == Some(0))
    }

    /// RFC 3522 §3.2 steps 3 to 5: returns whether the first ACK that advances SND.UNA, in Linux any such ACK, echoes an
    /// older timestamp than the retransmission's.
    pub fn eifel_says_spurious(&self, ack: &AckSummary) -> bool {
        let sent = self.episode.as_ref().and_then(|episode| episode.retransmit_ts);
        let (true, Some(sent), Some(echo)) = (self.has_eifel && ack.acked > 0, sent, ack.echo) else {
            return false;
        };
        (echo.wrapping_sub(sent) as i32) < 0
    }

    /// Step 4: the first acceptable ACK decides, and later ones prove nothing. In Linux they may.
    pub fn close_eifel(&mut self, ack: &AckSummary) {
        if self.rules != WindowRules::Linux && ack.acked > 0 && self.f_rto == FRto::Idle {
            self.episode = None;
        }
    }

    /// RFC 5682 §2.1 steps 2 and 3, with §3.1's rule that a SACK of data that was never resent proves a timeout spurious; in
    /// Linux any acknowledgment of such data does.
    pub fn handle_f_rto(&mut self, ack: &AckSummary, una: u64, has_new_data: bool) -> FrtoStep {
        if self.f_rto == FRto::Idle || (ack.acked == 0 && !ack.is_duplicate && ack.sacked == 0) {
            return FrtoStep::Nothing;
        }
        let nxt = self.episode.as_ref().map_or(0, |episode| episode.saved.nxt);
        let advances = ack.acked > 0 && una < nxt;
        let (next, verdict) = match self.f_rto {
            _ if self.rules == WindowRules::Linux && ack.original_delivered => {
                (FRto::Idle, FrtoStep::Spurious)
            }
            FRto::Probed if ack.acked > 0 || (ack.sacked > 0 && ack.original_delivered) => {
                (FRto::Idle, FrtoStep::Spurious)
            }
            FRto::Resent if advances && has_new_data => (FRto::Probed, FrtoStep::SendNew),
            // Linux waits for an ACK that advances.
            FRto::Resent if self.rules == WindowRules::Linux && ack.acked == 0 => {
                (FRto::Resent, FrtoStep::Nothing)
            }
            _ => (FRto::Idle, FrtoStep::Genuine),
        };
        self.f_rto = next;
        verdict
    }
}

/// The value of the timestamps clock: milliseconds (RFC 7323 §5.4 allows 1 ms to 1 s a tick).
#[inline]
pub fn timestamp(now: Time) -> u32 {
    (now.0 / 1_000_000) as u32
}
