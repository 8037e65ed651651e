//! What was found out about dashboards, by digest, so that each is decoded and rewritten once a change.

use super::{Facts, decode, rewrite};
use crate::databag::{Digest, Values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Facts and rewritten texts by digest. A pass takes the memo of the pass before and gives back what it
/// used, so that nothing grows. It only repeats what can be found out again: losing it costs time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memo {
    facts: BTreeMap<Digest, Result<Facts, String>>,
    /// By the digest of source digest, uid and charm.
    rewritten: BTreeMap<Digest, Result<String, String>>,
}

impl Memo {
    /// The facts of a dashboard, from the memo of the pass before or found out now; kept in `self`.
    pub fn facts(&mut self, before: &Self, digest: Digest, values: &Values) -> &Result<Facts, String> {
        self.facts.entry(digest).or_insert_with(|| {
            let known = before.facts.get(&digest).cloned();
            known.unwrap_or_else(|| {
                let text = values.get(&digest).ok_or("was not read")?;
                decode(text).map(|decoded| decoded.facts)
            })
        })
    }

    /// The dashboard with that uid and charm tag, encoded, likewise.
    pub fn rewritten(
        &mut self,
        before: &Self,
        digest: Digest,
        (uid, charm): (&str, &str),
        values: &Values,
    ) -> &Result<String, String> {
        let key = Digest::of_parts([digest.to_string().as_str(), uid, charm]);
        self.rewritten.entry(key).or_insert_with(|| {
            let known = before.rewritten.get(&key).cloned();
            known.unwrap_or_else(|| {
                let text = values.get(&digest).ok_or("was not read")?;
                rewrite(&decode(text)?.json, uid, charm)
            })
        })
    }
}
