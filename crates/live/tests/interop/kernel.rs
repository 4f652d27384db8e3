//! The kernel's end: ordinary sockets in a thread that inherits the namespace of the one that starts it.

use crate::transfer::{BYTES, Hash, Pattern};
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Returns the hash of what the kernel received.
pub type Peer = JoinHandle<Hash>;

/// Takes one connection to `address`; receives to the end, then sends the pattern of `seed`. Pauses once before it reads
/// and once in the middle.
pub fn accept(address: SocketAddr, seed: u64, pause: Duration) -> Peer {
    let listener = TcpListener::bind(address).expect("the namespace is empty");
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let hash = receive(&mut socket, pause);
        send(&mut socket, seed);
        hash
    })
}

/// Connects to `address`; sends the pattern of `seed`, then receives to the end. Pauses as [`accept`] does.
pub fn connect(address: SocketAddr, seed: u64, pause: Duration) -> Peer {
    thread::spawn(move || {
        let mut socket = TcpStream::connect(address).unwrap();
        send(&mut socket, seed);
        receive(&mut socket, pause)
    })
}

/// Waits until a socket can be bound to the address: IPv6's are tentative for a moment (RFC 4862 §5.4).
#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
pub fn await_address(address: IpAddr) {
    for _ in 0..1000 {
        if TcpListener::bind((address, 0)).is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("{address} cannot be bound to");
}

#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
fn receive(socket: &mut TcpStream, pause: Duration) -> Hash {
    let (mut hash, mut buffer) = (Hash::new(), vec![0; 1 << 16]);
    let mut pauses = [0, BYTES / 2].into_iter().peekable();
    loop {
        if pauses.next_if(|&at| hash.len >= at).is_some() {
            thread::sleep(pause);
        }
        match socket.read(&mut buffer).unwrap() {
            0 => return hash,
            len => hash.update(&buffer[..len]),
        }
    }
}

fn send(socket: &mut TcpStream, seed: u64) {
    let (mut pattern, mut buffer) = (Pattern::new(seed), vec![0; 1 << 16]);
    loop {
        match pattern.fill(&mut buffer) {
            0 => return socket.shutdown(Shutdown::Write).unwrap(),
            len => socket.write_all(&buffer[..len]).unwrap(),
        }
    }
}

/// Switches TCP options of all sockets of this thread's namespace.
pub fn switch_options(sack: bool, timestamps: bool, window_scaling: bool) {
    for (name, is_on) in [("sack", sack), ("timestamps", timestamps), ("window_scaling", window_scaling)] {
        let path = format!("/proc/sys/net/ipv4/tcp_{name}");
        std::fs::write(&path, if is_on { "1" } else { "0" }).expect(&path);
    }
}

/// Lets the kernel's window close while nobody reads.
pub fn shrink_receive_buffers() {
    std::fs::write("/proc/sys/net/ipv4/tcp_rmem", "4096 32768 65536").expect("tcp_rmem");
}

/// The path takes microseconds: the kernel's floor of 200 ms would be all that the test waits for. Kernels before 6.11
/// cannot, and take longer.
pub fn shorten_rto() {
    let _ = std::fs::write("/proc/sys/net/ipv4/tcp_rto_min_us", "10000");
}
