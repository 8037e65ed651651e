//! What `pre-upgrade-check` prints: every check, and what an upgrade would do if it began now.

use super::super::options::Pause;
use super::{Checked, Facts, Verdict};
use crate::databag::node::Role;
use crate::juju::{AppName, UnitName};
use std::collections::{BTreeMap, BTreeSet};

/// What an upgrade would do.
#[derive(Debug, Clone)]
pub struct Outlook {
    /// Who moves, first to go first.
    pub order: Vec<(UnitName, Role)>,
    /// Where it pauses.
    pub pause: Pause,
    /// How many workers move at the same time.
    pub parallelism: usize,
    /// The checks that are overridden already.
    pub overridden: BTreeSet<String>,
    /// The applications of the principals: their charms may have a channel of their own.
    pub principals: Vec<AppName>,
    /// The channel that the option asks for, if it is that which does.
    pub channel: Option<String>,
    /// The channel that all members track now, if it is one.
    pub present: Option<String>,
}

/// For a person, and for a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// For a person.
    pub text: String,
    /// For a machine: keys as `action-set` takes them.
    pub results: BTreeMap<String, String>,
    /// Which checks hold the upgrade back.
    pub held_by: Vec<&'static str>,
}

/// Puts the report together.
pub fn report(facts: &Facts<'_>, checks: &[Checked], outlook: &Outlook) -> Report {
    let mut lines = Vec::new();
    let mut results = BTreeMap::new();
    let overridden = |name: &str| outlook.overridden.contains(name);
    let held_by: Vec<&'static str> =
        checks.iter().filter(|check| check.holds(overridden)).map(|check| check.name).collect();
    lines.push("Checks".to_owned());
    for check in checks {
        let verdict = check.found.verdict;
        let passed_over = verdict != Verdict::Ok && !check.holds(overridden);
        let note = if passed_over { " (overridden)" } else { "" };
        let (name, word, long) = (check.name, verdict.as_str(), &check.found.long);
        lines.push(format!("  {name:21}  {word:7}  {long}{note}"));
        results.insert(format!("checks.{name}.verdict"), word.to_owned());
        results.insert(format!("checks.{name}.reason"), long.clone());
    }
    for (title, key, told) in [
        ("Moves", "moves", moves(facts)),
        ("Order", "order", order(outlook)),
        ("Pauses", "pauses", vec![pauses(outlook)]),
        ("Begin", "begin", begin(facts, outlook)),
        ("Go back", "rollback", back(facts, outlook)),
    ] {
        lines.push(title.to_owned());
        lines.extend(told.iter().map(|line| format!("  {line}")));
        results.insert(key.to_owned(), told.join("; "));
    }
    let result = match held_by.as_slice() {
        [] => "ready: nothing holds the upgrade back".to_owned(),
        held => {
            let (app, held) = (facts.app, held.join(","));
            format!(
                "held back by {held}; to go on all the same: juju run {app}/leader override-checks checks={held}"
            )
        }
    };
    lines.push(result.clone());
    results.insert("ready".to_owned(), held_by.is_empty().to_string());
    results.insert("result".to_owned(), result);
    Report { text: lines.join("\n") + "\n", results, held_by }
}

fn moves(facts: &Facts<'_>) -> Vec<String> {
    let of = |(name, wish): (&_, &crate::databag::target::Wish)| {
        let nodes = facts.units.iter().filter_map(|unit| unit.node);
        let now: BTreeSet<String> = nodes
            .filter_map(|node| node.snaps.get(name)?.channel.as_ref())
            .map(ToString::to_string)
            .collect();
        let from = if now.is_empty() {
            "nowhere".to_owned()
        } else {
            now.into_iter().collect::<Vec<_>>().join(" and ")
        };
        format!("{name}: {from} to {}", wish.channel)
    };
    facts.changes.iter().map(of).collect()
}

fn order(outlook: &Outlook) -> Vec<String> {
    let units = |role: Role| {
        let units = outlook.order.iter().filter(move |(_, other)| *other == role);
        units.map(|(unit, _)| unit.to_string()).collect::<Vec<_>>()
    };
    let mut roles: Vec<Role> = outlook.order.iter().map(|(_, role)| *role).collect();
    roles.dedup();
    roles
        .into_iter()
        .map(|role| {
            let at_once = match role {
                Role::Worker => outlook.parallelism,
                Role::ControlPlane => 1,
            };
            format!("{role}, {at_once} at a time: {}", units(role).join(", "))
        })
        .collect()
}

fn pauses(outlook: &Outlook) -> String {
    match outlook.pause {
        Pause::None => "nowhere (option pause-after-unit-refresh)".to_owned(),
        Pause::First => "after the first unit of each role, until resume-upgrade".to_owned(),
        Pause::All => "after every unit, until resume-upgrade".to_owned(),
    }
}

/// What to do to begin, and what lockstep leaves to the admin.
fn begin(facts: &Facts<'_>, outlook: &Outlook) -> Vec<String> {
    let app = facts.app;
    let mut lines = Vec::new();
    if let Some(channel) = &outlook.channel {
        lines.extend(principals(outlook, channel));
        lines.push(format!("juju config {app} channel={channel}"));
    }
    lines.push("workers are not drained; to drain each by hand: pause-after-unit-refresh=all".to_owned());
    lines
}

/// The exact way back.
fn back(facts: &Facts<'_>, outlook: &Outlook) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(channel) = &outlook.present {
        lines.extend(principals(outlook, channel));
    }
    lines.push(format!("juju run {}/leader rollback", facts.app));
    lines
}

/// A principal whose charm has a channel of its own would else take its snaps back.
fn principals<'a>(outlook: &'a Outlook, channel: &'a str) -> impl Iterator<Item = String> + 'a {
    outlook
        .principals
        .iter()
        .map(move |app| format!("juju config {app} channel={channel} (if it has that option)"))
}
