//! The loop of a gateway: one thread, which polls the descriptors once a turn.

use super::counters::{Receiving, ReceivingCounters, Sending, SendingCounters};
use super::gateway::{ReceivingGateway, SendingGateway};
use super::socket::Datagrams;
use crate::daemon::{Stop, Urgency};
use crate::emulate::Clock;
use crate::tun::PacketDevice;
use airtcp_wire::Time;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// A gateway, as the loop sees it.
pub trait Gateway {
    type Counters;

    /// Receives and sends what is waiting. Returns whether there may be more at once.
    ///
    /// # Errors
    /// The kernel's.
    fn turn(&mut self, clock: &Clock) -> io::Result<bool>;

    fn poll_timeout(&self) -> Time;

    /// Descriptors one of which becomes readable when there is something to do.
    fn waits_for(&self) -> Vec<PollFd<'_>>;

    fn publish(&self, counters: &Self::Counters);

    /// Ends the service, and lets go what the gateway holds.
    ///
    /// # Errors
    /// The kernel's.
    fn end(&mut self, _clock: &Clock) -> io::Result<()> {
        Ok(())
    }
}

/// Serves until `stop` asks for the end.
///
/// # Errors
/// The kernel's.
pub fn serve<G: Gateway>(
    gateway: &mut G,
    clock: &Clock,
    mut stop: Stop,
    counters: &G::Counters,
) -> io::Result<()> {
    while stop.urgency() == Urgency::None {
        let is_busy = gateway.turn(clock)?;
        gateway.publish(counters);
        let next = if is_busy { Time::ZERO } else { gateway.poll_timeout() };
        let left = Duration::from_nanos(next.since(clock.now()).0);
        let mut descriptors = gateway.waits_for();
        descriptors.push(PollFd::new(stop.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut descriptors, (!next.is_never()).then(|| TimeSpec::from(left)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    gateway.end(clock)
}

fn readable(descriptor: &impl AsFd) -> PollFd<'_> {
    PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)
}

impl<D: PacketDevice, S: Datagrams> Gateway for SendingGateway<D, S> {
    type Counters = SendingCounters;

    fn turn(&mut self, clock: &Clock) -> io::Result<bool> {
        SendingGateway::turn(self, &|| clock.now())
    }

    fn poll_timeout(&self) -> Time {
        SendingGateway::poll_timeout(self)
    }

    /// The device is left out while it is not read, because it would always be readable.
    fn waits_for(&self) -> Vec<PollFd<'_>> {
        let mut descriptors = vec![readable(self.socket())];
        if self.takes() {
            descriptors.push(readable(self.device()));
        }
        descriptors
    }

    fn publish(&self, counters: &SendingCounters) {
        let views = || self.node.controls().map(|control| control.sender_view());
        let stats = || self.node.controls().map(|control| control.stats());
        let values = [
            (Sending::Open, u64::from(self.node.is_open())),
            (Sending::Sessions, self.node.sessions),
            (Sending::DataPackets, self.counts.data_packets),
            (Sending::DataBytes, self.counts.data_bytes),
            (Sending::Lost, self.counts.lost),
            (Sending::Waiting, self.node.waiting() as u64),
            (Sending::Datagrams, self.counts.datagrams),
            (Sending::Repairs, self.counts.repairs),
            (Sending::Refused, self.node.refused),
            (Sending::Window, views().map(|view| view.cwnd).sum()),
            (Sending::RoundTripUs, views().map(|view| view.srtt.0 / 1_000).max().unwrap_or(0)),
            (Sending::Retransmissions, stats().map(|stats| stats.retransmissions).sum()),
            (Sending::Timeouts, stats().map(|stats| stats.timeouts).sum()),
            (Sending::Standstills, self.node.standstills),
        ];
        values.into_iter().for_each(|(counter, value)| counters.set(counter, value));
    }

    fn end(&mut self, clock: &Clock) -> io::Result<()> {
        self.node.hang_up();
        while Gateway::turn(self, clock)? && self.node.waiting() > 0 {}
        Ok(())
    }
}

impl<S: Datagrams> Gateway for ReceivingGateway<S> {
    type Counters = ReceivingCounters;

    fn turn(&mut self, clock: &Clock) -> io::Result<bool> {
        ReceivingGateway::turn(self, &|| clock.now())
    }

    fn poll_timeout(&self) -> Time {
        ReceivingGateway::poll_timeout(self)
    }

    fn waits_for(&self) -> Vec<PollFd<'_>> {
        vec![readable(self.socket())]
    }

    fn publish(&self, counters: &ReceivingCounters) {
        counters.set(Receiving::Open, self.node.open() as u64);
        counters.set(Receiving::Sessions, self.node.sessions);
        counters.set(Receiving::HeaderPackets, self.node.header_packets);
        counters.set(Receiving::Replies, self.replies);
        counters.set(Receiving::Refused, self.node.refused);
        counters.set(Receiving::DataPackets, self.node.data_packets);
        counters.set(Receiving::Repairs, self.node.repairs);
        counters.set(Receiving::Rebuilt, self.rebuilt);
    }
}
