//! Counters of a circuit's ends.

use crate::daemon::{self, counters};

pub type SendingCounters = daemon::Counters<Sending>;
pub type ReceivingCounters = daemon::Counters<Receiving>;

counters! {
    pub enum Sending of "circuit_sender" {
        Open: Gauge = "open", "1 while the receiving gateway answers; 0 while packets bypass the circuit";
        Sessions: Counter = "sessions_total", "sessions that the receiving gateway has accepted";
        DataPackets: Counter = "data_packets_total", "data packets sent";
        DataBytes: Counter = "data_bytes_total", "bytes of data packets sent";
        Lost: Counter = "lost_packets_total", "data packets that the kernel refused";
        Waiting: Gauge = "waiting_packets", "data packets in the tunnel queue";
        Datagrams: Counter = "datagrams_total", "header packets and other datagrams sent to the receiving gateway";
        Repairs: Counter = "repairs_total", "repair packets sent";
        Refused: Counter = "refused_total", "datagrams that failed authentication";
        Window: Gauge = "cwnd_bytes", "sum of the control TCPs' congestion windows";
        RoundTripUs: Gauge = "srtt_microseconds", "the largest SRTT of the control TCPs";
        Retransmissions: Counter = "retransmissions_total", "header packets of this session that were retransmitted";
        Timeouts: Counter = "timeouts_total", "retransmission timeouts of this session";
        Standstills: Counter = "standstills_total",
            "times that packets waited with nothing under way, and the circuit began anew: always 0, or it is a bug";
    }
}

counters! {
    pub enum Receiving of "circuit_receiver" {
        Open: Gauge = "open", "sending gateways being served";
        Sessions: Counter = "sessions_total", "sessions started by sending gateways";
        HeaderPackets: Counter = "header_packets_total", "header packets received";
        Replies: Counter = "replies_total", "ACKs and other datagrams sent back";
        Refused: Counter = "refused_total", "datagrams that failed authentication, or could not be decompressed after losses";
        DataPackets: Counter = "data_packets_total", "data packets received, where they are counted";
        Repairs: Counter = "repairs_total", "repair packets received";
        Rebuilt: Counter = "rebuilt_packets_total", "lost data packets that were rebuilt from repairs";
    }
}
