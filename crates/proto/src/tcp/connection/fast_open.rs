//! TCP Fast Open (RFC 7413): data in the SYN, and data that answers it before the handshake is complete.
//!
//! The driver makes, keeps and checks cookies, which the machine knows by their length. A client whose driver has no cookie asks for
//! one. A server takes the text of a SYN only if its driver says that the cookie is good; to any other SYN with the option, it answers
//! with a cookie, and the handshake goes on as without.

use super::{Connection, Event, State, Transmit};
use airtcp_wire::ip::IPV4_HEADER_LEN;
use airtcp_wire::{Ecn, FastOpen, Segment, Time, tcp};

/// What is particular to a connection that opens fast.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpening {
    /// The option of our SYN or SYN-ACK.
    option: FastOpen,
    /// Most bytes of text that go with our SYN.
    most: u32,
    /// Text of the peer's SYN was taken: the connection carries data although its handshake is not complete.
    is_early: bool,
}

impl Connection {
    /// Before the SYN leaves: it asks for a cookie.
    pub fn request_cookie(&mut self) {
        self.fast_opening().option = FastOpen::REQUEST;
    }

    /// Before the SYN leaves: it carries a cookie, and of what the application has written by then as much as fits into one segment of
    /// a peer with this MSS (RFC 7413 §4.1.3).
    pub fn use_cookie(&mut self, cookie: FastOpen, mss: u16) {
        *self.fast_opening() = FastOpening { option: cookie, most: mss.into(), is_early: false };
    }

    /// Before the SYN-ACK leaves: it carries a cookie.
    pub fn grant_cookie(&mut self, cookie: FastOpen) {
        self.fast_opening().option = cookie;
    }

    /// In LISTEN, as [`handle_segment`](Connection::handle_segment): a SYN whose cookie is good. The application may answer at once
    /// (RFC 7413 §4.2.2). Returns how many bytes of the SYN's text were taken.
    pub fn handle_trusted_syn(&mut self, now: Time, syn: &Segment, ecn: Ecn) -> u64 {
        self.handle_segment(now, syn, ecn);
        if self.state != State::SynReceived || !self.is_passive {
            return 0;
        }
        if syn.len > 0 {
            self.receiver_mut().handle(now, &syn.into(), 1, Ecn::NotEct);
        }
        self.fast_opening().is_early = true;
        let mss = self.negotiated.mss;
        self.sender_mut().core.set_mss(mss);
        if !self.negotiated.sack {
            self.sender_mut().forgo_copies();
        }
        self.notify(Event::Connected);
        self.received()
    }

    /// Returns whether the connection carries data although its handshake is not complete.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        self.state == State::SynReceived && self.rare.as_ref().is_some_and(|rare| rare.fast_open.is_early)
    }

    /// The option of the SYN or SYN-ACK that leaves now. RFC 7413 §4.1.3: a SYN that is resent has none.
    pub(super) fn fast_open_option(&self, is_first: bool) -> FastOpen {
        let option = self.rare.as_ref().map_or(FastOpen::ABSENT, |rare| rare.fast_open.option);
        match self.state {
            State::SynSent if !is_first => FastOpen::ABSENT,
            _ => option,
        }
    }

    /// Bytes of text that leave with this SYN.
    pub(super) fn text_of_syn(&mut self, now: Time, syn: &Segment) -> u32 {
        if self.state != State::SynSent || !syn.syn.fast_open.has_cookie() {
            return 0;
        }
        let headers = (IPV4_HEADER_LEN + tcp::header_len(syn)) as u32;
        let fits = self.rules.config.packet_size.saturating_sub(headers);
        let most = fits.min(self.fast_opening().most);
        self.sender_mut().send_with_syn(now, most.into()) as u32
    }

    /// Text that leaves before the handshake is complete.
    #[cold]
    pub(super) fn poll_early(&mut self, now: Time, out: &mut Transmit) -> bool {
        if !self.is_early() {
            return false;
        }
        let sender = self.sender_mut();
        let Some(outgoing) = sender.poll_early(now).or_else(|| sender.poll_copy(now)) else { return false };
        self.data_segment(now, &outgoing, out);
        true
    }

    fn fast_opening(&mut self) -> &mut FastOpening {
        &mut self.rare.get_or_insert_default().fast_open
    }
}
