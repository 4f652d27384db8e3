//! Linux's quick ACKs.

use crate::tcp::config::TcpConfig;
use crate::tcp::window_growth::WindowGrowth;
use crate::until::Until;
use airtcp_wire::{Dur, Time};

/// The quick ACKs, if the stack has any, and until when they and the window's growth are over.
#[derive(Clone, PartialEq, Debug)]
pub struct QuickAcks {
    state: Option<Box<Quick>>,
    over: Until<Time>,
}

impl QuickAcks {
    pub fn new(config: &TcpConfig) -> QuickAcks {
        let state = (config.quick_acks > 0).then(|| Box::new(Quick::new(config)));
        let over = if state.is_some() { Time::ZERO } else { Time::NEVER };
        QuickAcks { state, over: Until::new(over) }
    }

    pub fn get(&self) -> Option<&Quick> {
        self.state.as_deref()
    }

    /// Changes them, if there are any, and finds anew until when they are over.
    #[inline]
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Quick) -> T) -> Option<T> {
        let quick = self.state.as_mut()?;
        let result = change(quick);
        self.over = quick.over();
        Some(result)
    }

    /// Returns whether data in order is no matter of theirs.
    #[inline(always)]
    pub fn are_over(&self, now: Time) -> bool {
        self.over.covers(now)
    }

    /// Data in order has arrived while they [are over](QuickAcks::are_over), which stays so for no less time.
    #[inline(always)]
    pub fn note_expected_data(&mut self, now: Time) {
        if let Some(quick) = &mut self.state {
            quick.last_data = now;
        }
    }

    /// Finds anew until when they are over.
    #[cfg(test)]
    pub fn renew(&mut self) {
        self.change(|_| ());
    }
}

/// Linux acknowledges each segment at once while quick ACKs are left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quick {
    pub most: u32,
    pub left: u32,
    /// Quick ACKs go on while the window grows.
    pub growth: WindowGrowth,
    /// Quick ACKs begin anew after a longer pause, about the peer's RTO, for its cwnd may be small then.
    pub pause: Dur,
    /// Data of the application's that leaves sooner after the peer's is an answer.
    answers_within: Dur,
    pub last_data: Time,
    /// The application answers what it receives: its data carries the ACKs, and quick ACKs have ended.
    pub is_interactive: bool,
}

impl Quick {
    fn new(config: &TcpConfig) -> Quick {
        Quick {
            most: config.quick_acks,
            left: config.quick_acks,
            growth: WindowGrowth::new(config),
            pause: config.rto.initial,
            answers_within: config.delayed_ack,
            last_data: Time::ZERO,
            is_interactive: false,
        }
    }

    /// A segment has arrived in order, which makes `next` RCV.NXT. Returns whether it is acknowledged at once.
    #[inline]
    pub fn on_data(&mut self, now: Time, next: u64) -> bool {
        if now.since(self.last_data) > self.pause {
            self.left = self.left.max(self.most);
        }
        self.last_data = now;
        self.on_segment(now, next)
    }

    /// [`on_data`](Quick::on_data) for a segment in order or behind a gap.
    pub fn on_segment(&mut self, now: Time, next: u64) -> bool {
        if self.growth.on_segment(now, next) {
            self.left |= 1;
        }
        self.is_quick()
    }

    #[inline]
    fn is_quick(&self) -> bool {
        !self.is_interactive && self.left > 0
    }

    /// Returns whether data of ours that leaves now is an answer.
    #[inline]
    pub fn is_answered_at(&self, now: Time) -> bool {
        self.last_data > Time::ZERO && now.since(self.last_data) < self.answers_within
    }

    /// Until when [`on_data`](Quick::on_data) changes nothing but the time of the last data.
    #[inline]
    fn over(&self) -> Until<Time> {
        match self.is_quick() {
            true => Until::default(),
            false => Until::new(self.growth.rests_until().min(self.last_data + self.pause)),
        }
    }
}
