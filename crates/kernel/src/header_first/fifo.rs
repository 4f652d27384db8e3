//! What queue an interface has.

use crate::filter::FilterError;
use crate::netlink::{Netlink, Qdisc};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcHandle, TcMessage};

/// A FIFO, and how much may wait in it; where only bytes or only packets count, the other limit is the largest number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fifo {
    /// The kernel's word for it.
    pub kind: String,
    pub limit_packets: u32,
    pub limit_bytes: u64,
}

impl Fifo {
    pub(super) fn packets(limit: u32) -> Fifo {
        Fifo { kind: "pfifo".to_owned(), limit_packets: limit, limit_bytes: u64::MAX }
    }

    pub(super) fn of(interface: &str, index: u32) -> Result<Fifo, FilterError> {
        let message = TcMessage::with_index(index.cast_signed());
        let dump = |netlink: Netlink| netlink.dump(RouteNetlinkMessage::GetQueueDiscipline(message));
        let answers = Netlink::open().and_then(dump).map_err(FilterError::io(interface))?;
        let qdiscs: Vec<_> =
            answers.into_iter().filter_map(Qdisc::of).filter(|it| it.index() == index).collect();
        Fifo::among(&qdiscs).map_err(|queue| FilterError::NoFifo { interface: interface.to_owned(), queue })
    }

    /// The root's. An error says what is there instead. The program must know the length of packets as the queue does, so there may
    /// be no size table; and it looks at the root only, so nothing but the kernel's own FIFO may be inside of that.
    fn among(qdiscs: &[Qdisc]) -> Result<Fifo, String> {
        let is_root = |qdisc: &&Qdisc| qdisc.parent() == u32::from(TcHandle::ROOT);
        let root = qdiscs.iter().find(is_root).ok_or("none")?;
        let is_inside = |qdisc: &&Qdisc| root.handle() != 0 && qdisc.parent() >> 16 == root.handle() >> 16;
        let kind = root.kind().unwrap_or_default();
        if let Some(inner) = qdiscs.iter().find(is_inside) {
            return Err(format!("{kind} with {} inside", inner.kind().unwrap_or_default()));
        }
        if root.has_size_table() {
            return Err(format!("{kind} with a size table (stab)"));
        }
        let limit = root.limit().ok_or_else(|| kind.clone())?;
        match kind.as_str() {
            "pfifo" => Ok(Fifo { limit_packets: limit.max(1), ..Fifo::packets(0) }),
            _ => Ok(Fifo { kind, limit_packets: u32::MAX, limit_bytes: limit.into() }),
        }
    }
}
