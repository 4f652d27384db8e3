//! The receiving node of a circuit (§4.6). Data packets pass it by, and are counted.

use super::compression::Decompressor;
use super::config::Config;
use super::control_packet_len;
use super::fec::Restorer;
use crate::cc::RegistryError;
use crate::rng::Chance;
use crate::tcp::{Connection, TcpConfig, Transmit};
use airtcp_wire::{Ecn, Flags, Segment, Seq, Time};

/// A packet back to the sending node, which stands in the place that the driver gave for it: an acknowledgment of header
/// packets, or one of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    pub control: u16,
    /// Length on the wire.
    pub bytes: u32,
}

struct Control {
    connection: Connection,
    decompressor: Option<Decompressor>,
    /// If header packets repeat others.
    restorer: Option<Restorer>,
}

impl Control {
    fn handle_segment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.connection.handle_segment(now, segment, ecn);
        // Where nothing is read, too, a window may have to be told.
        self.connection.read(self.connection.readable());
        // Nobody is there to be told.
        while self.connection.poll_event().is_some() {}
    }
}

/// The receivers of a circuit's control TCPs. See [`crate::machine`] for how they are driven.
pub struct Receiver {
    controls: Vec<Control>,
    /// The control TCP that is asked first.
    turn: usize,
    undecodable: u64,
    restored: u64,
    reports_losses: bool,
    /// Data packets that have passed, and those that were missing when the last header packet came, modulo 2^16.
    passed: u16,
    missing: u16,
}

impl Receiver {
    /// Waits for the control TCPs of a [`Sender`](super::Sender) made with the same `config` and `tcp`.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn new(config: &Config, tcp: &TcpConfig, chance: &mut Chance) -> Result<Receiver, RegistryError> {
        let tcp = config.control_tcp(tcp);
        let mut listen = || {
            let connection = Connection::listen(&tcp, Seq(chance.u32()), chance.u64())?;
            let decompressor = Decompressor::new(config.compression);
            let restorer = (config.fec > 0).then(Restorer::default);
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

    /// Data packets that came through the circuit pass by.
    pub fn handle_data(&mut self, packets: u16) {
        self.passed = self.passed.wrapping_add(packets);
    }

    /// A receiver that finds the circuit in use begins to count: by this header packet's account all has passed so far.
    pub fn begin_count(&mut self, header: &Segment) {
        self.passed = header.window;
    }

    /// A packet of control TCP number `control` has arrived, `bytes` long on the wire. Each header packet counts as one
    /// that carries VMSS bytes; those that it repeats and that have not come are restored.
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
        if segment.len > 0 {
            self.missing = segment.window.wrapping_sub(self.passed);
            let missing =
                control.restorer.as_mut().map_or(Some(0), |restorer| restorer.missing(segment, repeats));
            let Some(missing) = missing else { return };
            self.restored += u64::from(missing);
            for n in (1..=u32::from(missing)).rev() {
                let seq = Seq(segment.seq.0.wrapping_sub(segment.len * n));
                control.handle_segment(now, &Segment { seq, ..*segment }, Ecn::NotEct);
            }
        }
        control.handle_segment(now, segment, ecn);
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

    /// The next packet to send back now, if any; `out` is the place for it.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Transmit) -> Option<Reply> {
        for _ in 0..self.controls.len() {
            if self.controls[self.turn].connection.poll_transmit_into(now, out) {
                if self.reports_losses && !out.segment.flags.contains(Flags::SYN) {
                    out.segment.window = self.missing;
                }
                return Some(Reply { control: self.turn as u16, bytes: control_packet_len(&out.segment) });
            }
            self.turn = (self.turn + 1) % self.controls.len();
        }
        None
    }

    /// Header packets that were lost and are known from those that repeat them.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// Compressed header packets that arrived and could not be read.
    pub fn undecodable(&self) -> u64 {
        self.undecodable
    }
}
