//! Queues: each discipline with its own keys and defaults.

use super::check::Check;
use crate::scenario::model::{Queue, Room};
use crate::scenario::one_of::OneOf;
use airtcp_proto::queue::Discipline;
use airtcp_wire::{Bytes, Dur, Rate};

/// What a queue's default room depends on.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// Of this link, averaged.
    pub rate: Rate,
    /// Propagation from end to end of the whole path and back.
    pub rtt: Dur,
}

const LEAST_DEFAULT_PACKETS: u64 = 50;
const FULL_PACKET_BYTES: u64 = 1500;

impl Path {
    /// One bandwidth-delay product, so that a loss-based sender that halves its window still fills the link; never less
    /// than 50 packets, which is what a classic router interface and the papers' simulations hold.
    fn default_packets(self) -> u32 {
        let product = self.rate.bytes_in(self.rtt).div_ceil(FULL_PACKET_BYTES);
        u32::try_from(product.max(LEAST_DEFAULT_PACKETS)).unwrap_or(u32::MAX)
    }
}

/// A queue whose room is as written.
pub(super) fn queue(written: &OneOf<Discipline>, check: &mut Check<'_>) -> Option<Queue> {
    let (discipline, room) = check.one_of(written)?;
    check.refuse_if(room.packets == Some(0), "packets", "must be at least 1");
    check.refuse_if(room.bytes == Some(Bytes(0)), "bytes", "must be above zero");
    Some(Queue { room, discipline })
}

/// Two queues that are written alike may have different room by default.
pub(super) fn with_room(queue: Queue, path: Path) -> Queue {
    let Room { packets, bytes } = queue.room;
    let default = || queue.discipline.default_packets().unwrap_or_else(|| path.default_packets());
    let packets = packets.or_else(|| bytes.is_none().then(default));
    Queue { room: Room { packets, bytes }, ..queue }
}
