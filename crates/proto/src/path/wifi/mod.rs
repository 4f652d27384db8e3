//! Wi-Fi: one basic service set (IEEE 802.11), whose stations share a half-duplex channel.
//!
//! A frame that is not read, because it collided or was weak, is sent again, up to a number of attempts. The receiver hands packets on in
//! order. What the acknowledgments of the MAC would have said is known to the sender without error.

mod channel;
mod control;
mod edca;
mod error;
mod minstrel;
mod phy;
mod rota;
mod snr;
mod station;

pub use control::RateControl;
pub use phy::Standard;
pub use snr::{Course, Snr, SnrTrace, SnrTraceError};

use super::{Arq, Cover, Hearing, Medium, Transmitter};
use crate::Chance;
use crate::choice::Faults;
use crate::path::medium;
use crate::path::medium::Radio;
use airtcp_wire::{Dur, Rate};
use control::Control;
use edca::{Contention, Edca};
use phy::Mode;
use rota::Rota;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use station::{Exchange, Reception, Station};

/// IEEE 802.11: all links that begin at one node are one station, and stations contend for the channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The amendment by which data is sent.
    pub standard: Standard,
    /// Channel width in MHz: 20; with `n` also 40; with `ac` and `ax` also 80 and 160.
    pub width: u32,
    /// Spatial streams: 1; with `n` up to 4; with `ac` and `ax` up to 8.
    pub streams: u32,
    /// Modulation and coding scheme of links that do not say theirs: up to 7 with `n`, 9 with `ac`, 11 with `ax`. With `a` and
    /// `g`, 0 to 7 are 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s. With rate control, the highest that is used.
    pub mcs: u32,
    /// How links choose among the schemes up to theirs.
    pub rate_control: RateControl,
    /// A guard interval of 0.4 instead of 0.8 µs. With `n` and `ac`.
    pub short_guard_interval: bool,
    /// Longest A-MPDU in bytes; 0: frames go one by one. With `a` and `g` they always do.
    pub ampdu: u32,
    /// RTS and CTS precede what has more bytes than this, from MAC header to FCS. Absent: they precede nothing.
    pub rts_threshold: Option<u32>,
    /// Slots of the arbitration interframe space. Absent: 2 with `a` and `g`, as in DCF; 3 otherwise, that of best effort.
    pub aifsn: Option<u32>,
    /// Smallest contention window in slots.
    pub cw_min: u32,
    /// Largest contention window in slots.
    pub cw_max: u32,
    /// How often a frame is sent at most, at least once.
    pub attempts: u32,
    /// Each node serves its links by airtime instead of one turn after the other. What it sends to a station counts, and what it receives from it,
    /// as in Linux's mac80211.
    pub airtime_fairness: bool,
    /// Pairs of nodes that do not hear each other, by name.
    pub hidden: Vec<[String; 2]>,
    /// By how many dB a frame must be stronger than all that overlaps it at the receiver, to be read. Links with `snr` say how strong
    /// they are. Absent: frames that overlap are not read.
    pub capture_db: Option<f64>,
}

impl Default for Config {
    /// 802.11n in 20 MHz with one stream, and the contention of best effort (IEEE 802.11-2020, table 9-155).
    fn default() -> Config {
        Config {
            standard: Standard::N,
            width: 20,
            streams: 1,
            mcs: 7,
            rate_control: RateControl::Fixed,
            short_guard_interval: false,
            ampdu: 65_535,
            rts_threshold: None,
            aifsn: None,
            cw_min: 15,
            cw_max: 1023,
            attempts: 7,
            airtime_fairness: false,
            hidden: Vec::new(),
            capture_db: None,
        }
    }
}

impl Config {
    fn mode(&self, mcs: u32) -> Mode {
        let Config { standard, width, streams, short_guard_interval, .. } = *self;
        Mode { standard, width, streams, short_guard_interval, mcs }
    }

    fn exchange(&self, mcs: u32) -> Exchange {
        let aggregates = self.standard.aggregates() && self.ampdu > 0;
        Exchange {
            mode: self.mode(mcs),
            sifs: self.standard.sifs(),
            most_bytes: aggregates.then_some(self.ampdu),
            rts_threshold: self.rts_threshold,
        }
    }

    fn control(&self, mcs: u32, chance: Chance) -> Control {
        Control::new(self.rate_control, (0..=mcs).map(|mcs| self.exchange(mcs)).collect(), chance)
    }

    /// Mean rate in bit/s of one link with one scheme, as [`medium::Keys::saturated`].
    fn carried_bps(&self, mcs: u32, snr_db: Option<f64>, bytes: u32) -> f64 {
        let exchange = self.exchange(mcs);
        let (count, time) = exchange.longest(bytes);
        let Contention { aifs, slot, cw_min, .. } = self.contention();
        let turn = time + aifs + slot * u64::from(cw_min) / 2;
        let read = snr_db.map_or(1.0, |snr_db| exchange.readable(snr_db, bytes));
        (u64::from(count * bytes) * 8 * 1_000_000_000 / turn.0) as f64 * read
    }

    fn contention(&self) -> Contention {
        let Config { standard, cw_min, cw_max, attempts, .. } = *self;
        let aifsn = self.aifsn.unwrap_or(if standard.aggregates() { 3 } else { 2 });
        let slot = standard.slot();
        Contention { slot, aifs: standard.sifs() + slot * u64::from(aifsn), cw_min, cw_max, attempts }
    }
}

impl medium::Keys for Config {
    fn check(&self, faults: &mut Faults) {
        let Config { standard, width, streams, mcs, attempts, .. } = *self;
        let name = standard.name();
        let widths = standard.widths().iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        faults.refuse_if(!standard.widths().contains(&width), "width", format!("`{name}` has {widths} MHz"));
        let most = standard.most_streams();
        faults.refuse_if(streams == 0 || streams > most, "streams", format!("`{name}` has 1 to {most}"));
        if let Some(problem) = self.mcs_problem(mcs) {
            faults.refuse_if(true, "mcs", problem);
        }
        let short = self.short_guard_interval && !matches!(standard, Standard::N | Standard::Ac);
        faults.refuse_if(short, "short_guard_interval", format!("`{name}` has none"));
        faults.refuse_if(self.ampdu > 6_500_631, "ampdu", "must be at most 6500631");
        faults.refuse_if(self.aifsn == Some(0), "aifsn", "must be at least 1");
        faults.refuse_if(attempts == 0, "attempts", "must be at least 1");
        let Config { cw_min, cw_max, .. } = *self;
        faults.blame_if(cw_min > cw_max, ["cw_max", "cw_min"], "cw_min must not be above cw_max");
        let is_ratio = self.capture_db.is_none_or(|capture_db| (0.0..=100.0).contains(&capture_db));
        faults.refuse_if(!is_ratio, "capture_db", "must be from 0 to 100");
        faults.refuse_if(cw_max > 32_767, "cw_max", "must be at most 32767");
    }

    fn mcs(&self) -> u32 {
        self.mcs
    }

    fn mcs_problem(&self, mcs: u32) -> Option<String> {
        let most = self.standard.most_mcs();
        (mcs > most).then(|| format!("`{}` has 0 to {most}", self.standard.name()))
    }

    fn lacks(&self, key: &str) -> Option<&'static str> {
        (key == "ue").then_some("only a link in an LTE cell has one; here it is `snr`")
    }

    fn saturated(&self, mcs: u32, snr_db: Option<f64>, bytes: u32) -> Rate {
        let lowest = if self.rate_control == RateControl::Fixed { mcs } else { 0 };
        let carried = (lowest..=mcs).map(|mcs| self.carried_bps(mcs, snr_db, bytes));
        Rate(carried.fold(0.0, f64::max) as u64)
    }

    fn transmitter(&self, Radio { mcs, snr, .. }: Radio, mut chance: Chance) -> Box<dyn Transmitter> {
        let control = self.control(mcs, chance.split());
        let reception = snr.map(|snr| Reception::new(snr, chance));
        Box::new(Station { exchange: self.exchange(mcs), control, reception })
    }

    fn arq(&self) -> Arq {
        Arq { retries: self.attempts - 1, round_trip: Dur::ZERO, in_order: true, cover: Cover::All }
    }

    fn hidden(&self) -> &[[String; 2]] {
        &self.hidden
    }

    fn build(&self, ends: &[[usize; 2]], hidden: &[[usize; 2]], chance: Chance) -> Medium {
        let hearing = Hearing { ends: ends.to_vec(), hidden: hidden.to_vec(), capture_db: self.capture_db };
        let rota = Rota::new(self.airtime_fairness, ends);
        Medium::heard(Edca::new(self.contention(), rota, &hearing, chance), hearing)
    }
}
