//! What every registered controller keeps to, whatever happens to its sender.

use crate::cc::declared::Declared;
use crate::cc::model::Sender;
use airtcp_proto::cc::cubic::CubicRules;
use airtcp_proto::cc::registry::values;
use airtcp_proto::cc::slow_start::SlowStartKind;
use airtcp_proto::cc::{Build, ControllerSpec, RegistryError, WindowRules, controllers};
use airtcp_wire::{Dur, Rate};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// Bytes outstanding at most, as the receiver's window has it.
const RECEIVE_WINDOW_SEGMENTS: u64 = 300;

#[derive(Clone, Copy, Debug)]
enum Op {
    /// The sender sends up to so many segments.
    Send(u8),
    Fill,
    Wait {
        us: u32,
    },
    /// So many segments from the first in flight arrive, on one ACK.
    Arrive {
        segments: u8,
        ece: bool,
    },
    /// The one at this place in flight arrives before those ahead of it.
    Overtake(u8),
    Timeout,
    Spurious,
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => (1..20u8).prop_map(Op::Send),
        8 => Just(Op::Fill),
        8 => (1..200_000u32).prop_map(|us| Op::Wait { us }),
        1 => (1..60_000_000u32).prop_map(|us| Op::Wait { us }),
        12 => (1..4u8).prop_map(|segments| Op::Arrive { segments, ece: false }),
        3 => (1..255u8).prop_map(|segments| Op::Arrive { segments, ece: false }),
        1 => (1..4u8).prop_map(|segments| Op::Arrive { segments, ece: true }),
        6 => (1..10u8).prop_map(Op::Overtake),
        1 => Just(Op::Timeout),
        1 => Just(Op::Spurious),
        1 => Just(Op::Restart),
    ]
}

fn a_build() -> impl Strategy<Value = Build> {
    (
        prop_oneof![Just(64u64), Just(512), Just(1448), Just(8948)],
        1..20u64,
        prop_oneof![Just(u64::MAX), 2..50u64],
        prop_oneof![
            Just(None),
            Just(Some(SlowStartKind::Classic)),
            Just(Some(SlowStartKind::Hystart)),
            Just(Some(SlowStartKind::HystartPlusPlus))
        ],
        prop_oneof![Just(None), (1..4u32).prop_map(Some)],
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(mss, initial, ssthresh, slow_start, byte_counting_limit, [linux_windows, linux, is_paced])| {
                Build {
                    mss,
                    initial_window: initial * mss,
                    initial_ssthresh: ssthresh.saturating_mul(mss),
                    loss_window: mss,
                    slow_start,
                    byte_counting_limit,
                    windows: if linux_windows { WindowRules::Linux } else { WindowRules::Rfc },
                    cubic: if linux { CubicRules::Linux } else { CubicRules::Rfc9438 },
                    is_paced,
                    seed: 1,
                }
            },
        )
}

/// Each parameter at its default, its least or its greatest value, as far as that is in order.
fn params(spec: &'static ControllerSpec) -> impl Strategy<Value = Vec<(&'static str, f64)>> {
    let each: Vec<_> = spec
        .params
        .iter()
        .map(|param| {
            let value = prop_oneof![3 => Just(param.default), 1 => Just(param.min), 1 => Just(param.max)];
            value.prop_map(|value| (param.name, value))
        })
        .collect();
    each.prop_filter("out of order", move |params| {
        let given = params.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        !matches!(values(spec, &given), Err(RegistryError::OutOfOrder { .. }))
    })
}

/// What is seen of a controller from outside.
type Seen = (u64, u64, Option<Rate>);

fn seen(sender: &Sender) -> Seen {
    (sender.cc.cwnd(), sender.cc.ssthresh(), sender.cc.pacing_rate())
}

/// Loss-based controllers leave the window in recovery to the sender; those that govern it follow rules of their own.
fn is_loss_based(sender: &Sender) -> bool {
    !sender.cc.governs_recovery()
}

fn perform(sender: &mut Sender, op: Op) {
    match op {
        Op::Send(segments) => (0..segments).for_each(|_| {
            sender.send();
        }),
        Op::Fill => sender.fill(),
        Op::Wait { us } => sender.wait(Dur::from_micros(u64::from(us))),
        Op::Arrive { segments, ece } => {
            let first: Vec<u64> = sender.flying().take(usize::from(segments)).collect();
            sender.arrive(&first, ece);
        }
        Op::Overtake(place) => {
            let one: Vec<u64> = sender.flying().skip(usize::from(place)).take(1).collect();
            sender.arrive(&one, false);
        }
        Op::Timeout => sender.timeout(),
        Op::Spurious => {
            sender.spurious();
        }
        Op::Restart if sender.is_idle() => sender.cc.on_restart(sender.now, 1),
        Op::Restart => {}
    }
}

/// Holds after anything.
fn check_state(sender: &Sender) {
    let (cwnd, ssthresh, pacing_rate) = seen(sender);
    assert!(cwnd >= sender.mss, "cwnd {cwnd} is less than a segment");
    assert!(cwnd <= 1 << 40, "cwnd {cwnd} has run away");
    assert!(ssthresh >= sender.mss, "ssthresh {ssthresh}");
    assert_ne!(pacing_rate, Some(Rate(0)), "a pacing rate of zero stops the sender for good");
}

/// Holds of loss-based controllers, after `op` took them from `before`.
fn check_step(sender: &Sender, op: Op, before: Seen, was: &Was, declared: &Declared) {
    let (cwnd, ssthresh, _) = seen(sender);
    let reduced = (was.is_in_recovery, was.is_idle) == (false, false);
    match op {
        // RFC 5681 §3.1: the loss window.
        Op::Timeout if !was.is_idle => {
            assert!(
                cwnd == sender.mss || (declared.is_ecn_only() && cwnd == before.0),
                "cwnd after a timeout: {cwnd}; only `Exemption::EcnOnly` may leave it as it was"
            );
            assert!(ssthresh >= 2 * sender.mss, "ssthresh after a timeout: {ssthresh}");
        }
        // RFC 5681 §3.2: a loss never makes the window larger.
        Op::Overtake(_) if reduced && sender.in_recovery => {
            assert!(cwnd <= before.0, "cwnd {} to {cwnd} on a loss", before.0);
            assert!(ssthresh >= 2 * sender.mss, "ssthresh after a loss: {ssthresh}");
        }
        Op::Overtake(_) if !was.is_in_recovery => {
            assert_eq!((cwnd, ssthresh), (before.0, before.1), "a duplicate ACK that finds no loss");
        }
        Op::Arrive { ece: false, .. } if !was.is_in_recovery && !sender.in_recovery => {
            let acked = sender.una - was.una;
            assert!(
                cwnd >= before.0 || declared.is_delay_based(),
                "cwnd {} to {cwnd} on a plain ACK; only `Exemption::DelayBased` may shrink it",
                before.0
            );
            // Vegas takes its step, a segment, on one ACK of the round trip.
            let bound = before.0 as f64 + declared.gain(sender.srtt) * acked as f64 + sender.mss as f64;
            assert!(
                cwnd as f64 <= bound,
                "cwnd {} to {cwnd} for {acked} bytes: see `Exemption::Gain`",
                before.0
            );
        }
        Op::Send(_) | Op::Fill | Op::Wait { .. } => assert_eq!(before, seen(sender)),
        _ => {}
    }
}

/// The sender before the operation.
struct Was {
    una: u64,
    is_idle: bool,
    is_in_recovery: bool,
}

impl Was {
    fn new(sender: &Sender) -> Was {
        Was { una: sender.una, is_idle: sender.is_idle(), is_in_recovery: sender.in_recovery }
    }
}

fn run(spec: &'static ControllerSpec, params: &[(&str, f64)], build: &Build, ops: &[Op]) -> Vec<Seen> {
    let mut sender = Sender::new(spec.name, params, build);
    sender.receive_window = RECEIVE_WINDOW_SEGMENTS * build.mss;
    let mut trace = Vec::with_capacity(ops.len());
    for &op in ops {
        let (was, before) = (Was::new(&sender), seen(&sender));
        perform(&mut sender, op);
        check_state(&sender);
        if is_loss_based(&sender) {
            check_step(&sender, op, before, &was, &Declared(spec.exemptions));
        }
        trace.push(seen(&sender));
    }
    trace
}

/// Runs every controller through random lives. A second run of the same life must be the same to the last bit.
#[test]
fn every_controller_keeps_the_invariants() {
    for spec in controllers() {
        let lives = (a_build(), params(spec), prop::collection::vec(op(), 1..400));
        let config = ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() };
        // The same lives on each run: chance elsewhere must not fail a change that has nothing to do with it.
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let outcome = TestRunner::new_with_rng(config, rng).run(&lives, |(build, params, ops)| {
            let first = run(spec, &params, &build, &ops);
            let second = run(spec, &params, &build, &ops);
            prop_assert_eq!(first, second);
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{}: {failure}", spec.name);
        }
    }
}

/// A spurious timeout or loss leaves no trace in the window (RFC 4015 §3.2), unless the controller's is not what
/// was lost.
#[test]
fn spurious_timeout_is_undone_by_all_that_reduced() {
    for spec in controllers() {
        let mut sender = Sender::new(spec.name, &[], &crate::cc::model::plain());
        for _ in 0..3 {
            sender.round(Dur::from_millis(100));
        }
        let before = sender.cc.cwnd();
        sender.timeout();
        sender.wait(Dur::from_millis(10));
        let restored = sender.spurious().expect("a timeout");
        assert_eq!(restored.0, before, "{}", spec.name);
        assert_eq!(sender.cc.cwnd(), before, "{}", spec.name);
    }
}

/// What `airtcp schemes` prints is there, and defaults are legal.
#[test]
fn registry_is_well_formed() {
    let mut names: Vec<_> = controllers().iter().map(|spec| spec.name).collect();
    for spec in controllers() {
        assert!(!spec.summary.is_empty() && !spec.summary.ends_with('.'), "{}", spec.name);
        assert!(!spec.source.is_empty(), "{}", spec.name);
        for param in spec.params {
            let place = format!("{}.{}", spec.name, param.name);
            assert!((param.min..=param.max).contains(&param.default), "{place}");
            assert!(!param.doc.is_empty() && !param.doc.ends_with('.'), "{place}");
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), controllers().len(), "two controllers of one name");
}
