//! Header-first dropping (paper 000 §4.7.1) at a router: a tc program in front of an interface's own queue, which must be a FIFO.
//! `bpf/header_first/rules.h` decides what enters it.
//!
//! The queue itself stays the kernel's, so that all that an administrator has set there, such as a rate, goes on. The program needs
//! only know how much waits in it: of a FIFO, that says which packets have left.
//!
//! Nobody tells the program what has left the queue; but of a FIFO that holds *n* bytes, all have left but the
//! last *n* that were let in. So `rules.h` remembers where in the stream of bytes each of the newest header
//! packets ended. The host's tests compare it with the simulator's queue over random lives, and a router
//! between two namespaces does so with real packets.

mod fifo;

use crate::filter::{FilterError, attach_tcx, handle, link_len};
use crate::loading::listening;
use crate::netlink::LOOPBACK;
use crate::skeleton::header_first::types::limits;
use crate::skeleton::header_first::{HeaderFirstSkel, HeaderFirstSkelBuilder};
use airtcp_wire::circuit::Mark;
pub use fifo::Fifo;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, OpenObject, ProgramAttachType};
use nix::net::if_::if_nametoindex;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;

/// Header packets that may wait.
pub const MAX_HEADERS: RangeInclusive<u32> = 1..=4096;

const ONLY: [u8; 4] = [0; 4];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// A header packet is dropped when this many of them wait.
    pub max_headers: u32,
    /// By which header packets are known.
    pub mark: Mark,
}

/// Numbers of packets since the program was attached. The kernel's long packets count as those that they become.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    pub headers_passed: u64,
    /// Dropped since enough of them waited.
    pub headers_dropped: u64,
    /// Dropped since there was no room.
    pub headers_overflow: u64,
    pub data_passed: u64,
    /// Dropped since there was no room.
    pub data_overflow: u64,
}

/// The program on an interface. It goes with this value, or with its process.
pub struct Attached(#[allow(dead_code, reason = "held")] Link);

/// Counts what the program does.
pub struct Meter(MapHandle);

impl Meter {
    /// # Errors
    /// What the kernel refuses.
    pub fn totals(&self) -> Result<Totals, FilterError> {
        let read = self.0.lookup_percpu(&ONLY, MapFlags::ANY);
        let mut sums = [0u64; 5];
        for cpu in read.map_err(FilterError::kernel("read the counters"))?.unwrap_or_default() {
            for (sum, word) in sums.iter_mut().zip(cpu.as_chunks().0) {
                *sum += u64::from_ne_bytes(*word);
            }
        }
        let [headers_passed, headers_dropped, headers_overflow, data_passed, data_overflow] = sums;
        Ok(Totals { headers_passed, headers_dropped, headers_overflow, data_passed, data_overflow })
    }
}

/// Drops header packets first where packets leave by `interface` of this thread's network namespace.
///
/// # Errors
/// There is no such interface, its queue is no FIFO, or the kernel has no tcx (Linux 6.6), or missing rights prevent it.
pub fn attach(interface: &str, parameters: Parameters) -> Result<(Attached, Meter, Fifo), FilterError> {
    let index = if_nametoindex(interface).map_err(|_| FilterError::NoInterface(interface.to_owned()))?;
    let fifo = Fifo::of(interface, index)?;
    let (attached, meter) = attach_at(index, link_len(interface, index)?, parameters, &fifo)?;
    Ok((attached, meter, fifo))
}

/// Attaches the program to the loopback of this thread's network namespace, and removes it.
///
/// # Errors
/// As [`attach`].
pub fn probe() -> Result<(), FilterError> {
    let parameters = Parameters { max_headers: 1, mark: Mark::default() };
    attach_at(LOOPBACK, link_len("lo", LOOPBACK)?, parameters, &Fifo::packets(1)).map(drop)
}

fn attach_at(
    index: u32,
    link_len: u32,
    parameters: Parameters,
    fifo: &Fifo,
) -> Result<(Attached, Meter), FilterError> {
    let mut object = MaybeUninit::uninit();
    let skeleton = listening(|| load(&mut object, link_len, parameters, fifo))?;
    let link =
        attach_tcx(&skeleton.progs.header_first, index).map_err(|refusal| match refusal.source.kind() {
            libbpf_rs::ErrorKind::InvalidInput => FilterError::NoTcx,
            _ => refusal.into(),
        })?;
    Ok((Attached(link), Meter(handle(&skeleton.maps.totals)?)))
}

fn load<'a>(
    object: &'a mut MaybeUninit<OpenObject>,
    link_len: u32,
    parameters: Parameters,
    fifo: &Fifo,
) -> libbpf_rs::Result<HeaderFirstSkel<'a>> {
    let mut skeleton = HeaderFirstSkelBuilder::default().open(object)?;
    if let Some(constants) = skeleton.maps.rodata_data.as_deref_mut() {
        constants.link_len = link_len;
        constants.mark = parameters.mark.bits();
        constants.limits =
            limits { bytes: fifo.limit_bytes, packets: fifo.limit_packets, headers: parameters.max_headers };
    }
    skeleton.progs.header_first.set_attach_type(ProgramAttachType::TcxEgress);
    skeleton.load()
}
