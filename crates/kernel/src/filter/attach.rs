//! From an interface to programs on it.

use super::maps;
use super::programs::{ETHERNET_LEN, Programs, handle};
use super::{FilterError, Parameters, Totals};
use crate::cc::listening;
use crate::netlink::Netlink;
use libbpf_rs::{AsRawLibbpf, Link, MapHandle, ProgramMut, libbpf_sys};
use netlink_packet_route::link::LinkLayerType;
use nix::net::if_::if_nametoindex;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::ptr::NonNull;

/// Programs on an interface. Dropped, they are off it.
pub struct Attached {
    pub(super) data: Link,
    pub(super) acks: Link,
    pub(super) flows: MapHandle,
    pub(super) parameters: MapHandle,
    pub(super) totals: MapHandle,
}

impl Attached {
    /// # Errors
    /// What the kernel refuses.
    pub fn totals(&self) -> Result<Totals, FilterError> {
        maps::totals(&self.totals)
    }
}

/// Filters what crosses `interface` of this thread's network namespace, behind which the fixed hosts are.
///
/// # Errors
/// The parameters or the interface cannot be, or the kernel or its rights do not let us. Nothing is left behind.
pub fn attach(interface: &str, parameters: &Parameters) -> Result<Attached, FilterError> {
    let index = if_nametoindex(interface).map_err(|_| FilterError::NoInterface(interface.to_owned()))?;
    let link_len = link_len(interface, index)?;
    let mut object = MaybeUninit::uninit();
    let skeleton = Programs::load(&mut object, link_len, parameters)?.skeleton;
    Ok(Attached {
        data: attach_tcx(&skeleton.progs.data, index)?,
        acks: attach_tcx(&skeleton.progs.acks, index)?,
        flows: handle(&skeleton.maps.flows)?,
        parameters: handle(&skeleton.maps.parameters)?,
        totals: handle(&skeleton.maps.totals)?,
    })
}

/// Bytes before a packet's IP header.
fn link_len(interface: &str, index: u32) -> Result<u32, FilterError> {
    let link = Netlink::open().and_then(|netlink| netlink.link(index)).map_err(FilterError::io(interface))?;
    match link.header.link_layer_type {
        LinkLayerType::Ether | LinkLayerType::Loopback => Ok(ETHERNET_LEN),
        LinkLayerType::None | LinkLayerType::Ppp | LinkLayerType::Rawip => Ok(0),
        _ => Err(FilterError::Unsupported(interface.to_owned())),
    }
}

/// Behind the programs of others that are there.
#[allow(unsafe_code, reason = "libbpf-rs has no tcx")]
fn attach_tcx(program: &ProgramMut<'_>, index: u32) -> Result<Link, FilterError> {
    let options =
        libbpf_sys::bpf_tcx_opts { sz: size_of::<libbpf_sys::bpf_tcx_opts>() as u64, ..Default::default() };
    let attached = listening(|| {
        // SAFETY: the program is loaded, and the options live until the call returns.
        let link = unsafe {
            libbpf_sys::bpf_program__attach_tcx(
                program.as_libbpf_object().as_ptr(),
                index.cast_signed(),
                &raw const options,
            )
        };
        let link = NonNull::new(link).ok_or_else(|| libbpf_rs::Error::from(io::Error::last_os_error()))?;
        // SAFETY: libbpf has made it for us.
        Ok(unsafe { Link::from_ptr(link) })
    });
    attached.map_err(|(source, log)| match source.kind() {
        libbpf_rs::ErrorKind::InvalidInput => {
            FilterError::OldKernel(io::Error::new(io::ErrorKind::Unsupported, source.to_string()))
        }
        _ => FilterError::from((source, log)),
    })
}
