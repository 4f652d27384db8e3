//! No sequence of segments, waits and calls makes a connection panic, send without end, or send beyond the peer's window.

#![no_main]

use airtcp_proto::tcp::{Connection, profile};
use airtcp_wire::{Dur, Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Time, Timestamps};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

const ISS: Seq = Seq(u32::MAX - 20_000);
const IRS: Seq = Seq(u32::MAX - 10_000);

#[derive(Arbitrary, Debug)]
struct Life {
    listens: bool,
    profile: u8,
    ecn: bool,
    nagle: bool,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Handshake,
    Segment(Arrival),
    Wait { ms: u16 },
    Write { bytes: u16 },
    Read { bytes: u16 },
    Close,
    Abort,
}

/// A segment at offsets from the initial sequence numbers.
#[derive(Arbitrary, Debug)]
struct Arrival {
    seq: u16,
    ack: u16,
    flags: u8,
    window: u16,
    len: u16,
    echo: Option<u16>,
    sack: [Option<(u16, u16)>; 3],
    ecn: u8,
}

impl Arrival {
    fn segment(&self, now: Time) -> Segment {
        let mut sack = SackBlocks::default();
        for (left, right) in self.sack.iter().flatten() {
            sack.push(ISS.at(u64::from(*left)), ISS.at(u64::from(*right)));
        }
        Segment {
            seq: IRS.at(u64::from(self.seq)),
            ack: ISS.at(u64::from(self.ack)),
            flags: Flags(u16::from(self.flags)),
            window: self.window,
            len: u32::from(self.len % 1461),
            timestamps: self.echo.map(|echo| Timestamps { value: millis(now), echo: u32::from(echo) }),
            sack,
            syn: SYN,
        }
    }
}

const SYN: SynOptions = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };

fn millis(now: Time) -> u32 {
    (now.0 / 1_000_000) as u32
}

/// The peer's half of the handshake.
fn handshake(connection: &mut Connection, listens: bool, now: Time) {
    let timestamps = Some(Timestamps { value: millis(now), echo: 1 });
    let syn =
        Segment { seq: IRS, flags: Flags::SYN, window: 60_000, timestamps, syn: SYN, ..Segment::default() };
    let ack =
        Segment { seq: IRS.at(1), ack: ISS.at(1), flags: Flags::ACK, syn: SynOptions::default(), ..syn };
    if listens {
        connection.handle_segment(now, &syn, Ecn::NotEct);
        drain(connection, now);
        connection.handle_segment(now, &ack, Ecn::NotEct);
    } else {
        let both = Segment { ack: ISS.at(1), flags: Flags::SYN | Flags::ACK, ..syn };
        connection.handle_segment(now, &both, Ecn::NotEct);
    }
}

fn drain(connection: &mut Connection, now: Time) {
    for _ in 0..10_000 {
        match connection.poll_transmit(now) {
            Some(transmit) => assert!(transmit.segment.len <= 1460, "{transmit:?}"),
            None => return,
        }
    }
    panic!("sends without end");
}

fuzz_target!(|life: Life| {
    let mut config = (profile::PROFILES[usize::from(life.profile) % profile::PROFILES.len()].config)();
    (config.ecn, config.nagle) = (life.ecn, life.nagle);
    let mut now = Time::ZERO;
    let mut connection = if life.listens {
        Connection::listen(&config, ISS, 1).unwrap()
    } else {
        Connection::connect(&config, ISS, 1, now).unwrap()
    };
    let mut is_closed = false;
    drain(&mut connection, now);
    for operation in &life.operations {
        match operation {
            Operation::Handshake => handshake(&mut connection, life.listens, now),
            Operation::Segment(arrival) => {
                connection.handle_segment(now, &arrival.segment(now), Ecn::from_bits(arrival.ecn));
            }
            Operation::Wait { ms } => {
                now = (now + Dur::from_millis(u64::from(*ms))).min(connection.poll_timeout().max(now));
                connection.handle_timeout(now);
            }
            Operation::Write { bytes } if !is_closed => connection.write(u64::from(*bytes)),
            Operation::Write { .. } => {}
            Operation::Read { bytes } => connection.read(connection.readable().min(u64::from(*bytes))),
            Operation::Close => {
                is_closed = true;
                connection.close();
            }
            Operation::Abort => connection.abort(),
        }
        drain(&mut connection, now);
        while connection.poll_event().is_some() {}
        assert!(connection.received() >= connection.readable());
    }
});
