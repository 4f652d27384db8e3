//! Packet timelines: at a given time, one segment goes in and another must come out. A timeline is a text file (see
//! `timelines/README.md`) and tests any [`Stack`]: the state machine in virtual time ([`Machine`]) and the kernel's
//! TCP in real time (`crates/live/tests/timelines.rs`).
//!
//! `parse` reads it, `play` applies it to a `Stack` and writes a `Log`, and `judge` compares the two. There are
//! two stacks: `Machine`, a `Connection` in virtual time, and `Kernel` (`crates/live/tests/timelines`), a
//! socket in a namespace whose packets go through a TUN device in real time. The script's peer (`peer.rs`)
//! fills in what a line leaves open. Where the two stacks differ, the kernel is right, and the timeline states
//! for which one it holds, and why.

mod judge;
mod log;
mod machine;
mod parse;
mod peer;
mod play;
mod script;
mod shelf;
mod show;
mod stack;

pub use judge::judge;
pub use log::{Emitted, Log, Logged};
pub use machine::Machine;
pub use play::{Played, play};
pub use script::{Backend, Setup, Timeline};
pub use shelf::{Shelved, chosen, shelf};
pub use show::transcript;
pub use stack::{Call, EARLY, Quantity, Stack};
