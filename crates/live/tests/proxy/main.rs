//! `airtcpd proxy` and `airtcpd circuit`: real sockets in namespaces, and the daemons between them.

mod circuit;
mod crowds;
mod daemon;
mod ends;
mod paths;
mod rig;
