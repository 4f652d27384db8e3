//! The papers' senders as congestion controls of the running kernel.
//!
//! [`register`] gives a controller to the kernel for as long as this process keeps it, [`load`] for longer. Its
//! parameters are those of the Rust controllers (`airtcp_proto::cc::registry`) that the kernel's form has.

mod apply;
mod controllers;
mod counters;
mod error;
mod libbpf;
mod loaded;
mod needs;
mod owner;
mod params;
mod pinned;
mod record;
mod register;
mod requirements;

pub use apply::{Applied, AsDefault, InCgroup, OnRoute, Prefix, Target};
pub use controllers::{Controller, controllers, find};
pub use counters::Counters;
pub use error::CcError;
pub(crate) use error::log_lines;
pub(crate) use libbpf::listening;
pub use loaded::Loaded;
pub use needs::Need;
pub use owner::{Owner, available};
pub use pinned::{Pinned, Unloaded, load, open, pinned, pinned_names, set, unload};
pub use register::{Registered, Request, register};
pub use requirements::{missing_capabilities, missing_in_kernel};
