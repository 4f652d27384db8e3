//! A sender that tells a controller what a real one would, and whose account of what is outstanding is consistent.
//!
//! It knows no network: a test says which segments arrive. Losses are found as in RFC 6675 by three segments above.

use airtcp_proto::cc::cubic::CubicRules;
use airtcp_proto::cc::{self, Ack, Build, Cause, Congestion, CongestionControl, RateSample, WindowRules};
use airtcp_wire::{Dur, Time};
use std::collections::{BTreeMap, VecDeque};

/// Segments above a hole that make it a loss (RFC 6675's DupThresh).
const DUP_THRESH: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Flying,
    Arrived,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    size: u64,
    sent: Time,
    state: State,
    is_resent: bool,
    delivered_when_sent: u64,
    lost_when_sent: u64,
    in_flight_when_sent: u64,
}

pub struct Sender {
    pub cc: Box<dyn CongestionControl>,
    pub now: Time,
    pub mss: u64,
    /// Bytes that may be outstanding whatever cwnd says.
    pub receive_window: u64,
    pub una: u64,
    pub nxt: u64,
    pub srtt: Dur,
    pub min_rtt: Dur,
    segments: VecDeque<Segment>,
    in_flight: u64,
    /// Segments that have arrived above a hole.
    above_hole: usize,
    /// Segments that are lost and not yet resent.
    to_resend: usize,
    delivered: u64,
    lost: u64,
    /// Recovery lasts until this is acknowledged.
    recover: u64,
    pub in_recovery: bool,
    /// SND.UNA at the last timeout.
    timed_out_at: Option<u64>,
    /// Congestion is told once a window: until this is acknowledged.
    ecn_recover: u64,
    /// cwnd and ssthresh before the last loss or timeout.
    before: Option<(u64, u64)>,
    may_exceed: bool,
    /// On the next ACKs.
    pub peer_timestamp: Option<u32>,
}

/// 1000-byte segments, an initial window of ten, no pacing, one segment counted an ACK.
pub fn plain() -> Build {
    Build {
        mss: 1000,
        initial_window: 10_000,
        initial_ssthresh: u64::MAX,
        loss_window: 1000,
        slow_start: None,
        byte_counting_limit: Some(1),
        windows: WindowRules::Rfc,
        cubic: CubicRules::Rfc9438,
        is_paced: false,
        seed: 1,
    }
}

impl Sender {
    pub fn new(name: &str, params: &[(&str, f64)], build: &Build) -> Sender {
        let params: BTreeMap<String, f64> = params.iter().map(|&(k, v)| (k.to_owned(), v)).collect();
        Sender {
            cc: cc::build(name, &params, build).expect("a registered controller with legal parameters"),
            now: Time::ZERO,
            mss: build.mss,
            receive_window: u64::MAX,
            una: 0,
            nxt: 0,
            srtt: Dur::ZERO,
            min_rtt: Dur::MAX,
            segments: VecDeque::new(),
            in_flight: 0,
            above_hole: 0,
            to_resend: 0,
            delivered: 0,
            lost: 0,
            recover: 0,
            in_recovery: false,
            timed_out_at: None,
            ecn_recover: 0,
            before: None,
            may_exceed: false,
            peer_timestamp: None,
        }
    }

    /// cwnd in segments.
    pub fn cwnd(&self) -> f64 {
        self.cc.cwnd() as f64 / self.mss as f64
    }

    /// ssthresh in segments.
    pub fn ssthresh(&self) -> f64 {
        self.cc.ssthresh() as f64 / self.mss as f64
    }

    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub fn is_idle(&self) -> bool {
        self.segments.is_empty()
    }

    pub fn wait(&mut self, time: Dur) {
        self.now += time;
    }

    /// Offsets of the segments in flight, in order.
    pub fn flying(&self) -> impl Iterator<Item = u64> + '_ {
        self.segments.iter().filter(|segment| segment.state == State::Flying).map(|segment| segment.offset)
    }

    /// When the segment at `offset` was last sent.
    pub fn sent_at(&self, offset: u64) -> Option<Time> {
        self.find(offset).map(|at| self.segments[at].sent)
    }

    fn find(&self, offset: u64) -> Option<usize> {
        self.segments.binary_search_by_key(&offset, |segment| segment.offset).ok()
    }

    fn has_room(&self) -> bool {
        self.in_flight + self.mss <= self.cc.cwnd() || self.may_exceed
    }

    /// Sends one segment, a lost one first, if cwnd and the receiver's window let it; returns its offset.
    pub fn send(&mut self) -> Option<u64> {
        if !self.has_room() {
            return None;
        }
        let lost = match self.to_resend {
            0 => None,
            _ => self.segments.iter().position(|segment| segment.state == State::Lost),
        };
        let at = match lost {
            Some(at) => {
                self.to_resend -= 1;
                at
            }
            None if self.nxt - self.una + self.mss > self.receive_window => return None,
            None => self.append(),
        };
        self.may_exceed = false;
        let (now, delivered, total_lost) = (self.now, self.delivered, self.lost);
        self.in_flight += self.segments[at].size;
        let in_flight = self.in_flight;
        let segment = &mut self.segments[at];
        segment.sent = now;
        segment.state = State::Flying;
        segment.is_resent = lost.is_some();
        segment.delivered_when_sent = delivered;
        segment.lost_when_sent = total_lost;
        segment.in_flight_when_sent = in_flight;
        let (offset, size) = (segment.offset, segment.size);
        self.cc.on_sent(now, size, in_flight);
        Some(offset)
    }

    fn append(&mut self) -> usize {
        self.segments.push_back(Segment {
            offset: self.nxt,
            size: self.mss,
            sent: self.now,
            state: State::Lost,
            is_resent: false,
            delivered_when_sent: 0,
            lost_when_sent: 0,
            in_flight_when_sent: 0,
        });
        self.nxt += self.mss;
        self.segments.len() - 1
    }

    /// Sends all that may be sent.
    pub fn fill(&mut self) {
        while self.send().is_some() {}
    }

    /// Segments arrive and are acknowledged by one ACK with the receiver's SACK blocks. Those not in flight are passed over.
    pub fn arrive(&mut self, offsets: &[u64], ece: bool) {
        let prior_in_flight = self.in_flight;
        let is_cwnd_limited = self.in_flight + self.mss > self.cc.cwnd();
        let mut newest: Option<Segment> = None;
        let mut newly_delivered = 0;
        for &offset in offsets {
            let Some(at) = self.find(offset) else { continue };
            let segment = &mut self.segments[at];
            if segment.state != State::Flying {
                continue;
            }
            segment.state = State::Arrived;
            self.above_hole += 1;
            newly_delivered += segment.size;
            if newest.is_none_or(|newest| newest.sent <= segment.sent) {
                newest = Some(*segment);
            }
        }
        let Some(newest) = newest else { return };
        self.in_flight -= newly_delivered;
        self.delivered += newly_delivered;
        let acked = self.advance();
        let newly_lost = self.find_losses();
        let rtt = (!newest.is_resent).then(|| self.now.since(newest.sent)).filter(|rtt| *rtt > Dur::ZERO);
        self.measure(rtt);
        let ack = Ack {
            now: self.now,
            acked,
            delivered: newly_delivered,
            is_duplicate: acked == 0,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            prior_in_flight,
            in_flight: self.in_flight,
            in_recovery: self.in_recovery,
            in_loss: false,
            is_cwnd_limited,
            ece,
            peer_timestamp: self.peer_timestamp,
            una: self.una,
            nxt: self.nxt,
            rate: self.rate(&newest, newly_lost),
        };
        if ece && self.una > self.ecn_recover && !self.in_recovery {
            self.ecn_recover = self.nxt;
            self.congestion(Cause::Ecn);
        }
        self.cc.on_ack(&ack);
        self.recover(newly_lost);
    }

    fn advance(&mut self) -> u64 {
        let una = self.una;
        while self.segments.front().is_some_and(|segment| segment.state == State::Arrived) {
            self.una += self.segments.pop_front().map_or(0, |segment| segment.size);
            self.above_hole -= 1;
        }
        self.una - una
    }

    fn find_losses(&mut self) -> u64 {
        if self.above_hole < DUP_THRESH {
            return 0;
        }
        let (mut above, mut newly_lost) = (0, 0);
        for segment in self.segments.iter_mut().rev() {
            match segment.state {
                State::Arrived => above += 1,
                State::Flying if above >= DUP_THRESH && !segment.is_resent => {
                    segment.state = State::Lost;
                    self.to_resend += 1;
                    newly_lost += segment.size;
                }
                _ => {}
            }
        }
        self.in_flight -= newly_lost;
        self.lost += newly_lost;
        newly_lost
    }

    fn measure(&mut self, rtt: Option<Dur>) {
        if let Some(rtt) = rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.srtt = if self.srtt == Dur::ZERO { rtt } else { (self.srtt * 7 + rtt) / 8 };
        }
    }

    fn rate(&self, newest: &Segment, newly_lost: u64) -> RateSample {
        RateSample {
            total_delivered: self.delivered,
            prior_delivered: newest.delivered_when_sent,
            delivered: self.delivered - newest.delivered_when_sent,
            interval: self.now.since(newest.sent),
            is_app_limited: false,
            total_lost: self.lost,
            newly_lost,
            lost_by_timer: 0,
            tx_in_flight: newest.in_flight_when_sent,
            lost_since: self.lost - newest.lost_when_sent,
        }
    }

    fn recover(&mut self, newly_lost: u64) {
        if self.in_recovery && self.una >= self.recover {
            self.in_recovery = false;
            self.cc.on_recovery_exit(self.now);
        }
        if newly_lost > 0 && !self.in_recovery && self.una >= self.recover {
            self.before = Some((self.cc.cwnd(), self.cc.ssthresh()));
            self.congestion(Cause::Loss);
            self.in_recovery = true;
            self.recover = self.nxt;
            self.may_exceed = true;
        }
    }

    /// The timer expires: all that is in flight is taken for lost. Nothing happens when nothing is outstanding.
    pub fn timeout(&mut self) {
        if self.segments.is_empty() {
            return;
        }
        for segment in &mut self.segments {
            if segment.state == State::Flying {
                segment.state = State::Lost;
                self.to_resend += 1;
                self.lost += segment.size;
            }
        }
        self.in_flight = 0;
        self.in_recovery = false;
        if self.timed_out_at != Some(self.una) {
            self.before = Some((self.cc.cwnd(), self.cc.ssthresh()));
        }
        self.congestion(Cause::Timeout);
        self.timed_out_at = Some(self.una);
        self.recover = self.nxt;
    }

    fn congestion(&mut self, cause: Cause) {
        self.cc.on_congestion(&Congestion {
            now: self.now,
            cause,
            is_repeated_timeout: cause == Cause::Timeout && self.timed_out_at == Some(self.una),
            survivors: 0,
            total_lost: self.lost,
            flight_size: self.nxt - self.una,
            in_flight: self.in_flight,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            una: self.una,
            nxt: self.nxt,
        });
    }

    /// The last loss or timeout proves spurious; answers the window that is put back.
    pub fn spurious(&mut self) -> Option<(u64, u64)> {
        let (cwnd, ssthresh) = self.before.take()?;
        self.timed_out_at = None;
        self.cc.on_spurious(self.now, cwnd, ssthresh);
        Some((cwnd, ssthresh))
    }

    /// One round trip: all that is in flight arrives in order after `rtt`, one ACK a segment, and what the ACKs let out is
    /// sent at once.
    pub fn round(&mut self, rtt: Dur) {
        self.fill();
        let window: Vec<u64> = self.flying().collect();
        for offset in window {
            let sent = self.sent_at(offset).expect("in flight");
            self.now = self.now.max(sent + rtt);
            self.arrive(&[offset], false);
            self.fill();
        }
    }

    /// The first segment in flight is lost and three above it arrive after `rtt`.
    pub fn lose(&mut self, rtt: Dur) {
        self.fill();
        let above: Vec<u64> = self.flying().skip(1).take(DUP_THRESH).collect();
        self.wait(rtt);
        for offset in above {
            self.arrive(&[offset], false);
        }
        assert!(self.in_recovery, "fewer than {DUP_THRESH} segments above the hole");
    }

    /// Repairs what is lost, until recovery is over.
    pub fn repair(&mut self, rtt: Dur) {
        while self.in_recovery {
            self.send();
            self.wait(rtt);
            let flying: Vec<u64> = self.flying().collect();
            self.arrive(&flying, false);
        }
    }
}
