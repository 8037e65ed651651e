//! The one source of chance: splitmix64, written out so that an old seed stays valid for ever.

use serde::Serialize;

/// A generator whose whole state is one number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The same seed gives the same sequence.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        if bound == 0 {
            return 0;
        }
        // The bias is below 2^-32 for every bound that a model can have.
        (self.next_u64() % bound) as usize
    }

    /// One of the given things, or none of none.
    pub fn pick<T>(&mut self, mut from: Vec<T>) -> Option<T> {
        if from.is_empty() {
            return None;
        }
        let index = self.below(from.len());
        Some(from.swap_remove(index))
    }

    /// The same things in another order.
    pub fn shuffle<T>(&mut self, mut from: Vec<T>) -> Vec<T> {
        for end in (1..from.len()).rev() {
            let other = self.below(end + 1);
            from.swap(end, other);
        }
        from
    }

    /// As many hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        let mut out = String::new();
        while out.len() < digits {
            out.push_str(&format!("{:016x}", self.next_u64()));
        }
        out.truncate(digits);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut rng = Rng::new(1234567);
        assert_eq!(rng.next_u64(), 6457827717110365317);
        assert_eq!(rng.next_u64(), 3203168211198807973);
    }

    #[test]
    fn a_shuffle_keeps_all() {
        let mut rng = Rng::new(1);
        let mut shuffled = rng.shuffle((0..20).collect::<Vec<_>>());
        assert_ne!(shuffled, (0..20).collect::<Vec<_>>());
        shuffled.sort();
        assert_eq!(shuffled, (0..20).collect::<Vec<_>>());
    }
}
