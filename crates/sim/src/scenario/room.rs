//! The data that a flow's path holds, and the receive buffer that it calls for.

use super::link::FULL_PACKET_BYTES;
use super::model::{Flow, Room, Route, Scenario};
use airtcp_proto::cc::Controllers;
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_wire::{Bytes, Rate};
use std::sync::Arc;

/// A hole may stay open for two round trips without filling the receive window, and Linux keeps half of the buffer for
/// itself.
const BUFFER_PER_BYTE_HELD: u64 = 4;

impl Scenario {
    /// The scheme of `flow`: its own, or else the `compared` one. Unless the scheme sets the initial receive buffer,
    /// its size follows from what the path holds: a buffer that has to grow as on Linux may limit the sender while a
    /// hole stays open.
    ///
    /// # Errors
    /// The flow's own scheme does not resolve.
    pub fn scheme_of(
        &self,
        flow: &Flow,
        compared: &Scheme,
        controllers: &Controllers,
    ) -> Result<Arc<Scheme>, SchemeError> {
        let mut scheme = match &flow.scheme {
            Some(own) => Scheme::parse_with(own, &self.profile, controllers)?,
            None => compared.clone(),
        };
        let held = self.bytes_held_for(flow);
        scheme.config.receive_buffer.get_or_insert(Bytes(BUFFER_PER_BYTE_HELD * held));
        Ok(Arc::new(scheme))
    }

    /// Bytes under way when `flow` fills its path, queues included.
    fn bytes_held_for(&self, flow: &Flow) -> u64 {
        flow.routes.iter().map(|route| self.bytes_held_on(route)).max().unwrap_or_default()
    }

    fn bytes_held_on(&self, route: &Route) -> u64 {
        let sides = || route.there.iter().map(|crossing| crossing.side(&self.links));
        let slowest = sides().map(|side| side.capacity.mean_rate()).min().unwrap_or(Rate(0));
        let queues: u64 = sides().map(|side| bytes_of(&side.queue.room)).sum();
        slowest.bytes_in(route.round_trip(&self.links)) + queues
    }
}

fn bytes_of(room: &Room) -> u64 {
    let of_packets = room.packets.map(|packets| u64::from(packets) * FULL_PACKET_BYTES);
    let of_bytes = room.bytes.map(|bytes| bytes.0);
    of_packets.into_iter().chain(of_bytes).min().unwrap_or(0)
}
