//! TCP circuits: congestion control for a stream of data packets that TCP does not carry.
//!
//! Source: S. Y. Wang, H. T. Kung, "Use of TCP decoupling in improving TCP performance over wireless networks",
//! Wireless Networks 7 (2001); § in this folder are its sections.

mod config;

pub use config::{Compression, Config};
