//! BBR version 1 against the Linux kernel's on the same path: 10 Mbit/s, 50 packets of queue, bit errors both ways.

use airtcp_proto::scheme::Scheme;
use airtcp_sim::scenario::model::{Flow, Link, Side};
use airtcp_sim::{RunOptions, Scenario, run};
use airtcp_wire::{Dur, Rate};

const BIT_ERROR_RATES: [f64; 4] = [0.0, 1e-6, 5e-6, 1e-5];

/// Mbit/s.
fn goodput(scheme: &str, rtt: Dur, ber: f64) -> f64 {
    let mut link = Link::symmetric("link", Side::plain(Rate(10_000_000), rtt / 2, 50));
    (link.forward.loss.ber, link.reverse.loss.ber) = (ber.into(), ber.into());
    let mut scenario = Scenario::over(vec![link], Dur::from_secs(60));
    scenario.flows = vec![Flow::unlimited("bulk", 0, 0)];
    let scheme = Scheme::parse(scheme, "linux").unwrap();
    run(&scenario, &scheme, 1, RunOptions::default()).unwrap().record.goodput_bps / 1e6
}

/// The figures are what the kernel's `bbr` reached.
#[test]
fn goodput_is_within_five_percent_of_the_kernels() {
    for (rtt_ms, kernel) in [(10, [9.58, 9.46, 9.03, 8.42]), (100, [9.35, 9.15, 8.42, 7.47])] {
        for (ber, expected) in BIT_ERROR_RATES.into_iter().zip(kernel) {
            let ours = goodput("bbr", Dur::from_millis(rtt_ms), ber);
            println!("{rtt_ms} ms, BER {ber:e}: {ours:.2}, kernel {expected:.2}");
            assert!((ours / expected - 1.0).abs() < 0.05, "{rtt_ms} ms, {ber:e}: {ours} for {expected}");
        }
    }
}

/// draft-ietf-ccwg-bbr-06 §3.1: version 3 aims at full use up to 1 % of loss, and gives way beyond.
#[test]
fn version_3_gives_way_where_version_1_does_not() {
    let long = Dur::from_millis(100);
    assert!(goodput("bbr3", long, 0.0) > 9.0);
    assert!(goodput("bbr3", Dur::from_millis(10), 1e-6) > 8.8);
    assert!(goodput("bbr3", long, 1e-5) < goodput("bbr", long, 1e-5) / 2.0);
}
