//! Directs the ACKs of handshakes that a listener has completed with SYN cookies (RFC 4987 §3.6) to this listener.
//!
//! While SYNs flood a listener, the kernel answers with cookies and keeps nothing, so that the ACK which answers one
//! matches no socket by its addresses. Only the kernel can tell it from an ACK of a connection that runs elsewhere:
//! `bpf/cookies.bpf.c` asks it.

use crate::filter::{FilterError, attach_tcx, link_len};
use crate::loading::listening;
use crate::skeleton::cookies::{CookiesSkel, CookiesSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, OpenObject, ProgramAttachType};
use nix::net::if_::if_nametoindex;
use std::mem::MaybeUninit;
use std::net::SocketAddr;

/// A program on an interface, which goes with this value or with its process.
pub struct Directed(#[allow(dead_code, reason = "held")] Link);

/// Directs ACKs that come in by `interface` of this thread's network namespace to `listeners` at loopback, at most one for
/// each address family. They must be transparent, and rules must deliver here what belongs to their sockets.
///
/// # Errors
/// The interface is none, or the kernel has no tcx (Linux 6.6), or it or missing rights prevent it.
pub fn direct(interface: &str, listeners: &[SocketAddr]) -> Result<Directed, FilterError> {
    let index = if_nametoindex(interface).map_err(|_| FilterError::NoInterface(interface.to_owned()))?;
    let link_len = link_len(interface, index)?;
    let mut object = MaybeUninit::uninit();
    let skeleton = listening(|| load(&mut object, link_len, listeners))?;
    Ok(Directed(attach_tcx(&skeleton.progs.cookies, index)?))
}

fn load<'a>(
    object: &'a mut MaybeUninit<OpenObject>,
    link_len: u32,
    listeners: &[SocketAddr],
) -> libbpf_rs::Result<CookiesSkel<'a>> {
    let mut skeleton = CookiesSkelBuilder::default().open(object)?;
    if let Some(constants) = skeleton.maps.rodata_data.as_deref_mut() {
        constants.link_len = link_len;
        let port = |is_ipv4| {
            let of_family = listeners.iter().find(|listener| listener.is_ipv4() == is_ipv4);
            of_family.map_or(0, |listener| listener.port().to_be())
        };
        (constants.port_v4, constants.port_v6) = (port(true), port(false));
    }
    skeleton.progs.cookies.set_attach_type(ProgramAttachType::TcxIngress);
    skeleton.load()
}
