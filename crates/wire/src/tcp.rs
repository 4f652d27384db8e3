//! TCP headers and options (RFC 9293 §3.1, RFC 2018, RFC 7323, RFC 7413).

use crate::checksum::Sum;
use crate::header::Header;
use crate::segment::{FastOpen, Flags, SackBlocks, Segment, SynOptions, Timestamps};
use crate::seq::Seq;
use crate::words::{be16, be32};
use std::ops::Range;

pub const MIN_HEADER_LEN: usize = 20;
pub const MAX_HEADER_LEN: usize = 60;
const MAX_OPTIONS_LEN: usize = MAX_HEADER_LEN - MIN_HEADER_LEN;

const END_OF_LIST: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const FAST_OPEN: u8 = 34;

/// RFC 9293 §3.1: reserved bits that are not in use are zero when sent and ignored when received.
const FLAGS: u16 = 0xff | Flags::ELN.0;

/// RFC 7323 §2.3: a larger shift count counts as this one.
pub(crate) const MAX_WINDOW_SHIFT: u8 = 14;

/// Source and destination port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Ports {
    pub source: u16,
    pub destination: u16,
}

impl Ports {
    /// The ports of a packet in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Ports {
        Ports { source: self.destination, destination: self.source }
    }
}

/// Why a TCP segment cannot be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TcpError {
    #[error("TCP segment cut short: {0} bytes")]
    Truncated(usize),
    #[error("TCP data offset of {0} bytes is below 20 or beyond the segment")]
    DataOffset(usize),
    #[error("wrong TCP checksum")]
    Checksum,
    #[error("TCP option {kind} has an illegal length")]
    OptionLength { kind: u8 },
    #[error("a header of {need} bytes does not fit in a buffer of {room}")]
    Buffer { need: usize, room: usize },
}

/// Length in bytes of the header that [`encode`] writes for `segment`, options included.
#[inline]
pub fn header_len(segment: &Segment) -> usize {
    let is_syn = segment.flags.contains(Flags::SYN);
    let syn = if is_syn { syn_options_len(segment) } else { 0 };
    len_with_sack(timestamps_len(segment.timestamps) + syn, segment.sack.as_slice().len())
}

/// Length in bytes of the header of a segment that is no SYN and has this number of SACK blocks.
#[inline]
pub fn plain_header_len(header: &Header, blocks: usize) -> usize {
    len_with_sack(timestamps_len(header.timestamps()), blocks)
}

#[inline]
fn timestamps_len(timestamps: Option<Timestamps>) -> usize {
    if timestamps.is_some() { 12 } else { 0 }
}

#[inline]
fn len_with_sack(options: usize, blocks: usize) -> usize {
    if blocks == 0 {
        return MIN_HEADER_LEN + options;
    }
    let room = (MAX_OPTIONS_LEN - options).saturating_sub(4) / 8;
    match blocks.min(room) {
        0 => MIN_HEADER_LEN + options,
        blocks => MIN_HEADER_LEN + options + 4 + 8 * blocks,
    }
}

/// Length of a SYN's options other than its timestamps. SACK-permitted takes the place of the timestamps' padding.
fn syn_options_len(segment: &Segment) -> usize {
    let syn = &segment.syn;
    let alone = syn.sack_permitted && segment.timestamps.is_none();
    let others =
        usize::from(syn.mss.is_some()) + usize::from(alone) + usize::from(syn.window_scale.is_some());
    4 * others + syn.fast_open.octets().next_multiple_of(4)
}

/// Writes the header of `segment` and returns its length in bytes. `sum` is the sum over pseudo header and payload.
///
/// The options of a SYN are written only on a SYN. As many SACK blocks are written as fit beside the other options:
/// three with timestamps.
///
/// # Errors
/// `buffer` has no room for the header.
pub fn encode(segment: &Segment, ports: Ports, sum: Sum, buffer: &mut [u8]) -> Result<usize, TcpError> {
    let options = Options::of(segment);
    let (need, room) = (MIN_HEADER_LEN + options.as_slice().len(), buffer.len());
    debug_assert_eq!(need, header_len(segment));
    let header = buffer.get_mut(..need).ok_or(TcpError::Buffer { need, room })?;
    header[..2].copy_from_slice(&ports.source.to_be_bytes());
    header[2..4].copy_from_slice(&ports.destination.to_be_bytes());
    header[4..8].copy_from_slice(&segment.seq.0.to_be_bytes());
    header[8..12].copy_from_slice(&segment.ack.0.to_be_bytes());
    let [reserved, control] = (segment.flags.0 & FLAGS).to_be_bytes();
    header[12] = (need as u8 / 4) << 4 | reserved;
    header[13] = control;
    header[14..16].copy_from_slice(&segment.window.to_be_bytes());
    header[16..20].fill(0);
    header[20..].copy_from_slice(options.as_slice());
    let checksum = (sum + Sum::of(header)).checksum();
    header[16..18].copy_from_slice(&checksum.to_be_bytes());
    Ok(need)
}

/// Reads the segment that fills `bytes`. Returns its ports, the segment, and the length of its header in bytes.
/// `pseudo` is the sum over the pseudo header.
///
/// Unknown options are skipped, and so are the options of a SYN on other segments.
///
/// # Errors
/// The segment is wrong; see [`TcpError`].
pub fn decode(bytes: &[u8], pseudo: Sum) -> Result<(Ports, Segment, usize), TcpError> {
    decode_if(bytes, || (pseudo + Sum::of(bytes)).is_good())
}

/// As [`decode`], but does not check the checksum.
///
/// # Errors
/// As [`decode`].
pub fn decode_vouched_for(bytes: &[u8]) -> Result<(Ports, Segment, usize), TcpError> {
    decode_if(bytes, || true)
}

fn decode_if(bytes: &[u8], is_good: impl FnOnce() -> bool) -> Result<(Ports, Segment, usize), TcpError> {
    let (ports, mut segment, header_len) = decode_fixed(bytes)?;
    let options = bytes.get(MIN_HEADER_LEN..header_len).ok_or(TcpError::DataOffset(header_len))?;
    if !is_good() {
        return Err(TcpError::Checksum);
    }
    segment.len = (bytes.len() - header_len) as u32;
    decode_options(options, &mut segment)?;
    Ok((ports, without_stray_syn_options(segment), header_len))
}

/// Reads as much of a header as a capture has kept. Returns its ports, the segment, and the length in bytes that the
/// header claims. The payload's length is left at zero. The checksum is not checked, since network cards fill it in
/// behind the tap. Options end at the first that is cut short or illegal.
///
/// # Errors
/// There are fewer than 20 bytes, or the data offset is below 20.
pub fn decode_captured(bytes: &[u8]) -> Result<(Ports, Segment, usize), TcpError> {
    let (ports, mut segment, header_len) = decode_fixed(bytes)?;
    if header_len < MIN_HEADER_LEN {
        return Err(TcpError::DataOffset(header_len));
    }
    let _incomplete = decode_options(&bytes[MIN_HEADER_LEN..header_len.min(bytes.len())], &mut segment);
    Ok((ports, without_stray_syn_options(segment), header_len))
}

/// Reads the part that every header has. Returns the ports, the segment, and the length that the header claims.
fn decode_fixed(bytes: &[u8]) -> Result<(Ports, Segment, usize), TcpError> {
    let fixed = bytes.first_chunk::<MIN_HEADER_LEN>().ok_or(TcpError::Truncated(bytes.len()))?;
    let be16 = |at| be16(fixed, at);
    let segment = Segment {
        seq: Seq(be32(fixed, 4)),
        ack: Seq(be32(fixed, 8)),
        flags: Flags(be16(12) & FLAGS),
        window: be16(14),
        ..Segment::default()
    };
    Ok((Ports { source: be16(0), destination: be16(2) }, segment, usize::from(fixed[12] >> 4) * 4))
}

fn without_stray_syn_options(mut segment: Segment) -> Segment {
    if !segment.flags.contains(Flags::SYN) {
        segment.syn = SynOptions::default();
    }
    segment
}

/// The options of a segment as written, aligned to 32 bits by NOPs in front (RFC 7323 appendix A).
struct Options {
    len: usize,
    bytes: [u8; MAX_OPTIONS_LEN],
}

impl Options {
    fn of(segment: &Segment) -> Options {
        let mut options = Options { len: 0, bytes: [0; MAX_OPTIONS_LEN] };
        let syn = if segment.flags.contains(Flags::SYN) { segment.syn } else { SynOptions::default() };
        if let Some(mss) = syn.mss {
            options.push(&[MSS, 4]);
            options.push(&mss.to_be_bytes());
        }
        // SACK-permitted takes the place of the two NOPs before the timestamps.
        match (syn.sack_permitted, segment.timestamps) {
            (true, _) => options.push(&[SACK_PERMITTED, 2]),
            (false, Some(_)) => options.push(&[NOP, NOP]),
            (false, None) => {}
        }
        match segment.timestamps {
            Some(timestamps) => options.push_timestamps(timestamps),
            None if syn.sack_permitted => options.push(&[NOP, NOP]),
            None => {}
        }
        if let Some(shift) = syn.window_scale {
            options.push(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        options.push_fast_open(syn.fast_open);
        options.push_sack(&segment.sack);
        options
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_timestamps(&mut self, timestamps: Timestamps) {
        self.push(&[TIMESTAMPS, 10]);
        self.push(&timestamps.value.to_be_bytes());
        self.push(&timestamps.echo.to_be_bytes());
    }

    /// The cookie is all zeros, until [`set_cookie`].
    fn push_fast_open(&mut self, option: FastOpen) {
        if option.is_absent() {
            return;
        }
        let cookie = [0; 16];
        let padding = option.octets().next_multiple_of(4) - option.octets();
        self.push(&[NOP; 2][..padding]);
        self.push(&[FAST_OPEN, option.octets() as u8]);
        self.push(&cookie[..option.octets() - 2]);
    }

    fn push_sack(&mut self, blocks: &SackBlocks) {
        let room = (MAX_OPTIONS_LEN - self.len).saturating_sub(4) / 8;
        let blocks = &blocks.as_slice()[..room.min(blocks.as_slice().len())];
        if blocks.is_empty() {
            return;
        }
        self.push(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            self.push(&left.0.to_be_bytes());
            self.push(&right.0.to_be_bytes());
        }
    }
}

/// The Fast Open cookie of the SYN whose header, as long as it claims to be, is `header` (RFC 7413 §4.1.1).
pub fn cookie(header: &[u8]) -> Option<&[u8]> {
    header.get(cookie_place(header)?)
}

/// Writes the Fast Open cookie into a SYN that [`encode`] has written with an option for one. Returns whether it was one of that
/// length.
pub fn set_cookie(header: &mut [u8], cookie: &[u8]) -> bool {
    let Some(place) = cookie_place(header).filter(|place| place.len() == cookie.len()) else { return false };
    let change = Sum::of(cookie) + Sum::of(&header[place.clone()]).negated();
    header[place].copy_from_slice(cookie);
    let before = u16::from_be_bytes([header[16], header[17]]);
    header[16..18].copy_from_slice(&(change + Sum::of(&(!before).to_be_bytes())).checksum().to_be_bytes());
    true
}

/// Where the Fast Open cookie lies in a header, if its options can be read.
fn cookie_place(header: &[u8]) -> Option<Range<usize>> {
    let mut at = MIN_HEADER_LEN;
    loop {
        match *header.get(at)? {
            END_OF_LIST => return None,
            NOP => at += 1,
            kind => {
                let end = at + usize::from(*header.get(at + 1)?);
                if kind == FAST_OPEN {
                    return (FastOpen::cookie(end.checked_sub(at + 2)?).is_some() && end <= header.len())
                        .then_some(at + 2..end);
                }
                at = (end >= at + 2).then_some(end)?;
            }
        }
    }
}

fn decode_options(mut options: &[u8], segment: &mut Segment) -> Result<(), TcpError> {
    while let Some((&kind, rest)) = options.split_first() {
        match kind {
            END_OF_LIST => break,
            NOP => options = rest,
            _ => {
                let illegal = TcpError::OptionLength { kind };
                let len = usize::from(*rest.first().ok_or(illegal)?);
                // RFC 9293 §3.1, MUST-7: be prepared for an illegal option length.
                let value = options.get(2..len).ok_or(illegal)?;
                decode_option(kind, value, segment).ok_or(illegal)?;
                options = &options[len..];
            }
        }
    }
    Ok(())
}

/// Returns `None` if the option is known and has the wrong length.
fn decode_option(kind: u8, value: &[u8], segment: &mut Segment) -> Option<()> {
    match kind {
        MSS => segment.syn.mss = Some(u16::from_be_bytes(value.try_into().ok()?)),
        WINDOW_SCALE => {
            let [shift] = value.try_into().ok()?;
            segment.syn.window_scale = Some(MAX_WINDOW_SHIFT.min(shift));
        }
        SACK_PERMITTED if value.is_empty() => segment.syn.sack_permitted = true,
        SACK_PERMITTED => return None,
        SACK => {
            let (blocks, []) = value.as_chunks::<8>() else { return None };
            for block in blocks {
                segment.sack.push(Seq(be32(block, 0)), Seq(be32(block, 4)));
            }
        }
        TIMESTAMPS => {
            let value: &[u8; 8] = value.try_into().ok()?;
            segment.timestamps = Some(Timestamps { value: be32(value, 0), echo: be32(value, 4) });
        }
        // RFC 7413 §4.1.1: an option of another length is ignored.
        FAST_OPEN if value.is_empty() => segment.syn.fast_open = FastOpen::REQUEST,
        FAST_OPEN => segment.syn.fast_open = FastOpen::cookie(value.len()).unwrap_or_default(),
        _ => {}
    }
    Some(())
}
