//! The receiving end with packets: what has come is known by its name, and what is missing is rebuilt.
//!
//! A source has no number on the wire. A repair says which names have which numbers, and the [`Decoder`] works with numbers. Packets
//! of the same name have the same bytes, so that one that has come stands in for all: of packets that repeat each other none is rebuilt
//! while one of them is remembered.

use super::decoder::REMEMBERED;
use super::packet::{Packet, Seen};
use super::{Decoder, Repair};
use airtcp_wire::circuit::{Fingerprint, FingerprintKey};
use std::collections::VecDeque;

/// Packets of which a copy is kept, and bytes of these: a repair comes soon after the packets that it covers. Others may come between.
const MOST_COPIES: usize = 256;
const MOST_BYTES: usize = 512 << 10;

/// Repairs from no further back come late. Those from further back begin anew: numbers are modulo 2^32.
const LATE: u32 = 1 << 16;

/// Rebuilds packets. Its memory has a bound, whatever comes.
#[derive(Debug)]
pub struct Rebuilder {
    key: FingerprintKey,
    decoder: Decoder<Packet>,
    /// The last packets, oldest first, and their bytes. Names are computed when they are needed: in bulk, no repairs come.
    copies: VecDeque<(Option<Fingerprint>, Packet)>,
    bytes: usize,
    /// Numbers and names of sources that repairs have covered and that have not come.
    missing: VecDeque<(u32, Fingerprint)>,
    /// One above the highest number that a repair has covered, once there was one.
    next: Option<u32>,
    /// Of the last packet that came.
    seen: Option<Seen>,
    /// Has a packet come by a name that a repair gave it? Until then, both ends may see different packets: addresses may be translated
    /// on the way.
    is_proven: bool,
    rebuilt: VecDeque<Vec<u8>>,
}

impl Rebuilder {
    pub fn new(key: FingerprintKey) -> Rebuilder {
        Rebuilder {
            key,
            decoder: Decoder::default(),
            copies: VecDeque::new(),
            bytes: 0,
            missing: VecDeque::new(),
            next: None,
            seen: None,
            is_proven: false,
            rebuilt: VecDeque::new(),
        }
    }

    /// A data packet has come, of this circuit or of another one.
    pub fn handle_packet(&mut self, packet: &[u8]) {
        let Some(copy) = Packet::of(packet) else { return };
        self.seen = Seen::of(packet);
        let name = (!self.missing.is_empty()).then(|| self.key.name(copy.bytes()));
        if let Some(name) = name {
            self.supply(name, &copy);
        }
        self.keep(name, copy);
    }

    /// A repair of the other end has come. It names as many sources as it covers.
    pub fn handle_repair(&mut self, repair: Repair, names: &[Fingerprint], coded: &[u8]) {
        if !repair.is_sound() || names.len() != usize::from(repair.count) {
            return;
        }
        self.reach(repair);
        for (n, &name) in (0..).zip(names) {
            self.cover(repair.first.wrapping_add(n), name);
        }
        self.decoder.handle_repair(repair, Packet::coded(coded));
        self.take_recovered();
    }

    /// The next packet that has been rebuilt.
    pub fn poll_rebuilt(&mut self) -> Option<Vec<u8>> {
        self.rebuilt.pop_front()
    }

    /// Bytes of packets that are kept.
    pub fn kept_bytes(&self) -> usize {
        self.bytes
    }

    /// Follows the numbers. Where nothing is remembered of those before, the decoder begins anew: in between no repairs were needed.
    fn reach(&mut self, repair: Repair) {
        let ahead = self.next.map(|next| repair.first.wrapping_sub(next));
        if ahead.is_none_or(|ahead| (REMEMBERED..LATE.wrapping_neg()).contains(&ahead)) {
            self.begin(repair.first);
        }
        let last = repair.first.wrapping_add(repair.count.into());
        let next = self.next.filter(|next| last.wrapping_sub(*next) > u32::MAX / 2).unwrap_or(last);
        self.next = Some(next);
        self.missing.retain(|(number, _)| next.wrapping_sub(*number) <= REMEMBERED);
    }

    fn begin(&mut self, first: u32) {
        self.next = Some(first);
        self.decoder = Decoder::from(first);
        self.missing.clear();
    }

    /// A source of this number has this name.
    fn cover(&mut self, number: u32, name: Fingerprint) {
        if self.decoder.source(number).is_some() {
            return;
        }
        if let Some(copy) = self.find(name) {
            self.is_proven = true;
            self.decoder.handle_source(number, copy);
            self.missing.retain(|(missing, _)| *missing != number);
        } else if !self.missing.contains(&(number, name)) {
            if self.missing.len() == REMEMBERED as usize {
                self.missing.pop_front();
            }
            self.missing.push_back((number, name));
        }
    }

    fn find(&mut self, name: Fingerprint) -> Option<Packet> {
        let key = &self.key;
        self.copies.iter_mut().rev().find_map(|(known, copy)| {
            let known = *known.get_or_insert_with(|| key.name(copy.bytes()));
            (known == name).then(|| copy.clone())
        })
    }

    /// A packet of this name has come, or been rebuilt.
    fn supply(&mut self, name: Fingerprint, copy: &Packet) {
        let mut numbers = Vec::new();
        self.missing.retain(|(number, missing)| {
            let is_it = *missing == name;
            numbers.extend(is_it.then_some(*number));
            !is_it
        });
        for number in numbers {
            self.is_proven = true;
            self.decoder.handle_source(number, copy.clone());
        }
        self.take_recovered();
    }

    fn take_recovered(&mut self) {
        while let Some(number) = self.decoder.poll_recovered() {
            let at = self.missing.iter().position(|(missing, _)| *missing == number);
            let Some((_, name)) = at.and_then(|at| self.missing.remove(at)) else { continue };
            let packet = self.decoder.source(number).and_then(Packet::trimmed);
            match packet.filter(|packet| self.key.name(packet.bytes()) == name) {
                Some(packet) => self.hand_on(name, packet),
                // Two packets of one name, whose bytes differ.
                None => return self.begin(number),
            }
        }
    }

    fn hand_on(&mut self, name: Fingerprint, packet: Packet) {
        if let Some(seen) = self.seen.filter(|_| self.is_proven) {
            self.rebuilt.push_back(packet.restored(seen));
        }
        self.keep(Some(name), packet);
    }

    fn keep(&mut self, name: Option<Fingerprint>, copy: Packet) {
        self.bytes += copy.bytes().len();
        self.copies.push_back((name, copy));
        while self.copies.len() > MOST_COPIES || self.bytes > MOST_BYTES {
            let Some((_, oldest)) = self.copies.pop_front() else { break };
            self.bytes -= oldest.bytes().len();
        }
    }
}
