//! The C rules of header-first dropping, which see only how much waits, and the simulator's queue drop the same packets.

use airtcp_kernel_host::header_first::{Arrival, Limits, Memory, Verdict};
use airtcp_proto::queue::header_first::HeaderFirst;
use airtcp_proto::queue::{DropCause, Drops, Item, Limit, Queue};
use airtcp_wire::Time;
use proptest::prelude::*;
use std::collections::VecDeque;

/// One arrives, or some leave.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { bytes: u32, is_header: bool },
    Leave(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop_oneof![Just(52u32), Just(66), 1u32..9_000];
    let arrive = (bytes, any::<bool>()).prop_map(|(bytes, is_header)| Step::Arrive { bytes, is_header });
    let step = prop_oneof![4 => arrive, 1 => (1usize..6).prop_map(Step::Leave)];
    prop::collection::vec(step, 1..400)
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1u32..200).prop_map(Limit::packets),
        (1u64..300_000).prop_map(Limit::bytes),
        Just(Limit::NONE)
    ]
}

/// The simulator's answer, in the words of the program.
fn expected(queue: &mut HeaderFirst, item: Item) -> Verdict {
    let mut drops = Drops::new();
    queue.enqueue(Time::ZERO, item, &mut drops);
    match drops.first().map(|(_, cause)| *cause) {
        None => Verdict::Pass,
        Some(DropCause::Aqm) => Verdict::DropHeader,
        Some(_) => Verdict::Overflow,
    }
}

proptest! {
    #[test]
    fn the_rules_drop_what_the_simulator_drops(steps in steps(), limit in limit(), headers in 1u32..60) {
        let mut queue = HeaderFirst::new(limit, headers);
        let mut memory = Memory::new(Limits { bytes: limit.bytes, packets: limit.packets, headers });
        for (id, step) in (0..).zip(steps) {
            match step {
                Step::Leave(count) => (0..count).for_each(|_| _ = queue.dequeue(Time::ZERO, &mut Drops::new())),
                Step::Arrive { bytes, is_header } => {
                    let (waiting_bytes, waiting_packets) = (queue.bytes() as u32, queue.len() as u32);
                    let arrival = Arrival { bytes, packets: 1, is_header, waiting_bytes, waiting_packets };
                    let item = Item { id, bytes, is_header, ..Item::default() };
                    prop_assert_eq!(memory.judge(&arrival), expected(&mut queue, item));
                }
            }
        }
    }

    /// A long packet counts as those that it becomes. It is cut when it leaves, so that it is let in as a whole.
    #[test]
    fn long_packets_count_as_many(
        arrivals in prop::collection::vec((1u32..70, any::<bool>(), 0usize..3), 1..200),
        headers in 1u32..200,
    ) {
        let mut memory = Memory::new(Limits { bytes: u64::MAX, packets: u32::MAX, headers });
        let mut waiting: VecDeque<Arrival> = VecDeque::new();
        for (packets, is_header, leave) in arrivals {
            waiting.drain(..leave.min(waiting.len()));
            let sum = |value: fn(&Arrival) -> u32| waiting.iter().map(value).sum::<u32>();
            let waiting_headers = sum(|it| if it.is_header { it.packets } else { 0 });
            let (waiting_bytes, waiting_packets) = (sum(|it| it.bytes), waiting.len() as u32);
            let arrival = Arrival { bytes: 66 * packets, packets, is_header, waiting_bytes, waiting_packets };
            let verdict = memory.judge(&arrival);
            prop_assert_eq!(verdict == Verdict::DropHeader, is_header && waiting_headers >= headers);
            waiting.extend((verdict == Verdict::Pass).then_some(arrival));
        }
    }
}

/// The newest of 4096 header packets is told apart from the oldest.
#[test]
fn the_most_headers_that_may_wait_do() {
    let limits = Limits { bytes: u64::MAX, packets: u32::MAX, headers: 4096 };
    let (mut memory, mut waiting) = (Memory::new(limits), 0);
    let mut arrive = |waiting: &mut u32| {
        let arrival = Arrival {
            bytes: 66,
            packets: 1,
            is_header: true,
            waiting_bytes: 66 * *waiting,
            waiting_packets: *waiting,
        };
        let verdict = memory.judge(&arrival);
        *waiting += u32::from(verdict == Verdict::Pass);
        verdict
    };
    (0..4096).for_each(|_| assert_eq!(arrive(&mut waiting), Verdict::Pass));
    assert_eq!(arrive(&mut waiting), Verdict::DropHeader);
    waiting -= 1;
    assert_eq!([arrive(&mut waiting), arrive(&mut waiting)], [Verdict::Pass, Verdict::DropHeader]);
}
