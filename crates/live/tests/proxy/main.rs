//! `airtcpd proxy`: real sockets in namespaces, and the proxy between them.

mod crowds;
mod daemon;
mod ends;
mod paths;
mod rig;
