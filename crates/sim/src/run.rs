//! One run: from a scenario, a scheme and a seed to a record.

use crate::bound::{Bounded, PacketSize, bound_bps};
use crate::engine::{Engine, Finished};
use crate::error::RunError;
use crate::flow::{Flow, Shared};
use crate::network::Network;
use crate::packet_log::{PacketLog, PacketSeries, TurnSeries};
use crate::path_records::PathNames;
use crate::placement::{Stations, direction};
use crate::record::{CircuitRecord, FlowRecord, RunRecord, jain_index};
use crate::routes::Ways;
use crate::scenario::{Scenario, model};
use crate::series::{Recorder, Series};
pub use crate::tap::Capture;
use crate::tap::Tap;
use crate::traffic::Source;
use airtcp_proto::Chances;
use airtcp_proto::cc::Controllers;
use airtcp_proto::middlebox::{Direction, Middlebox};
use airtcp_proto::rng::Dormant;
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::Rules;
use airtcp_wire::{Dur, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a run does besides counting.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Records time series: at this interval, or at each ACK if it is zero.
    pub series: Option<Dur>,
    /// Logs every packet on every link, and every turn on a medium.
    pub packets: bool,
    pub captures: Vec<Capture>,
    /// Middleboxes for every flow, each with its node. Node 0 is in front of the first link, node n behind the n-th.
    pub middleboxes: Vec<(usize, Box<dyn Middlebox>)>,
    /// The run ends when any of these is set from outside.
    pub cancel: Vec<Arc<AtomicBool>>,
    /// Congestion controls that flows' own schemes may name besides those of the registry.
    pub controllers: Controllers,
    /// Takes no shortcut: connections predict nothing, links are general ones, and so no end is ahead and no packet is led on.
    /// Only the number of events differs.
    pub no_shortcuts: bool,
    /// Receives the simulated time so far, in nanoseconds.
    pub progress: Option<&'a AtomicU64>,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub record: RunRecord,
    /// Time series are absent unless asked for.
    pub series: Option<Series>,
    /// Packets and turns are absent unless asked for.
    pub packets: Option<PacketSeries>,
    pub turns: Option<TurnSeries>,
}

/// Runs `scenario` with `scheme` on every flow that names no scheme of its own. The same arguments give the same record
/// on any machine, to the byte.
///
/// # Errors
/// A flow's own scheme does not resolve, an option names a link or node that does not exist, a capture cannot be
/// written, or the run was cancelled.
pub fn run(
    scenario: &Scenario,
    scheme: &Scheme,
    seed: u64,
    mut options: RunOptions<'_>,
) -> Result<Outcome, RunError> {
    let (cancel, progress) = (std::mem::take(&mut options.cancel), options.progress);
    let mut running = Running::new(scenario, scheme, seed, options)?;
    let tell = |now: Time| {
        if let Some(progress) = progress {
            progress.store(now.0, Ordering::Relaxed);
        }
    };
    let is_cancelled = || cancel.iter().any(|cancel| cancel.load(Ordering::Relaxed));
    while !is_cancelled() {
        tell(running.now());
        if !running.advance(EVENTS_PER_LOOK) {
            break;
        }
    }
    // Even at the end: a controller that was interrupted has done nothing since.
    if is_cancelled() {
        return Err(RunError::Cancelled);
    }
    tell(running.end);
    running.finish()
}

/// Events between two looks at `cancel` and `progress`.
const EVENTS_PER_LOOK: u64 = 1 << 12;

/// A run that advances step by step, for callers that do other things in between.
pub struct Running {
    scenario: Scenario,
    label: String,
    seed: u64,
    engine: Engine,
    end: Time,
    events: u64,
}

impl Running {
    /// Begins what [`run`] does. Ignores the options `cancel` and `progress`.
    ///
    /// # Errors
    /// As [`run`].
    pub fn new(
        scenario: &Scenario,
        scheme: &Scheme,
        seed: u64,
        options: RunOptions<'_>,
    ) -> Result<Running, RunError> {
        let RunOptions { series, packets, captures, middleboxes, controllers, no_shortcuts, .. } = options;
        let chances = Chances::new(seed);
        let scenario = scenario.for_scheme(scheme).for_seed(seed).into_owned();
        let mut stations = Stations::new(&scenario, &chances, no_shortcuts);
        let mut flows = flows(&scenario, scheme, &controllers, &chances, &mut stations)?;
        stations.trunks(&controllers, &mut flows)?;
        let mut topology = stations.topology();
        stations.serve_all(middleboxes, &mut flows)?;
        let (stations, circuits) = stations.placed(&mut flows, &mut topology);
        let taps =
            captures.into_iter().map(|capture| tap(&scenario, capture)).collect::<Result<Vec<_>, _>>()?;
        let log = packets.then(|| PacketLog::new(&mut topology));
        let recorder = series.map(|interval| Recorder::new(interval, flows.len()));
        let mut engine = Engine::new(Network::new(topology, recorder, taps, log), flows, stations, circuits);
        let end = Time::ZERO + scenario.duration;
        let warm_up = Some(Time::ZERO + scenario.warmup).filter(|_| scenario.warmup > Dur::ZERO);
        engine.set_ends(warm_up, end);
        Ok(Running { scenario, label: scheme.label.clone(), seed, engine, end, events: 0 })
    }

    /// Handles this number of events, each with what follows from it without an event of its own. Returns `false` if
    /// the run is over.
    pub fn advance(&mut self, events: u64) -> bool {
        for _ in 0..events {
            if !self.engine.step(self.end) {
                return false;
            }
            self.events += 1;
        }
        true
    }

    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Ends the run now.
    ///
    /// # Errors
    /// A capture that could not be written.
    pub fn finish(self) -> Result<Outcome, RunError> {
        let Running { scenario, label, seed, engine, end, events } = self;
        let mut finished = engine.finish(end);
        // Whether anybody watches makes no difference.
        let events = events + finished.included_events;
        let record = record(&scenario, label, seed, &mut finished, events);
        let Finished { network: Network { recorder, taps, log, mut topology, .. }, flows, .. } = finished;
        taps.into_iter().try_for_each(Tap::finish)?;
        let flows = flows.iter().zip(0..).filter(|(flow, _)| flow.shared.is_measured);
        let rtts = flows.map(|(flow, index)| (index, &flow.rtt));
        Ok(Outcome {
            record,
            series: recorder.map(|recorder| recorder.finish(rtts)),
            turns: log.is_some().then(|| TurnSeries::of(&mut topology, end)),
            packets: log.map(PacketLog::finish),
        })
    }
}

fn flows(
    scenario: &Scenario,
    scheme: &Scheme,
    controllers: &Controllers,
    chances: &Chances,
    stations: &mut Stations<'_>,
) -> Result<Vec<Flow>, RunError> {
    let mut flows = Vec::new();
    for (spec, flow) in scenario.flows.iter().enumerate() {
        let scheme = stations.allowed(scenario.scheme_of(flow, scheme, controllers)?);
        stations.check_room(&scheme, flow)?;
        let at_base_station = stations.base_station(&scheme, flow)?;
        let rules = Arc::new(Rules::new(&scheme.connection()).expect("schemes are checked before the run"));
        let shared = Arc::new(Shared { spec, is_measured: flow.measure, scheme, rules, chances: *chances });
        let data = direction(scenario.direction_of(flow));
        for instance in 0..flow.count {
            let ways = stations.ways(flow.route(instance))?;
            let handlers = at_base_station.into_iter().collect();
            let one = Flow { handlers, ..one_flow(flow, &shared, instance, data, ways) };
            // The compared scheme does not apply to datagrams.
            let is_wanted = flow.scheme.is_some() || !matches!(flow.traffic, model::Traffic::Udp(_));
            flows.push(if is_wanted { stations.own_circuit(one, flow) } else { one });
        }
    }
    Ok(flows)
}

fn one_flow(spec: &model::Flow, shared: &Arc<Shared>, instance: u32, data: Direction, ways: Ways) -> Flow {
    let name = format!("flow.{}.{instance}", spec.name);
    let start = spec.start_of(instance, &shared.chances);
    let payload = shared.scheme.config.segment_payload();
    let source = Source::new(spec, start, payload, shared.chances, &format!("{name}.traffic"));
    Flow {
        shared: shared.clone(),
        instance,
        direction: data,
        nodes: ways.nodes,
        ways: ways.sides,
        routes: ways.routes,
        handlers: Default::default(),
        circuit: None,
        runs_ahead: false,
        station_ahead: None,
        ways_ahead: ways.sides,
        late_packets: 0,
        counted_at: Default::default(),
        counted_by: None,
        source: Some(Box::new(source)),
        chance: Dormant::new(&format!("{name}.connections")),
        connection: None,
        counts: Default::default(),
        rtt: Default::default(),
        past: None,
    }
}

fn tap(scenario: &Scenario, capture: Capture) -> Result<Tap, RunError> {
    let names = || scenario.links.iter().map(|link| link.name.as_str());
    let link = names().position(|name| name == capture.link).ok_or_else(|| RunError::UnknownLink {
        name: capture.link.clone(),
        known: names().collect::<Vec<_>>().join(", "),
    })?;
    Ok(Tap::new(link, capture)?)
}

fn record(scenario: &Scenario, scheme: String, seed: u64, finished: &mut Finished, events: u64) -> RunRecord {
    let flows = flow_records(scenario, finished);
    let to_bound = |flow: &'_ Flow| {
        let Shared { spec, is_measured, ref scheme, .. } = *flow.shared;
        Bounded { spec, instance: flow.instance, is_measured, packet: PacketSize::of(&scheme.config) }
    };
    let (names, period) = (PathNames::of(scenario), scenario.duration.saturating_sub(scenario.warmup));
    let (now, topology) = (finished.network.now, &mut finished.network.topology);
    let (links, media) = (names.links(topology, now, period), names.media(topology, now));
    let measured = || flows.iter().filter(|flow| flow.measured).map(|flow| flow.goodput_bps);
    RunRecord {
        scheme,
        seed,
        duration_s: scenario.duration.as_secs_f64(),
        warmup_s: scenario.warmup.as_secs_f64(),
        goodput_bps: measured().sum(),
        jain_index: jain_index(measured()),
        bound_bps: bound_bps(scenario, seed, finished.flows.iter().map(to_bound)),
        links,
        media,
        circuits: circuit_records(finished),
        events,
        packets_delivered: finished.flows.iter().map(Flow::packets_delivered).sum(),
        flows,
    }
}

#[allow(clippy::vec_box, reason = "as in the record")]
fn flow_records(scenario: &Scenario, finished: &Finished) -> Vec<Box<FlowRecord>> {
    let mut under_way: Vec<u64> = finished.flows.iter().map(|flow| flow.late_packets.into()).collect();
    for packet in finished.network.packets.iter().filter(|packet| packet.is_data()) {
        under_way[packet.flow as usize] += 1;
    }
    let period = (Time::ZERO + scenario.warmup, finished.network.now);
    let flows = finished.flows.iter().zip(&finished.totals).zip(under_way);
    flows
        .map(|((flow, totals), under_way)| {
            let spec = &scenario.flows[flow.shared.spec];
            Box::new(FlowRecord::new(spec, flow, totals, under_way, period))
        })
        .collect()
}

fn circuit_records(finished: &Finished) -> Vec<CircuitRecord> {
    finished.circuits.iter().map(|circuit| CircuitRecord::new(circuit, finished.network.now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::model::{Arrivals, Flow as FlowSpec, Link, Side, Traffic};
    use airtcp_wire::{Bytes, Rate};

    /// Places for connections and packets are reused: memory depends on what happens at once, not on the run's length.
    #[test]
    fn memory_does_not_grow_with_time() {
        let side = Side::plain(Rate(10_000_000), Dur::from_millis(10), 30);
        let mut scenario = Scenario::over(vec![Link::symmetric("link", side)], Dur::from_secs(400));
        let interval = Dur::from_millis(20);
        let poisson = Traffic::Poisson(Arrivals { interval, size: Bytes(15_000), exponential: true });
        scenario.flows = vec![FlowSpec { traffic: poisson, ..FlowSpec::unlimited("short", 0, 0) }];
        let scheme = Scheme::parse("cubic", "linux").unwrap();
        let chances = Chances::new(1);
        let mut stations = Stations::new(&scenario, &chances, false);
        let flows = flows(&scenario, &scheme, &Controllers::default(), &chances, &mut stations).unwrap();
        let topology = stations.topology();
        let mut engine =
            Engine::new(Network::new(topology, None, Vec::new(), None), flows, Vec::new(), Vec::new());
        let mut places = Vec::new();
        for end in [100, 200, 300, 400] {
            while engine.step(Time::ZERO + Dur::from_secs(end)) {}
            places.push(engine.places());
        }
        let (connections, packets) = places[3];
        assert!(connections < 200 && connections <= 2 * places[0].0, "{places:?}");
        assert!(packets < 500 && packets <= 2 * places[0].1, "{places:?}");
        let past = engine.finish(Time::NEVER).flows.remove(0).past;
        assert!(past.is_some_and(|past| past.completions.len() > 19_000));
    }
}
