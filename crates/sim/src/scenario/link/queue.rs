//! The queue in front of a link: each discipline has its own keys and defaults.

use super::value::{Around, Value};
use crate::scenario::check::Check;
use crate::scenario::one_of::OneOf;
use airtcp_proto::queue::{Discipline, Room, drop_tail};
use airtcp_wire::{Bytes, Dur, Rate};
use serde::Serialize;

/// Of a packet that fills the MTU of most paths.
pub(crate) const FULL_PACKET_BYTES: u64 = 1500;
const LEAST_DEFAULT_PACKETS: u64 = 50;

/// The queue in front of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Queue {
    /// Limited in packets, in bytes, or in both.
    #[serde(flatten)]
    pub room: Room,
    #[serde(flatten)]
    pub discipline: Discipline,
}

/// Its room is not known yet.
impl Default for Queue {
    fn default() -> Queue {
        Queue { room: Room::default(), discipline: Discipline::DropTail(drop_tail::Config {}) }
    }
}

impl Queue {
    /// A DropTail queue.
    pub fn of_packets(packets: u32) -> Queue {
        Queue { room: Room { packets: Some(packets), bytes: None }, ..Queue::default() }
    }

    /// Fills in the default room, which depends on the link's mean rate, and on the propagation delay of the whole path, there and back.
    pub(in crate::scenario) fn fill_in_room(&mut self, rate: Rate, rtt: Dur) {
        if self.room == Room::default() {
            let packets = self.discipline.default_packets().unwrap_or_else(|| bandwidth_delay(rate, rtt));
            self.room.packets = Some(packets);
        }
    }
}

/// One bandwidth-delay product in packets, so that a loss-based sender that halves its window still fills the link, but at least 50, as in
/// classic routers and the papers' simulations.
fn bandwidth_delay(rate: Rate, rtt: Dur) -> u32 {
    let product = rate.bytes_in(rtt).div_ceil(FULL_PACKET_BYTES);
    u32::try_from(product.max(LEAST_DEFAULT_PACKETS)).unwrap_or(u32::MAX)
}

impl Value for Queue {
    type Written = OneOf<Discipline>;

    /// Leaves its room as written.
    fn read(written: &OneOf<Discipline>, _: &Around<'_>, check: &mut Check<'_>) -> Option<Queue> {
        let (discipline, room) = check.one_of(written)?;
        let least = discipline.least_packets();
        let too_few = room.packets.is_some_and(|packets| packets < least);
        check.refuse_if(too_few, "packets", &format!("must be at least {least}"));
        check.refuse_if(room.bytes == Some(Bytes(0)), "bytes", "must be above zero");
        Some(Queue { room, discipline })
    }
}
