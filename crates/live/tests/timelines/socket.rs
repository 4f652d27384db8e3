//! The application: one socket, whose calls never block.

use crate::host::Host;
use airtcp_live::trial::tcp_info::{Expiries, TcpInfo};
use airtcp_timeline::{Call, Quantity, Setup};
use airtcp_wire::Dur;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockProtocol, SockType, SockaddrIn, accept4, bind,
    connect, listen, recv, send, setsockopt, shutdown, socket, sockopt,
};
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

pub struct Socket {
    listener: Option<OwnedFd>,
    connection: Option<OwnedFd>,
    setup: Setup,
}

impl Socket {
    pub fn new(setup: &Setup) -> Socket {
        Socket { listener: None, connection: None, setup: setup.clone() }
    }

    pub fn call(&mut self, call: Call) -> io::Result<()> {
        match call {
            Call::Connect => self.connection = Some(self.connect()?),
            Call::Listen => self.listener = Some(self.listen()?),
            Call::Accept => self.connection = Some(self.accept()?),
            Call::Write(bytes) => self.write(bytes as usize)?,
            Call::Read(bytes) => self.read(bytes as usize)?,
            Call::Shutdown => shutdown(self.connection()?.as_raw_fd(), Shutdown::Write)?,
            Call::Close => self.connection = None,
            Call::Abort => self.abort()?,
        }
        Ok(())
    }

    fn open(&self) -> io::Result<OwnedFd> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Inet, SockType::Stream, flags, SockProtocol::Tcp)?;
        setsockopt(&socket, sockopt::ReuseAddr, &true)?;
        // A namespace's default may be none that is restricted, as CUBIC is where it is not the host's.
        setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(&self.setup.congestion_control))?;
        setsockopt(&socket, sockopt::TcpNoDelay, &!self.setup.nagle)?;
        if let Some(bytes) = self.setup.receive_window {
            setsockopt(&socket, sockopt::RcvBuf, &(bytes as usize))?;
        }
        bind(socket.as_raw_fd(), &address(Host::LOCAL))?;
        Ok(socket)
    }

    fn connect(&self) -> io::Result<OwnedFd> {
        let socket = self.open()?;
        match connect(socket.as_raw_fd(), &address(Host::PEER)) {
            Ok(()) | Err(Errno::EINPROGRESS) => Ok(socket),
            Err(error) => Err(error.into()),
        }
    }

    fn listen(&self) -> io::Result<OwnedFd> {
        let socket = self.open()?;
        listen(&socket, Backlog::new(8)?)?;
        Ok(socket)
    }

    #[allow(unsafe_code, reason = "accept4 answers a bare number, of which there is no other owner")]
    fn accept(&self) -> io::Result<OwnedFd> {
        let listener = self.listener.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let accepted = accept4(listener.as_raw_fd(), SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC)?;
        Ok(unsafe { OwnedFd::from_raw_fd(accepted) })
    }

    fn connection(&self) -> io::Result<&OwnedFd> {
        self.connection.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn write(&self, bytes: usize) -> io::Result<()> {
        let taken = send(self.connection()?.as_raw_fd(), &vec![0; bytes], MsgFlags::MSG_NOSIGNAL)?;
        if taken == bytes { Ok(()) } else { Err(io::Error::other(format!("{taken} bytes were taken"))) }
    }

    fn read(&self, bytes: usize) -> io::Result<()> {
        let found = recv(self.connection()?.as_raw_fd(), &mut vec![0; bytes], MsgFlags::empty())?;
        if found == bytes { Ok(()) } else { Err(io::Error::other(format!("{found} bytes were there"))) }
    }

    /// Closed with a reset, as SO_LINGER of no time asks for.
    fn abort(&mut self) -> io::Result<()> {
        let now = libc::linger { l_onoff: 1, l_linger: 0 };
        setsockopt(self.connection()?, sockopt::Linger, &now)?;
        self.connection = None;
        Ok(())
    }

    pub fn observe(&self, quantity: Quantity) -> io::Result<String> {
        let connection = self.connection()?;
        let info = TcpInfo::of(connection, &mut Expiries::default())?;
        let ms = |dur: Dur| format!("{:.1}", dur.as_secs_f64() * 1e3);
        Ok(match quantity {
            Quantity::Cwnd => info.cwnd.to_string(),
            Quantity::Ssthresh => info.ssthresh.map_or("none".to_owned(), |segments| segments.to_string()),
            Quantity::Srtt => ms(info.srtt),
            Quantity::Rto => ms(info.rto),
            Quantity::State => state(info.connection).to_owned(),
            Quantity::Readable => readable(connection)?.to_string(),
        })
    }
}

nix::ioctl_read_bad!(bytes_to_read, libc::FIONREAD, libc::c_int);

/// Asked without reading: the kernel takes a look at the data for a read, and acknowledges.
#[allow(unsafe_code, reason = "the kernel writes the number and no more")]
fn readable(connection: &OwnedFd) -> io::Result<i32> {
    let mut bytes = 0;
    unsafe { bytes_to_read(connection.as_raw_fd(), &raw mut bytes) }?;
    Ok(bytes)
}

fn address(address: SocketAddr) -> SockaddrIn {
    match address {
        SocketAddr::V4(address) => address.into(),
        SocketAddr::V6(_) => unreachable!("the hosts' addresses are IPv4's"),
    }
}

/// The numbers of the kernel's netinet/tcp.h.
fn state(number: u8) -> &'static str {
    const NAMES: [&str; 13] = [
        "none",
        "established",
        "syn-sent",
        "syn-received",
        "fin-wait-1",
        "fin-wait-2",
        "time-wait",
        "closed",
        "close-wait",
        "last-ack",
        "listen",
        "closing",
        "syn-received",
    ];
    NAMES.get(usize::from(number)).unwrap_or(&"unknown")
}
