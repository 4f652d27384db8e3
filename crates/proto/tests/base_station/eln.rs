//! Explicit loss notification at the base station, and what the sender makes of it.

use crate::base_station::bench::Bench;
use crate::base_station::bench::Seen::{Ack, Data, Eln};
use airtcp_proto::middlebox::{Direction, FlowId};
use airtcp_wire::Segment;

#[test]
fn what_has_passed_and_is_missed_was_lost_on_the_wireless_link() {
    let mut bench = Bench::new("eln");
    (0..5).for_each(|segment| assert_eq!(bench.data(segment), [Data(segment)]));
    assert_eq!(bench.ack(1), [Ack(1)]);
    assert_eq!(bench.ack(1), [Eln(1)]);
    assert_eq!(bench.sack(1, 2, 4), [Eln(1)]);
    assert_eq!(bench.ack(5), [Ack(5)]);
}

#[test]
fn what_never_came_by_was_congestion_even_after_it_has_been_resent() {
    let mut bench = Bench::new("eln");
    [0, 1, 3, 4, 6].into_iter().for_each(|segment| assert_eq!(bench.data(segment), [Data(segment)]));
    bench.ack(2);
    assert_eq!(bench.ack(2), [Ack(2)]);
    bench.data(2);
    assert_eq!(bench.ack(2), [Ack(2)]);
    // Segment 3 has passed: the next hole of the same window is a loss of the other kind.
    assert_eq!(bench.ack(3), [Ack(3)]);
    assert_eq!(bench.ack(3), [Eln(3)]);
}

#[test]
fn what_the_base_stations_own_queue_drops_was_congestion() {
    let mut bench = Bench::new("eln");
    (0..4).for_each(|segment| assert_eq!(bench.data(segment), [Data(segment)]));
    let dropped = bench.data_packet(1);
    bench.machine.handle_drop(bench.now, &dropped);
    bench.ack(1);
    assert_eq!(bench.ack(1), [Ack(1)]);
}

/// Balakrishnan & Katz 1998: of the mobile host's own data, a hole at the base station is a loss on the wireless link.
#[test]
fn of_the_mobile_hosts_data_holes_are_wireless_losses() {
    let mut bench = Bench::new("eln");
    let way_back = |bench: &Bench, forward: Segment| bench.packet(Direction::Reverse, forward);
    let way_there = |bench: &Bench, n: u64| bench.packet(Direction::Forward, bench.ack_packet(n).segment);
    for segment in [0, 1, 3, 4] {
        let packet = way_back(&bench, bench.data_packet(segment).segment);
        bench.put(packet);
    }
    let packet = way_there(&bench, 2);
    assert_eq!(bench.give(packet), [Ack(2)]);
    assert_eq!(bench.give(packet), [Eln(2)]);
    let later = way_there(&bench, 4);
    assert_eq!(bench.give(later), [Ack(4)]);
    assert_eq!(bench.give(later), [Ack(4)], "lost beyond the base station");
}

#[test]
fn holes_beyond_what_is_remembered_count_as_congestion() {
    let mut bench = Bench::new("eln:holes=1");
    [0, 2, 4, 6].into_iter().for_each(|segment| {
        bench.data(segment);
    });
    bench.ack(2);
    assert_eq!(bench.ack(2), [Ack(2)]);
}

#[test]
fn flows_are_kept_apart() {
    let mut bench = Bench::new("eln");
    (0..5).for_each(|segment| assert_eq!(bench.data(segment), [Data(segment)]));
    bench.flow = FlowId(2);
    bench.ack(1);
    assert_eq!(bench.ack(1), [Ack(1)]);
}
