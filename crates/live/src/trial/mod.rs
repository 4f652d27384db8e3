//! A scenario on this host: real sockets of the kernel over an emulated path, and the record of what they did.
//!
//! [`plan`] determines what each scheme is here, and [`run`] runs one. A run has three threads. One drives the
//! emulator between the hosts' devices, and measures what it sees ([`meter`], [`measure`]). One is all the
//! applications at the hosts ([`application`]). The caller's waits, and can break off. They share the [`books`].
//!
//! `forms` determines what a scheme is on this kernel, key by key of its stack, or why it cannot run. Hosts are
//! namespaces, applications are the simulator's own `traffic::Source` on real sockets, and a meter that sees each
//! packet enter and leave the path fills the same record that the simulator writes. A base-station machine runs
//! on a `Router` between two segments of the path. A sender that no kernel has is our own machine on a router
//! behind the sender's host; so is a data TCP, which sends into the gateway of a circuit (`proxy/own/exit.rs`),
//! is held back by it, and is told the control TCPs' window (`circuit/window.rs`) if it repeats by that (F2). The
//! two gateways of a trunk are those of `airtcpd circuit` on two routers (`layout.rs` has the places of hosts and
//! routers, and the order in which flows pass them), except that packets which find the tunnel queue full are
//! lost, as in the simulator. So `airtcp compare --on linux` (`python/airtcp/linux`) differs from a simulation in
//! one thing: it starts `airtcpd run` once per run. `--on both` pairs the two. `python/airtcp_studies/fidelity`
//! does so over a grid: `measure.py` repeats a cell until `judge.py` can decide. The journal of the kernel's runs
//! and the findings are stored beside the page made from them, `docs/fidelity.md`.

mod application;
mod books;
mod circuit;
mod circuit_book;
mod descriptors;
mod flows;
pub mod forms;
mod hosts;
mod layout;
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
mod socket_options;
pub mod tcp_info;
mod trunks;

pub use loaded::LoadError;
pub use outcome::Outcome;
pub use run::{Run, TrialError, run};
