//! The pcapng format (draft-ietf-opsawg-pcapng): sections of blocks, where each section has its own byte order and
//! interfaces.

use crate::file::{FileError, Head, KEPT};
use crate::source::{Order, Source};
use airtcp_wire::Time;
use airtcp_wire::units::NANOS_PER_SEC;
use std::io::{self, Read};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// A section with more interfaces is treated as corrupt.
const MOST_INTERFACES: usize = 1 << 12;
/// Bytes of an interface description that are read.
const DESCRIPTION: usize = 1 << 12;
/// Bytes of a packet block before the packet data.
const FIXED: usize = 20;

pub struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
    ended: bool,
}

struct Interface {
    link_type: u16,
    /// Timestamp units per second.
    units_per_second: u128,
    offset_s: i64,
}

/// Consequence of a malformed block.
enum Damage {
    /// The rest of the file cannot be parsed.
    Fatal(&'static str),
    /// Only this packet is unusable.
    Packet(&'static str),
}

type Outcome<T> = io::Result<Result<T, Damage>>;

impl Pcapng {
    /// Reads the first section header after its block type.
    pub fn read_header<R: Read>(source: &mut Source<R>) -> Result<Pcapng, FileError> {
        let mut pcapng = Pcapng { order: Order::Little, interfaces: Vec::new(), ended: false };
        match pcapng.read_section(source)? {
            Ok(()) => Ok(pcapng),
            Err(Damage::Fatal(_) | Damage::Packet(_)) => Err(FileError::Truncated),
        }
    }

    /// Reads the next packet and puts its first bytes into `packet`.
    pub fn next<R: Read>(
        &mut self,
        source: &mut Source<R>,
        packet: &mut [u8; KEPT],
    ) -> io::Result<Option<Result<Head, String>>> {
        while !self.ended {
            match self.block(source, packet)? {
                Ok(Some(head)) => return Ok(Some(Ok(head))),
                Ok(None) => {}
                Err(Damage::Packet(reason)) => return Ok(Some(Err(reason.to_owned()))),
                Err(Damage::Fatal(reason)) => {
                    self.ended = true;
                    return Ok(Some(Err(reason.to_owned())));
                }
            }
        }
        Ok(None)
    }

    /// Reads one block; returns `None` if it is not a packet.
    fn block<R: Read>(&mut self, source: &mut Source<R>, packet: &mut [u8; KEPT]) -> Outcome<Option<Head>> {
        let mut kind = [0; 4];
        match source.fill(&mut kind)? {
            4 => {}
            read => {
                self.ended = true;
                return Ok(if read == 0 { Ok(None) } else { Err(Damage::Fatal(ENDS)) });
            }
        }
        let kind = self.order.u32(&kind);
        if kind == SECTION_HEADER {
            return Ok(self.read_section(source)?.map(|()| None));
        }
        let Some(len) = source.array()?.map(|len: [u8; 4]| self.order.u32(&len)) else {
            return Ok(Err(Damage::Fatal(ENDS)));
        };
        let Some(body) = body_len(len) else { return Ok(Err(Damage::Fatal(LENGTH))) };
        let (read, result) = match kind {
            ENHANCED_PACKET | OBSOLETE_PACKET => match self.packet(source, kind, body, packet)? {
                Ok((read, result)) => (read, result.map(Some)),
                Err(damage) => return Ok(Err(damage)),
            },
            INTERFACE => match self.interface(source, body)? {
                Ok(read) => (read, Ok(None)),
                Err(damage) => return Ok(Err(damage)),
            },
            SIMPLE_PACKET => (0, Err(Damage::Packet("has no time"))),
            _ => (0, Ok(None)),
        };
        Ok(finish(source, self.order, body - read, len)?.and(result))
    }

    fn read_section<R: Read>(&mut self, source: &mut Source<R>) -> Outcome<()> {
        let Some(head) = source.array::<8>()? else { return Ok(Err(Damage::Fatal(ENDS))) };
        self.order = match head[4..] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
            _ => return Ok(Err(Damage::Fatal("a section without a byte order; the rest was not read"))),
        };
        self.interfaces.clear();
        let len = self.order.u32(&head);
        match body_len(len) {
            Some(body) if body >= 4 => finish(source, self.order, body - 4, len),
            _ => Ok(Err(Damage::Fatal(LENGTH))),
        }
    }

    /// Reads an interface description and returns the number of bytes read.
    fn interface<R: Read>(&mut self, source: &mut Source<R>, body: u64) -> Outcome<u64> {
        let mut description = [0; DESCRIPTION];
        let wanted = DESCRIPTION.min(usize::try_from(body).unwrap_or(DESCRIPTION));
        let description = &mut description[..wanted];
        if source.fill(description)? < wanted || wanted < 8 {
            return Ok(Err(Damage::Fatal(ENDS)));
        }
        if self.interfaces.len() == MOST_INTERFACES {
            return Ok(Err(Damage::Fatal("too many interfaces; the rest was not read")));
        }
        self.interfaces.push(Interface::read(self.order, description));
        Ok(Ok(wanted as u64))
    }

    /// Reads a packet and returns the number of bytes read.
    #[allow(clippy::type_complexity, reason = "what was read goes with the verdict")]
    fn packet<R: Read>(
        &self,
        source: &mut Source<R>,
        kind: u32,
        body: u64,
        packet: &mut [u8; KEPT],
    ) -> Outcome<(u64, Result<Head, Damage>)> {
        let Some(fixed) = (body >= FIXED as u64).then(|| source.array::<FIXED>()).transpose()?.flatten()
        else {
            return Ok(Err(Damage::Fatal(ENDS)));
        };
        let word = |index: usize| self.order.u32(&fixed[4 * index..]);
        let (captured, original_len) = (u64::from(word(3)), word(4));
        if captured > body - FIXED as u64 {
            return Ok(Err(Damage::Fatal("is longer than its block; the rest of the file was not read")));
        }
        let kept = KEPT.min(captured as usize);
        if source.fill(&mut packet[..kept])? < kept {
            return Ok(Err(Damage::Fatal(ENDS)));
        }
        let read = (FIXED + kept) as u64;
        let number = if kind == OBSOLETE_PACKET { u32::from(self.order.u16(&fixed)) } else { word(0) };
        let Some(interface) = self.interfaces.get(number as usize) else {
            return Ok(Ok((read, Err(Damage::Packet("belongs to an interface that is not described")))));
        };
        let time = interface.time(u64::from(word(1)) << 32 | u64::from(word(2)));
        let link_type = interface.link_type;
        Ok(Ok((read, Ok(Head { time, interface: number, link_type, kept, original_len }))))
    }
}

const ENDS: &str = "the file ends within it";
const LENGTH: &str = "a block of impossible length; the rest of the file was not read";

impl Interface {
    fn read(order: Order, description: &[u8]) -> Interface {
        const IF_TSRESOL: u16 = 9;
        const IF_TSOFFSET: u16 = 14;
        let mut interface =
            Interface { link_type: order.u16(description), units_per_second: 1_000_000, offset_s: 0 };
        let mut options = &description[8..];
        while options.len() >= 4 {
            let (code, len) = (order.u16(options), usize::from(order.u16(&options[2..])));
            let Some(value) = options.get(4..4 + len) else { break };
            match (code, value) {
                (0, _) => break,
                (IF_TSRESOL, [resolution]) => interface.units_per_second = units_per_second(*resolution),
                (IF_TSOFFSET, value) if len == 8 => {
                    let (first, second) = (u64::from(order.u32(value)), u64::from(order.u32(&value[4..])));
                    interface.offset_s = match order {
                        Order::Little => second << 32 | first,
                        Order::Big => first << 32 | second,
                    } as i64;
                }
                _ => {}
            }
            options = options.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        }
        interface
    }

    fn time(&self, units: u64) -> Time {
        let nanos = u128::from(units) * u128::from(NANOS_PER_SEC) / self.units_per_second;
        let offset = i128::from(self.offset_s) * i128::from(NANOS_PER_SEC);
        Time(u64::try_from(nanos as i128 + offset).unwrap_or(0))
    }
}

/// A power of two if the highest bit is set, else a power of ten.
fn units_per_second(resolution: u8) -> u128 {
    let exponent = u32::from(resolution & 0x7f);
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(exponent).unwrap_or(u128::MAX)
}

/// Bytes between the two length fields of a block.
fn body_len(len: u32) -> Option<u64> {
    (len >= 12 && len.is_multiple_of(4)).then(|| u64::from(len) - 12)
}

/// Skips the rest of a block's body and checks that the trailing length equals the leading one.
fn finish<R: Read>(source: &mut Source<R>, order: Order, left: u64, len: u32) -> Outcome<()> {
    if !source.skip(left)? {
        return Ok(Err(Damage::Fatal(ENDS)));
    }
    Ok(match source.array()?.map(|again: [u8; 4]| order.u32(&again)) {
        None => Err(Damage::Fatal(ENDS)),
        Some(again) if again != len => Err(Damage::Fatal(LENGTH)),
        Some(_) => Ok(()),
    })
}
