//! A medium that several links share.
//!
//! An access point and its stations are links on one half-duplex medium, in both directions. Each has its own queue, transmitter, losses
//! and delays. When each of them sends is up to the medium's [`Machine`]: by [turns](InTurn), as on Wi-Fi's channel, or in the slots of a cell.
//!
//! A medium computes instead of waiting, as a [`Link`](super::Link) does. Whichever of its links is asked first, the medium carries out
//! all steps until then, in order of time. The first link names the next step of the medium as a time at which it must be woken, for
//! all of them; each names the times at which its own packets come out. What happens on the medium may change the times that other
//! links have named: [`Link::poll_moved`](super::Link::poll_moved) tells which.

mod access;
mod counts;
mod hearing;
mod kinds;
mod members;
mod port;
mod turns;
mod unsettled;

pub use access::{Access, Outcome, RoundRobin};
pub use counts::{Airtime, Delays, TurnStats};
pub(super) use counts::{Read, Turns};
pub(super) use hearing::Disturbance;
pub use hearing::Hearing;
pub use kinds::{Common, Keys, Kind, Radio};
pub(super) use members::Members;
pub(super) use port::Port;
pub(super) use turns::Turn;
pub use unsettled::LoggedTurn;
pub(super) use unsettled::{Unsettled, Window};

use super::general::General;
use crate::queue::Item;
use airtcp_wire::Time;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use turns::InTurn;

/// Decides when the links of a medium send, and lets them. Calls come in order of time.
pub(super) trait Machine: Send {
    /// A link joins the medium, before anything has arrived.
    fn join(&mut self);

    /// Something waits in the queue of `link` from now on.
    fn rouse(&mut self, now: Time, link: usize, members: &mut Members);

    /// A hand-off of `link` begins: what it has under way is lost.
    fn hand_off(&mut self, _now: Time, _link: usize, _members: &mut Members) {}

    /// When the next step is due; [`Time::NEVER`] if nothing is to be sent.
    fn next_step(&self) -> Time;

    /// Carries out the next step if it is due by `until`. Returns whether it was.
    fn step(&mut self, until: Time, members: &mut Members) -> bool;

    /// How the medium's time was spent from the beginning until `now`, when everything until then has happened.
    fn airtime(&mut self, now: Time, members: &mut Members) -> Airtime;
}

/// A medium. Clones are the same one.
#[derive(Clone)]
pub struct Medium(Arc<Mutex<Shared>>);

/// The link that names the next step of its medium.
const HERALD: usize = 0;

struct Shared {
    machine: Box<dyn Machine>,
    members: Members,
    /// The links that have hand-offs.
    handing_off: Vec<usize>,
    /// The next step, as the herald said it last.
    heralded: Time,
}

impl Medium {
    /// A medium on which links take turns, and all hear all.
    pub fn new(access: impl Access + 'static) -> Medium {
        Medium::heard(access, Hearing::default())
    }

    pub fn heard(access: impl Access + 'static, hearing: Hearing) -> Medium {
        Medium::of(InTurn::new(access, hearing))
    }

    pub(super) fn of(machine: impl Machine + 'static) -> Medium {
        let (machine, members, handing_off) = (Box::new(machine), Members::default(), Vec::new());
        Medium(Arc::new(Mutex::new(Shared { machine, members, handing_off, heralded: Time::NEVER })))
    }

    pub(super) fn join(&self, mut general: General) -> Port {
        general.front.asked().waits_for_turn = true;
        let link = {
            let mut shared = self.shared();
            shared.machine.join();
            shared.members.add(general)
        };
        let port = Port { medium: self.clone(), link };
        port.alter(|_| ());
        port
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // A run is one thread; the lock is there for drivers that are moved between threads.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn handle_packet(&mut self, now: Time, link: usize, item: Item) {
        self.catch_up(now);
        if self.members.general(link).handle_packet(now, item) {
            self.joined(now, link);
        }
    }

    /// A packet has joined the queue of `link`.
    fn joined(&mut self, now: Time, link: usize) {
        self.machine.rouse(now, link, &mut self.members);
        self.take_steps(now);
        let General { front, line, .. } = self.members.general(link);
        front.asked().count_queue(line);
    }

    /// Carries out all steps and hand-offs until `now`, and lets forwarded packets join their queues.
    fn catch_up(&mut self, now: Time) {
        while let Some((event_at, link)) = self.next_event().filter(|(event_at, _)| *event_at <= now) {
            self.take_steps(event_at);
            let General { front, line, .. } = self.members.general(link);
            let has_joined = front.asked().handle_event(line);
            self.members.on_moved(link);
            match has_joined {
                true => self.joined(event_at, link),
                false => self.machine.hand_off(event_at, link, &mut self.members),
            }
        }
        self.take_steps(now);
    }

    /// The next hand-off, or the next forwarded packet that joins its queue, and its link.
    fn next_event(&mut self) -> Option<(Time, usize)> {
        let Shared { handing_off, members, .. } = self;
        handing_off.iter().map(|&link| (members.general(link).front.asked().next_event(), link)).min()
    }

    /// From the beginning until `now`, when everything until then has happened.
    fn airtime(&mut self, now: Time) -> Airtime {
        self.machine.airtime(now, &mut self.members)
    }

    fn take_steps(&mut self, until: Time) {
        while self.machine.step(until, &mut self.members) {}
    }

    fn poll_moved(&mut self) -> Option<usize> {
        let step_at = self.machine.next_step();
        if std::mem::replace(&mut self.heralded, step_at) != step_at {
            return Some(HERALD);
        }
        self.members.take_moved()
    }

    fn next_out(&mut self, link: usize) -> Time {
        let step_at = if link == HERALD { self.machine.next_step() } else { Time::NEVER };
        let General { front, line, .. } = self.members.general(link);
        let asked = front.asked();
        let waits = !asked.ready_at.is_never();
        // A hand-off takes what waits, too.
        asked.or_event(line.next_out.min(step_at).min(if waits { asked.next_event() } else { Time::NEVER }))
    }
}
