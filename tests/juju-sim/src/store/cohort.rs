//! Cohorts: a key stands for the whole channel map of one snap at a moment.

use serde::{Deserialize, Serialize};

use super::{ChannelMap, Store};
use crate::world::Time;

/// After so long a new view is fixed under the same key.
pub const WINDOW: u64 = 90 * 24 * 3_600_000;

/// One cohort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cohort {
    /// Of which snap.
    pub snap: String,
    /// When its key was made.
    pub created: Time,
    /// When its view was fixed.
    pub frozen: Time,
    /// The store proxy that made it; none for the store itself.
    pub proxy: Option<String>,
    /// The view.
    pub map: ChannelMap,
}

/// What a store does with a key that it did not make. No rule of a real one is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownKeys {
    /// Refuses it with this text.
    Refuse(String),
    /// Gives the head, as if there were no key.
    Ignore,
}

impl Default for UnknownKeys {
    fn default() -> Self {
        Self::Refuse("cohort-key is invalid".to_owned())
    }
}

impl Store {
    /// A new key of a snap that exists.
    pub fn create_cohort(&mut self, name: &str, proxy: Option<&str>, now: Time) -> Option<String> {
        let snap = self.snaps.get(name)?;
        let text = format!("1 {} {} {}", snap.id, now.0 / 1000, self.rng.hex(64));
        let map = snap.shown();
        let key = base64(text.as_bytes());
        let proxy = proxy.map(str::to_owned);
        let cohort = Cohort { snap: name.to_owned(), created: now, frozen: now, proxy, map };
        self.cohorts.insert(key.clone(), cohort);
        Some(key)
    }

    /// Fixes new views where the old ones are over.
    pub fn tend_cohorts(&mut self, now: Time) {
        for cohort in self.cohorts.values_mut() {
            let passed = now.0.saturating_sub(cohort.frozen.0) / WINDOW;
            if passed > 0
                && let Some(snap) = self.snaps.get(&cohort.snap)
            {
                cohort.frozen = cohort.frozen.plus(passed * WINDOW);
                cohort.map = snap.shown();
            }
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let index = (number >> (18 - 6 * place)) & 63;
            let letter = LETTERS.get(index as usize).copied().unwrap_or(b'A');
            out.push(if place > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn keys_are_base64() {
        assert_eq!(
            base64(b"1 test-snap-key 1700000000 deadbeefdeadbeef"),
            "MSB0ZXN0LXNuYXAta2V5IDE3MDAwMDAwMDAgZGVhZGJlZWZkZWFkYmVlZg=="
        );
        assert_eq!((base64(b"ab"), base64(b"abc")), ("YWI=".to_owned(), "YWJj".to_owned()));
    }
}
