//! Snoop: Balakrishnan et al. 1995, §3.1.

use crate::base_station::bench::Seen::{Ack, Data};
use crate::base_station::bench::{Bench, blocks};
use airtcp_proto::middlebox::{Direction, FlowId, Origin};
use airtcp_wire::{Flags, Segment, Timestamps};

/// Segments 0 to `n` − 1 sent at 0, and segment 0 acknowledged at 40 ms: the wireless round trip is known.
fn started(n: u64) -> Bench {
    let mut bench = Bench::new("snoop");
    for segment in 0..n {
        assert_eq!(bench.data(segment), [Data(segment)]);
    }
    assert_eq!(bench.at(40), []);
    assert_eq!(bench.ack(1), [Ack(1)]);
    bench
}

/// A loss that the base station has a copy of: resent at the first duplicate ACK, which the fixed host does not see, nor
/// any other; then everything that was sent is acknowledged at once.
#[test]
fn the_first_duplicate_resends_and_none_reaches_the_fixed_host() {
    let mut bench = started(6);
    bench.at(41);
    assert_eq!(bench.ack(1), [Data(1)]);
    for _ in 3..6 {
        assert_eq!(bench.ack(1), []);
    }
    bench.at(81);
    assert_eq!(bench.ack(6), [Ack(6)]);
    assert!(bench.machine.poll_timeout().is_never(), "nothing is out");
}

/// What the base station makes is no packet of the fixed host's.
#[test]
fn a_copy_says_that_it_is_one() {
    let mut bench = started(3);
    let duplicate = bench.ack_packet(1);
    let copies = bench.put(duplicate);
    assert_eq!(copies[0].origin.order, Origin::default().order);
    assert_eq!(copies[0].bytes, bench.data_packet(1).bytes);
}

#[test]
fn a_lost_copy_is_resent_when_more_duplicates_come_than_were_expected() {
    let mut bench = started(4);
    assert_eq!(bench.ack(1), [Data(1)]);
    bench.at(80);
    // Segments 2 and 3 account for two more.
    assert_eq!(bench.ack(1), []);
    assert_eq!(bench.data(4), [Data(4)]);
    bench.at(85);
    assert_eq!(bench.ack(1), []);
    bench.at(90);
    assert_eq!(bench.ack(1), [Data(1)]);
}

/// Two losses in one window: the acknowledgment that the first repair brings points at the second.
#[test]
fn a_partial_acknowledgment_resends_the_next_hole() {
    let mut bench = started(6);
    assert_eq!(bench.ack(1), [Data(1)]);
    bench.at(80);
    assert_eq!(bench.ack(3), [Ack(3), Data(3)]);
}

#[test]
fn with_sack_all_holes_are_filled_at_once_and_only_they() {
    let mut bench = started(8);
    // 1, 3 and 4 are missing.
    assert_eq!(bench.sack(1, 2, 3), [Data(1)]);
    let mut duplicate = bench.ack_packet(1);
    duplicate.segment.sack = blocks(&[(5, 6), (2, 3)]);
    assert_eq!(bench.give(duplicate), [Data(3), Data(4)]);
    assert_eq!(bench.sack(1, 5, 7), []);
    bench.at(80);
    assert_eq!(bench.ack(8), [Ack(8)]);
}

/// The local timer waits for SRTT + 4·RTTVAR: 40 + 4·20 ms after one sample, 100 ms at least.
#[test]
fn the_local_timer_resends_when_no_duplicate_comes() {
    let mut bench = started(2);
    assert_eq!(bench.at(159), []);
    assert_eq!(bench.at(160), [Data(1)]);
    let mut quick = Bench::new("snoop");
    quick.data(0);
    quick.data(1);
    quick.at(4);
    quick.ack(1);
    assert_eq!(quick.at(103), []);
    assert_eq!(quick.at(104), [Data(1)]);
}

#[test]
fn after_ten_local_attempts_the_loss_is_the_fixed_hosts() {
    let mut bench = started(3);
    let attempts = bench.at(60_000);
    assert_eq!(attempts, [Data(1); 10]);
    assert_eq!(bench.ack(1), [Ack(1)], "the duplicate ACK passes");
}

/// What the fixed host resends was lost before the base station, or is of no use in the cache: its duplicate ACKs are what
/// the fixed host's recovery counts on.
#[test]
fn duplicates_for_what_the_fixed_host_has_resent_pass() {
    let mut bench = Bench::new("snoop");
    bench.data(0);
    bench.at(40);
    bench.ack(1);
    // Segment 1 never came.
    assert_eq!(bench.data(2), [Data(2)]);
    assert_eq!(bench.ack(1), [Ack(1)]);
    assert_eq!(bench.data(1), [Data(1)]);
    assert_eq!(bench.ack(1), [Ack(1)]);
}

#[test]
fn data_that_is_acknowledged_is_answered_and_not_sent_again() {
    let mut bench = started(3);
    let resent = bench.data_packet(0);
    let answer = bench.put(resent)[0];
    let expected = Segment { sack: Default::default(), ..bench.ack_packet(1).segment };
    assert_eq!((answer.direction, answer.segment), (Direction::Reverse, expected));
    assert_eq!(answer.bytes, 52);
}

#[test]
fn old_acknowledgments_are_dropped_unless_they_carry_data() {
    let mut bench = started(3);
    assert_eq!(bench.ack(0), []);
    let mut with_data = bench.ack_packet(0);
    with_data.segment.len = 10;
    assert_eq!(bench.give(with_data), [Ack(0)]);
}

/// A changed window without a SACK block is an update, and no duplicate.
#[test]
fn a_window_update_passes() {
    let mut bench = started(3);
    let mut update = bench.ack_packet(1);
    update.segment.window = 2000;
    assert_eq!(bench.give(update), [Ack(1)]);
}

#[test]
fn what_the_base_stations_own_queue_drops_is_the_fixed_hosts_to_hear_of() {
    let mut bench = started(4);
    let dropped = bench.data_packet(1);
    bench.machine.handle_drop(bench.now, &dropped);
    assert_eq!(bench.ack(1), [Ack(1)]);
}

#[test]
fn beyond_a_full_cache_losses_are_the_fixed_hosts() {
    let mut bench = Bench::new("snoop:cache=2");
    (0..4).for_each(|segment| assert_eq!(bench.data(segment), [Data(segment)]));
    bench.at(40);
    bench.ack(2);
    assert_eq!(bench.ack(2), [Ack(2)]);
}

/// RFC 7323 §5.3 R1: a timestamp older than TS.Recent would be refused.
#[test]
fn a_copy_is_as_new_as_what_the_mobile_host_has_accepted() {
    let mut bench = started(6);
    let mut duplicate = bench.ack_packet(1);
    duplicate.segment.timestamps = Some(Timestamps { value: 41, echo: 30 });
    bench.give(duplicate);
    bench.at(80);
    let mut partial = bench.ack_packet(2);
    partial.segment.timestamps = Some(Timestamps { value: 80, echo: 60 });
    let out = bench.put(partial);
    assert_eq!(out[1].segment.timestamps, Some(Timestamps { value: 60, echo: 0 }));
}

#[test]
fn flows_are_kept_apart_and_end() {
    let mut bench = started(4);
    bench.flow = FlowId(2);
    assert_eq!(bench.ack(1), [Ack(1)], "another flow's duplicate");
    bench.flow = FlowId(1);
    let mut reset = bench.ack_packet(1);
    reset.segment.flags = Flags::RST | Flags::ACK;
    bench.give(reset);
    assert!(bench.machine.poll_timeout().is_never());
    assert_eq!(bench.ack(1), [Ack(1)], "nothing is known of the flow any more");
}

#[test]
fn both_fins_end_a_flow() {
    let mut bench = started(2);
    bench.ack(2);
    let mut fin = bench.data_packet(2);
    (fin.segment.len, fin.segment.flags) = (0, Flags::FIN | Flags::ACK);
    bench.give(fin);
    assert!(!bench.machine.poll_timeout().is_never(), "a FIN can be lost, too");
    let mut answer = bench.ack_packet(2);
    (answer.segment.ack, answer.segment.flags) = (answer.segment.ack.at(1), Flags::FIN | Flags::ACK);
    bench.give(answer);
    let mut last = bench.packet(Direction::Forward, Segment { len: 0, ..fin.segment });
    (last.segment.flags, last.segment.ack) = (Flags::ACK, fin.segment.ack.at(1));
    bench.give(last);
    assert!(bench.machine.poll_timeout().is_never());
}
