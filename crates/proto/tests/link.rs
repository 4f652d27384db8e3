//! What holds for every link, whatever it is made of.

use airtcp_proto::path::jitter::{Keys, uniform};
use airtcp_proto::path::{
    Arq, BlockCode, Cover, Episodes, Fate, FixedRate, Handoff, Link, LogDriven, LogStep, Loss, LossModel,
    Output, RateLog, Starts, Trace, TraceDriven, Transmitter,
};
use airtcp_proto::queue::{
    Build, Discipline, DropCause, Item, Limit, Queue, codel, drop_tail, fq_codel, red, token_bucket,
};
use airtcp_proto::{Chance, Chances};
use airtcp_wire::{Bytes, Dur, Positive, Probability, Rate, Time};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueKind {
    /// The link's own, whose packets are scheduled as they arrive.
    DropTail,
    /// The same discipline, asked for each packet.
    AskedDropTail,
    Red,
    Codel,
    FqCodel,
    TokenBucket,
}

#[derive(Clone, Copy, Debug)]
pub enum Sender {
    Fixed,
    Trace,
    Log,
}

#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub queue: QueueKind,
    pub sender: Sender,
    pub limit: u32,
    pub delay: Dur,
    pub ber: f64,
    /// Largest jitter, and whether packets may overtake.
    pub jitter: Option<(Dur, bool)>,
    /// Outages of 20 ms, and whether they are hand-offs.
    pub outages: Option<Option<Handoff>>,
    pub arq: Option<Arq>,
}

pub const RATE: Rate = Rate(10_000_000);

pub fn chance(name: &str) -> Chance {
    Chances::new(1).chance(name)
}

fn queue(kind: QueueKind, limit: Limit) -> Box<dyn Queue> {
    let (target, interval) = (Dur::from_millis(2), Dur::from_millis(20));
    let discipline = match kind {
        QueueKind::DropTail | QueueKind::AskedDropTail => Discipline::DropTail(drop_tail::Config {}),
        QueueKind::Codel => Discipline::Codel(codel::Config { ecn: false, target, interval }),
        QueueKind::FqCodel => {
            Discipline::FqCodel(fq_codel::Config { target, interval, flows: 8, ..Default::default() })
        }
        QueueKind::Red => Discipline::Red(red::Config {
            ecn: true,
            min_threshold: Positive::new(2.0),
            max_threshold: Positive::new(6.0),
            weight: Probability::new(0.1),
            ..Default::default()
        }),
        // A third of the rate.
        QueueKind::TokenBucket => {
            Discipline::TokenBucket(token_bucket::Config { rate: Rate(RATE.0 / 3), burst: Bytes(4000) })
        }
    };
    discipline.build(Build { limit, rate: RATE, chance: chance("queue") })
}

fn losing(loss: &Loss) -> Box<dyn LossModel> {
    loss.build(None, chance).expect("something is lost")
}

fn trace() -> Trace {
    Trace::parse("1\n2\n2\n2\n5\n9\n9\n30\n").unwrap()
}

fn log() -> RateLog {
    let steps = [(10, 8_000_000), (5, 0), (7, 30_000_000)];
    RateLog::new(steps.map(|(ms, rate)| LogStep {
        length: Dur::from_millis(ms),
        rate: Rate(rate),
        latency: None,
    }))
    .unwrap()
}

pub fn link(setup: Setup) -> Link {
    let transmitter: Box<dyn Transmitter> = match setup.sender {
        Sender::Fixed => Box::new(FixedRate::new(RATE)),
        Sender::Trace => Box::new(TraceDriven::new(trace())),
        Sender::Log => Box::new(LogDriven(log())),
    };
    let limit = Limit::packets(setup.limit);
    let mut link = match setup.queue {
        QueueKind::DropTail => Link::drop_tail(limit, transmitter, setup.delay),
        kind => Link::new(queue(kind, limit), transmitter, setup.delay),
    };
    if setup.ber > 0.0 {
        link = link.with_loss(losing(&Loss { ber: setup.ber.into(), ..Loss::default() }));
    }
    if let Some(arq) = setup.arq {
        link = link.with_arq(arq);
    }
    if let Some((high, overtaking)) = setup.jitter {
        let variation = uniform::Config { low: Dur::ZERO, high };
        link = link.with_delay(variation.build(Time::ZERO, chance("delay")), overtaking);
    }
    if let Some(handoff) = setup.outages {
        let starts = Starts { every: Some(Dur::from_millis(50)), ..Starts::default() };
        link = link.with_outages(Episodes::new(Dur::from_millis(20), starts, chance("outage")), handoff);
    }
    link
}

/// Packets by time of arrival.
pub type Arrivals = Vec<(Time, Item)>;

/// Runs a link, waking it only when it asks for it, until all has come out.
pub fn run(link: &mut Link, arrivals: &Arrivals) -> Vec<Output> {
    run_until(link, arrivals, Time(u64::MAX - 1))
}

fn run_until(link: &mut Link, arrivals: &Arrivals, until: Time) -> Vec<Output> {
    let mut out = Vec::new();
    let mut next = arrivals.iter().peekable();
    loop {
        let wake = link.poll_timeout();
        match next.peek() {
            Some(&&(at, item)) if at < wake => {
                link.handle_packet(at, item);
                next.next();
            }
            _ if wake > until => return out,
            _ => out.extend(std::iter::from_fn(|| link.poll_delivery(wake))),
        }
    }
}

/// Runs a link, polling it at every multiple of `step` and at every arrival. Panics if anything comes out before the
/// link said it would, or later than it should. Only what a queue drops as it is asked may be seen sooner.
pub fn run_polling(link: &mut Link, arrivals: &Arrivals, step: Dur) -> Vec<Output> {
    let mut out = Vec::new();
    let mut next = arrivals.iter().peekable();
    let (mut last_poll, mut tick) = (None, Time::ZERO);
    while next.peek().is_some() || !link.poll_timeout().is_never() {
        let now = next.peek().map_or(tick, |&&(at, _)| at.min(tick));
        let promised = link.poll_timeout();
        let before = out.len();
        out.extend(std::iter::from_fn(|| link.poll_delivery(now)));
        for output in &out[before..] {
            let at_departure = output.fate == Fate::Lost(DropCause::Aqm);
            assert!(promised <= now || at_departure, "{output:?} came at {now}, promised for {promised}");
            assert!(
                output.at <= now && last_poll < Some(output.at),
                "{output:?} at {now} after {last_poll:?}"
            );
        }
        while let Some(&(at, item)) = next.next_if(|&&(at, _)| at == now) {
            link.handle_packet(at, item);
            out.extend(std::iter::from_fn(|| link.poll_delivery(now)));
        }
        last_poll = Some(now);
        tick += if tick <= now { step } else { Dur::ZERO };
    }
    out
}

pub fn arrivals() -> impl Strategy<Value = Arrivals> {
    // Bursts and pauses: gaps of up to 0.1 ms, 2 ms or 60 ms.
    let gap = prop_oneof![4 => 0..100_000u64, 3 => 0..2_000_000u64, 1 => 0..60_000_000u64];
    let packet = (gap, prop_oneof![Just(1500u32), Just(52), 40..1500u32], 0..3u32);
    prop::collection::vec(packet, 1..200).prop_map(|packets| {
        let mut at = Time::ZERO;
        (0..)
            .zip(packets)
            .map(|(id, (gap, bytes, flow))| {
                at += Dur(gap);
                (at, Item { id, bytes, flow, ..Item::default() })
            })
            .collect()
    })
}

fn handoffs() -> impl Strategy<Value = Handoff> {
    prop::option::of(0..30_000_000u64).prop_map(|forward| Handoff { forward: forward.map(Dur) })
}

pub fn setups() -> impl Strategy<Value = Setup> {
    use QueueKind::*;
    let queue = prop_oneof![
        Just(DropTail),
        Just(AskedDropTail),
        Just(Red),
        Just(Codel),
        Just(FqCodel),
        Just(TokenBucket)
    ];
    let sender = prop_oneof![Just(Sender::Fixed), Just(Sender::Trace), Just(Sender::Log)];
    let jitter = prop::option::of((0..20_000_000u64, any::<bool>()));
    (
        queue,
        sender,
        1..50u32,
        0..30_000_000u64,
        prop_oneof![Just(0.0), Just(1e-5), Just(5e-5)],
        jitter,
        prop::option::of(prop::option::of(handoffs())),
        prop::option::of((0..4u32, 0..30_000_000u64, any::<bool>())),
    )
        .prop_map(|(queue, sender, limit, delay, ber, jitter, outages, arq)| {
            let jitter = jitter.map(|(high, overtaking)| (Dur(high), overtaking));
            let arq = arq.map(|(retries, round_trip, in_order)| Arq {
                retries,
                round_trip: Dur(round_trip),
                in_order,
                cover: Cover::All,
            });
            Setup { queue, sender, limit, delay: Dur(delay), ber, jitter, outages, arq }
        })
}

proptest! {
    #[test]
    fn every_packet_comes_out_once_and_in_order_of_time(setup in setups(), arrivals in arrivals()) {
        let out = run(&mut link(setup), &arrivals);
        prop_assert!(out.is_sorted_by_key(|output| output.at));
        let mut ids: Vec<_> = out.iter().map(|output| output.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..arrivals.len() as u32).collect::<Vec<_>>());
        for output in out.iter().filter(|output| output.fate == Fate::Delivered) {
            prop_assert!(output.at >= arrivals[output.id as usize].0 + setup.delay);
        }
    }

    #[test]
    fn waking_when_asked_misses_nothing_that_constant_polling_sees(
        setup in setups(), arrivals in arrivals(), step in 10_000..5_000_000u64,
    ) {
        let mut woken = run(&mut link(setup), &arrivals);
        let mut polled = run_polling(&mut link(setup), &arrivals, Dur(step));
        // Which of a drop and a delivery at the same instant is seen first depends on who looks.
        for out in [&mut woken, &mut polled] {
            out.sort_by_key(|output| (output.at, output.id));
        }
        prop_assert_eq!(woken, polled);
    }

    #[test]
    fn order_is_kept_where_overtaking_is_not_allowed(setup in setups(), arrivals in arrivals()) {
        let setup = Setup {
            jitter: setup.jitter.map(|(high, _)| (high, false)),
            arq: setup.arq.map(|arq| Arq { in_order: true, ..arq }),
            // What is forwarded may be overtaken.
            outages: setup.outages.map(|handoff| handoff.map(|_| Handoff::default())),
            ..setup
        };
        let out = run(&mut link(setup), &arrivals);
        for flow in 0..3 {
            let delivered = out.iter().filter(|output| output.fate == Fate::Delivered);
            // Fair queueing keeps the order within a flow, all others that of all packets.
            let seen = delivered.filter(|output| setup.queue != QueueKind::FqCodel || arrivals[output.id as usize].1.flow == flow);
            prop_assert!(seen.is_sorted_by_key(|output| output.id));
        }
    }

    #[test]
    fn what_is_foreseen_is_what_asking_finds(setup in setups(), arrivals in arrivals(), reset_at in 0..100_000_000u64) {
        let [foreseen, asked] = [QueueKind::DropTail, QueueKind::AskedDropTail].map(|queue| {
            let mut link = link(Setup { queue, outages: setup.outages.and(Some(None)), ..setup });
            let (before, after) = arrivals.iter().copied().partition(|&(at, _)| at <= Time(reset_at));
            let mut out = run_until(&mut link, &before, Time(reset_at));
            link.reset_stats(Time(reset_at));
            let middle = (link.stats(Time(reset_at + 5_000_000)), link.queue_view(Time(reset_at + 5_000_000)));
            out.extend(run(&mut link, &after.into_iter().filter(|&(at, _)| at >= Time(reset_at + 5_000_000)).collect()));
            (out, middle, link.stats(Time(u64::MAX / 2)))
        });
        prop_assert_eq!(foreseen, asked);
    }

    #[test]
    fn the_transmitter_conserves_work_and_never_exceeds_its_rate(
        arrivals in arrivals(), asked: bool, delay in 0..30_000_000u64,
    ) {
        let queue = if asked { QueueKind::AskedDropTail } else { QueueKind::DropTail };
        let (limit, sender, delay) = (u32::MAX, Sender::Fixed, Dur(delay));
        let setup = Setup { queue, sender, limit, delay, ber: 0.0, jitter: None, outages: None, arq: None };
        let mut free_at = Time::ZERO;
        for (output, &(arrived, item)) in run(&mut link(setup), &arrivals).iter().zip(&arrivals) {
            free_at = free_at.max(arrived) + RATE.time_for(u64::from(item.bytes));
            prop_assert_eq!((output.id, output.at), (item.id, free_at + delay));
        }
    }

    /// The link does to the others what it would do had the lost ones never come.
    #[test]
    fn what_is_lost_before_the_queue_takes_nothing_of_the_link(setup in setups(), arrivals in arrivals()) {
        let setup = Setup { ber: 0.0, ..setup };
        let loss = Loss { packet: 0.3.into(), before_queue: true, ..Loss::default() };
        let mut out = run(&mut link(setup).with_loss_before_queue(losing(&loss)), &arrivals);
        let mut model = losing(&loss);
        let (lost, kept): (Vec<_>, Vec<_>) = arrivals.iter().partition(|&(at, item)| model.is_lost(*at, item));
        let lost = lost.into_iter().map(|(at, item)| {
            Output { id: item.id, ecn: item.ecn, at, fate: Fate::Lost(DropCause::Corruption) }
        });
        let mut expected: Vec<_> = run(&mut link(setup), &kept).into_iter().chain(lost).collect();
        for outputs in [&mut out, &mut expected] {
            outputs.sort_by_key(|output| (output.at, output.id));
        }
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn no_queue_lets_the_transmitter_rest_while_packets_wait(
        setup in setups().prop_filter("packets wait for tokens", |setup| setup.queue != QueueKind::TokenBucket),
        arrivals in arrivals(),
    ) {
        let setup = Setup { sender: Sender::Fixed, jitter: None, outages: None, arq: None, ..setup };
        let mut free_at = Time::ZERO;
        for output in run(&mut link(setup), &arrivals) {
            if matches!(output.fate, Fate::Lost(DropCause::Overflow | DropCause::Aqm)) {
                continue;
            }
            let start = output.at - setup.delay - RATE.time_for(u64::from(arrivals[output.id as usize].1.bytes));
            let arrived = arrivals[output.id as usize].0;
            prop_assert!(start == free_at.max(arrived), "{output:?} came at {arrived}, free since {free_at}");
            free_at = output.at - setup.delay;
        }
    }

    #[test]
    fn traces_and_logs_carry_no_more_than_their_capacity(arrivals in arrivals(), by_trace: bool) {
        let (queue, sender) = (QueueKind::DropTail, if by_trace { Sender::Trace } else { Sender::Log });
        let setup =
            Setup { queue, sender, limit: u32::MAX, delay: Dur::ZERO, ber: 0.0, jitter: None, outages: None, arq: None };
        let mut sent = 0;
        for output in run(&mut link(setup), &arrivals) {
            sent += u64::from(arrivals[output.id as usize].1.bytes);
            let after = output.at + Dur(1);
            let capacity = if by_trace { trace().capacity_bytes(after) } else { log().capacity_bytes(after) + 1 };
            prop_assert!(sent <= capacity, "{sent} > {capacity} at {}", output.at);
        }
    }
}

/// 1 000 bytes take 0.8 ms; what is neither out at 50 ms nor arrives later is lost then.
#[test]
fn a_handoff_loses_what_waits_and_what_is_under_way() {
    let starts = Starts { at: vec![Time(50_000_000)], ..Starts::default() };
    let handoff = Episodes::new(Dur::from_millis(20), starts, chance("outage"));
    let mut link = Link::drop_tail(Limit::packets(100), Box::new(FixedRate::new(RATE)), Dur::from_millis(10))
        .with_outages(handoff, Some(Handoff::default()));
    let at_ms = [30, 39, 40, 49, 49, 49, 49, 60, 60];
    let arrivals: Vec<_> = (0..)
        .zip(at_ms)
        .map(|(id, ms)| (Time(ms * 1_000_000), Item { id, bytes: 1000, ..Item::default() }))
        .collect();
    let out = run(&mut link, &arrivals);
    let delivered = |output: &&Output| output.fate == Fate::Delivered;
    let times: Vec<_> =
        out.iter().filter(delivered).map(|output| (output.id, output.at.0 / 100_000)).collect();
    // The packet that was being sent at 50 ms still costs the transmitter the rest of its time, 0.6 ms of 0.8 ms.
    assert_eq!(times, [(0, 408), (1, 498), (7, 814), (8, 822)]);
    let lost = out.iter().filter(|output| output.fate == Fate::Lost(DropCause::Outage));
    assert!(lost.clone().all(|output| output.at == Time(50_000_000)));
    assert_eq!(lost.map(|output| output.id).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
}

/// Paper 003 §III: while the packets that waited are forwarded, what is sent later is served, and overtakes them. 1 000 bytes take 0.8 ms.
#[test]
fn a_handoff_may_forward_what_waits() {
    let starts = Starts { at: vec![Time(50_000_000)], ..Starts::default() };
    let handoff = Episodes::new(Dur::from_millis(20), starts, chance("outage"));
    let forward = Some(Dur::from_millis(100));
    let mut link = Link::drop_tail(Limit::packets(100), Box::new(FixedRate::new(RATE)), Dur::from_millis(10))
        .with_outages(handoff, Some(Handoff { forward }));
    let at_ms = [49, 49, 49, 49, 60, 60];
    let arrivals: Vec<_> = (0..)
        .zip(at_ms)
        .map(|(id, ms)| (Time(ms * 1_000_000), Item { id, bytes: 1000, ..Item::default() }))
        .collect();
    let out = run(&mut link, &arrivals);
    let delivered = out.iter().filter(|output| output.fate == Fate::Delivered);
    let times: Vec<_> = delivered.map(|output| (output.id, output.at.0 / 100_000)).collect();
    // 0 and 1 are on the air at 50 ms and lost; 2 and 3 join the queue again at 150 ms.
    assert_eq!(times, [(4, 814), (5, 822), (2, 1608), (3, 1616)]);
    let lost: Vec<_> =
        out.iter().filter(|output| output.fate != Fate::Delivered).map(|output| output.id).collect();
    assert_eq!(lost, [0, 1]);
    let stats = link.stats(Time(200_000_000));
    assert_eq!((stats.arrived_packets, stats.sent_packets), (6, 6));
}

/// M/D/1: with Poisson arrivals and load ρ, ρ²/(2(1 − ρ)) packets wait on average (Pollaczek–Khinchine).
#[test]
fn the_mean_queue_is_that_of_m_d_1() {
    for (load, tolerance) in [(0.5, 0.02), (0.8, 0.04)] {
        let mut link = Link::drop_tail(Limit::NONE, Box::new(FixedRate::new(RATE)), Dur::from_millis(10));
        let service = RATE.time_for(1000);
        let (mut gaps, mut at) = (chance("arrivals"), Time::ZERO);
        for id in 0..400_000 {
            at += Dur::from_secs_f64(gaps.exponential(service.as_secs_f64() / load));
            link.handle_packet(at, Item { id, bytes: 1000, ..Item::default() });
            while link.poll_delivery(at).is_some() {}
        }
        let stats = link.stats(at);
        let expected = load * load / (2.0 * (1.0 - load));
        let ratio = stats.mean_queue_packets / expected;
        assert!(
            (ratio - 1.0).abs() < tolerance,
            "load {load}: {} is not {expected}",
            stats.mean_queue_packets
        );
        let used = stats.busy.as_secs_f64() / at.as_secs_f64();
        assert!((used / load - 1.0).abs() < 0.01, "{used}");
    }
}

/// The largest average is that of any arrival since the counts began; other disciplines have none.
#[test]
fn the_largest_average_of_red_is_counted() {
    let mut link = Link::new(
        queue(QueueKind::Red, Limit::packets(20)),
        Box::new(FixedRate::new(RATE)),
        Dur::from_millis(10),
    );
    let service = RATE.time_for(1000);
    let mut largest = 0.0_f64;
    for id in 0..200 {
        // A burst of twice the rate, and then half of it.
        let now = Time::ZERO
            + if id < 100 { service / 2 * u64::from(id) } else { service * u64::from(2 * id - 150) };
        while link.poll_delivery(now).is_some() {}
        link.handle_packet(now, Item { id, bytes: 1000, ..Item::default() });
        largest = largest.max(link.queue_view(now).average.unwrap());
    }
    let end = Time(1_000_000_000);
    assert_eq!(link.stats(end).max_average_queue, Some(largest));
    assert!(link.queue_view(end).average.unwrap() < largest);
    link.reset_stats(end);
    assert_eq!(link.stats(end).max_average_queue, None);
}

/// At 1e-4, 30 % of the full-sized packets survive and 96 % of the ACKs, but all of them use the link.
#[test]
fn corrupted_packets_use_the_link_and_count_as_corrupted() {
    let mut link = Link::drop_tail(Limit::NONE, Box::new(FixedRate::new(RATE)), Dur::ZERO)
        .with_loss(losing(&Loss { ber: 1e-4.into(), ..Loss::default() }));
    let arrivals = (0..2000).map(|id| (Time::ZERO, Item { id, bytes: 1500, ..Item::default() })).collect();
    let out = run(&mut link, &arrivals);
    let lost = out.iter().filter(|output| output.fate == Fate::Lost(DropCause::Corruption)).count();
    assert!((1300..1500).contains(&lost), "{lost}");
    let stats = link.stats(out[1999].at);
    assert_eq!(stats.busy, RATE.time_for(1500) * 2000);
    assert_eq!((stats.sent_packets, stats.dropped(DropCause::Corruption)), (2000, lost as u64));
}

pub fn arq(retries: u32, in_order: bool) -> Arq {
    Arq { retries, round_trip: Dur::from_millis(20), in_order, cover: Cover::All }
}

/// 1 000 bytes take 0.8 ms and 10 ms more to the far end; the first packet is lost twice, so that its third copy leaves
/// two round trips and two transmissions after the first one. The others wait for it, or only for the transmitter.
#[test]
fn arq_repeats_after_a_round_trip_and_costs_the_others_its_transmissions() {
    let times = |in_order| {
        let loss = losing(&Loss { packets: vec![1, 2].into(), ..Loss::default() });
        let mut link = Link::drop_tail(Limit::NONE, Box::new(FixedRate::new(RATE)), Dur::from_millis(10))
            .with_loss(loss)
            .with_arq(arq(3, in_order));
        let arrivals = (0..3).map(|id| (Time::ZERO, Item { id, bytes: 1000, ..Item::default() })).collect();
        let out = run(&mut link, &arrivals);
        assert!(out.iter().all(|output| output.fate == Fate::Delivered));
        assert_eq!(link.stats(Time(1_000_000_000)).busy, RATE.time_for(1000) * 5);
        out.iter().map(|output| (output.id, output.at.0 / 100_000)).collect::<Vec<_>>()
    };
    assert_eq!(times(false), [(1, 132), (2, 140), (0, 524)]);
    assert_eq!(times(true), [(0, 524), (1, 524), (2, 524)]);
}

/// With independent losses of probability p, p^(n + 1) are left after n retries.
#[test]
fn arq_leaves_p_to_the_retries_plus_one() {
    for (retries, expected) in [(0, 0.3), (1, 0.09), (2, 0.027)] {
        let mut link = Link::drop_tail(Limit::NONE, Box::new(FixedRate::new(RATE)), Dur::ZERO)
            .with_loss(losing(&Loss { packet: 0.3.into(), ..Loss::default() }))
            .with_arq(arq(retries, false));
        let n = 50_000;
        let arrivals = (0..n).map(|id| (Time::ZERO, Item { id, bytes: 100, ..Item::default() })).collect();
        let lost = run(&mut link, &arrivals).iter().filter(|output| output.fate != Fate::Delivered).count();
        let share = lost as f64 / f64::from(n);
        let bound = 5.0 * f64::sqrt(expected * (1.0 - expected) / f64::from(n));
        assert!((share - expected).abs() < bound, "{retries} retries: {share}");
    }
}

/// Paper 000 §10: the link protects header packets alone; parity takes its time on the air.
#[test]
fn a_link_may_protect_header_packets_alone() {
    let code = BlockCode { symbol_bits: 8, data_symbols: 223, parity_symbols: 32 };
    let mut link = Link::drop_tail(Limit::NONE, Box::new(FixedRate::new(RATE)), Dur::ZERO)
        .with_loss(losing(&Loss { packet: 1.0.into(), ..Loss::default() }))
        .with_code(code, Cover::HeaderPackets)
        .with_arq(Arq { cover: Cover::HeaderPackets, ..arq(1, false) });
    link.handle_packet(Time::ZERO, Item { id: 0, bytes: 100, ..Item::default() });
    assert_eq!(link.stats(Time(1_000_000_000)).busy, RATE.time_for(100));
    link.reset_stats(Time(1_000_000_000));
    link.handle_packet(Time(1_000_000_000), Item { id: 1, bytes: 100, is_header: true, ..Item::default() });
    assert_eq!(link.stats(Time(2_000_000_000)).busy, RATE.time_for(132) * 2);
}
