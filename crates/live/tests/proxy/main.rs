//! `airtcpd proxy`, `airtcpd circuit` and `airtcpd decouple`: real sockets in namespaces, and the daemons between them.

mod circuit;
mod crowds;
mod daemon;
mod decouple;
mod ends;
mod fast_open;
mod floods;
mod header_first;
mod oddities;
mod path_mtu;
mod paths;
mod rig;
mod urgent;
