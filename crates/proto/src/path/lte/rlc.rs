//! Radio link control (3GPP TS 36.322): packets as data of transport blocks, and the same packets at the far end, in order.

use crate::path::Frame;
use airtcp_wire::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What the PDCP and the RLC add to each packet: sequence number and length indicator (TS 36.323 §6.2.3, TS 36.322 §6.2.1).
const PACKET_HEADER_BYTES: u32 = 4;

/// What becomes of a block that HARQ gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Acknowledged: a status report asks for it, and it is sent again.
    #[default]
    Am,
    /// Unacknowledged: the packets of which it had a part are lost.
    Um,
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub mode: Mode,
    /// How long the receiver waits for what is missing.
    pub t_reordering: Dur,
    /// How long a status report takes.
    pub status: Dur,
    /// How often the data of one PDU is sent again at most.
    pub retransmissions: u32,
}

pub struct Rlc {
    rules: Rules,
    /// PDUs that have not been handed on, and the number of the first.
    window: VecDeque<Pdu>,
    first: u64,
    /// Their packets, in order. Of the last one, `rest` has not been sent.
    packets: VecDeque<Frame>,
    rest: u32,
    /// What must be sent again.
    again: VecDeque<Again>,
    /// A part of the packet that is handed on next is lost.
    is_torn: bool,
    handed_at: Time,
}

/// A piece of data for a transport block.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub pdu: u64,
    pub bytes: u32,
}

struct Again {
    due: Time,
    piece: Piece,
}

struct Pdu {
    unread: u32,
    retransmissions: u32,
    /// How many packets end in it.
    ends: u32,
    /// Does its last packet go on in the next PDU?
    continues: bool,
    fate: Option<Fate>,
}

#[derive(Clone, Copy)]
struct Fate {
    at: Time,
    /// When it would have been known had the first copy been read.
    first_at: Time,
    is_lost: bool,
}

/// A packet that comes out of the receiver, or never will.
pub struct Handed {
    pub frame: Frame,
    pub at: Time,
    /// For how long it has been repeated, and has then waited for those before it.
    pub repeated: Dur,
    pub waited: Dur,
    pub is_lost: bool,
}

impl Rlc {
    pub fn new(rules: Rules) -> Rlc {
        Rlc {
            rules,
            window: VecDeque::new(),
            first: 0,
            packets: VecDeque::new(),
            rest: 0,
            again: VecDeque::new(),
            is_torn: false,
            handed_at: Time::ZERO,
        }
    }

    /// So many bytes take `waiting_bytes` in `packets` packets that wait before it, with what it holds itself and may send at `now`.
    pub fn backlog(&self, now: Time, packets: usize, waiting_bytes: u64) -> u64 {
        let own = if self.rest > 0 { u64::from(self.rest + PACKET_HEADER_BYTES) } else { 0 };
        let again =
            self.again.iter().filter(|again| again.due <= now).map(|again| u64::from(again.piece.bytes));
        own + again.sum::<u64>() + waiting_bytes + packets as u64 * u64::from(PACKET_HEADER_BYTES)
    }

    /// When it has something to send if no packet comes.
    pub fn due(&self) -> Time {
        let again = self.again.front().map_or(Time::NEVER, |again| again.due);
        if self.rest > 0 { Time::ZERO } else { again }
    }

    /// Takes data for a transport block that has `room` for it, first what must be sent again. `next` gives the packets that wait.
    pub fn fill(&mut self, now: Time, room: u32, next: impl FnMut() -> Option<Frame>) -> Option<Piece> {
        match self.again.front_mut().filter(|again| again.due <= now) {
            None => self.segment(room, next),
            Some(Again { piece, .. }) => {
                let bytes = piece.bytes.min(room);
                let taken = Piece { bytes, ..*piece };
                piece.bytes -= bytes;
                if piece.bytes == 0 {
                    self.again.pop_front();
                }
                Some(taken)
            }
        }
    }

    fn segment(&mut self, room: u32, mut next: impl FnMut() -> Option<Frame>) -> Option<Piece> {
        let (mut bytes, mut ends) = (0, 0);
        while bytes + PACKET_HEADER_BYTES < room {
            if self.rest == 0 {
                let Some(frame) = next() else { break };
                self.rest = frame.bytes.max(1);
                self.packets.push_back(frame);
            }
            let taken = self.rest.min(room - bytes - PACKET_HEADER_BYTES);
            bytes += taken + PACKET_HEADER_BYTES;
            self.rest -= taken;
            ends += u32::from(self.rest == 0);
        }
        if bytes == 0 {
            return None;
        }
        let continues = self.rest > 0;
        self.window.push_back(Pdu { unread: bytes, retransmissions: 0, ends, continues, fate: None });
        Some(Piece { pdu: self.first + self.window.len() as u64 - 1, bytes })
    }

    /// A block has been read. Its first copy was to be known at `first_at`.
    pub fn on_read(&mut self, piece: Piece, first_at: Time, at: Time) {
        let pdu = self.pdu(piece);
        pdu.unread -= piece.bytes;
        if pdu.unread == 0 && pdu.fate.is_none() {
            pdu.fate = Some(Fate { at, first_at, is_lost: false });
        }
    }

    /// HARQ has given up a block, which has been known since `at`.
    pub fn on_given_up(&mut self, piece: Piece, first_at: Time, at: Time) {
        let Rules { mode, t_reordering, status, retransmissions } = self.rules;
        let pdu = self.pdu(piece);
        // TS 36.322 §5.1.2.2.4, §5.1.3.2.4: the timer runs from when a later PDU shows the gap.
        let missed_at = at.max(first_at + t_reordering);
        if mode == Mode::Um || pdu.retransmissions == retransmissions {
            pdu.fate = pdu.fate.or(Some(Fate { at: missed_at, first_at, is_lost: true }));
            return;
        }
        pdu.retransmissions += 1;
        self.again.push_back(Again { due: missed_at + status, piece });
    }

    fn pdu(&mut self, piece: Piece) -> &mut Pdu {
        &mut self.window[(piece.pdu - self.first) as usize]
    }

    /// The next packet whose fate is known, and that of all before it.
    pub fn pop(&mut self) -> Option<Handed> {
        loop {
            let pdu = self.window.front_mut()?;
            let Fate { at, first_at, is_lost } = pdu.fate?;
            self.handed_at = self.handed_at.max(at);
            if pdu.ends > 0 {
                pdu.ends -= 1;
                let is_lost = std::mem::take(&mut self.is_torn) || is_lost;
                let (repeated, waited) = (at.since(first_at), self.handed_at.since(at));
                let frame = self.packets.pop_front()?;
                return Some(Handed { frame, at: self.handed_at, repeated, waited, is_lost });
            }
            self.is_torn = pdu.continues && (self.is_torn || is_lost);
            self.window.pop_front();
            self.first += 1;
        }
    }

    /// Forgets all packets, and returns them.
    pub fn clear(&mut self) -> impl Iterator<Item = Frame> {
        let handed_at = self.handed_at;
        let before = std::mem::replace(self, Rlc { handed_at, ..Rlc::new(self.rules) });
        before.packets.into_iter()
    }
}
