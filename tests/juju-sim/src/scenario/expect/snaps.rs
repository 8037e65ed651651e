//! Expectations about snaps and their changes.

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::FileExpect;
use crate::sim::Sim;
use crate::snapd::Change;

/// A snap on a machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SnapExpect {
    /// On the machine of this unit, or
    pub unit: Option<String>,
    /// on this one.
    pub machine: Option<String>,
    /// Which snap.
    pub name: String,
    /// `41`
    pub revision: Option<Value>,
    /// Version.
    pub version: Option<String>,
    /// The channel that it tracks, with its track.
    pub channel: Option<String>,
    /// Whether it is in a cohort, or in the same one as on another unit's machine.
    pub cohort: Option<CohortExpect>,
    /// Whether it is held.
    pub held: Option<bool>,
    /// Whether all of its services run.
    pub service_active: Option<bool>,
    /// How often a refresh restarted its services.
    pub restarts: Option<u32>,
    /// It is not there.
    pub absent: bool,
}

/// Of `cohort`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum CohortExpect {
    /// `yes` or `no`.
    Word(String),
    /// The same.
    Bool(bool),
    /// `same-as: UNIT`
    Same(SameAs),
}

/// Of `same-as`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SameAs {
    /// A unit on the other machine.
    pub same_as: String,
}

/// Changes of snaps.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SnapChangesExpect {
    /// On the machine of this unit; none for all.
    pub unit: Option<String>,
    /// Begun from this mark on.
    pub since: Option<String>,
    /// `refresh-snap`, `auto-refresh`, ...
    pub kind: Option<String>,
    /// Of this snap.
    pub snap: Option<String>,
    /// Begun by this unit, or `admin`, `auto-refresh`, `timer`.
    pub by: Option<String>,
    /// Only those that bring another revision.
    pub moving: bool,
    /// Only those in this state: `Doing`, `Done`, `Error`.
    pub status: Option<String>,
    /// Exactly.
    pub count: Option<usize>,
    /// At most.
    pub at_most: Option<usize>,
    /// At least.
    pub at_least: Option<usize>,
    /// At most so many machines had one at the same time.
    pub machines_at_once: Option<usize>,
    /// The machines' units, in the order in which theirs began.
    pub order: Option<Vec<String>>,
}

impl Sim {
    pub(super) fn judge_file(&self, e: &FileExpect) -> Result<()> {
        let machine = self.machine_named(None, Some(&e.unit))?;
        let path = self.paths(&machine).root.join(e.path.trim_start_matches('/'));
        ensure!(path.exists() != e.absent, "{} is {}there", e.path, if e.absent { "" } else { "not " });
        if e.absent {
            return Ok(());
        }
        let text = fs_err::read_to_string(&path)?;
        for part in &e.holds {
            ensure!(text.contains(part), "{} does not hold {part:?}", e.path);
        }
        for part in &e.holds_not {
            ensure!(!text.contains(part), "{} holds {part:?}", e.path);
        }
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata()?.permissions()) & 0o7777;
        let mode = format!("{mode:o}");
        ensure!(e.mode.as_ref().is_none_or(|wanted| *wanted == mode), "{} has mode {mode}", e.path);
        Ok(())
    }

    pub(super) fn judge_snap(&self, e: &SnapExpect) -> Result<()> {
        let machine = self.machine_named(e.machine.as_deref(), e.unit.as_deref())?;
        let of = self.world.machines.get(&machine).context("no such machine")?;
        let found = of.snapd.snaps.get(&e.name);
        ensure!(found.is_some() != e.absent, "it is {}there", if e.absent { "" } else { "not " });
        let Some(snap) = found else { return Ok(()) };
        let shown = format!(
            "it is {} ({}), tracks {}, cohort {}",
            snap.revision,
            snap.version,
            snap.tracking.as_ref().map_or("nothing".to_owned(), |channel| channel.to_string()),
            snap.cohort_key.as_deref().map_or("none".to_owned(), |key| crate::snapd::ellipt_left(key, 10)),
        );
        if let Some(wanted) = &e.revision {
            let wanted = wanted.as_str().map_or(wanted.to_string(), str::to_owned);
            ensure!(wanted == snap.revision, "{shown}");
        }
        ensure!(e.version.as_ref().is_none_or(|wanted| *wanted == snap.version), "{shown}");
        if let Some(channel) = &e.channel {
            let tracking = snap.tracking.as_ref().map(|channel| channel.to_string());
            ensure!(tracking.as_ref() == Some(channel), "{shown}");
        }
        let in_cohort = snap.cohort_key.is_some();
        match &e.cohort {
            None => {}
            Some(CohortExpect::Bool(wanted)) => ensure!(in_cohort == *wanted, "{shown}"),
            Some(CohortExpect::Word(word)) => match word.as_str() {
                "yes" => ensure!(in_cohort, "{shown}"),
                "no" => ensure!(!in_cohort, "{shown}"),
                other => bail!("cohort is yes, no or same-as, not {other}"),
            },
            Some(CohortExpect::Same(same)) => {
                let other = self.machine_named(None, Some(&same.same_as))?;
                let other = self.world.machines.get(&other).and_then(|m| m.snapd.snaps.get(&e.name));
                let key = other.and_then(|snap| snap.cohort_key.as_ref());
                ensure!(in_cohort && key == snap.cohort_key.as_ref(), "{shown}; there it is {key:?}");
            }
        }
        if let Some(held) = e.held {
            ensure!(snap.is_held(self.world.clock) == held, "it is held: {:?}", snap.held);
        }
        if let Some(active) = e.service_active {
            ensure!(!snap.services.is_empty(), "it has no services");
            let all = snap.services.values().all(|service| service.active);
            ensure!(all == active, "its services are {:?}", snap.services);
        }
        if let Some(restarts) = e.restarts {
            let fits = snap.services.values().all(|service| service.restarts == restarts);
            ensure!(fits, "its services are {:?}", snap.services);
        }
        Ok(())
    }

    pub(super) fn judge_snap_changes(&self, e: &SnapChangesExpect) -> Result<()> {
        let since = match &e.since {
            None => None,
            Some(mark) => {
                Some(self.mark_times.get(mark).with_context(|| format!("there is no mark {mark}"))?)
            }
        };
        let only = e.unit.as_ref().map(|unit| self.machine_named(None, Some(unit))).transpose()?;
        let by = match &e.by {
            Some(by) if by.contains('/') => Some(self.unit_named(by)?),
            by => by.clone(),
        };
        let fits = |change: &Change| {
            since.is_none_or(|since| change.spawn >= *since)
                && e.kind.as_ref().is_none_or(|kind| *kind == change.kind)
                && e.snap.as_ref().is_none_or(|snap| change.snaps.contains(snap))
                && e.status.as_ref().is_none_or(|status| *status == change.status())
                && by.as_ref().is_none_or(|by| *by == change.by.by || change.by.unit.as_ref() == Some(by))
                && (!e.moving || change.moves_revision())
        };
        let mut found: Vec<(&str, &Change)> = self
            .world
            .machines
            .iter()
            .filter(|(id, _)| only.as_ref().is_none_or(|only| only == *id))
            .flat_map(|(id, machine)| machine.snapd.changes.iter().map(|change| (id.as_str(), change)))
            .filter(|(_, change)| fits(change))
            .collect();
        found.sort_by_key(|(_, change)| change.spawn);
        let lines: Vec<String> = found
            .iter()
            .map(|(id, c)| {
                format!("{} machine {id} {}: {} {}", c.spawn, c.status(), c.describe(), c.by.describe())
            })
            .collect();
        let count = found.len();
        let shown = format!("{count} changes:\n  {}", lines.join("\n  "));
        ensure!(e.count.is_none_or(|wanted| wanted == count), "{shown}");
        ensure!(e.at_most.is_none_or(|most| count <= most), "{shown}");
        ensure!(e.at_least.is_none_or(|least| count >= least), "{shown}");
        if let Some(most) = e.machines_at_once {
            let at_once = self.world.machines_at_once(|id, change| {
                found.iter().any(|(machine, found)| *machine == id && found.id == change.id)
            });
            ensure!(at_once <= most, "{at_once} machines at once; {shown}");
        }
        if let Some(order) = &e.order {
            let mut machines: Vec<&str> = Vec::new();
            for (id, _) in &found {
                if !machines.contains(id) {
                    machines.push(id);
                }
            }
            let wanted: Result<Vec<String>> =
                order.iter().map(|unit| self.machine_named(None, Some(unit))).collect();
            ensure!(wanted? == machines, "the order of machines is {}; {shown}", machines.join(", "));
        }
        Ok(())
    }
}
