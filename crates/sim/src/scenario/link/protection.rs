//! What a link does against loss: error correction and retransmission.

use super::value::{Around, Value};
use crate::scenario::check::Check;
use airtcp_proto::path::{self, BlockCode, Cover};
use airtcp_wire::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Forward error correction by a block code, as a Reed–Solomon code: a packet survives if in none of its blocks more
/// symbols are wrong than half of the parity. It helps against `loss.ber`; other losses take a packet together with
/// its parity. Parity takes air time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fec {
    /// Bits of a symbol.
    pub symbol_bits: u32,
    /// Symbols of data in a block. With the defaults, the code is RS(255, 223).
    pub data_symbols: u32,
    /// Symbols of parity in a block. 0: no code.
    pub parity_symbols: u32,
    /// Protect only these packets. Absent: all.
    pub only: Option<Protected>,
}

/// Local retransmission (ARQ): a packet dropped by the loss models is resent after a round trip over the link. Each
/// copy takes air time; requests are never lost and take none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Arq")]
pub struct ArqKeys {
    /// Maximum retransmissions of a packet. 0: no ARQ.
    pub retries: u32,
    /// From the end of a copy to the start of the next one. Absent: the link's delay there and back.
    pub round_trip: Option<Dur>,
    /// Later packets wait for one being resent. Otherwise they overtake it.
    pub in_order: bool,
    /// Resend only these packets. Absent: all.
    pub only: Option<Protected>,
}

/// Local retransmission, complete.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Arq {
    /// Not zero.
    pub retries: u32,
    pub round_trip: Dur,
    pub in_order: bool,
    pub only: Option<Protected>,
}

/// Packets to which a link layer may limit its protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protected {
    /// Those of TCP circuits' control connections (paper 000 §10).
    HeaderPackets,
}

impl Default for Fec {
    fn default() -> Fec {
        Fec { symbol_bits: 8, data_symbols: 223, parity_symbols: 32, only: None }
    }
}

impl Default for ArqKeys {
    fn default() -> ArqKeys {
        ArqKeys { retries: 3, round_trip: None, in_order: true, only: None }
    }
}

impl Fec {
    pub fn code(&self) -> BlockCode {
        let Fec { symbol_bits, data_symbols, parity_symbols, .. } = *self;
        BlockCode { symbol_bits, data_symbols, parity_symbols }
    }

    pub fn cover(&self) -> Cover {
        cover(self.only)
    }
}

impl From<Arq> for path::Arq {
    fn from(Arq { retries, round_trip, in_order, only }: Arq) -> path::Arq {
        path::Arq { retries, round_trip, in_order, cover: cover(only) }
    }
}

fn cover(only: Option<Protected>) -> Cover {
    match only {
        None => Cover::All,
        Some(Protected::HeaderPackets) => Cover::HeaderPackets,
    }
}

/// None of its three numbers is zero.
impl Value for Option<Fec> {
    type Written = Fec;

    fn read(fec: &Fec, _: &Around<'_>, check: &mut Check<'_>) -> Option<Option<Fec>> {
        let may_be = |value, most| (1..=most).contains(&value);
        check.refuse_if(!may_be(fec.symbol_bits, 32), "symbol_bits", "must be from 1 to 32");
        check.refuse_if(!may_be(fec.data_symbols, 1 << 20), "data_symbols", "must be from 1 to 1048576");
        check.refuse_if(fec.parity_symbols > 1 << 20, "parity_symbols", "must be at most 1048576");
        Some((fec.parity_symbols > 0).then_some(*fec))
    }

    /// Where the way back has no protection but would inherit some, it is written as switched off. So is retransmission.
    fn shown(&self, forward: &Self) -> Option<Self> {
        let off = forward.map(|fec| Fec { parity_symbols: 0, ..fec });
        self.or(off).map(Some)
    }
}

impl Value for Option<Arq> {
    type Written = ArqKeys;

    fn read(written: &ArqKeys, around: &Around<'_>, _: &mut Check<'_>) -> Option<Option<Arq>> {
        let ArqKeys { retries, round_trip, in_order, only } = *written;
        let arq = Arq { retries, round_trip: round_trip.unwrap_or(around.round_trip), in_order, only };
        Some((retries > 0).then_some(arq))
    }

    fn shown(&self, forward: &Self) -> Option<Self> {
        let off = forward.map(|arq| Arq { retries: 0, ..arq });
        self.or(off).map(Some)
    }
}
