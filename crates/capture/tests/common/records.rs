//! Capture files taken apart into packets, and put together again.

use airtcp_capture::{FileItem, Reader};

/// A packet of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    pub ns: u64,
    pub interface: u32,
    pub data: Vec<u8>,
    pub original_len: u32,
}

/// Where the IP header is.
pub const IP: usize = 14;
const ETHERNET: [u8; IP] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];

impl Record {
    /// Whether it goes from the client, whose address ends in 1, in the simulator's captures.
    pub fn is_forward(&self) -> bool {
        self.data[IP + 12..IP + 16] < self.data[IP + 16..IP + 20]
    }

    pub fn is_data(&self) -> bool {
        self.original_len > 200
    }

    /// Gives the packet an identification; the checksum of a captured header is not looked at.
    pub fn identify(&mut self, id: u16) {
        self.data[IP + 4..IP + 6].copy_from_slice(&id.to_be_bytes());
    }
}

/// The packets of one of the simulator's captures, each behind a header of Ethernet.
pub fn records(file: &[u8]) -> Vec<Record> {
    let mut reader = Reader::new(file).unwrap();
    let mut records = Vec::new();
    while let Some(item) = reader.read().unwrap() {
        let FileItem::Frame(frame) = item else { panic!("{item:?}") };
        records.push(Record {
            ns: frame.time.0,
            interface: frame.interface,
            data: [&ETHERNET, frame.data].concat(),
            original_len: frame.original_len + IP as u32,
        });
    }
    records
}

/// As little-endian pcap with nanoseconds.
pub fn pcap(link_type: u32, records: &[Record]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut words = |words: &[u32]| words.iter().for_each(|word| file.extend(word.to_le_bytes()));
    words(&[0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 1 << 16, link_type]);
    for record in records {
        let times = [(record.ns / 1_000_000_000) as u32, (record.ns % 1_000_000_000) as u32];
        let lens = [record.data.len() as u32, record.original_len];
        times.into_iter().chain(lens).for_each(|word| file.extend(word.to_le_bytes()));
        file.extend(&record.data);
    }
    file
}

/// As little-endian pcapng with nanoseconds and as many Ethernet interfaces as the records name.
pub fn pcapng(records: &[Record]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let len = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes()[..], &len, body, &len].concat()
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = block(0x0a0d_0d0a, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    for _ in 0..=records.iter().map(|record| record.interface).max().unwrap_or(0) {
        file.extend(block(1, &words(&[1, 0, 9 | 1 << 16, 9, 0])));
    }
    for record in records {
        let fixed = [
            record.interface,
            (record.ns >> 32) as u32,
            record.ns as u32,
            record.data.len() as u32,
            record.original_len,
        ];
        let padding = vec![0; record.data.len().next_multiple_of(4) - record.data.len()];
        file.extend(block(6, &[words(&fixed), record.data.clone(), padding].concat()));
    }
    file
}
