//! TCP packet control (Zeng and Trajković 2005, paper 001) at a base station: two tc programs on its interface
//! to the fixed hosts. `bpf/filter/rules.h` judges the packets, and `bpf/filter.bpf.c` decides which flows are
//! known.
//!
//! `rules.h` judges a flow's packets as `base_station/packet_control` does. It also compiles for the host,
//! where both judge the same random lives and the simulator's own packets. `packet.h` parses frames, `answer.h`
//! turns a frame into an ACK, and `filter.bpf.c` keeps flows. A flow stays in `strangers` until the mobile host
//! has acknowledged its data, so that spoofed flows evict no real one. `kernel/src/filter` attaches the
//! programs (tcx, or clsact before Linux 6.6) and pins them.

mod attach;
mod clsact;
mod error;
mod hooks;
mod installed;
mod maps;
mod parameters;
mod programs;

pub(crate) use attach::link_len;
pub use attach::{Attached, attach};
pub use error::FilterError;
pub use hooks::Hooks;
pub(crate) use hooks::attach_tcx;
pub use installed::{Installed, install, installed, on, uninstall};
pub use maps::{FlowRecord, Totals};
pub use parameters::Parameters;
pub(crate) use programs::handle;
pub use programs::{ETHERNET_LEN, Programs, Ran, Verdict};

/// Flows that may be observed at once before they are understood.
pub const STRANGERS: u32 = 4096;
