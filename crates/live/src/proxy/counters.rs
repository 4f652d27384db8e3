//! Counters of a proxy.

use crate::daemon::{self, Kind, Table};

pub type Counters = daemon::Counters<Counter>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    Connections,
    Connecting,
    MemoryBytes,
    HeldBytes,
    Accepted,
    Completed,
    ResetByWireless,
    ResetByWired,
    LostWireless,
    LostWired,
    Standstills,
    Truncated,
    Unreachable,
    GaveWay,
    Waits,
    Refused,
    Cut,
    BytesToWireless,
    BytesToWired,
}

impl Table for Counter {
    const DAEMON: &'static str = "proxy";
    const TABLE: &'static [(Counter, &'static str, Kind, &'static str)] = TABLE;

    fn index(self) -> usize {
        self as usize
    }
}

/// In the order of [`Counter`].
const TABLE: &[(Counter, &str, Kind, &str)] = &[
    (Counter::Connections, "connections", Kind::Gauge, "open connections, counting both sides as one"),
    (Counter::Connecting, "connecting", Kind::Gauge, "open connections whose other end has not answered yet"),
    (
        Counter::MemoryBytes,
        "memory_bytes",
        Kind::Gauge,
        "bytes that count against --memory: what buffers may hold, including the kernel's, and handshakes",
    ),
    (
        Counter::HeldBytes,
        "held_bytes",
        Kind::Gauge,
        "bytes of this process's memory that connections and handshakes take now",
    ),
    (Counter::Accepted, "accepted_total", Kind::Counter, "connections opened by clients"),
    (Counter::Completed, "completed_total", Kind::Counter, "connections closed by both ends"),
    (
        Counter::ResetByWireless,
        "reset_by_wireless_total",
        Kind::Counter,
        "connections reset by the wireless end",
    ),
    (Counter::ResetByWired, "reset_by_wired_total", Kind::Counter, "connections reset by the wired end"),
    (
        Counter::LostWireless,
        "lost_wireless_total",
        Kind::Counter,
        "connections whose wireless end stopped answering",
    ),
    (Counter::LostWired, "lost_wired_total", Kind::Counter, "connections whose wired end stopped answering"),
    (
        Counter::Standstills,
        "standstills_total",
        Kind::Counter,
        "times that a connection of the own stack stood still and was resumed: always 0, or it is a bug",
    ),
    (
        Counter::Truncated,
        "truncated_total",
        Kind::Counter,
        "connections reset at their end because not every byte had been passed on",
    ),
    (
        Counter::Unreachable,
        "unreachable_total",
        Kind::Counter,
        "connections whose destination could not be reached",
    ),
    (
        Counter::GaveWay,
        "gave_way_total",
        Kind::Counter,
        "connections reset while waiting for their destination, to make room for others",
    ),
    (Counter::Waits, "waits_total", Kind::Counter, "times that new connections had to wait for memory"),
    (Counter::Refused, "refused_total", Kind::Counter, "connections refused for lack of files or memory"),
    (Counter::Cut, "cut_total", Kind::Counter, "connections reset when the proxy stopped"),
    (Counter::BytesToWireless, "to_wireless_bytes_total", Kind::Counter, "bytes passed to the wireless side"),
    (Counter::BytesToWired, "to_wired_bytes_total", Kind::Counter, "bytes passed to the wired side"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::Metrics;

    #[test]
    fn the_table_is_in_the_order_of_the_counters() {
        for (index, (counter, name, ..)) in TABLE.iter().enumerate() {
            assert_eq!(*counter as usize, index, "{name}");
        }
    }

    #[test]
    fn prometheus_is_told_kind_and_meaning() {
        let counters = Counters::default();
        counters.add(Counter::Accepted, 3);
        let text = counters.exposition();
        assert!(
            text.contains("# TYPE airtcp_proxy_accepted_total counter\nairtcp_proxy_accepted_total 3\n"),
            "{text}"
        );
        assert!(text.contains("# TYPE airtcp_proxy_connections gauge\n"), "{text}");
    }
}
