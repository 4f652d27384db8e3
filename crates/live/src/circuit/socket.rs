//! The UDP socket of a node.

use airtcp_wire::Ecn;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Bytes of datagrams that may wait. The kernel charges some 768 for each.
const BUFFER: usize = 4 << 20;

/// A node's socket. No call blocks.
pub trait Datagrams: AsFd {
    /// Receives the next datagram: its length, its source, and its ECN field.
    ///
    /// # Errors
    /// The kernel's.
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr, Ecn)>>;

    /// Sends a datagram with this DSCP and ECN, at the next [flush](Datagrams::flush) at the latest. It may be lost,
    /// as on any link.
    fn send(&mut self, to: SocketAddr, traffic_class: u8, datagram: &[u8]);

    /// Sends whatever still waits.
    fn flush(&mut self);
}

/// Most datagrams that the kernel takes or hands over as one (UDP_MAX_SEGMENTS before Linux 6.9).
const MOST: usize = 64;
/// Most bytes that the kernel takes as one, less than a datagram can have.
const MOST_BYTES: usize = 60_000;
/// Most bytes that the kernel hands over as one.
const RECEIVED: usize = 1 << 16;

/// A UDP socket. Consecutive datagrams of one length pass to and from the kernel as one, because a system call for
/// each would cost more than everything else.
pub struct Socket {
    socket: UdpSocket,
    is_ipv4: bool,
    traffic_class: u8,
    control: Vec<u8>,
    received: Received,
    sending: Sending,
    /// Whether the outgoing interface takes several datagrams as one.
    has_batches: bool,
}

/// Datagrams that were received as one.
struct Received {
    buffer: Box<[u8]>,
    /// Where in the buffer those are that have not been handed out, and the length of each.
    left: Range<usize>,
    size: usize,
    from: SocketAddr,
    ecn: Ecn,
}

/// Datagrams to be sent as one.
struct Sending {
    bytes: Vec<u8>,
    size: usize,
    to: SocketAddr,
    traffic_class: u8,
}

impl Socket {
    /// # Errors
    /// The kernel's.
    pub fn bind(at: SocketAddr) -> io::Result<Socket> {
        let socket = UdpSocket::bind(at)?;
        socket.set_nonblocking(true)?;
        let is_ipv4 = at.is_ipv4();
        if is_ipv4 {
            setsockopt(&socket, sockopt::IpRecvTos, &true)?;
        } else {
            setsockopt(&socket, sockopt::Ipv6RecvTClass, &true)?;
        }
        // Without the privilege, the kernel's limit applies.
        if setsockopt(&socket, sockopt::RcvBufForce, &BUFFER).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &BUFFER)?;
        }
        // Since Linux 5.0. Without it, each datagram comes alone.
        let _ = setsockopt(&socket, sockopt::UdpGroSegment, &true);
        let buffer = vec![0; RECEIVED].into();
        Ok(Socket {
            socket,
            is_ipv4,
            traffic_class: 0,
            control: cmsg_space!(i32, i32, u8),
            received: Received { buffer, left: 0..0, size: 0, from: at, ecn: Ecn::NotEct },
            sending: Sending { bytes: Vec::new(), size: 0, to: at, traffic_class: 0 },
            has_batches: true,
        })
    }

    fn set_traffic_class(&mut self, traffic_class: u8) -> nix::Result<()> {
        if self.traffic_class != traffic_class {
            let value = i32::from(traffic_class);
            if self.is_ipv4 {
                setsockopt(&self.socket, sockopt::Ipv4Tos, &value)?;
            } else {
                setsockopt(&self.socket, sockopt::Ipv6TClass, &value)?;
            }
            self.traffic_class = traffic_class;
        }
        Ok(())
    }
}

impl Socket {
    /// Receives the next datagrams. Returns whether anything has come.
    fn fetch(&mut self) -> io::Result<bool> {
        let Received { buffer, left, size, from, ecn } = &mut self.received;
        let mut parts = [IoSliceMut::new(buffer)];
        let descriptor = self.socket.as_raw_fd();
        let control = Some(&mut self.control[..]);
        let message = match recvmsg::<SockaddrStorage>(descriptor, &mut parts, control, MsgFlags::empty()) {
            Ok(message) => message,
            // ECONNREFUSED is about what was sent, not about what has come.
            Err(Errno::EAGAIN | Errno::ECONNREFUSED) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        (*left, *size, *ecn) = (0..message.bytes, message.bytes, Ecn::NotEct);
        for word in message.cmsgs()? {
            match word {
                ControlMessageOwned::Ipv4Tos(tos) => *ecn = Ecn::from_bits(tos),
                ControlMessageOwned::Ipv6TClass(class) => *ecn = Ecn::from_bits(class as u8),
                ControlMessageOwned::UdpGroSegments(each) => *size = each as usize,
                _ => {}
            }
        }
        match message.address.as_ref().and_then(address) {
            Some(address) => *from = address,
            None => *left = 0..0,
        }
        Ok(true)
    }

    fn send_one_by_one(&self) {
        for datagram in self.sending.bytes.chunks(self.sending.size.max(1)) {
            let _ = self.socket.send_to(datagram, self.sending.to);
        }
    }

    /// Returns false if the kernel cannot send them as one.
    fn send_as_one(&self) -> bool {
        let Sending { bytes, size, to, .. } = &self.sending;
        let parts = [IoSlice::new(bytes)];
        let size = *size as u16;
        let control = [ControlMessage::UdpGsoSegments(&size)];
        let to = SockaddrStorage::from(*to);
        let sent = sendmsg(self.socket.as_raw_fd(), &parts, &control, MsgFlags::empty(), Some(&to));
        !matches!(sent, Err(Errno::EIO | Errno::EINVAL | Errno::EOPNOTSUPP))
    }
}

impl Datagrams for Socket {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr, Ecn)>> {
        if self.received.left.is_empty() && (!self.fetch()? || self.received.left.is_empty()) {
            return Ok(None);
        }
        let Received { buffer: all, left, size, from, ecn } = &mut self.received;
        let next = left.start..left.end.min(left.start + (*size).max(1));
        left.start = next.end;
        // A datagram longer than any valid one may be cut short: it is refused in any case.
        let len = next.len().min(buffer.len());
        buffer[..len].copy_from_slice(&all[next][..len]);
        Ok(Some((len, *from, *ecn)))
    }

    fn send(&mut self, to: SocketAddr, traffic_class: u8, datagram: &[u8]) {
        let Sending { bytes, size, to: before, traffic_class: class } = &self.sending;
        let continues = (*size, *before, *class) == (datagram.len(), to, traffic_class);
        if !continues || bytes.len() >= MOST * size || bytes.len() + size > MOST_BYTES {
            self.flush();
            let size = datagram.len();
            (self.sending.size, self.sending.to, self.sending.traffic_class) = (size, to, traffic_class);
        }
        self.sending.bytes.extend_from_slice(datagram);
    }

    fn flush(&mut self) {
        if self.sending.bytes.is_empty() {
            return;
        }
        let _ = self.set_traffic_class(self.sending.traffic_class);
        let is_one = self.sending.bytes.len() == self.sending.size;
        self.has_batches = self.has_batches && (is_one || self.send_as_one());
        if is_one || !self.has_batches {
            self.send_one_by_one();
        }
        self.sending.bytes.clear();
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::V4((*address).into()));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::V6((*address).into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Datagrams of one length are sent as one, and each arrives as it was sent.
    #[test]
    fn datagrams_come_as_they_were_sent() {
        let any = ([127, 0, 0, 1], 0).into();
        let (mut one, mut other) = (Socket::bind(any).unwrap(), Socket::bind(any).unwrap());
        let to = other.socket.local_addr().unwrap();
        let sent: Vec<Vec<u8>> =
            (0..300u16).map(|n| vec![n as u8; if n % 100 < 90 { 24 } else { 15 }]).collect();
        for datagram in &sent {
            one.send(to, 2, datagram);
        }
        one.flush();
        let mut buffer = [0; 65];
        for datagram in &sent {
            let (len, from, ecn) = other.recv(&mut buffer).unwrap().unwrap();
            assert_eq!((&buffer[..len], ecn), (&datagram[..], Ecn::Ect0));
            assert_eq!(from, one.socket.local_addr().unwrap());
        }
        assert_eq!(other.recv(&mut buffer).unwrap(), None);
        assert!(one.has_batches);
    }
}
