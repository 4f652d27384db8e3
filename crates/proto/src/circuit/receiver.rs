//! The receiving node of a circuit (§4.6). Data packets pass by and are counted.

use super::compression::Decompressor;
use super::config::Config;
use super::fec::Restorer;
use super::{WINDOW, control_packet_len, plain_packet_len};
use crate::cc::RegistryError;
use crate::rng::Chance;
use crate::tcp::{Connection, TcpConfig, Transmit};
use airtcp_wire::{Ecn, Flags, Header, SackBlocks, Segment, Seq, Time};

/// A packet back to the sending node, which has been written to the driver's buffer: an acknowledgment of header packets, or a
/// handshake packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    pub control: u16,
    /// Length on the wire.
    pub bytes: u32,
}

struct Control {
    connection: Connection,
    decompressor: Option<Decompressor>,
    /// Present if header packets repeat others.
    restorer: Option<Restorer>,
}

impl Control {
    /// Are its header packets neither compressed nor repeated?
    #[inline]
    fn is_plain(&self) -> bool {
        self.decompressor.is_none() && self.restorer.is_none()
    }

    fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.connection.handle_segment(now, segment, ecn);
        // Also called to read nothing, since a window may have to be announced.
        self.connection.read(self.connection.readable());
        // Nobody needs the events.
        while self.connection.poll_event().is_some() {}
    }
}

/// The receivers of a circuit's control TCPs. See [`crate::machine`] for how they are driven.
pub struct Receiver {
    controls: Vec<Control>,
    /// The control TCP that is asked first for a packet.
    turn: usize,
    undecodable: u64,
    restored: u64,
    reports_losses: bool,
    /// Data packets that have passed, modulo 2^16.
    passed: u16,
    /// Data packets that were missing when the last header packet came, modulo 2^16.
    pub(super) missing: u16,
}

impl Receiver {
    /// Listens for the control TCPs of a [`Sender`](super::Sender) with the same `config` and `tcp`.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn new(config: &Config, tcp: &TcpConfig, chance: &mut Chance) -> Result<Receiver, RegistryError> {
        let tcp = config.control_tcp(tcp);
        let mut listen = || {
            let connection = Connection::listen(&tcp, Seq(chance.u32()), chance.u64())?;
            let decompressor = Decompressor::new(config.compression);
            let restorer = (config.fec.repeats() > 0).then(Restorer::default);
            Ok(Control { connection, decompressor, restorer })
        };
        let controls = (0..config.controls).map(|_| listen()).collect::<Result<_, RegistryError>>()?;
        Ok(Receiver {
            controls,
            turn: 0,
            undecodable: 0,
            restored: 0,
            reports_losses: config.loss_reports,
            passed: 0,
            missing: 0,
        })
    }

    /// Counts data packets, and repairs of them, that have come through the circuit. Those that are recovered are missing.
    pub fn handle_data(&mut self, packets: u16) {
        self.passed = self.passed.wrapping_add(packets);
    }

    /// Begins to count at this header packet, as if all data had passed so far: for a receiver that finds the circuit in use.
    pub fn begin_count(&mut self, header: &Segment) {
        self.passed = header.window;
    }

    /// As [`handle_segment`](Receiver::handle_segment), if this is the expected header packet of a control TCP whose header packets are
    /// neither compressed nor repeated. Returns whether it is; if not, nothing has changed.
    // Inlined always, because one of its two callers is hot.
    #[inline(always)]
    pub fn handle_expected(&mut self, now: Time, control: u16, segment: &Header, ecn: Ecn) -> bool {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return false };
        let mut for_tcp = *segment;
        if self.reports_losses {
            for_tcp.window = WINDOW;
        }
        if !control.is_plain() || !control.connection.handle_expected_text(now, &for_tcp, ecn) {
            return false;
        }
        control.connection.read_all();
        self.missing = segment.window.wrapping_sub(self.passed);
        true
    }

    /// As [`handle_expected`](Receiver::handle_expected), for the next header packet of the same burst.
    #[inline(always)]
    pub fn handle_next(&mut self, now: Time, control: u16, segment: &Header) -> bool {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return false };
        if !control.connection.handle_next_text(now, segment) {
            return false;
        }
        control.connection.read_all();
        self.missing = segment.window.wrapping_sub(self.passed);
        true
    }

    /// As [`poll_timeout`](Receiver::poll_timeout) for one control TCP, right after an expected header packet.
    #[inline(always)]
    pub fn poll_expected_timeout(&self, control: u16) -> Time {
        self.controls[usize::from(control)].connection.ack_deadline()
    }

    /// As [`poll_transmit`](Receiver::poll_transmit), right after an expected header packet. SACK blocks are written to `sack`.
    #[inline(always)]
    pub fn poll_expected(
        &mut self,
        now: Time,
        control: u16,
        sack: &mut SackBlocks,
    ) -> Option<(Header, Reply)> {
        let connection = &mut self.controls[usize::from(control)].connection;
        let mut ack = connection.poll_ack(now, sack)?;
        self.turn = usize::from(control);
        if self.reports_losses {
            ack.window = self.missing;
        }
        let bytes = plain_packet_len(&ack, sack.as_slice().len());
        Some((ack, Reply { control, bytes }))
    }

    /// Takes a packet of control TCP number `control`, which has `bytes` on the wire. TCP sees a header packet as a segment with VMSS
    /// bytes. Header packets that this one repeats and that have not come are restored.
    pub fn handle_segment(
        &mut self,
        now: Time,
        control: u16,
        segment: &Segment,
        ecn: Ecn,
        bytes: u32,
        repeats: u8,
    ) {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return };
        if let Some(decompressor) = &mut control.decompressor
            && !decompressor.decompress(segment, bytes, control_packet_len(segment))
        {
            self.undecodable += 1;
            return;
        }
        let mut segment = *segment;
        if segment.len > 0 {
            self.missing = segment.window.wrapping_sub(self.passed);
            if self.reports_losses {
                segment.window = WINDOW;
            }
            let missing =
                control.restorer.as_mut().map_or(Some(0), |restorer| restorer.missing(&segment, repeats));
            let Some(missing) = missing else { return };
            self.restored += u64::from(missing);
            for n in (1..=u32::from(missing)).rev() {
                let seq = Seq(segment.seq.0.wrapping_sub(segment.len * n));
                control.handle_segment(now, &Segment { seq, ..segment }, Ecn::NotEct);
            }
        }
        control.handle_segment(now, &segment, ecn);
    }

    pub fn handle_timeout(&mut self, now: Time) {
        for Control { connection, .. } in &mut self.controls {
            if connection.poll_timeout() <= now {
                connection.handle_timeout(now);
            }
        }
    }

    pub fn poll_timeout(&self) -> Time {
        let timeouts = self.controls.iter().map(|control| control.connection.poll_timeout());
        timeouts.fold(Time::NEVER, Time::min)
    }

    /// The next packet to send back now, if any. It is written to `out`.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Transmit) -> Option<Reply> {
        for _ in 0..self.controls.len() {
            if self.controls[self.turn].connection.poll_transmit_into(now, out) {
                return Some(self.reply(self.turn as u16, &mut out.segment));
            }
            self.turn = (self.turn + 1) % self.controls.len();
        }
        None
    }

    /// Adds the report to what a control TCP's connection sends.
    #[inline]
    fn reply(&self, control: u16, segment: &mut Segment) -> Reply {
        if self.reports_losses && !segment.flags.contains(Flags::SYN) {
            segment.window = self.missing;
        }
        Reply { control, bytes: control_packet_len(segment) }
    }

    /// Lost header packets that were restored from others that repeat them.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// Compressed header packets that arrived and could not be read.
    pub fn undecodable(&self) -> u64 {
        self.undecodable
    }
}
