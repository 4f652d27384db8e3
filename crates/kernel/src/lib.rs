//! L2: eBPF programs for an unpatched kernel, and what loads, watches and removes them; network namespaces and rtnetlink.
//!
//! The programs lie in `src/bpf`, are compiled by `build.rs` and end up inside whatever links this crate: clang is needed
//! to build it, not to run it.

pub mod bpffs;
pub mod cc;
pub mod cgroup;
pub mod filter;
pub mod namespace;
pub mod netlink;
pub mod probe;
pub mod rto;

/// What libbpf makes of the compiled programs.
#[allow(unsafe_code, clippy::all, clippy::disallowed_types, missing_docs, reason = "generated")]
mod skeleton {
    pub mod apply {
        include!(concat!(env!("OUT_DIR"), "/apply.skel.rs"));
    }
    pub mod filter {
        include!(concat!(env!("OUT_DIR"), "/filter.skel.rs"));
    }
    pub mod probe {
        include!(concat!(env!("OUT_DIR"), "/probe.skel.rs"));
    }
    pub mod rto {
        include!(concat!(env!("OUT_DIR"), "/rto.skel.rs"));
    }
}
