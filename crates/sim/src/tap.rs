//! Captures of a link as its near node sees them.

use crate::packet::{Load, Packet};
use crate::packet_log::Seen;
use crate::pcap::{Format, Frame, Options, PcapWriter};
use airtcp_proto::tcp::Transmit;
use airtcp_wire::{Segment, Time};
use std::io::{self, Write};

/// A capture that is wanted: what leaves for the link forward, and what comes back from it.
pub struct Capture {
    /// The link's name.
    pub link: String,
    pub format: Format,
    /// Buffered.
    pub writer: Box<dyn Write + Send>,
}

pub struct Tap {
    pub link: usize,
    kind: Kind,
}

enum Kind {
    File {
        writer: PcapWriter<Box<dyn Write + Send>>,
        /// The first error, kept until the run is over.
        error: Option<io::Error>,
    },
    Notes(Vec<Seen>),
}

impl Tap {
    pub fn new(link: usize, capture: Capture) -> io::Result<Tap> {
        let options = Options { format: capture.format, ..Options::default() };
        let writer = PcapWriter::with_options(capture.writer, &[&capture.link], options)?;
        Ok(Tap { link, kind: Kind::File { writer, error: None } })
    }

    /// For the packet log, which knows the rest.
    pub fn notes(link: usize) -> Tap {
        Tap { link, kind: Kind::Notes(Vec::new()) }
    }

    pub fn write(&mut self, now: Time, packet: &Packet) {
        let (writer, error) = match &mut self.kind {
            Kind::Notes(notes) => return notes.push(Seen::of(packet)),
            Kind::File { error: Some(_), .. } => return,
            Kind::File { writer, error } => (writer, error),
        };
        let &Packet { number: flow, direction, transmit: Transmit { ecn, .. }, .. } = packet;
        let frame = Frame { now, interface: 0, flow, direction, ecn, dropped: None };
        let written = match packet.load {
            Load::Tcp { .. } => writer.write_tcp(&frame, &packet.transmit.segment),
            Load::Udp => writer.write_udp(&frame, packet.bytes),
            Load::Header { .. } | Load::HeaderAck { .. } => {
                writer.write_tcp(&frame, &Segment { len: 0, ..packet.transmit.segment })
            }
        };
        *error = written.err();
    }

    /// Answers what was noted; nothing of a capture, which is in its file.
    pub fn finish(self) -> io::Result<Vec<Seen>> {
        match self.kind {
            Kind::Notes(notes) => Ok(notes),
            Kind::File { error: Some(error), .. } => Err(error),
            Kind::File { writer, error: None } => writer.finish().map(|_| Vec::new()),
        }
    }
}
