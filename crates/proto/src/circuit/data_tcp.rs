//! The data TCP of a reliable decoupling socket (§5, §6): only error control. Its packets wait for the circuit, which has the congestion
//! control.

use super::REPAIR_ROOM;
use super::config::{Config, ErrorControl};
use crate::cc;
use crate::fec;
use crate::tcp::{Recovery, RtoConfig, TcpConfig, TimeoutPolicy};
use airtcp_wire::Dur;

/// F3's timer is BSD's with a finer clock: a tick of 50 ms instead of 500 ms.
const TICK: Dur = Dur::from_millis(50);

impl Config {
    /// The configuration of the data TCP, made of the stack's configuration `tcp`.
    pub fn data_tcp(&self, tcp: &TcpConfig) -> TcpConfig {
        let unlimited = TcpConfig {
            congestion_control: cc::unlimited::SPEC.name.to_owned(),
            cc: Default::default(),
            pacing: false,
            prr: false,
            eifel: false,
            f_rto: false,
            // What the circuit has not taken limits it.
            send_buffer: None,
            // A TCP that does not respond to marks must not ask for them (RFC 3168 §6.1).
            ecn: false,
            packet_size: tcp.packet_size.saturating_sub(self.room()).max(tcp.packet_size / 2),
            ..tcp.clone()
        };
        match self.error_control {
            ErrorControl::Rack => {
                let dupack_threshold = self.repaired_within().unwrap_or(unlimited.dupack_threshold);
                TcpConfig { sack: true, recovery: Recovery::RackTlp, dupack_threshold, ..unlimited }
            }
            ErrorControl::Paper => self.with_features(unlimited),
        }
    }

    /// Bytes that a packet leaves for what a repair has beside it.
    fn room(&self) -> u32 {
        if self.fec.repairs_data() { REPAIR_ROOM } else { 0 }
    }

    /// So many packets later no repair covers a lost one any more. What has been recovered looks as if it had been overtaken, so that
    /// fewer packets after a hole show no loss; a quarter of a round trip does (RFC 8985 §6.2 step 4).
    fn repaired_within(&self) -> Option<u32> {
        self.fec.repairs_data().then_some(fec::WINDOW as u32)
    }

    /// Does the data TCP want to know the control TCPs' window (F2)?
    pub fn repeats_first(&self) -> bool {
        self.error_control == ErrorControl::Paper && self.f2
    }

    /// The paper's error control. Without F1, there is no SACK. Without F2, which is the driver's to leave out
    /// ([`Connection::repeat_first_every`](crate::tcp::Connection::repeat_first_every)), a segment is resent once and then by the timer.
    /// Without F3, the timer is the stack's own, with back-off.
    fn with_features(&self, tcp: TcpConfig) -> TcpConfig {
        TcpConfig {
            sack: self.f1,
            recovery: if self.f1 { Recovery::Sack } else { Recovery::Reno },
            // §5: cwnd is one segment while a lost segment is resent, so that only that one is resent.
            timeout_policy: TimeoutPolicy::SelectiveRepeat,
            rto: if self.f3 { fine_grained(&tcp.rto) } else { tcp.rto.clone() },
            // Attempts that are 100 ms apart do not prove that the peer is gone.
            max_retries: if self.f3 { u32::MAX } else { tcp.max_retries },
            ..tcp
        }
    }
}

fn fine_grained(rto: &RtoConfig) -> RtoConfig {
    RtoConfig {
        min: TICK * 2,
        granularity: TICK,
        measure_tick: TICK,
        expire_tick: TICK,
        backoff: false,
        min_on_variance: false,
        ..rto.clone()
    }
}
