//! IEEE 802.11 frames, and the headers that a monitoring interface puts in front of them.

use super::{Content, End, Next, Step, Walk, named};
use airtcp_wire::Rate;

/// What a data frame in the air shows beside its content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Air {
    /// It was sent again, because nobody acknowledged it: the link's own ARQ.
    pub is_retry: bool,
    pub is_encrypted: bool,
    /// The rate at which its bits were sent.
    pub rate: Option<Rate>,
}

/// What a monitoring interface says of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Monitored {
    rate: Option<Rate>,
    /// The header of the frame is padded to a multiple of four bytes.
    is_padded: bool,
    /// The frame check sequence is wrong.
    is_damaged: bool,
}

impl Walk<'_> {
    pub(super) fn monitor(&mut self, link_type: u16, at: usize) -> Step {
        const AVS: [u8; 2] = [0x80, 0x21];
        let len = match link_type {
            127 => {
                let len = usize::from(self.le16(at + 2)?);
                self.monitored = radiotap(self.data.get(at..at + len).ok_or(End::Cut)?);
                len
            }
            192 => return Ok((Next::Link(self.le16(at + 4)?), at + usize::from(self.le16(at + 2)?))),
            _ if self.array(at)? == AVS => usize::from(self.be16(at + 6)?),
            // Prism's header has the byte order of the host that wrote it.
            _ => match self.array(at + 4)? {
                [low, high, 0, 0] | [0, 0, high, low] => usize::from(u16::from_le_bytes([low, high])),
                _ => return Err(End::Other(Content::Damaged)),
            },
        };
        Ok((Next::Link(105), at + len))
    }

    /// IEEE 802.11-2020 §9.2: frame control, addresses, and in data frames LLC behind them.
    pub(super) fn wireless(&mut self, at: usize) -> Step {
        const DATA: u8 = 2;
        const NO_DATA: u8 = 0x40;
        const QOS: u8 = 0x80;
        const BOTH_WAYS: u8 = 3;
        const RETRY: u8 = 8;
        const PROTECTED: u8 = 0x40;
        const ORDER: u8 = 0x80;
        let [control, flags] = self.array(at)?;
        if self.monitored.is_damaged {
            return named("802.11 frames damaged in the air");
        }
        match control >> 2 & 3 {
            DATA if control & NO_DATA != 0 => return named("802.11 frames without data"),
            DATA => {}
            0 => return named("802.11 management"),
            _ => return named("802.11 control"),
        }
        let is_encrypted = flags & PROTECTED != 0;
        // Nobody acknowledges, and so nobody repeats, what goes to a group.
        if self.byte(at + 4)? & 1 == 0 {
            let (is_retry, rate) = (flags & RETRY != 0, self.monitored.rate);
            self.air = Some(Air { is_retry, is_encrypted, rate });
        }
        if is_encrypted {
            return named("encrypted 802.11 data");
        }
        let mut len = 24 + if flags & BOTH_WAYS == BOTH_WAYS { 6 } else { 0 };
        if control & QOS != 0 {
            const AGGREGATED: u8 = 0x80;
            if self.byte(at + len)? & AGGREGATED != 0 {
                return named("802.11 frames with several packets (A-MSDU)");
            }
            len += 2 + if flags & ORDER != 0 { 4 } else { 0 };
        }
        // Only the first fragment has the headers of what it carries.
        if self.le16(at + 22)? & 0xf != 0 {
            return named("later fragments");
        }
        let len = if self.monitored.is_padded { len.next_multiple_of(4) } else { len };
        Ok((Next::Llc, at + len))
    }

    fn le16(&self, at: usize) -> Result<u16, End> {
        Ok(u16::from_le_bytes(self.array(at)?))
    }
}

/// Reads radiotap's fields of the first namespace: each is aligned to its own size within the header.
fn radiotap(header: &[u8]) -> Monitored {
    /// Length and alignment of each field, by its bit in the mask of those present.
    const FIELDS: [(usize, usize); 24] = [
        (8, 8),
        (1, 1),
        (1, 1),
        (4, 2),
        (2, 2),
        (1, 1),
        (1, 1),
        (2, 2),
        (2, 2),
        (2, 2),
        (1, 1),
        (1, 1),
        (1, 1),
        (1, 1),
        (2, 2),
        (2, 2),
        (1, 1),
        (1, 1),
        (8, 4),
        (3, 1),
        (8, 4),
        (12, 2),
        (12, 8),
        (12, 2),
    ];
    const FLAGS: usize = 1;
    const RATE: usize = 2;
    const MCS: usize = 19;
    const VHT: usize = 21;
    const HE: usize = 23;
    const MORE: u32 = 1 << 31;

    let mut monitored = Monitored::default();
    let word =
        |at: usize| header.get(at..).and_then(<[u8]>::first_chunk).map(|&bytes| u32::from_le_bytes(bytes));
    let Some(present) = word(4) else { return monitored };
    let mut at = 8;
    let mut mask = present;
    while mask & MORE != 0 {
        let Some(next) = word(at) else { return monitored };
        (mask, at) = (next, at + 4);
    }
    for (bit, (len, align)) in FIELDS.into_iter().enumerate() {
        if present >> bit & 1 == 0 {
            continue;
        }
        at = at.next_multiple_of(align);
        let Some(field) = header.get(at..at + len) else { break };
        at += len;
        match bit {
            FLAGS => {
                monitored.is_padded = field[0] & 0x20 != 0;
                monitored.is_damaged = field[0] & 0x40 != 0;
            }
            RATE if field[0] < 0x80 => monitored.rate = Some(Rate(u64::from(field[0]) * 500_000)),
            MCS => monitored.rate = high_throughput(field),
            VHT => monitored.rate = very_high_throughput(field),
            HE => monitored.rate = high_efficiency(field),
            _ => {}
        }
    }
    monitored
}

/// Subcarriers that carry data, by channel width from 20 MHz on, up to 802.11ac and from 802.11ax on.
const SUBCARRIERS: [u64; 4] = [52, 108, 234, 468];
const SUBCARRIERS_AX: [u64; 4] = [234, 468, 980, 1960];

/// Bits of a subcarrier's symbol times six, after coding.
const SIXTHS: [u64; 12] = [3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50];

/// The rate of one index of modulation and coding over some streams; a symbol lasts `tenths` of a microsecond.
fn rate_of(index: usize, subcarriers: u64, streams: u64, tenths: u64) -> Option<Rate> {
    let bits = subcarriers * SIXTHS.get(index)? * streams;
    (bits > 0).then(|| Rate(bits * 10_000_000 / (6 * tenths)))
}

/// 802.11n: what is known, flags, index; eight indices a stream.
fn high_throughput(field: &[u8]) -> Option<Rate> {
    let (known, flags, index) = (field[0], field[1], field[2]);
    let is_wide = flags & 3 == 1;
    let tenths = if flags & 4 != 0 { 36 } else { 40 };
    let streams = u64::from(index / 8 + 1);
    (known & 7 == 7 && index < 32)
        .then(|| rate_of(usize::from(index % 8), SUBCARRIERS[usize::from(is_wide)], streams, tenths))?
}

/// 802.11ac: flags, width, then index and streams of the first user.
fn very_high_throughput(field: &[u8]) -> Option<Rate> {
    let width = match field[3] {
        0 => 0,
        1..=3 => 1,
        4..=10 => 2,
        _ => 3,
    };
    let tenths = if field[2] & 4 != 0 { 36 } else { 40 };
    rate_of(usize::from(field[4] >> 4), SUBCARRIERS[width], u64::from(field[4] & 0xf), tenths)
}

/// 802.11ax: six words; the index is in the third, width and guard interval in the fifth, streams in the sixth.
fn high_efficiency(field: &[u8]) -> Option<Rate> {
    let (index, width) = (field[5] & 0xf, usize::from(field[8] & 0xf));
    let tenths = match field[8] >> 4 & 3 {
        0 => 136,
        1 => 144,
        _ => 160,
    };
    rate_of(usize::from(index), *SUBCARRIERS_AX.get(width)?, u64::from(field[10] & 0xf), tenths)
}
