//! Running one hook, action or command line of a charm, from its context to its commit.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value};

use super::fault::KillBy;
use super::serve::{End, Run};
use super::{Outcome, Sim};
use crate::agent::context::{Context, Job, Reboot};
use crate::charm::actions::Undeclared;
use crate::process::Exit;
use crate::world::{ActionRun, Charm, HookInfo, HookKind, Pending, World};

/// Every hook takes a little simulated time.
const HOOK_MILLIS: u64 = 100;

impl Sim {
    /// Runs a hook, whatever the agent would do next, and notes its outcome.
    pub fn run_hook(&mut self, unit: &str, hook: HookInfo) -> Result<Outcome> {
        let skipped = hook.kind == HookKind::LeaderElected && !self.world.is_leader(unit);
        if hook.kind == HookKind::Install {
            self.unpack_charm(unit)?;
        }
        self.move_clock(HOOK_MILLIS)?;
        let retry = self.world.units.get(unit).map_or(0, |u| match &u.uniter.pending {
            Pending::Failed { attempts, .. } => *attempts,
            Pending::None | Pending::Queued(_) | Pending::Interrupted(_) => 0,
        });
        if skipped {
            // Leadership was lost before the hook began: Juju leaves it out.
            self.world.hook_done(unit, &hook);
            self.note(format!("{unit} lost leadership before leader-elected, which is left out"));
            return Ok(Outcome::Done);
        }
        let before = self.snapshot(unit);
        self.world.before_hook(unit, &hook);
        let mut context = Context::new(&mut self.world, unit, Job::Hook(hook.clone()));
        let faults = self.take_faults(unit, &hook.name());
        let run = self.run_job(&mut context, &faults)?;
        let (outcome, changes) = self.conclude(&context, &run, &faults);
        self.check_faults(&faults, &run, &outcome);
        let mut killed = None;
        match &outcome {
            Outcome::Done | Outcome::Missing => self.world.hook_done(unit, &hook),
            Outcome::Failed(why) => self.world.hook_failed(unit, &hook, why),
            Outcome::Killed(_) => match run.end {
                End::Killed(by @ (KillBy::Agent | KillBy::Machine)) => {
                    self.world.hook_failed(unit, &hook, "unit agent died");
                    killed = Some(by);
                }
                End::Missing | End::Denied | End::Exit(_) | End::RebootNow | End::Killed(KillBy::Process) => {
                    self.world.hook_interrupted(unit, &hook);
                }
            },
        }
        let name = hook.name();
        self.record(&context, &before, name, retry, outcome.clone(), run, changes);
        match killed {
            Some(KillBy::Machine) => self.kill_machine_of(unit)?,
            Some(KillBy::Agent | KillBy::Process) => self.restart_agent(unit),
            None => {}
        }
        if context.reboot == Reboot::Now || (context.reboot == Reboot::After && outcome == Outcome::Done) {
            self.reboot_of(unit)?;
        }
        Ok(outcome)
    }

    /// Runs an action now, between two hooks; gives its id.
    pub fn run_action(
        &mut self,
        unit: &str,
        name: &str,
        params: std::collections::BTreeMap<String, Value>,
    ) -> Result<u32> {
        let charm = self.deployed_charm(unit)?;
        let id = self.world.next_action;
        self.world.next_action += 1;
        let mut action = ActionRun {
            id,
            unit: unit.to_owned(),
            name: name.to_owned(),
            params,
            status: "running".to_owned(),
            message: String::new(),
            results: Value::Object(Map::new()),
            log: Vec::new(),
        };
        if let Err(why) = action_fits(&charm, &self.world, &mut action) {
            action.status = "failed".to_owned();
            action.message = why;
            self.world.actions.insert(id, action);
            self.note(format!("action {name} of {unit} is refused"));
            return Ok(id);
        }
        self.world.actions.insert(id, action);
        self.move_clock(HOOK_MILLIS)?;
        let before = self.snapshot(unit);
        let mut context = Context::new(&mut self.world, unit, Job::Action(id));
        let faults = self.take_faults(unit, name);
        let run = self.run_job(&mut context, &faults)?;
        let (outcome, changes) = self.conclude(&context, &run, &faults);
        self.check_faults(&faults, &run, &outcome);
        self.finish_action(id, &context, &run, &outcome);
        self.record(&context, &before, name.to_owned(), 0, outcome, run, changes);
        Ok(id)
    }

    fn finish_action(&mut self, id: u32, context: &Context, run: &Run, outcome: &Outcome) {
        let unit = context.unit.clone();
        let Some(action) = self.world.actions.get_mut(&id) else { return };
        let mut results = context.results.clone();
        let code = match run.end {
            End::Exit(Exit::Code(code)) => Some(code),
            End::Exit(Exit::Signal(_)) | End::Killed(_) | End::RebootNow | End::Missing | End::Denied => None,
        };
        if let Some(map) = results.as_object_mut() {
            if let Some(code) = code {
                map.insert("return-code".to_owned(), Value::from(code));
            }
            for (name, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
                if !text.is_empty() {
                    map.insert(name.to_owned(), Value::from(text.as_str()));
                }
            }
        }
        action.results = results;
        let failure = match outcome {
            Outcome::Missing => Some(format!("action not implemented on unit \"{unit}\"")),
            Outcome::Failed(why) => Some(why.clone()),
            Outcome::Killed(why) => Some(why.clone()),
            Outcome::Done => context.failed.clone(),
        };
        action.status = if failure.is_some() { "failed" } else { "completed" }.to_owned();
        action.message = failure.unwrap_or_default();
    }

    /// Runs a command line in a unit's context, as `juju exec` does; `$CHARM` stands for the charm directory.
    pub fn exec(&mut self, unit: &str, args: &[String]) -> Result<Outcome> {
        self.deployed_charm(unit)?;
        self.move_clock(HOOK_MILLIS)?;
        let before = self.snapshot(unit);
        let mut context = Context::new(&mut self.world, unit, Job::Exec(args.to_vec()));
        let faults = self.take_faults(unit, "run-commands");
        let run = self.run_job(&mut context, &faults)?;
        let (outcome, changes) = self.conclude(&context, &run, &faults);
        self.check_faults(&faults, &run, &outcome);
        self.record(&context, &before, "run-commands".to_owned(), 0, outcome.clone(), run, changes);
        Ok(outcome)
    }

    /// The charm that a unit has on disk; an error before that.
    fn deployed_charm(&self, unit: &str) -> Result<Charm> {
        let of = self.world.units.get(unit).with_context(|| format!("no unit {unit}"))?;
        if of.scripted {
            bail!("{unit} is scripted and runs nothing");
        }
        ensure!(self.world.agent_runs(unit), "the agent of {unit} does not run");
        ensure!(of.uniter.charm.is_some(), "{unit} has no charm yet");
        Ok(self.world.application(&of.application).map_err(anyhow::Error::msg)?.charm.clone())
    }
}

pub(super) fn job_name(world: &World, context: &Context) -> String {
    match &context.job {
        Job::Hook(hook) => hook.name(),
        Job::Action(id) => world.actions.get(id).map_or(String::new(), |a| a.name.clone()),
        Job::Exec(_) => "run-commands".to_owned(),
    }
}

/// Whether the action exists and its parameters fit; those that are missing get their defaults.
fn action_fits(charm: &Charm, world: &World, action: &mut ActionRun) -> Result<(), String> {
    let name = &action.name;
    let def = charm
        .actions
        .actions
        .get(name)
        .ok_or_else(|| format!("cannot run \"{name}\" action: not defined"))?;
    let undeclared = if world.juju.at_least(4, 0, 0) { Undeclared::Rejected } else { Undeclared::Accepted };
    let given = action.params.clone().into_iter().collect();
    def.validate(&given, undeclared).map_err(|why| format!("cannot run \"{name}\" action: {why}"))?;
    action.params = def.with_defaults(&given).into_iter().collect();
    Ok(())
}
