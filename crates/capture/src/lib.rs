//! Packet captures as measurements.
//!
//! [`read`] passes over a file twice: first to find the TCP connection with the most data, then to follow it. Memory
//! does not grow with the file, except for the result: at most four million fates and a million round trips. No input
//! makes it panic.
//!
//! `airtcp_capture::read` reads the file twice, a packet at a time: `connections.rs` finds the connection with
//! the most data, then `Transfer` follows each of its directions. `layers` walks through a frame header by
//! header, whatever link layers and tunnels there are, and names what it cannot read. `sightings.rs` recognises
//! a packet that the tap sees again; if several interfaces saw the connection, each direction is followed on
//! one of them. A `Piece` is the data of one packet, with the copies that the tap has seen. A loss before the
//! tap leaves a hole in the stream that a later packet fills (`transfer/data.rs`); a packet lost behind the tap
//! was seen and is sent again (`transfer/acks.rs`). Timestamps, SACK, DSACK and the shortest possible answer
//! time distinguish lost, late and unnecessary packets. The user need not say where the tap was; `report.rs`
//! infers it from the round trips to either end. A constant bounds every table, and a packet costs time only
//! for the pieces that it touches.

mod air;
mod connections;
mod fates;
mod file;
mod handshake;
mod layers;
mod packet;
mod pcap;
mod pcapng;
mod piece;
mod ranges;
pub mod rate;
mod report;
mod rtt;
mod sightings;
mod source;
mod transfer;
mod way_summary;
mod weighted_bins;

pub use air::AirCounts;
pub use file::{FileError, FileItem, Format, Frame, Reader};
pub use layers::{Air, Content, Wrappings, link_name};
pub use packet::{Dissected, Options, TappedPacket, dissect};
pub use report::{Capture, DirectionReport, Position};
pub use transfer::Counts;
pub use weighted_bins::Peak;

use connections::{Connection, Connections, Largest};
use sightings::Sightings;
use std::collections::BTreeMap;
use std::io::{self, Read};
use transfer::{Terms, Transfer};

/// Why a capture yields no measurement.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("it contains no packets{0}")]
    NoPackets(String),
    #[error("none of its {packets} packets is TCP{others}{skipped}")]
    NoTcp { packets: u64, others: String, skipped: String },
    #[error("it contains no TCP connection with data; capture during a transfer")]
    NoData,
    #[error(
        "it contains acknowledgments of {acknowledged} bytes, but not these data: they went another way, or the \
         capture's filter let only one direction pass; capture the data, and both directions if possible"
    )]
    NoneOfTheData { acknowledged: u64 },
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
    /// How many packets there are of each other kind.
    others: BTreeMap<Content, u64>,
    pub air: AirCounts,
    first: Option<airtcp_wire::Time>,
}

/// Limit on the kinds of packets that are told apart.
const MOST_KINDS: usize = 64;

/// Reads the capture that `open` opens; `open` is called twice.
///
/// # Errors
/// Reports a file that cannot be read or has no TCP transfer.
pub fn read<R: Read>(open: impl Fn() -> io::Result<R>) -> Result<Capture, CaptureError> {
    let (survey, connections, format) = survey(Reader::new(open()?)?)?;
    let largest = connections.largest().ok_or(CaptureError::NoData)?;
    check_data(&largest.connection)?;
    let ways = follow(Reader::new(open()?)?, &largest)?;
    let (elsewhere, elsewhere_bytes) = largest.elsewhere;
    let overview = report::Overview {
        survey,
        format,
        connections: connections.count,
        forgotten: connections.forgotten,
        all_bytes: connections.payload_bytes - elsewhere_bytes,
        elsewhere,
    };
    Ok(report::capture(overview, &largest.connection, ways))
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
                let (dissected, air) = dissect(&frame);
                air.into_iter().for_each(|air| survey.air.note(air));
                match dissected {
                    Dissected::Other(content) => {
                        survey.note_other(content);
                        continue;
                    }
                    Dissected::Skipped(reason) => reason,
                    Dissected::Tcp(packet) => {
                        survey.tcp_packets += 1;
                        survey.link = survey.link.or(link_name(frame.link_type));
                        connections.note(&packet, place);
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
    fn note_other(&mut self, content: Content) {
        let is_known = self.others.len() < MOST_KINDS || self.others.contains_key(&content);
        *self.others.entry(if is_known { content } else { Content::Damaged }).or_default() += 1;
    }

    fn complain(&self) -> Result<(), CaptureError> {
        let skipped = || self.first_skipped.as_ref().map_or(String::new(), |first| format!(" ({first})"));
        match (self.packets, self.tcp_packets) {
            (0, _) => Err(CaptureError::NoPackets(skipped())),
            (packets, 0) => {
                let told = [self.others_shown(), self.air.shown()];
                let others = told
                    .iter()
                    .filter(|part| !part.is_empty())
                    .fold(String::new(), |all, part| all + "; " + part);
                Err(CaptureError::NoTcp { packets, others, skipped: skipped() })
            }
            _ => Ok(()),
        }
    }

    /// Returns how many packets are not TCP.
    pub fn other_packets(&self) -> u64 {
        self.others.values().sum()
    }

    /// Returns the most frequent kinds of packets that are not TCP; empty if there are none.
    pub fn others_shown(&self) -> String {
        const SHOWN: usize = 3;
        let mut kinds: Vec<_> = self.others.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let kinds: Vec<_> =
            kinds.iter().take(SHOWN).map(|(content, count)| format!("{count} {content}")).collect();
        kinds.join(", ")
    }
}

/// Refuses a file in which only the acknowledgments of the largest transfer are.
fn check_data(connection: &Connection) -> Result<(), CaptureError> {
    /// Data of which the capture missed more tells nothing.
    const MOST_MISSED: u64 = 10;
    let (acknowledged, present) = (connection.acknowledged(), connection.payload_bytes());
    match acknowledged > MOST_MISSED * present.max(1000) {
        true => Err(CaptureError::NoneOfTheData { acknowledged }),
        false if present == 0 => Err(CaptureError::NoData),
        false => Ok(()),
    }
}

/// Calls `each` with every packet of the connection, its direction, and whether it was seen before.
fn each_packet<R: Read>(
    mut reader: Reader<R>,
    largest: &Largest,
    mut each: impl FnMut(&TappedPacket, usize, bool),
) -> io::Result<()> {
    let connection = &largest.connection;
    let (mut place, mut sightings) = (0, Sightings::default());
    while let Some(record) = reader.read()? {
        place += 1;
        if place > connection.last {
            break;
        }
        if let FileItem::Frame(frame) = record
            && place >= connection.first
            && let (Dissected::Tcp(packet), _) = dissect(&frame)
            && let Some(way) = largest.route.way_of(&packet)
        {
            let again = sightings.again(&packet, connection.patience(&packet, way));
            each(&packet, way, again.is_some());
        }
    }
    Ok(())
}

/// Follows the data of both directions.
fn follow<R: Read>(reader: Reader<R>, largest: &Largest) -> io::Result<[Transfer; 2]> {
    let connection = &largest.connection;
    let transfer = |way: usize| {
        let mss = mss(connection, way);
        let [to_sender, to_receiver] = [way, 1 - way].map(|end| connection.handshake.rtt_to_source_of(end));
        let sack = connection.handshake.client.is_some() && connection.handshake.sack();
        Transfer::new(Terms { mss, sack, to_sender, to_receiver })
    };
    let mut ways = [transfer(0), transfer(1)];
    each_packet(reader, largest, |packet, way, is_again| {
        if is_again {
            ways[way].counts.duplicates += 1;
        } else {
            ways[way].on_data(packet);
            ways[1 - way].on_ack(packet);
        }
    })?;
    Ok(ways.map(Transfer::finished))
}

/// Returns the bytes of options and payload in a full packet: the smaller MSS of the two ends (RFC 6691 §2). Without a
/// captured SYN it is the longest packet's, unless only segmentation offload explains that.
fn mss(connection: &Connection, way: usize) -> u32 {
    /// With an MTU of 1500 bytes.
    const USUAL: u32 = 1460;
    /// With an MTU of 9000 bytes.
    const JUMBO: u32 = 8960;
    let ends = connection.ways;
    let agreed = ends.iter().filter_map(|end| end.mss).min().map(u32::from);
    let longest = ends[way].longest;
    agreed.unwrap_or(if longest > JUMBO { USUAL } else { longest })
}
