//! Profiles: how the stacks of an era behaved.

use super::config::{Recovery, RtoArithmetic, RtoConfig, RtoTimers, RttTiming, TcpConfig, TimeoutPolicy};
use crate::cc::cubic::CubicRules;
use crate::cc::{Controllers, WindowRules};
use airtcp_wire::{Bytes, Dur};
use std::collections::BTreeMap;

/// One profile of the list.
pub struct Profile {
    pub name: &'static str,
    pub summary: &'static str,
    pub config: fn() -> TcpConfig,
}

/// All profiles, in the order in which they are listed to people.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "linux",
        summary: "Linux 6: CUBIC, RACK-TLP, PRR, RTO floor 200 ms, IW 10",
        config: linux,
    },
    Profile {
        name: "rfc",
        summary: "The RFCs' own words: SACK recovery, RTO floor 1 s, IW 10, delayed ACKs",
        config: rfc,
    },
    Profile {
        name: "bsd-1998",
        summary: "FreeBSD 2.2: Reno, 500 ms clock, RTO floor two ticks, delayed ACKs",
        config: bsd_1998,
    },
    Profile {
        name: "ns2-2.1b6",
        summary: "ns-2.1b6 (2000): 100 ms clock, no RTO floor, 1000-byte packets, window 20",
        config: ns2_2_1b6,
    },
    Profile {
        name: "ns2-2.26",
        summary: "ns-2.26 (2003): 10 ms clock, RTO floor 1 s, 1040-byte packets, window 20",
        config: ns2_2_26,
    },
    Profile {
        name: "ns2-2.35",
        summary: "ns-2.35 (2011): 10 ms clock, RTO floor 200 ms, 1040-byte packets, window 20",
        config: ns2_2_35,
    },
];

/// The profile called `name`.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

pub fn rfc() -> TcpConfig {
    TcpConfig {
        congestion_control: "reno".to_owned(),
        cc: BTreeMap::new(),
        slow_start: None,
        // RFC 3465 §2.3.
        byte_counting_limit: Some(2),
        windows: WindowRules::Rfc,
        cubic: CubicRules::Rfc9438,
        controllers: Controllers::default(),
        no_shortcuts: false,
        pacing: false,
        packet_size: 1500,
        // RFC 6928 §2.
        initial_window: 10,
        initial_ssthresh: None,
        // RFC 5681 §3.1: "1 full-sized segment (regardless of the value of IW)".
        loss_window: 1,
        send_buffer: None,
        receive_window: Bytes(16 << 20),
        receive_buffer: None,
        window_scaling: true,
        timestamps: true,
        sack: true,
        dsack: false,
        ecn: false,
        ecn_retransmissions: false,
        eln: false,
        nagle: true,
        tail_copies: 0,
        ack_every: 2,
        // RFC 5681 §4.2: within 500 ms; 200 ms is what stacks do.
        delayed_ack: Dur::from_millis(200),
        delayed_ack_tick: Dur::ZERO,
        quick_acks: 0,
        compressed_acks: 0,
        recovery: Recovery::Sack,
        timeout_policy: TimeoutPolicy::GoBackN,
        dupack_threshold: 3,
        limited_transmit: true,
        prr: false,
        eifel: false,
        f_rto: false,
        rto: RtoConfig {
            alpha: 0.125,
            beta: 0.25,
            factor: 4.0,
            initial: Dur::from_secs(1),
            min: Dur::from_secs(1),
            max: Dur::from_secs(60),
            granularity: Dur::from_millis(1),
            backoff: true,
            syn_linear: 0,
            measure_tick: Dur::ZERO,
            expire_tick: Dur::ZERO,
            timing: RttTiming::EveryAck,
            timers: RtoTimers::Connection,
            arithmetic: RtoArithmetic::Exact,
            restart_at_fast_retransmit: false,
            min_on_variance: false,
        },
        temporal_sharing: false,
        time_wait: Dur::from_secs(60),
        max_retries: 15,
    }
}

pub fn linux() -> TcpConfig {
    let rfc = rfc();
    TcpConfig {
        congestion_control: "cubic".to_owned(),
        byte_counting_limit: None,
        windows: WindowRules::Linux,
        cubic: CubicRules::Linux,
        // Distributions leave the kernel's default of `tcp_wmem`.
        send_buffer: Some(Bytes(4 << 20)),
        dsack: true,
        delayed_ack: Dur::from_millis(40),
        quick_acks: 16,
        compressed_acks: 44,
        recovery: Recovery::RackTlp,
        prr: true,
        eifel: true,
        f_rto: true,
        rto: RtoConfig {
            min: Dur::from_millis(200),
            max: Dur::from_secs(120),
            min_on_variance: true,
            syn_linear: 4,
            ..rfc.rto.clone()
        },
        ..rfc
    }
}

pub fn bsd_1998() -> TcpConfig {
    let rfc = rfc();
    TcpConfig {
        byte_counting_limit: Some(1),
        initial_window: 1,
        receive_window: Bytes(65_535),
        window_scaling: false,
        timestamps: false,
        sack: false,
        delayed_ack_tick: Dur::from_millis(200),
        recovery: Recovery::Reno,
        limited_transmit: false,
        rto: RtoConfig {
            initial: Dur::from_secs(6),
            min: Dur::from_secs(1),
            max: Dur::from_secs(64),
            granularity: Dur::from_millis(500),
            measure_tick: Dur::from_millis(500),
            expire_tick: Dur::from_millis(500),
            timing: RttTiming::OneAtATime,
            ..rfc.rto.clone()
        },
        ..rfc
    }
}

/// What all versions of ns-2's one-way agents share. Sizes follow `packet_size`.
fn ns2(packet_size: u32) -> TcpConfig {
    let rfc = rfc();
    TcpConfig {
        byte_counting_limit: Some(1),
        packet_size,
        receive_window: Bytes(20 * u64::from(packet_size - 40)),
        window_scaling: false,
        timestamps: false,
        sack: false,
        ecn_retransmissions: true,
        nagle: false,
        ack_every: 1,
        recovery: Recovery::RenoNs2,
        windows: WindowRules::Ns2Whole,
        rto: RtoConfig {
            initial: Dur::from_secs(6),
            timing: RttTiming::OneAtATime,
            arithmetic: RtoArithmetic::Ticks,
            restart_at_fast_retransmit: true,
            ..rfc.rto.clone()
        },
        ..rfc
    }
}

pub fn ns2_2_1b6() -> TcpConfig {
    let base = ns2(1000);
    TcpConfig {
        initial_window: 1,
        limited_transmit: false,
        rto: RtoConfig {
            min: Dur::ZERO,
            granularity: Dur::from_millis(100),
            measure_tick: Dur::from_millis(100),
            ..base.rto.clone()
        },
        ..base
    }
}

pub fn ns2_2_26() -> TcpConfig {
    let base = ns2(1040);
    TcpConfig {
        initial_window: 2,
        rto: RtoConfig {
            min: Dur::from_secs(1),
            granularity: Dur::from_millis(10),
            measure_tick: Dur::from_millis(10),
            ..base.rto.clone()
        },
        ..base
    }
}

pub fn ns2_2_35() -> TcpConfig {
    let base = ns2_2_26();
    TcpConfig {
        recovery: Recovery::Reno,
        windows: WindowRules::Ns2,
        rto: RtoConfig { initial: Dur::from_secs(3), min: Dur::from_millis(200), ..base.rto.clone() },
        ..base
    }
}
