//! What a repair packet says of itself.

use super::WINDOW;
use super::tinymt::TinyMt;

/// A linear combination of `count` sources, from number `first` on. The coefficients follow from `key`.
///
/// It is the repair payload ID of RFC 8681 §4.1.3, whose density is always 15: no coefficient is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Repair {
    pub key: u16,
    pub count: u16,
    pub first: u32,
}

impl Repair {
    /// Does it cover between one and [`WINDOW`] sources?
    pub fn is_sound(&self) -> bool {
        (1..=WINDOW).contains(&usize::from(self.count))
    }

    /// The coefficients of its sources, by number.
    // RFC 8681 §3.6
    pub fn coefficients(self) -> impl Iterator<Item = (u32, u8)> {
        let mut generator = TinyMt::new(self.key.into());
        let mut draw = move || loop {
            match generator.u32() as u8 {
                0 => {}
                coefficient => return coefficient,
            }
        };
        (0..u32::from(self.count)).map(move |n| (self.first.wrapping_add(n), draw()))
    }
}
