//! Packet timelines by hand, as capture files.

use airtcp_capture::{Capture, CaptureError, read};
use airtcp_wire::packet::{Endpoints, encode_tcp};
use airtcp_wire::{Ecn, Flags, SackBlocks, Segment, Seq, SynOptions, Timestamps};

pub const MSS: u32 = 1000;
pub const MS: u64 = 1_000_000;

/// A capture that is written packet by packet; times are in milliseconds.
#[derive(Default)]
pub struct Timeline {
    pub packets: Vec<(u64, Vec<u8>)>,
    pub no_timestamps: bool,
}

fn endpoints(is_data: bool) -> Endpoints {
    let (client, server) = ("10.0.0.1:4000".parse().unwrap(), "10.0.0.2:80".parse().unwrap());
    let forward = Endpoints::new(client, server).unwrap();
    if is_data { forward } else { forward.reversed() }
}

impl Timeline {
    pub fn push(&mut self, ms: f64, is_data: bool, ecn: Ecn, segment: Segment) -> &mut Self {
        let mut bytes = vec![0; 4000];
        let payload = vec![0; segment.len as usize];
        let len = encode_tcp(&endpoints(is_data), ecn, &segment, &payload, &mut bytes).unwrap();
        bytes.truncate(len);
        self.packets.push(((ms * MS as f64) as u64 + 1_000_000_000, bytes));
        self
    }

    pub fn stamps(&self, value: u64, echo: u64) -> Option<Timestamps> {
        (!self.no_timestamps).then_some(Timestamps { value: value as u32, echo: echo as u32 })
    }

    /// SYN at 0, SYN-ACK `far` later, ACK `near` after that.
    pub fn handshake(&mut self, far: f64, near: f64) -> &mut Self {
        let syn = SynOptions {
            mss: Some(1012),
            window_scale: Some(7),
            sack_permitted: true,
            ..SynOptions::default()
        };
        let open =
            |flags, seq, ack| Segment { seq: Seq(seq), ack: Seq(ack), flags, syn, ..Segment::default() };
        let (syn_flags, both) = (Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN | Flags::ACK | Flags::ECE);
        self.push(
            0.0,
            true,
            Ecn::NotEct,
            Segment { timestamps: self.stamps(1, 0), ..open(syn_flags, 999, 0) },
        );
        self.push(
            far,
            false,
            Ecn::NotEct,
            Segment { timestamps: self.stamps(1, 1), ..open(both, 4999, 1000) },
        );
        let ack = Segment { flags: Flags::ACK, seq: Seq(1000), ack: Seq(5000), ..Segment::default() };
        self.push(far + near, true, Ecn::NotEct, Segment { timestamps: self.stamps(2, 1), ..ack })
    }

    /// Packet `n` of the data, sent when the sender's clock showed `value`.
    pub fn data(&mut self, ms: f64, n: u32, value: u64, echo: u64) -> &mut Self {
        let segment = Segment {
            seq: Seq(1000 + n * MSS),
            ack: Seq(5000),
            flags: Flags::ACK,
            len: MSS,
            timestamps: self.stamps(value, echo),
            ..Segment::default()
        };
        self.push(ms, true, Ecn::Ect0, segment)
    }

    /// The first packets, a millisecond apart from 41 ms on.
    pub fn burst(&mut self, packets: u32) {
        for n in 0..packets {
            self.data(41.0 + f64::from(n), n, 41 + u64::from(n), 1);
        }
    }

    /// Packets below `n` have arrived, and those of the blocks.
    pub fn ack(&mut self, ms: f64, n: u32, echo: u64, blocks: &[(u32, u32)]) -> &mut Self {
        let bytes: Vec<_> = blocks.iter().map(|&(left, right)| (left * MSS, right * MSS)).collect();
        self.ack_bytes(ms, n, echo, &bytes)
    }

    /// Like `ack`, with blocks in bytes of the stream.
    pub fn ack_bytes(&mut self, ms: f64, n: u32, echo: u64, blocks: &[(u32, u32)]) -> &mut Self {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|&(left, right)| sack.push(Seq(1000 + left), Seq(1000 + right)));
        let segment = Segment {
            seq: Seq(5000),
            ack: Seq(1000 + n * MSS),
            flags: Flags::ACK,
            window: 500,
            timestamps: self.stamps(ms as u64, echo),
            sack,
            ..Segment::default()
        };
        self.push(ms, false, Ecn::NotEct, segment)
    }

    /// As little-endian pcap with nanoseconds, each packet behind `link`, and cut to `snap` bytes.
    pub fn file(&self, link_type: u32, link: &[u8], snap: usize) -> Vec<u8> {
        let mut file = Vec::new();
        let header = [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, snap as u32, link_type];
        header.iter().for_each(|word: &u32| file.extend(word.to_le_bytes()));
        for (time, bytes) in &self.packets {
            let whole = [link, bytes].concat();
            let kept = &whole[..snap.min(whole.len())];
            let words = [time / 1_000_000_000, time % 1_000_000_000, kept.len() as u64, whole.len() as u64];
            words.iter().for_each(|&word| file.extend((word as u32).to_le_bytes()));
            file.extend(kept);
        }
        file
    }

    pub fn found(&self) -> Capture {
        read_file(&self.file(101, &[], 1 << 16))
    }
}

pub fn read_file(file: &[u8]) -> Capture {
    read_bytes(file).unwrap()
}

pub fn read_bytes(file: &[u8]) -> Result<Capture, CaptureError> {
    read(|| Ok(file))
}

/// Packet 1 of 0 to 4 is lost, SACKed around, sent again, and acknowledged: RFC 2018, RFC 6675.
pub fn fast_retransmit() -> Timeline {
    let mut line = Timeline::default();
    line.handshake(40.0, 0.0);
    line.burst(5);
    line.ack(81.0, 1, 41, &[]).ack(83.0, 1, 41, &[(2, 3)]).ack(84.0, 1, 41, &[(2, 4)]).ack(
        85.0,
        1,
        41,
        &[(2, 5)],
    );
    line.data(85.5, 1, 85, 85).ack(125.5, 5, 85, &[]);
    line
}
