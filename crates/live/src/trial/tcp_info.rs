//! TCP_INFO: what the kernel reports of a connection.

use super::socket_options::TCP_INFO;
use airtcp_wire::Dur;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::AsFd;

/// Length that `struct tcp_info` must have: `tcpi_total_rto` came with Linux 6.7.
const NEEDED_BYTES: usize = 248;

/// A sender's values, as far as records need them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpInfo {
    /// `tcpi_state`: the connection's state, by its number in the kernel's netinet/tcp.h.
    pub connection: u8,
    pub state: RecoveryState,
    /// Consecutive expiries of the retransmission timer.
    pub expiries: u8,
    pub rto: Dur,
    pub srtt: Dur,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// In segments: not acknowledged cumulatively, and of these SACKed, lost and resent.
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub resent: u32,
    pub cwnd: u32,
    /// In segments; `None` before it was first set.
    pub ssthresh: Option<u32>,
    /// Expiries of the retransmission timer since the connection began.
    pub timeouts: u16,
}

/// `tcpi_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryState {
    /// Nothing was lost: Open, Disorder or CWR.
    Open,
    Recovery,
    Loss,
}

impl TcpInfo {
    /// # Errors
    /// The kernel's, or it is older than Linux 6.7.
    pub fn of(socket: impl AsFd) -> io::Result<TcpInfo> {
        let mut bytes = [0; NEEDED_BYTES];
        match TCP_INFO.get(socket, &mut bytes)? {
            NEEDED_BYTES => Ok(TcpInfo::read(&bytes)),
            _ => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this kernel's TCP_INFO does not count timeouts; Linux 6.7 or later does",
            )),
        }
    }

    /// Checks that this kernel's TCP_INFO has all that is needed.
    ///
    /// # Errors
    /// As [`TcpInfo::of`].
    pub fn check() -> io::Result<()> {
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        TcpInfo::of(&socket).map(drop)
    }

    fn read(bytes: &[u8; NEEDED_BYTES]) -> TcpInfo {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let micros = |at| Dur::from_micros(u64::from(word(at)));
        /// TCP_INFINITE_SSTHRESH.
        const INFINITE: u32 = 0x7fff_ffff;
        TcpInfo {
            connection: bytes[0],
            state: match bytes[1] {
                3 => RecoveryState::Recovery,
                4 => RecoveryState::Loss,
                _ => RecoveryState::Open,
            },
            expiries: bytes[2],
            rto: micros(8),
            mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            resent: word(36),
            srtt: micros(68),
            ssthresh: Some(word(76)).filter(|&segments| segments < INFINITE),
            cwnd: word(80),
            timeouts: u16::from_ne_bytes([bytes[240], bytes[241]]),
        }
    }

    /// Segments on the path, as the kernel estimates them.
    pub fn in_flight(&self) -> u32 {
        (self.unacked + self.resent).saturating_sub(self.sacked + self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_over_loopback_tells_of_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut receiver = listener.accept().unwrap().0;
        sender.write_all(&[0; 1000]).unwrap();
        receiver.read_exact(&mut [0; 1000]).unwrap();
        let info = match TcpInfo::of(&sender) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return eprintln!("skipped: {error}"),
            found => found.unwrap(),
        };
        assert_eq!((info.state, info.timeouts, info.lost), (RecoveryState::Open, 0, 0));
        assert!(info.cwnd >= 2 && info.mss > 500 && info.rto >= Dur::from_millis(20), "{info:?}");
        assert!(info.srtt > Dur::ZERO && info.srtt < Dur::from_secs(1), "{info:?}");
    }
}
