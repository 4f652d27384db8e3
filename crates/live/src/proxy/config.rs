//! What a proxy is to do.

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
    /// The wireless side is our own machine's with this configuration, and not the kernel's. One with a fixed destination has none.
    pub own: Option<Box<TcpConfig>>,
    pub limits: Limits,
}

/// How connections come to the proxy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entrance {
    /// What comes in by the interface `wireless`, or is routed out of it, is taken on its way: both ends go on to see each
    /// other's addresses. Only what is for one of `ports`, unless there are none.
    Transparent { wireless: String, ports: Vec<u16> },
    /// Connections that this host's programs open are redirected to the proxy's listeners: clients are the wired side.
    Redirected,
    /// Whoever connects to `listen` is joined with `to`. `clients` are the side on which they are.
    Fixed { listen: SocketAddr, to: SocketAddr, clients: Side },
}

/// The two connections that take the place of one.
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
    /// By its name in the kernel; none for the kernel's default.
    pub congestion_control: Option<String>,
    /// Of a socket, each way, instead of what the kernel finds.
    pub buffer: Option<Bytes>,
    /// How long a connection may be silent until its other end is asked whether it is there; none for the kernel's default.
    pub keepalive: Option<Dur>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// All buffers, the kernel's included.
    pub memory: Bytes,
    /// Connections at once, each with both its sides.
    pub connections: usize,
    /// Of these, such whose other end has not answered yet.
    pub connecting: usize,
    /// How long that may take, and how long connections of our own wait for their circuit.
    pub connect_timeout: Dur,
    /// How long connections may go on once the proxy is told to end.
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
