//! Configuration of a proxy.

use airtcp_proto::tcp::TcpConfig;
use airtcp_wire::Dur;
use airtcp_wire::human::Bytes;
use std::fmt;
use std::net::SocketAddr;

/// A split connection (paper 003 §IV): who connects to whom, and how each side is served.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    pub entrance: Entrance,
    pub wireless: Tuning,
    pub wired: Tuning,
    /// If present, our own machine serves the wireless side with this configuration, instead of the kernel. Not for a
    /// fixed destination.
    pub own: Option<Box<TcpConfig>>,
    /// Connections of our own machine open fast (RFC 7413).
    pub fast_open: bool,
    pub limits: Limits,
}

/// How connections come to the proxy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entrance {
    /// Connections that come in by the interface `wireless`, or are routed out of it, are taken on their way. Both
    /// ends go on to see each other's addresses. Only connections to one of `ports`, unless that is empty.
    Transparent { wireless: String, ports: Vec<u16> },
    /// Connections of this host's programs are redirected to the proxy's listeners. Clients are the wired side.
    Redirected,
    /// Connections to `listen` are continued to `to`. `clients` is the side of the clients.
    Fixed { listen: SocketAddr, to: SocketAddr, clients: Side },
}

/// One of the two connections that replace one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Wireless,
    Wired,
}

impl Side {
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Wireless => Side::Wired,
            Side::Wired => Side::Wireless,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Wireless => "wireless",
            Side::Wired => "wired",
        })
    }
}

/// How the connections of a side are served.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tuning {
    /// Its name in the kernel; `None` for the kernel's default.
    pub congestion_control: Option<String>,
    /// Size of each of a connection's two buffers; `None` if they follow the path.
    pub buffer: Option<Bytes>,
    /// Silence after which the other end is probed; `None` for the kernel's default.
    pub keepalive: Option<Dur>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// For all buffers, including the kernel's.
    pub memory: Bytes,
    /// Concurrent connections, each with both its sides.
    pub connections: usize,
    /// Those of them whose other end has not answered yet.
    pub connecting: usize,
    /// How long an answer may take, and how long connections of our own wait for their circuit.
    pub connect_timeout: Dur,
    /// How long connections may go on after the proxy is told to stop.
    pub drain: Dur,
}

impl fmt::Display for Entrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entrance::Transparent { wireless, ports } if ports.is_empty() => {
                write!(f, "transparent at {wireless}")
            }
            Entrance::Transparent { wireless, ports } => {
                write!(f, "transparent at {wireless}, for the ports {ports:?}")
            }
            Entrance::Redirected => f.write_str("for programs of this host"),
            Entrance::Fixed { listen, to, clients } => {
                write!(f, "from {listen} ({clients}) to {to} ({})", clients.other())
            }
        }
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.congestion_control.as_deref().unwrap_or("the kernel's congestion control"))?;
        self.buffer.map_or(Ok(()), |buffer| write!(f, ", buffers of {buffer}"))?;
        self.keepalive.map_or(Ok(()), |silence| write!(f, ", keepalive after {silence}"))
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: Bytes(1 << 30),
            connections: 10_000,
            connecting: 1_000,
            connect_timeout: Dur::from_secs(30),
            drain: Dur::from_secs(30),
        }
    }
}

impl Config {
    #[must_use]
    pub fn tuning(&self, side: Side) -> &Tuning {
        match side {
            Side::Wireless => &self.wireless,
            Side::Wired => &self.wired,
        }
    }

    #[must_use]
    pub fn is_transparent(&self) -> bool {
        matches!(self.entrance, Entrance::Transparent { .. })
    }
}
