//! Rate control: by which modulation and coding scheme a Wi-Fi link sends next.

use super::minstrel::Minstrel;
use super::station::Exchange;
use crate::Chance;
use airtcp_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a Wi-Fi link chooses its modulation and coding scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateControl {
    /// Always `mcs`.
    #[default]
    Fixed,
    /// It knows the signal-to-noise ratio: the highest scheme at which less than one packet of 1500 bytes in ten cannot be read.
    Ideal,
    /// It learns from acknowledgments, as Linux's mac80211 does.
    MinstrelHt,
}

/// Size of the packets for which [`RateControl::Ideal`] chooses.
const PACKET_BYTES: u32 = 1500;
/// How much of them it lets go unread.
const MOST_ERRORS: f64 = 0.1;

/// What is sent in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub mcs: u32,
    /// A single frame, to learn whether it is read.
    pub is_probe: bool,
}

/// The rate control of one link.
pub enum Control {
    Fixed(u32),
    /// By scheme, the least signal-to-noise ratio in dB.
    Ideal(Vec<f64>),
    MinstrelHt(Box<Minstrel>),
}

impl Control {
    /// `exchanges` are those of all schemes that it may use, from the lowest; with [`RateControl::Fixed`], the last one is used.
    pub fn new(kind: RateControl, exchanges: Vec<Exchange>, chance: Chance) -> Control {
        match kind {
            RateControl::Fixed => Control::Fixed(exchanges.len() as u32 - 1),
            RateControl::Ideal => Control::Ideal(exchanges.iter().map(least_snr_db).collect()),
            RateControl::MinstrelHt => Control::MinstrelHt(Box::new(Minstrel::new(&exchanges, chance))),
        }
    }

    /// What to send in the turn at `now`.
    pub fn choose(&mut self, now: Time, snr_db: f64) -> Choice {
        let always = |mcs| Choice { mcs, is_probe: false };
        match self {
            Control::Fixed(mcs) => always(*mcs),
            Control::Ideal(least) => {
                always(least.iter().rposition(|least| *least <= snr_db).unwrap_or(0) as u32)
            }
            Control::MinstrelHt(minstrel) => minstrel.choose(now),
        }
    }

    /// Of the frames sent last, so many were acknowledged.
    pub fn on_acknowledged(&mut self, read: usize, sent: usize) {
        if let Control::MinstrelHt(minstrel) = self {
            minstrel.on_acknowledged(read, sent);
        }
    }
}

/// The signal-to-noise ratio in dB, within 0.001, that [`RateControl::Ideal`] asks of a scheme.
fn least_snr_db(exchange: &Exchange) -> f64 {
    let (mut too_low, mut enough) = (-100.0, 200.0);
    while enough - too_low > 1e-3 {
        let middle = (too_low + enough) / 2.0;
        match 1.0 - exchange.readable(middle, PACKET_BYTES) < MOST_ERRORS {
            true => enough = middle,
            false => too_low = middle,
        }
    }
    enough
}
