//! A link's place on a medium.

use super::members::Member;
use super::{Medium, TurnStats};
use crate::path::general::General;
use crate::queue::Item;
use airtcp_wire::Time;
use std::sync::Arc;

pub struct Port {
    pub(super) medium: Medium,
    /// Its number on the medium.
    pub link: usize,
}

impl Port {
    /// The link as it is.
    pub fn with<R>(&self, f: impl FnOnce(&mut General) -> R) -> R {
        f(self.medium.shared().members.general(self.link))
    }

    /// Makes the link another one, before anything has arrived.
    pub fn alter(&self, change: impl FnOnce(&mut General)) {
        let mut shared = self.medium.shared();
        let general = shared.members.general(self.link);
        change(general);
        if general.front.asked().has_handoffs() && !shared.handing_off.contains(&self.link) {
            shared.handing_off.push(self.link);
        }
    }

    /// The link after all that happens on the medium until `now`.
    pub fn at<R>(&self, now: Time, f: impl FnOnce(&mut General) -> R) -> R {
        let mut shared = self.medium.shared();
        shared.catch_up(now);
        f(shared.members.general(self.link))
    }

    pub fn turn_stats(&self, now: Time) -> TurnStats {
        let mut shared = self.medium.shared();
        shared.catch_up(now);
        let medium = shared.airtime(now);
        let Member { general, airtime_before, .. } = shared.members.member(self.link);
        general.line.turn_stats(medium.since(airtime_before))
    }

    pub fn reset_stats(&self, now: Time) {
        let mut shared = self.medium.shared();
        shared.catch_up(now);
        let airtime_before = shared.airtime(now);
        let member = shared.members.member(self.link);
        member.general.reset_stats(now);
        member.general.line.reset_turns();
        member.airtime_before = airtime_before;
    }

    pub fn handle_packet(&self, now: Time, item: Item) {
        self.medium.shared().handle_packet(now, self.link, item);
    }

    pub fn next_out(&self) -> Time {
        self.medium.shared().next_out(self.link)
    }

    pub fn poll_moved(&self) -> Option<usize> {
        self.medium.shared().poll_moved()
    }

    /// Is it a place on the same medium?
    pub fn is_beside(&self, other: &Port) -> bool {
        Arc::ptr_eq(&self.medium.0, &other.medium.0)
    }
}
