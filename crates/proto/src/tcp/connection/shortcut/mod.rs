//! Ways to the same result with less work. Each states its invariant on its first screen.
//!
//! - [`prediction`]: what a connection expects, found once and then kept. Its doors are the methods of [`Connection`] in `text`
//!   (`receive_text`), `acks` (`receive_ack`) and `burst` (`poll_expected`), and [`transmit_new_data`]. Each says whether it
//!   has done all, and if not, nothing has changed.
//! - [`rest`]: a half that is not needed is a few fields. Door: [`Half`](super::half::Half).
//!
//! Others are in `sender/shortcut` and `receiver/shortcut`.
//!
//! A property in `tests` plays random lives with predictions and without, and most of these need a prediction. Without this
//! folder, `no_shortcut.rs` stands in for it.
//!
//! [`Connection`]: super::Connection

mod acks;
mod burst;
mod prediction;
mod rest;
#[cfg(test)]
mod tests;
mod text;

pub use burst::transmit_new_data;
pub use prediction::Prediction;
pub use rest::{ReceiverAtRest, SenderAtRest};
