//! The papers' senders as congestion controls of the running kernel.
//!
//! [`register`] gives a controller to the kernel for as long as this process keeps it, [`load`] for longer. Its
//! parameters are those of the Rust controllers (`airtcp_proto::cc::registry`) that the kernel's form has.
//!
//! A controller is a header with fixed-point arithmetic, free of kernel types, and a few lines that name its
//! parameters; `hooks.h` connects it to `tcp_congestion_ops`. The same hooks are compiled for the host, where
//! the tests drive them and the Rust controller with the same ACKs and compare windows. One loader serves all
//! controllers (`kernel/src/cc`): `register` keeps one for as long as the process lives, `pin` for longer.
//! Parameters are words of the program's memory, and may be written while it runs. Concord sets its window in
//! recovery too and so has hooks of its own (`concord.bpf.c`); its state exceeds the room in a socket and is
//! kept in an `sk_storage` map.

mod apply;
mod available;
mod controllers;
mod counters;
mod error;
mod hold;
mod loaded;
mod needs;
mod ops;
mod owner;
mod params;
mod pinned;
mod pins;
pub mod probe;
mod record;
mod register;
mod requirements;
mod unloaded;
mod unpinned;

pub use apply::{Applied, AsDefault, InCgroup, OnRoute, Prefix, Target};
pub use available::available;
pub use controllers::{Controller, controllers, find};
pub use counters::Counters;
pub use error::CcError;
pub use loaded::Loaded;
pub use needs::Need;
pub use owner::Owner;
pub use pinned::{Pinned, load, open, pinned, pinned_names, set, unload};
pub use register::{Registered, Request, register, release_unpinned};
pub use requirements::missing_in_kernel;
pub use unloaded::Unloaded;
