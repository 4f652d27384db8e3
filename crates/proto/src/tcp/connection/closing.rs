//! The states after ESTABLISHED, and the ways in which a connection ends.

use super::{Connection, Event, Reason, State};
use airtcp_wire::{Flags, Segment, Time};

impl Connection {
    /// FINs sent, acknowledged and received (RFC 9293 §3.10.7.4, fifth and eighth).
    #[inline]
    pub(super) fn advance_state(&mut self, now: Time) {
        let acked = self.sender.is_finished();
        let finished = self.receiver.has_finished();
        if !acked && !finished {
            return;
        }
        if finished
            && !matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
        {
            self.notify(Event::PeerFinished);
        }
        if acked && matches!(self.state, State::FinWait1 | State::Closing | State::LastAck) {
            self.notify(Event::AllAcknowledged);
        }
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
            // A FIN that comes again restarts the wait.
            State::TimeWait => self.time_wait_deadline = now + self.config.time_wait,
            State::Closed => self.notify(Event::Closed),
            _ => {}
        }
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

    /// The application has written all it will: FIN follows the last byte.
    pub fn close(&mut self) {
        match self.state {
            State::Closed => {}
            State::Listen => self.state = State::Closed,
            _ => self.sender.close(),
        }
    }

    /// Sends RST and forgets the connection.
    pub fn abort(&mut self) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            let mut reset = Segment {
                seq: self.iss.at(self.sender.core.nxt),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            };
            self.receiver.acknowledge(&mut reset);
            self.reset_due = Some(reset);
        }
        self.state = State::Closed;
        self.notify(Event::Closed);
    }
}
