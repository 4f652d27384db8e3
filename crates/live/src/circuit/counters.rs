//! Counters of a circuit's ends.

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
    Standstills,
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
        (
            Sending::Open,
            "open",
            Kind::Gauge,
            "1 while the receiving gateway answers; 0 while packets bypass the circuit",
        ),
        (
            Sending::Sessions,
            "sessions_total",
            Kind::Counter,
            "sessions that the receiving gateway has accepted",
        ),
        (Sending::DataPackets, "data_packets_total", Kind::Counter, "data packets sent"),
        (Sending::DataBytes, "data_bytes_total", Kind::Counter, "bytes of data packets sent"),
        (Sending::Lost, "lost_packets_total", Kind::Counter, "data packets that the kernel refused"),
        (Sending::Waiting, "waiting_packets", Kind::Gauge, "data packets in the tunnel queue"),
        (
            Sending::Datagrams,
            "datagrams_total",
            Kind::Counter,
            "header packets and other datagrams sent to the receiving gateway",
        ),
        (Sending::Refused, "refused_total", Kind::Counter, "datagrams that failed authentication"),
        (Sending::Window, "cwnd_bytes", Kind::Gauge, "sum of the control TCPs' congestion windows"),
        (Sending::RoundTripUs, "srtt_microseconds", Kind::Gauge, "the largest SRTT of the control TCPs"),
        (
            Sending::Retransmissions,
            "retransmissions_total",
            Kind::Counter,
            "header packets of this session that were retransmitted",
        ),
        (Sending::Timeouts, "timeouts_total", Kind::Counter, "retransmission timeouts of this session"),
        (
            Sending::Standstills,
            "standstills_total",
            Kind::Counter,
            "times that packets waited with nothing under way, and the circuit began anew: always 0, or it is a bug",
        ),
    ];

    fn index(self) -> usize {
        self as usize
    }
}

impl Table for Receiving {
    const DAEMON: &'static str = "circuit_receiver";
    const TABLE: &'static [(Receiving, &'static str, Kind, &'static str)] = &[
        (Receiving::Open, "open", Kind::Gauge, "sending gateways being served"),
        (Receiving::Sessions, "sessions_total", Kind::Counter, "sessions started by sending gateways"),
        (Receiving::HeaderPackets, "header_packets_total", Kind::Counter, "header packets received"),
        (Receiving::Replies, "replies_total", Kind::Counter, "ACKs and other datagrams sent back"),
        (
            Receiving::Refused,
            "refused_total",
            Kind::Counter,
            "datagrams that failed authentication, or could not be decompressed after losses",
        ),
        (
            Receiving::DataPackets,
            "data_packets_total",
            Kind::Counter,
            "data packets received, where they are counted",
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
