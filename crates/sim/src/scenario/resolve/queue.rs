//! Queues: each discipline has its own keys and defaults.

use super::check::Check;
use crate::scenario::model::{Queue, Room};
use crate::scenario::one_of::OneOf;
use crate::scenario::room::FULL_PACKET_BYTES;
use airtcp_proto::queue::Discipline;
use airtcp_wire::{Bytes, Dur, Rate};

/// What a queue's default room depends on.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// Mean rate of this link.
    pub rate: Rate,
    /// Propagation delay of the whole path, there and back.
    pub rtt: Dur,
}

const LEAST_DEFAULT_PACKETS: u64 = 50;

impl Path {
    /// One bandwidth-delay product, so that a loss-based sender that halves its window still fills the link, but at
    /// least 50 packets, as in classic routers and the papers' simulations.
    pub fn default_packets(self) -> u32 {
        let product = self.rate.bytes_in(self.rtt).div_ceil(FULL_PACKET_BYTES);
        u32::try_from(product.max(LEAST_DEFAULT_PACKETS)).unwrap_or(u32::MAX)
    }
}

/// Checks a queue, and leaves its room as written.
pub(super) fn queue(written: &OneOf<Discipline>, check: &mut Check<'_>) -> Option<Queue> {
    let (discipline, room) = check.one_of(written)?;
    let least = discipline.least_packets();
    let too_few = room.packets.is_some_and(|packets| packets < least);
    check.refuse_if(too_few, "packets", &format!("must be at least {least}"));
    check.refuse_if(room.bytes == Some(Bytes(0)), "bytes", "must be above zero");
    Some(Queue { room, discipline })
}

/// Fills in the default room, which depends on the queue's path.
pub(super) fn with_room(queue: Queue, path: Path) -> Queue {
    let Room { packets, bytes } = queue.room;
    let default = || queue.discipline.default_packets().unwrap_or_else(|| path.default_packets());
    let packets = packets.or_else(|| bytes.is_none().then(default));
    Queue { room: Room { packets, bytes }, ..queue }
}
