//! One flow: snoop_data and snoop_ack of the paper (§3.1), and the local timer.

use super::Config;
use super::cache::{Cache, Cached};
use crate::base_station::flows::{Ending, LastAck, end_of};
use crate::middlebox::{Direction, Origin, SeenPacket};
use crate::tcp::Reason;
use airtcp_wire::{Dur, Ecn, Flags, SackBlocks, Segment, Seq, Time};

/// The timeout before the first round trip on the wireless side (RFC 6298 §2 (2.1)).
const INITIAL_TIMEOUT: Dur = Dur::from_secs(1);

#[derive(Debug)]
pub struct FlowState {
    cache: Cache,
    /// The sequence number after the last byte that has gone to the mobile host.
    sent_end: Seq,
    /// The mobile host's last acknowledgment; `None` before the first one for data seen here.
    last: Option<(LastAck, SeenPacket)>,
    /// The newest acknowledgment carried by the fixed host's data.
    fixed_hosts_ack: Seq,
    /// How many more duplicate ACKs are expected, for segments sent after the first missing one.
    expected: u32,
    rtt: Rtt,
    /// When data was last acknowledged or the timer last expired. The timer runs from then, or from when its segment left if that is
    /// later.
    armed_at: Time,
    pub ending: Ending,
}

/// Round trips between the base station and the mobile host.
#[derive(Clone, Copy, Debug, Default)]
struct Rtt {
    /// SRTT and RTTVAR; `None` before the first sample.
    smoothed: Option<(Dur, Dur)>,
    min: Dur,
}

/// A packet at the base station, and the packets that leave in its place or after it.
pub struct Visit<'a> {
    pub now: Time,
    pub packet: &'a SeenPacket,
    pub config: &'a Config,
    pub out: &'a mut Vec<SeenPacket>,
}

impl FlowState {
    /// A flow whose first data seen is `first`.
    pub fn new(first: &Segment) -> FlowState {
        FlowState {
            cache: Cache::default(),
            sent_end: first.seq,
            last: None,
            fixed_hosts_ack: first.ack,
            expected: 0,
            rtt: Rtt::default(),
            armed_at: Time::ZERO,
            ending: Ending::default(),
        }
    }

    /// As [`handle_packet`](crate::middlebox::Middlebox::handle_packet).
    pub fn handle_packet(&mut self, visit: Visit<'_>) -> bool {
        let packet = visit.packet;
        self.ending.watch(packet.direction, &packet.segment);
        match packet.direction {
            Direction::Forward if packet.segment.seq_len() > 0 => self.handle_data(visit),
            Direction::Reverse if packet.segment.flags.contains(Flags::ACK) => self.handle_ack(visit),
            _ => true,
        }
    }

    /// §3.1, snoop_data.
    fn handle_data(&mut self, visit: Visit<'_>) -> bool {
        let Visit { now, packet, config, out } = visit;
        let segment = &packet.segment;
        let end = end_of(segment);
        let carries_news = segment.ack.distance(self.fixed_hosts_ack) > 0 || packet.ecn == Ecn::Ce;
        if carries_news {
            self.fixed_hosts_ack = segment.ack;
        }
        if let Some((last, acknowledgment)) = &self.last
            && end.distance(last.ack) <= 0
            && !carries_news
        {
            // The acknowledgment was lost on the way to the fixed host.
            out.push(again(acknowledgment));
            return false;
        }
        let is_new = segment.seq.distance(self.sent_end) >= 0;
        if end.distance(self.sent_end) > 0 {
            self.sent_end = end;
        }
        match self.cache.starting_at(segment.seq) {
            Some(cached) => {
                let retransmissions = cached.retransmissions;
                *cached = Cached { retransmissions, ..Cached::new(*packet, now, true) };
            }
            None => self.cache.keep(Cached::new(*packet, now, !is_new), config.cache),
        }
        true
    }

    /// §3.1, snoop_ack.
    fn handle_ack(&mut self, visit: Visit<'_>) -> bool {
        let Visit { now, packet, config, out } = visit;
        let segment = &packet.segment;
        let Some((last, _)) = self.last else {
            self.accept(now, packet);
            return true;
        };
        let progress = segment.ack.distance(last.ack);
        if progress > 0 {
            let newest_arrival = self.accept(now, packet);
            self.resend_next_hole(now, newest_arrival, out);
            true
        } else if progress < 0 {
            // It has been overtaken and contains nothing new.
            segment.seq_len() > 0
        } else if last.is_repeated_by(segment, self.sent_end) {
            self.handle_duplicate(Visit { now, packet, config, out })
        } else {
            self.accept(now, packet);
            true
        }
    }

    /// Takes an acknowledgment that goes on to the fixed host. Returns the latest time at which a segment left that it acknowledges.
    fn accept(&mut self, now: Time, packet: &SeenPacket) -> Time {
        let segment = &packet.segment;
        let mut newest = None;
        let mut is_clean = true;
        let mut left_at = Time::ZERO;
        while let Some(cached) = self.cache.pop_acknowledged(segment.ack) {
            is_clean &= cached.is_untouched();
            left_at = left_at.max(cached.sent_at);
            newest = Some(cached);
        }
        if let Some(cached) = newest {
            self.armed_at = now;
            self.expected = 0;
            // Karn's rule. And a segment behind a hole may have arrived long before.
            if is_clean && !cached.is_sacked {
                self.rtt.on_sample(now.since(cached.sent_at));
            }
        }
        self.cache.note_sacked(segment.sack.as_slice());
        self.last = Some((LastAck { ack: segment.ack, window: segment.window }, *packet));
        left_at
    }

    /// A segment is missing. If there is a copy of it, the fixed host need not know.
    fn handle_duplicate(&mut self, visit: Visit<'_>) -> bool {
        let Visit { now, packet, config, out } = visit;
        let sacked_end = self.cache.note_sacked(packet.segment.sack.as_slice());
        let behind = (self.cache.kept.len() as u32).saturating_sub(1);
        let patience = self.rtt.smoothed.map_or(INITIAL_TIMEOUT, |(srtt, _)| srtt);
        let Some(missing) = self.cache.missing_at(packet.segment.ack).filter(|missing| !missing.is_senders)
        else {
            return true;
        };
        let is_expected = missing.retransmissions > 0 && self.expected > 0;
        let is_under_way = missing.retransmissions > 0 && now.since(missing.sent_at) < patience;
        if missing.retransmissions >= config.local_retries && !is_under_way {
            missing.is_senders = true;
            return true;
        } else if is_expected || is_under_way {
            self.expected = self.expected.saturating_sub(1);
        } else {
            self.expected = behind;
            out.push(self.resend_first(now));
        }
        self.resend_below(sacked_end, now, out);
        false
    }

    /// Resends the next missing segment, if it left before the repair that has now arrived, which was sent at `repaired_at`. An
    /// acknowledgment within less than a round trip of that was for the first copy, and proves nothing.
    fn resend_next_hole(&mut self, now: Time, repaired_at: Time, out: &mut Vec<SeenPacket>) {
        let Some((last, _)) = self.last else { return };
        let missing = self.cache.missing_at(last.ack);
        let is_lost = missing.is_some_and(|missing| missing.is_untouched() && missing.sent_at < repaired_at);
        if is_lost && now.since(repaired_at) >= self.rtt.min {
            self.expected = self.cache.kept.len() as u32 - 1;
            out.push(self.resend_first(now));
        }
    }

    /// Resends every hole below what SACK reports, once.
    fn resend_below(&mut self, sacked_end: Option<Seq>, now: Time, out: &mut Vec<SeenPacket>) {
        let Some(sacked_end) = sacked_end else { return };
        let newest = self.newest_echo();
        for cached in self.cache.kept.iter_mut().take_while(|cached| cached.end().distance(sacked_end) < 0) {
            if cached.is_untouched() && !cached.is_sacked {
                out.push(resend(cached, now, newest));
            }
        }
    }

    fn resend_first(&mut self, now: Time) -> SeenPacket {
        let newest = self.newest_echo();
        let first = self.cache.kept.front_mut().expect("a missing segment is the first one");
        resend(first, now, newest)
    }

    /// The fixed host's timestamp that the mobile host holds (RFC 7323 §4.3: TS.Recent).
    fn newest_echo(&self) -> Option<u32> {
        self.last.as_ref()?.1.segment.timestamps.map(|timestamps| timestamps.echo)
    }

    /// A queue has dropped a segment. This is congestion, of which the fixed host must learn.
    pub fn handle_drop(&mut self, segment: &Segment) {
        self.cache.forget(segment.seq);
    }

    /// The first copy has waited too long for its acknowledgment.
    pub fn handle_timeout(&mut self, now: Time, config: &Config, out: &mut Vec<SeenPacket>) {
        if self.deadline(config) > now {
            return;
        }
        self.armed_at = now;
        self.expected = self.cache.kept.len() as u32;
        out.push(self.resend_first(now));
    }

    /// When the local timer expires. It runs only for the first missing segment: what lies behind a hole that the fixed host is to fill
    /// has most likely arrived.
    pub fn deadline(&self, config: &Config) -> Time {
        let begins = |first: &&Cached| {
            self.last.as_ref().is_none_or(|(last, _)| first.start().distance(last.ack) <= 0)
        };
        match self.cache.kept.front().filter(begins) {
            Some(first) if first.retransmissions < config.local_retries => {
                self.armed_at.max(first.sent_at) + self.rtt.timeout(config.local_timeout)
            }
            _ => Time::NEVER,
        }
    }
}

impl Rtt {
    /// RFC 6298 §2.
    fn on_sample(&mut self, sample: Dur) {
        self.min = self.smoothed.map_or(sample, |_| self.min.min(sample));
        self.smoothed = Some(match self.smoothed {
            None => (sample, sample / 2),
            Some((srtt, rttvar)) => {
                let error = Dur(srtt.0.abs_diff(sample.0));
                ((srtt * 7 + sample) / 8, (rttvar * 3 + error) / 4)
            }
        });
    }

    fn timeout(&self, min: Dur) -> Dur {
        self.smoothed.map_or(INITIAL_TIMEOUT, |(srtt, rttvar)| srtt + rttvar * 4).max(min)
    }
}

/// Makes a packet of a copy. PAWS (RFC 7323 §5.3 R1) would refuse a timestamp older than `newest`, which the mobile host has from a later
/// segment.
fn resend(cached: &mut Cached, now: Time, newest: Option<u32>) -> SeenPacket {
    cached.sent_at = now;
    cached.retransmissions += 1;
    let mut packet = cached.packet;
    if let (Some(timestamps), Some(newest)) = (&mut packet.segment.timestamps, newest)
        && (newest.wrapping_sub(timestamps.value) as i32) > 0
    {
        timestamps.value = newest;
    }
    packet.origin = Origin { reason: Reason::Retransmit, offset: packet.origin.offset, ..Origin::default() };
    packet
}

/// The mobile host's last acknowledgment again, without the data that it may have carried.
fn again(last: &SeenPacket) -> SeenPacket {
    let segment = Segment {
        seq: end_of(&last.segment),
        flags: Flags::ACK,
        len: 0,
        sack: SackBlocks::default(),
        ..last.segment
    };
    SeenPacket::made(last.flow, last.direction, segment)
}
