//! The thread that drives the emulator and measures.

use super::books::{Account, Books};
use super::circuit_book::CircuitAccount;
use super::flows::Flow;
use super::meter::{CircuitMeter, FlowMeter, Meter};
use crate::emulate::{Clock, Control, Emulator, PacketSocket, Timekeeping, drive};
use airtcp_proto::tcp::SenderView;
use airtcp_sim::path_records::MediumRecord;
use airtcp_sim::record::LinkRecord;
use airtcp_sim::scenario::model::Scenario;
use airtcp_sim::series::{Recorder, Series};
use airtcp_wire::{Dur, Time};
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Results of a run.
pub struct Measured {
    /// By flow, since the warm-up: what its packets show, its data packets under way, and what the applications know.
    pub flows: Vec<(FlowMeter, u64, Account)>,
    /// By number, since the warm-up: what the packets show, and what the sending gateway reports.
    pub circuits: Vec<(CircuitMeter, CircuitAccount)>,
    pub links: Vec<LinkRecord>,
    pub media: Vec<MediumRecord>,
    pub series: Option<Series>,
    pub events: u64,
    pub packets_delivered: u64,
    /// Since the warm-up.
    pub timekeeping: Timekeeping,
    /// Packets that this machine and not the path lost since the warm-up: the emulator came too late for them or had
    /// no memory, or a device did not take them.
    pub lost_by_machine: u64,
}

/// State of the sampling.
pub struct Sampler<'a> {
    books: &'a Books,
    is_measured: Vec<bool>,
    /// Bytes received by each flow, as last sampled.
    received: Vec<u64>,
}

impl<'a> Sampler<'a> {
    pub fn new(books: &'a Books, flows: &[Flow]) -> Sampler<'a> {
        let is_measured = flows.iter().map(|flow| flow.is_measured).collect();
        Sampler { books, is_measured, received: vec![0; flows.len()] }
    }

    /// Samples every connection, queue and delivery.
    fn sample(&mut self, now: Time, emulator: &mut Emulator<Meter<'_>>) {
        let views = emulator.queue_views(now);
        let meter = emulator.observer();
        let Some(mut recorder) = meter.recorder.take() else { return };
        for (side, view) in views.iter().enumerate() {
            recorder.on_queue(now, side as u16, view);
        }
        for (port, sending) in self.books.all() {
            if self.is_measured[sending.flow]
                && let Ok(info) = sending.info()
            {
                let (una, nxt) = meter.positions(port);
                let bytes = |segments: u32| u64::from(segments) * u64::from(info.mss);
                let view = SenderView {
                    cwnd: bytes(info.cwnd),
                    ssthresh: info.ssthresh.map_or(u64::MAX, bytes),
                    srtt: info.srtt,
                    rto: info.rto,
                    in_flight: bytes(info.in_flight()),
                    una,
                    nxt,
                    ..SenderView::default()
                };
                let received = sending.received.load(Ordering::Relaxed);
                recorder.on_flow(now, sending.flow as u32, &view, received, sending.is_lasting);
            }
        }
        self.deliveries(now, &mut recorder);
        meter.recorder = Some(recorder);
    }

    fn deliveries(&mut self, now: Time, recorder: &mut Recorder) {
        for (flow, received) in
            self.books.received().into_iter().enumerate().filter(|(flow, _)| self.is_measured[*flow])
        {
            let before = std::mem::replace(&mut self.received[flow], received);
            recorder.on_received(flow as u32, received - before);
            recorder.on_delivery(now, flow as u32);
        }
    }
}

/// Runs to the scenario's end. Returns `None` if `stop` is set before.
///
/// # Errors
/// A device's.
pub fn measure(
    scenario: &Scenario,
    mut emulator: Emulator<Meter<'_>>,
    devices: &mut [PacketSocket],
    mut sampler: Sampler<'_>,
    clock: Clock,
    stop: &AtomicBool,
) -> io::Result<Option<Measured>> {
    let every = emulator.observer().recorder.as_ref().map_or(Dur::MAX, |recorder| recorder.interval);
    let books = sampler.books;
    let mut until = |deadline: Dur, emulator: &mut Emulator<Meter<'_>>| {
        let control = Control { stop, drain: Dur::ZERO, deadline: Time::ZERO + deadline, every };
        drive(emulator, devices, &clock, &control, |now, emulator, _| {
            sampler.sample(now, emulator);
            ControlFlow::Continue(())
        })
    };
    let mut before = vec![Account::default(); books.accounts().len()];
    let mut circuits_before = books.circuits();
    let mut missed_before = 0;
    if scenario.warmup > Dur::ZERO {
        missed_before = until(scenario.warmup, &mut emulator)?.missed.iter().sum();
        before = books.accounts();
        circuits_before = books.circuits();
        emulator.reset_stats(Time::ZERO + scenario.warmup);
        emulator.observer().begin_measurement();
    }
    let timekeeping = until(scenario.duration, &mut emulator)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let accounts = books.accounts();
    let circuits =
        books.circuits().into_iter().zip(&circuits_before).map(|(after, before)| after.since(before));
    let lost: [u64; 3] = [
        timekeeping.missed.iter().sum::<u64>() - missed_before,
        timekeeping.unsent.iter().sum(),
        emulator.counts().iter().map(|counts| counts.refused_memory).sum(),
    ];
    let end = Time::ZERO + scenario.duration;
    let (links, media) = (emulator.link_records(end), emulator.medium_records(end));
    let mut meter = emulator.into_observer();
    let series = meter.recorder.take();
    let counted = meter.read().into_iter().zip(accounts.iter().zip(&before));
    let flows: Vec<_> = counted
        .map(|((meter, under_way), (after, before))| (meter, under_way, after.since(before)))
        .collect();
    let measured = (0..).zip(&flows).filter(|(flow, _)| sampler.is_measured[*flow as usize]);
    let rtts = measured.map(|(flow, (meter, ..))| (flow, &meter.rtt));
    let series = series.map(|recorder| recorder.finish(rtts));
    let circuits = meter.circuits.into_iter().zip(circuits).collect();
    let (events, packets_delivered) = (meter.events, meter.packets_delivered);
    let lost_by_machine = lost.iter().sum();
    Ok(Some(Measured {
        flows,
        circuits,
        links,
        media,
        series,
        events,
        packets_delivered,
        timekeeping,
        lost_by_machine,
    }))
}
