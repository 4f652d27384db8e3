//! Lets handshakes of a transparent proxy end well while SYNs flood it.
//!
//! A listener whose queue of handshakes is full answers with SYN cookies (RFC 4987 §3.6). No socket has the addresses of the
//! ACK that comes back, so that the rules would let it pass to the server, which resets a connection that it does not know.

use super::listeners::Listener;
use super::{Side, own};
use crate::namespace::leftovers::RecordedChange;
use crate::namespace::sysctl;
use airtcp_kernel::cookies::{Directed, direct};
use airtcp_kernel::filter::FilterError;
use nix::net::if_::if_nameindex;
use std::io;
use std::net::SocketAddr;

const SYSCTL: &str = "net.ipv4.tcp_syncookies";

/// Undone when this value is dropped.
pub struct Cookies {
    _directed: Vec<Directed>,
    _sent: Option<RecordedChange>,
}

impl Cookies {
    /// Directs the ACKs that answer the listeners' cookies to them, in the network namespace of the calling thread. Clients
    /// of the wired side come in by any interface but `wireless` that there is now. A kernel that cannot do this serves
    /// without it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn install(wireless: &str, listeners: &[Listener]) -> io::Result<Cookies> {
        let are_off = sysctl::get(SYSCTL)? == "0";
        let sent = if are_off { RecordedChange::of_sysctl(SYSCTL, "1")? } else { None };
        let mut directed = Vec::new();
        for interface in interfaces()? {
            let clients = if interface == wireless { Side::Wireless } else { Side::Wired };
            let theirs: Vec<SocketAddr> =
                listeners.iter().filter(|it| it.clients == clients).map(|it| it.address).collect();
            match direct(&interface, &theirs) {
                Ok(one) => directed.push(one),
                // A tunnel, in which there are no packets of clients.
                Err(FilterError::Unsupported(_)) => {}
                Err(error) => {
                    tracing::warn!("while SYNs flood the proxy, new connections will fail: {error}");
                    break;
                }
            }
        }
        Ok(Cookies { _directed: directed, _sent: sent })
    }
}

/// Interfaces by which clients may come in.
fn interfaces() -> io::Result<Vec<String>> {
    let all = if_nameindex()?;
    let names = all.iter().filter_map(|interface| interface.name().to_str().ok());
    Ok(names.filter(|name| *name != "lo" && !name.starts_with(own::DEVICES)).map(str::to_owned).collect())
}
