//! What a Wi-Fi station sends in its turn.

use super::control::{Choice, Control};
use super::error::Readability;
use super::phy::Mode;
use super::snr::Course;
use crate::Chance;
use crate::path::{Burst, Schedule, Supply, Transmitter};
use airtcp_wire::{Dur, Time};

/// LLC and SNAP headers.
const LLC_BYTES: u32 = 8;
const FCS_BYTES: u32 = 4;
const HEADER_BYTES: u32 = 24;
const QOS_HEADER_BYTES: u32 = 26;
/// What precedes each frame in an aggregate.
const DELIMITER_BYTES: u32 = 4;
const ACK_BYTES: u32 = 14;
const RTS_BYTES: u32 = 20;
const CTS_BYTES: u32 = 14;
/// A compressed block ack for 64 frames.
const BLOCK_ACK_BYTES: u32 = 32;
/// aPPDUMaxTime.
const LONGEST: Dur = Dur::from_micros(5_484);
/// Frames that the receiver reorders.
const WINDOW: usize = 64;

/// Data frames, each or each aggregate followed by its acknowledgment, and preceded by RTS and CTS if it is long.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    pub mode: Mode,
    pub sifs: Dur,
    /// Longest A-MPDU in bytes. Absent: frames go one by one.
    pub most_bytes: Option<u32>,
    /// RTS and CTS precede data of more bytes.
    pub rts_threshold: Option<u32>,
}

impl Exchange {
    /// Length of an IP packet as a frame, from MAC header to FCS.
    fn frame_bytes(&self, bytes: u32) -> u32 {
        let header = if self.mode.standard.aggregates() { QOS_HEADER_BYTES } else { HEADER_BYTES };
        header + LLC_BYTES + bytes + FCS_BYTES
    }

    /// How long a packet of so many bytes takes, with its acknowledgment.
    pub fn single(&self, bytes: u32) -> Dur {
        self.alone(Time::ZERO, bytes).ends.since(Time::ZERO)
    }

    /// A packet of so many bytes, and its acknowledgment.
    fn alone(&self, start: Time, bytes: u32) -> Schedule {
        self.schedule(start, self.frame_bytes(bytes), ACK_BYTES)
    }

    /// An aggregate, and its block ack.
    fn aggregate(&self, start: Time, bytes: u32) -> Schedule {
        self.schedule(start, bytes, BLOCK_ACK_BYTES)
    }

    /// IEEE 802.11-2020, 10.3.2: CTS answers RTS after SIFS, and data follows after SIFS.
    fn schedule(&self, start: Time, data_bytes: u32, acknowledgment_bytes: u32) -> Schedule {
        let Exchange { mode, sifs, rts_threshold, .. } = self;
        let answered = |from: Time, asking: Dur, answer_bytes: u32| {
            let asked = from + asking;
            let ends = asked + *sifs + mode.control(answer_bytes);
            Schedule { asked, answers: asked + *sifs, gives_up: ends, ends }
        };
        let data = |from| answered(from, mode.data(data_bytes), acknowledgment_bytes);
        match rts_threshold.is_some_and(|threshold| data_bytes > threshold) {
            true => {
                let request = answered(start, mode.control(RTS_BYTES), CTS_BYTES);
                Schedule { ends: data(request.ends + *sifs).ends, ..request }
            }
            false => data(start),
        }
    }

    /// How many packets of so many bytes an aggregate holds, and how long they take together.
    pub fn longest(&self, bytes: u32) -> (u32, Dur) {
        let each = self.subframe_bytes(bytes);
        let fits = |count: &u32| self.fits(count * each);
        match (2..=WINDOW as u32).rev().find(fits) {
            Some(count) => (count, self.aggregate(Time::ZERO, count * each).ends.since(Time::ZERO)),
            None => (1, self.single(bytes)),
        }
    }

    /// Share of the packets of so many bytes that can be read at this signal-to-noise ratio.
    pub fn readable(&self, snr_db: f64, bytes: u32) -> f64 {
        1.0 - Readability::of(&self.mode, snr_db).error_rate(self.frame_bytes(bytes))
    }

    fn subframe_bytes(&self, bytes: u32) -> u32 {
        DELIMITER_BYTES + self.frame_bytes(bytes).next_multiple_of(4)
    }

    /// May an aggregate be as long as that?
    fn fits(&self, bytes: u32) -> bool {
        self.most_bytes.is_some_and(|most| bytes <= most && self.mode.data(bytes) <= LONGEST)
    }
}

/// One link of a station.
pub struct Station {
    /// By the scheme of its last turn.
    pub exchange: Exchange,
    pub control: Control,
    /// Absent: every frame can be read, as far as the signal goes.
    pub reception: Option<Reception>,
}

impl Transmitter for Station {
    fn departure(&mut self, start: Time, bytes: u32) -> Time {
        start + self.exchange.single(bytes)
    }

    fn serve(&mut self, start: Time, supply: &mut Supply, burst: &mut Burst) -> Schedule {
        let snr_db = self.reception.as_mut().map_or(f64::INFINITY, |reception| reception.at(start));
        let Choice { mcs, is_probe } = self.control.choose(start, snr_db);
        self.exchange.mode.mcs = mcs;
        let most = if is_probe { 1 } else { WINDOW };
        let mut bytes = 0;
        while burst.len() < most
            && let Some(frame) = supply.take(WINDOW)
        {
            let longer = bytes + self.exchange.subframe_bytes(frame.bytes);
            if !burst.is_empty() && !self.exchange.fits(longer) {
                supply.put_back(frame);
                break;
            }
            burst.push(frame);
            bytes = longer;
        }
        match burst.as_slice() {
            [alone] => self.exchange.alone(start, alone.bytes),
            _ => self.exchange.aggregate(start, bytes),
        }
    }

    fn reach(&mut self, burst: &mut Burst, others: f64) {
        if let Some(reception) = &mut self.reception {
            reception.judge(&self.exchange, burst, others);
        }
    }

    fn signal(&self) -> f64 {
        self.reception
            .as_ref()
            .map(|reception| reception.snr_db)
            .map_or(f64::INFINITY, |snr_db| libm::pow(10.0, snr_db / 10.0))
    }

    fn on_acknowledged(&mut self, read: usize, sent: usize) {
        self.control.on_acknowledged(read, sent);
    }
}

/// Decides which frames the far end can read, each by itself.
pub struct Reception {
    snr: Course,
    /// In the last turn, in dB.
    snr_db: f64,
    chance: Chance,
}

impl Reception {
    pub fn new(snr: Course, chance: Chance) -> Reception {
        Reception { snr, snr_db: f64::INFINITY, chance }
    }

    /// The ratio in dB of a turn that begins.
    fn at(&mut self, start: Time) -> f64 {
        self.snr_db = self.snr.at(start);
        self.snr_db
    }

    fn judge(&mut self, exchange: &Exchange, burst: &mut Burst, others: f64) {
        let readability = Readability::of(&exchange.mode, self.snr_db - 10.0 * libm::log10(1.0 + others));
        for frame in burst {
            let error_rate = readability.error_rate(exchange.frame_bytes(frame.bytes));
            frame.is_readable = self.chance.f64() >= error_rate;
        }
    }
}
