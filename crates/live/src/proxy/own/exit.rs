//! Where our own stack's packets leave: through the device by which its peers' packets come, or through a TCP circuit
//! first.

use crate::circuit::ToldWindow;
use crate::offload::Offload;
use crate::tun::{OffloadTun, PacketDevice, TunWriter};
use airtcp_wire::ip::Found;
use airtcp_wire::packet::Endpoints;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socketpair, sockopt,
};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Bytes that the kernel may hold between the stack and a circuit. With a quarter of it in use, there is no more
/// room. A packet of 1500 bytes is charged 2304, so that some ten wait.
const PIPE_BYTES: usize = 96 << 10;

/// The stack's device.
pub struct Exit {
    tun: OffloadTun,
    /// By the peer's port; `None` for all others.
    circuits: BTreeMap<Option<u16>, Circuit>,
    /// Whether packets that are not the stack's belong to others, and go on.
    is_router: bool,
}

/// The way into a circuit.
struct Circuit {
    pipe: OwnedFd,
    window: ToldWindow,
}

/// The other end of the way into the circuit. It receives what the stack has sent, and sends it on.
pub struct Outgoing {
    pipe: OwnedFd,
    tun: TunWriter,
    window: ToldWindow,
}

impl Outgoing {
    /// By which the circuit may tell its control TCPs' window to the stack.
    pub fn window(&self) -> ToldWindow {
        self.window.clone()
    }
}

impl Exit {
    pub fn new(tun: OffloadTun) -> Exit {
        Exit { tun, circuits: BTreeMap::new(), is_router: true }
    }

    /// The device carries only the stack's packets.
    #[must_use]
    pub fn of_host(self) -> Exit {
        Exit { is_router: false, ..self }
    }

    /// From now on, the stack's packets to this port, or to any, leave through the returned device.
    ///
    /// # Errors
    /// The kernel's.
    pub fn through_circuit(&mut self, port: Option<u16>) -> io::Result<Outgoing> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let (ours, pipe) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        // The kernel doubles it.
        setsockopt(&ours, sockopt::SndBuf, &(PIPE_BYTES / 2))?;
        let window = ToldWindow::default();
        self.circuits.insert(port, Circuit { pipe: ours, window: window.clone() });
        Ok(Outgoing { pipe, tun: self.tun.writer()?, window })
    }

    /// Each is writable when there is room again.
    pub fn circuits(&self) -> impl Iterator<Item = &OwnedFd> {
        self.circuits.values().map(|circuit| &circuit.pipe)
    }

    fn circuit(&self, port: u16) -> Option<&Circuit> {
        self.circuits.get(&Some(port)).or_else(|| self.circuits.get(&None))
    }
}

impl AsFd for Exit {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

impl PacketDevice for Exit {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.tun.recv(buffer)
    }

    fn offload(&self) -> Offload {
        self.tun.offload()
    }

    fn has_offloads(&self) -> bool {
        self.circuits.is_empty()
    }

    fn has_room(&self, endpoints: &Endpoints) -> bool {
        self.circuit(endpoints.ports.destination).is_none_or(|circuit| {
            let mut look = [PollFd::new(circuit.pipe.as_fd(), PollFlags::POLLOUT)];
            poll(&mut look, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
        })
    }

    fn repeats_first_every(&self, endpoints: &Endpoints) -> Option<u32> {
        self.circuit(endpoints.ports.destination)?.window.heard()
    }

    fn hand_back(&mut self, packet: &[u8], headers_len: usize) -> io::Result<()> {
        if self.is_router { self.tun.hand_back(packet, headers_len) } else { Ok(()) }
    }

    fn send_offloaded(&mut self, packet: &[u8], headers_len: usize, offload: Offload) -> io::Result<()> {
        self.tun.send_offloaded(packet, headers_len, offload)
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match peer_port(packet).and_then(|port| self.circuit(port)) {
            Some(circuit) => Ok(send(circuit.pipe.as_raw_fd(), packet, MsgFlags::MSG_NOSIGNAL).map(|_| ())?),
            None => self.tun.send(packet),
        }
    }
}

fn peer_port(packet: &[u8]) -> Option<u16> {
    let at = Found::read(packet).ok()?.header_len + 2;
    Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?))
}

impl AsFd for Outgoing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl PacketDevice for Outgoing {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match recv(self.pipe.as_raw_fd(), buffer, MsgFlags::empty()) {
            // The stack is gone.
            Ok(0) | Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Ok(len) => Ok(Some(len)),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.tun.send(packet)
    }
}
