//! Choices, drawn from a seed: the same seed makes the same choices.

/// A source of choices (splitmix64).
pub(super) struct Random(u64);

impl Random {
    /// The choices of one of many that draw from the same seed.
    pub(super) fn new(seed: u64, number: usize) -> Random {
        Random(seed.wrapping_add((number as u64).wrapping_mul(0xd134_2543_de82_ef95)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` up to, and without, `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % high.saturating_sub(low).max(1)
    }

    /// Whether something happens that happens so often in a hundred times.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.between(0, 100) < percent
    }

    /// One of these; `None` if there are none.
    pub(super) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(usize::try_from(self.between(0, all.len() as u64)).unwrap_or(0))
    }
}
