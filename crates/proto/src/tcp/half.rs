//! A half of a connection. A [`Sender`] and a [`Receiver`](super::receiver::Receiver) are large, and most ends of connections
//! need only one of them.

use super::sender::Sender;
use super::sender_at_rest::SenderAtRest;
use std::ops::{Deref, DerefMut};

/// One of the two halves of a connection. It rests while it has nothing to do but what the other half can do for it, which
/// then holds what remains of it. At most one of them rests. Whatever else happens wakes it first, so that most code uses it
/// as the `T` that it then is.
pub struct Half<T>(Option<Box<T>>);

impl<T> Half<T> {
    pub fn new(half: T) -> Half<T> {
        Half(Some(Box::new(half)))
    }

    /// From now on it rests.
    pub fn rest(&mut self) {
        self.0 = None;
    }

    /// The half, unless it rests.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// [`get`](Half::get), to change it.
    #[inline(always)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl Half<Sender> {
    /// SND.UNA
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.get().map_or(SenderAtRest::UNA, |sender| sender.core.una())
    }

    /// SND.NXT
    #[inline(always)]
    pub fn nxt(&self) -> u64 {
        self.get().map_or(SenderAtRest::UNA, |sender| sender.core.nxt())
    }
}

impl<T> Deref for Half<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.get().unwrap_or_else(|| at_rest())
    }
}

impl<T> DerefMut for Half<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        self.get_mut().unwrap_or_else(|| at_rest())
    }
}

#[cold]
fn at_rest() -> ! {
    unreachable!("whatever needs this half wakes it first")
}
