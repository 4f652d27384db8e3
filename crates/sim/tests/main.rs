//! The simulator: what its records hold, and the laws that they obey.

mod base_station;
mod bbr_as_in_linux;
mod capture_readers;
mod captures;
mod circuit;
mod circuit_repairs;
mod circuit_shares;
mod common;
mod compositions;
mod engine;
mod laws;
mod lte;
mod network;
mod packet_control;
mod same;
mod undo;
mod wifi;
