//! The application's interface: calls and queries.

use super::{Connection, Event, SenderView, State, Stats};
use crate::tcp::core::Phase;
use crate::tcp::sender::Sender;
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time};
use std::ops::Range;

impl Connection {
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events == 0 {
            return None;
        }
        self.forget_prediction();
        let event = Event::ALL[self.events.trailing_zeros() as usize];
        self.events &= self.events - 1;
        Some(event)
    }

    pub(super) fn notify(&mut self, event: Event) {
        self.events |= 1 << event as u8;
    }

    /// The application writes `bytes` more. Not to be called after [`close`](Connection::close).
    pub fn write(&mut self, bytes: u64) {
        self.forget_prediction();
        self.begin_to_send();
        self.sender_mut().write(bytes);
    }

    /// For a stream of virtual bytes: from now on exactly `bytes` wait to be sent, whatever waited before.
    #[inline(always)]
    pub fn set_unsent(&mut self, bytes: u64) {
        // The amount of unsent data does not change which ACKs are expected.
        if !self.prediction.sends_new() {
            self.forget_prediction();
        }
        self.begin_to_send();
        self.sender_mut().set_unsent(bytes);
    }

    /// Bytes of new data that would leave at `now`.
    pub fn allowance(&self, now: Time) -> u64 {
        match self.state {
            State::Established | State::CloseWait => self.ask_sender(|sender| sender.allowance(now)),
            _ => 0,
        }
    }

    /// For the data TCP of a circuit (paper 000 §6, F2): once resent, the first unacknowledged segment is resent again after
    /// every `duplicates` duplicate ACKs.
    pub fn repeat_first_every(&mut self, duplicates: u32) {
        self.begin_to_send();
        self.sender_mut().repeat_first_every(duplicates.max(1));
    }

    /// For a control TCP of a circuit, whose data meets congestion that its header packets do not: reduces once a window.
    pub fn handle_congestion(&mut self, now: Time) {
        self.forget_prediction();
        self.begin_to_send();
        self.sender_mut().core.handle_congestion(now);
    }

    /// From now on there is room for so many bytes that have come and were not read. The first time, before text has come,
    /// this may be less than the configured window; later, it only grows.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.forget_prediction();
        self.receiver_mut().set_buffer(bytes);
    }

    /// Bytes received in order and not yet read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.receiver.get().map_or(0, |receiver| receiver.readable())
    }

    /// The application takes `bytes`, at most what is readable; the window opens by as much.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        if let Some(receiver) = self.receiver.get_mut() {
            receiver.read(bytes);
        }
    }

    /// The application takes all that is readable.
    #[inline]
    pub fn read_all(&mut self) {
        if let Some(receiver) = self.receiver.get_mut() {
            receiver.read_all();
        }
    }

    /// Returns whether every byte of the peer's stream in `start..end` has arrived.
    pub fn has_received(&self, start: u64, end: u64) -> bool {
        match self.receiver.get() {
            Some(receiver) => receiver.reassembly.contains(start + 1, end + 1),
            None => end == 0,
        }
    }

    /// Bytes of the peer's stream received in order.
    pub fn received(&self) -> u64 {
        self.receiver.get().map_or(0, |receiver| receiver.received())
    }

    /// [`handle_segment`](Connection::handle_segment) for a driver that has the segment's payload. Returns what part of it was
    /// taken, and its offset in the peer's stream; `None` if all was refused or had come before.
    pub fn handle_payload(&mut self, now: Time, segment: &Segment, ecn: Ecn) -> Option<(u64, Range<usize>)> {
        if segment.len == 0 {
            self.handle_segment(now, segment, ecn);
            return None;
        }
        let before_text = u64::from(segment.flags.contains(Flags::SYN));
        let start = self.receiver_mut().position(&segment.into()).map(|position| position + before_text);
        let missing =
            start.and_then(|start| self.receiver_mut().missing(start, start + u64::from(segment.len)));
        self.handle_segment(now, segment, ecn);
        let ((from, to), start) = (missing.filter(|range| self.receiver_mut().has_come(*range))?, start?);
        let [first, end] = [from, to].map(|position| (position - start) as usize);
        Some((from - 1, first..end))
    }

    /// Before the SYN leaves or comes: SRTT and RTTVAR of an earlier connection to the same peer (RFC 9040).
    pub fn share_rtt(&mut self, srtt: Dur, rttvar: Dur) {
        self.sender_mut().core.rtt.share(srtt, rttvar);
    }

    /// SRTT and RTTVAR, for [`share_rtt`](Connection::share_rtt) of a later connection.
    pub fn known_rtt(&self) -> Option<(Dur, Dur)> {
        self.ask_sender(|sender| sender.core.rtt.known())
    }

    /// Bytes that the application has written.
    pub fn written(&self) -> u64 {
        self.sender.get().map_or(0, Sender::written)
    }

    /// Bytes of our stream acknowledged.
    pub fn acknowledged(&self) -> u64 {
        let is_finished = self.sender.get().is_some_and(Sender::is_finished);
        self.sender.una().saturating_sub(1 + u64::from(is_finished))
    }

    /// The stream offset of what was sent at `seq`, if that lies in SND.UNA..SND.NXT; a SYN's is that of the first byte.
    pub fn outstanding_offset(&self, seq: Seq) -> Option<u64> {
        let outstanding = self.sender.una()..self.sender.nxt();
        let position = seq.offset(self.iss, outstanding.start).filter(|at| outstanding.contains(at))?;
        Some(position.saturating_sub(1))
    }

    /// Payload bytes of a full segment, as the handshake has negotiated.
    pub fn negotiated_mss(&self) -> u32 {
        self.negotiated.mss
    }

    /// Segments of new data carry at most this many bytes from now on, and no more than was negotiated. The controller
    /// goes on counting in segments of the negotiated size.
    pub fn limit_mss(&mut self, payload: u32) {
        self.forget_prediction();
        let mss = payload.min(self.negotiated.mss);
        self.sender_mut().core.set_mss(mss);
    }

    /// Consecutive expiries of the retransmission timer, and the payload of the first outstanding segment.
    pub fn first_in_vain(&self) -> (u32, u64) {
        self.sender.get().map_or((0, 0), Sender::first_in_vain)
    }

    /// The path carries no packets with more payload than this: what is outstanding in longer ones is lost, and is resent at
    /// once. That is no sign of congestion (RFC 1191 §6.4).
    pub fn resend_longer_than(&mut self, payload: u64) {
        self.forget_prediction();
        self.sender_mut().resend_longer_than(payload);
    }

    /// The RTT sample that the last `handle_segment` took.
    #[inline]
    pub fn last_rtt(&self) -> Option<Dur> {
        self.sender.get()?.last_rtt()
    }

    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    // Inlined, because most callers read only a few of the fields.
    #[inline(always)]
    pub fn sender_view(&self) -> SenderView {
        match self.sender.get() {
            Some(sender) => view(sender),
            None => self.view_at_rest(),
        }
    }

    #[inline(never)]
    fn view_at_rest(&self) -> SenderView {
        self.ask_sender(view)
    }

    /// Asks the sender, or the one that waking would make.
    #[inline(always)]
    fn ask_sender<A>(&self, ask: impl Fn(&Sender) -> A) -> A {
        self.sender.ask(&self.rules, &self.negotiated, ask)
    }

    /// The number of segments and ranges in memory, with which the connection grows. The two windows bound it.
    pub fn kept(&self) -> usize {
        self.sender.get().map_or(0, Sender::kept)
            + self.receiver.get().map_or(0, |receiver| receiver.reassembly.kept())
    }

    #[inline]
    pub fn stats(&self) -> Stats {
        self.sender.stats()
    }
}

#[inline(always)]
fn view(sender: &Sender) -> SenderView {
    let core = &sender.core;
    SenderView {
        cwnd: core.window(),
        ssthresh: core.cc.ssthresh(),
        mss: core.mss(),
        srtt: core.rtt.srtt(),
        rttvar: core.rtt.rttvar(),
        rto: core.rtt.rto(),
        in_flight: core.board.in_flight(),
        una: core.una().saturating_sub(1),
        nxt: core.nxt().saturating_sub(1),
        peer_window: sender.peer_window(),
        in_recovery: core.phase() != Phase::Open,
    }
}
