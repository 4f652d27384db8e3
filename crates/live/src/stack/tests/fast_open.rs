//! TCP Fast Open (RFC 7413) between two stacks.

use super::*;

/// The first stack gets a cookie of the second one.
pub fn exchange_cookies(world: &mut World) {
    world.stacks.iter_mut().for_each(|stack| stack.settings.fast_open = true);
    let keys = established(world, 999);
    world.settle();
    for (stack, key) in world.stacks.iter_mut().zip(keys) {
        stack.release(world.now, key);
    }
    world.settle();
    world.seen.clear();
}

fn world() -> World {
    let mut world = World::new(1, 0.0, false, 64);
    exchange_cookies(&mut world);
    world
}

/// Opens a connection whose client says this at once. Returns both ends, when the server has been spoken to.
fn spoken(world: &mut World, port: u16, words: &[u8]) -> [FlowKey; 2] {
    let opened = world.stacks[0].connect(world.now, client(port), server()).unwrap();
    world.stacks[0].get_mut(opened).unwrap().stream.write(words);
    world.stacks[0].flush(world.now, opened);
    while world.step() {
        if let Some((accepted, _)) = world.stacks[1].accept() {
            return [opened, accepted];
        }
    }
    panic!("it has not been accepted")
}

fn read(world: &mut World, stack: usize, key: FlowKey) -> Vec<u8> {
    let mut buffer = vec![0; 1 << 16];
    let len = world.stacks[stack].get_mut(key).unwrap().stream.read(&mut buffer);
    buffer[..len].to_vec()
}

/// The request goes with the SYN, and the answer is there after one round trip of 10 ms. Nothing is reordered: what overtakes a SYN-ACK
/// is lost.
#[test]
fn a_fetch_takes_one_round_trip() {
    let mut world = world();
    world.spread = 1;
    let began = world.now;
    let [asked, answers] = spoken(&mut world, 1000, b"GET /");
    assert!(world.now.since(began) < Dur::from_millis(6));
    assert_eq!(read(&mut world, 1, answers), b"GET /");
    let answer = bytes(1, 10_000);
    world.stacks[1].get_mut(answers).unwrap().stream.write(&answer);
    world.stacks[1].flush(world.now, answers);
    let mut heard = Vec::new();
    while heard.len() < answer.len() && world.step() {
        heard.extend(read(&mut world, 0, asked));
    }
    assert_eq!(heard, answer);
    assert!(world.now.since(began) < Dur::from_millis(11), "{}", world.now.since(began));
}

/// A program that waits for the server's first words costs its connection a moment.
#[test]
fn a_client_that_says_nothing_is_connected_all_the_same() {
    let mut world = world();
    let began = world.now;
    let [opened, _] = established(&mut world, 1000);
    world.settle();
    assert!(world.stacks[0].get(opened).unwrap().is_connected);
    let syn = world.seen.iter().find_map(|(at, seen)| match seen {
        Seen::Sent(segment) if segment.flags == Flags::SYN => Some((at.since(began), segment.len)),
        _ => None,
    });
    assert_eq!(syn, Some((Dur::from_millis(5), 0)));
}

/// A SYN with text that somebody has recorded opens nothing a second time.
#[test]
fn a_syn_that_comes_again_is_not_believed() {
    let mut world = world();
    let opened = world.stacks[0].connect(world.now, client(1000), server()).unwrap();
    world.stacks[0].get_mut(opened).unwrap().stream.write(b"pay 100");
    world.stacks[0].flush(world.now, opened);
    let recorded = world.stacks[0].device_mut().sent[0].clone();
    let answers = loop {
        world.step();
        if let Some((key, _)) = world.stacks[1].accept() {
            break key;
        }
    };
    assert_eq!(read(&mut world, 1, answers), b"pay 100");
    world.settle();
    for (stack, key) in [(0, opened), (1, answers)] {
        world.stacks[stack].release(world.now, key);
    }
    world.settle();
    assert_eq!(world.stacks[1].len(), 0);
    world.stacks[1].device_mut().arrived.push_back(recorded);
    assert!(world.stacks[1].handle_packet(world.now).unwrap());
    assert!(world.stacks[1].accept().is_none(), "only the handshake begins");
    assert_eq!(world.stacks[1].len(), 1);
}

/// RFC 7413 §5.1: whoever has a cookie cannot open more connections than there may be handshakes.
#[test]
fn connections_whose_client_is_not_heard_again_are_bounded() {
    let mut world = world();
    world.stacks[1].settings.half_open = 8;
    for port in 1000..1100 {
        let key = world.stacks[0].connect(world.now, client(port), server()).unwrap();
        world.stacks[0].get_mut(key).unwrap().stream.write(b"hello");
        world.stacks[0].flush(world.now, key);
    }
    let packets: Vec<_> = world.stacks[0].device_mut().sent.drain(..).collect();
    world.stacks[1].device_mut().arrived.extend(packets);
    while world.stacks[1].handle_packet(world.now).unwrap() {}
    let accepted = std::iter::from_fn(|| world.stacks[1].accept()).count();
    assert_eq!(
        (accepted, world.stacks[1].len()),
        (8, 16),
        "the others' handshakes go on, by SYN cookies in the end"
    );
}

/// Without the option at the other end, everything is as it was.
#[test]
fn a_peer_without_it_costs_nothing() {
    let mut world = World::new(1, 0.0, false, 64);
    world.stacks[0].settings.fast_open = true;
    for port in 1000..1003 {
        let began = world.now;
        established(&mut world, port);
        assert!(world.now.since(began) < Dur::from_millis(25));
        world.settle();
    }
}
