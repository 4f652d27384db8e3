//! Captures of a link, as its near node sees it.

use crate::packet::{Load, Packet, Packets};
use crate::pcap::{Format, Frame, Options, PcapWriter};
use airtcp_wire::{Segment, Time};
use std::io::{self, Write};

/// A capture to write: what enters the link forward, and what comes out of it in reverse.
pub struct Capture {
    /// The link's name.
    pub link: String,
    pub format: Format,
    /// Should be buffered.
    pub writer: Box<dyn Write + Send>,
}

pub struct Tap {
    pub link: usize,
    writer: PcapWriter<Box<dyn Write + Send>>,
    /// The first error, kept until the end of the run.
    error: Option<io::Error>,
}

impl Tap {
    pub fn new(link: usize, capture: Capture) -> io::Result<Tap> {
        let options = Options { format: capture.format, ..Options::default() };
        let writer = PcapWriter::with_options(capture.writer, &[&capture.link], options)?;
        Ok(Tap { link, writer, error: None })
    }

    pub fn write(&mut self, now: Time, id: u32, packets: &Packets) {
        if self.error.is_some() {
            return;
        }
        let &Packet { number: flow, direction, ecn, load, bytes, .. } = packets.get(id);
        let frame = Frame { now, interface: 0, flow, direction, ecn, dropped: None };
        let written = match load {
            Load::Tcp { .. } => self.writer.write_tcp(&frame, &packets.segment(id)),
            Load::Udp | Load::Repair => self.writer.write_udp(&frame, bytes),
            Load::Header { .. } | Load::HeaderAck { .. } => {
                self.writer.write_tcp(&frame, &Segment { len: 0, ..packets.segment(id) })
            }
        };
        self.error = written.err();
    }

    pub fn finish(self) -> io::Result<()> {
        self.error.map_or_else(|| self.writer.finish().map(drop), Err)
    }
}
