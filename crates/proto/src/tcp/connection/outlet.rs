//! Where the segments of a connection go.

use super::{Connection, Transmit};
use airtcp_wire::{Header, Time};

/// A connection, and where its segments go. It takes as many as it says that it has room for.
pub trait Outlet {
    /// The connection that sends.
    fn connection(&mut self) -> &mut Connection;

    /// How many more segments may leave.
    fn room(&self) -> u32 {
        u32::MAX
    }

    /// New data follows in one burst: until the next call, headers differ in nothing but sequence number and PSH.
    fn begin_burst(&mut self) {}

    /// Takes a full segment of new data. Its payload starts at the stream position `offset`.
    fn take_new_data(&mut self, header: &Header, offset: u64);

    /// Takes any other segment.
    fn take(&mut self, transmit: &Transmit);

    /// The pacer releases the next segment at that time, and no timer of the connection expires before. Returns whether time
    /// has moved on to then.
    fn moves_on(&mut self, _at: Time) -> bool {
        false
    }
}

/// What has left a connection, and what has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// New data alone, if anything. Nothing else may leave now.
    NewData {
        /// When the pacer releases the next segment, if no timer of the connection expires before.
        next: Option<Time>,
    },
    /// All that may leave now.
    All,
    /// As much as there was room for.
    Part,
}
