//! What was found out about dashboards, by digest, so that each is decoded and rewritten once a change.

use super::{Facts, decode, rewrite};
use crate::databag::{Digest, Values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A text that the caller did not bring along. That is no finding, so no later pass may repeat it.
const NOT_READ: &str = "was not read";

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
            let known = known(before.facts.get(&digest));
            known.unwrap_or_else(|| {
                let text = values.get(&digest).ok_or(NOT_READ)?;
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
            let known = known(before.rewritten.get(&key));
            known.unwrap_or_else(|| {
                let text = values.get(&digest).ok_or(NOT_READ)?;
                rewrite(&decode(text)?.json, uid, charm)
            })
        })
    }
}

fn known<T: Clone>(found: Option<&Result<T, String>>) -> Option<Result<T, String>> {
    found.filter(|found| found.as_ref().err().is_none_or(|reason| reason != NOT_READ)).cloned()
}
