//! The papers' senders as congestion controls of the running kernel.
//!
//! [`register`] gives a controller to the kernel for as long as this process keeps it, [`Registered::pin`] for longer.
//! Parameters are the Rust controllers' (`airtcp_proto::cc::registry`), as far as the kernel's form has them.

mod controllers;
mod counters;
mod error;
mod libbpf;
mod params;
mod register;

pub use controllers::{Controller, controllers, find};
pub use counters::Counters;
pub use error::CcError;
pub use register::{Registered, Request, register};
