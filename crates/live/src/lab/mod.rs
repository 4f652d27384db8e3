//! A scenario on this host: real sockets of the kernel over an emulated path, and what they did as a record.

pub mod forms;
pub mod plan;
