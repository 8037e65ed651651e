//! Where contents are looked into: each distinct text once in a pass, however many units have it.

use crate::databag::dashboard::{Facts, Memo};
use crate::databag::record::{Content, LOG_RULES_PATH, METRIC_RULES_PATH};
use crate::databag::rules::{AlertRules, Query};
use crate::databag::{Digest, Fault, Values};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What was read in this pass.
pub(super) struct Workshop<'a> {
    values: &'a Values,
    before: &'a Memo,
    memo: Memo,
    rules: BTreeMap<Digest, Rc<AlertRules>>,
}

impl<'a> Workshop<'a> {
    pub(super) fn new(values: &'a Values, before: &'a Memo) -> Self {
        Self { values, before, memo: Memo::default(), rules: BTreeMap::new() }
    }

    pub(super) fn into_memo(self) -> Memo {
        self.memo
    }

    /// The digest of the rules of one kind.
    pub(super) fn digest(content: &Content, query: Query) -> Digest {
        match query {
            Query::Metrics => content.metric_rules,
            Query::Logs => content.log_rules,
        }
    }

    /// The rules of one kind, read.
    pub(super) fn rules(&mut self, content: &Content, query: Query) -> Rc<AlertRules> {
        let digest = Self::digest(content, query);
        let read = || Rc::new(AlertRules::read(self.values.get(&digest).unwrap_or("{}")));
        Rc::clone(self.rules.entry(digest).or_insert_with(read))
    }

    /// The faults of the rules of one kind, with their paths in the whole value.
    pub(super) fn rule_faults(&mut self, content: &Content, query: Query) -> Vec<Fault> {
        let at = match query {
            Query::Metrics => METRIC_RULES_PATH,
            Query::Logs => LOG_RULES_PATH,
        };
        let rules = self.rules(content, query);
        let whole = |fault: &Fault| {
            let below = fault.path.strip_prefix('$').unwrap_or(&fault.path);
            Fault::new(format!("{at}{below}"), &*fault.reason)
        };
        rules.faults.kept().iter().map(whole).collect()
    }

    /// What is known of one dashboard.
    pub(super) fn facts(&mut self, digest: Digest) -> &Result<Facts, String> {
        self.memo.facts(self.before, digest, self.values)
    }

    /// A dashboard's text as it came.
    pub(super) fn text(&self, digest: Digest) -> Option<&'a str> {
        self.values.get(&digest)
    }

    /// A dashboard with that uid and charm tag.
    pub(super) fn rewritten(&mut self, digest: Digest, uid: &str, charm: &str) -> &Result<String, String> {
        self.memo.rewritten(self.before, digest, (uid, charm), self.values)
    }

    /// The unsound dashboards, with their paths.
    pub(super) fn dashboard_faults(&mut self, content: &Content) -> Vec<(Digest, Fault)> {
        let mut faults = Vec::new();
        for (place, digest) in content.dashboards.iter().enumerate() {
            if let Err(reason) = self.facts(*digest) {
                let fault = Fault::new(content.dashboard_path(place), reason.as_str());
                faults.push((*digest, fault));
            }
        }
        faults
    }

    /// All that is wrong with single items of a content.
    pub(super) fn faults(&mut self, content: &Content) -> Vec<Fault> {
        let mut faults = self.rule_faults(content, Query::Metrics);
        faults.extend(self.rule_faults(content, Query::Logs));
        faults.extend(content.faults.iter().cloned());
        let dashboards = self.dashboard_faults(content).into_iter();
        faults.extend(dashboards.map(|(_, fault)| fault));
        faults
    }
}
