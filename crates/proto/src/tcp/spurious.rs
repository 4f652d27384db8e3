//! Was the last retransmission needed? Eifel detection (RFC 3522) and F-RTO (RFC 5682).

use super::config::TcpConfig;
use super::core::AckSummary;
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
    /// SRTT_prev and RTTVAR_prev.
    pub rtt: (Dur, Dur),
    /// Value of the timestamp that the first retransmission carried (RFC 3522 §3.2 step 1). `None`: an earlier
    /// retransmission may still be answered, so that an old echo says nothing of this one.
    retransmit_ts: Option<u32>,
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

/// What F-RTO makes of an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Nothing,
    /// Step 2b: send up to two new segments instead of retransmissions.
    SendNew,
    /// The timeout was genuine: resend the rest as after any timeout.
    Genuine,
    Spurious,
}

#[derive(Clone, Debug)]
pub struct Spurious {
    has_eifel: bool,
    has_f_rto: bool,
    saved: Option<Saved>,
    f_rto: FRto,
    /// The highest position sent when the timer expired ("recover" of RFC 5682).
    recover: u64,
    /// The next RTT sample is joined with these (RFC 4015 §3.2 step 9).
    pub rtt_to_restore: Option<(Dur, Dur)>,
}

impl Spurious {
    pub fn new(config: &TcpConfig) -> Spurious {
        Spurious {
            has_eifel: config.eifel && config.timestamps,
            has_f_rto: config.f_rto,
            saved: None,
            f_rto: FRto::Idle,
            recover: 0,
            rtt_to_restore: None,
        }
    }

    /// `is_resent`: the oldest outstanding segment has been resent before the episode.
    pub fn save(
        &mut self,
        now: Time,
        trigger: Trigger,
        pipe_prev: u64,
        rtt: (Dur, Dur),
        nxt: u64,
        is_resent: bool,
    ) {
        self.f_rto = FRto::Idle;
        self.recover = nxt;
        let is_only_copy = trigger == Trigger::Timeout || !is_resent;
        self.saved = (self.has_eifel || self.has_f_rto).then(|| Saved {
            trigger,
            pipe_prev,
            rtt,
            retransmit_ts: is_only_copy.then(|| timestamp(now)),
        });
    }

    pub fn take(&mut self) -> Option<Saved> {
        self.f_rto = FRto::Idle;
        self.saved.take()
    }

    /// The timer has expired for the first time on this segment: F-RTO holds the other retransmissions back. Answers
    /// whether it does.
    pub fn start_f_rto(&mut self) -> bool {
        let starts = self.has_f_rto && self.saved.is_some_and(|saved| saved.trigger == Trigger::Timeout);
        self.f_rto = if starts { FRto::Resent } else { FRto::Idle };
        starts
    }

    /// A further expiry ends F-RTO (RFC 5682 §2.1 step 1).
    pub fn stop_f_rto(&mut self) {
        self.f_rto = FRto::Idle;
    }

    /// RFC 3522 §3.2 steps 3 to 5: does the first ACK that advances echo an older timestamp than the
    /// retransmission's?
    pub fn eifel_says_spurious(&self, ack: &AckSummary) -> bool {
        let sent = self.saved.and_then(|saved| saved.retransmit_ts);
        let (true, Some(sent), Some(echo)) = (self.has_eifel && ack.acked > 0, sent, ack.echo) else {
            return false;
        };
        (echo.wrapping_sub(sent) as i32) < 0
    }

    /// Step 4: the first acceptable ACK decides; later ones say nothing.
    pub fn close_eifel(&mut self, ack: &AckSummary) {
        if ack.acked > 0 && self.f_rto == FRto::Idle {
            self.saved = None;
        }
    }

    /// RFC 5682 §2.1 steps 2 and 3, with §3.1's rule that a SACK of data never resent shows a spurious timeout.
    pub fn handle_f_rto(&mut self, ack: &AckSummary, una: u64, has_new_data: bool) -> Verdict {
        if self.f_rto == FRto::Idle || (ack.acked == 0 && !ack.is_duplicate && ack.sacked == 0) {
            return Verdict::Nothing;
        }
        let advances = ack.acked > 0 && una < self.recover;
        let (next, verdict) = match self.f_rto {
            FRto::Probed if ack.acked > 0 || (ack.sacked > 0 && ack.original_delivered) => {
                (FRto::Idle, Verdict::Spurious)
            }
            FRto::Resent if advances && has_new_data => (FRto::Probed, Verdict::SendNew),
            _ => (FRto::Idle, Verdict::Genuine),
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
