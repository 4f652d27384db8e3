//! The sending node of a circuit (§4.5).

use super::WINDOW;
use super::config::Config;
use super::control::Control;
use super::gmb::Gmb;
use super::losses::Losses;
use super::tunnel_queue::{Leaving, TunnelQueue};
use crate::cc::RegistryError;
use crate::fec::Repair;
use crate::queue::Item;
use crate::rng::Chance;
use crate::tcp::{Connection, SenderView, TcpConfig, Transmit};
use airtcp_wire::{Dur, Ecn, Flags, Header, SackBlocks, Segment, Seq, Time};

/// What leaves the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A data packet, unchanged.
    Data(Item),
    /// A repair packet of this length, for data packets that have left.
    Repair { repair: Repair, bytes: u32 },
    /// A header packet or handshake packet of control TCP number `control`, which has been written to the driver's buffer. `bytes` is
    /// its length on the wire; the segment's own length is virtual. It repeats this many header packets before it (FEC).
    Header { control: u16, bytes: u32, repeats: u8 },
}

impl From<Leaving> for Output {
    fn from(leaving: Leaving) -> Output {
        match leaving {
            Leaving::Data(item) => Output::Data(item),
            Leaving::Repair { repair, bytes } => Output::Repair { repair, bytes },
        }
    }
}

/// The sender of a circuit: a tunnel queue, and the GMB sender and the control TCPs' senders, which take data packets from it. See
/// [`crate::machine`] for how it is driven.
///
/// After [`poll_transmit`](Sender::poll_transmit) the tunnel queue may have room again. A driver with more data must offer it at once
/// and drain again; otherwise a control TCP would take its application for idle.
pub struct Sender {
    pub(super) queue: TunnelQueue,
    /// How long data may wait in the queue; zero for no bound.
    delay: Dur,
    pub(super) gmb: Option<Gmb>,
    pub(super) controls: Vec<Control>,
    /// The control TCP whose turn it is to take data.
    turn: usize,
    vmss: u64,
    /// Data packets sent, modulo 2^16.
    pub(super) sent: u16,
    pub(super) losses: Option<Losses>,
    /// Nothing may leave before then without a new event.
    pub(super) rests_until: Time,
    /// Data that may wait in the tunnel queue: what leaves within `delay`, by windows and round trips, but at least one VMSS.
    allowed_bytes: u64,
    /// Sum of the control TCPs' congestion windows, in segments of VMSS.
    control_window: u32,
}

impl Sender {
    /// Opens the control TCPs, with the configuration [`Config::control_tcp`] makes of `tcp`. `chance` gives initial sequence numbers
    /// and the controllers' seeds.
    ///
    /// # Errors
    /// If the congestion control or one of its parameters is unknown.
    pub fn new(
        config: &Config,
        tcp: &TcpConfig,
        chance: &mut Chance,
        now: Time,
    ) -> Result<Sender, RegistryError> {
        let tcp = config.control_tcp(tcp);
        let mut open = |number| {
            let connection = Connection::connect(&tcp, Seq(chance.u32()), chance.u64(), now)?;
            Ok(Control::new(config, number, connection))
        };
        let mut sender = Sender {
            queue: TunnelQueue::new(config),
            delay: config.tunnel_delay,
            gmb: config.gmb.map(|rate| Gmb::new(rate, now)),
            controls: (0..config.controls).map(&mut open).collect::<Result<_, RegistryError>>()?,
            turn: 0,
            vmss: config.vmss.0,
            sent: 0,
            losses: config.loss_reports.then(|| Losses::new(now)),
            rests_until: Time::ZERO,
            allowed_bytes: 0,
            control_window: 0,
        };
        sender.update_windows();
        Ok(sender)
    }

    /// Takes a data packet. Returns false if the tunnel queue is full and the packet is dropped.
    #[inline]
    pub fn handle_packet(&mut self, now: Time, item: Item) -> bool {
        if !self.has_room() {
            return false;
        }
        if self.queue.first().is_none() {
            self.rests_until = Time::ZERO;
            if let Some(gmb) = &mut self.gmb {
                gmb.on_backlog(now);
            }
        }
        self.queue.push(item);
        true
    }

    /// Takes an acknowledgment from receiver `control`.
    pub fn handle_segment(&mut self, now: Time, control: u16, segment: &Segment, ecn: Ecn) {
        let index = usize::from(control);
        let Some(control) = self.controls.get_mut(index) else { return };
        self.rests_until = Time::ZERO;
        if self.losses.is_some() && !segment.flags.contains(Flags::SYN) {
            control.handle_segment(now, &Segment { window: WINDOW, ..*segment }, ecn);
            self.take_report(now, index, segment.window);
        } else {
            control.handle_segment(now, segment, ecn);
        }
        self.update_windows();
    }

    /// As [`handle_segment`](Sender::handle_segment), if this is the expected acknowledgment, without SACK, from the circuit's only
    /// receiver. Returns whether it is; if not, nothing has changed.
    #[inline]
    pub fn handle_expected(&mut self, now: Time, ack: &Header) -> bool {
        let [control] = &mut self.controls[..] else { return false };
        let mut for_tcp = *ack;
        if self.losses.is_some() {
            for_tcp.window = WINDOW;
        }
        if !control.connection.receive_ack(now, &for_tcp, &SackBlocks::NONE) {
            return false;
        }
        self.rests_until = Time::ZERO;
        self.take_report(now, 0, ack.window);
        self.update_windows();
        true
    }

    /// After an ACK for a control TCP: if losses are reported, `lost` is their number so far.
    #[inline(always)]
    fn take_report(&mut self, now: Time, control: usize, lost: u16) {
        self.queue.on_report(self.sent, lost);
        let connection = &mut self.controls[control].connection;
        if let Some(losses) = &mut self.losses
            && let Some(rtt) = connection.last_rtt()
            && losses.on_report(now, rtt, self.sent, lost)
        {
            connection.handle_congestion(now);
        }
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.rests_until = Time::ZERO;
        if let Some(gmb) = self.gmb.as_mut().filter(|_| !self.queue.is_empty()) {
            gmb.handle_timeout(now);
        }
        for control in &mut self.controls {
            if control.connection.poll_timeout() <= now {
                control.connection.handle_timeout(now);
            }
        }
        let round = self.controls().map(|control| control.sender_view().srtt).max();
        self.queue.handle_timeout(now, round.unwrap_or_default());
        self.update_windows();
    }

    pub fn poll_timeout(&self) -> Time {
        self.first_timeout(Connection::poll_timeout)
    }

    /// A cheap lower bound for [`poll_timeout`](Sender::poll_timeout).
    #[inline]
    pub fn earliest_timeout(&self) -> Time {
        self.first_timeout(Connection::earliest_timeout)
    }

    #[inline]
    fn first_timeout(&self, of_control: impl Fn(&Connection) -> Time) -> Time {
        let gmb = self.gmb.as_ref().map_or(Time::NEVER, |gmb| gmb.poll_timeout(&self.queue));
        self.controls().map(of_control).fold(gmb.min(self.queue.poll_timeout()), Time::min)
    }

    /// The next packet to send now, if any. A header packet is written to `out`. The GMB sender goes first; after each header packet,
    /// it is the next control TCP's turn.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Transmit) -> Option<Output> {
        if self.rests(now) {
            return None;
        }
        self.rests_until = Time::ZERO;
        let output = self.poll_output(now, out);
        self.update_windows();
        match output {
            Some(Output::Data(_) | Output::Repair { .. }) => self.count_more(1),
            Some(Output::Header { .. }) => {}
            None => self.come_to_rest(),
        }
        debug_assert!(output.is_some() || !self.is_stuck(), "{:?}", self.queue);
        output
    }

    /// Returns whether data waits that no timer will ever move. Asked when nothing may leave now.
    pub fn is_stuck(&self) -> bool {
        !self.queue.is_empty() && self.poll_timeout().is_never()
    }

    /// Is it known that nothing may leave now?
    #[inline]
    pub fn rests(&self, now: Time) -> bool {
        now < self.rests_until
    }

    /// Nothing more may leave now.
    #[inline]
    pub(super) fn come_to_rest(&mut self) {
        // While data waits, only a pacer can let it leave without a new event.
        self.rests_until = match self.queue.is_empty() {
            true => Time::ZERO,
            false => self.controls().map(Connection::paced_until).fold(Time::NEVER, Time::min),
        };
    }

    fn poll_output(&mut self, now: Time, out: &mut Transmit) -> Option<Output> {
        if let Some(leaving) = self.gmb.as_mut().and_then(|gmb| gmb.poll(now, &mut self.queue)) {
            return Some(leaving.into());
        }
        let sent = self.losses.as_ref().map(|_| self.sent);
        for _ in 0..self.controls.len() {
            let output = self.controls[self.turn].poll(now, &mut self.queue, sent, out);
            if !matches!(output, Some(Output::Data(_) | Output::Repair { .. })) {
                self.turn = (self.turn + 1) % self.controls.len();
            }
            if output.is_some() {
                return output;
            }
        }
        None
    }

    /// The data packet that left last will be split further on, into this many packets more.
    pub fn count_more(&mut self, packets: u16) {
        self.sent = self.sent.wrapping_add(packets);
    }

    /// The repair that left last has not been sent after all.
    pub fn take_back_repair(&mut self) {
        self.sent = self.sent.wrapping_sub(1);
    }

    /// The number by which repairs know the data packet that left last, if data is repaired.
    pub fn last_source(&self) -> Option<u32> {
        self.queue.last_source()
    }

    /// Number of data packets for which the tunnel queue has room.
    #[inline]
    pub fn room(&self) -> u32 {
        self.queue.room(self.allowed_bytes)
    }

    /// Does the tunnel queue have room for another packet?
    #[inline]
    pub fn has_room(&self) -> bool {
        self.queue.has_room(self.allowed_bytes)
    }

    /// Recomputes what follows from the control TCPs' windows, after anything that may have changed them.
    #[inline(never)]
    pub(super) fn update_windows(&mut self) {
        let mut within_delay = self.gmb.as_ref().map_or(0, |gmb| gmb.rate.bytes_in(self.delay));
        let mut total = 0u64;
        for control in &self.controls {
            let SenderView { cwnd, srtt, .. } = control.connection.sender_view();
            if srtt > Dur::ZERO {
                within_delay = within_delay.saturating_add(portion(cwnd, self.delay, srtt));
            }
            total = total.saturating_add(cwnd);
        }
        self.allowed_bytes = if self.delay == Dur::ZERO { u64::MAX } else { within_delay.max(self.vmss) };
        self.control_window = (total / self.vmss) as u32;
    }

    /// Sum of the control TCPs' congestion windows, in segments of VMSS.
    pub fn control_window(&self) -> u32 {
        self.control_window
    }

    /// Data sent per round trip, in segments of VMSS: the control TCPs' windows, and what the GMB sender sends in the longest SRTT.
    pub fn window(&self) -> u32 {
        let srtt = self.controls().map(|control| control.sender_view().srtt).max();
        let guaranteed = self.gmb.as_ref().map_or(0, |gmb| gmb.rate.bytes_in(srtt.unwrap_or_default()));
        self.control_window() + (guaranteed / self.vmss) as u32
    }

    /// The control TCPs, for observers.
    pub fn controls(&self) -> impl Iterator<Item = &Connection> {
        self.controls.iter().map(|control| &control.connection)
    }
}

/// The share of `bytes` that leaves in `time`, if all leave in `round`.
#[inline]
fn portion(bytes: u64, time: Dur, round: Dur) -> u64 {
    match bytes.checked_mul(time.0) {
        Some(product) => product / round.0,
        None => {
            u64::try_from(u128::from(bytes) * u128::from(time.0) / u128::from(round.0)).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests;
