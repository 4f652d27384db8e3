//! What loading programs into a kernel takes, whatever they are for: the rights, the file system in which they stay, libbpf's
//! messages, and records of what was changed, one process at a time.

pub mod bpffs;
mod capabilities;
pub(crate) mod folder;
mod lock;
mod messages;
mod record;

pub use capabilities::missing_capabilities;
pub(crate) use lock::Lock;
pub use messages::Refusal;
pub(crate) use messages::listening;
pub(crate) use record::{Record, remove};
