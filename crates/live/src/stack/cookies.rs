//! SYN cookies (RFC 4987 §3.6), for handshakes for which there is no room: what the SYN said is in the initial sequence
//! number of the SYN-ACK, and the ACK brings it back. Nothing is kept, and no SYN-ACK is sent again.
//!
//! From the lowest bit: SACK-permitted (1), window scale (4, 15 for none), the class of the MSS (3), the time (2), and a
//! keyed hash of all this, the addresses, the ports and the SYN's sequence number (22). Whether the SYN had timestamps the
//! ACK shows.

use super::half_open::Begun;
use super::isn::InitialNumbers;
use airtcp_proto::tcp::TcpConfig;
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Dur, Flags, Segment, Seq, SynOptions, Time, Timestamps};

/// The MSS is the largest of these that is not above the SYN's.
const SIZES: [u16; 8] = [64, 216, 536, 1024, 1220, 1360, 1440, 1460];
const NO_SCALE: u32 = 15;

/// Bits that are not of the hash.
const OPEN_BITS: u32 = 10;

/// A cookie is good for one to two of these.
const TICK: Dur = Dur::from_secs(64);

/// How long after the last cookie an ACK may bring one back.
pub const AGE: Dur = Dur::from_secs(128);

/// Returns the cookie for a SYN; `None` if its MSS is absurd.
pub fn cookie(numbers: &dyn InitialNumbers, now: Time, endpoints: &Endpoints, syn: &Segment) -> Option<Seq> {
    // RFC 9293 §3.7.1: without the option, the MSS is 536, or 1220 over IPv6.
    let default = if endpoints.source().is_ipv4() { 536 } else { 1220 };
    let mss = syn.syn.mss.unwrap_or(default);
    let class = SIZES.iter().rposition(|&size| size <= mss)? as u32;
    let scale = syn.syn.window_scale.map_or(NO_SCALE, |scale| u32::from(scale.min(14)));
    let open = u32::from(syn.syn.sack_permitted) | scale << 1 | class << 5 | (tick(now) as u32 & 3) << 8;
    Some(seal(numbers, tick(now), endpoints, syn.seq, open))
}

/// Returns the handshake that an ACK completes; `None` if it brings no cookie back.
pub fn begun(
    numbers: &dyn InitialNumbers,
    now: Time,
    endpoints: &Endpoints,
    ack: &Segment,
    config: &TcpConfig,
) -> Option<Begun> {
    let is_ack = ack.flags.contains(Flags::ACK) && ack.flags.0 & (Flags::SYN.0 | Flags::RST.0) == 0;
    let (iss, seq) = (Seq(ack.ack.0.wrapping_sub(1)), Seq(ack.seq.0.wrapping_sub(1)));
    let open = iss.0 & ((1 << OPEN_BITS) - 1);
    let age = (tick(now) as u32).wrapping_sub(open >> 8) & 3;
    let then = tick(now).checked_sub(u64::from(age)).filter(|_| is_ack && age <= 1)?;
    if seal(numbers, then, endpoints, seq, open) != iss {
        return None;
    }
    let scale = open >> 1 & 15;
    let syn = Segment {
        seq,
        flags: Flags::SYN,
        window: ack.window,
        timestamps: ack.timestamps.map(|ts| Timestamps { value: ts.value, echo: 0 }),
        syn: SynOptions {
            mss: Some(SIZES[(open >> 5 & 7) as usize]),
            window_scale: (scale != NO_SCALE).then_some(scale as u8),
            sack_permitted: open & 1 == 1,
            ..SynOptions::default()
        },
        ..Segment::default()
    };
    // Nobody knows when the SYN-ACK left. After one that was sent again, the machine takes no RTT from it (RFC 6298 §3).
    let probe = Begun { syn, iss, at: Time::ZERO, sent: 1, due: Time::NEVER };
    let initial_rto = probe.machine(config, 0)?.poll_timeout().since(Time::ZERO);
    Some(match now.0.checked_sub(initial_rto.0) {
        Some(at) => Begun { at: Time(at), sent: 2, ..probe },
        // The RTT is shorter than the time that has been.
        None => probe,
    })
}

fn tick(now: Time) -> u64 {
    now.0 / TICK.0
}

fn seal(numbers: &dyn InitialNumbers, tick: u64, endpoints: &Endpoints, seq: Seq, open: u32) -> Seq {
    let words = [tick, u64::from(seq.0) << 32 | u64::from(open)];
    Seq(numbers.hash(endpoints, words) << OPEN_BITS | open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Secret;
    use airtcp_proto::tcp::profile;
    use proptest::prelude::*;

    proptest! {
        /// What was said comes back for as long as the cookie is good, and nothing else is taken for one.
        #[test]
        fn a_cookie_brings_back_what_the_syn_said(
            is_ipv4: bool,
            seq: u32,
            mss in prop::option::of(64u16..),
            window_scale in prop::option::of(0u8..=14),
            sack_permitted: bool,
            timestamp in prop::option::of(any::<u32>()),
            sent_s in 0u64..100_000,
            later_s in 0u64..300,
            flipped in prop::option::of(0u32..32),
        ) {
            let numbers = Secret::random().unwrap();
            let at = |address: &str| std::net::SocketAddr::new(address.parse().unwrap(), 80);
            let (us, peer) = if is_ipv4 { ("10.0.0.1", "10.0.0.2") } else { ("fd00::1", "fd00::2") };
            let endpoints = Endpoints::new(at(us), at(peer)).unwrap();
            let options = SynOptions { mss, window_scale, sack_permitted, ..SynOptions::default() };
            let syn = Segment { seq: Seq(seq), flags: Flags::SYN, syn: options, ..Segment::default() };
            let sent = Time::ZERO + Dur::from_secs(sent_s);
            let cookie = cookie(&numbers, sent, &endpoints, &syn).unwrap();
            let ack = Segment {
                seq: syn.seq.at(1),
                ack: Seq(cookie.at(1).0 ^ flipped.map_or(0, |bit| 1 << bit)),
                flags: Flags::ACK,
                timestamps: timestamp.map(|value| Timestamps { value, echo: 1 }),
                ..Segment::default()
            };
            let later = sent + Dur::from_secs(later_s);
            let begun = begun(&numbers, later, &endpoints, &ack, &profile::linux());
            if let Some(begun) = begun {
                prop_assert!(flipped.is_none() && later_s <= 128);
                let known = begun.syn.syn;
                let default = if is_ipv4 { 536 } else { 1220 };
                prop_assert!(known.mss.unwrap() <= mss.unwrap_or(default) && begun.syn.seq == syn.seq);
                prop_assert_eq!((known.window_scale, known.sack_permitted), (window_scale, sack_permitted));
                prop_assert_eq!(begun.syn.timestamps.map(|ts| ts.value), timestamp);
                prop_assert!(begun.machine(&profile::linux(), 1).is_some());
            } else {
                prop_assert!(flipped.is_some() || later_s >= 64);
            }
        }
    }
}
