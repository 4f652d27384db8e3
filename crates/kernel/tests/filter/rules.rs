//! The C rules and the protocol machine judge the same packets alike.

use airtcp_kernel_host::filter::{self, FlowState, Verdict};
use airtcp_proto::Chances;
use airtcp_proto::base_station::{Machine, MachineBuild, packet_control::Config};
use airtcp_proto::middlebox::{Direction, FlowId, Middlebox, Origin, SeenPacket};
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::profile;
use airtcp_sim::scenario::Recipe;
use airtcp_sim::{RunOptions, run};
use airtcp_wire::{Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Time, Timestamps};
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Counts of each kind of verdict.
type Counts = [u32; 3];

/// The protocol machine, with the C rules beside it.
struct Twins {
    machine: Box<dyn Middlebox>,
    flow: FlowState,
    threshold: u32,
    counts: Arc<Mutex<Counts>>,
}

impl Twins {
    fn new(threshold: u32) -> Twins {
        let (tcp, chance) = (profile::linux(), Chances::new(1).chance("filter"));
        let build = MachineBuild { tcp: &tcp, hosts: &tcp, chance };
        let machine = Config { threshold, ..Config::default() }.build(build);
        Twins { machine, flow: FlowState::default(), threshold, counts: Arc::default() }
    }
}

impl Middlebox for Twins {
    fn handle_packet(&mut self, now: Time, packet: &SeenPacket, out: &mut Vec<SeenPacket>) -> bool {
        let before = out.len();
        let goes_on = self.machine.handle_packet(now, packet, out);
        let is_forward = packet.direction == Direction::Forward;
        let verdict = self.flow.judge(&in_c(packet), is_forward, self.threshold);
        self.counts.lock().unwrap()[verdict as usize] += 1;
        match (verdict, goes_on, &out[before..]) {
            (Verdict::Pass, true, []) | (Verdict::Drop, false, []) => {}
            (Verdict::Answer, false, [answer]) => {
                let last = self.flow.last();
                let said = filter::Segment { len: 0, ..in_c(answer) };
                assert_eq!(said, last, "{packet:?}");
            }
            (verdict, ..) => panic!("{verdict:?}, the machine {goes_on} {out:?}: {packet:?}"),
        }
        self.flow.bury();
        goes_on
    }
}

fn in_c(packet: &SeenPacket) -> filter::Segment {
    let segment = &packet.segment;
    let blocks = segment.sack.as_slice();
    let mut sack = [[0; 2]; 4];
    for (to, (left, right)) in sack.iter_mut().zip(blocks) {
        *to = [left.0, right.0];
    }
    filter::Segment {
        seq: segment.seq.0,
        ack: segment.ack.0,
        len: segment.len,
        ts_value: segment.timestamps.map_or(0, |stamps| stamps.value),
        ts_echo: segment.timestamps.map_or(0, |stamps| stamps.echo),
        window: segment.window,
        flags: segment.flags.0 as u8,
        is_marked: packet.ecn == Ecn::Ce,
        has_timestamps: segment.timestamps.is_some(),
        sack_count: blocks.len() as u8,
        sack,
    }
}

/// A radio link whose delay jumps, and a wired link behind the base station that loses ACKs: what was only late
/// is sent again and again.
const PATH: &str = r#"
duration = "60s"
schemes = ["reno"]
[[link]]
rate = "100Mbit/s"
delay = "10ms"
reverse = { loss = { packet = 0.6 } }
[[link]]
rate = "2Mbit/s"
delay = "40ms"
loss = { packet = 0.01 }
jitter = { distribution = "uniform", low = "0ms", high = "30ms", overtaking = true }
spikes = { period = "4s", length = "1s", extra = "2s" }
"#;

/// Packets of the simulator's hosts, recorded as they pass the base station, where the filter has a say.
#[test]
fn the_simulators_packets_are_judged_alike() {
    let mut total = Counts::default();
    for (scheme, threshold) in
        [("reno:sack=false", 6), ("cubic", 3), ("reno", 12), ("reno:timestamps=false", 9)]
    {
        let scenario = Recipe::new(PATH, "path.toml", Path::new("."), &[]).read().unwrap();
        let scheme = Scheme::parse(scheme, "linux").unwrap();
        let twins = Twins::new(threshold);
        let counts = Arc::clone(&twins.counts);
        let options = RunOptions { middleboxes: vec![(1, Box::new(twins))], ..RunOptions::default() };
        run(&scenario, &scheme, 1, options).unwrap();
        total.iter_mut().zip(*counts.lock().unwrap()).for_each(|(total, count)| *total += count);
    }
    let [passed, dropped, answered] = total;
    assert!(passed > 1000 && dropped > 500 && answered > 10, "{total:?}");
}

fn segment() -> impl Strategy<Value = Segment> {
    let flags = prop_oneof![
        30 => Just(Flags::ACK),
        1 => Just(Flags::ACK | Flags::FIN),
        1 => Just(Flags::SYN),
        1 => Just(Flags::RST),
        1 => Just(Flags::ACK | Flags::CWR),
        1 => Just(Flags(0)),
    ];
    // Close together, so that there are duplicates, around the wrap, and now and then far away.
    let place = || {
        prop_oneof![
            30 => (0..40u32).prop_map(|steps| Seq((steps * 250).wrapping_sub(5000))),
            1 => any::<u32>().prop_map(Seq),
        ]
    };
    let stamps = prop::option::of((any::<u32>(), any::<u32>()));
    let blocks = prop::collection::vec((place(), place()), 0..4);
    let len = prop_oneof![Just(0), Just(1), Just(250), Just(1000), Just(64_000)];
    (place(), place(), flags, 0..3u16, len, stamps, blocks).prop_map(
        |(seq, ack, flags, window, len, stamps, blocks)| {
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let mut sack = SackBlocks::default();
            blocks.into_iter().for_each(|(left, right)| sack.push(left, right));
            Segment { seq, ack, flags, window, len, timestamps, sack, syn: SynOptions::default() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_lives_are_judged_alike(
        threshold in (1..5u32).prop_map(|steps| 3 * steps),
        packets in prop::collection::vec((any::<bool>(), any::<bool>(), segment()), 1..200),
    ) {
        let mut twins = Twins::new(threshold);
        for (back, is_marked, segment) in packets {
            let packet = SeenPacket {
                flow: FlowId(1),
                direction: if back { Direction::Reverse } else { Direction::Forward },
                ecn: if is_marked { Ecn::Ce } else { Ecn::NotEct },
                bytes: 40 + segment.len,
                segment,
                origin: Origin::default(),
            };
            twins.handle_packet(Time::ZERO, &packet, &mut Vec::new());
        }
    }
}
