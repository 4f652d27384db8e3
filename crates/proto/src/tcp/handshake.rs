//! What the two SYNs negotiate.

use super::config::TcpConfig;
use super::rtt::RtoRules;
use super::spurious::timestamp;
use crate::cc::registry::{RegistryError, Values};
use crate::cc::{Build, CongestionControl, Controller, Governor};
use airtcp_wire::{FastOpen, Flags, Segment, SynOptions, Time, Timestamps};
use std::sync::Arc;

/// Options in force on a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Negotiated {
    pub timestamps: bool,
    pub sack: bool,
    pub ecn: bool,
    pub window_scaling: bool,
    /// Shift of the windows that the peer advertises (RFC 7323 §2.3).
    pub peer_window_shift: u8,
    /// Bytes that our send buffer lets be outstanding.
    pub most_outstanding: u32,
    /// Payload bytes of a full segment (RFC 6691: the MSS less the options on each segment).
    pub mss: u32,
}

impl Negotiated {
    /// Bytes that may be outstanding, given the window field of a segment without SYN: what the peer offers, as far as our send buffer
    /// holds it. Nothing else needs to know of that buffer.
    #[inline(always)]
    pub fn window(&self, field: u16) -> u64 {
        (u32::from(field) << self.peer_window_shift).min(self.most_outstanding).into()
    }

    /// The same for a segment with SYN (RFC 7323 §2.2: its window is never scaled).
    pub fn window_of_syn(&self, field: u16) -> u64 {
        u32::from(field).min(self.most_outstanding).into()
    }

    /// The timestamps of a segment that leaves now, if they are in use. The echo is still to come.
    #[inline(always)]
    pub fn stamps(&self, now: Time) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps { value: timestamp(now), echo: 0 })
    }
}

/// The options of our SYN.
pub fn offer(config: &TcpConfig, window_shift: u8) -> SynOptions {
    SynOptions {
        mss: Some((config.packet_size.saturating_sub(40)).clamp(1, 0xffff) as u16),
        window_scale: config.window_scaling.then_some(window_shift),
        sack_permitted: config.sack,
        fast_open: FastOpen::ABSENT,
    }
}

/// The smallest MSS that is taken from a peer, options included (Linux's `tcp_min_snd_mss`): with less, every few bytes
/// would become a packet.
const SMALLEST_MSS: u32 = 48;

/// The options in force after the peer's SYN or SYN-ACK.
pub fn negotiate(config: &TcpConfig, syn: &Segment) -> Negotiated {
    let timestamps = config.timestamps && syn.timestamps.is_some();
    // RFC 9293 §3.7.1: 536 where the peer does not say. Linux takes 0 for that, too.
    let peer_mss = u32::from(syn.syn.mss.filter(|&mss| mss > 0).unwrap_or(536)).max(SMALLEST_MSS);
    let window_scale = syn.syn.window_scale.filter(|_| config.window_scaling);
    let own_mss = config.packet_size.saturating_sub(40);
    let is_ack = syn.flags.contains(Flags::ACK);
    // RFC 3168 §6.1.1: a SYN asks with ECE and CWR, a SYN-ACK agrees with ECE alone.
    let asks_ecn = syn.flags.contains(Flags::ECE) && syn.flags.contains(Flags::CWR) != is_ack;
    let mss = own_mss.min(peer_mss).saturating_sub(if timestamps { 12 } else { 0 }).max(1);
    Negotiated {
        timestamps,
        sack: config.sack && syn.syn.sack_permitted,
        ecn: config.ecn && asks_ecn,
        window_scaling: window_scale.is_some(),
        // RFC 7323 §2.3: more than 14 is 14.
        peer_window_shift: window_scale.unwrap_or(0).min(14),
        most_outstanding: config.most_outstanding(mss),
        mss,
    }
}

/// A configuration, and the controller that it names, for connections to share.
pub struct Rules {
    pub config: TcpConfig,
    /// The rules of `config.rto`.
    pub rto: Arc<RtoRules>,
    /// Segments may be predicted: neither forbidden, nor are there copies of which a prediction knows nothing.
    pub predicts: bool,
    controller: Controller,
    values: Values,
}

impl Rules {
    /// # Errors
    /// If `config` names an unknown controller or parameter.
    pub fn new(config: &TcpConfig) -> Result<Rules, RegistryError> {
        let controller = config.controllers.find_or_unlimited(&config.congestion_control)?;
        let values = controller.values(&config.cc)?;
        let predicts = !config.no_shortcuts && config.tail_copies == 0;
        let rto = Arc::new(RtoRules::new(&config.rto));
        Ok(Rules { rto, predicts, config: config.clone(), controller, values })
    }

    /// What stands in for a controller until data is sent.
    pub fn before_data(&self, mss: u64) -> Governor {
        Governor::before_data(&self.conditions(0, mss, self.config.initial_window))
    }

    /// A connection's controller, for segments of `mss` bytes, that starts with `initial_window` segments.
    pub fn build(&self, seed: u64, mss: u64, initial_window: u32) -> Box<dyn CongestionControl> {
        self.controller.build(&self.conditions(seed, mss, initial_window), &self.values)
    }

    fn conditions(&self, seed: u64, mss: u64, initial_window: u32) -> Build {
        let config = &self.config;
        Build {
            mss,
            initial_window: mss * u64::from(initial_window.max(1)),
            initial_ssthresh: config.initial_ssthresh.map_or(u64::MAX, |segments| mss * u64::from(segments)),
            loss_window: mss * u64::from(config.loss_window),
            slow_start: config.slow_start,
            byte_counting_limit: config.byte_counting_limit,
            windows: config.windows,
            cubic: config.cubic,
            is_paced: config.pacing,
            seed,
        }
    }
}
