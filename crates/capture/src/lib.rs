//! Packet captures as measurements.
//!
//! [`read`] passes over a file twice: first to find the TCP connection with the most data, then to follow it. Memory
//! does not grow with the file, except for the result: at most four million fates and a million round trips. No input
//! makes it panic.

mod connections;
mod fates;
mod file;
mod handshake;
mod packet;
mod pcap;
mod pcapng;
mod piece;
mod ranges;
pub mod rate;
mod report;
mod rtt;
mod source;
mod transfer;
mod weighted_bins;

pub use file::{FileError, FileItem, Format, Frame, Reader};
pub use packet::{Dissected, TappedPacket, dissect, link_name};
pub use report::{Capture, Position, Way};
pub use transfer::Counts;
pub use weighted_bins::Peak;

use connections::{Connection, Connections, Key};
use std::io::{self, Read};
use transfer::{Terms, Transfer};

/// Why a capture yields no measurement.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("it contains no packets{0}")]
    NoPackets(String),
    #[error("none of its {packets} packets is TCP{skipped}")]
    NoTcp { packets: u64, skipped: String },
    #[error("it contains no TCP connection with data; capture during a transfer")]
    NoData,
}

impl From<io::Error> for CaptureError {
    fn from(error: io::Error) -> CaptureError {
        CaptureError::File(FileError::Io(error))
    }
}

/// Counts of the first pass.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Packets that could be parsed, of any protocol.
    pub packets: u64,
    pub tcp_packets: u64,
    pub skipped: u64,
    /// The first skipped packet, with its position and the reason.
    pub first_skipped: Option<String>,
    pub link: Option<&'static str>,
    first: Option<airtcp_wire::Time>,
}

/// Reads the capture that `open` opens; `open` is called twice.
///
/// # Errors
/// Reports a file that cannot be read or has no TCP transfer.
pub fn read<R: Read>(open: impl Fn() -> io::Result<R>) -> Result<Capture, CaptureError> {
    let (survey, connections, format) = survey(Reader::new(open()?)?)?;
    let (count, forgotten, all_bytes) = (connections.count, connections.forgotten, connections.payload_bytes);
    let (key, connection) = connections.largest().ok_or(CaptureError::NoData)?;
    let ways = follow(Reader::new(open()?)?, &key, &connection)?;
    let overview = report::Overview { survey, format, connections: count, forgotten, all_bytes };
    Ok(report::capture(overview, &connection, ways))
}

fn survey<R: Read>(mut reader: Reader<R>) -> Result<(Survey, Connections, Format), CaptureError> {
    let (mut survey, mut connections) = (Survey::default(), Connections::default());
    let mut place = 0;
    while let Some(record) = reader.read()? {
        place += 1;
        let skipped = match record {
            FileItem::Skipped(reason) => reason,
            FileItem::Frame(frame) => {
                survey.packets += 1;
                survey.first = survey.first.or(Some(frame.time));
                match dissect(&frame) {
                    Dissected::Other => continue,
                    Dissected::Skipped(reason) => reason,
                    Dissected::Tcp(packet) => {
                        survey.tcp_packets += 1;
                        survey.link = survey.link.or(link_name(frame.link_type));
                        connections.note(&packet, frame.interface, place);
                        continue;
                    }
                }
            }
        };
        survey.skipped += 1;
        survey.first_skipped.get_or_insert_with(|| format!("packet {place}: {skipped}"));
    }
    survey.complain()?;
    Ok((survey, connections, reader.format()))
}

impl Survey {
    fn complain(&self) -> Result<(), CaptureError> {
        let skipped = || self.first_skipped.as_ref().map_or(String::new(), |first| format!(" ({first})"));
        match (self.packets, self.tcp_packets) {
            (0, _) => Err(CaptureError::NoPackets(skipped())),
            (packets, 0) => Err(CaptureError::NoTcp { packets, skipped: skipped() }),
            _ => Ok(()),
        }
    }
}

/// Calls `each` with every packet of the connection and its direction.
fn each_packet<R: Read>(
    mut reader: Reader<R>,
    key: &Key,
    connection: &Connection,
    mut each: impl FnMut(&TappedPacket, usize),
) -> io::Result<()> {
    let mut place = 0;
    while let Some(record) = reader.read()? {
        place += 1;
        if place > connection.last {
            break;
        }
        if let FileItem::Frame(frame) = record
            && place >= connection.first
            && let Dissected::Tcp(packet) = dissect(&frame)
        {
            let (found, is_forward) = Key::of(&packet, frame.interface);
            if found == *key {
                each(&packet, usize::from(!is_forward));
            }
        }
    }
    Ok(())
}

/// Follows the data of both directions.
fn follow<R: Read>(reader: Reader<R>, key: &Key, connection: &Connection) -> io::Result<[Transfer; 2]> {
    let transfer = |way: usize| {
        let payload_max = payload_max(connection, way);
        let [to_sender, to_receiver] = [way, 1 - way].map(|end| connection.handshake.rtt_to_source_of(end));
        Transfer::new(Terms { payload_max, to_sender, to_receiver })
    };
    let mut ways = [transfer(0), transfer(1)];
    each_packet(reader, key, connection, |packet, way| {
        ways[way].on_data(packet);
        ways[1 - way].on_ack(packet);
    })?;
    Ok(ways)
}

/// Returns the payload of a full packet in bytes: the smaller MSS of the two ends, less the options that every packet
/// carries. Without a captured SYN it is the longest payload, unless only segmentation offload explains that.
fn payload_max(connection: &Connection, way: usize) -> u32 {
    const TIMESTAMPS: u32 = 12;
    /// An MSS below this is implausible: the defaults of RFC 879 and RFC 8200 §5 are larger.
    const LEAST: u32 = 64;
    /// With an MTU of 1500 bytes and timestamps.
    const USUAL: u32 = 1448;
    /// With an MTU of 9000 bytes.
    const JUMBO: u32 = 8960;
    let ends = connection.ways;
    let options = if ends[way].timestamps { TIMESTAMPS } else { 0 };
    let agreed =
        ends.iter().filter_map(|end| end.mss).min().map(|mss| u32::from(mss).saturating_sub(options));
    let longest = ends[way].longest_payload;
    agreed.unwrap_or(if longest > JUMBO { USUAL } else { longest }).max(LEAST)
}
