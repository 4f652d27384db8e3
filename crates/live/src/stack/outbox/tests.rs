//! A long packet, cut by the emulator's code, becomes the packets that would have left one by one.

use super::*;
use crate::offload::Pieces;
use airtcp_wire::packet::encode_tcp;
use airtcp_wire::{Seq, Timestamps};
use proptest::prelude::*;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Keeps what is sent, cut into packets.
struct Device {
    has_offloads: bool,
    file: File,
    long: usize,
    packets: Vec<Vec<u8>>,
}

impl Device {
    fn new(has_offloads: bool) -> Device {
        Device { has_offloads, file: File::open("/dev/null").unwrap(), long: 0, packets: Vec::new() }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl PacketDevice for Device {
    fn recv(&mut self, _buffer: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(None)
    }

    fn has_offloads(&self) -> bool {
        self.has_offloads
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.packets.push(packet.to_vec());
        Ok(())
    }

    fn send_offloaded(&mut self, packet: &[u8], headers_len: usize, offload: Offload) -> io::Result<()> {
        let is_ipv4 = packet[0] >> 4 == 4;
        let ether_type = if is_ipv4 { [0x08, 0x00] } else { [0x86, 0xdd] };
        let frame = [&[0; 12], ether_type.as_slice(), packet].concat();
        let read = Offload::read(&offload.write(headers_len));
        assert_eq!(read, offload, "as the kernel reads it");
        let mut pieces = Pieces::of(&frame, read.shifted(14)).expect("it can be cut");
        let (mut room, before) = (vec![0; frame.len()], self.packets.len());
        while let Some(len) = pieces.next_into(&frame, &mut room) {
            self.packets.push(room[14..len].to_vec());
        }
        self.long += usize::from(self.packets.len() > before + 1);
        Ok(())
    }
}

fn endpoints(is_ipv4: bool) -> Endpoints {
    let ends = if is_ipv4 { ["10.0.0.1:5000", "10.0.0.2:80"] } else { ["[fd00::1]:5000", "[fd00::2]:80"] };
    let [source, destination] = ends.map(|end| end.parse().unwrap());
    Endpoints::new(source, destination).unwrap()
}

fn transmit(offset: u64, len: u32, flags: Flags) -> Transmit {
    let timestamps = Some(Timestamps { value: 7, echo: 9 });
    let (seq, ack, flags) = (Seq(u32::MAX - 4_000).at(offset), Seq(77), Flags::ACK | flags);
    let segment = Segment { seq, ack, flags, window: 500, len, timestamps, ..Segment::default() };
    Transmit { segment, offset, ..Transmit::default() }
}

fn payload(offset: u64, len: u32) -> Vec<u8> {
    (offset..).take(len as usize).map(|at| (at % 251) as u8).collect()
}

/// What a device with or without offloads makes of these segments.
fn sent(has_offloads: bool, is_ipv4: bool, segments: &[Transmit]) -> Device {
    let (mut device, mut outbox) = (Device::new(has_offloads), Outbox::new());
    for one in segments {
        let bytes = payload(one.offset, one.segment.len);
        outbox.put(&mut device, &endpoints(is_ipv4), one, |room| room.copy_from_slice(&bytes));
    }
    outbox.send(&mut device);
    device.packets.iter_mut().for_each(|packet| normalise(packet));
    device
}

/// Removes what may differ: IPv4's identification, which counts on, and TCP's zero checksum, which is equal to ones.
fn normalise(packet: &mut [u8]) {
    let is_ipv4 = packet[0] >> 4 == 4;
    if is_ipv4 {
        packet[4..6].fill(0);
        packet[10..12].fill(0);
    }
    let at = if is_ipv4 { 20 } else { 40 } + CHECKSUM_AT;
    if packet[at..at + 2] == [0, 0] {
        packet[at..at + 2].fill(0xff);
    }
}

#[test]
fn full_segments_go_together_and_a_short_one_ends_them() {
    let segments = [(0, 1000), (1000, 1000), (2000, 400), (2400, 1000)]
        .map(|(offset, len)| transmit(offset, len, Flags(0)));
    let device = sent(true, true, &segments);
    assert_eq!((device.packets.len(), device.long), (4, 1));
    assert_eq!(device.packets, sent(false, true, &segments).packets);
}

proptest! {
    #[test]
    fn as_if_one_by_one(
        is_ipv4: bool,
        lens in prop::collection::vec((prop_oneof![Just(1448u32), 0u32..1449], 0u8..20, 0u8..20), 1..80),
    ) {
        let mut offset = 0;
        let mut segments = Vec::new();
        for (len, oddity, flag) in lens {
            let flags = if flag == 0 { Flags::PSH } else { Flags(0) };
            let mut one = transmit(offset, len, flags);
            offset += u64::from(len);
            match oddity {
                0 => one.segment.ack = Seq(78),
                1 => one.segment.sack.push(Seq(1), Seq(2)),
                2 => one.ecn = airtcp_wire::Ecn::Ect0,
                3 => one.segment.flags.set(Flags::CWR),
                4 => one.segment.timestamps = Some(Timestamps { value: 8, echo: 9 }),
                5 => offset += 10,
                _ => {}
            }
            segments.push(one);
        }
        let alone: Vec<Vec<u8>> = segments.iter().map(|one| {
            let mut packet = vec![0; 2000];
            let bytes = payload(one.offset, one.segment.len);
            let len = encode_tcp(&endpoints(is_ipv4), one.ecn, &one.segment, &bytes, &mut packet).unwrap();
            packet.truncate(len);
            normalise(&mut packet);
            packet
        }).collect();
        prop_assert_eq!(&sent(true, is_ipv4, &segments).packets, &alone);
        prop_assert_eq!(&sent(false, is_ipv4, &segments).packets, &alone);
    }
}
