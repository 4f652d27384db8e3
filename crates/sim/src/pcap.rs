//! Writes captures of simulated links for Wireshark, tshark, tcpdump and tcptrace. Of pcapng files, tcptrace reads only
//! those with one interface.
//!
//! Simulated packets have no payload. They are written with real headers, whose checksums are correct for a payload of
//! zeros. In the forward direction, flow f is 10.0.x.y:p → 10.1.x.y:9, where x.y are the low 16 bits of f + 1, and p =
//! 32768 + f / 2¹⁶. Times count from the start of the run, so readers show 1970-01-01.

use airtcp_proto::middlebox::Direction;
use airtcp_proto::queue::DropCause;
use airtcp_wire::checksum::Sum;
use airtcp_wire::ip::{Addresses, IPV4_HEADER_LEN};
use airtcp_wire::packet::{self, Endpoints, MAX_HEADERS_LEN};
use airtcp_wire::tcp::Ports;
use airtcp_wire::{Ecn, Segment, Time, udp};
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::Path;

/// The port of the discard service (RFC 863): the payload is discarded.
const DISCARD: u16 = 9;

/// What packets begin with, by its number in captures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum LinkType {
    Ethernet = 1,
    /// An IP header. tcptrace knows this type.
    Raw = 101,
    /// An IPv4 header. libpcap refuses files with several interfaces of [`LinkType::Raw`], but not of this type.
    Ipv4 = 228,
}

/// The format of a capture file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// draft-ietf-opsawg-pcapng: nanoseconds, interfaces, comments.
    #[default]
    Pcapng,
    /// The older format: microseconds, without interfaces, directions or drop causes.
    Pcap,
}

impl Format {
    /// [`Format::Pcap`] for a name that ends in `.pcap`, else [`Format::Pcapng`].
    pub fn of_path(path: &Path) -> Format {
        if path.extension().is_some_and(|extension| extension == "pcap") {
            Format::Pcap
        } else {
            Format::Pcapng
        }
    }
}

/// How a capture is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    pub format: Format,
    /// The number of bytes that are written of a packet at most. Readers cannot verify the checksums of shortened
    /// packets.
    pub snaplen: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { format: Format::default(), snaplen: 1 << 18 }
    }
}

/// When and where a packet was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    pub now: Time,
    /// Index into the interface names that the writer was given.
    pub interface: u32,
    pub flow: u32,
    pub direction: Direction,
    pub ecn: Ecn,
    /// Why the packet went no further, if it did not.
    pub dropped: Option<DropCause>,
}

impl Frame {
    /// The addresses and ports that stand for the flow.
    fn endpoints(&self) -> Endpoints {
        let [x, y] = (self.flow as u16).wrapping_add(1).to_be_bytes();
        let forward = Endpoints {
            addresses: Addresses::V4 {
                source: Ipv4Addr::new(10, 0, x, y),
                destination: Ipv4Addr::new(10, 1, x, y),
            },
            ports: Ports { source: 0x8000 | (self.flow >> 16) as u16, destination: DISCARD },
        };
        match self.direction {
            Direction::Forward => forward,
            Direction::Reverse => forward.reversed(),
        }
    }
}

/// Writes packets to a capture file. The writer should be buffered.
pub struct PcapWriter<W: Write> {
    writer: W,
    options: Options,
}

impl<W: Write> PcapWriter<W> {
    /// Begins a pcapng capture of whole packets on the interfaces with these names.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(writer: W, interfaces: &[&str]) -> io::Result<PcapWriter<W>> {
        PcapWriter::with_options(writer, interfaces, Options::default())
    }

    /// Begins a capture.
    ///
    /// # Errors
    /// The writer's.
    pub fn with_options(writer: W, interfaces: &[&str], options: Options) -> io::Result<PcapWriter<W>> {
        let link_type = if interfaces.len() == 1 { LinkType::Raw } else { LinkType::Ipv4 };
        PcapWriter::begin(writer, interfaces, link_type, options)
    }

    /// Begins a capture of packets that are given as bytes with [`write_bytes`](PcapWriter::write_bytes).
    ///
    /// # Errors
    /// The writer's.
    pub fn of_packets(
        writer: W,
        interface: &str,
        link_type: LinkType,
        options: Options,
    ) -> io::Result<PcapWriter<W>> {
        PcapWriter::begin(writer, &[interface], link_type, options)
    }

    fn begin(
        writer: W,
        interfaces: &[&str],
        link_type: LinkType,
        options: Options,
    ) -> io::Result<PcapWriter<W>> {
        let mut pcap = PcapWriter { writer, options };
        match options.format {
            Format::Pcapng => {
                pcap.write_section_header()?;
                interfaces.iter().try_for_each(|name| pcap.write_interface(name, link_type))?;
            }
            Format::Pcap => pcap.write_pcap_header(link_type)?,
        }
        Ok(pcap)
    }

    /// Writes a packet as it is, including its link-layer header.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_bytes(&mut self, now: Time, direction: Direction, packet: &[u8]) -> io::Result<()> {
        let frame = Frame { now, interface: 0, flow: 0, direction, ecn: Ecn::NotEct, dropped: None };
        self.write_packet(&frame, packet, 0)
    }

    /// Writes the TCP packet that carries `segment`.
    ///
    /// # Errors
    /// The writer's; `InvalidInput` for a packet longer than 65 535 bytes.
    pub fn write_tcp(&mut self, frame: &Frame, segment: &Segment) -> io::Result<()> {
        let mut buffer = [0; MAX_HEADERS_LEN];
        let len =
            packet::encode_tcp_headers(&frame.endpoints(), frame.ecn, segment, Sum::default(), &mut buffer)
                .map_err(invalid)?;
        self.write_packet(frame, &buffer[..len], segment.len as usize)
    }

    /// Writes a UDP packet of `bytes` bytes, including its IP header.
    ///
    /// # Errors
    /// The writer's; `InvalidInput` for a packet shorter than 28 or longer than 65 535 bytes.
    pub fn write_udp(&mut self, frame: &Frame, bytes: u32) -> io::Result<()> {
        const HEADERS: usize = IPV4_HEADER_LEN + udp::HEADER_LEN;
        let payload = (bytes as usize)
            .checked_sub(HEADERS)
            .ok_or_else(|| invalid(format!("{bytes} bytes are too short for a UDP packet")))?;
        let mut buffer = [0; HEADERS];
        packet::encode_udp_headers(&frame.endpoints(), frame.ecn, payload, Sum::default(), &mut buffer)
            .map_err(invalid)?;
        self.write_packet(frame, &buffer, payload)
    }

    /// Flushes the writer and returns it.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn write_packet(&mut self, frame: &Frame, headers: &[u8], payload: usize) -> io::Result<()> {
        let snaplen = self.options.snaplen as usize;
        let data = Data {
            headers: &headers[..headers.len().min(snaplen)],
            zeros: payload.min(snaplen.saturating_sub(headers.len())),
            original: headers.len() + payload,
        };
        match self.options.format {
            Format::Pcapng => self.write_enhanced_packet(frame, &data),
            Format::Pcap => self.write_pcap_packet(frame.now, &data),
        }
    }

    fn write_section_header(&mut self) -> io::Result<()> {
        const SECTION_LENGTH_UNKNOWN: u64 = u64::MAX;
        let mut body = Vec::new();
        body.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        body.extend_from_slice(&1u16.to_le_bytes());
        body.extend_from_slice(&0u16.to_le_bytes());
        body.extend_from_slice(&SECTION_LENGTH_UNKNOWN.to_le_bytes());
        push_option(&mut body, 4, b"airtcp");
        push_end_of_options(&mut body);
        self.write_block(0x0a0d_0d0a, &body)
    }

    fn write_interface(&mut self, name: &str, link_type: LinkType) -> io::Result<()> {
        let mut body = Vec::new();
        body.extend_from_slice(&(link_type as u16).to_le_bytes());
        body.extend_from_slice(&0u16.to_le_bytes());
        body.extend_from_slice(&self.options.snaplen.to_le_bytes());
        push_option(&mut body, 2, name.as_bytes());
        // if_tsresol: timestamps count units of 10⁻⁹ s.
        push_option(&mut body, 9, &[9]);
        push_end_of_options(&mut body);
        self.write_block(1, &body)
    }

    fn write_block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let len = (body.len() as u32 + 12).to_le_bytes();
        self.writer.write_all(&kind.to_le_bytes())?;
        self.writer.write_all(&len)?;
        self.writer.write_all(body)?;
        self.writer.write_all(&len)
    }

    fn write_enhanced_packet(&mut self, frame: &Frame, data: &Data) -> io::Result<()> {
        const FIXED_LEN: usize = 32;
        const FLAGS_LEN: usize = 8;
        const END_LEN: usize = 4;
        let comment = frame.dropped.map_or("", drop_comment);
        let comment_len = if comment.is_empty() { 0 } else { 4 + padded(comment.len()) };
        let len = FIXED_LEN + padded(data.captured()) + FLAGS_LEN + comment_len + END_LEN;
        let head = [
            6,
            len as u32,
            frame.interface,
            (frame.now.0 >> 32) as u32,
            frame.now.0 as u32,
            data.captured() as u32,
            data.original as u32,
        ];
        self.write_words(&head)?;
        self.writer.write_all(data.headers)?;
        self.write_zeros(data.zeros + padded(data.captured()) - data.captured())?;
        self.write_words(&[2 | 4 << 16, direction_flags(frame.direction)])?;
        if !comment.is_empty() {
            self.write_words(&[1 | (comment.len() as u32) << 16])?;
            self.writer.write_all(comment.as_bytes())?;
            self.write_zeros(padded(comment.len()) - comment.len())?;
        }
        self.write_words(&[0, len as u32])
    }

    fn write_pcap_header(&mut self, link_type: LinkType) -> io::Result<()> {
        self.write_words(&[0xa1b2_c3d4, 2 | 4 << 16, 0, 0, self.options.snaplen, link_type as u32])
    }

    fn write_pcap_packet(&mut self, now: Time, data: &Data) -> io::Result<()> {
        let micros = now.0 / 1000;
        let (secs, micros) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        self.write_words(&[secs, micros, data.captured() as u32, data.original as u32])?;
        self.writer.write_all(data.headers)?;
        self.write_zeros(data.zeros)
    }

    fn write_words(&mut self, words: &[u32]) -> io::Result<()> {
        words.iter().try_for_each(|word| self.writer.write_all(&word.to_le_bytes()))
    }

    fn write_zeros(&mut self, count: usize) -> io::Result<()> {
        static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
        self.writer.write_all(&ZEROS[..count])
    }
}

/// The part of a packet that is written, and the packet's length.
struct Data<'a> {
    headers: &'a [u8],
    zeros: usize,
    original: usize,
}

impl Data<'_> {
    fn captured(&self) -> usize {
        self.headers.len() + self.zeros
    }
}

/// The length when padded to 32 bits.
fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}

fn push_option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend_from_slice(&code.to_le_bytes());
    block.extend_from_slice(&(value.len() as u16).to_le_bytes());
    block.extend_from_slice(value);
    block.resize(padded(block.len()), 0);
}

fn push_end_of_options(block: &mut Vec<u8>) {
    push_option(block, 0, &[]);
}

/// Forward packets are outbound: they leave the path's first node.
fn direction_flags(direction: Direction) -> u32 {
    const INBOUND: u32 = 1;
    const OUTBOUND: u32 = 2;
    match direction {
        Direction::Forward => OUTBOUND,
        Direction::Reverse => INBOUND,
    }
}

fn drop_comment(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Overflow => "dropped: queue overflow",
        DropCause::Aqm => "dropped: active queue management",
        DropCause::Corruption => "dropped: corruption",
        DropCause::Outage => "dropped: outage",
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}
