//! Captures: what is written is read again, by this crate and by other tools, and no bytes stop a reader.

mod any_bytes;
mod common;
mod multipath;
mod one_way;
mod other_tools;
mod round_trips;
mod sightings;
mod timelines;
mod wrappings;
