//! Time series in columns, ready for Arrow. When nothing is recorded, this costs one branch an event.

use crate::histogram::Histogram;
use airtcp_proto::path::QueueView;
use airtcp_proto::queue::DropCause;
use airtcp_proto::tcp::{Connection, Reason, SenderView};
use airtcp_wire::{Dur, Time};
use serde::Serialize;

/// One column. Serialised, it is a list of its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Column {
    U64(Vec<u64>),
    F64(Vec<f64>),
    Text(Vec<&'static str>),
}

impl Column {
    pub fn len(&self) -> usize {
        match self {
            Column::U64(values) => values.len(),
            Column::F64(values) => values.len(),
            Column::Text(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Columns of equal length, by name.
pub type Columns = Vec<(&'static str, Column)>;

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $column:ident: $kind:ident($type:ty),)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $column: Vec<$type>,)* }

        impl $name {
            #[allow(clippy::too_many_arguments, reason = "one argument a column")]
            pub(crate) fn push(&mut self, $($column: $type),*) {
                $(self.$column.push($column);)*
            }

            pub fn into_columns(self) -> $crate::series::Columns {
                vec![$((stringify!($column), $crate::series::Column::$kind(self.$column))),*]
            }
        }
    };
}

pub(crate) use table;

table! {
    /// The sender's state of each measured flow.
    FlowSeries {
        time_ns: U64(u64),
        /// Index into [`RunRecord::flows`](crate::record::RunRecord::flows).
        flow: U64(u64),
        cwnd_bytes: F64(f64),
        /// Not a number before the first loss.
        ssthresh_bytes: F64(f64),
        srtt_ns: U64(u64),
        rto_ns: U64(u64),
        in_flight_bytes: U64(u64),
        /// SND.UNA and SND.NXT as stream positions.
        una_bytes: U64(u64),
        nxt_bytes: U64(u64),
        /// Received in order so far.
        received_bytes: U64(u64),
        /// The rate at which it grew, over the last whole 100 ms or sampling interval. Not a number for short
        /// transfers, each of which has a connection of its own.
        delivered_bps: F64(f64),
        /// The shortest and the longest RTT that the flow's connections have measured since its last row. Not a number
        /// without a measurement.
        rtt_min_ns: F64(f64),
        rtt_max_ns: F64(f64),
    }
}

table! {
    /// What each measured flow has received, all its connections and the warm-up included.
    DeliverySeries {
        time_ns: U64(u64),
        /// Index into [`RunRecord::flows`](crate::record::RunRecord::flows).
        flow: U64(u64),
        received_bytes: U64(u64),
    }
}

table! {
    /// How often each RTT was measured, after the warm-up.
    RttCounts {
        /// Index into [`RunRecord::flows`](crate::record::RunRecord::flows).
        flow: U64(u64),
        /// Within 0.4 %.
        rtt_ns: U64(u64),
        samples: U64(u64),
    }
}

table! {
    /// Each link's queue.
    QueueSeries {
        time_ns: U64(u64),
        /// Index into [`RunRecord::links`](crate::record::RunRecord::links).
        link: U64(u64),
        packets: U64(u64),
        bytes: U64(u64),
        /// RED's average in the unit it counts in; not a number for other disciplines.
        average: F64(f64),
    }
}

table! {
    /// Losses, retransmissions, timeouts and duplicate ACKs of all flows.
    EventSeries {
        time_ns: U64(u64),
        flow: U64(u64),
        /// "loss", "ack-loss", "retransmit", "fast-retransmit", "timeout", "probe" or "duplicate-ack".
        kind: Text(&'static str),
        /// Of a loss: "overflow", "aqm", "corruption" or "outage"; else empty.
        cause: Text(&'static str),
        /// Stream position of the packet's first byte; of a duplicate ACK, SND.UNA.
        offset_bytes: U64(u64),
        /// Duplicate ACKs of one position within a sampling interval are one row, at the time of the first; else 1.
        count: U64(u64),
    }
}

/// All time series of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    pub flows: FlowSeries,
    pub queues: QueueSeries,
    pub events: EventSeries,
    pub deliveries: DeliverySeries,
    pub rtts: RttCounts,
}

/// The shortest time over which a delivery rate is measured.
const RATE_WINDOW: Dur = Dur::from_millis(100);

/// Where the measurement of a flow's delivery rate began, and the last rate.
#[derive(Clone, Copy, Debug, Default)]
struct RateMark {
    since: Time,
    received: u64,
    rate_bps: f64,
}

/// What a flow's next rows need.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    received: u64,
    /// The shortest and the longest RTT since the last row.
    rtt: Option<(Dur, Dur)>,
    /// The row of the last duplicate ACK.
    duplicate: Option<usize>,
}

/// Records while a run goes on.
pub struct Recorder {
    pub interval: Dur,
    marks: Vec<RateMark>,
    pending: Vec<Pending>,
    series: Series,
}

impl Recorder {
    /// An `interval` of zero samples at each ACK and each change of a queue.
    pub fn new(interval: Dur, flows: usize) -> Recorder {
        Recorder {
            interval,
            marks: vec![RateMark::default(); flows],
            pending: vec![Pending::default(); flows],
            series: Series::default(),
        }
    }

    /// `rtts` has the index and the RTTs of each measured flow.
    pub fn finish<'a>(mut self, rtts: impl Iterator<Item = (u64, &'a Histogram)>) -> Series {
        for (flow, histogram) in rtts {
            histogram.counts().for_each(|(rtt, samples)| self.series.rtts.push(flow, rtt.0, samples));
        }
        self.series
    }

    /// Samples a flow's connection. `is_lasting` says whether it is the flow's only one.
    pub fn on_flow(&mut self, now: Time, flow: u32, view: &SenderView, received: u64, is_lasting: bool) {
        let rate_bps = if is_lasting { self.delivered_bps(now, flow, received) } else { f64::NAN };
        let ssthresh = if view.ssthresh == u64::MAX { f64::NAN } else { view.ssthresh as f64 };
        let rtt = self.pending[flow as usize].rtt.take();
        let (shortest, longest) = rtt.map_or((f64::NAN, f64::NAN), |(min, max)| (min.0 as f64, max.0 as f64));
        self.series.flows.push(
            now.0,
            u64::from(flow),
            view.cwnd as f64,
            ssthresh,
            view.srtt.0,
            view.rto.0,
            view.in_flight,
            view.una,
            view.nxt,
            received,
            rate_bps,
            shortest,
            longest,
        );
    }

    /// Counts `bytes` that a flow's receiver has got in order.
    pub fn on_received(&mut self, flow: u32, bytes: u64) {
        self.pending[flow as usize].received += bytes;
    }

    pub fn on_delivery(&mut self, now: Time, flow: u32) {
        let received = self.pending[flow as usize].received;
        self.series.deliveries.push(now.0, u64::from(flow), received);
    }

    /// Records an ACK that a sender has handled, and before which it had counted so many `duplicates`.
    #[cold]
    pub fn on_ack(&mut self, now: Time, flow: u32, sender: &Connection, duplicates: u64) {
        if let Some(rtt) = sender.last_rtt() {
            self.on_rtt(flow, rtt);
        }
        if sender.stats().duplicate_acks_received > duplicates {
            self.on_duplicate_ack(now, flow, sender.acknowledged());
        }
    }

    pub fn on_rtt(&mut self, flow: u32, rtt: Dur) {
        let known = &mut self.pending[flow as usize].rtt;
        *known = Some(known.map_or((rtt, rtt), |(min, max)| (min.min(rtt), max.max(rtt))));
    }

    pub fn on_duplicate_ack(&mut self, now: Time, flow: u32, una: u64) {
        let events = &mut self.series.events;
        let last = &mut self.pending[flow as usize].duplicate;
        if let Some(row) = *last
            && events.offset_bytes[row] == una
            && now.since(Time(events.time_ns[row])) < self.interval
        {
            events.count[row] += 1;
            return;
        }
        *last = Some(events.time_ns.len());
        events.push(now.0, u64::from(flow), "duplicate-ack", "", una, 1);
    }

    fn delivered_bps(&mut self, now: Time, flow: u32, received: u64) -> f64 {
        let mark = &mut self.marks[flow as usize];
        let elapsed = now.since(mark.since);
        if elapsed >= RATE_WINDOW {
            let bits = (received - mark.received) as f64 * 8.0;
            *mark = RateMark { since: now, received, rate_bps: bits / elapsed.as_secs_f64() };
        }
        mark.rate_bps
    }

    pub fn on_queue(&mut self, now: Time, side: u16, view: &QueueView) {
        let average = view.average.unwrap_or(f64::NAN);
        self.series.queues.push(now.0, u64::from(side), view.packets as u64, view.bytes, average);
    }

    pub fn on_resent(&mut self, now: Time, flow: u32, reason: Reason, offset: u64) {
        let kind = match reason {
            Reason::FastRetransmit => "fast-retransmit",
            Reason::Timeout => "timeout",
            Reason::TailLossProbe => "probe",
            Reason::Copy => "copy",
            _ => "retransmit",
        };
        self.series.events.push(now.0, u64::from(flow), kind, "", offset, 1);
    }

    pub fn on_loss(&mut self, at: Time, flow: u32, cause: DropCause, is_data: bool, offset: u64) {
        let kind = if is_data { "loss" } else { "ack-loss" };
        self.series.events.push(at.0, u64::from(flow), kind, cause_name(cause), offset, 1);
    }
}

/// The cause's name in tables.
pub fn cause_name(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Overflow => "overflow",
        DropCause::Aqm => "aqm",
        DropCause::Corruption => "corruption",
        DropCause::Outage => "outage",
    }
}
