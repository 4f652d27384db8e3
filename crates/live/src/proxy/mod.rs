//! A split connection (paper 003 §IV): a proxy at the base station ends TCP, and opens a connection of its own to
//! each side. The wired side never sees what the wireless link does to packets.
//!
//! [`Listener`]s accept connections, and [`Rules`] bring them those to other hosts. [`serve`] makes a [`Relay`] of
//! each: two sockets, and a [`Way`] in each direction, in which the kernel moves the data (splice). A way moves
//! nothing while its receiver takes nothing, so that the sender's window closes. It passes on a FIN, and the other
//! direction goes on. If one connection is lost, or bytes of it, the other end gets a RST.
//!
//! `serve.rs` is one thread with one epoll. A `Relay` is two `End`s and a `Way` in each direction; between two
//! kernel sockets a `Way` splices through a pipe that exists only while it holds data. `Rules` redirect others'
//! connections to the proxy (TPROXY), with the ICMP errors about its packets: an nft table that ends with its
//! process, and a recorded policy route. What a `Way` has given is compared with what its sender's side has
//! received before it passes on a FIN. `own/` is the wireless side on our own stack: `Steer` routes packets to
//! a TUN device with a stack on it. `service.rs` makes it a daemon. `cookies.rs` and
//! `kernel/src/bpf/cookies.bpf.c` lead the ACKs that answer the kernel's SYN cookies to the proxy's listeners.
//!
//! [`Rules`]: rules::Rules
//! [`Relay`]: relay::Relay
//! [`Way`]: way::Way

mod budget;
mod config;
mod connecting;
mod cookies;
mod counters;
mod end;
mod listeners;
mod options;
mod own;
mod pipe;
mod relay;
mod rights;
mod rules;
mod serve;
mod service;
mod token;
mod tools;
mod watch;
mod way;

pub use crate::daemon::{Stop, Stopper, Urgency};
pub use config::{Config, Entrance, Limits, Side, Tuning};
pub use counters::{Counter, Counters};
pub use listeners::{Destination, Listener};
pub use own::Outgoing;
pub use rights::allow_files;
pub(crate) use rights::kept as kept_rights;
pub use rules::{MARK, Rules, WIRELESS_MARK};
pub use serve::serve;
pub use service::Service;
pub use watch::Watch;

use crate::circuit::SendingCounters;
use crate::namespace::LinkWatch;
use crate::stack::{HALF_OPEN_BYTES, Room, Secret, Settings, random};
use crate::tun::OffloadTun;
use airtcp_wire::Dur;
use cookies::Cookies;
use own::{Exit, Stack, Steer};
use std::io;
use std::sync::Arc;

/// A proxy that is set up, but serves nobody yet.
pub struct Proxy {
    pub doors: Doors,
    pub rules: Option<Interception>,
}

/// Where connections come in.
pub struct Doors {
    pub listeners: Vec<Listener>,
    /// Observer of our own machine.
    pub watch: Option<Box<dyn Watch>>,
    /// While this circuit is not open, new connections use the kernel's TCP.
    pub circuit: Option<Arc<SendingCounters>>,
    device: Option<Device>,
}

impl Doors {
    /// Doors for redirected connections, which our own stack continues on a device of its own, behind which is `link`.
    #[must_use]
    pub fn redirected(listeners: Vec<Listener>, tun: OffloadTun, link: LinkWatch) -> Doors {
        let device = Device { exit: Exit::new(tun).of_host(), link, ports: vec![] };
        Doors { listeners, watch: None, circuit: None, device: Some(device) }
    }

    /// From now on, packets of our own stack to this port, or to any port, leave through the returned device, for a
    /// circuit's gateway.
    ///
    /// # Errors
    /// The kernel's.
    pub fn through_circuit(&mut self, port: Option<u16>) -> io::Result<Outgoing> {
        let device = self.device.as_mut().ok_or(io::ErrorKind::InvalidInput)?;
        device.exit.through_circuit(port)
    }
}

/// What brings packets to a transparent proxy. Undone when this value is dropped.
pub struct Interception {
    rules: Rules,
    _cookies: Cookies,
    _steer: Option<Steer>,
}

impl Interception {
    /// Lets new connections pass from now on. Those that have been taken stay.
    pub fn take_no_more(&mut self) {
        self.rules.take_no_more();
    }
}

/// The device of our own stack.
struct Device {
    exit: Exit,
    /// Which the packets take behind the device.
    link: LinkWatch,
    ports: Vec<u16>,
}

impl Device {
    fn stack(self, config: &Config) -> io::Result<(Stack, LinkWatch)> {
        let own = config.own.as_ref().ok_or(io::ErrorKind::InvalidInput)?;
        let half_open = (config.limits.memory.0 / HALF_OPEN_SHARE) as usize / HALF_OPEN_BYTES;
        let settings = Settings {
            config: own.as_ref().clone(),
            room: config.wireless.buffer.map_or_else(Room::default, |bytes| Room::fixed(bytes.0 as usize)),
            mtu: self.link.mtu().into(),
            ports: self.ports,
            half_open: config.limits.connecting.min(half_open),
            keepalive: Some(config.wireless.keepalive.unwrap_or(OWN_KEEPALIVE)),
            fast_open: config.fast_open,
        };
        let seed = u64::from_ne_bytes(random()?);
        Ok((Stack::new(self.exit, settings, Secret::random()?, seed), self.link))
    }
}

/// Inverse of the share of all memory that handshakes may take which others have begun.
const HALF_OPEN_SHARE: u64 = 8;

/// Linux's default (tcp_keepalive_time).
const OWN_KEEPALIVE: Dur = Dur::from_secs(7200);

impl Proxy {
    /// Sets a proxy up in the network namespace of the calling thread. It needs the rights of root (CAP_NET_ADMIN).
    ///
    /// # Errors
    /// The kernel's, with what failed. Nothing is left behind.
    pub fn set_up(config: &Config) -> io::Result<Proxy> {
        options::check(config)?;
        let mut listeners = Listener::open(config)?;
        let Entrance::Transparent { wireless, ports } = &config.entrance else {
            return Ok(Proxy {
                doors: Doors { listeners, watch: None, circuit: None, device: None },
                rules: None,
            });
        };
        let (steer, device) = match config.own {
            Some(_) => {
                // Clients behind the wireless link come to our own stack.
                listeners.retain(|listener| listener.clients == Side::Wired);
                let (steer, tun, link) = Steer::install(wireless)?;
                (Some(steer), Some(Device { exit: Exit::new(tun), link, ports: ports.clone() }))
            }
            None => (None, None),
        };
        let rules = Rules::install(wireless, ports, &listeners)?;
        let cookies = Cookies::install(wireless, &listeners)?;
        let doors = Doors { listeners, watch: None, circuit: None, device };
        Ok(Proxy { doors, rules: Some(Interception { rules, _cookies: cookies, _steer: steer }) })
    }
}
