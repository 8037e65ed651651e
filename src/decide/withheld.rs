//! Outgoing databags that are held back because Juju refused to commit them.
//!
//! A refused commit loses everything that the hook wrote, and does not say which databag was too much.
//! So the retry holds back every outgoing application databag of that pass; each is then tried alone,
//! one a pass. One that is refused alone stays held back until what it shall hold has changed: a unit
//! whose every hook fails would serve nobody.

use super::difference::{Digests, Wanted};
use crate::databag::Digest;
use crate::databag::charm_state::{Remembered, Withheld, WrittenBag};
use crate::juju::{Level, RelationId, Scope, Status};
use crate::observed::Observed;
use std::collections::BTreeMap;

/// Takes out what is to be held back in this pass, and forgets what has changed or gone.
pub fn apply(observed: &Observed, wanted: &mut Wanted, digests: &Digests, remember: &mut Remembered) {
    // The retry itself writes none of them; a later pass tries one.
    let mut may_try = observed.committed;
    remember.withheld.retain(|relation, withheld| {
        let key = (*relation, Scope::App);
        let Some(digests) = digests.get(&key) else { return observed.relations.contains_key(relation) };
        if content(digests) != withheld.content {
            return false;
        }
        if !withheld.alone && may_try {
            may_try = false;
            return false;
        }
        wanted.remove(&key);
        true
    });
}

/// One status for each databag that is held back.
pub fn statuses(held: &BTreeMap<RelationId, Withheld>) -> Vec<Status> {
    held.iter()
        .map(|(relation, withheld)| {
            if withheld.alone {
                let line = format!(
                    "{relation}: Juju refuses its databag; send fewer or smaller dashboards or rules"
                );
                Status::new(Level::Blocked, line)
            } else {
                let line = format!("{relation}: held back after a refused commit, tried again alone");
                Status::new(Level::Waiting, line)
            }
        })
        .collect()
}

/// The digest of what a databag shall hold.
pub fn content(digests: &WrittenBag) -> Digest {
    let parts: Vec<String> = digests.iter().map(|(key, digest)| format!("{digest} {key}")).collect();
    Digest::of_parts(parts.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::difference::digests;
    use crate::plan::Keys;

    fn keys(text: &str) -> Keys {
        Keys::from([("alert_rules".to_owned(), Some(text.to_owned())), ("old".to_owned(), None)])
    }

    fn held(text: &str) -> Digest {
        let bag = ("logging-consumer:7".parse().unwrap(), Scope::App);
        content(&digests(&Wanted::from([(bag, keys(text))]))[&bag])
    }

    /// What is wanted after one pass in which these relations are held back.
    fn pass(observed: &Observed, remember: &mut Remembered) -> Vec<String> {
        let bag = |id: &str| ((id.parse().unwrap(), Scope::App), keys("x"));
        let mut wanted = Wanted::from([bag("send-remote-write:6"), bag("logging-consumer:7")]);
        let digests = digests(&wanted);
        apply(observed, &mut wanted, &digests, remember);
        wanted.keys().map(|(id, _)| id.to_string()).collect()
    }

    #[test]
    fn the_retry_holds_all_back_then_each_is_tried_alone() {
        let mut observed = crate::decide::tests::observed();
        let mut remember = Remembered::default();
        for id in ["send-remote-write:6", "logging-consumer:7"] {
            let withheld = Withheld { content: held("x"), alone: false };
            remember.withheld.insert(id.parse().unwrap(), withheld);
        }
        observed.committed = false;
        assert_eq!(pass(&observed, &mut remember), Vec::<String>::new());
        observed.committed = true;
        assert_eq!(pass(&observed, &mut remember), ["send-remote-write:6"]);
        assert_eq!(pass(&observed, &mut remember).len(), 2);
        assert!(remember.withheld.is_empty());
    }

    #[test]
    fn one_that_was_refused_alone_stays_until_its_content_changes() {
        let observed = crate::decide::tests::observed();
        let mut remember = Remembered::default();
        let withheld = Withheld { content: held("x"), alone: true };
        remember.withheld.insert("logging-consumer:7".parse().unwrap(), withheld);
        for _ in 0..3 {
            assert_eq!(pass(&observed, &mut remember), ["send-remote-write:6"]);
        }
        let mut changed = Wanted::from([(("logging-consumer:7".parse().unwrap(), Scope::App), keys("y"))]);
        let digests = digests(&changed);
        apply(&observed, &mut changed, &digests, &mut remember);
        assert_eq!((changed.len(), remember.withheld.len()), (1, 0));
    }
}
