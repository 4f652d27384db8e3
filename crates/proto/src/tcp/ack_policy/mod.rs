//! When the receiver sends acknowledgments.
//!
//! Who changes this keeps to the following, which lets most text pass without a question:
//!
//! - While data is [expected](AckPolicy::is_expected), `on_expected_data` does what `on_data` does. Quick ACKs have one door
//!   (`QuickAcks::change`), which finds anew until when that holds. A property below compares the two.
//! - A delayed ACK has the only timer of a connection that only receives: `deadline` is asked, nothing else.
//! - `on_ack_sent` forgets all that was due. Called again before anything else happens, it changes nothing, because the
//!   receiver does not call it for an ACK that repeats the last one.
//! - A receiver may rest while nothing [is scheduled](AckPolicy::is_scheduled), and is made again from the handshake: until
//!   data arrives, the policy is what `new`, `on_handshake` and one ACK make of it.

mod quick;

use super::config::TcpConfig;
use crate::prefetch::prefetch;
use airtcp_wire::{Dur, Time};
use quick::QuickAcks;

/// ACKs of segments behind a gap that leave at once: the sender retransmits after so many (RFC 5681 §3.2).
const PROMPT_DUPLICATES: u8 = 3;

/// The longest time for which an ACK of a segment behind a gap is held back (Linux's `tcp_comp_sack_delay_ns`).
const LONGEST_COMPRESSION_NS: u32 = 1_000_000;

/// Immediate and delayed acknowledgments (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
#[derive(Clone, PartialEq, Debug)]
pub struct AckPolicy {
    /// So many bytes make an ACK due. No window holds as many as these two fields do (RFC 7323 §2.3).
    every_bytes: u32,
    pending_bytes: u32,
    /// The longest delay of an ACK, or the tick at which delayed ACKs leave.
    wait: Dur,
    quick: QuickAcks,
    deadline: Time,
    /// Linux's compression of ACKs of segments behind a gap: after some that are prompt, an ACK stands for several
    /// segments. RCV.NXT, at which the gap begins.
    gap: u64,
    compression_delay_ns: u32,
    /// The most ACKs that are held back, and those that are.
    most_held: u32,
    held: u32,
    prompt: u8,
    waits_for_tick: bool,
    is_due: bool,
}

impl AckPolicy {
    /// Prefetches the boxed state.
    #[inline]
    pub fn prefetch(&self) {
        self.quick.get().into_iter().for_each(prefetch);
    }

    pub fn new(config: &TcpConfig) -> AckPolicy {
        let waits_for_tick = config.delayed_ack_tick > Dur::ZERO;
        // The last of these segments counts as full even if it is smaller: the peer's may be.
        let full_segments = config.ack_every.saturating_sub(1);
        AckPolicy {
            every_bytes: full_segments.saturating_mul(config.segment_payload()).saturating_add(1),
            pending_bytes: 0,
            wait: if waits_for_tick { config.delayed_ack_tick } else { config.delayed_ack },
            quick: QuickAcks::new(config),
            deadline: Time::NEVER,
            gap: 0,
            compression_delay_ns: LONGEST_COMPRESSION_NS,
            most_held: config.compressed_acks,
            held: 0,
            prompt: 0,
            waits_for_tick,
            is_due: false,
        }
    }

    /// The handshake took `rtt`, and the RTO is `rto`. Linux holds ACKs back for 5 % of the RTT.
    pub fn on_handshake(&mut self, rtt: Dur, rto: Dur) {
        self.compression_delay_ns = (rtt.0 / 20).min(LONGEST_COMPRESSION_NS.into()) as u32;
        self.quick.change(|quick| {
            quick.growth.on_rtt(rtt);
            quick.pause = rto;
        });
    }

    /// An RTT and an RTO of which [`on_handshake`](AckPolicy::on_handshake) makes what it made of the handshake's, until data
    /// arrives.
    pub fn handshake(&self) -> (Dur, Dur) {
        match self.quick.get() {
            Some(quick) => (quick.growth.rtt(), quick.pause),
            None => (Dur(u64::from(self.compression_delay_ns) * 20), Dur::ZERO),
        }
    }

    /// A segment of data has echoed a timestamp after `rtt`.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Dur) {
        self.quick.change(|quick| quick.growth.on_rtt(rtt));
    }

    /// The most that the window may offer, in bytes, if it [grows](WindowGrowth).
    #[inline]
    pub fn offered(&self) -> Option<u64> {
        self.quick.get().map(|quick| quick.growth.offered())
    }

    /// A segment with data leaves. Soon after the peer's data it is an answer, and ends quick ACKs.
    #[inline]
    pub fn on_data_sent(&mut self, now: Time) {
        if self.quick.get().is_some_and(|quick| quick.is_answered_at(now)) {
            self.quick.change(|quick| quick.is_interactive = true);
        }
    }

    /// Known data has arrived again: the peer may have timed out.
    pub fn on_duplicate(&mut self) {
        self.demand();
        self.quick.change(|quick| quick.left = quick.left.max(quick.most));
    }

    /// The peer's FIN has arrived in order, after `text` bytes in its segment. It is acknowledged at once, but Linux leaves
    /// the application time to answer if there has been data.
    pub fn on_fin(&mut self, text: u64) {
        match self.quick.get().is_some_and(|quick| text > 0 || quick.last_data > Time::ZERO) {
            true => _ = self.quick.change(|quick| quick.is_interactive = true),
            false => self.demand(),
        }
    }

    /// Returns whether data in order only adds to what is to be acknowledged, without a quick ACK or a larger window.
    #[inline(always)]
    pub fn is_expected(&self, now: Time) -> bool {
        self.quick.are_over(now)
    }

    /// [`on_data`](AckPolicy::on_data) where it only adds to what is to be acknowledged.
    #[inline(always)]
    pub fn on_expected_data(&mut self, now: Time, bytes: u32) {
        self.quick.note_expected_data(now);
        self.count(now, bytes, false);
    }

    /// In-order data has arrived up to `next`, and closes no gap.
    pub fn on_data(&mut self, now: Time, bytes: u32, next: u64) {
        let is_quick = self.quick.change(|quick| quick.on_data(now, next)).unwrap_or(false);
        self.count(now, bytes, is_quick);
    }

    #[inline(always)]
    fn count(&mut self, now: Time, bytes: u32, is_quick: bool) {
        self.pending_bytes += bytes;
        if is_quick || self.pending_bytes >= self.every_bytes {
            self.is_due = true;
        } else if self.deadline.is_never() {
            self.deadline = match self.waits_for_tick {
                false => now + self.wait,
                true => self.next_tick(now),
            };
        }
    }

    // Not inlined: few stacks have such a clock, and the division takes registers.
    #[cold]
    fn next_tick(&self, now: Time) -> Time {
        Time(now.0 + 1).round_up(self.wait)
    }

    /// Data has arrived behind a gap at `next`, with SACK. RFC 5681 §4.2 wants an ACK at once; Linux compresses ACKs.
    pub fn on_data_beyond(&mut self, now: Time, next: u64) {
        let is_quick =
            !self.is_expected(now) && self.quick.change(|quick| quick.on_segment(now, next)).unwrap_or(false);
        if self.gap != next {
            (self.gap, self.prompt) = (next, 0);
        }
        if is_quick || self.held >= self.most_held {
            self.is_due = true;
        } else if self.prompt < PROMPT_DUPLICATES {
            self.prompt += 1;
            self.is_due = true;
        } else {
            self.held += 1;
            self.deadline = self.deadline.min(now + Dur(self.compression_delay_ns.into()));
        }
    }

    /// Returns whether an ACK of a segment behind a gap is held back.
    #[inline]
    pub fn is_holding(&self) -> bool {
        self.held > 0
    }

    /// Makes an ACK due at once.
    #[inline]
    pub fn demand(&mut self) {
        self.is_due = true;
    }

    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Returns whether an ACK is due or delayed.
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        self.is_due || !self.deadline.is_never()
    }

    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.is_due = true;
        }
    }

    #[inline(never)]
    fn use_up_quick(&mut self) {
        if self.is_scheduled() {
            self.quick.change(|quick| quick.left -= 1);
        }
    }

    /// A segment with an ACK has left.
    #[inline]
    pub fn on_ack_sent(&mut self) {
        if self.quick.get().is_some_and(|quick| quick.left > 0) {
            self.use_up_quick();
        }
        self.pending_bytes = 0;
        self.is_due = false;
        self.deadline = Time::NEVER;
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::profile;
    use proptest::prelude::*;

    proptest! {
        /// Where data is expected, `on_expected_data` does what `on_data` does, whatever came before.
        #[test]
        fn expected_data_is_data(
            steps in prop::collection::vec((0u64..30, 0u8..20), 1..400),
            name in prop::sample::select(vec!["linux", "rfc"]),
        ) {
            let config = (profile::find(name).unwrap().config)();
            let mut policy = AckPolicy::new(&config);
            policy.on_handshake(Dur::from_millis(20), Dur::from_millis(220));
            let (mut now, mut next, mut expected) = (Time(1_000_000), 1, 0);
            for (pause_ms, step) in steps {
                now += Dur::from_millis(if step == 0 { 40 * pause_ms } else { pause_ms });
                next += 1448;
                if policy.is_expected(now) {
                    let mut other = policy.clone();
                    other.on_expected_data(now, 1448);
                    policy.on_data(now, 1448, next);
                    other.quick.renew();
                    prop_assert_eq!(format!("{policy:?}"), format!("{other:?}"));
                    expected += 1;
                } else {
                    policy.on_data(now, 1448, next);
                }
                match step {
                    1 => policy.on_rtt(Dur::from_millis(1 + pause_ms)),
                    2 => policy.on_duplicate(),
                    3 => policy.on_data_beyond(now, next),
                    _ => {}
                }
                if policy.is_due() {
                    policy.on_ack_sent();
                }
            }
            prop_assert!(name == "linux" || expected > 0);
        }
    }

    /// Linux's quick ACKs end, and its window ceases to grow. Otherwise the property above would test nothing.
    #[test]
    fn bulk_data_is_expected() {
        let mut policy = AckPolicy::new(&profile::linux());
        policy.on_handshake(Dur::from_millis(20), Dur::from_millis(220));
        let mut expected = 0;
        for n in 1..400 {
            let now = Time(n * 1_000_000);
            expected += u32::from(policy.is_expected(now));
            policy.on_data(now, 1448, 1 + n * 1448);
            if policy.is_due() {
                policy.on_ack_sent();
            }
        }
        assert!(expected > 200, "{expected}");
    }
}
