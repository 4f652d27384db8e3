//! The Internet checksum (RFC 1071).

use crate::ip::Addresses;

/// A running one's-complement sum of 16-bit words. Zero bytes add nothing to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum over `bytes`, which begin at an even position. An odd last byte is padded with a zero.
    pub fn of(bytes: &[u8]) -> Sum {
        // RFC 1071 §2 (C): words of twice the length have the same sum.
        let (words, rest) = bytes.as_chunks::<4>();
        let sum: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        Sum(u64::from(fold(sum + u64::from(u32::from_be_bytes(last)))))
    }

    /// The sum over the pseudo header of TCP and UDP (RFC 9293 §3.1, RFC 8200 §8.1). `len` counts the transport header
    /// and the payload.
    pub fn pseudo_header(addresses: &Addresses, protocol: u8, len: u32) -> Sum {
        let pair = match addresses {
            Addresses::V4 { source, destination } => {
                Sum::of(&source.octets()) + Sum::of(&destination.octets())
            }
            Addresses::V6 { source, destination } => {
                Sum::of(&source.octets()) + Sum::of(&destination.octets())
            }
        };
        pair + Sum::of(&len.to_be_bytes()) + Sum(u64::from(protocol))
    }

    /// The checksum for a header whose checksum field was summed as zero. For a header that was summed with the correct
    /// checksum in place, it is zero.
    pub fn checksum(self) -> u16 {
        !fold(self.0)
    }

    /// What takes this sum away from one that contains it (RFC 1624).
    #[must_use]
    pub fn negated(self) -> Sum {
        Sum(u64::from(self.checksum()))
    }

    pub fn is_good(self) -> bool {
        self.checksum() == 0
    }
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

impl std::ops::Add for Sum {
    type Output = Sum;
    fn add(self, other: Sum) -> Sum {
        Sum(self.0 + other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 1071 §3's example: the words 0001 f203 f4f5 f6f7 sum to ddf2.
    #[test]
    fn the_rfcs_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::of(&bytes).checksum(), !0xddf2);
        assert_eq!(Sum::of(&bytes[..7]).checksum(), !0xdcfb, "an odd byte is padded on the right");
    }

    proptest! {
        #[test]
        fn what_is_written_verifies(mut bytes in prop::collection::vec(any::<u8>(), 2..2000)) {
            bytes[..2].fill(0);
            let checksum = Sum::of(&bytes).checksum();
            bytes[..2].copy_from_slice(&checksum.to_be_bytes());
            prop_assert!(Sum::of(&bytes).is_good());
        }

        #[test]
        fn zeros_add_nothing(bytes in prop::collection::vec(any::<u8>(), 0..40), zeros in 0usize..3000) {
            let mut padded = bytes.clone();
            padded.resize(bytes.len() + zeros, 0);
            prop_assert_eq!(Sum::of(&padded), Sum::of(&bytes));
        }
    }
}
