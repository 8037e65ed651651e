//! Hashing of small numbers, which is most of the time of a search.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map by small numbers.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;
/// A set of fingerprints.
pub type Set = HashSet<u128, BuildHasherDefault<Mix>>;

/// Multiplies and folds; nobody chooses its input to harm it.
#[derive(Debug, Default)]
pub struct Mix(u64);

/// The upper and the lower half of a product, folded.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// 128 bits of these words. Of a million million pairs of states two are equal by chance less often than
/// once in 10^26.
pub fn fingerprint(words: &[u32]) -> u128 {
    let (mut one, mut two) = (0x8ebc_6af0_9c88_c6e3_u64, 0x5895_10cc_34a7_c315_u64);
    for pair in words.chunks(2) {
        let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        one = fold(one ^ word, 0xe703_7ed1_a0b4_28db);
        two = fold(two ^ word ^ 0xa076_1d64_78bd_642f, 0x1d8e_4e27_c47d_124f).rotate_left(23);
    }
    u128::from(fold(one, 0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(fold(two, 0xbf58_476d_1ce4_e5b9))
}
