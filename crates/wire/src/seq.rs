//! TCP sequence numbers: 32 bits that wrap (RFC 9293 §3.4).

/// A sequence number on the wire. Comparison is modulo 2³².
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// The sequence number of stream position `offset` if that of position 0 is `self`.
    #[inline]
    pub fn at(self, offset: u64) -> Seq {
        Seq(self.0.wrapping_add(offset as u32))
    }

    /// Signed distance from `other` to `self`, correct if they are less than 2³¹ apart.
    #[inline]
    pub fn distance(self, other: Seq) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }

    /// The stream position nearest to `near` whose sequence number is `self`, if that of position 0 is `base`. `None`
    /// if it is before the start of the stream.
    #[inline]
    pub fn offset(self, base: Seq, near: u64) -> Option<u64> {
        near.checked_add_signed(i64::from(self.distance(base.at(near))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn offsets_survive_the_wrap(base: u32, near in 0u64..1 << 40, step in -(1i64 << 30)..1 << 30) {
            let Some(offset) = near.checked_add_signed(step) else { return Ok(()) };
            let base = Seq(base);
            prop_assert_eq!(base.at(offset).offset(base, near), Some(offset));
        }
    }

    #[test]
    fn a_number_before_the_stream_is_none() {
        assert_eq!(Seq(99).offset(Seq(100), 0), None);
    }
}
