//! A scenario on this host: real sockets of the kernel over an emulated path, and the record of what they did.
//!
//! [`plan`] determines what each scheme is here, and [`run`] runs one. A run has three threads. One drives the
//! emulator between the hosts' devices, and measures what it sees ([`meter`], [`measure`]). One is all the
//! applications at the hosts ([`application`]). The caller's waits, and can break off. They share the [`books`].

mod application;
mod books;
mod circuit;
mod circuit_book;
mod descriptors;
mod flows;
pub mod forms;
mod hosts;
mod loaded;
mod measure;
mod meter;
mod outcome;
pub mod plan;
mod record;
mod relays;
mod router;
mod run;
mod send_buffer;
mod senders;
mod site;
mod socket_options;
pub mod tcp_info;
mod trunks;

pub use loaded::LoadError;
pub use outcome::Outcome;
pub use run::{Run, TrialError, run};
