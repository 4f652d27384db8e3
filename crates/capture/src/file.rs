//! Reads packets from a capture file in either format.

use crate::pcap::Pcap;
use crate::pcapng::Pcapng;
use crate::source::{Order, Source};
use airtcp_wire::Time;
use std::io::{self, Read};

/// Bytes kept of each packet: its headers, with room to spare.
pub const KEPT: usize = 512;

/// A packet as the file holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// Since 1970.
    pub time: Time,
    pub interface: u32,
    /// LINKTYPE_ value, as listed on tcpdump.org.
    pub link_type: u16,
    /// The captured bytes, at most the first [`KEPT`].
    pub data: &'a [u8],
    /// Length on the wire, in bytes.
    pub original_len: u32,
}

/// One entry of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileItem<'a> {
    Frame(Frame<'a>),
    /// An unreadable packet and the reason.
    Skipped(String),
}

/// A capture file format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Pcap,
    Pcapng,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Pcap => "pcap",
            Format::Pcapng => "pcapng",
        }
    }
}

/// Why a file cannot be read as a capture.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("the file is empty")]
    Empty,
    #[error("neither pcap nor pcapng: it starts with {0}")]
    Foreign(String),
    #[error("compressed with {0}: unpack it first")]
    Compressed(&'static str),
    #[error("the file ends within its header")]
    Truncated,
    #[error("{0} is an unsupported variant of pcap; Wireshark's `editcap -F pcapng IN OUT` converts it")]
    Variant(&'static str),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads a capture file one packet at a time.
pub struct Reader<R> {
    source: Source<R>,
    container: Container,
    packet: Box<[u8; KEPT]>,
}

enum Container {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// A packet's metadata, and how much of the packet is in the buffer.
pub struct Head {
    pub time: Time,
    pub interface: u32,
    pub link_type: u16,
    pub kept: usize,
    pub original_len: u32,
}

impl<R: Read> Reader<R> {
    /// # Errors
    /// Reports a file that does not begin as a capture does.
    pub fn new(reader: R) -> Result<Reader<R>, FileError> {
        let mut source = Source::new(reader);
        let mut magic = [0; 4];
        let read = source.fill(&mut magic)?;
        let container = match magic {
            _ if read == 0 => return Err(FileError::Empty),
            [0xd4, 0xc3, 0xb2, 0xa1] => Container::Pcap(Pcap::read_header(&mut source, Order::Little, 1000)?),
            [0xa1, 0xb2, 0xc3, 0xd4] => Container::Pcap(Pcap::read_header(&mut source, Order::Big, 1000)?),
            [0x4d, 0x3c, 0xb2, 0xa1] => Container::Pcap(Pcap::read_header(&mut source, Order::Little, 1)?),
            [0xa1, 0xb2, 0x3c, 0x4d] => Container::Pcap(Pcap::read_header(&mut source, Order::Big, 1)?),
            [0x34, 0xcd, 0xb2, 0xa1] | [0xa1, 0xb2, 0xcd, 0x34] => {
                return Err(FileError::Variant("Kuznetzov's format"));
            }
            [0x0a, 0x0d, 0x0d, 0x0a] => Container::Pcapng(Pcapng::read_header(&mut source)?),
            [0x1f, 0x8b, ..] => return Err(FileError::Compressed("gzip")),
            [0x28, 0xb5, 0x2f, 0xfd] => return Err(FileError::Compressed("zstd")),
            [0xfd, b'7', b'z', b'X'] => return Err(FileError::Compressed("xz")),
            [b'B', b'Z', b'h', _] => return Err(FileError::Compressed("bzip2")),
            [b'P', b'K', 3, 4] => return Err(FileError::Compressed("zip")),
            _ => return Err(FileError::Foreign(magic[..read].escape_ascii().to_string())),
        };
        Ok(Reader { source, container, packet: Box::new([0; KEPT]) })
    }

    pub fn format(&self) -> Format {
        match self.container {
            Container::Pcap(_) => Format::Pcap,
            Container::Pcapng(_) => Format::Pcapng,
        }
    }

    /// Returns the next packet; `None` at the end of the file, or where the rest cannot be parsed.
    ///
    /// # Errors
    /// Returns the read error of the file.
    pub fn read(&mut self) -> io::Result<Option<FileItem<'_>>> {
        let head = match &mut self.container {
            Container::Pcap(pcap) => pcap.next(&mut self.source, &mut self.packet)?,
            Container::Pcapng(pcapng) => pcapng.next(&mut self.source, &mut self.packet)?,
        };
        Ok(head.map(|head| match head {
            Err(reason) => FileItem::Skipped(reason),
            Ok(Head { time, interface, link_type, kept, original_len }) => {
                let data = &self.packet[..kept];
                FileItem::Frame(Frame { time, interface, link_type, data, original_len })
            }
        }))
    }
}
