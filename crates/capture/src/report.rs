//! Assembles the report of a capture.

use crate::Survey;
use crate::connections::Connection;
use crate::fates::Fate;
use crate::file::Format;
use crate::handshake::Handshake;
use crate::layers::Wrappings;
use crate::rate::{Bins, Meter, Rates};
use crate::transfer::{Counts, Transfer};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Dur, Time};

/// Where the tap stood on the path of the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    AtSender,
    AtReceiver,
    Between,
    Unknown,
}

impl Position {
    pub fn name(self) -> &'static str {
        match self {
            Position::AtSender => "sender",
            Position::AtReceiver => "receiver",
            Position::Between => "between",
            Position::Unknown => "unknown",
        }
    }
}

/// A capture and its largest TCP connection.
#[derive(Clone, Debug)]
pub struct Capture {
    pub overview: Overview,
    /// From the sender of the most data to its peer.
    pub endpoints: Endpoints,
    /// What its packets are wrapped in.
    pub through: Wrappings,
    /// It is a subflow of a connection over several paths (Multipath TCP).
    pub multipath: bool,
    /// Packets whose TCP options were not captured whole.
    pub cut: u64,
    pub mss: Option<u16>,
    pub timestamps: bool,
    /// From the handshake; `None` if it was not captured.
    pub sack: Option<bool>,
    pub ecn: Option<bool>,
    pub handshake_rtt: Option<Dur>,
    /// The direction with the most data, and the opposite one.
    pub forward: DirectionReport,
    pub reverse: DirectionReport,
}

/// Facts on the file and all its connections.
#[derive(Clone, Debug)]
pub struct Overview {
    pub survey: Survey,
    pub format: Format,
    pub connections: u64,
    /// Connections forgotten because there were too many.
    pub forgotten: u64,
    /// Payload of all connections, each packet counted once.
    pub all_bytes: u64,
    /// Packets of the largest connection on interfaces where they were not followed.
    pub elsewhere: u64,
}

/// The data of one direction.
#[derive(Clone, Debug)]
pub struct DirectionReport {
    pub position: Position,
    /// Lowest round trip from the tap to each end.
    pub to_sender: Option<Dur>,
    pub to_receiver: Option<Dur>,
    /// Round trips over the whole path: when the packet was sent or passed the tap, since the file's first packet,
    /// and the round trip.
    pub round_trips: Vec<(Dur, Dur)>,
    /// Each packet in order of sending: when it was sent or passed the tap, since the file's first packet, and
    /// whether it was lost.
    pub fates: Vec<(Dur, bool)>,
    pub counts: Counts,
    pub late_by: Vec<Dur>,
    /// Median time between data packets.
    pub gap: Option<Dur>,
    /// Data over time: as acknowledged or, with the tap at the receiver, as it arrived.
    pub throughput: Bins,
    /// Start of the throughput's first interval, since the file's first packet.
    pub throughput_start: Dur,
    pub rates: Rates,
}

/// An end whose share of the round trip is smaller is where the tap stands.
const AT_END: f64 = 0.1;

pub fn capture(overview: Overview, connection: &Connection, ways: [Transfer; 2]) -> Capture {
    let main = usize::from(connection.ways[1].payload_bytes > connection.ways[0].payload_bytes);
    let handshake = &connection.handshake;
    let start = overview.survey.first.unwrap_or_default();
    let mut ways = ways.into_iter().map(|way| DirectionReport::new(way, handshake, start));
    let (first, second) = (ways.next(), ways.next());
    let (forward, reverse) = if main == 0 { (first, second) } else { (second, first) };
    let known = handshake.client.map(|_| handshake);
    Capture {
        endpoints: if main == 0 { connection.endpoints } else { connection.endpoints.reversed() },
        through: connection.through,
        multipath: connection.ways.iter().any(|way| way.multipath),
        cut: connection.ways.iter().map(|way| way.cut).sum(),
        mss: connection.ways.iter().filter_map(|way| way.mss).min(),
        timestamps: connection.ways.iter().all(|way| way.timestamps),
        sack: known.map(|handshake| handshake.sack()),
        ecn: known.map(|handshake| handshake.ecn()),
        handshake_rtt: handshake.rtt(),
        forward: forward.expect("two ways"),
        reverse: reverse.expect("two ways"),
        overview,
    }
}

impl DirectionReport {
    fn new(transfer: Transfer, handshake: &Handshake, start: Time) -> DirectionReport {
        let (to_sender, to_receiver) = (transfer.to_sender.min, transfer.to_receiver.min);
        let position = position(to_sender, to_receiver);
        // Acknowledged data has arrived; at the receiver, the tap sees the arrivals themselves.
        let meter = match position {
            Position::AtReceiver => &transfer.seen,
            _ if !transfer.is_acknowledged() => &transfer.seen,
            _ => &transfer.acknowledged,
        };
        DirectionReport {
            round_trips: round_trips(&transfer, handshake, (to_sender, to_receiver), start),
            fates: fates(&transfer, position, start),
            gap: transfer.gaps.quantile(0.5).map(|gap| Dur(gap as u64)),
            throughput: meter.bins.clone(),
            throughput_start: meter.start.unwrap_or_default().since(start),
            rates: rates(&transfer, meter),
            counts: transfer.counts,
            late_by: transfer.late_by,
            position,
            to_sender,
            to_receiver,
        }
    }
}

/// At the receiver, whatever the tap saw has arrived, even if TCP had to send it again: a receiver drops a segment
/// whose timestamp is older than a later packet's (PAWS, RFC 7323 §5.3).
fn fates(transfer: &Transfer, position: Position, start: Time) -> Vec<(Dur, bool)> {
    let is_lost = |fate| match fate {
        Fate::Open | Fate::Arrived => false,
        Fate::LostBefore => true,
        Fate::LostBehind => position != Position::AtReceiver,
    };
    let known = transfer.fates.known(transfer.is_acknowledged(), is_lost);
    known.into_iter().map(|(time, lost)| (time.since(start), lost)).collect()
}

/// Without SACK, cumulative acknowledgments advance in leaps; delivery still cannot outpace sending.
fn rates(transfer: &Transfer, meter: &Meter) -> Rates {
    let rates = meter.rates();
    if !transfer.is_acknowledged() {
        return sent_rates(transfer, rates);
    }
    let seen = transfer.seen.rates().sustained;
    Rates { sustained: rates.sustained.map(|rate| seen.map_or(rate, |seen| rate.min(seen))), ..rates }
}

/// What was sent need not have arrived in that time: only the whole must have. A burst from a host's interface has the
/// interface's rate, so that trains show the link's only if they are no faster than the whole.
fn sent_rates(transfer: &Transfer, rates: Rates) -> Rates {
    const MORE: f64 = 1.25;
    let sustained = transfer.seen.mean();
    let is_kept_up = |value: f64| sustained.is_some_and(|rate| value <= MORE * rate.0 as f64);
    Rates { sustained, dispersion: rates.dispersion.filter(|peak| is_kept_up(peak.value)), fastest: None }
}

fn position(to_sender: Option<Dur>, to_receiver: Option<Dur>) -> Position {
    match (to_sender, to_receiver) {
        (Some(to_sender), Some(to_receiver)) => {
            let share = to_sender.as_secs_f64() / (to_sender + to_receiver).as_secs_f64().max(1e-9);
            match share {
                _ if share < AT_END => Position::AtSender,
                _ if share > 1.0 - AT_END => Position::AtReceiver,
                _ => Position::Between,
            }
        }
        _ => Position::Unknown,
    }
}

/// Returns the series of the longer part of the path, plus the lowest round trip of the other part. Without a series,
/// returns the handshake's round trip alone.
fn round_trips(
    transfer: &Transfer,
    handshake: &Handshake,
    least: (Option<Dur>, Option<Dur>),
    start: Time,
) -> Vec<(Dur, Dur)> {
    let (near, far) = (least.0.unwrap_or_default(), least.1.unwrap_or_default());
    let (series, rest) = if near > far { (&transfer.to_sender, far) } else { (&transfer.to_receiver, near) };
    let mut trips: Vec<_> =
        series.samples.iter().map(|&(sent, rtt)| (sent.since(start), rtt + rest)).collect();
    if trips.is_empty() {
        trips.extend(handshake.rtt().map(|rtt| (Dur::ZERO, rtt)));
    }
    trips.sort_by_key(|&(sent, _)| sent);
    trips
}
