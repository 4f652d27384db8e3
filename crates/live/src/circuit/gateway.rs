//! Gateways: a circuit's nodes on real packets. Drivers pass them the time.

use super::counting::DataCounter;
use super::intake::{Intake, WaitingPacket};
use super::socket::Datagrams;
use super::{Output, ReceivingNode, SendingNode, ToldWindow};
use crate::tun::PacketDevice;
use airtcp_proto::queue::Item;
use airtcp_wire::circuit::{MAX_DATAGRAM, Mark};
use airtcp_wire::{Dur, Ecn, Time};
use slab::Slab;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Datagrams and packets handled at a wake-up, before others have their turn.
const A_TURN: usize = 256;

/// The kernel's long packets are cut into parts that leave within this time, to avoid bursts (as Linux sizes its
/// own).
const BURST: Dur = Dur::from_millis(1);

/// One byte longer than the longest datagram to a sender, so that longer ones are noticed.
type Buffer = [u8; MAX_DATAGRAM + 1];

/// Longest repair in bytes.
const MAX_REPAIR: usize = 1 << 16;

/// Called with each packet that finds no room.
pub type Shed = Box<dyn FnMut(&[u8]) + Send>;

/// Called with each packet that has been rebuilt.
pub type HandOn = Box<dyn FnMut(&[u8]) + Send>;

/// A sending node, the device that data comes from and goes back to, and the node's socket.
pub struct SendingGateway<D, S> {
    pub node: SendingNode,
    device: D,
    socket: S,
    peer: SocketAddr,
    vmss: usize,
    intake: Intake,
    /// Packets that the node holds.
    held: Slab<WaitingPacket>,
    /// DSCP of the last data packet sent. Header packets get the same and the mark, because they take the same path (§4.3).
    dscp: u8,
    mark: Mark,
    /// Present if data that finds no room is lost, rather than left in the device.
    shed: Option<Shed>,
    /// Who is told the control TCPs' window, and how long its packets are.
    told: Option<(ToldWindow, u32)>,
    /// What the kernel gives the packets as source before they leave, if that is another address than they have.
    masks: Vec<IpAddr>,
    pub counts: Counts,
}

/// Counts of what has passed.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub data_packets: u64,
    pub data_bytes: u64,
    pub datagrams: u64,
    pub repairs: u64,
    pub repair_bytes: u64,
    /// Data packets that the kernel did not take.
    pub lost: u64,
    /// Data packets lost for lack of room, if they do not wait for it.
    pub shed: u64,
}

impl<D: PacketDevice, S: Datagrams> SendingGateway<D, S> {
    pub fn new(
        node: SendingNode,
        vmss: usize,
        device: D,
        socket: S,
        peer: SocketAddr,
    ) -> SendingGateway<D, S> {
        let (intake, held, counts) = (Intake::new(), Slab::new(), Counts::default());
        let (dscp, mark) = (0, Mark::default());
        let (shed, told, masks) = (None, None, Vec::new());
        SendingGateway {
            node,
            device,
            socket,
            peer,
            vmss,
            intake,
            held,
            dscp,
            mark,
            shed,
            told,
            masks,
            counts,
        }
    }

    /// Marks header packets so, for routers.
    #[must_use]
    pub fn marking(mut self, mark: Mark) -> SendingGateway<D, S> {
        self.mark = mark;
        self
    }

    /// Drops packets that find the tunnel queue full (§4.5.1), instead of leaving them in the device until there is
    /// room.
    #[must_use]
    pub fn shedding(mut self, shed: Shed) -> SendingGateway<D, S> {
        self.shed = Some(shed);
        self
    }

    /// Tells data TCPs, whose packets have `packet_bytes`, the control TCPs' window (§6, F2).
    #[must_use]
    pub fn telling(mut self, window: ToldWindow, packet_bytes: u32) -> SendingGateway<D, S> {
        self.told = Some((window, packet_bytes.max(1)));
        self
    }

    /// The kernel gives the packets the one of these addresses that is of their family as source, before they leave.
    #[must_use]
    pub fn masked_as(mut self, masks: Vec<IpAddr>) -> SendingGateway<D, S> {
        self.masks = masks;
        self
    }

    /// Returns whether to poll the device.
    pub fn takes(&self) -> bool {
        self.shed.is_some() || self.node.room() > 0
    }

    pub fn device(&self) -> &D {
        &self.device
    }

    pub fn socket(&self) -> &S {
        &self.socket
    }

    pub fn poll_timeout(&self) -> Time {
        self.node.poll_timeout()
    }

    /// Receives and sends what is waiting. Returns whether there may be more at once. Reads `clock` before each step,
    /// and drains the machines after each, as their contract requires.
    ///
    /// # Errors
    /// The kernel's.
    pub fn turn(&mut self, clock: &impl Fn() -> Time) -> io::Result<bool> {
        let mut left = A_TURN;
        if !self.drain(clock(), &mut left)? {
            return Ok(true);
        }
        self.handle_timeout(clock());
        let mut buffer: Buffer = [0; MAX_DATAGRAM + 1];
        while self.drain(clock(), &mut left)? {
            // The tag identifies the sender: a host with several addresses answers from any of them.
            let Some((len, _, ecn)) = self.socket.recv(&mut buffer)? else {
                self.shed()?;
                return Ok(false);
            };
            self.node.handle_datagram(clock(), &buffer[..len], ecn);
        }
        Ok(true)
    }

    fn handle_timeout(&mut self, now: Time) {
        let (before, waiting) = (self.node.standstills, self.node.waiting());
        self.node.handle_timeout(now);
        if self.node.standstills > before {
            tracing::warn!(
                "{waiting} packets waited for the circuit to {} while it stood still: it begins anew",
                self.peer
            );
        }
    }

    /// Sends what may leave, and subtracts it from what is left of the turn. Returns whether that was all.
    fn drain(&mut self, now: Time, left: &mut usize) -> io::Result<bool> {
        let is_all = self.send_all(now, left)?;
        self.socket.flush();
        if let Some((window, packet_bytes)) = &self.told {
            let packets = self.node.window_bytes() / u64::from(*packet_bytes);
            window.tell(u32::try_from(packets).unwrap_or(u32::MAX));
        }
        Ok(is_all)
    }

    fn send_all(&mut self, now: Time, left: &mut usize) -> io::Result<bool> {
        while *left > 0 {
            let took = self.fill(now)?;
            match self.node.poll_transmit(now) {
                Some(output) => self.send(output),
                None if took => {}
                None => return Ok(true),
            }
            *left -= 1;
        }
        Ok(false)
    }

    /// Reads the device while there is room. Returns whether it has taken a packet.
    fn fill(&mut self, now: Time) -> io::Result<bool> {
        let mut took = false;
        let most = self.longest();
        while self.node.room() > 0 {
            let Some(packet) = self.intake.next(&mut self.device, most)? else { break };
            let bytes = packet.wire_len;
            let id = self.held.insert(packet) as u32;
            self.node.handle_packet(now, Item { id, bytes, flow: 0, is_header: false, ecn: Ecn::NotEct });
            took = true;
        }
        Ok(took)
    }

    /// Drops packets that find no room, unless they wait for it.
    fn shed(&mut self) -> io::Result<()> {
        let most = self.longest();
        let Some(shed) = &mut self.shed else { return Ok(()) };
        while self.node.room() == 0
            && let Some(packet) = self.intake.next(&mut self.device, most)?
        {
            self.counts.shed += 1;
            shed(packet.bytes());
            self.intake.take_back(packet);
        }
        Ok(())
    }

    /// The longest packet in bytes that is not cut. Where data is repaired, all that can be cut are.
    fn longest(&self) -> usize {
        if self.node.repairs_data() {
            return 0;
        }
        self.node.bytes_in(BURST).map_or(self.vmss, |bytes| self.vmss.max(bytes as usize))
    }

    /// Sends. What the kernel does not take is lost, as on any link.
    fn send(&mut self, output: Output) {
        match output {
            Output::Data(item) => {
                // Keep header packets in front of the data that comes after them.
                self.socket.flush();
                let packet = self.held.remove(item.id as usize);
                if self.node.repairs_data() {
                    self.node.keep(packet.on_wire(&self.masks).as_deref());
                }
                self.node.count_more(packet.packets - 1);
                self.counts.data_packets += u64::from(packet.packets);
                self.counts.data_bytes += u64::from(packet.wire_len);
                self.counts.lost += u64::from(packet.send(&mut self.device).is_err());
                self.dscp = packet.dscp();
                self.intake.take_back(packet);
            }
            Output::Datagram(datagram, ecn) => {
                self.counts.datagrams += 1;
                let traffic_class = self.mark.put_on(self.dscp) << 2 | ecn as u8;
                self.socket.send(self.peer, traffic_class, datagram.as_slice());
            }
            Output::Repair(datagram) => {
                self.counts.repairs += 1;
                self.counts.repair_bytes += datagram.len() as u64;
                self.socket.send(self.peer, self.dscp << 2, &datagram);
            }
        }
    }
}

/// A receiving node, its socket, and the counter of data, if data is counted.
pub struct ReceivingGateway<S> {
    pub node: ReceivingNode,
    socket: S,
    counter: Option<DataCounter>,
    hand_on: Option<HandOn>,
    buffer: Box<[u8]>,
    pub replies: u64,
    /// Data packets that were lost, rebuilt and handed on.
    pub rebuilt: u64,
}

impl<S: Datagrams> ReceivingGateway<S> {
    pub fn new(node: ReceivingNode, socket: S) -> ReceivingGateway<S> {
        let buffer = vec![0; MAX_REPAIR].into();
        ReceivingGateway { node, socket, counter: None, hand_on: None, buffer, replies: 0, rebuilt: 0 }
    }

    /// Counts data, and reports what is missing.
    #[must_use]
    pub fn counting(mut self, counter: DataCounter) -> ReceivingGateway<S> {
        self.node.counts = true;
        self.counter = Some(counter);
        self
    }

    /// Hands on data that was lost, if it is of what is counted.
    #[must_use]
    pub fn rebuilding(mut self, hand_on: HandOn) -> ReceivingGateway<S> {
        self.node.rebuilds = true;
        self.hand_on = Some(hand_on);
        self
    }

    pub fn socket(&self) -> &S {
        &self.socket
    }

    pub fn poll_timeout(&self) -> Time {
        self.node.poll_timeout()
    }

    /// As [`SendingGateway::turn`].
    ///
    /// # Errors
    /// The kernel's.
    pub fn turn(&mut self, clock: &impl Fn() -> Time) -> io::Result<bool> {
        self.node.handle_timeout(clock());
        let has_more = self.listen(clock())?;
        self.socket.flush();
        Ok(has_more)
    }

    fn listen(&mut self, now: Time) -> io::Result<bool> {
        self.answer(now);
        for _ in 0..A_TURN {
            let Some((len, from, ecn)) = self.socket.recv(&mut self.buffer)? else { return Ok(false) };
            let datagram = &self.buffer[..len];
            if let Some(counter) = &mut self.counter {
                let wants_packets = self.node.wants_packets();
                let see = |packet: &[u8]| self.node.handle_packet(packet);
                let packets = counter.until(datagram, wants_packets.then_some(see))?;
                self.node.handle_data(packets);
            }
            self.node.handle_datagram(now, from, datagram, ecn);
            self.hand_on();
            self.answer(now);
        }
        Ok(true)
    }

    fn hand_on(&mut self) {
        while let Some(packet) = self.node.poll_rebuilt() {
            // Others come by another link, or are not for this gateway: whether they have come, it does not know.
            if let (Some(counter), Some(hand_on)) = (&self.counter, &mut self.hand_on)
                && counter.counts(&packet)
            {
                self.rebuilt += 1;
                hand_on(&packet);
            }
        }
    }

    fn answer(&mut self, now: Time) {
        while let Some(reply) = self.node.poll_transmit(now) {
            self.replies += 1;
            self.socket.send(reply.to, reply.ecn as u8, reply.datagram.as_slice());
        }
    }
}

#[cfg(test)]
mod tests;
