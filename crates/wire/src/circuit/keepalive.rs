//! PING and PONG: is the other end still there?

use super::tag::SessionKey;
use super::{CircuitError, Datagram, Kind, TAG_LEN, expand};
use crate::words::be32;

const NUMBER_AT: usize = 1;
const NUMBER_LEN: usize = 3;
const LEN: usize = NUMBER_AT + NUMBER_LEN + TAG_LEN;

pub fn encode_keepalive(kind: Kind, number: u64, key: &SessionKey) -> Datagram {
    let mut datagram = Datagram::new();
    datagram.put(&[kind.first_byte(0)]);
    datagram.put(&number.to_be_bytes()[8 - NUMBER_LEN..]);
    let tag = key.tag(number, datagram.as_slice());
    datagram.put(&tag);
    datagram
}

/// Returns the packet's number, which is taken to be near `near`.
///
/// # Errors
/// The datagram is no keepalive, or not of this session.
pub fn decode_keepalive(datagram: &[u8], near: u64, key: &SessionKey) -> Result<u64, CircuitError> {
    let bytes: &[u8; LEN] = datagram.try_into().map_err(|_| CircuitError::Length(datagram.len()))?;
    let number = expand(u64::from(be32(bytes, 0) & 0xff_ffff), 24, near);
    let is_good = key.tag(number, &bytes[..LEN - TAG_LEN]) == bytes[LEN - TAG_LEN..];
    is_good.then_some(number).ok_or(CircuitError::Tag)
}
