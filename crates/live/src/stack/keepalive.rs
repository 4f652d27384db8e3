//! When a silent peer is probed (RFC 9293 §3.8.4), with Linux's counts.

use airtcp_wire::{Dur, Time};

/// Time between two probes.
const INTERVAL: Dur = Dur::from_secs(75);
/// After this many unanswered probes, the peer counts as gone.
const QUESTIONS: u32 = 9;

pub struct Keepalive {
    /// How long a peer may be silent; `None` for ever.
    silence: Option<Dur>,
    /// When a packet was last received, or data was outstanding.
    heard: Time,
    due: Time,
    asked: u32,
}

/// The next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeepaliveStep {
    Wait,
    Ask,
    GiveUp,
}

impl Keepalive {
    pub fn new(silence: Option<Dur>) -> Keepalive {
        Keepalive { silence, heard: Time::ZERO, due: Time::NEVER, asked: 0 }
    }

    pub fn handle_sign_of_life(&mut self, now: Time) {
        (self.heard, self.asked) = (now, 0);
        if self.due.is_never()
            && let Some(silence) = self.silence
        {
            self.due = now + silence;
        }
    }

    pub fn poll_timeout(&self) -> Time {
        self.due
    }

    pub fn handle_timeout(&mut self, now: Time) -> KeepaliveStep {
        let Some(silence) = self.silence.filter(|_| now >= self.due) else { return KeepaliveStep::Wait };
        if self.asked == 0 && now < self.heard + silence {
            self.due = self.heard + silence;
            return KeepaliveStep::Wait;
        }
        if self.asked == QUESTIONS {
            self.due = Time::NEVER;
            return KeepaliveStep::GiveUp;
        }
        self.asked += 1;
        self.due = now + INTERVAL;
        KeepaliveStep::Ask
    }
}
