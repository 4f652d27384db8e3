//! The kernel's TCP as a stack: one thread that sleeps until the script's next time or the kernel's next packet. What a call
//! or a packet brings about, the kernel sends before it answers.

use crate::host::Host;
use crate::socket::Socket;
use airtcp_live::PacketDevice;
use airtcp_timeline::{Call, Emitted, Quantity, Stack};
use airtcp_wire::packet::{Endpoints, decode_tcp, encode_tcp};
use airtcp_wire::units::NANOS_PER_SEC;
use airtcp_wire::{Dur, Ecn, Segment, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::os::fd::AsFd;
use std::time::Instant;

/// At 250 Hz the kernel's clock ticks each 4 ms: a short timer is rounded up to a tick, expires one later, and waits for one.
const SHORT_TIMER: Dur = Dur::from_millis(12);
/// Longer ones wait in a wheel whose levels are ever coarser: from which time on, and how coarse.
const LONG_TIMERS: [(Dur, Dur); 3] = [
    (Dur::from_millis(16_000), Dur::from_millis(2048)),
    (Dur::from_millis(2000), Dur::from_millis(256)),
    (Dur::from_millis(250), Dur::from_millis(32)),
];
/// Back-off doubles what an RTO was rounded up by.
const ROUNDED_UP: u64 = 50;

const MAX_PACKET: usize = 1 << 16;

pub struct Kernel {
    host: Host,
    socket: Socket,
    epoch: Instant,
    /// When the kernel last sent what was waited for: later than the script's time where it took its time.
    answered: Time,
    lateness: Dur,
    buffer: Vec<u8>,
}

impl Kernel {
    #[allow(clippy::disallowed_methods, reason = "a driver in real time")]
    pub fn new(host: Host) -> Kernel {
        let socket = Socket::new(&host.setup);
        let (epoch, buffer) = (Instant::now(), vec![0; MAX_PACKET]);
        Kernel { host, socket, epoch, answered: Time::ZERO, lateness: Dur::ZERO, buffer }
    }

    /// By how much this process did something later than the script wanted it, at most.
    pub fn lateness(&self) -> Dur {
        self.lateness
    }

    #[allow(clippy::disallowed_methods, reason = "a driver in real time")]
    fn now(&self) -> Time {
        Time(Instant::now().duration_since(self.epoch).as_nanos() as u64)
    }

    /// The kernel's next TCP segment to the peer, if it has sent one.
    fn receive(&mut self) -> Option<Emitted> {
        while let Some(len) = self.host.tun.recv(&mut self.buffer).expect("the device") {
            let at = self.now();
            if let Ok(packet) = decode_tcp(&self.buffer[..len]) {
                return Some(Emitted { at, segment: packet.segment, ecn: packet.ecn });
            }
        }
        None
    }

    fn sleep(&self, left: Dur) {
        let timeout = TimeSpec::new((left.0 / NANOS_PER_SEC) as i64, (left.0 % NANOS_PER_SEC) as i64);
        let mut waiting = [PollFd::new(self.host.tun.as_fd(), PollFlags::POLLIN)];
        // An interruption is no harm: the caller looks at the clock.
        let _ = ppoll(&mut waiting, Some(timeout), None);
    }
}

impl Stack for Kernel {
    fn lateness_after(&self, idle: Dur) -> Dur {
        let grain = LONG_TIMERS.iter().find(|(from, _)| idle >= *from).map_or(Dur::ZERO, |(_, grain)| *grain);
        SHORT_TIMER + grain + Dur(idle.0 / ROUNDED_UP)
    }

    fn wait(&mut self, until: Time) -> Option<Emitted> {
        loop {
            let emitted = self.receive();
            let now = emitted.map_or_else(|| self.now(), |emitted| emitted.at);
            if now >= until {
                self.lateness = self.lateness.max(now.since(until.max(self.answered)));
                return emitted;
            }
            if emitted.is_some() {
                self.answered = now;
                return emitted;
            }
            self.sleep(until.since(now));
        }
    }

    fn inject(&mut self, segment: &Segment, ecn: Ecn) {
        let endpoints = Endpoints::new(Host::PEER, Host::LOCAL).expect("of one family");
        let payload = vec![0; segment.len as usize];
        let len = encode_tcp(&endpoints, ecn, segment, &payload, &mut self.buffer).expect("it fits");
        self.host.tun.send(&self.buffer[..len]).expect("the device");
    }

    fn call(&mut self, call: Call) -> Result<(), String> {
        self.socket.call(call).map_err(|error| format!("{call:?}: {error}"))
    }

    fn observe(&mut self, quantity: Quantity) -> Result<String, String> {
        self.socket.observe(quantity).map_err(|error| format!("{}: {error}", quantity.name()))
    }
}
