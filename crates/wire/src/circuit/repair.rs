//! Repairs: linear combinations of data packets, with the names of those.
//!
//! Data packets carry no number, so a repair names each by a fingerprint of what both ends see of it.

use super::tag::SessionKey;
use super::{CircuitError, Kind, TAG_LEN, expand};
use crate::words::{be16, be32};

/// Data packets that a repair covers at most.
pub const MAX_SOURCES: usize = 32;

/// Bytes of the names in a repair, each.
pub const FINGERPRINT_LEN: usize = 4;

/// What a repair has before the names: kind and the datagram's number, and the repair payload ID of RFC 8681 §4.1.3.
const FIXED_LEN: usize = 12;

/// Bytes of a repair beside the names and what is coded.
pub const REPAIR_LEN: usize = FIXED_LEN + TAG_LEN;

/// The length in front of a coded packet.
const CODED_AT_LEAST: usize = 2;

/// The name of a data packet in a session: bits of a keyed hash over what does not change on the way.
pub type Fingerprint = u32;

/// A linear combination of the data packets with these names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair<'a> {
    /// Counts the datagrams that this end has sent in the session.
    pub number: u64,
    /// From which both ends draw the coefficients.
    pub key: u16,
    /// Number of the first data packet; the others follow it.
    pub first: u32,
    /// From 1 to [`MAX_SOURCES`], in the order of their numbers.
    pub names: Vec<Fingerprint>,
    /// The combination, of at least two bytes.
    pub coded: &'a [u8],
}

impl Repair<'_> {
    pub fn encode(&self, key: &SessionKey) -> Vec<u8> {
        let Repair { number, names, coded, .. } = self;
        let mut datagram = Vec::with_capacity(REPAIR_LEN + FINGERPRINT_LEN * names.len() + coded.len());
        datagram.push(Kind::Repair.first_byte(0));
        datagram.extend(&number.to_be_bytes()[5..]);
        datagram.extend(self.key.to_be_bytes());
        datagram.extend((names.len() as u16).to_be_bytes());
        datagram.extend(self.first.to_be_bytes());
        names.iter().for_each(|name| datagram.extend(name.to_be_bytes()));
        datagram.extend(*coded);
        datagram.extend(key.tag(*number, &datagram));
        datagram
    }

    /// Reads a datagram whose number is taken to be near `near`.
    ///
    /// # Errors
    /// It is no repair, or not of this session.
    pub fn decode<'a>(datagram: &'a [u8], near: u64, key: &SessionKey) -> Result<Repair<'a>, CircuitError> {
        let length = CircuitError::Length(datagram.len());
        let (body, tag) = datagram.split_last_chunk::<TAG_LEN>().ok_or(length)?;
        let (fixed, rest) = body.split_first_chunk::<FIXED_LEN>().ok_or(length)?;
        let count = usize::from(be16(fixed, 6));
        if fixed[0] != Kind::Repair.first_byte(0) || !(1..=MAX_SOURCES).contains(&count) {
            return Err(CircuitError::Field);
        }
        let (names, coded) = rest.split_at_checked(FINGERPRINT_LEN * count).ok_or(length)?;
        if coded.len() < CODED_AT_LEAST {
            return Err(length);
        }
        let number = expand(u64::from(be32(fixed, 0) & 0xff_ffff), 24, near);
        if key.tag(number, body) != *tag {
            return Err(CircuitError::Tag);
        }
        let (names, _) = names.as_chunks::<FINGERPRINT_LEN>();
        let names = names.iter().map(|name| Fingerprint::from_be_bytes(*name)).collect();
        Ok(Repair { number, key: be16(fixed, 4), first: be32(fixed, 8), names, coded })
    }
}
