//! L1 and S1 to S4 in an upgrade of three and five in which something happens at one of its steps: every
//! member still gets there.
//!
//! The upgrade runs once, hook by hook. At a step a copy of the whole simulation is harmed, and goes on by
//! itself, judged after every event.

use crate::leaders::lead_another;
use crate::support::Begun;
use juju_sim::rng::Rng;
use juju_sim::sim::{Calls, Fault, KillBy, Sim, ToolAnswer};
use juju_sim::world::World;
use serde_json::json;

const SEED: u64 = 11;
/// Copies for each harm in `make test`. Each costs as much as a scenario.
const COPIES: usize = 5;

/// A cluster in step that is about to be upgraded.
const BEGIN: &str = r#"name: an upgrade is about to begin
charms-from: charms.yaml
charms:
  lockstep-next: {like: lockstep, files: {version: 0.1.1-0123abcd}}
steps:
  - snap-times: {refresh: 20, metadata: 2}
  - store:
      publish:
        - {snap: kube-apiserver, channel: 1.31/stable, revision: 100, version: 1.31.1}
        - {snap: kubelet, channel: 1.31/stable, revision: 200, version: 1.31.1}
        - {snap: kube-apiserver, channel: 1.32/stable, revision: 110, version: 1.32.0}
        - {snap: kubelet, channel: 1.32/stable, revision: 210, version: 1.32.0}
        - {snap: kube-apiserver, channel: 1.33/stable, revision: 120, version: 1.33.0}
        - {snap: kubelet, channel: 1.33/stable, revision: 220, version: 1.33.0}
  - deploy: {charm: kubernetes-control-plane, units: 3, snaps: [{name: kube-apiserver, channel: 1.31/stable}]}
  - deploy: {charm: kubernetes-worker, units: 5, snaps: [{name: kubelet, channel: 1.31/stable}]}
  - deploy: {charm: lockstep, config: {snaps: kube-apiserver kubelet}}
  - integrate: ["kubernetes-control-plane:juju-info", "lockstep:control-plane"]
  - integrate: ["kubernetes-worker:juju-info", "lockstep:worker"]
  - settle: {}
  - update-status: {units: lockstep/leader}
  - live: {minutes: 1}
  - config: {application: lockstep, set: {channel: 1.32/stable}}
  - live: {minutes: 1}
  - action: {unit: lockstep/leader, name: override-checks, params: {checks: all}}
"#;

/// What happens at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    /// Another unit leads.
    Leader,
    /// From now on each unit is killed once before it calls `snap refresh`,
    KillBefore,
    /// in the middle of it, with its agent,
    KillWithin,
    /// or after it;
    KillAfter,
    /// or what it writes after it is refused.
    Uncommitted,
    /// A new charm build comes, and `upgrade-charm` of one unit is skipped with `resolved --no-retry`.
    NoRetry,
    /// A unit of each role is added,
    Added,
    /// or one is removed.
    Removed,
    /// A third channel is wanted.
    Third,
}

use Harm::{Added, KillAfter, KillBefore, KillWithin, Leader, NoRetry, Removed, Third, Uncommitted};
const HARMS: [Harm; 9] =
    [Leader, KillBefore, KillWithin, KillAfter, Uncommitted, NoRetry, Added, Removed, Third];

fn units(sim: &Sim) -> Vec<String> {
    sim.world.units_of("lockstep").into_iter().map(|unit| unit.name.clone()).collect()
}

/// Each unit meets this fault once, in the first hook that makes the calls which it counts.
fn each(sim: &mut Sim, part: &str, fault: &Fault) {
    let counting = Calls { tool: Some("snap".to_owned()), argv_contains: Some(part.to_owned()) };
    for unit in units(sim) {
        let counting = counting.clone();
        sim.arm(Fault { unit, counting, waits: true, optional: true, ..fault.clone() });
    }
}

impl Harm {
    fn befall(self, sim: &mut Sim, rng: &mut Rng) {
        match self {
            Self::Leader => {
                lead_another(sim, rng);
            }
            Self::KillBefore => each(sim, "refresh", &Fault { kill_at_call: Some(1), ..Fault::default() }),
            Self::KillWithin => {
                let fault = Fault { kill_in_call: Some(1), by: KillBy::Agent, ..Fault::default() };
                each(sim, "refresh", &fault);
            }
            // What snapd did is looked at once more.
            Self::KillAfter => each(sim, "list", &Fault { kill_at_call: Some(2), ..Fault::default() }),
            Self::Uncommitted => each(sim, "refresh", &Fault { fail_commit: true, ..Fault::default() }),
            Self::NoRetry => skip_upgrade_charm(sim, rng),
            Self::Added => {
                sim.add_units("kubernetes-control-plane", 1, &[]).unwrap();
                sim.add_units("kubernetes-worker", 1, &[]).unwrap();
            }
            Self::Removed => {
                let others = sim.world.units.values().filter(|unit| World::app_of(&unit.name) != "lockstep");
                let names = others.map(|unit| unit.name.clone()).collect();
                sim.remove_unit(&rng.pick(names).unwrap(), false).unwrap();
            }
            Self::Third => {
                sim.configure("lockstep", &[("channel".to_owned(), json!("1.33/stable"))].into()).unwrap();
            }
        }
    }

    /// How many members there are in the end, and the last part of their snaps' revisions.
    fn end(self) -> (usize, &'static str) {
        match self {
            Self::Added => (10, "10"),
            Self::Removed => (7, "10"),
            Self::Third => (8, "20"),
            Self::Leader
            | Self::KillBefore
            | Self::KillWithin
            | Self::KillAfter
            | Self::Uncommitted
            | Self::NoRetry => (8, "10"),
        }
    }
}

fn skip_upgrade_charm(sim: &mut Sim, rng: &mut Rng) {
    let unit = rng.pick(units(sim)).unwrap();
    let silent = ToolAnswer {
        tool: "state-get".to_owned(),
        argv_contains: None,
        exit: 1,
        stdout: String::new(),
        stderr: "ERROR cannot reach the controller".to_owned(),
    };
    let hook = Some("upgrade-charm".to_owned());
    sim.arm(Fault { unit: unit.clone(), hook, tool_answer: Some(silent), ..Fault::default() });
    let next = sim.charm("lockstep-next").unwrap();
    sim.refresh("lockstep", next, false).unwrap();
    while !sim.world.units[&unit].in_error() {
        assert!(sim.next_hook(&unit).unwrap(), "{unit} had no upgrade-charm");
    }
    sim.resolve(&unit, false).unwrap();
}

/// Whether every managed snap is where it should be, and the leader says so.
fn is_through(sim: &Sim, harm: Harm) -> bool {
    let (members, end) = harm.end();
    let world = &sim.world;
    let living = world.units.values().map(|unit| &unit.machine);
    let mut snaps = living.flat_map(|machine| world.machines[machine].snapd.snaps.values());
    snaps.all(|snap| snap.revision.ends_with(end))
        && world.app_status("lockstep").to_string().contains(&format!("{members} of {members} in step"))
}

/// Harms the upgrade at some of its steps: as many as `copies` for each harm, chosen by the seed.
fn sweep(harms: &[Harm], copies: usize) {
    let mut begun = Begun::new(BEGIN, SEED);
    let steps = begun.steps;
    assert!(steps > 30, "the upgrade has {steps} steps");
    let mut rng = Rng::new(SEED);
    let mut chosen = Vec::new();
    for harm in harms {
        let all = rng.shuffle((0..steps).collect()).into_iter();
        chosen.extend(all.take(copies).map(|step| (step, *harm)));
    }
    chosen.sort_by_key(|(step, _)| *step);
    for (step, harm) in chosen {
        begun.copy_at(step, |copy| {
            harm.befall(copy, &mut rng);
            let mut minutes = 0;
            while !is_through(copy, harm) && minutes < 60 {
                if harm == Third {
                    // An override holds for one upgrade; before the first unit has moved it is a jump, too.
                    let checks = [("checks".to_owned(), json!("all"))].into();
                    let leader = copy.world.leader_of("lockstep").unwrap().to_owned();
                    copy.run_action(&leader, "override-checks", checks).unwrap();
                }
                copy.live(4 * 60 * 1000).unwrap();
                minutes += 4;
            }
            assert!(
                is_through(copy, harm),
                "{harm:?} at step {step} of {steps} (seed {SEED}): {}",
                copy.world.app_status("lockstep")
            );
        });
    }
}

#[test]
fn an_upgrade_that_is_harmed_at_any_step_gets_there() {
    sweep(&HARMS, COPIES);
}

mod all {
    #[test]
    #[ignore = "make soak"]
    fn an_upgrade_that_is_harmed_at_each_step_gets_there() {
        super::sweep(&super::HARMS, usize::MAX);
    }
}
