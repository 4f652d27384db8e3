//! TCP_INFO: what the kernel reports of a connection.

use super::socket_options::TCP_INFO;
use airtcp_wire::Dur;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::AsFd;

/// Length of `struct tcp_info` with `tcpi_total_rto`, which came with Linux 6.7.
const LENGTH: usize = 248;
/// Length that it must have: `tcpi_bytes_acked` came with Linux 4.1.
const NEEDED_BYTES: usize = 128;

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

/// Counts the expiries of a connection's timer by those in a row, for kernels that have no other count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expiries {
    total: u16,
    in_a_row: u8,
    /// `tcpi_bytes_acked`: when it grows, a row is over.
    acked: u64,
}

impl Expiries {
    /// Returns the count, which is right if each expiry is seen before anything new is acknowledged: when the path
    /// gets the packet that is sent again.
    fn seen(&mut self, in_a_row: u8, acked: u64) -> u16 {
        let known = if acked == self.acked { self.in_a_row } else { 0 };
        let total = self.total + u16::from(in_a_row.saturating_sub(known));
        *self = Expiries { total, in_a_row, acked };
        total
    }
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
    /// The connection's `expiries` are counted where the kernel counts no timeouts.
    ///
    /// # Errors
    /// The kernel's, or it is older than Linux 4.1.
    pub fn of(socket: impl AsFd, expiries: &mut Expiries) -> io::Result<TcpInfo> {
        let mut bytes = [0; LENGTH];
        let length = TCP_INFO.get(socket, &mut bytes)?;
        if length < NEEDED_BYTES {
            let text = "this kernel's TCP_INFO does not tell what is acknowledged; Linux 4.1 or later does";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let info = TcpInfo::read(&bytes);
        let counted = expiries.seen(info.expiries, acked(&bytes));
        Ok(TcpInfo { timeouts: if length == LENGTH { info.timeouts } else { counted }, ..info })
    }

    /// Returns whether this kernel counts timeouts.
    ///
    /// # Errors
    /// As [`TcpInfo::of`].
    pub fn counts_timeouts() -> io::Result<bool> {
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        TcpInfo::of(&socket, &mut Expiries::default())?;
        Ok(TCP_INFO.get(&socket, &mut [0; LENGTH])? == LENGTH)
    }

    fn read(bytes: &[u8; LENGTH]) -> TcpInfo {
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

fn acked(bytes: &[u8; LENGTH]) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[120..128]);
    u64::from_ne_bytes(field)
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
        let info = TcpInfo::of(&sender, &mut Expiries::default()).unwrap();
        assert_eq!((info.state, info.timeouts, info.lost), (RecoveryState::Open, 0, 0));
        assert!(info.cwnd >= 2 && info.mss > 500 && info.rto >= Dur::from_millis(20), "{info:?}");
        assert!(info.srtt > Dur::ZERO && info.srtt < Dur::from_secs(1), "{info:?}");
    }

    #[test]
    fn expiries_in_a_row_are_counted_once_and_anew_after_an_ack() {
        let mut expiries = Expiries::default();
        let counts = [(1, 0), (1, 0), (3, 0), (0, 100), (1, 100), (1, 300), (1, 300), (0, 500)]
            .map(|(in_a_row, acked)| expiries.seen(in_a_row, acked));
        assert_eq!(counts, [1, 1, 3, 3, 4, 5, 5, 5]);
    }
}
