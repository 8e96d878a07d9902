//! Randomness from a seed: the same seed and the same requests result in the same ids, addresses and faults.

/// A random number generator (splitmix64): small, fast and good enough for this purpose.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The internal state, to continue from later.
    pub(super) fn state(&self) -> u64 {
        self.0
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws whether an event with this probability, from 0 to 1, happens.
    pub(super) fn happens(&mut self, rate: f64) -> bool {
        // A double has a mantissa of 53 bits.
        let drawn = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < rate
    }

    /// Draws a UUID of version 4.
    pub(super) fn uuid(&mut self) -> String {
        let high = (self.next() & !0xf000) | 0x4000;
        let low = (self.next() & !(0xc0 << 56)) | 0x80 << 56;
        let digits = format!("{high:016x}{low:016x}");
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        parts.join("-")
    }

    /// Draws a number of hexadecimal digits.
    pub(super) fn hex(&mut self, digits: usize) -> String {
        let mut word = String::with_capacity(digits + 16);
        while word.len() < digits {
            word.push_str(&format!("{:016x}", self.next()));
        }
        word.truncate(digits);
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_uuids_in_the_right_form() {
        let (mut one, mut other) = (Random::new(7), Random::new(7));
        for _ in 0..100 {
            let id = one.uuid();
            assert_eq!(id, other.uuid());
            assert_eq!(id.len(), 36);
            assert_eq!(&id[14..15], "4");
            assert!("89ab".contains(&id[19..20]), "{id}");
        }
    }

    #[test]
    fn rates_are_kept_at_both_ends() {
        let mut random = Random::new(1);
        assert!((0..100).all(|_| random.happens(1.0)));
        assert!((0..100).all(|_| !random.happens(0.0)));
    }
}
