//! A path for testing controllers: one queue, a fixed rate and RTT, random loss, and a sender with selective acknowledgments that resends
//! what is lost. Every transmission has its own number, so that none is ambiguous.

use crate::cc::cubic::CubicRules;
use crate::cc::{Ack, Build, Cause, Congestion, CongestionControl, RateSample, WindowRules};
use crate::rng::{Chance, Chances};
use crate::tcp::pacer::Pacer;
use airtcp_wire::{Dur, Rate, Time};
use std::collections::{BTreeSet, VecDeque};

pub const MSS: u64 = 1250;
const RTO: Dur = Dur::from_secs(1);

pub fn test_build() -> Build {
    Build {
        mss: MSS,
        initial_window: 10 * MSS,
        initial_ssthresh: u64::MAX,
        loss_window: MSS,
        slow_start: None,
        byte_counting_limit: None,
        windows: WindowRules::Rfc,
        cubic: CubicRules::Rfc9438,
        is_paced: true,
        seed: 1,
    }
}

#[derive(Clone, Copy)]
struct Sent {
    number: u64,
    /// The number of the segment in the stream.
    segment: u64,
    at: Time,
    /// When its ACK arrives; [`Time::NEVER`] if it is dropped.
    acked_at: Time,
    first_sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    in_flight: u64,
    lost: u64,
    is_app_limited: bool,
}

pub struct Pipe<C: ?Sized> {
    pub now: Time,
    pub rate: Rate,
    pub rtt: Dur,
    /// Packets that may wait.
    pub queue: u64,
    pub loss: f64,
    /// A policer instead of a queue: a token bucket of the queue's size. Packets without a token are dropped, and none waits.
    pub is_policer: bool,
    /// Size of a token bucket in front of the queue: packets that pass at once after a pause.
    pub burst: u64,
    /// The receiver also acknowledges dropped packets.
    pub hides_drops: bool,
    pub delivered: u64,
    pub drops: u64,
    pub timeouts: u64,
    in_flight: u64,
    lost: u64,
    next_number: u64,
    next_segment: u64,
    unacked: BTreeSet<u64>,
    to_resend: BTreeSet<u64>,
    /// In order of number; the ACKs arrive in the same order.
    outstanding: VecDeque<Sent>,
    busy_until: Time,
    recover: u64,
    in_recovery: bool,
    min_rtt: Dur,
    srtt: Dur,
    first_sent_at: Time,
    delivered_at: Time,
    progress_at: Time,
    last_sent_at: Time,
    /// The application has nothing to send.
    is_idle: bool,
    /// Bytes that will have been delivered when all has arrived that was sent before the application went idle.
    app_limited_until: u64,
    pacer: Pacer,
    chance: Chance,
    pub cc: Box<C>,
}

impl<C: CongestionControl + ?Sized> Pipe<C> {
    pub fn new(cc: Box<C>, rate: Rate, rtt: Dur, queue: u64, loss: f64) -> Pipe<C> {
        let now = Time::ZERO + Dur::from_secs(1);
        Pipe {
            now,
            rate,
            rtt,
            queue,
            loss,
            is_policer: false,
            burst: 0,
            hides_drops: false,
            delivered: 0,
            drops: 0,
            timeouts: 0,
            in_flight: 0,
            lost: 0,
            next_number: 0,
            next_segment: 0,
            unacked: BTreeSet::new(),
            to_resend: BTreeSet::new(),
            outstanding: VecDeque::new(),
            busy_until: now,
            recover: 0,
            in_recovery: false,
            min_rtt: Dur::MAX,
            srtt: Dur::ZERO,
            first_sent_at: now,
            delivered_at: now,
            progress_at: now,
            last_sent_at: now,
            is_idle: false,
            app_limited_until: 0,
            pacer: Pacer::new(0),
            chance: Chances::new(7).chance("pipe"),
            cc,
        }
    }

    pub fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.rtt)
    }

    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Bytes sent, retransmissions included.
    pub fn sent(&self) -> u64 {
        self.next_number * MSS
    }

    pub fn srtt(&self) -> Dur {
        self.srtt
    }

    /// Runs until `until`, calling `each` after every ACK.
    pub fn run_watching(&mut self, until: Time, mut each: impl FnMut(&Pipe<C>)) {
        while self.now < until {
            self.send_what_may_be_sent();
            let ack_at = self.outstanding.iter().map(|sent| sent.acked_at).find(|at| !at.is_never());
            let ack_at = ack_at.unwrap_or(Time::NEVER);
            let send_at = if self.may_send() { self.pacer.next_departure() } else { Time::NEVER };
            let rto_at = if self.outstanding.is_empty() { Time::NEVER } else { self.progress_at + RTO };
            self.now = ack_at.min(send_at).min(rto_at).min(until);
            if self.now == ack_at {
                self.receive_ack();
                each(self);
            } else if self.now == rto_at {
                self.time_out();
            }
        }
    }

    pub fn run(&mut self, duration: Dur) {
        self.run_watching(self.now + duration, |_| ());
    }

    /// Share of the link's capacity used by delivered packets over the next `duration`.
    pub fn utilisation(&mut self, duration: Dur) -> f64 {
        let (before, start) = (self.delivered, self.now);
        self.run(duration);
        (self.delivered - before) as f64 / self.rate.bytes_in(self.now.since(start)) as f64
    }

    /// The application has nothing to send for `duration`.
    pub fn pause(&mut self, duration: Dur) {
        self.is_idle = true;
        self.app_limited_until = self.delivered + self.in_flight;
        self.run(duration);
        self.is_idle = false;
    }

    fn may_send(&self) -> bool {
        self.in_flight + MSS <= self.cc.cwnd() && !self.is_idle
    }

    fn send_what_may_be_sent(&mut self) {
        while self.may_send() && self.pacer.next_departure() <= self.now {
            self.send();
        }
    }

    fn send(&mut self) {
        let idle = self.now.since(self.last_sent_at);
        if self.outstanding.is_empty() && idle > RTO {
            self.cc.on_restart(self.now, idle.0 / RTO.0);
        }
        self.last_sent_at = self.now;
        if self.in_flight == 0 {
            (self.first_sent_at, self.delivered_at, self.progress_at) = (self.now, self.now, self.now);
        }
        self.in_flight += MSS;
        let segment = self.to_resend.pop_first().unwrap_or(self.next_segment);
        self.next_segment = self.next_segment.max(segment + 1);
        self.unacked.insert(segment);
        let sent = Sent {
            number: self.next_number,
            segment,
            at: self.now,
            acked_at: self.travel(),
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            in_flight: self.in_flight,
            lost: self.lost,
            is_app_limited: self.app_limited_until > self.delivered,
        };
        self.next_number += 1;
        self.outstanding.push_back(sent);
        self.pacer.on_sent(self.now, MSS, self.cc.pacing_rate().unwrap_or(Rate(0)));
        self.cc.on_sent(self.now, MSS, self.in_flight);
        if self.in_flight == MSS {
            self.cc.on_sent_alone(self.now);
        }
    }

    /// When the ACK of a packet sent now arrives.
    fn travel(&mut self) -> Time {
        let waiting = self.busy_until.since(self.now);
        if self.rate.bytes_in(waiting) > self.queue * MSS {
            self.drops += 1;
            return if self.hides_drops { self.busy_until + self.rtt } else { Time::NEVER };
        }
        let saved = self.rate.time_for(MSS) * self.burst;
        self.busy_until = (self.busy_until + saved).max(self.now) - saved + self.rate.time_for(MSS);
        let departure = if self.is_policer { self.now } else { self.busy_until.max(self.now) };
        if self.chance.happens(self.loss) { Time::NEVER } else { departure + self.rtt }
    }

    fn receive_ack(&mut self) {
        let index =
            self.outstanding.iter().position(|sent| sent.acked_at == self.now).expect("an ACK is due");
        let sent = self.outstanding.remove(index).expect("just found");
        let (prior_in_flight, prior_una) = (self.in_flight, self.una());
        self.unacked.remove(&sent.segment);
        self.in_flight -= MSS;
        self.delivered += MSS;
        (self.delivered_at, self.progress_at) = (self.now, self.now);
        let rtt = self.now.since(sent.at);
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt == Dur::ZERO { rtt } else { (self.srtt * 7 + rtt) / 8 };
        let newly_lost = self.detect_losses(sent.number);
        let rate = self.sample(&sent, newly_lost);
        self.first_sent_at = sent.at;
        let una = self.una();
        let was_in_recovery = self.in_recovery;
        self.in_recovery &= una < self.recover;
        if was_in_recovery && !self.in_recovery {
            self.cc.on_recovery_exit(self.now);
        }
        if newly_lost > 0 && !self.in_recovery {
            self.in_recovery = true;
            self.congested(Cause::Loss);
        }
        self.cc.on_ack(&Ack {
            now: self.now,
            acked: (una - prior_una) * MSS,
            delivered: MSS,
            is_duplicate: una == prior_una,
            rtt: Some(rtt),
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            prior_in_flight,
            in_flight: self.in_flight,
            in_recovery: self.in_recovery,
            in_loss: false,
            is_cwnd_limited: prior_in_flight + MSS > self.cc.cwnd(),
            ece: false,
            peer_timestamp: None,
            una: una * MSS,
            nxt: self.next_segment * MSS,
            rate,
        });
    }

    /// A packet is lost when a third one sent after it has been acknowledged.
    fn detect_losses(&mut self, acked: u64) -> u64 {
        let mut newly_lost = 0;
        while self.outstanding.front().is_some_and(|first| first.number + 3 <= acked) {
            self.to_resend.extend(self.outstanding.pop_front().map(|lost| lost.segment));
            newly_lost += MSS;
        }
        self.in_flight -= newly_lost;
        self.lost += newly_lost;
        newly_lost
    }

    /// draft-ietf-ccwg-bbr-06 §4.1.2.
    fn sample(&self, sent: &Sent, newly_lost: u64) -> RateSample {
        let interval = sent.at.since(sent.first_sent_at).max(self.now.since(sent.delivered_at));
        RateSample {
            total_delivered: self.delivered,
            prior_delivered: sent.delivered,
            delivered: self.delivered - sent.delivered,
            interval: if interval < self.min_rtt { Dur::ZERO } else { interval },
            is_app_limited: sent.is_app_limited,
            total_lost: self.lost,
            newly_lost,
            lost_by_timer: 0,
            tx_in_flight: sent.in_flight,
            lost_since: self.lost - sent.lost,
        }
    }

    fn una(&self) -> u64 {
        self.unacked.first().copied().unwrap_or(self.next_segment)
    }

    fn congested(&mut self, cause: Cause) {
        self.recover = self.next_segment;
        let una = self.una();
        self.cc.on_congestion(&Congestion {
            now: self.now,
            cause,
            is_repeated_timeout: false,
            survivors: 0,
            total_lost: self.lost,
            flight_size: (self.next_segment - una) * MSS,
            in_flight: self.in_flight,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            una: una * MSS,
            nxt: self.next_segment * MSS,
        });
    }

    fn time_out(&mut self) {
        self.timeouts += 1;
        self.progress_at = self.now;
        self.lost += self.in_flight;
        self.in_flight = 0;
        self.congested(Cause::Timeout);
        self.to_resend.extend(self.outstanding.drain(..).map(|lost| lost.segment));
        self.in_recovery = false;
    }
}
