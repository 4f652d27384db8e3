//! The states after ESTABLISHED, and the ways in which a connection ends.

use super::{Connection, Event, Reason, State, Transmit};
use crate::tcp::spurious::timestamp;
use airtcp_wire::{Dur, Flags, Segment, Time, Timestamps};

/// How long FIN-WAIT-2 lasts if nobody waits for the peer's data (Linux's `tcp_fin_timeout`).
const LONGEST_FIN_WAIT_2: Dur = Dur::from_secs(60);

impl Connection {
    /// FINs sent, acknowledged and received (RFC 9293 §3.10.7.4, fifth and eighth).
    #[inline]
    pub(super) fn advance_state(&mut self, now: Time, has_fin: bool) {
        let acked = self.sender.is_finished();
        let finished = self.receiver.has_finished();
        if !acked && !finished {
            return;
        }
        if finished
            && !matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
        {
            self.notify(Event::PeerFinished);
            // What is answered in ESTABLISHED may carry the acknowledgment; here nothing will be.
            if self.state != State::Established {
                self.receiver.acks.demand();
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
                self.receiver.end_dsack();
                self.restart_time_wait(has_fin || before != State::TimeWait);
            }
            State::FinWait2 if before != State::FinWait2 => self.bound_fin_wait_2(now),
            State::Closed => self.notify(Event::Closed),
            _ => {}
        }
    }

    /// A FIN that comes again restarts the wait (RFC 9293 §3.10.7.4, eighth).
    pub(super) fn restart_time_wait(&mut self, has_fin: bool) {
        if has_fin && self.state == State::TimeWait {
            self.wait_deadline = self.clock + self.rules.config.time_wait;
        }
    }

    /// May this segment, which belongs here by its addresses, open another connection in the place of this one, which is in
    /// TIME-WAIT (RFC 9293 §3.10.7.4, RFC 6191 §2)?
    pub fn gives_way_to(&self, now: Time, segment: &Segment) -> bool {
        let others = Flags(Flags::ACK.0 | Flags::RST.0 | Flags::FIN.0);
        self.state == State::TimeWait
            && segment.flags.contains(Flags::SYN)
            && segment.flags.0 & others.0 == 0
            && self.receiver.is_new_incarnation(now, &segment.into())
    }

    fn bound_fin_wait_2(&mut self, now: Time) {
        if self.is_orphan && self.state == State::FinWait2 {
            self.wait_deadline = now + LONGEST_FIN_WAIT_2;
        }
    }

    /// RFC 9293 §3.8.3 (R2); and a peer whose window stays closed does not keep what nobody waits for, as in Linux.
    pub(super) fn give_up_in_vain(&mut self) {
        let most = self.rules.config.max_retries;
        if self.is_orphan && self.sender.window_probes() > most {
            self.abort();
        } else if self.sender.retries > most {
            match self.state {
                State::SynReceived if self.is_passive => self.listen_again(),
                _ => self.reset_by_peer(),
            }
        }
    }

    /// New data for an application that has gone is not acknowledged but reset (RFC 9293 §3.6.1; Linux the same).
    #[inline]
    pub(super) fn is_unwanted(&self, segment: &Segment, start: u64) -> bool {
        self.is_orphan
            && segment.len > 0
            && start + u64::from(segment.len) > self.receiver.reassembly.next()
            && !self.receiver.has_finished()
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

    /// The application has written all it will: FIN follows the last byte. It may go on reading.
    pub fn shutdown(&mut self) {
        self.forget_prediction();
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            _ => {
                self.begin_to_send();
                self.sender.close();
            }
        }
    }

    /// The application is gone: as [`shutdown`](Connection::shutdown), and nothing more will be read. Data that is not read
    /// yet, or comes later, resets the connection (RFC 9293 §3.6.1), and a peer that does not finish is waited for no longer
    /// than a minute.
    pub fn close(&mut self) {
        self.forget_prediction();
        self.is_orphan = true;
        if self.receiver.readable() > 0 {
            return self.abort();
        }
        // RFC 9293 §3.10.4; what is written before it is sent, as the application cannot do that in Linux.
        if self.state == State::SynSent && self.sender.unsent() == 0 {
            return self.finish();
        }
        self.shutdown();
        self.bound_fin_wait_2(self.clock);
    }

    /// The reset that answers a segment whose ACK is not acceptable (RFC 9293 §3.10.7.4). RFC 7323 §3.2: with timestamps
    /// where they are in use.
    pub(super) fn reset_of(&self, segment: &Segment) -> Segment {
        let timestamps = segment.timestamps.filter(|_| self.negotiated.timestamps);
        Segment {
            seq: segment.ack,
            flags: Flags::RST,
            timestamps: timestamps.map(|ts| Timestamps { value: timestamp(self.clock), echo: ts.value }),
            ..Segment::default()
        }
    }

    /// A segment that a peer answers if it is there, whatever it has received: it lies below what it expects
    /// (RFC 9293 §3.8.4).
    pub fn question(&mut self, now: Time) -> Transmit {
        let segment = self.segment(now, self.sender.core.nxt().saturating_sub(1));
        Transmit { segment, ..Transmit::default() }
    }

    /// Sends RST and forgets the connection.
    pub fn abort(&mut self) {
        self.forget_prediction();
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let reset = self.segment(self.clock, self.sender.core.nxt());
            self.reset_due = Some(Box::new(Segment { flags: Flags::RST | Flags::ACK, ..reset }));
        }
        self.state = State::Closed;
        self.notify(Event::Closed);
    }
}
