//! Header packets and their ACKs: TCP headers without what UDP's header has already and what never changes.

use super::tag::SessionKey;
use super::{CircuitError, Datagram, Kind, MAX_DATAGRAM, TAG_LEN, Terms, expand, take};
use crate::tcp::MAX_WINDOW_SHIFT;
use crate::words::{be16, be32};
use crate::{Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps};

/// The allowed control bits: all but FIN and RST.
const FLAGS: u16 = Flags::SYN.0 | Flags::PSH.0 | Flags::ACK.0 | Flags::ECE.0 | Flags::CWR.0 | Flags::ELN.0;
/// Above the control bits: does the packet have timestamps?
const HAS_TIMESTAMPS: u16 = 0x1000;
/// Does it stand for VMSS bytes of data?
const STANDS_FOR_DATA: u16 = 0x2000;
/// The two upper bits count the header packets that it repeats.
const REPEATS_SHIFT: u32 = 14;

const FIXED_LEN: usize = 12;
const SACK_LEN: usize = 8;

/// Means that a SYN has no window scale.
const NO_SCALE: u8 = 255;

/// Bytes in front of the window and the timestamps of a compressed packet.
const COMPRESSED_FIXED_LEN: usize = 3;

/// A packet of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// [`Kind::Header`] or [`Kind::Ack`].
    pub kind: Kind,
    /// The number of its control TCP.
    pub control: u16,
    /// Counts the packets that this end has sent in the session.
    pub number: u64,
    /// Only a SYN has both of its numbers on the wire. Other header packets have only SEQ, other ACKs only ACK; the
    /// other number is read as zero.
    pub segment: Segment,
    /// How many header packets before it this one repeats, 0 to 3.
    pub repeats: u8,
}

/// Writes the whole form.
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

/// Writes the compressed form of a header packet. It may differ from the last one only in its timestamps, in a sequence
/// number that has moved by multiples of VMSS, and, if it `counts` data, in its window. The tag is that of the whole
/// form.
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

/// Reads the whole form. The packet's number is taken to be near `near`. A packet that stands for data stands for
/// `vmss` bytes.
///
/// # Errors
/// The datagram is no such packet, or not of this session.
pub fn decode(datagram: &[u8], near: u64, vmss: u32, key: &SessionKey) -> Result<Header, CircuitError> {
    let length = CircuitError::Length(datagram.len());
    let (kind, control) = Kind::of(datagram).ok_or(length)?;
    if !matches!(kind, Kind::Header | Kind::Ack) {
        return Err(CircuitError::Field);
    }
    let (body, tag) = datagram.split_last_chunk::<TAG_LEN>().ok_or(length)?;
    let (fixed, mut rest) = body.split_first_chunk::<FIXED_LEN>().ok_or(length)?;
    let number = expand(u64::from(be32(fixed, 0) & 0xff_ffff), 24, near);
    if key.tag(number, body) != *tag {
        return Err(CircuitError::Tag);
    }
    let bits = be16(fixed, 4);
    let (bits, repeats) = (bits & !(3 << REPEATS_SHIFT), (bits >> REPEATS_SHIFT) as u8);
    if bits & !(FLAGS | HAS_TIMESTAMPS | STANDS_FOR_DATA) != 0
        || repeats > 0 && (kind == Kind::Ack || bits & STANDS_FOR_DATA == 0)
    {
        return Err(CircuitError::Field);
    }
    let mut segment = Segment {
        flags: Flags(bits & FLAGS),
        window: be16(fixed, 10),
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
    let own = Seq(be32(fixed, 6));
    (segment.seq, segment.ack) = if kind == Kind::Header { (own, other) } else { (other, own) };
    Ok(Header { kind, control, number, segment, repeats })
}

/// Reads a compressed header packet. The packet that was read before from the same control TCP is `last`, and repeated
/// `repeats`. The session's `terms` say whether header packets count data, and how many may have been lost in between
/// (*twice*: §10 of the paper guesses one, and one more); without guesses no header packet is compressed.
///
/// # Errors
/// The datagram is no such packet, not of this session, or too many packets were lost before it.
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
        true => u16::from_be_bytes(*take(&mut rest).ok_or(length)?),
        false => last.window,
    };
    let timestamps = last.timestamps.and_then(|_| take_timestamps(&mut rest));
    if !rest.is_empty() || timestamps.is_some() != last.timestamps.is_some() {
        return Err(length);
    }
    let number = expand(u64::from(be16(fixed, 1)), 16, near);
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

/// The number that is always on the wire in this direction, and the other one.
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
    let bytes: &[u8; 8] = take(rest)?;
    Some(Timestamps { value: be32(bytes, 0), echo: be32(bytes, 4) })
}

fn put_syn(datagram: &mut Datagram, other: Seq, syn: &SynOptions) {
    datagram.put(&other.0.to_be_bytes());
    datagram.put(&syn.mss.unwrap_or(0).to_be_bytes());
    datagram.put(&[syn.window_scale.unwrap_or(NO_SCALE), u8::from(syn.sack_permitted)]);
}

fn take_syn(rest: &mut &[u8]) -> Result<(Seq, SynOptions), CircuitError> {
    let length = CircuitError::Length(rest.len());
    let syn: &[u8; 8] = take(rest).ok_or(length)?;
    let mss = be16(syn, 4);
    let (scale, sack_permitted) = (syn[6], syn[7]);
    if scale > MAX_WINDOW_SHIFT && scale != NO_SCALE || sack_permitted > 1 {
        return Err(CircuitError::Field);
    }
    let options = SynOptions {
        mss: (mss != 0).then_some(mss),
        window_scale: (scale != NO_SCALE).then_some(scale),
        sack_permitted: sack_permitted == 1,
        ..SynOptions::default()
    };
    Ok((Seq(be32(syn, 0)), options))
}

fn sack(rest: &[u8]) -> Option<SackBlocks> {
    let (blocks, []) = rest.as_chunks::<SACK_LEN>() else { return None };
    let mut sack = SackBlocks::default();
    if blocks.len() > 4 {
        return None;
    }
    for block in blocks {
        sack.push(Seq(be32(block, 0)), Seq(be32(block, 4)));
    }
    Some(sack)
}
