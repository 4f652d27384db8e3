//! The limit of a socket's send buffer.
//!
//! Linux compares what is queued with the buffer only when it begins a packet, and it fills up the last unsent one without asking. The
//! device of a host keeps a packet until it is on the wire, so that the last unsent packet soon is full. The devices of a
//! run hand packets on at once: an application that writes as fast as it can always finds room in the last one, until
//! cwnd holds it back. CUBIC was seen to queue 4.9 MB with a buffer of 400 kB. So the application asks before each write.

use super::socket_options::SO_MEMINFO;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd;

/// Indices into the answer of `SO_MEMINFO`.
const SK_MEMINFO_SNDBUF: usize = 3;
const SK_MEMINFO_WMEM_QUEUED: usize = 5;

/// Returns whether the send buffer has room. If not, the socket becomes writable later, as after `EAGAIN`.
pub fn has_room(socket: impl AsFd) -> bool {
    let mut words = [[0; 4]; SK_MEMINFO_WMEM_QUEUED + 1];
    if SO_MEMINFO.get(&socket, words.as_flattened_mut()).is_err() {
        // Writing to it tells why.
        return true;
    }
    let word = |index: usize| u32::from_ne_bytes(words[index]);
    if word(SK_MEMINFO_WMEM_QUEUED) < word(SK_MEMINFO_SNDBUF) {
        return true;
    }
    // It makes the socket report when there is room, and finds the room that has been made since.
    let mut asked = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
    poll(&mut asked, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_full_socket_has_no_room_until_the_peer_reads() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.set_nonblocking(true).unwrap();
        assert!(has_room(&sender));
        let mut written = 0;
        let full = loop {
            match sender.write(&[0; 64 << 10]) {
                Ok(some) => written += some,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        assert!(!has_room(&sender));
        receiver.read_exact(&mut vec![0; written]).unwrap();
        let mut writable = [PollFd::new(sender.as_fd(), PollFlags::POLLOUT)];
        assert_eq!(poll(&mut writable, PollTimeout::NONE), Ok(1));
        assert!(has_room(&sender));
    }
}
