//! Expectations: what must be so, and what to say if it is not.

mod snaps;
mod types;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

pub use snaps::*;
pub use types::*;

use crate::sim::{Event, HookRecord, Outcome, Sim};
use crate::world::{Level, StatusInfo};

impl Sim {
    /// Judges one condition.
    pub fn expect(&self, expect: &Expect) -> Result<()> {
        self.judge(expect).map_err(|e| anyhow::anyhow!("expected {expect:?}: {e:#}{}", self.recent(8)))
    }

    fn judge(&self, expect: &Expect) -> Result<()> {
        match expect {
            Expect::Status(e) => {
                let unit = self.unit_named(&e.unit)?;
                let of = self.world.units.get(&unit).context("no such unit")?;
                status_fits(of.shown_status(), [&e.is, &e.message, &e.contains, &e.lacks])
            }
            Expect::AgentStatus(e) => {
                let unit = self.unit_named(&e.unit)?;
                let of = self.world.units.get(&unit).context("no such unit")?;
                status_fits(&of.agent, [&e.is, &e.message, &e.contains, &e.lacks])
            }
            Expect::AppStatus(e) => status_fits(
                &self.world.app_status(&e.application),
                [&e.is, &e.message, &e.contains, &e.lacks],
            ),
            Expect::Databag(e) => self.judge_databag(e),
            Expect::HookFailed(e) => {
                let unit = self.unit_named(&e.unit)?;
                let of = self.world.units.get(&unit).context("no such unit")?;
                ensure!(of.in_error(), "{unit} is not in error; its agent is {}", of.agent);
                let hook = of.uniter.pending.hook().map(crate::world::HookInfo::name).unwrap_or_default();
                ensure!(e.hook.as_ref().is_none_or(|wanted| *wanted == hook), "the failed hook is {hook}");
                Ok(())
            }
            Expect::NoHookErrors(wanted) => {
                let failed = self
                    .records(None, None)
                    .find(|(_, r)| matches!(r.outcome, Outcome::Failed(_)) && r.kind == "hook");
                match failed {
                    Some((_, record)) if *wanted => bail!("{} failed in {}", record.name, record.unit),
                    None if !*wanted => bail!("no hook failed"),
                    _ => Ok(()),
                }
            }
            Expect::Action(e) => self.judge_action(e),
            Expect::Calls(e) => self.judge_calls(e),
            Expect::Log(e) => self.judge_log(e),
            Expect::StatusHistory(e) => {
                let unit = self.unit_named(&e.unit)?;
                let of = self.world.units.get(&unit).context("no such unit")?;
                let all: Vec<String> =
                    of.history.iter().filter(|h| h.kind == "workload").map(|h| h.info.to_string()).collect();
                in_order(&e.has, &all, |wanted, found| {
                    wanted == found || found.starts_with(&format!("{wanted}:"))
                })
            }
            Expect::Leader(e) => {
                let leader = self.world.leader_of(&e.application);
                let wanted = e.is.as_ref().map(|unit| self.unit_named(unit)).transpose()?;
                ensure!(leader == wanted.as_deref(), "{} leads", leader.unwrap_or("nobody"));
                Ok(())
            }
            Expect::Hooks(e) => self.judge_hooks(e),
            Expect::Exists(e) => {
                let unit = e.unit.as_ref().map(|name| self.unit_named(name).is_ok());
                let app = e.application.as_ref().map(|name| self.world.applications.contains_key(name));
                let relation = e.relation.as_ref().map(|ends| self.world.find_relation(ends).is_some());
                for there in [unit, app, relation].into_iter().flatten() {
                    ensure!(there != e.not, "it is {}there", if there { "" } else { "not " });
                }
                Ok(())
            }
            Expect::Version(e) => {
                let unit = self.unit_named(&e.unit)?;
                let version = self.world.units.get(&unit).and_then(|u| u.version.as_deref());
                ensure!(version == Some(e.is.as_str()), "it is {}", version.unwrap_or("not set"));
                Ok(())
            }
            Expect::State(e) => {
                let unit = self.unit_named(&e.unit)?;
                let state = self.world.units.get(&unit).map(|u| u.state.clone()).unwrap_or_default();
                map_fits(&state, &e.has, &e.lacks)
            }
            Expect::Snap(e) => self.judge_snap(e),
            Expect::SnapChanges(e) => self.judge_snap_changes(e),
            Expect::File(e) => self.judge_file(e),
            Expect::Ports(e) => {
                let unit = self.unit_named(&e.unit)?;
                let ports: Vec<String> = self
                    .world
                    .units
                    .get(&unit)
                    .map(|u| u.ports.iter().cloned().collect())
                    .unwrap_or_default();
                ensure!(ports == e.are, "they are {}", ports.join(", "));
                Ok(())
            }
        }
    }

    /// Jobs that ran, with the place of their event, of one unit or of all, from a mark on.
    fn records<'a>(
        &'a self,
        unit: Option<String>,
        since: Option<&str>,
    ) -> impl Iterator<Item = (usize, &'a HookRecord)> + use<'a> {
        let from = since.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(0);
        self.events.iter().enumerate().skip(from).filter_map(move |(at, event)| match event {
            Event::Hook(record) if unit.as_ref().is_none_or(|unit| *unit == record.unit) => {
                Some((at, record.as_ref()))
            }
            Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
        })
    }

    fn check_mark(&self, since: Option<&str>) -> Result<()> {
        if let Some(mark) = since {
            ensure!(self.marks.contains_key(mark), "there is no mark {mark}");
        }
        Ok(())
    }

    fn judge_databag(&self, e: &DatabagExpect) -> Result<()> {
        let relation = self.relation_named(&e.relation)?;
        let owner = self.owner_named(e.unit.as_deref(), e.app.as_deref())?;
        let bag = self.world.relations.get(&relation).and_then(|r| r.bag(&owner));
        let values = &bag.with_context(|| format!("{owner} has no databag there"))?.values;
        map_fits(values, &e.has, &e.lacks)?;
        for (key, text, wanted) in parts(&e.holds, true).chain(parts(&e.holds_not, false)) {
            let value = values.get(key).map(String::as_str).unwrap_or_default();
            let not = if wanted { "not " } else { "" };
            let shown = crate::sim::shorten(value, 600);
            ensure!(value.contains(text) == wanted, "{text:?} is {not}in {key}: {shown}");
        }
        if e.empty {
            let own: Vec<&str> =
                values.keys().map(String::as_str).filter(|key| !JUJU_KEYS.contains(key)).collect();
            ensure!(own.is_empty(), "it holds {}", own.join(", "));
        }
        for json in &e.json {
            let text = values.get(&json.key).with_context(|| format!("no key {}", json.key))?;
            let value: Value =
                serde_json::from_str(text).with_context(|| format!("key {} is no JSON", json.key))?;
            let there = value.pointer(&json.at);
            let shown = there.map_or("nothing".to_owned(), |v| crate::sim::shorten(&v.to_string(), 600));
            ensure!(there.is_none() == json.absent, "{} {}: there is {shown}", json.key, json.at);
            if let Some(is) = &json.is {
                ensure!(there == Some(is), "{} {}: there is {shown}", json.key, json.at);
            }
            if let Some(part) = &json.contains {
                let holds = match there {
                    Some(Value::Array(items)) => items.contains(part),
                    Some(Value::String(text)) => part.as_str().is_some_and(|part| text.contains(part)),
                    Some(Value::Object(map)) => part.as_str().is_some_and(|key| map.contains_key(key)),
                    Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => false,
                };
                ensure!(holds, "{} {}: there is {shown}", json.key, json.at);
            }
        }
        Ok(())
    }

    fn judge_action(&self, e: &ActionExpect) -> Result<()> {
        let action = self.kept.get(&e.r#as).and_then(|id| self.world.actions.get(id));
        let action = action.with_context(|| format!("no action was kept as {}", e.r#as))?;
        let shown =
            format!("status {}, message {:?}, results {}", action.status, action.message, action.results);
        ensure!(e.status.as_ref().is_none_or(|status| *status == action.status), "{shown}");
        ensure!(e.message_contains.as_ref().is_none_or(|part| action.message.contains(part)), "{shown}");
        for (key, wanted) in &e.result {
            let found = key.split('.').try_fold(&action.results, |value, part| value.get(part));
            ensure!(found == Some(wanted), "{key}: {shown}");
        }
        let texts = leaves(&action.results).join("\n");
        ensure!(e.output_contains.as_ref().is_none_or(|part| texts.contains(part)), "{shown}");
        ensure!(e.output_lacks.as_ref().is_none_or(|part| !texts.contains(part)), "{shown}");
        Ok(())
    }

    fn judge_calls(&self, e: &CallsExpect) -> Result<()> {
        self.check_mark(e.since.as_deref())?;
        let unit = e.unit.as_ref().map(|unit| self.unit_named(unit)).transpose()?;
        let records = self.records(unit, e.since.as_deref());
        let calls: Vec<String> = records
            .filter(|(_, record)| e.hook.as_ref().is_none_or(|hook| *hook == record.name))
            .flat_map(|(_, record)| &record.calls)
            .filter(|call| e.tool.as_ref().is_none_or(|tool| *tool == call.tool))
            .filter(|call| {
                e.argv_contains.as_ref().is_none_or(|part| call.args.iter().any(|arg| arg.contains(part)))
            })
            .map(|call| crate::sim::shorten(&format!("{} {}", call.tool, call.args.join(" ")), 80))
            .collect();
        let count = calls.len();
        let shown = format!("{count} calls:\n  {}", calls.join("\n  "));
        ensure!(e.count.is_none_or(|wanted| wanted == count), "{shown}");
        ensure!(e.at_most.is_none_or(|most| count <= most), "{shown}");
        ensure!(e.at_least.is_none_or(|least| count >= least), "{shown}");
        Ok(())
    }

    fn judge_log(&self, e: &LogExpect) -> Result<()> {
        let unit = e.unit.as_ref().map(|unit| self.unit_named(unit)).transpose()?;
        let lines: Vec<&str> = self
            .world
            .log
            .iter()
            .filter(|line| unit.as_ref().is_none_or(|unit| *unit == line.unit))
            .filter(|line| line.level >= e.level.unwrap_or(Level::Trace))
            .map(|line| line.text.as_str())
            .collect();
        if let Some(part) = &e.contains {
            ensure!(lines.iter().any(|line| line.contains(part)), "the log has:\n  {}", lines.join("\n  "));
        }
        if let Some(part) = &e.lacks {
            let found = lines.iter().find(|line| line.contains(part));
            ensure!(found.is_none(), "the log has: {}", found.unwrap_or(&""));
        }
        Ok(())
    }

    fn judge_hooks(&self, e: &HooksExpect) -> Result<()> {
        self.check_mark(e.since.as_deref())?;
        let unit = self.unit_named(&e.unit).unwrap_or_else(|_| e.unit.clone());
        let ran: Vec<(String, String)> = self
            .records(Some(unit), e.since.as_deref())
            .filter(|(_, record)| record.kind == "hook")
            .map(|(_, r)| (r.name.clone(), format!("{} {}", r.name, r.remote.as_deref().unwrap_or(""))))
            .collect();
        let shown: Vec<&str> = ran.iter().map(|(_, full)| full.trim_end()).collect();
        let same =
            |wanted: &String, (name, full): &(String, String)| wanted == name || wanted == full.trim_end();
        if let Some(sequence) = &e.sequence {
            let fits = sequence.len() == ran.len() && sequence.iter().zip(&ran).all(|(w, r)| same(w, r));
            ensure!(fits, "there ran:\n  {}", shown.join("\n  "));
        }
        for wanted in &e.lacks {
            ensure!(!ran.iter().any(|r| same(wanted, r)), "{wanted} ran:\n  {}", shown.join("\n  "));
        }
        let mut rest = ran.iter();
        for wanted in &e.has {
            ensure!(rest.any(|r| same(wanted, r)), "no {wanted} there:\n  {}", shown.join("\n  "));
        }
        Ok(())
    }
}

const JUJU_KEYS: [&str; 3] = ["egress-subnets", "ingress-address", "private-address"];

fn status_fits(found: &StatusInfo, [is, message, contains, lacks]: [&Option<String>; 4]) -> Result<()> {
    ensure!(is.as_ref().is_none_or(|is| *is == found.status), "it is {found}");
    ensure!(message.as_ref().is_none_or(|message| *message == found.message), "it is {found}");
    ensure!(contains.as_ref().is_none_or(|part| found.message.contains(part)), "it is {found}");
    ensure!(lacks.as_ref().is_none_or(|part| !found.message.contains(part)), "it is {found}");
    Ok(())
}

/// Each key with each of its texts.
fn parts(texts: &BTreeMap<String, Vec<String>>, wanted: bool) -> impl Iterator<Item = (&str, &str, bool)> {
    texts.iter().flat_map(move |(key, all)| all.iter().map(move |text| (key.as_str(), text.as_str(), wanted)))
}

fn map_fits(map: &BTreeMap<String, String>, has: &BTreeMap<String, Value>, lacks: &[String]) -> Result<()> {
    let keys: Vec<&str> = map.keys().map(String::as_str).collect();
    for (key, wanted) in has {
        let found = map.get(key).with_context(|| format!("no key {key}; there are {}", keys.join(", ")))?;
        let fits = match wanted {
            Value::Null => true,
            Value::String(text) => found == text,
            Value::Bool(wanted) => *found == wanted.to_string(),
            Value::Number(wanted) => *found == wanted.to_string(),
            Value::Array(_) | Value::Object(_) => {
                serde_json::from_str::<Value>(found).is_ok_and(|v| v == *wanted)
            }
        };
        ensure!(fits, "{key} is {}", crate::sim::shorten(found, 600));
    }
    for key in lacks {
        ensure!(!map.contains_key(key), "there is a key {key}; all are {}", keys.join(", "));
    }
    Ok(())
}

fn in_order(wanted: &[String], all: &[String], same: impl Fn(&str, &str) -> bool) -> Result<()> {
    let mut rest = all.iter();
    for one in wanted {
        ensure!(rest.any(|found| same(one, found)), "no {one:?} in this place of:\n  {}", all.join("\n  "));
    }
    Ok(())
}

fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(map) => map.values().flat_map(leaves).collect(),
    }
}
