//! Halves at rest. A [`Sender`](crate::tcp::sender::Sender) and a [`Receiver`](crate::tcp::receiver::Receiver) are large,
//! and most ends of connections need only one of them. The other half rests: a few fields take its place.
//!
//! Invariant: a half rests only while [waking](crate::tcp::connection::half::Half::wake_by) it makes it again to the last bit.
//! What its fields cannot do wakes it first.

mod receiver;
mod sender;

pub use receiver::ReceiverAtRest;
pub use sender::SenderAtRest;
