//! Shortcuts: what the engine does within one event because nothing can come between. None of them changes a result.
//!
//! - `receiver_ahead`: **where all flows go to one end of the path, that end only answers what it receives, and nothing
//!   overtakes on the links, nothing that is sent later can change what happens there before.** So the arrival time of a
//!   packet is known when it is sent, and it is delivered then: at its own time, after the timers that expire there
//!   earlier, and without an event. That end is ahead of the run, with a clock and timers of its own. The answers wait as
//!   [`Arrival`](crate::ahead::Arrival)s until the run reaches their times. Where somebody watches, nothing is ahead.
//! - `stations_ahead`: **stations that act only when a packet arrives, all at one node between the senders and that end,
//!   are ahead, too**, as long as they see packets in order of time. So what is sent passes them at the time at which it
//!   gets there, after the answers that get there earlier. The other answers pass them when the run reaches their times.
//! - `moving_on`: **an event that comes before all others may be handled at once.** So the run moves on to the next
//!   segment that a pacer releases, or to the next answer, within the current event.
//!
//! `foresight` finds before the first event what of this holds in a run. Links have shortcuts of their own, as has TCP. Without
//! this folder, `no_shortcut.rs` stands in for it, and nothing is ahead.

mod foresight;
mod moving_on;
mod receiver_ahead;
mod stations_ahead;

pub use foresight::foresee;
pub use stations_ahead::pass_station;
