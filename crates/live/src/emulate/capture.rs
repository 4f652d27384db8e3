//! A capture of packets that enter or leave at port 0.

use super::header::Framing;
use super::observer::Observer;
use airtcp_proto::middlebox::Direction;
use airtcp_sim::pcap::{Format, LinkType, Options, PcapWriter};
use airtcp_wire::{Dur, Time};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes the capture. Times are those of the models: a packet that left late is shown when it was due.
pub struct Capture {
    writer: PcapWriter<BufWriter<File>>,
    /// Time from 1970 to the clock's zero.
    epoch: Dur,
    error: Option<io::Error>,
}

impl Capture {
    /// Creates the file at `path`. `interface` is the name that readers see. The clock's zero is 1970, unless
    /// [`Capture::since`] says otherwise.
    ///
    /// # Errors
    /// The file system's.
    pub fn create(path: &Path, interface: &str, framing: Framing) -> io::Result<Capture> {
        let link_type = match framing {
            Framing::Ip => LinkType::Raw,
            Framing::Ethernet => LinkType::Ethernet,
        };
        let options = Options { format: Format::of_path(path), ..Options::default() };
        let file = BufWriter::new(File::create(path)?);
        let writer = PcapWriter::of_packets(file, interface, link_type, options)?;
        Ok(Capture { writer, epoch: Dur::ZERO, error: None })
    }

    /// Sets when the emulator's clock was started.
    #[must_use]
    pub fn since(self, epoch: SystemTime) -> Capture {
        let epoch = epoch.duration_since(UNIX_EPOCH).unwrap_or_default();
        Capture { epoch: Dur(epoch.as_nanos() as u64), ..self }
    }

    /// Writes what is buffered, and returns the first error of all writes.
    ///
    /// # Errors
    /// The file system's.
    pub fn finish(self) -> io::Result<()> {
        self.error.map_or_else(|| self.writer.finish().map(drop), Err)
    }

    fn write(&mut self, at: Time, direction: Direction, packet: &[u8]) {
        if self.error.is_none() {
            self.error = self.writer.write_bytes(at + self.epoch, direction, packet).err();
        }
    }
}

impl Observer for Capture {
    fn entered(&mut self, now: Time, port: usize, packet: &[u8]) {
        if port == 0 {
            self.write(now, Direction::Forward, packet);
        }
    }

    fn delivered(&mut self, due: Time, port: usize, packet: &[u8]) {
        if port == 0 {
            self.write(due, Direction::Reverse, packet);
        }
    }
}
