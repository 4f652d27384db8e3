//! What holds on a medium, whatever links share it.

use super::link::{
    Arrivals, QueueKind, RATE, Sender, Setup, arq, arrivals, chance, link, run, run_polling, setups,
};
use airtcp_proto::Chance;
use airtcp_proto::path::medium::Keys;
use airtcp_proto::path::{
    Access, Aggregate, Airtime, Arq, Burst, Fate, FixedRate, Link, LossModel, Medium, Outcome, Output,
    RoundRobin, Schedule, Supply, Transmitter, TurnStats, wifi,
};
use airtcp_proto::queue::{DropCause, DropTail, Item, Limit};
use airtcp_wire::{Dur, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

/// Links that contend wait for a random number of slots, drawn anew for each turn. Those that draw the same number collide.
struct Slots {
    chance: Chance,
    contend: BTreeMap<usize, Time>,
    /// When each one that contends would send.
    due: BTreeMap<usize, Time>,
    free_at: Time,
}

impl Slots {
    fn new() -> Slots {
        let (contend, due) = (BTreeMap::new(), BTreeMap::new());
        Slots { chance: chance("slots"), contend, due, free_at: Time::ZERO }
    }

    fn draw(&mut self, link: usize) {
        let slots = self.chance.range_f64(0.0, 4.0) as u64;
        self.due.insert(link, self.contend[&link].max(self.free_at) + Dur(slots * 9_000));
    }
}

impl Access for Slots {
    fn contend(&mut self, now: Time, link: usize) {
        self.contend.insert(link, now);
        self.draw(link);
    }

    fn next_turn(&self) -> Time {
        self.due.values().min().copied().unwrap_or(Time::NEVER)
    }

    fn grant(&mut self, now: Time, turn: &mut Vec<usize>) {
        turn.extend(self.due.iter().filter(|(_, due)| **due <= now).map(|(link, _)| *link));
        for link in turn {
            self.contend.remove(link);
            self.due.remove(link);
        }
    }

    fn release(&mut self, now: Time, _link: usize, _outcome: Outcome) {
        self.free_at = now;
        for link in self.contend.keys().copied().collect::<Vec<_>>() {
            self.draw(link);
        }
    }
}

/// A transmission: its link, when it began and ended, and how many frames it carried.
type Log = Arc<Mutex<Vec<(usize, Time, Time, usize)>>>;

/// A transmitter that writes down what it sends.
struct Logged {
    aggregate: Aggregate,
    link: usize,
    log: Log,
}

impl Transmitter for Logged {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        self.aggregate.departure(start, bytes)
    }

    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Schedule {
        let schedule = self.aggregate.serve(start, supply, burst);
        self.log.lock().unwrap().push((self.link, start, schedule.ends, burst.len()));
        schedule
    }
}

/// A link of `RATE` behind `room` packets on a medium: bursts of up to `most`, an overhead of 0.1 ms, and 5 ms to the far end.
fn aggregating(link: usize, most: usize, room: u32, log: &Log) -> Link {
    let transmitter = Box::new(FixedRate::new(RATE));
    let aggregate = Aggregate { transmitter, most, overhead: Dur::from_micros(100) };
    let queue = Box::new(DropTail::new(Limit::packets(room)));
    Link::new(queue, Box::new(Logged { aggregate, link, log: log.clone() }), Dur::from_millis(5))
}

/// Loses copies at random.
struct Random(Chance, f64);

impl LossModel for Random {
    fn is_lost(&mut self, _: Time, _: &Item) -> bool {
        self.0.range_f64(0.0, 1.0) < self.1
    }
}

#[derive(Clone, Debug)]
struct Cell {
    /// The largest burst of each link.
    most: Vec<usize>,
    access: Who,
    loss: f64,
    retries: u32,
    in_order: bool,
}

/// Who has the next turn.
#[derive(Clone, Copy, Debug)]
enum Who {
    RoundRobin,
    Slots,
    /// The links begin at two nodes.
    Wifi,
}

fn cells() -> impl Strategy<Value = Cell> {
    let most = prop::collection::vec(1usize..9, 1..5);
    let access = prop::sample::select(&[Who::RoundRobin, Who::Slots, Who::Wifi][..]);
    (most, access, 0.0..0.5, 0u32..5, any::<bool>())
        .prop_map(|(most, access, loss, retries, in_order)| Cell { most, access, loss, retries, in_order })
}

fn links(cell: &Cell, log: &Log) -> Vec<Link> {
    let medium = match cell.access {
        Who::RoundRobin => Medium::new(RoundRobin::default()),
        Who::Slots => Medium::new(Slots::new()),
        Who::Wifi => wifi::Config::default().build(&[[0, 1], [1, 0], [0, 1], [1, 0]], &[], chance("wifi")),
    };
    let link = |(number, &most): (usize, &usize)| {
        aggregating(number, most, 20, log)
            .with_loss(Box::new(Random(chance(&format!("loss.{number}")), cell.loss)))
            .with_arq(Arq { retries: cell.retries, round_trip: Dur::ZERO, ..arq(0, cell.in_order) })
            .on(&medium)
    };
    cell.most.iter().enumerate().map(link).collect()
}

fn turn_stats(link: &Link, now: Time) -> TurnStats {
    link.turn_stats(now).expect("it is on a medium")
}

/// How long one link sent, and how long several did.
fn spent(log: &[(usize, Time, Time, usize)]) -> [Dur; 2] {
    let mut spent = [Dur::ZERO; 2];
    for turn in log.chunk_by(|one, other| one.1 == other.1) {
        let end = turn.iter().map(|(_, _, end, _)| *end).max().unwrap();
        spent[usize::from(turn.len() > 1)] += end.since(turn[0].1);
    }
    spent
}

/// Each packet goes to the link that its flow names. A driver that wakes each link at the time that it named when it was last called.
pub fn drive(links: &mut [Link], arrivals: &Arrivals) -> Vec<(usize, Output)> {
    let mut wakes = vec![Time::NEVER; links.len()];
    let (mut next, mut out) = (arrivals.iter().peekable(), Vec::new());
    loop {
        let (wake, woken) = wakes.iter().copied().zip(0..).min().expect("links");
        let called = match next.next_if(|(at, _)| *at < wake) {
            Some(&(at, item)) => {
                let called = item.flow as usize % links.len();
                links[called].handle_packet(at, item);
                called
            }
            None if wake.is_never() => return out,
            None => {
                let mut taken = 0;
                while let Some(output) = links[woken].poll_delivery(wake) {
                    assert!(
                        output.at <= wake && (output.at == wake || output.fate != Fate::Delivered),
                        "{output:?} at {wake}"
                    );
                    out.push((woken, output));
                    taken += 1;
                }
                assert!(
                    taken > 0 || links[woken].poll_timeout() > wake,
                    "woken at {wake} for nothing, again and again"
                );
                woken
            }
        };
        wakes[called] = links[called].poll_timeout();
        while let Some(moved) = links[called].poll_moved() {
            wakes[moved] = links[moved].poll_timeout();
        }
    }
}

proptest! {
    /// A link alone on its medium, which sends one packet at a time, is the link that it would be without one.
    #[test]
    fn alone_and_one_by_one_it_is_a_link_without_a_medium(setup in setups(), arrivals in arrivals(), step in 10_000..5_000_000u64) {
        // What a hand-off finds in repetition is not the same: here, a copy waits for its turn.
        let arq = if matches!(setup.outages, Some(Some(_))) { None } else { setup.arq };
        let setup = Setup { arq, ..setup };
        let mut links = [link(setup), link(setup).on(&Medium::new(RoundRobin::default()))];
        let told = links.each_mut().map(|link| {
            let mut out = run(link, &arrivals);
            out.sort_by_key(|output| (output.at, output.id));
            let end = out.last().map_or(Time::ZERO, |output| output.at) + Dur::from_millis(1);
            (out, link.stats(end), link.queue_view(end))
        });
        prop_assert_eq!(&told[0], &told[1]);
        let mut polled = run_polling(&mut link(setup).on(&Medium::new(RoundRobin::default())), &arrivals, Dur(step));
        polled.sort_by_key(|output| (output.at, output.id));
        prop_assert_eq!(&told[0].0, &polled);
    }

    /// The same at an instant in the middle, and after a reset there.
    #[test]
    fn alone_it_counts_the_same(setup in setups(), arrivals in arrivals(), reset_at in 0..100_000_000u64) {
        let setup = Setup { arq: None, ..setup };
        let mut links = [link(setup), link(setup).on(&Medium::new(RoundRobin::default()))];
        let told = links.each_mut().map(|link| {
            let mut told = Vec::new();
            let mut is_reset = false;
            for &(at, item) in &arrivals {
                if at >= Time(reset_at) && !is_reset {
                    link.reset_stats(Time(reset_at));
                    is_reset = true;
                }
                link.handle_packet(at, item);
                told.push((link.stats(at), link.queue_view(at)));
            }
            told
        });
        prop_assert_eq!(&told[0], &told[1]);
    }

    /// Every packet comes out once, and in order if the link keeps it. Never do two links send at once, except where they collide: then
    /// they begin together. Each one's airtime is what it counts.
    #[test]
    fn packets_are_conserved_and_one_link_sends_at_a_time(cell in cells(), arrivals in arrivals()) {
        let log = Log::default();
        let mut links = links(&cell, &log);
        let out = drive(&mut links, &arrivals);
        let mut ids: Vec<_> = out.iter().map(|(_, output)| output.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..arrivals.len() as u32).collect::<Vec<_>>());
        for number in 0..links.len() {
            let own = || out.iter().filter(move |(link, _)| *link == number).map(|(_, output)| output);
            prop_assert!(own().is_sorted_by_key(|output| output.at));
            let delivered = own().filter(|output| output.fate == Fate::Delivered);
            prop_assert!(!cell.in_order || delivered.is_sorted_by_key(|output| output.id));
        }
        let log = log.lock().unwrap();
        let mut ends = Time::ZERO;
        for turn in log.chunk_by(|one, other| one.1 == other.1) {
            prop_assert!(turn.len() == 1 || !matches!(cell.access, Who::RoundRobin), "{turn:?}");
            prop_assert!(turn[0].1 >= ends, "{turn:?} begins before {ends}");
            ends = turn.iter().map(|(_, _, end, _)| *end).max().unwrap();
        }
        for (number, link) in links.iter_mut().enumerate() {
            let own = log.iter().filter(|(link, ..)| *link == number);
            let busy = own.clone().fold(Dur::ZERO, |sum, (_, start, end, _)| sum + end.since(*start));
            prop_assert_eq!(link.stats(ends).busy, busy);
            prop_assert!(own.map(|(.., frames)| *frames).max() <= Some(cell.most[number]));
        }
    }

    /// Every packet that was lost was given up for a cause. Each frame that could not be read was sent again, or was its packet's last.
    #[test]
    fn frames_and_losses_are_counted_by_cause(cell in cells(), arrivals in arrivals()) {
        let log = Log::default();
        let mut links = links(&cell, &log);
        drive(&mut links, &arrivals);
        let end = ms(1_000_000);
        for (number, link) in links.iter_mut().enumerate() {
            let (stats, turns) = (link.stats(end), turn_stats(link, end));
            let own: Vec<_> = log.lock().unwrap().iter().filter(|turn| turn.0 == number).copied().collect();
            prop_assert_eq!(turns.turns, own.len() as u64);
            prop_assert_eq!(turns.frames, own.iter().map(|turn| turn.3 as u64).sum::<u64>());
            prop_assert_eq!(turns.frames - turns.retries, stats.sent_packets);
            let failed = turns.failed_collision + turns.failed_error;
            prop_assert_eq!(turns.collided_frames + turns.erred_frames, turns.retries + failed);
            prop_assert_eq!(failed, stats.dropped(DropCause::Corruption));
            prop_assert!(turns.collided_frames >= turns.collisions);
            prop_assert!(cell.loss > 0.0 || turns.erred_frames == 0);
            prop_assert!(turns.retries > 0 || turns.retry_delay.max == Dur::ZERO);
            prop_assert!(turns.retries > 0 && cell.in_order || turns.reordering_delay.max == Dur::ZERO);
        }
    }

    /// What a medium did sums to the time. It is busy while one of its links sends outside collisions.
    #[test]
    fn airtime_sums_to_the_time(cell in cells(), arrivals in arrivals(), reset_at in 0..100_000_000u64) {
        let (reset_at, end, log) = (Time(reset_at), ms(1_000_000), Log::default());
        let mut links = links(&cell, &log);
        let (before, after) = arrivals.split_at(arrivals.partition_point(|(at, _)| *at < reset_at));
        let mut parts = Vec::new();
        for (part, start, now) in [(before, Time::ZERO, reset_at), (after, reset_at, end)] {
            for &(at, item) in part {
                links[item.flow as usize % cell.most.len()].handle_packet(at, item);
            }
            let medium = turn_stats(&links[0], now).medium;
            prop_assert_eq!(medium.idle + medium.busy + medium.colliding, now.since(start));
            let alone = links.iter_mut().map(|link| link.stats(now).busy - turn_stats(link, now).colliding);
            prop_assert_eq!(alone.fold(Dur::ZERO, |sum, own| sum + own), medium.busy);
            prop_assert!(links.iter().all(|link| turn_stats(link, now).colliding <= medium.colliding));
            parts.push((medium, links.iter().map(|link| turn_stats(link, now)).collect::<Vec<_>>()));
            links.iter_mut().for_each(|link| link.reset_stats(now));
        }
        let alone_and_colliding = spent(&log.lock().unwrap());
        let sum = |of: fn(&Airtime) -> Dur| of(&parts[0].0) + of(&parts[1].0);
        prop_assert_eq!([sum(|of| of.busy), sum(|of| of.colliding)], alone_and_colliding);
        for (number, turns) in parts[0].1.iter().zip(&parts[1].1).enumerate() {
            let own = log.lock().unwrap().iter().filter(|turn| turn.0 == number).count();
            prop_assert_eq!(turns.0.turns + turns.1.turns, own as u64);
        }
    }

    /// Who asks, and how often, changes nothing.
    #[test]
    fn a_driver_that_asks_all_links_all_the_time_sees_the_same(cell in cells(), arrivals in arrivals(), step in 50_000..5_000_000u64) {
        let mut woken = drive(&mut links(&cell, &Log::default()), &arrivals);
        let (mut polled, mut polled_links) = (Vec::new(), links(&cell, &Log::default()));
        let (mut next, mut tick) = (arrivals.iter().peekable(), Time::ZERO);
        while next.peek().is_some() || polled_links.iter().any(|link| !link.poll_timeout().is_never()) {
            let now = next.peek().map_or(tick, |(at, _)| tick.min(*at));
            for (number, link) in polled_links.iter_mut().enumerate() {
                polled.extend(std::iter::from_fn(|| link.poll_delivery(now)).map(|output| (number, output)));
            }
            match next.next_if(|(at, _)| *at == now) {
                Some(&(at, item)) => polled_links[item.flow as usize % cell.most.len()].handle_packet(at, item),
                None => tick = now + Dur(step),
            }
        }
        for out in [&mut woken, &mut polled] {
            out.sort_by_key(|(link, output)| (output.at, *link, output.id));
        }
        prop_assert_eq!(woken, polled);
    }
}

/// 1 250 bytes take 1 ms; the overhead is 0.1 ms.
fn packet(id: u32) -> Item {
    Item { id, bytes: 1250, ..Item::default() }
}

fn outputs(link: &mut Link) -> Vec<(u32, u64, bool)> {
    let next = || link.poll_delivery(Time(u64::MAX - 1));
    let told = |output: Output| (output.id, output.at.0 / 100_000, output.fate == Fate::Delivered);
    std::iter::from_fn(next).map(told).collect()
}

#[test]
fn two_links_take_turns_with_bursts_that_cost_their_overhead_once() {
    let (medium, log) = (Medium::new(RoundRobin::default()), Log::default());
    let [mut down, mut up] =
        [(0, 4), (1, 1)].map(|(number, most)| aggregating(number, most, 20, &log).on(&medium));
    (0..6).for_each(|id| down.handle_packet(Time::ZERO, packet(id)));
    (6..8).for_each(|id| up.handle_packet(Time::ZERO, packet(id)));
    // The first packet found nobody else. Four of the others leave together, when a packet of the other link has left.
    assert_eq!(
        outputs(&mut down).iter().map(|told| told.1).collect::<Vec<_>>(),
        [61, 113, 113, 113, 113, 135]
    );
    assert_eq!(outputs(&mut up), [(6, 72, true), (7, 124, true)]);
    let airtime = [&mut down, &mut up].map(|link| link.stats(ms(20)).busy.0 / 1000);
    assert_eq!(airtime, [6300, 2200]);
    // `up` waits for a packet and then for four, `down` for a packet of `up` each time.
    let delays = [&down, &up].map(|link| turn_stats(link, ms(20)).access_delay);
    assert_eq!(delays.map(|delay| delay.max), [Dur::from_micros(1100), Dur::from_micros(4100)]);
    assert_eq!(delays.map(|delay| delay.mean().0 / 1000), [2200 / 3, 2600]);
}

/// Loses the copies with these numbers.
struct Lost(u32, Vec<u32>);

impl LossModel for Lost {
    fn is_lost(&mut self, _: Time, _: &Item) -> bool {
        self.0 += 1;
        self.1.contains(&(self.0 - 1))
    }
}

#[test]
fn a_frame_that_failed_leads_the_next_burst_and_those_behind_it_wait() {
    for in_order in [true, false] {
        let medium = Medium::new(RoundRobin::default());
        let mut link = aggregating(0, 3, 20, &Log::default())
            .with_loss(Box::new(Lost(0, vec![2, 4])))
            .with_arq(Arq { round_trip: Dur::ZERO, ..arq(1, in_order) })
            .on(&medium);
        (0..6).for_each(|id| link.handle_packet(Time::ZERO, packet(id)));
        // 0 alone; 1 to 3, of which 2 is lost; 2, lost again and for good, with 4, since the burst ends three behind 2; 5.
        let expected = match in_order {
            true => vec![
                (0, 61, true),
                (1, 92, true),
                (2, 113, false),
                (3, 113, true),
                (4, 113, true),
                (5, 124, true),
            ],
            false => vec![
                (0, 61, true),
                (1, 92, true),
                (3, 92, true),
                (2, 123, false),
                (4, 123, true),
                (5, 123, true),
            ],
        };
        assert_eq!(outputs(&mut link), expected, "{in_order}");
        let turns = turn_stats(&link, ms(20));
        assert_eq!(turns.turns, if in_order { 4 } else { 3 });
        assert_eq!((turns.frames, turns.retries, turns.erred_frames), (7, 1, 2));
        assert_eq!((turns.failed_error, turns.failed_collision, turns.collided_frames), (1, 0, 0));
        // 2 is sent again and lost. 3 waits for it.
        assert_eq!(turns.retry_delay.max, Dur::ZERO);
        let waits = if in_order { Dur::from_micros(2100) } else { Dur::ZERO };
        assert_eq!((turns.reordering_delay.max, turns.reordering_delay.mean()), (waits, waits / 5));
    }
}

/// A transmitter that knows the channel.
struct Radio(Aggregate);

impl Transmitter for Radio {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        self.0.departure(start, bytes)
    }

    /// No more than 2 500 bytes fit. The last frame of each burst is lost, unless it is a repetition.
    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Schedule {
        let mut room = 2500;
        while let Some(frame) = supply.take(8) {
            if frame.bytes > room {
                supply.put_back(frame);
                break;
            }
            room -= frame.bytes;
            burst.push(frame);
        }
        if let Some(last) = burst.last_mut() {
            last.is_readable = last.repeats > 0;
        }
        let bytes = burst.iter().map(|frame| frame.bytes).sum();
        Schedule::data(self.departure(start, bytes))
    }
}

#[test]
fn a_transmitter_may_fill_a_burst_by_size_and_say_itself_which_frames_fail() {
    let aggregate = Aggregate { transmitter: Box::new(FixedRate::new(RATE)), most: 8, overhead: Dur::ZERO };
    let queue = Box::new(DropTail::new(Limit::packets(20)));
    let mut link = Link::new(queue, Box::new(Radio(aggregate)), Dur::ZERO)
        .with_arq(Arq { round_trip: Dur::ZERO, ..arq(1, true) })
        .on(&Medium::new(RoundRobin::default()));
    (0..4).for_each(|id| link.handle_packet(Time::ZERO, packet(id)));
    // 0, lost; 0 and 1, lost; 1 and 2, lost; 2 and 3, lost; 3.
    assert_eq!(outputs(&mut link), [(0, 30, true), (1, 50, true), (2, 70, true), (3, 80, true)]);
    assert_eq!(link.stats(ms(8)).sent_packets, 4);
}

/// A hand-off loses what is in repetition, and what waits for it in order.
#[test]
fn a_handoff_loses_what_is_not_settled() {
    let setup = Setup {
        queue: QueueKind::AskedDropTail,
        sender: Sender::Fixed,
        limit: 20,
        delay: Dur::ZERO,
        ber: 0.5,
        jitter: None,
        outages: Some(Some(Default::default())),
        arq: Some(Arq { round_trip: Dur::ZERO, ..arq(u32::MAX, true) }),
    };
    let mut link = link(setup).on(&Medium::new(RoundRobin::default()));
    let out = run(&mut link, &(0..20).map(|id| (Time::ZERO, packet(id))).collect());
    assert_eq!(out.len(), 20);
    assert!(out.iter().all(|output| output.fate == Fate::Lost(DropCause::Outage)), "{out:?}");
}
