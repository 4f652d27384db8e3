//! The states after ESTABLISHED, and the ways in which a connection ends.

use super::{Connection, Event, Reason, State, Transmit};
use crate::tcp::spurious::timestamp;
use airtcp_wire::{Dur, Flags, Segment, Time, Timestamps};

/// How long FIN-WAIT-2 lasts once the application has closed (Linux's `tcp_fin_timeout`).
const LONGEST_FIN_WAIT_2: Dur = Dur::from_secs(60);

impl Connection {
    /// Changes the state when FINs have been acknowledged or received (RFC 9293 §3.10.7.4, fifth and eighth).
    #[inline]
    pub(super) fn advance_state(&mut self, now: Time, has_fin: bool) {
        let acked = self.sender_mut().is_finished();
        let finished = self.receiver_mut().has_finished();
        if !acked && !finished {
            return;
        }
        if finished
            && !matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
        {
            self.notify(Event::PeerFinished);
            // In ESTABLISHED, data that answers the FIN may carry its acknowledgment; in other states no data follows.
            if self.state != State::Established {
                self.receiver_mut().acks.demand();
            }
        }
        if acked && matches!(self.state, State::FinWait1 | State::Closing | State::LastAck) {
            self.notify(Event::AllAcknowledged);
        }
        let before = self.state;
        self.state = match self.state {
            State::Established if finished => State::CloseWait,
            State::FinWait1 if acked && finished => State::TimeWait,
            State::FinWait1 if acked => State::FinWait2,
            State::FinWait1 if finished => State::Closing,
            State::FinWait2 if finished => State::TimeWait,
            State::Closing if acked => State::TimeWait,
            State::LastAck if acked => State::Closed,
            other => other,
        };
        match self.state {
            State::TimeWait => {
                self.receiver_mut().end_dsack();
                self.restart_time_wait(has_fin || before != State::TimeWait);
            }
            State::FinWait2 if before != State::FinWait2 => self.bound_fin_wait_2(now),
            State::Closed => self.notify(Event::Closed),
            _ => {}
        }
    }

    /// A retransmitted FIN restarts the wait (RFC 9293 §3.10.7.4, eighth).
    pub(super) fn restart_time_wait(&mut self, has_fin: bool) {
        if has_fin && self.state == State::TimeWait {
            self.wait_until(self.clock + self.rules.config.time_wait);
        }
    }

    /// Returns whether this segment, which has the connection's addresses and ports, may open a new one in its place: the
    /// state is TIME-WAIT, and the segment a SYN of a new incarnation (RFC 9293 §3.10.7.4, RFC 6191 §2).
    pub fn gives_way_to(&self, now: Time, segment: &Segment) -> bool {
        let others = Flags(Flags::ACK.0 | Flags::RST.0 | Flags::FIN.0);
        self.state == State::TimeWait
            && segment.flags.contains(Flags::SYN)
            && segment.flags.0 & others.0 == 0
            && self.receiver.get().is_some_and(|receiver| receiver.is_new_incarnation(now, &segment.into()))
    }

    fn bound_fin_wait_2(&mut self, now: Time) {
        if self.is_orphan && self.state == State::FinWait2 {
            self.wait_until(now + LONGEST_FIN_WAIT_2);
        }
    }

    /// Gives the connection up after too many retransmissions (RFC 9293 §3.8.3, R2), and, as in Linux, after as many
    /// zero-window probes once the application has closed.
    pub(super) fn give_up_in_vain(&mut self) {
        let most = self.rules.config.max_retries;
        if self.is_orphan && self.sender_mut().window_probes() > most {
            self.abort();
        } else if self.sender_mut().retries > most {
            match self.state {
                State::SynReceived if self.is_passive && !self.is_early() => self.listen_again(),
                _ => self.reset_by_peer(),
            }
        }
    }

    /// Returns whether a reset must answer new data, because the application has closed (RFC 9293 §3.6.1, also Linux).
    #[inline]
    pub(super) fn is_unwanted(&mut self, segment: &Segment, start: u64) -> bool {
        self.is_orphan
            && segment.len > 0
            && start + u64::from(segment.len) > self.receiver_mut().reassembly.next()
            && !self.receiver_mut().has_finished()
    }

    pub(super) fn reset_by_peer(&mut self) {
        self.notify(Event::Reset);
        self.finish();
    }

    pub(super) fn finish(&mut self) {
        self.state = State::Closed;
        self.notify(Event::Closed);
    }

    pub(super) fn on_fin_sent(&mut self, reason: Reason) {
        self.state = match self.state {
            State::Established if reason != Reason::WindowProbe => State::FinWait1,
            State::CloseWait if reason != Reason::WindowProbe => State::LastAck,
            other => other,
        };
    }

    /// The application has finished writing: a FIN follows the last byte. It may go on reading.
    pub fn shutdown(&mut self) {
        self.forget_prediction();
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            _ => {
                self.begin_to_send();
                self.sender_mut().close();
            }
        }
    }

    /// As [`shutdown`](Connection::shutdown), but the application will not read any more, either. Data that is unread, or
    /// comes later, resets the connection (RFC 9293 §3.6.1), and FIN-WAIT-2 lasts no longer than a minute.
    pub fn close(&mut self) {
        self.forget_prediction();
        self.is_orphan = true;
        if self.readable() > 0 {
            return self.abort();
        }
        // RFC 9293 §3.10.4, except that data written in SYN-SENT is sent. In Linux an application cannot write so early.
        if self.state == State::SynSent && self.sender_mut().unsent() == 0 {
            return self.finish();
        }
        self.shutdown();
        self.bound_fin_wait_2(self.clock);
    }

    /// Answers a segment whose ACK is not acceptable by a reset (RFC 9293 §3.10.7.4). RFC 7323 §3.2: with timestamps where
    /// they are in use.
    pub(super) fn answer_by_reset(&mut self, segment: &Segment) {
        let timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
        self.owe_reset(Segment {
            seq: segment.ack,
            flags: Flags::RST,
            timestamps: timestamps.map(|ts| Timestamps { value: timestamp(self.clock), echo: ts.value }),
            ..Segment::default()
        });
    }

    fn owe_reset(&mut self, reset: Segment) {
        self.rare.get_or_insert_default().reset_due = Some(reset);
    }

    pub(super) fn owes_reset(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.reset_due.is_some())
    }

    /// A keep-alive segment (RFC 9293 §3.8.4). It lies below what the peer expects, so that the peer answers it in any case.
    pub fn question(&mut self, now: Time) -> Transmit {
        let segment = self.segment(now, self.sender.nxt().saturating_sub(1));
        Transmit { segment, ..Transmit::default() }
    }

    /// Sends RST and forgets the connection.
    pub fn abort(&mut self) {
        self.forget_prediction();
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let reset = self.segment(self.clock, self.sender.nxt());
            self.owe_reset(Segment { flags: Flags::RST | Flags::ACK, ..reset });
        }
        self.state = State::Closed;
        self.notify(Event::Closed);
    }
}
