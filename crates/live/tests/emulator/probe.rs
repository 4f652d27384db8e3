//! Numbered datagrams from one network namespace to another, and what became of them.

use airtcp_live::namespace::Namespace;
use nix::sys::socket::sockopt::{IpRecvTos, Ipv4Tos, RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const ECT0: i32 = 2;

/// So many datagrams, each in an IP packet of `bytes` bytes.
#[derive(Clone, Copy)]
pub struct Stream {
    pub packets: u32,
    pub bytes: usize,
    pub interval: Duration,
}

/// One that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub number: u32,
    /// Since 1970: when it was sent, and when the receiving kernel had it.
    pub sent: Duration,
    pub received: Duration,
    /// The ECN field.
    pub ecn: u8,
}

impl Arrival {
    pub fn delay_ms(&self) -> f64 {
        (self.received.as_secs_f64() - self.sent.as_secs_f64()) * 1e3
    }
}

impl Stream {
    /// Sends from one namespace to `to` in the other one, ECN-capable; returns what has arrived, in order of arrival, until
    /// nothing has for as long as `patience` after the last was sent.
    pub fn run(&self, from: &Namespace, to: (&Namespace, SocketAddr), patience: Duration) -> Vec<Arrival> {
        let (there, address) = to;
        let (is_bound, is_sent) = (Barrier::new(2), AtomicBool::new(false));
        thread::scope(|scope| {
            let receive = || there.run(|| self.receive(address, patience, &is_bound, &is_sent)).unwrap();
            let receiver = scope.spawn(receive);
            is_bound.wait();
            from.run(|| self.send(address)).unwrap();
            is_sent.store(true, Ordering::Relaxed);
            receiver.join().unwrap()
        })
    }

    fn send(&self, to: SocketAddr) {
        let socket = UdpSocket::bind(if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }).unwrap();
        if to.is_ipv4() {
            setsockopt(&socket, Ipv4Tos, &ECT0).unwrap();
        }
        let headers = if to.is_ipv4() { 28 } else { 48 };
        let mut payload = vec![0; self.bytes - headers];
        let begin = Instant::now();
        for number in 0..self.packets {
            let due = self.interval * number;
            if let Some(ahead) = due.checked_sub(begin.elapsed()) {
                thread::sleep(ahead);
            }
            payload[..4].copy_from_slice(&number.to_be_bytes());
            payload[4..12].copy_from_slice(&(since_1970().as_nanos() as u64).to_be_bytes());
            let _ = socket.send_to(&payload, to);
        }
    }

    fn receive(
        &self,
        at: SocketAddr,
        patience: Duration,
        is_bound: &Barrier,
        is_sent: &AtomicBool,
    ) -> Vec<Arrival> {
        let socket = UdpSocket::bind(at).unwrap();
        setsockopt(&socket, RcvBufForce, &(16 << 20)).unwrap();
        setsockopt(&socket, ReceiveTimestampns, &true).unwrap();
        if at.is_ipv4() {
            setsockopt(&socket, IpRecvTos, &true).unwrap();
        }
        socket.set_read_timeout(Some(patience)).unwrap();
        is_bound.wait();
        let mut arrivals = Vec::new();
        while arrivals.len() < self.packets as usize {
            let was_sent = is_sent.load(Ordering::Relaxed);
            match receive_one(&socket) {
                Some(arrival) => arrivals.push(arrival),
                None if was_sent => break,
                None => {}
            }
        }
        arrivals
    }
}

fn receive_one(socket: &UdpSocket) -> Option<Arrival> {
    let mut payload = [0; 2048];
    let mut parts = [IoSliceMut::new(&mut payload)];
    let mut control = nix::cmsg_space!(TimeSpec, i32);
    let message =
        recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty()).ok()?;
    let (mut received, mut ecn) = (Duration::ZERO, 0);
    for message in message.cmsgs().unwrap() {
        match message {
            ControlMessageOwned::ScmTimestampns(at) => received = at.into(),
            ControlMessageOwned::Ipv4Tos(tos) => ecn = tos & 3,
            _ => {}
        }
    }
    let number = u32::from_be_bytes(payload[..4].try_into().unwrap());
    let sent = Duration::from_nanos(u64::from_be_bytes(payload[4..12].try_into().unwrap()));
    Some(Arrival { number, sent, received, ecn })
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}
