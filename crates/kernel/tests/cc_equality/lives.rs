//! Random lives of a sender: round trips, losses, marks, timeouts, also spurious ones, and idleness in any
//! order, with any parameters.

use crate::model::Sender;
use crate::replay::assert_equal;
use crate::trace::{Recorder, Trace, dur};
use airtcp_kernel::cc::{self, CcError, Controller};
use airtcp_kernel_host::Machine;
use airtcp_proto::cc::cubic::CubicRules;
use airtcp_proto::cc::{Build, RegistryError, WindowRules};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Everything in flight arrives in order.
    Round {
        rtt_us: u64,
    },
    /// Of every eight in flight, those arrive whose bit is set, in one ACK, with or without ECN-Echo.
    Part {
        rtt_us: u64,
        which: u8,
        is_echoed: bool,
    },
    /// The first in flight is skipped, and the next three arrive one by one.
    Lose {
        rtt_us: u64,
    },
    Timeout {
        after_us: u64,
    },
    Restart,
    /// One more in flight arrives, and what was taken for lost was only late.
    Spurious {
        rtt_us: u64,
    },
}

fn an_op() -> impl Strategy<Value = Op> {
    // The largest exceed the path's a hundredfold: queues, outages.
    let rtt = || prop_oneof![4 => 10_000..30_000u64, 1 => 100..1_000_000u64];
    prop_oneof![
        6 => rtt().prop_map(|rtt_us| Op::Round { rtt_us }),
        6 => (rtt(), any::<u8>(), any::<bool>()).prop_map(|(rtt_us, which, is_echoed)| Op::Part { rtt_us, which, is_echoed }),
        3 => rtt().prop_map(|rtt_us| Op::Lose { rtt_us }),
        1 => (200_000..5_000_000u64).prop_map(|after_us| Op::Timeout { after_us }),
        1 => Just(Op::Restart),
        2 => rtt().prop_map(|rtt_us| Op::Spurious { rtt_us }),
    ]
}

/// Half of the parameters have their defaults; none are out of order.
fn params(controller: &'static Controller) -> impl Strategy<Value = BTreeMap<String, f64>> {
    let each = controller.params.iter().map(|param| {
        let (name, default) = (param.name.to_owned(), param.default);
        let other = prop_oneof![Just(param.min), Just(param.max), param.min..=param.max];
        prop_oneof![Just(default), other].prop_map(move |value| (name.clone(), value))
    });
    each.collect::<Vec<_>>().prop_map(|params| params.into_iter().collect()).prop_filter(
        "out of order",
        move |params| {
            !matches!(controller.stored(params), Err(CcError::Params(RegistryError::OutOfOrder { .. })))
        },
    )
}

fn live(controller: &Controller, params: &BTreeMap<String, f64>, ops: &[Op]) -> Trace {
    let build = Build {
        mss: 1448,
        initial_window: 14_480,
        initial_ssthresh: u64::MAX,
        loss_window: 1448,
        slow_start: None,
        byte_counting_limit: None,
        windows: WindowRules::Linux,
        cubic: CubicRules::Linux,
        is_paced: false,
        seed: 1,
    };
    let given: Vec<_> = params.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let mut sender = Sender::new(controller.scheme(), &given, &build);
    // Windows that a test can fill.
    sender.receive_window = 500 * build.mss;
    let inner =
        std::mem::replace(&mut sender.cc, airtcp_proto::cc::build("reno", &BTreeMap::new(), &build).unwrap());
    let (recorder, trace) = Recorder::around(inner, &build);
    sender.cc = Box::new(recorder);
    for op in ops {
        // Ticks of a millisecond.
        sender.peer_timestamp = Some((sender.now.0 / 1_000_000) as u32 + 1);
        act(&mut sender, op);
        // A host takes some time. If a round lasted exactly as long as the path, what is delivered in it would
        // be the BDP to the last bit, and rounding would decide.
        sender.wait(dur(100));
    }
    let trace = trace.lock().unwrap();
    trace.clone()
}

fn act(sender: &mut Sender, op: &Op) {
    match *op {
        Op::Round { rtt_us } => sender.round(dur(rtt_us)),
        Op::Part { rtt_us, which, is_echoed } => {
            sender.fill();
            sender.wait(dur(rtt_us));
            let flying: Vec<_> = sender.flying().collect();
            let arrived: Vec<_> = (0..)
                .zip(flying)
                .filter(|(at, _)| which >> (at % 8) & 1 == 1)
                .map(|(_, offset)| offset)
                .collect();
            sender.arrive(&arrived, is_echoed);
        }
        Op::Lose { rtt_us } => {
            sender.fill();
            sender.wait(dur(rtt_us));
            let above: Vec<_> = sender.flying().skip(1).take(3).collect();
            above.into_iter().for_each(|offset| sender.arrive(&[offset], false));
        }
        Op::Timeout { after_us } => {
            sender.wait(dur(after_us));
            sender.timeout();
        }
        Op::Restart if sender.is_idle() => sender.cc.on_restart(sender.now, u64::MAX),
        Op::Restart => {}
        Op::Spurious { rtt_us } => {
            sender.wait(dur(rtt_us));
            let next: Vec<_> = sender.flying().take(1).collect();
            sender.arrive(&next, false);
            sender.spurious();
        }
    }
}

/// Controllers whose decisions need no more than their windows' precision.
fn windowed() -> Vec<&'static Controller> {
    cc::controllers().iter().filter(|controller| controller.scheme() != "concord").collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_lives_give_the_same_windows(
        (at, params) in (0..windowed().len()).prop_flat_map(|at| (Just(at), params(windowed()[at]))),
        ops in prop::collection::vec(an_op(), 1..60),
        is_old in any::<bool>(),
    ) {
        let trace = live(windowed()[at], &params, &ops);
        Machine::be_old(is_old);
        assert_equal(windowed()[at], &params, &trace);
    }
}

/// Concord compares sums and quotients of measurements, and in one life of 20 000 two of them are equal but for
/// rounding. In these lives none are; they are the same on each run.
#[test]
fn concords_random_lives_give_the_same_windows_and_paces() {
    let controller = cc::find("concord").unwrap();
    let config = ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let lives = (params(controller), prop::collection::vec(an_op(), 1..60));
    let outcome = TestRunner::new_with_rng(config, rng).run(&lives, |(params, ops)| {
        assert_equal(controller, &params, &live(controller, &params, &ops));
        Ok(())
    });
    outcome.unwrap();
}
