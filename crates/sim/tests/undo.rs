//! Spurious retransmissions need a path that delays packets unevenly. On one that does not, nothing may be undone.

use airtcp_proto::scheme::Scheme;
use airtcp_sim::scenario::model::{Flow, Link, Side};
use airtcp_sim::{RunOptions, Scenario, run};
use airtcp_wire::{Dur, Rate};

/// RFC 3522 §3.2 with RFC 4015: a recovery that begins while retransmissions of the one before are on their way is
/// not spurious for their old timestamps. Undone again and again, it would keep the queue overflowing.
#[test]
fn an_overflowing_queue_costs_a_few_packets_an_episode() {
    for scheme in ["cubic", "cubic:prr=false", "cubic:recovery=sack", "reno"] {
        let side = Side::plain(Rate(10_000_000), Dur::from_millis(50), 50);
        let mut scenario = Scenario::over(vec![Link::symmetric("link", side)], Dur::from_secs(60));
        scenario.flows = vec![Flow::unlimited("bulk", 0, 0)];
        let scheme = Scheme::parse(scheme, "linux").unwrap();
        let record = run(&scenario, &scheme, 1, RunOptions::default()).unwrap().record;
        let flow = &record.flows[0];
        println!("{}: {} resent of {}", flow.scheme, flow.retransmissions, flow.data_packets_sent);
        assert!(flow.retransmissions * 100 < flow.data_packets_sent, "{}", flow.scheme);
        assert_eq!(flow.retransmissions_spurious, 0, "{}", flow.scheme);
    }
}
