//! Paper 003 in the field: what the retransmission timer does is the machine's, whatever drives it.

use super::*;
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::{Connection, Reason};

/// Bytes that a connection's buffers hold in [`World`].
const ROOM: usize = 20_000;

fn config(scheme: &str) -> TcpConfig {
    Scheme::parse(scheme, "linux").unwrap().config
}

/// What a sender puts on the wire: when, which byte comes first, and how many there are.
type Sent = (Time, Seq, u32);

/// Writes `len` bytes at the first stack as there is room, and goes on until they are acknowledged. Before each step, `weather`
/// changes the link. Returns what was sent.
fn carry(world: &mut World, len: usize, mut weather: impl FnMut(&mut World)) -> Vec<Sent> {
    let keys = established(world, 1000);
    let mut to_write = len;
    while world.stacks[0].get(keys[0]).unwrap().stream.acknowledged() < len as u64 {
        let flow = world.stacks[0].get_mut(keys[0]).unwrap();
        let written = flow.stream.write(&[7; ROOM][..to_write.min(ROOM)]);
        if written > 0 {
            to_write -= written;
            world.seen.push((world.now, Seen::Written(written)));
            world.stacks[0].flush(world.now, keys[0]);
        }
        weather(world);
        assert!(world.step());
        world.stacks[1].get_mut(keys[1]).unwrap().stream.read(&mut [0; ROOM]);
        world.stacks[1].flush(world.now, keys[1]);
    }
    world.settle();
    let sent = world.seen.iter().filter_map(|(at, seen)| match seen {
        Seen::Sent(segment) => Some((*at, segment.seq, segment.len)),
        _ => None,
    });
    sent.collect()
}

/// What the bare machine sends, in virtual time as in the simulator, if the same arrives and is written; and why.
fn replayed(config: &TcpConfig, seen: &[(Time, Seen)]) -> Vec<(Sent, Reason)> {
    let Some((begin, Seen::Sent(syn))) = seen.first() else { panic!("a SYN comes first") };
    let config = TcpConfig {
        packet_size: 1500,
        receive_window: airtcp_wire::Bytes(ROOM as u64),
        receive_buffer: None,
        ..config.clone()
    };
    let mut machine = Connection::connect(&config, syn.seq, 1, *begin).unwrap();
    let mut sent = Vec::new();
    let mut drain = |machine: &mut Connection, now: Time| {
        while let Some(transmit) = machine.poll_transmit(now) {
            sent.push(((now, transmit.segment.seq, transmit.segment.len), transmit.reason));
        }
    };
    drain(&mut machine, *begin);
    for (at, seen) in seen {
        while machine.poll_timeout() < *at {
            let due = machine.poll_timeout();
            machine.handle_timeout(due);
            drain(&mut machine, due);
        }
        match seen {
            Seen::Sent(_) => continue,
            Seen::Received(segment, ecn) => machine.handle_segment(*at, segment, *ecn),
            Seen::Written(len) => machine.write(*len as u64),
        }
        drain(&mut machine, *at);
    }
    sent
}

/// Thirteen segments or more that leave at 200 ms take 700 ms longer, and what follows does not. Returns how long after that the first of
/// them is resent, and which are resent, and why.
fn after_a_late_flight(scheme: &str) -> (Option<Dur>, Vec<(u32, Reason)>) {
    let config = config(scheme);
    let mut world = World::of(config.clone(), 1, 0.0, false, 4);
    world.spread = 1;
    let begin = Time::ZERO + Dur::from_millis(200);
    let end = begin + Dur::from_millis(10);
    let sent = carry(&mut world, 50 * ROOM, |world| {
        let is_late = (begin..end).contains(&world.now);
        world.extra = if is_late { Dur::from_millis(700) } else { Dur::ZERO };
    });
    let alone = replayed(&config, &world.seen);
    assert_eq!(sent, alone.iter().map(|(sent, _)| *sent).collect::<Vec<_>>(), "{scheme}");
    let late: Vec<_> = sent.iter().filter(|(at, ..)| (begin..end).contains(at)).collect();
    assert!(late.len() >= 13, "{scheme}: {late:?}");
    let number = |seq: &Seq| late.iter().position(|(_, first, _)| first == seq);
    let again: Vec<_> = alone
        .iter()
        .filter(|(_, reason)| *reason != Reason::New)
        .filter_map(|((at, seq, _), reason)| Some((*at, number(seq)? as u32, *reason)))
        .collect();
    let first_at = again.first().map(|(at, ..)| at.since(begin));
    (first_at, again.into_iter().map(|(_, number, reason)| (number, reason)).collect())
}

/// Paper 003 §II and §III with a timer below a second: go-back-N resends all that is late, in order, after the timer has
/// expired for the first segment; selective repeat waits for the timer of each. A floor of one second spares both.
#[test]
fn a_timer_below_a_second_expires_for_what_is_only_late() {
    let rfc = "newreno:profile=rfc+rto-m:m=2";
    let (first_at, mut again) = after_a_late_flight(&format!("{rfc}:rto.min=100ms+gbn"));
    assert_eq!(first_at, Some(Dur::from_millis(105)), "an ACK restarted it at 205 ms");
    let timeouts: Vec<_> = again.extract_if(.., |(_, reason)| *reason == Reason::Timeout).collect();
    assert!(timeouts.iter().all(|(number, _)| *number == 0), "{timeouts:?}");
    assert!(again.iter().map(|(number, _)| *number).eq(1..13), "{again:?}");

    let (_, again) = after_a_late_flight(&format!("{rfc}:rto.min=100ms+sr"));
    assert!(again.iter().all(|(_, reason)| *reason == Reason::Timeout), "{again:?}");
    assert_eq!(after_a_late_flight(&format!("{rfc}+gbn")), (None, vec![]));
}

/// By Linux's rules, a tail loss probe comes before the timer (RFC 8985 §7), and what it brings to light is no timeout.
#[test]
fn with_linuxs_other_rules_a_probe_comes_before_the_timer() {
    let (_, again) = after_a_late_flight("rto-m:m=2+gbn");
    assert!(again.first().is_some_and(|(number, _)| *number >= 12), "{again:?}");
    assert!(again.iter().all(|(_, reason)| *reason != Reason::Timeout), "{again:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the timer, the policy and the path, the stack sends what its machine would send alone. Delays and timers are such
    /// that the stack does not take the path for one that loses long packets, since it then sends shorter ones.
    #[test]
    fn the_stack_adds_nothing_to_its_machine(
        seed in 0u64..1 << 32,
        base in prop_oneof![Just("newreno:profile=rfc"), Just("sack:profile=rfc"), Just("cubic")],
        policy in prop_oneof![Just("gbn"), Just("sr")],
        m in 1u32..12,
        floor_ms in 100u64..400,
        spread in 1u32..40_000,
        spikes in prop::collection::vec((0u64..1_500, 1u64..50, 0u64..600), 0..4),
        len in 1usize..10 * ROOM,
    ) {
        let config = config(&format!("{base}:rto.min={floor_ms}ms+rto-m:m={m}+{policy}"));
        let mut world = World::of(config.clone(), seed, 0.0, false, 4);
        world.spread = spread;
        let sent = carry(&mut world, len, |world| {
            let now_ms = world.now.0 / 1_000_000;
            let extra = |&(at, length, extra): &_| (at..at + length).contains(&now_ms).then_some(extra);
            world.extra = Dur::from_millis(spikes.iter().find_map(extra).unwrap_or(0));
        });
        let alone: Vec<_> = replayed(&config, &world.seen).into_iter().map(|(sent, _)| sent).collect();
        prop_assert_eq!(sent, alone);
    }
}
