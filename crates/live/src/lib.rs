//! L3: the field. The protocol machines on real packets: their drivers read the clock.
//!
//! The lab does not depend on the field: only `crates/kernel` and `crates/live` need clang, and `make demo`
//! builds neither. `airtcpd` contains the eBPF objects and links libbpf, libelf and zlib statically;
//! `bpf/kernel.h` declares the kernel types that the programs use, relocated at load time (CO-RE). It needs a
//! kernel with BTF, and nothing else.

pub mod circuit;
pub mod daemon;
pub mod decouple;
pub mod emulate;
pub mod header_first;
mod invoker;
mod memory;
pub mod namespace;
mod offload;
pub mod output;
pub mod proxy;
#[cfg(test)]
mod queued_device;
pub mod rights;
mod signals;
pub mod stack;
pub mod trial;
pub mod tun;

pub use offload::Offload;
pub use tun::{OffloadTun, PacketDevice, Tun};
