//! The mark by which routers tell header packets from data.

use std::fmt;
use std::str::FromStr;

/// Bits of the DSCP that a header packet has set, beside those of the data whose path it takes: the "CONTROL" bit that paper 000
/// (§4.5.1) has in the TOS field. ECN's two bits are never part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark(u8);

impl Mark {
    /// Header packets look like any packet.
    pub const NONE: Mark = Mark(0);

    const MAX: u8 = 0b11_1111;

    /// Returns whether a packet with this DSCP has the mark.
    pub fn is_on(self, dscp: u8) -> bool {
        self != Mark::NONE && dscp & self.0 == self.0
    }

    /// The DSCP of a header packet among data with this DSCP.
    pub fn put_on(self, dscp: u8) -> u8 {
        dscp | self.0
    }

    /// The six bits.
    pub fn bits(self) -> u8 {
        self.0
    }
}

/// The three lowest bits. Such a DSCP is one of those for experimental and local use (RFC 2474 §6, pool 2, `xxxx11`): no service
/// has it. It keeps the three bits that select a class (§4.2.2), so that routers which know classes, and Wi-Fi, serve header
/// packets as they serve the data. All three and not only two, because Linux's default queue still reads these bits as RFC 1349
/// did: to it `011` is bulk, which waits for everything else, but `111` is served like unmarked packets.
impl Default for Mark {
    fn default() -> Mark {
        Mark(0b111)
    }
}

impl FromStr for Mark {
    type Err = String;

    fn from_str(text: &str) -> Result<Mark, String> {
        let number = || text.parse().ok().filter(|bits| (1..=Mark::MAX).contains(bits)).map(Mark);
        let mark = if text == "none" { Some(Mark::NONE) } else { number() };
        mark.ok_or_else(|| format!("write 1 to {}, or none", Mark::MAX))
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Mark::NONE { f.write_str("none") } else { self.0.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 2474 §4.2.2: the class, which is in the upper three bits.
    fn class(dscp: u8) -> u8 {
        dscp >> 3
    }

    proptest! {
        #[test]
        fn a_marked_dscp_shows_it_and_keeps_the_rest(dscp in 0..=Mark::MAX, bits in 1..=Mark::MAX) {
            let mark: Mark = bits.to_string().parse().unwrap();
            let marked = mark.put_on(dscp);
            prop_assert!(mark.is_on(marked) && marked <= Mark::MAX);
            prop_assert_eq!(marked & !bits, dscp & !bits);
            prop_assert_eq!(mark.to_string().parse(), Ok(mark));
            prop_assert_eq!(class(Mark::default().put_on(dscp)), class(dscp));
        }
    }

    /// RFC 2474 §6: services have DSCPs of pool 1, which end in 0; one of pool 3 (RFC 8622) ends in 01.
    #[test]
    fn no_service_has_the_default_mark() {
        assert!(
            (0..=Mark::MAX)
                .filter(|dscp| dscp & 1 == 0 || dscp & 0b11 == 0b01)
                .all(|dscp| !Mark::default().is_on(dscp))
        );
        assert!((0..=Mark::MAX).all(|dscp| !Mark::NONE.is_on(Mark::NONE.put_on(dscp))));
        assert!(["0", "64", "-1", "", "None"].iter().all(|text| text.parse::<Mark>().is_err()));
    }
}
