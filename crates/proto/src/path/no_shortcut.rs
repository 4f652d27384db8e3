//! What stands in for `shortcut` in a build without it: no link is lean.

use super::general::General;
use super::link::{Output, QueueView};
use super::stats::LinkStats;
use super::{LossModel, Transmitter};
use crate::queue::{Item, Limit};
use airtcp_wire::{Dur, Time};

pub enum Lean {}

/// What a link asks of its [`Lean`], which nobody has.
macro_rules! never_asked {
    ($($name:ident($($argument:ty),*) -> $answer:ty;)*) => {
        impl Lean {
            $(pub fn $name(&self, $(_: $argument),*) -> $answer {
                match *self {}
            })*
        }
    };
}

never_asked! {
    set_loss(Box<dyn LossModel>) -> ();
    set_horizon(Time) -> ();
    set_end(Time) -> ();
    handle_packet(Time, Item) -> ();
    pass(Time, u32, impl FnMut() -> Item) -> Option<Time>;
    release() -> Option<(Time, u32)>;
    pop(Time) -> Option<Output>;
    pop_intact(Time) -> Option<u32>;
    prefetch(usize) -> ();
    peek(usize) -> Option<u32>;
    next_out() -> Time;
    queue_view(Time) -> QueueView;
    stats(Time) -> LinkStats;
    reset_stats(Time) -> ();
}

impl Lean {
    pub fn of(_: Limit, _: &dyn Transmitter, _: Dur) -> Option<Lean> {
        None
    }
}

impl From<Lean> for General {
    fn from(lean: Lean) -> General {
        match lean {}
    }
}
