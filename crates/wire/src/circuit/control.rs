//! Header packets and their ACKs: a TCP header without what UDP says already and what never changes.

use super::tag::SessionKey;
use super::{CircuitError, Datagram, Kind, MAX_DATAGRAM, TAG_LEN, Terms, expand};
use crate::{Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps};

/// What may be said: no FIN and no RST.
const FLAGS: u16 = Flags::SYN.0 | Flags::PSH.0 | Flags::ACK.0 | Flags::ECE.0 | Flags::CWR.0 | Flags::ELN.0;
/// Beside the flags: it has timestamps; it stands for VMSS bytes of data.
const HAS_TIMESTAMPS: u16 = 0x1000;
const STANDS_FOR_DATA: u16 = 0x2000;
/// The two upper bits: how many header packets it repeats.
const REPEATS_SHIFT: u32 = 14;

const FIXED_LEN: usize = 12;
const TIMESTAMPS_LEN: usize = 8;
const SYN_LEN: usize = 8;
const SACK_LEN: usize = 8;

/// In a SYN, there is no window scale.
const NO_SCALE: u8 = 255;
/// RFC 7323 §2.3.
const MAX_WINDOW_SHIFT: u8 = 14;

/// Bytes in front of the timestamps of a compressed packet, and of the window between them.
const COMPRESSED_FIXED_LEN: usize = 3;
const WINDOW_LEN: usize = 2;

/// A packet of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// [`Kind::Header`] or [`Kind::Ack`].
    pub kind: Kind,
    /// Which control TCP.
    pub control: u16,
    /// Of the packets that this end has sent in the session.
    pub number: u64,
    /// Of its two numbers, one is on the wire but for a SYN: that of the direction. The other one is zero when it is read.
    pub segment: Segment,
    /// Header packets before it that it repeats, 0 to 3.
    pub repeats: u8,
}

/// The whole form.
pub fn encode(header: &Header, key: &SessionKey) -> Datagram {
    let Header { kind, control, number, segment, repeats } = header;
    let [own, other] = numbers(*kind, segment);
    let mut bits = segment.flags.0 & FLAGS;
    bits |= if segment.timestamps.is_some() { HAS_TIMESTAMPS } else { 0 };
    bits |= if segment.len > 0 { STANDS_FOR_DATA } else { 0 };
    bits |= u16::from(*repeats) << REPEATS_SHIFT;
    let mut datagram = Datagram::new();
    datagram.put(&[kind.first_byte(*control)]);
    datagram.put(&number.to_be_bytes()[5..]);
    datagram.put(&bits.to_be_bytes());
    datagram.put(&own.0.to_be_bytes());
    datagram.put(&segment.window.to_be_bytes());
    put_timestamps(&mut datagram, segment.timestamps);
    if segment.flags.contains(Flags::SYN) {
        put_syn(&mut datagram, other, &segment.syn);
    }
    let room = (MAX_DATAGRAM - TAG_LEN - datagram.as_slice().len()) / SACK_LEN;
    for (left, right) in segment.sack.as_slice().iter().take(room) {
        datagram.put(&left.0.to_be_bytes());
        datagram.put(&right.0.to_be_bytes());
    }
    let tag = key.tag(*number, datagram.as_slice());
    datagram.put(&tag);
    datagram
}

/// The form of a header packet that differs from the last one by its timestamps, by a sequence number that has moved by
/// whole VMSS, and, where it counts data, by its window. Its tag is that of the whole form.
pub fn compress(header: &Header, counts: bool, key: &SessionKey) -> Datagram {
    let whole = encode(header, key);
    let mut datagram = Datagram::new();
    datagram.put(&[Kind::Compressed.first_byte(header.control)]);
    datagram.put(&header.number.to_be_bytes()[6..]);
    if counts {
        datagram.put(&header.segment.window.to_be_bytes());
    }
    put_timestamps(&mut datagram, header.segment.timestamps);
    datagram.put(whole.tag());
    datagram
}

/// Reads the whole form. The packet's number is believed to be near to `near`; it stands for `vmss` bytes, if it does.
///
/// # Errors
/// It is not one, or not of this session.
pub fn decode(datagram: &[u8], near: u64, vmss: u32, key: &SessionKey) -> Result<Header, CircuitError> {
    let length = CircuitError::Length(datagram.len());
    let (kind, control) = Kind::of(datagram).ok_or(length)?;
    if !matches!(kind, Kind::Header | Kind::Ack) {
        return Err(CircuitError::Field);
    }
    let (body, tag) = datagram.split_last_chunk::<TAG_LEN>().ok_or(length)?;
    let (fixed, mut rest) = body.split_first_chunk::<FIXED_LEN>().ok_or(length)?;
    let number = expand(u64::from(be32(&[0, fixed[1], fixed[2], fixed[3]])), 24, near);
    if key.tag(number, body) != *tag {
        return Err(CircuitError::Tag);
    }
    let bits = u16::from_be_bytes([fixed[4], fixed[5]]);
    let (bits, repeats) = (bits & !(3 << REPEATS_SHIFT), (bits >> REPEATS_SHIFT) as u8);
    if bits & !(FLAGS | HAS_TIMESTAMPS | STANDS_FOR_DATA) != 0
        || repeats > 0 && (kind == Kind::Ack || bits & STANDS_FOR_DATA == 0)
    {
        return Err(CircuitError::Field);
    }
    let mut segment = Segment {
        flags: Flags(bits & FLAGS),
        window: u16::from_be_bytes([fixed[10], fixed[11]]),
        len: if bits & STANDS_FOR_DATA != 0 { vmss } else { 0 },
        ..Segment::default()
    };
    if bits & HAS_TIMESTAMPS != 0 {
        segment.timestamps = Some(take_timestamps(&mut rest).ok_or(length)?);
    }
    let mut other = Seq::default();
    if segment.flags.contains(Flags::SYN) {
        (other, segment.syn) = take_syn(&mut rest)?;
    }
    segment.sack = sack(rest).ok_or(length)?;
    let own = Seq(be32(&fixed[6..10]));
    (segment.seq, segment.ack) = if kind == Kind::Header { (own, other) } else { (other, own) };
    Ok(Header { kind, control, number, segment, repeats })
}

/// Reads a compressed header packet of the control TCP whose packet read before was `last`, which repeated `repeats`. By the session's `terms` it counts
/// data or not, and up to `guesses` header packets in between may have been lost: *twice* (§10 of the paper guesses one, and one
/// more); without guesses there is none.
///
/// # Errors
/// It is not one, not of this session, or too much was lost before it.
pub fn decompress(
    datagram: &[u8],
    near: u64,
    (last, repeats): (&Segment, u8),
    terms: &Terms,
    key: &SessionKey,
) -> Result<Header, CircuitError> {
    let length = CircuitError::Length(datagram.len());
    let (body, tag) = datagram.split_last_chunk::<TAG_LEN>().ok_or(length)?;
    let (fixed, mut rest) = body.split_first_chunk::<COMPRESSED_FIXED_LEN>().ok_or(length)?;
    let (Some((Kind::Compressed, control)), Some(guesses)) = (Kind::of(fixed), terms.guesses) else {
        return Err(CircuitError::Field);
    };
    let window = match terms.counts {
        true => take_window(&mut rest).ok_or(length)?,
        false => last.window,
    };
    let timestamps = last.timestamps.and_then(|_| take_timestamps(&mut rest));
    if !rest.is_empty() || timestamps.is_some() != last.timestamps.is_some() {
        return Err(length);
    }
    let number = expand(u64::from(u16::from_be_bytes([fixed[1], fixed[2]])), 16, near);
    (1..=1 + guesses)
        .map(|packets| {
            let seq = last.seq.at(u64::from(last.len) * u64::from(packets));
            let repeats = terms.fec.min(repeats + packets);
            let segment = Segment { seq, window, timestamps, ..*last };
            Header { kind: Kind::Header, control, number, segment, repeats }
        })
        .find(|header| encode(header, key).tag() == tag)
        .ok_or(CircuitError::Tag)
}

/// That of the direction, and the other one.
fn numbers(kind: Kind, segment: &Segment) -> [Seq; 2] {
    if kind == Kind::Ack { [segment.ack, segment.seq] } else { [segment.seq, segment.ack] }
}

fn put_timestamps(datagram: &mut Datagram, timestamps: Option<Timestamps>) {
    if let Some(Timestamps { value, echo }) = timestamps {
        datagram.put(&value.to_be_bytes());
        datagram.put(&echo.to_be_bytes());
    }
}

fn take_timestamps(rest: &mut &[u8]) -> Option<Timestamps> {
    let (timestamps, behind) = rest.split_first_chunk::<TIMESTAMPS_LEN>()?;
    *rest = behind;
    Some(Timestamps { value: be32(&timestamps[..4]), echo: be32(&timestamps[4..]) })
}

fn take_window(rest: &mut &[u8]) -> Option<u16> {
    let (window, behind) = rest.split_first_chunk::<WINDOW_LEN>()?;
    *rest = behind;
    Some(u16::from_be_bytes(*window))
}

fn put_syn(datagram: &mut Datagram, other: Seq, syn: &SynOptions) {
    datagram.put(&other.0.to_be_bytes());
    datagram.put(&syn.mss.unwrap_or(0).to_be_bytes());
    datagram.put(&[syn.window_scale.unwrap_or(NO_SCALE), u8::from(syn.sack_permitted)]);
}

fn take_syn(rest: &mut &[u8]) -> Result<(Seq, SynOptions), CircuitError> {
    let length = CircuitError::Length(rest.len());
    let (syn, behind) = rest.split_first_chunk::<SYN_LEN>().ok_or(length)?;
    *rest = behind;
    let mss = u16::from_be_bytes([syn[4], syn[5]]);
    let (scale, sack_permitted) = (syn[6], syn[7]);
    if scale > MAX_WINDOW_SHIFT && scale != NO_SCALE || sack_permitted > 1 {
        return Err(CircuitError::Field);
    }
    let options = SynOptions {
        mss: (mss != 0).then_some(mss),
        window_scale: (scale != NO_SCALE).then_some(scale),
        sack_permitted: sack_permitted == 1,
    };
    Ok((Seq(be32(&syn[..4])), options))
}

fn sack(rest: &[u8]) -> Option<SackBlocks> {
    let (blocks, []) = rest.as_chunks::<SACK_LEN>() else { return None };
    let mut sack = SackBlocks::default();
    if blocks.len() > 4 {
        return None;
    }
    for block in blocks {
        sack.push(Seq(be32(&block[..4])), Seq(be32(&block[4..])));
    }
    Some(sack)
}

/// Of four bytes.
fn be32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte))
}
