//! What holds for every queueing discipline, whatever arrives: the list is `queue::Discipline`'s.

use airtcp_proto::Chances;
use airtcp_proto::choice::{Choice, Faults};
use airtcp_proto::queue::{Build, Discipline, DropCause, Drops, Item, Limit, Queue};
use airtcp_wire::{Dur, Ecn, Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Every discipline with its default keys. A required key gets the first example of its type, or 5.
fn disciplines() -> impl Iterator<Item = Discipline> {
    Discipline::KINDS.iter().map(|kind| {
        let settings = schemars::generate::SchemaSettings::default().with(|all| all.inline_subschemas = true);
        let schema = (kind.schema)(&mut settings.into_generator());
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let keys = required.filter_map(Value::as_str).map(|key| {
            let example = schema.pointer(&format!("/properties/{key}/examples/0"));
            (key.to_owned(), example.cloned().unwrap_or(json!(5)))
        });
        let keys: Value = keys.collect::<serde_json::Map<_, _>>().into();
        let discipline =
            Discipline::read(kind.name, keys).unwrap_or_else(|wrong| panic!("{}: {wrong}", kind.name));
        let mut faults = Faults::default();
        Choice::check(&discipline, &mut faults);
        assert!(faults.into_iter().next().is_none(), "the defaults of {}", kind.name);
        discipline
    })
}

fn built(discipline: &Discipline, packets: u32) -> Box<dyn Queue> {
    let (limit, rate) = (Limit::packets(packets), Rate(10_000_000));
    discipline.build(Build { limit, rate, chance: Chances::new(1).chance("queue") })
}

/// One packet comes, or the transmitter asks, after so many µs.
#[derive(Clone, Debug)]
enum Step {
    Enqueue { bytes: u32, flow: u32, is_header: bool, is_capable: bool },
    Dequeue,
}

const LEAST_BYTES: u32 = 20;

fn steps() -> impl Strategy<Value = Vec<(u32, Step)>> {
    let packet = (LEAST_BYTES..3000, 0u32..4, any::<bool>(), any::<bool>());
    let packet = packet.prop_map(|(bytes, flow, is_header, is_capable)| Step::Enqueue {
        bytes,
        flow,
        is_header,
        is_capable,
    });
    let step = prop_oneof![3 => packet, 2 => Just(Step::Dequeue)];
    proptest::collection::vec((prop_oneof![0u32..50, 0u32..200_000], step), 1..300)
}

proptest! {
    /// What comes in leaves once, unharmed; no flow's packets change places; no more waits than there is room for; counts are
    /// right, and only what is ECN-capable is marked.
    #[test]
    fn packets_are_kept_and_leave_once_in_order(room in 1u32..40, steps in steps()) {
        for discipline in disciplines() {
            let mut queue = built(&discipline, room);
            let (mut now, mut drops) = (Time::ZERO, Drops::new());
            let (mut came, mut waiting, mut marked) = (Vec::<Item>::new(), BTreeSet::new(), 0);
            let mut last_of_flow = [None; 4];
            for (after, step) in &steps {
                now += Dur::from_micros(u64::from(*after));
                let sent = match *step {
                    Step::Enqueue { bytes, flow, is_header, is_capable } => {
                        let id = came.len() as u32;
                        let ecn = if is_capable { Ecn::Ect0 } else { Ecn::NotEct };
                        came.push(Item { id, bytes, flow, is_header, ecn });
                        waiting.insert(id);
                        queue.enqueue(now, came[id as usize], &mut drops);
                        None
                    }
                    Step::Dequeue => queue.dequeue(now, &mut drops),
                };
                for (item, cause) in drops.drain(..) {
                    prop_assert!(waiting.remove(&item.id), "{discipline:?}: {item:?} left twice");
                    prop_assert!(matches!(cause, DropCause::Overflow | DropCause::Aqm));
                }
                if let Some(item) = sent {
                    let before = came[item.id as usize];
                    prop_assert!(waiting.remove(&item.id), "{discipline:?}: {item:?} left twice");
                    prop_assert_eq!(Item { ecn: before.ecn, ..item }, before);
                    prop_assert!(item.ecn == before.ecn || (before.ecn.is_capable() && item.ecn == Ecn::Ce));
                    marked += u64::from(item.ecn == Ecn::Ce);
                    let last = &mut last_of_flow[item.flow as usize];
                    prop_assert!(last.is_none_or(|last| last < item.id), "{discipline:?} reorders a flow");
                    *last = Some(item.id);
                }
                let bytes: u64 = waiting.iter().map(|&id| u64::from(came[id as usize].bytes)).sum();
                prop_assert_eq!((queue.len(), queue.bytes()), (waiting.len(), bytes), "{:?}", discipline);
                // What has its tokens needs no room.
                let bucket = discipline.bucket().map_or(0, |bucket| bucket.burst.0 as usize / LEAST_BYTES as usize);
                prop_assert!(waiting.len() <= room as usize + bucket, "{discipline:?} holds too much");
                prop_assert!(queue.marked() >= marked);
            }
            while !now.is_never() {
                match queue.dequeue(now, &mut drops) {
                    Some(item) => prop_assert!(waiting.remove(&item.id), "{discipline:?}: {item:?} left twice"),
                    None => now = queue.ready_at(),
                }
            }
            prop_assert!(drops.iter().all(|(item, _)| waiting.remove(&item.id)) && waiting.is_empty());
        }
    }
}

/// A hand-off loses whatever waits, at once.
#[test]
fn all_that_waits_can_be_discarded() {
    for discipline in disciplines() {
        let (mut queue, mut drops) = (built(&discipline, 100), Drops::new());
        (0..3000).for_each(|id| {
            queue.enqueue(Time::ZERO, Item { id, bytes: 1500, ..Item::default() }, &mut drops)
        });
        let (before, waiting) = (drops.len(), queue.len());
        assert!(waiting > 0, "{discipline:?}");
        let discarded = std::iter::from_fn(|| queue.discard(Time::ZERO, &mut drops)).count();
        assert_eq!((discarded + drops.len() - before, queue.len()), (waiting, 0), "{discipline:?}");
    }
}

/// Whoever waits alone goes on: an idle link takes a packet at once, whatever came before.
#[test]
fn a_packet_that_comes_alone_is_sent() {
    for discipline in disciplines() {
        let (mut queue, mut drops) = (built(&discipline, 100), Drops::new());
        for second in 1..1000 {
            let now = Time(second * 1_000_000_000);
            queue.enqueue(now, Item { id: second as u32, bytes: 1500, ..Item::default() }, &mut drops);
            assert_eq!(
                queue.dequeue(now, &mut drops).map(|item| item.id),
                Some(second as u32),
                "{discipline:?}"
            );
            assert_eq!(queue.dequeue(now, &mut drops), None);
        }
        assert!(drops.is_empty(), "{discipline:?}");
    }
}
