//! A lean link beside a general one.

use crate::path::{FixedRate, Link};
use crate::queue::{Item, Limit};
use airtcp_wire::{Dur, Rate, Time};
use proptest::prelude::*;

/// 1 000 bytes take 1 ms.
fn link(limit: Limit, delay_ms: u64) -> Link {
    Link::drop_tail(limit, Box::new(FixedRate::new(Rate(8_000_000))), Dur::from_millis(delay_ms))
}

#[test]
fn what_passes_is_not_told_again_and_the_rest_in_order() {
    let mut link = link(Limit::packets(4), 10);
    let packet = |id| Item { id, bytes: 1000, ..Item::default() };
    let at = |ms| Time::ZERO + Dur::from_millis(ms);
    let pass = |link: &mut Link, id| link.pass(Time::ZERO, packet(id).bytes, || packet(id));
    link.set_horizon(at(12));
    assert_eq!([0, 1, 2, 3].map(|id| pass(&mut link, id)), [Some(at(11)), Some(at(12)), None, None]);
    // A packet that comes out after the horizon stays, with all packets behind it, until the horizon moves on.
    link.set_horizon(at(20));
    assert_eq!(link.pass(at(1), packet(4).bytes, || packet(4)), None);
    link.set_horizon(at(14));
    assert_eq!(link.release(), Some((at(13), 2)));
    assert_eq!(link.release(), Some((at(14), 3)));
    assert_eq!(link.release(), None);
    let last = link.poll_delivery(at(15)).unwrap();
    assert_eq!((last.id, last.at), (4, at(15)));
    assert_eq!(link.stats(at(20)).sent_packets, 5);
}

proptest! {
    /// The lean link counts by sizes what a general one counts packet by packet, with equal results whenever somebody asks.
    #[test]
    fn the_lean_link_does_and_counts_what_a_general_one_does(
        runs in prop::collection::vec(
            (prop::sample::select(vec![[40u32, 1000], [1000, 1000]]), 1usize..12, 0u64..2_500, 0u8..8),
            1..60,
        ),
        (packets, bytes) in (1u32..9, prop::sample::select(vec![900u64, 3_500, u64::MAX])),
    ) {
        let lean = || link(Limit { packets, bytes }, 3);
        let mut links = [lean(), lean().without_shortcut()];
        prop_assert!(links[0].can_pass() && !links[1].can_pass());
        let mut now = Time::ZERO;
        let steps = runs.into_iter().flat_map(|(sizes, count, pause_us, question)| {
            sizes.into_iter().cycle().take(count).map(move |bytes| (bytes, pause_us, question))
        });
        for (id, (bytes, pause_us, question)) in (0..).zip(steps) {
            now += Dur::from_micros(pause_us);
            let told = links.each_mut().map(|link| {
                let out: Vec<_> = std::iter::from_fn(|| link.poll_delivery(now))
                    .map(|output| (output.id, output.at, output.fate))
                    .collect();
                link.handle_packet(now, Item { id, bytes, ..Item::default() });
                let view = (question == 0).then(|| link.queue_view(now)).map(|view| (view.packets, view.bytes));
                let stats = (question < 3).then(|| link.stats(now));
                if question == 3 {
                    link.reset_stats(now);
                }
                (out, view, stats)
            });
            prop_assert_eq!(&told[0], &told[1]);
        }
        let stats = links.each_mut().map(|link| link.stats(now));
        prop_assert_eq!(stats[0], stats[1]);
    }
}
