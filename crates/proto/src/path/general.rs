//! Any queue, any transmitter, any delay.

use super::compression::Compressible;
use super::front::{Front, Handoff};
use super::line::Line;
use super::link::{Output, QueueView};
use super::stats::LinkStats;
use super::{Episodes, LossModel};
use crate::queue::{DropCause, Item};
use airtcp_wire::Time;

pub(super) struct General {
    /// Loses packets before they reach the queue.
    pub loss_before: Option<Box<dyn LossModel>>,
    pub front: Front,
    pub line: Line,
}

impl General {
    pub fn new(front: Front, line: Line) -> General {
        General { loss_before: None, front, line }
    }

    pub fn interrupt(&mut self, outages: Episodes, handoff: Option<Handoff>) {
        self.line.interrupt(outages.clone());
        if let Some(handoff) = handoff {
            // A hand-off changes when packets are taken up, so nothing can be foreseen.
            self.front.asked().set_handoffs(outages, handoff);
        }
    }

    pub fn announce(&mut self, id: u32, header: Compressible) {
        self.line.encoding.compression.iter_mut().for_each(|compression| compression.announce(id, header));
    }

    /// Returns whether the packet has reached the queue.
    pub fn handle_packet(&mut self, now: Time, item: Item) -> bool {
        if self.loss_before.as_mut().is_some_and(|loss| loss.is_lost(now, &item)) {
            self.lose(now, item.id);
            return false;
        }
        match &mut self.front {
            Front::Foreseen(foreseen) => foreseen.handle_packet(now, item, &mut self.line),
            Front::Asked(asked) => asked.handle_packet(now, item, &mut self.line),
        }
        true
    }

    /// Loses a packet that has just arrived.
    #[cold]
    fn lose(&mut self, now: Time, id: u32) {
        if let Front::Asked(asked) = &mut self.front {
            asked.catch_up(now, &mut self.line);
        }
        self.line.counters.on_arrivals(1);
        self.line.drop(now, id, DropCause::Corruption);
    }

    pub fn pop(&mut self, now: Time) -> Option<Output> {
        if let Front::Asked(asked) = &mut self.front {
            asked.catch_up(now, &mut self.line);
        }
        self.line.pop(now)
    }

    pub fn next_out(&self) -> Time {
        match &self.front {
            Front::Foreseen(_) => self.line.next_out,
            Front::Asked(asked) => asked.next_wake(&self.line),
        }
    }

    pub fn queue_view(&mut self, now: Time) -> QueueView {
        match &mut self.front {
            Front::Foreseen(foreseen) => foreseen.view(now),
            Front::Asked(asked) => {
                asked.catch_up(now, &mut self.line);
                asked.view()
            }
        }
    }

    pub fn stats(&mut self, now: Time) -> LinkStats {
        let ahead = self.front.ahead(now, &mut self.line);
        self.line.counters.read(now, &ahead)
    }

    pub fn reset_stats(&mut self, now: Time) {
        let ahead = self.front.ahead(now, &mut self.line);
        self.line.counters.reset(now, ahead);
    }
}
