//! What the ends of a circuit count.

use crate::daemon::{self, Kind, Table};

pub type SendingCounters = daemon::Counters<Sending>;
pub type ReceivingCounters = daemon::Counters<Receiving>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sending {
    Open,
    Sessions,
    DataPackets,
    DataBytes,
    Lost,
    Waiting,
    Datagrams,
    Refused,
    Window,
    RoundTripUs,
    Retransmissions,
    Timeouts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receiving {
    Open,
    Sessions,
    HeaderPackets,
    Replies,
    Refused,
    DataPackets,
}

impl Table for Sending {
    const DAEMON: &'static str = "circuit_sender";
    const TABLE: &'static [(Sending, &'static str, Kind, &'static str)] = &[
        (Sending::Open, "open", Kind::Gauge, "1 while the receiving gateway answers, else 0: packets pass"),
        (Sending::Sessions, "sessions_total", Kind::Counter, "times that the receiving gateway has answered"),
        (Sending::DataPackets, "data_packets_total", Kind::Counter, "data packets that have left"),
        (Sending::DataBytes, "data_bytes_total", Kind::Counter, "bytes of data packets that have left"),
        (
            Sending::Lost,
            "lost_packets_total",
            Kind::Counter,
            "of these, such that the kernel did not take back",
        ),
        (Sending::Waiting, "waiting_packets", Kind::Gauge, "data packets in the tunnel queue"),
        (
            Sending::Datagrams,
            "datagrams_total",
            Kind::Counter,
            "header packets and what else was sent to the receiving gateway",
        ),
        (Sending::Refused, "refused_total", Kind::Counter, "datagrams that were not believed"),
        (Sending::Window, "cwnd_bytes", Kind::Gauge, "the control TCPs' congestion windows together"),
        (Sending::RoundTripUs, "srtt_microseconds", Kind::Gauge, "the largest SRTT of the control TCPs"),
        (
            Sending::Retransmissions,
            "retransmissions_total",
            Kind::Counter,
            "header packets of this session that were sent again",
        ),
        (Sending::Timeouts, "timeouts_total", Kind::Counter, "retransmission timeouts of this session"),
    ];

    fn index(self) -> usize {
        self as usize
    }
}

impl Table for Receiving {
    const DAEMON: &'static str = "circuit_receiver";
    const TABLE: &'static [(Receiving, &'static str, Kind, &'static str)] = &[
        (Receiving::Open, "open", Kind::Gauge, "sending gateways that are served"),
        (
            Receiving::Sessions,
            "sessions_total",
            Kind::Counter,
            "sessions of the sending gateway that have begun",
        ),
        (Receiving::HeaderPackets, "header_packets_total", Kind::Counter, "header packets that have come"),
        (Receiving::Replies, "replies_total", Kind::Counter, "ACKs and what else was sent back"),
        (
            Receiving::Refused,
            "refused_total",
            Kind::Counter,
            "datagrams that were not believed, or that are compressed and follow too many lost ones",
        ),
        (
            Receiving::DataPackets,
            "data_packets_total",
            Kind::Counter,
            "data packets that have come, where they are counted",
        ),
    ];

    fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_the_order_of_the_counters() {
        assert!(Sending::TABLE.iter().enumerate().all(|(index, (counter, ..))| counter.index() == index));
        assert!(Receiving::TABLE.iter().enumerate().all(|(index, (counter, ..))| counter.index() == index));
    }
}
