//! Links from their description.

use crate::scenario::model::{self, Capacity, Discipline};
use airtcp_proto::Streams;
use airtcp_proto::path::{FixedRate, Link, PacketLoss};
use airtcp_proto::queue::{DropTail, Limit};

/// The way there and the way back. Random streams are named after the link.
pub fn build(link: &model::Link, streams: &Streams) -> (Link, Link) {
    let stream = |direction: &str| streams.stream(&format!("link.{}.{direction}.loss", link.name));
    (side(&link.forward, stream("forward")), side(&link.reverse, stream("reverse")))
}

fn side(side: &model::Side, stream: airtcp_proto::Stream) -> Link {
    let (Capacity::Fixed(rate), Discipline::DropTail) = (&side.capacity, &side.queue.discipline) else {
        todo!("the other models")
    };
    let queue = DropTail::new(Limit::packets(side.queue.limit.packets.unwrap_or(100)));
    let link = Link::new(Box::new(queue), Box::new(FixedRate::new(*rate)), side.delay);
    link.with_loss(Box::new(PacketLoss::new(side.loss.packet, stream)))
}
