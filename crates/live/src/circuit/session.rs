//! A session: what is written and read under its key.

use airtcp_proto::fec::{self, Coded};
use airtcp_wire::circuit::{
    CircuitError, Datagram, Header, Kind, Repair, SessionKey, Terms, compress, decode, decode_keepalive,
    decompress, encode, encode_keepalive,
};
use airtcp_wire::{Segment, Seq};

/// Numbers up to this far below the highest are still told apart.
const WINDOW: u64 = 64;

/// Encodes this end's datagrams.
pub struct Writer {
    key: SessionKey,
    next: u64,
    terms: Terms,
    /// The last header packet of each control TCP, and how many it repeats.
    last: Vec<Option<(Segment, u8)>>,
}

impl Writer {
    pub fn new(key: &SessionKey, terms: Terms) -> Writer {
        let last = vec![None; usize::from(terms.controls)];
        Writer { key: key.clone(), next: 0, terms, last }
    }

    /// Encodes a header packet, or another segment from the sender of a control TCP.
    pub fn header(&mut self, control: u16, segment: Segment, repeats: u8) -> Datagram {
        let header = Header { repeats, ..self.number(Kind::Header, control, segment) };
        let is_successor = segment.len > 0
            && self.last[usize::from(control)].replace((segment, repeats)).is_some_and(|(last, before)| {
                is_successor(&last, &segment, self.terms.counts) && repeats == self.terms.fec.min(before + 1)
            });
        if self.terms.guesses.is_some() && is_successor {
            compress(&header, self.terms.counts, &self.key)
        } else {
            encode(&header, &self.key)
        }
    }

    pub fn ack(&mut self, control: u16, segment: Segment) -> Datagram {
        encode(&self.number(Kind::Ack, control, segment), &self.key)
    }

    pub fn keepalive(&mut self, kind: Kind) -> Datagram {
        let number = self.number(kind, 0, Segment::default()).number;
        encode_keepalive(kind, number, &self.key)
    }

    pub fn repair(&mut self, repair: fec::Repair, coded: Coded) -> Vec<u8> {
        let (number, fec::Repair { key, first, .. }) = (self.take_number(), repair);
        Repair { number, key, first, names: coded.names, coded: coded.symbol.bytes() }.encode(&self.key)
    }

    fn number(&mut self, kind: Kind, control: u16, segment: Segment) -> Header {
        let number = self.take_number();
        Header { kind, control, number, segment, repeats: 0 }
    }

    fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }
}

fn is_successor(last: &Segment, next: &Segment, counts: bool) -> bool {
    let seq = last.seq.at(u64::from(last.len));
    let window = if counts { next.window } else { last.window };
    *next == Segment { seq, window, timestamps: next.timestamps, ..*last }
        && last.timestamps.is_some() == next.timestamps.is_some()
}

/// Reads the other end's datagrams.
pub struct Reader {
    key: SessionKey,
    terms: Terms,
    numbers: Numbers,
    controls: Vec<Context>,
}

/// What the datagrams of a control TCP leave out.
#[derive(Clone, Copy, Default)]
struct Context {
    /// The newest header packet that was read, and how many it repeats.
    last: Option<(Segment, u8)>,
    /// The number that never changes, and is therefore sent only with SYNs.
    other: Seq,
}

/// A datagram that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// `None` for a keepalive.
    pub segment: Option<(u16, Segment)>,
    /// Number of previous header packets that it repeats.
    pub repeats: u8,
    /// Whether nothing that was sent later has been read yet.
    pub is_newest: bool,
}

impl Reader {
    pub fn new(key: &SessionKey, terms: Terms) -> Reader {
        let controls = vec![Context::default(); usize::from(terms.controls)];
        Reader { key: key.clone(), terms, numbers: Numbers::default(), controls }
    }

    /// Reads a datagram that must be of one of these kinds.
    ///
    /// # Errors
    /// It is not of this session, was read before, or is too old.
    pub fn read(&mut self, datagram: &[u8], kinds: &[Kind]) -> Result<Heard, CircuitError> {
        let (kind, control) = Kind::of(datagram).ok_or(CircuitError::Length(datagram.len()))?;
        if !kinds.contains(&kind) {
            return Err(CircuitError::Field);
        }
        let near = self.numbers.next;
        if matches!(kind, Kind::Ping | Kind::Pong) {
            let number = decode_keepalive(datagram, near, &self.key)?;
            return Ok(Heard { segment: None, repeats: 0, is_newest: self.numbers.take(number)? });
        }
        let context = self.controls.get_mut(usize::from(control)).ok_or(CircuitError::Field)?;
        let Header { number, mut segment, repeats, .. } = match (kind, &context.last) {
            (Kind::Compressed, Some((last, repeats))) => {
                decompress(datagram, near, (last, *repeats), &self.terms, &self.key)?
            }
            (Kind::Compressed, None) => return Err(CircuitError::Tag),
            _ => decode(datagram, near, self.terms.vmss.into(), &self.key)?,
        };
        let is_newest = self.numbers.take(number)?;
        context.complete(kind, &mut segment);
        if is_newest && segment.len > 0 {
            context.last = Some((segment, repeats));
        }
        Ok(Heard { segment: Some((control, segment)), repeats, is_newest })
    }

    /// Reads a repair. Returns also whether it [is the newest](Heard::is_newest).
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn read_repair<'a>(&mut self, datagram: &'a [u8]) -> Result<(Repair<'a>, bool), CircuitError> {
        if !self.terms.repairs {
            return Err(CircuitError::Field);
        }
        let repair = Repair::decode(datagram, self.numbers.next, &self.key)?;
        let is_newest = self.numbers.take(repair.number)?;
        Ok((repair, is_newest))
    }

    /// Sets the acknowledgment number of all header packets to come.
    pub fn expect_ack(&mut self, control: u16, ack: Seq) {
        self.controls[usize::from(control)].other = ack;
    }
}

impl Context {
    fn complete(&mut self, kind: Kind, segment: &mut Segment) {
        let is_syn = segment.seq_len() > segment.len;
        match kind {
            Kind::Ack if is_syn => self.other = segment.seq.at(1),
            Kind::Ack => segment.seq = self.other,
            _ if is_syn => {}
            _ => segment.ack = self.other,
        }
    }
}

/// The datagrams that have been read, by number.
#[derive(Default)]
struct Numbers {
    /// One above the highest number.
    next: u64,
    /// Bit n: the number next − 1 − n has been read.
    heard: u64,
}

impl Numbers {
    /// Records a number. Returns whether it is the highest.
    fn take(&mut self, number: u64) -> Result<bool, CircuitError> {
        if number >= self.next {
            let ahead = number - self.next + 1;
            self.heard = if ahead < WINDOW { self.heard << ahead } else { 0 } | 1;
            self.next = number + 1;
            return Ok(true);
        }
        let behind = self.next - 1 - number;
        if behind >= WINDOW || self.heard >> behind & 1 == 1 {
            return Err(CircuitError::Tag);
        }
        self.heard |= 1 << behind;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// A number is taken at most once, and at least once while it is among the newest 64.
        #[test]
        fn no_number_counts_twice(steps in prop::collection::vec(-80i64..80, 1..200)) {
            let (mut numbers, mut taken) = (Numbers::default(), BTreeSet::new());
            for step in steps {
                let number = numbers.next.saturating_add_signed(step);
                let is_fresh = number + WINDOW >= numbers.next && taken.insert(number);
                prop_assert_eq!(numbers.take(number).is_ok(), is_fresh);
            }
        }
    }
}
