//! What an admin asks for with `juju run`.

use super::Unit;
use crate::act::{Leadership, act};
use crate::cli;
use crate::decide::rollout::{Action, Answer};
use crate::decide::{self, options};
use crate::juju::UnitName;
use crate::observe::{Observation, observe, read_more};
use crate::tools::snap::Snap;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

/// So many reads and commands an action can need before it is done.
const NEEDS: u32 = 16;

impl Unit {
    pub(super) fn action(&self, name: &str, out: &mut impl Write) -> anyhow::Result<()> {
        if name == "show-status" {
            let (observation, plan) = self.look(None, self.mark.is_set())?;
            let shown = cli::show_status(&observation.observed, &plan);
            self.tools.action_set(&shown.results)?;
            return out.write_all(shown.text.as_bytes()).context("cannot print");
        }
        let refusal = match read(name, &self.tools.action_get()?) {
            Ok(Some(action)) => self.rollout(&action, out)?,
            Ok(None) => Some(format!("{name} is no action of lockstep")),
            Err(why) => Some(why),
        };
        match refusal {
            Some(why) => self.tools.action_fail(&why).map_err(Into::into),
            None => Ok(()),
        }
    }

    /// Carries out an action about a rollout. Gives why it was refused.
    fn rollout(&self, action: &Action, out: &mut impl Write) -> anyhow::Result<Option<String>> {
        let mut asked = self.clock.ticks();
        let snap = Snap::new(self.runner.clone());
        let observer = self.observer(&snap, None, self.mark.is_set());
        let mut observation = observe(&observer)?;
        let config = observation.observed.config.clone();
        let options = options::read(&config, &observation.observed.remembered.options);
        for _ in 0..NEEDS {
            let (part, options) = decide::rollout_part(&observation.observed, &options);
            match decide::rollout::act(&part, &options, action) {
                Answer::Refused(why) => return Ok(Some(why)),
                Answer::Need(effect) => {
                    let now = self.clock.ticks();
                    if read_more(&observer, &mut observation, &effect)? {
                        asked = now;
                    }
                }
                Answer::Done { app, memory, line } => {
                    let plan = decide::by_admin(&observation.observed, app, *memory);
                    let follow_up = plan.follow_up;
                    self.write(observation, plan, asked)?;
                    tracing::warn!("an admin, action {}: {line}", self.action);
                    self.tools.action_set(&BTreeMap::from([("result".to_owned(), line)]))?;
                    self.schedule(None, follow_up);
                    return Ok(None);
                }
                Answer::Report(report) => {
                    self.tools.action_set(&report.results)?;
                    out.write_all(report.text.as_bytes()).context("cannot print")?;
                    let held = report.held_by.join(",");
                    return Ok(
                        (!held.is_empty()).then(|| format!("the upgrade would be held back by {held}"))
                    );
                }
            }
        }
        bail!("more than {NEEDS} reads for one action")
    }

    fn write(
        &self,
        observation: Observation,
        plan: crate::plan::Plan,
        asked: Duration,
    ) -> anyhow::Result<()> {
        let wanted = !plan.writes.is_empty();
        let leadership = Leadership { leads: observation.observed.leader, asked };
        let report = act(&self.tools, &|| self.clock.ticks(), leadership, plan, &observation.state)?;
        if wanted && report.buffered.is_empty() {
            bail!("nothing was written: this unit does not lead any more, ask the new leader");
        }
        self.keep(observation, &report);
        Ok(())
    }
}

/// The action of that name; none if there is none. The error says which parameter is wrong.
fn read(name: &str, params: &BTreeMap<String, Value>) -> Result<Option<Action>, String> {
    let force = params.get("force").and_then(Value::as_bool).unwrap_or(false);
    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
    let unit = || -> Result<UnitName, String> {
        text("unit").parse().map_err(|error| format!("parameter unit: {error}"))
    };
    Ok(Some(match name {
        "refresh-cohorts" => Action::RefreshCohorts { force },
        "rollback" => Action::Rollback,
        "retry-unit" => Action::RetryUnit { unit: unit()? },
        "skip-unit" => Action::SkipUnit { unit: unit()?, force },
        "resume-upgrade" => Action::ResumeUpgrade,
        "override-checks" => Action::OverrideChecks { checks: text("checks").to_owned() },
        "pre-upgrade-check" => {
            let channel = Some(text("channel").trim()).filter(|channel| !channel.is_empty());
            let channel =
                channel.map(|channel| channel.parse().map_err(|error| format!("parameter {error}")));
            Action::PreUpgradeCheck { channel: channel.transpose()? }
        }
        _ => return Ok(None),
    }))
}
