//! Drops header packets before data packets, for circuits that lose no data (paper 000 §4.7.1).

use super::{Build, DropCause, DropTail, Drops, Item, Keys, Limit, Queue};
use crate::choice::Faults;
use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Header packets of TCP circuits are dropped before data packets (Wang and Kung 2001, section 4.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// A circuit's header packet is dropped when this many of them wait: that bounds the data that waits to about as many times
    /// VMSS.
    pub max_headers: u32,
}

impl Keys for Config {
    fn check(&self, faults: &mut Faults) {
        faults.refuse_if(self.max_headers == 0, "max_headers", "must be at least 1");
    }

    fn build(&self, build: Build) -> Box<dyn Queue> {
        Box::new(HeaderFirst::new(build.limit, self.max_headers))
    }
}

/// One FIFO for data and header packets. A header packet is dropped when `max_headers` of them wait already, so that the data is bounded
/// for which they pay. Any packet is dropped when there is no room at all.
#[derive(Clone, Debug)]
pub struct HeaderFirst {
    fifo: DropTail,
    max_headers: u32,
    headers: u32,
}

impl HeaderFirst {
    pub fn new(limit: Limit, max_headers: u32) -> HeaderFirst {
        HeaderFirst { fifo: DropTail::new(limit), max_headers, headers: 0 }
    }
}

impl Queue for HeaderFirst {
    fn enqueue(&mut self, now: Time, item: Item, drops: &mut Drops) {
        if item.is_header && self.headers >= self.max_headers {
            drops.push((item, DropCause::Aqm));
            return;
        }
        self.headers += u32::from(item.is_header && self.fifo.has_room(item.bytes));
        self.fifo.enqueue(now, item, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Item> {
        let item = self.fifo.dequeue(now, drops)?;
        self.headers -= u32::from(item.is_header);
        Some(item)
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enqueues `H` and `D`; returns what was dropped, as indices.
    fn dropped(queue: &mut HeaderFirst, packets: &str) -> Vec<(u32, DropCause)> {
        let mut drops = Drops::new();
        for (id, kind) in (0..).zip(packets.chars()) {
            let is_header = kind == 'H';
            let bytes = if is_header { 52 } else { 1500 };
            queue.enqueue(Time::ZERO, Item { id, bytes, is_header, ..Item::default() }, &mut drops);
        }
        drops.iter().map(|(item, cause)| (item.id, *cause)).collect()
    }

    #[test]
    fn header_packets_are_dropped_by_their_number() {
        let mut queue = HeaderFirst::new(Limit::packets(100), 2);
        assert_eq!(dropped(&mut queue, "DHDHDHD"), [(5, DropCause::Aqm)]);
        assert_eq!((queue.len(), queue.bytes()), (6, 6104));
        // A header packet that has left makes room for one.
        (0..2).for_each(|_| _ = queue.dequeue(Time::ZERO, &mut Drops::new()));
        assert_eq!(dropped(&mut queue, "HH"), [(1, DropCause::Aqm)]);
    }

    #[test]
    fn data_packets_are_dropped_only_when_all_is_full() {
        let mut queue = HeaderFirst::new(Limit::packets(4), 2);
        assert_eq!(dropped(&mut queue, "DDHDDH"), [(4, DropCause::Overflow), (5, DropCause::Overflow)]);
        assert_eq!(queue.headers, 1);
    }
}
