//! The papers' senders as congestion controls of the running kernel.
//!
//! [`register`] gives a controller to the kernel for as long as this process keeps it, [`load`] for longer. Its
//! parameters are those of the Rust controllers (`airtcp_proto::cc::registry`) that the kernel's form has.

mod apply;
mod available;
mod controllers;
mod counters;
mod error;
mod loaded;
mod needs;
mod owner;
mod params;
mod pinned;
mod pins;
mod record;
mod register;
mod requirements;
mod unloaded;

pub use apply::{Applied, AsDefault, InCgroup, OnRoute, Prefix, Target};
pub use available::available;
pub use controllers::{Controller, controllers, find};
pub use counters::Counters;
pub use error::CcError;
pub use loaded::Loaded;
pub use needs::Need;
pub use owner::Owner;
pub use pinned::{Pinned, load, open, pinned, pinned_names, set, unload};
pub use register::{Registered, Request, register};
pub use requirements::missing_in_kernel;
pub use unloaded::Unloaded;
