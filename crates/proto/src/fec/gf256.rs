//! The field GF(2^8) of RFC 8681 §3.7.1.2: polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1. Addition is XOR.

/// Powers of x, twice in a row, so that the sum of two logarithms needs no modulo; and logarithms to base x.
const TABLES: ([u8; 510], [u8; 256]) = tables();

const fn tables() -> ([u8; 510], [u8; 256]) {
    let (mut powers, mut logs) = ([0; 510], [0; 256]);
    let (mut power, mut value) = (0, 1_u16);
    while power < 255 {
        powers[power] = value as u8;
        powers[power + 255] = value as u8;
        logs[value as usize] = power as u8;
        value = if value & 0x80 == 0 { value << 1 } else { (value << 1) ^ 0x11d };
        power += 1;
    }
    (powers, logs)
}

#[inline]
pub fn product(a: u8, b: u8) -> u8 {
    let (powers, logs) = &TABLES;
    match (a, b) {
        (0, _) | (_, 0) => 0,
        _ => powers[usize::from(logs[usize::from(a)]) + usize::from(logs[usize::from(b)])],
    }
}

/// The inverse of `a`, which is not 0.
#[inline]
pub fn inverse(a: u8) -> u8 {
    debug_assert!(a != 0, "0 has no inverse");
    let (powers, logs) = &TABLES;
    powers[255 - usize::from(logs[usize::from(a)])]
}

/// Adds `other`, multiplied by `factor`, to as many bytes of `bytes`.
pub fn add_scaled(bytes: &mut [u8], other: &[u8], factor: u8) {
    bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= product(*other, factor));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_field() {
        for a in 0..=255 {
            assert_eq!(product(a, 1), a);
            assert!(a == 0 || product(a, inverse(a)) == 1);
            for b in 0..=255 {
                assert_eq!(product(a, b), product(b, a));
                assert_eq!(product(a, b ^ 0x35), product(a, b) ^ product(a, 0x35));
            }
        }
    }

    /// The polynomial itself: x^7 · x = x^4 + x^3 + x^2 + 1.
    #[test]
    fn its_polynomial_is_the_rfcs() {
        assert_eq!(product(0x80, 2), 0x1d);
    }
}
