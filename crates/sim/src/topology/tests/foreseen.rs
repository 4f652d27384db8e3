//! Where links have shortcuts.

use super::*;

#[test]
fn what_leads_on_comes_out_at_the_end_of_the_row() {
    let mut topology = chain([1, 2, 3].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
    topology.lead_on(|node| node != 2);
    topology.set_horizon(Time(1_600_000));
    // 0.5 ms on each link and its delay; the second packet is at node 1 after the horizon.
    send(&mut topology, Time::ZERO, Side(0), 0);
    assert_eq!((topology.next(), topology.passes()), ((Time(4_000_000), Side(2)), 1));
    send(&mut topology, Time::ZERO, Side(0), 1);
    assert_eq!((topology.next(), topology.passes()), ((Time(2_000_000), Side(0)), 1));
}

#[test]
fn what_is_foreseen_leaves_the_links_when_it_is_sent() {
    let mut topology = chain([1, 2].map(|delay_ms| (plain(delay_ms), plain(delay_ms))));
    topology.lead_on(|_| true);
    assert!(topology.foresee_round_trips(Direction::Forward));
    topology.set_horizon(Time(5_000_000));
    // 0.5 ms on each link and its delay; the third packet comes out after the horizon.
    let sent = [0, 1, 2].map(|id| send(&mut topology, Time::ZERO, Side(0), id));
    assert_eq!(sent, [Some(Time(4_000_000)), Some(Time(4_500_000)), Some(Time(5_000_000))]);
    assert_eq!(send(&mut topology, Time(1_000_000), Side(0), 3), None);
    assert_eq!(send(&mut topology, Time(4_000_000), Side(3), 4), None);
    assert_eq!(topology.next().0, Time(5_500_000));
    topology.set_horizon(Time(6_000_000));
    assert_eq!(topology.release(Side(2)), Some((Time(5_500_000), 3)));
    assert_eq!(topology.next(), (Time(6_500_000), Side(3)));
    assert_eq!(topology.release(Side(3)), None);
}

#[test]
fn what_comes_to_a_station_is_foreseen_if_all_beyond_it_is() {
    let links = |is_event: usize| {
        [0, 1, 2, 3].map(|at| if at == is_event { (link(1), plain(1)) } else { (plain(1), plain(1)) })
    };
    let is_foreseen = |is_event, node, direction| {
        let mut topology = chain(links(is_event));
        topology.put_station(node);
        topology.lead_on(|_| true);
        topology.foresee_round_trips(direction) && topology.foresee_station(node, direction)
    };
    let (forward, reverse) = (Direction::Forward, Direction::Reverse);
    assert_eq!([0, 1, 2].map(|event| is_foreseen(event, 2, forward)), [true, false, false]);
    assert_eq!([1, 2].map(|event| is_foreseen(event, 2, reverse)), [false, true]);
}
