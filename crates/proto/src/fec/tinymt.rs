//! TinyMT32, the generator from which coefficients are drawn (RFC 8682).

/// The parameters that RFC 8682 §2.1 prescribes.
const MAT1: u32 = 0x8f70_11ee;
const MAT2: u32 = 0xfc78_ff1f;
const TMAT: u32 = 0x3793_fdff;

pub struct TinyMt([u32; 4]);

impl TinyMt {
    pub fn new(seed: u32) -> TinyMt {
        let mut state = [seed, MAT1, MAT2, TMAT];
        for i in 1..8_usize {
            let before = state[(i - 1) & 3];
            let mixed = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30));
            state[i & 3] ^= mixed.wrapping_add(i as u32);
        }
        let mut generator = TinyMt(state);
        (0..8).for_each(|_| generator.step());
        generator
    }

    fn step(&mut self) {
        let [s0, s1, s2, s3] = self.0;
        let mut x = (s0 & 0x7fff_ffff) ^ s1 ^ s2;
        x ^= x << 1;
        let y = s3 ^ (s3 >> 1) ^ x;
        let is_odd = (y & 1).wrapping_neg();
        self.0 = [s1, s2 ^ (is_odd & MAT1), x ^ (y << 10) ^ (is_odd & MAT2), y];
    }

    pub fn u32(&mut self) -> u32 {
        self.step();
        let [s0, _, s2, s3] = self.0;
        let sum = s0.wrapping_add(s2 >> 8);
        s3 ^ sum ^ ((sum & 1).wrapping_neg() & TMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8682 §2.1, figure 2.
    #[test]
    fn its_numbers_are_the_rfcs() {
        let mut generator = TinyMt::new(1);
        let numbers: Vec<u32> = (0..8).map(|_| generator.u32()).collect();
        let expected =
            [2545341989, 981918433, 3715302833, 2387538352, 3591001365, 3820442102, 2114400566, 2196103051];
        assert_eq!(numbers, expected);
    }
}
