//! 10 MB out, 10 MB in, and their hashes.

use airtcp_live::stack::{StackFlow, Stream};
use airtcp_proto::tcp::State;

pub const BYTES: usize = 10_000_000;

/// How much is read with patience: a few windows, since the kernel probes a closed one every 200 ms at best.
const PATIENT_BYTES: usize = 150_000;

/// A reproducible stream of [`BYTES`] bytes, in pieces.
pub struct Pattern {
    state: u64,
    left: usize,
}

impl Pattern {
    pub fn new(seed: u64) -> Pattern {
        Pattern { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, left: BYTES }
    }

    /// Fills the front of `buffer` and returns how much of it; zero at the end.
    pub fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let len = buffer.len().min(self.left);
        self.left -= len;
        for byte in &mut buffer[..len] {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (self.state >> 56) as u8;
        }
        len
    }
}

/// FNV-1a over a stream, with its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hash {
    hash: u64,
    pub len: usize,
}

impl Hash {
    pub fn new() -> Hash {
        Hash { hash: 0xcbf2_9ce4_8422_2325, len: 0 }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        for &byte in bytes {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

/// The hash of the whole [`Pattern`] of `seed`.
pub fn pattern_hash(seed: u64) -> Hash {
    let (mut pattern, mut hash, mut buffer) = (Pattern::new(seed), Hash::new(), [0; 4096]);
    loop {
        match pattern.fill(&mut buffer) {
            0 => return hash,
            len => hash.update(&buffer[..len]),
        }
    }
}

/// Sends a pattern and receives whatever comes.
pub struct Transfer {
    pattern: Pattern,
    received: Hash,
    buffer: Vec<u8>,
    /// Turns in a row without anything new to read after which it reads, at first.
    patience: u32,
    quiet_turns: u32,
    last_readable: usize,
    may_send: bool,
    peer_finished: bool,
}

impl Transfer {
    /// With `sends_first` false nothing is sent before the peer has finished. With some `patience` nothing is read at
    /// first before so many turns in a row brought nothing new, such as a full window's probes.
    pub fn new(seed: u64, sends_first: bool, patience: u32) -> Transfer {
        Transfer {
            pattern: Pattern::new(seed),
            received: Hash::new(),
            buffer: vec![0; 1 << 16],
            patience,
            quiet_turns: 0,
            last_readable: 0,
            may_send: sends_first,
            peer_finished: false,
        }
    }

    pub fn received_hash(&self) -> Hash {
        self.received
    }

    fn is_time_to_read(&mut self, stream: &Stream) -> bool {
        self.quiet_turns = if stream.readable() == self.last_readable { self.quiet_turns + 1 } else { 0 };
        self.last_readable = stream.readable();
        self.quiet_turns >= self.patience || self.received.len >= PATIENT_BYTES || self.peer_finished
    }

    fn receive(&mut self, stream: &mut Stream) {
        loop {
            match stream.read(&mut self.buffer) {
                0 => break,
                len => self.received.update(&self.buffer[..len]),
            }
        }
        self.last_readable = 0;
    }

    fn send(&mut self, stream: &mut Stream) {
        while stream.writable() > 0 {
            let room = stream.writable().min(self.buffer.len());
            let len = self.pattern.fill(&mut self.buffer[..room]);
            if len == 0 {
                return stream.shutdown();
            }
            assert_eq!(stream.write(&self.buffer[..len]), len);
        }
    }
}

impl Transfer {
    /// Does what can be done now, and returns whether both have sent all and know that it has arrived.
    pub fn turn(&mut self, flow: &mut StackFlow) -> bool {
        assert_eq!(flow.failure, None, "{:?}: {:?}", flow.stream.state(), flow.stream.stats());
        self.peer_finished |= flow.has_ended;
        self.may_send |= flow.has_ended;
        if self.is_time_to_read(&flow.stream) {
            self.receive(&mut flow.stream);
        }
        if self.may_send {
            self.send(&mut flow.stream);
        }
        self.peer_finished && matches!(flow.stream.state(), State::TimeWait | State::Closed)
    }
}
