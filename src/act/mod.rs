//! Carries a [`Plan`] out: databags, charm state, then statuses. It decides nothing again; what it
//! leaves out (no leader any more, a relation that vanished) the next pass finds still to be done.

mod collect;
mod effect;

pub use collect::collect;
pub use effect::alter;

use crate::juju::{RelationId, Scope};
use crate::plan::{BagWrite, Plan};
use crate::tools::ToolError;
use crate::tools::hook_tools::{HookTools, Written};
use std::collections::BTreeMap;
use std::time::Duration;

/// Juju promises 30 s of leadership with each `is-leader`; five of them are left for the commit.
const LEADERSHIP: Duration = Duration::from_secs(25);

/// What became of a plan.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The number of this pass, if it buffered a write.
    pub pass: Option<u64>,
    /// The writes that Juju will commit with the hook.
    pub buffered: Vec<BagWrite>,
}

/// The answer of `is-leader` at the begin of the pass, and when it was given.
#[derive(Debug, Clone, Copy)]
pub struct Leadership {
    /// Whether this unit leads.
    pub leads: bool,
    /// The reading of the clock's ticks then.
    pub asked: Duration,
}

/// Carries out a plan. `state` is the charm state as it was read.
pub fn act(
    tools: &HookTools,
    ticks: &dyn Fn() -> Duration,
    leadership: Leadership,
    mut plan: Plan,
    state: &BTreeMap<String, String>,
) -> Result<Report, ToolError> {
    let mut report = Report::default();
    let mut leadership = leadership;
    for write in std::mem::take(&mut plan.writes) {
        if carry_out(tools, ticks, &mut leadership, &write)? {
            report.buffered.push(write);
        } else {
            forget(&mut plan, write.relation, write.scope);
        }
    }
    save(tools, &mut plan, state, &mut report)?;
    show(tools, &plan)?;
    Ok(report)
}

/// Writes one databag. False: it was not written, and that is no fault.
fn carry_out(
    tools: &HookTools,
    ticks: &dyn Fn() -> Duration,
    leadership: &mut Leadership,
    write: &BagWrite,
) -> Result<bool, ToolError> {
    let BagWrite { relation, scope, changes } = write;
    if *scope == Scope::App && !still_leads(tools, ticks, leadership)? {
        tracing::info!("{relation}: not written, this unit does not lead any more");
        return Ok(false);
    }
    match tools.relation_set(*relation, *scope, changes)? {
        Written::Buffered => Ok(true),
        Written::Vanished => {
            tracing::debug!("{relation}: not written, the relation is gone");
            Ok(false)
        }
        Written::NotLeader => {
            leadership.leads = false;
            tracing::info!("{relation}: not written, this unit does not lead any more");
            Ok(false)
        }
    }
}

fn still_leads(
    tools: &HookTools,
    ticks: &dyn Fn() -> Duration,
    leadership: &mut Leadership,
) -> Result<bool, ToolError> {
    if leadership.leads && ticks().saturating_sub(leadership.asked) >= LEADERSHIP {
        *leadership = Leadership { asked: ticks(), leads: tools.is_leader()? };
    }
    Ok(leadership.leads)
}

/// A databag that was not written is not known any more: the next pass reads and decides again.
fn forget(plan: &mut Plan, relation: RelationId, scope: Scope) {
    if let Some(bags) = plan.remember.written.get_mut(&relation) {
        bags.remove(&scope);
    }
    plan.remember.observability = None;
}

/// Stores what differs in the charm state, with the number of this pass.
fn save(
    tools: &HookTools,
    plan: &mut Plan,
    state: &BTreeMap<String, String>,
    report: &mut Report,
) -> Result<(), ToolError> {
    let differs = |plan: &Plan| -> BTreeMap<String, String> {
        let new = plan.remember.write();
        new.into_iter().filter(|(key, value)| state.get(key) != Some(value)).collect()
    };
    if report.buffered.is_empty() && differs(plan).is_empty() {
        return Ok(());
    }
    plan.remember.pass += 1;
    report.pass = Some(plan.remember.pass);
    tools.state_set(&differs(plan))
}

/// Statuses last: they take effect at once and are not undone if the hook fails.
fn show(tools: &HookTools, plan: &Plan) -> Result<(), ToolError> {
    if let Some(status) = &plan.app_status
        && !tools.status_set(Scope::App, status)?
    {
        tracing::info!("application status not set, this unit does not lead any more");
    }
    if let Some(status) = &plan.unit_status {
        tools.status_set(Scope::Unit, status)?;
    }
    Ok(())
}
