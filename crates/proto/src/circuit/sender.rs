//! The sending node of a circuit (§4.5).

use super::config::Config;
use super::control::Control;
use super::gmb::Gmb;
use super::losses::Losses;
use super::tunnel_queue::TunnelQueue;
use crate::cc::RegistryError;
use crate::queue::Item;
use crate::rng::Chance;
use crate::tcp::{Connection, SenderView, TcpConfig, Transmit};
use airtcp_wire::{Dur, Ecn, Flags, Segment, Seq, Time};

/// What leaves the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// A data packet, as it came.
    Data(Item),
    /// A packet of control TCP number `control`: a header packet, or one of the handshake, which stands in the place that
    /// the driver gave for it. `bytes` is its length on the wire; the segment's own length is virtual. It repeats so many
    /// header packets before it (FEC).
    Header { control: u16, bytes: u32, repeats: u8 },
}

/// The sender of a circuit: a tunnel queue, and what takes data packets from it: the GMB sender and the senders of the
/// control TCPs. See [`crate::machine`] for how it is driven.
///
/// After [`poll_transmit`](Sender::poll_transmit) there may be room in the tunnel queue again: a driver that has more
/// data offers it at once and drains again, lest a control TCP believe that its application has nothing to send.
pub struct Sender {
    queue: TunnelQueue,
    /// How long data may wait there; zero: no bound.
    delay: Dur,
    gmb: Option<Gmb>,
    controls: Vec<Control>,
    /// The control TCP whose turn it is to take data.
    turn: usize,
    vmss: u64,
    /// Data packets sent, modulo 2^16.
    sent: u16,
    losses: Option<Losses>,
    /// Known since nothing could leave, until something comes.
    rest: Option<Rest>,
}

/// What can be said of a sender from which nothing may leave, as long as nothing comes.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Asking before is in vain.
    until: Time,
    deadline: Time,
    bytes_within_delay: u64,
    control_window: u32,
}

impl Sender {
    /// Opens the control TCPs, which follow [`Config::control_tcp`] of `tcp`. `chance` gives initial sequence numbers and
    /// controllers' seeds.
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
        Ok(Sender {
            queue: TunnelQueue::new(config.tunnel_queue),
            delay: config.tunnel_delay,
            gmb: config.gmb.map(|rate| Gmb::new(rate, now)),
            controls: (0..config.controls).map(&mut open).collect::<Result<_, RegistryError>>()?,
            turn: 0,
            vmss: config.vmss.0,
            sent: 0,
            losses: config.loss_reports.then(|| Losses::new(now)),
            rest: None,
        })
    }

    /// A data packet for the circuit. `false`: the tunnel queue is full, and the packet is dropped.
    pub fn handle_packet(&mut self, now: Time, item: Item) -> bool {
        if self.room() == 0 {
            return false;
        }
        if self.queue.is_empty() {
            self.rest = None;
            if let Some(gmb) = &mut self.gmb {
                gmb.on_backlog(now);
            }
        }
        self.queue.push(item);
        true
    }

    /// An acknowledgment from receiver `control`.
    pub fn handle_segment(&mut self, now: Time, control: u16, segment: &Segment, ecn: Ecn) {
        let Some(control) = self.controls.get_mut(usize::from(control)) else { return };
        self.rest = None;
        let Some(losses) = self.losses.as_mut().filter(|_| !segment.flags.contains(Flags::SYN)) else {
            return control.handle_segment(now, segment, ecn);
        };
        control.handle_segment(now, &Segment { window: u16::MAX, ..*segment }, ecn);
        if let Some(rtt) = control.connection.last_rtt()
            && losses.on_report(now, rtt, self.sent, segment.window)
        {
            control.connection.handle_congestion(now);
        }
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.rest = None;
        if let Some(gmb) = self.gmb.as_mut().filter(|_| !self.queue.is_empty()) {
            gmb.handle_timeout(now);
        }
        for control in &mut self.controls {
            if control.connection.poll_timeout() <= now {
                control.connection.handle_timeout(now);
            }
        }
    }

    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.rest.map_or_else(|| self.find_deadline(), |rest| rest.deadline)
    }

    fn find_deadline(&self) -> Time {
        let gmb = self.gmb.as_ref().map_or(Time::NEVER, |gmb| gmb.poll_timeout(&self.queue));
        self.controls.iter().map(|control| control.connection.poll_timeout()).fold(gmb, Time::min)
    }

    /// The next packet to send now, if any; `out` is the place for a header packet. The GMB sender goes first; after each
    /// header packet it is the next control TCP's turn.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Transmit) -> Option<Output> {
        if self.rest.is_some_and(|rest| now < rest.until) {
            return None;
        }
        self.rest = None;
        let output = self.poll_output(now, out);
        match output {
            Some(Output::Data(_)) => self.count_more(1),
            Some(Output::Header { .. }) => {}
            None => self.rest = Some(self.at_rest()),
        }
        output
    }

    /// Nothing may leave. While data waits, nothing but the pacer's time changes that.
    fn at_rest(&self) -> Rest {
        let paced_until = || self.controls.iter().map(|control| control.connection.paced_until());
        Rest {
            until: if self.queue.is_empty() {
                Time::ZERO
            } else {
                paced_until().fold(Time::NEVER, Time::min)
            },
            deadline: self.find_deadline(),
            bytes_within_delay: self.bytes_within(self.delay),
            control_window: self.control_window(),
        }
    }

    fn poll_output(&mut self, now: Time, out: &mut Transmit) -> Option<Output> {
        if let Some(item) = self.gmb.as_mut().and_then(|gmb| gmb.poll(&mut self.queue)) {
            return Some(Output::Data(item));
        }
        let sent = self.losses.as_ref().map(|_| self.sent);
        for _ in 0..self.controls.len() {
            let output = self.controls[self.turn].poll(now, &mut self.queue, sent, out);
            if !matches!(output, Some(Output::Data(_))) {
                self.turn = (self.turn + 1) % self.controls.len();
            }
            if output.is_some() {
                return output;
            }
        }
        None
    }

    /// The data packet that left last is cut into this many more further on.
    pub fn count_more(&mut self, packets: u16) {
        self.sent = self.sent.wrapping_add(packets);
    }

    /// Data packets that still find room in the tunnel queue.
    pub fn room(&self) -> u32 {
        self.queue.room(if self.delay == Dur::ZERO {
            u64::MAX
        } else {
            let known = self.rest.map(|rest| rest.bytes_within_delay);
            known.unwrap_or_else(|| self.bytes_within(self.delay)).max(self.vmss)
        })
    }

    /// Data that leaves in this time, as far as round trips tell.
    fn bytes_within(&self, time: Dur) -> u64 {
        let views = self.controls.iter().map(|control| control.connection.sender_view());
        let worth = |view: SenderView| u128::from(view.cwnd) * u128::from(time.0) / u128::from(view.srtt.0);
        let controlled = views.filter(|view| view.srtt > Dur::ZERO).map(worth).sum::<u128>();
        let guaranteed = self.gmb.as_ref().map_or(0, |gmb| gmb.rate().bytes_in(time));
        u64::try_from(controlled).unwrap_or(u64::MAX).saturating_add(guaranteed)
    }

    /// The control TCPs' congestion windows together, in segments of VMSS.
    pub fn control_window(&self) -> u32 {
        if let Some(rest) = self.rest {
            return rest.control_window;
        }
        let windows = self.controls.iter().map(|control| control.connection.sender_view().cwnd);
        (windows.sum::<u64>() / self.vmss) as u32
    }

    /// What one round trip's data packets amount to, in segments of VMSS: the control TCPs' windows and, for its rate and
    /// their RTT, what the GMB sender sends.
    pub fn window(&self) -> u32 {
        let srtt = self.controls.iter().map(|control| control.connection.sender_view().srtt).max();
        let guaranteed = self.gmb.as_ref().map_or(0, |gmb| gmb.rate().bytes_in(srtt.unwrap_or_default()));
        self.control_window() + (guaranteed / self.vmss) as u32
    }

    /// The control TCPs, for whoever watches them.
    pub fn controls(&self) -> impl Iterator<Item = &Connection> {
        self.controls.iter().map(|control| &control.connection)
    }
}
