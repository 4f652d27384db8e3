//! Counters of a proxy.

use crate::daemon::{self, counters};

pub type Counters = daemon::Counters<Counter>;

counters! {
    pub enum Counter of "proxy" {
        Connections: Gauge = "connections", "open connections, counting both sides as one";
        Connecting: Gauge = "connecting", "open connections whose other end has not answered yet";
        MemoryBytes: Gauge = "memory_bytes",
            "bytes that count against --memory: what buffers may hold, including the kernel's, and handshakes";
        HeldBytes: Gauge = "held_bytes", "bytes of this process's memory that connections and handshakes take now";
        Accepted: Counter = "accepted_total", "connections opened by clients";
        Completed: Counter = "completed_total", "connections closed by both ends";
        ResetByWireless: Counter = "reset_by_wireless_total", "connections reset by the wireless end";
        ResetByWired: Counter = "reset_by_wired_total", "connections reset by the wired end";
        LostWireless: Counter = "lost_wireless_total", "connections whose wireless end stopped answering";
        LostWired: Counter = "lost_wired_total", "connections whose wired end stopped answering";
        Standstills: Counter = "standstills_total",
            "times that a connection of the own stack stood still and was resumed: always 0, or it is a bug";
        Truncated: Counter = "truncated_total", "connections reset at their end because not every byte had been passed on";
        Unreachable: Counter = "unreachable_total", "connections whose destination could not be reached";
        GaveWay: Counter = "gave_way_total", "connections reset while waiting for their destination, to make room for others";
        Waits: Counter = "waits_total", "times that new connections had to wait for memory";
        Refused: Counter = "refused_total", "connections refused for lack of files or memory";
        Cut: Counter = "cut_total", "connections reset when the proxy stopped";
        BytesToWireless: Counter = "to_wireless_bytes_total", "bytes passed to the wireless side";
        BytesToWired: Counter = "to_wired_bytes_total", "bytes passed to the wired side";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::Metrics;

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
