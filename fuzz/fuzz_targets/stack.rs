//! Nothing that comes by the device, described however, makes the stack panic, grow beyond its bounds or send what is no packet.

#![no_main]

use airtcp_live::stack::{FlowKey, InitialNumbers, Room, Settings, Stack};
use airtcp_live::{Offload, PacketDevice};
use airtcp_proto::tcp::profile;
use airtcp_wire::packet::{Endpoints, decode_tcp_vouched_for, encode_tcp};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time, Timestamps};
use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

const HALF_OPEN: usize = 8;

#[derive(Arbitrary, Debug)]
enum Op {
    Bytes { description: [u8; 10], packet: Vec<u8> },
    Segment { port: u8, seq: i16, ack: i16, flags: u8, window: u16, len: u16, stamp: Option<u8>, size: u16 },
    Wait { ms: u16 },
    Connect { port: u8 },
    Write { flow: u8, len: u16 },
    Read { flow: u8 },
    Shut { flow: u8 },
    Release { flow: u8 },
}

struct Device {
    arrived: Option<(Vec<u8>, Offload)>,
    offload: Offload,
    /// The last segment that went to each port: what a peer can know.
    known: Vec<Option<Segment>>,
    file: File,
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl PacketDevice for Device {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some((packet, offload)) = self.arrived.take() else { return Ok(None) };
        let len = packet.len().min(buffer.len());
        buffer[..len].copy_from_slice(&packet[..len]);
        self.offload = offload;
        Ok(Some(len))
    }

    fn offload(&self) -> Offload {
        self.offload
    }

    fn has_offloads(&self) -> bool {
        true
    }

    fn send(&mut self, _packet: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn send_offloaded(&mut self, packet: &[u8], _headers_len: usize, _offload: Offload) -> io::Result<()> {
        if let Ok(packet) = decode_tcp_vouched_for(packet)
            && packet.endpoints.source() == server()
        {
            self.known[usize::from(packet.endpoints.ports.destination % 256)] = Some(packet.segment);
        }
        Ok(())
    }
}

struct Numbers;

impl InitialNumbers for Numbers {
    fn next(&mut self, now: Time, _endpoints: &Endpoints) -> Seq {
        Seq((now.0 as u32).wrapping_sub(1_000))
    }

    fn hash(&self, endpoints: &Endpoints, [a, b]: [u64; 2]) -> u32 {
        ((a ^ b ^ u64::from(endpoints.ports.destination)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

fn server() -> SocketAddr {
    ([10, 0, 0, 2], 80).into()
}

fn peer(port: u8) -> SocketAddr {
    ([10, 0, 0, 1], 256 * 4 + u16::from(port % 16)).into()
}

fn description(len: usize, size: u16) -> [u8; 10] {
    let mut description = [0; 10];
    if size > 0 && len > usize::from(size) {
        description[1] = 1;
        description[4..6].copy_from_slice(&size.to_ne_bytes());
    }
    description[0] = 1;
    description[6..8].copy_from_slice(&20u16.to_ne_bytes());
    description[8..10].copy_from_slice(&16u16.to_ne_bytes());
    description
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(ops) = Vec::<Op>::arbitrary(&mut Unstructured::new(bytes)) else { return };
    let file = File::open("/dev/null").expect("there is one");
    let device = Device { arrived: None, offload: Offload::default(), known: vec![None; 256], file };
    let config = profile::linux();
    let settings = Settings { config, room: Room::fixed(5_000), mtu: 1500, ports: vec![80], half_open: HALF_OPEN, keepalive: None, fast_open: true };
    let mut stack = Stack::new(device, settings, Numbers, 1);
    let mut now = Time::ZERO;
    let mut flows: Vec<FlowKey> = Vec::new();
    let mut released = 0;
    for op in ops {
        let at = |index: u8, flows: &[FlowKey]| flows.get(usize::from(index) % flows.len().max(1)).copied();
        match op {
            Op::Bytes { description, packet } => {
                stack.device_mut().arrived = Some((packet, Offload::read(&description)));
            }
            Op::Segment { port, seq, ack, flags, window, len, stamp, size } => {
                let known = stack.device_mut().known[usize::from(peer(port).port() % 256)].unwrap_or_default();
                let len = u32::from(len % 6_000);
                let segment = Segment {
                    seq: Seq(known.ack.0.wrapping_add_signed(seq.into())),
                    ack: Seq(known.seq.0.wrapping_add(known.seq_len()).wrapping_add_signed(ack.into())),
                    flags: Flags(flags.into()),
                    window,
                    len,
                    timestamps: stamp.map(|stamp| Timestamps { value: stamp.into(), echo: 0 }),
                    ..Segment::default()
                };
                let (mut packet, payload) = (vec![0; 6_100], vec![7; len as usize]);
                let endpoints = Endpoints::new(peer(port), server()).expect("one family");
                if let Ok(end) = encode_tcp(&endpoints, Ecn::NotEct, &segment, &payload, &mut packet) {
                    packet.truncate(end);
                    let read = Offload::read(&description(payload.len(), size));
                    stack.device_mut().arrived = Some((packet, read));
                }
            }
            Op::Wait { ms } => now = now + Dur::from_millis(ms.into()),
            Op::Connect { port } => flows.extend(stack.connect(now, server(), peer(port)).ok()),
            Op::Write { flow, len } => {
                if let Some(key) = at(flow, &flows)
                    && let Some(flow) = stack.get_mut(key)
                {
                    flow.stream.write(&vec![1; len.into()]);
                    stack.flush(now, key);
                }
            }
            Op::Read { flow } => {
                if let Some(key) = at(flow, &flows)
                    && let Some(flow) = stack.get_mut(key)
                {
                    flow.stream.read(&mut [0; 4_000]);
                    stack.flush(now, key);
                }
            }
            Op::Shut { flow } => {
                if let Some(key) = at(flow, &flows)
                    && let Some(flow) = stack.get_mut(key)
                {
                    flow.stream.shutdown();
                    stack.flush(now, key);
                }
            }
            Op::Release { flow } => {
                if let Some(key) = at(flow, &flows) {
                    stack.release(now, key);
                    flows.retain(|one| *one != key);
                    released += 1;
                }
            }
        }
        while stack.handle_packet(now).expect("the device does not fail") {}
        stack.handle_timeouts(now);
        stack.take_woken();
        while let Some((key, _)) = stack.accept() {
            flows.push(key);
        }
        assert!(stack.len() <= HALF_OPEN + flows.len() + released);
    }
    flows.into_iter().for_each(|key| stack.release(now, key));
    for _ in 0..200 {
        now = now + Dur::from_secs(30);
        stack.handle_timeouts(now);
    }
    assert!(stack.is_empty(), "nothing is left");
});
