//! Attaches the programs to an interface.

use super::hooks::{Hold, Hooks};
use super::maps;
use super::programs::{ETHERNET_LEN, Programs, handle};
use super::{FilterError, Parameters, Totals};
use crate::netlink::Netlink;
use libbpf_rs::MapHandle;
use netlink_packet_route::link::LinkLayerType;
use nix::net::if_::if_nametoindex;
use std::mem::MaybeUninit;

/// Programs on an interface. Dropping this detaches them.
pub struct Attached {
    pub(super) hold: Hold,
    pub(super) flows: MapHandle,
    pub(super) parameters: MapHandle,
    pub(super) totals: MapHandle,
}

impl Attached {
    /// The kernel's name for the hooks that it has taken.
    #[must_use]
    pub fn hooks(&self) -> &'static str {
        match self.hold {
            Hold::Tcx(_) => "tcx",
            Hold::Clsact(_) => "clsact",
        }
    }

    /// # Errors
    /// What the kernel refuses.
    pub fn totals(&self) -> Result<Totals, FilterError> {
        maps::totals(&self.totals)
    }
}

/// Filters what crosses `interface` of this thread's network namespace. The fixed hosts are behind it.
///
/// # Errors
/// The parameters or the interface are not possible, or the kernel or missing rights prevent it. Nothing is
/// left behind.
pub fn attach(interface: &str, parameters: &Parameters, hooks: Hooks) -> Result<Attached, FilterError> {
    let index = if_nametoindex(interface).map_err(|_| FilterError::NoInterface(interface.to_owned()))?;
    let link_len = link_len(interface, index)?;
    let mut object = MaybeUninit::uninit();
    let skeleton = Programs::load(&mut object, link_len, parameters)?.skeleton;
    Ok(Attached {
        hold: Hold::take(hooks, index, &skeleton.progs.data, &skeleton.progs.acks)?,
        flows: handle(&skeleton.maps.flows)?,
        parameters: handle(&skeleton.maps.parameters)?,
        totals: handle(&skeleton.maps.totals)?,
    })
}

/// Bytes before a packet's IP header.
pub fn link_len(interface: &str, index: u32) -> Result<u32, FilterError> {
    let link = Netlink::open().and_then(|netlink| netlink.link(index)).map_err(FilterError::io(interface))?;
    match link.layer() {
        LinkLayerType::Ether | LinkLayerType::Loopback => Ok(ETHERNET_LEN),
        LinkLayerType::None | LinkLayerType::Ppp | LinkLayerType::Rawip => Ok(0),
        _ => Err(FilterError::Unsupported(interface.to_owned())),
    }
}
