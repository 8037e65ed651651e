//! L1 and S1: the leader is lost at a step of a rollout, and every member still gets there.
//!
//! The rollout runs once, hook by hook. At some of its steps, chosen by a seed, a copy of the whole
//! simulation gets another leader and goes on by itself.

use crate::support::Begun;
use juju_sim::rng::Rng;
use juju_sim::sim::Sim;

const SEED: u64 = 7;
/// Copies that are made. Each costs as much as a small scenario.
const COPIES: usize = 5;

/// A cluster in step, and new revisions in the store that its leader is about to see.
const BEGIN: &str = r#"name: a rollout is about to begin
charms-from: charms.yaml
steps:
  - snap-times: {refresh: 20, metadata: 2}
  - store:
      publish:
        - {snap: kube-apiserver, channel: 1.31/stable, revision: 100, version: 1.31.1}
        - {snap: kubelet, channel: 1.31/stable, revision: 200, version: 1.31.1}
  - deploy: {charm: kubernetes-control-plane, units: 2, snaps: [{name: kube-apiserver, channel: 1.31/stable}]}
  - deploy: {charm: kubernetes-worker, units: 1, snaps: [{name: kubelet, channel: 1.31/stable}]}
  - deploy: {charm: lockstep, config: {snaps: kube-apiserver kubelet, cohort-check-interval: 10m}}
  - integrate: ["kubernetes-control-plane:juju-info", "lockstep:control-plane"]
  - integrate: ["kubernetes-worker:juju-info", "lockstep:worker"]
  - settle: {}
  - update-status: {units: lockstep/leader}
  - settle: {}
  - store:
      publish:
        - {snap: kube-apiserver, channel: 1.31/stable, revision: 101, version: 1.31.2}
        - {snap: kubelet, channel: 1.31/stable, revision: 201, version: 1.31.2}
  - advance: {minutes: 11}
  - update-status: {units: lockstep/leader}
"#;

/// Whether every managed snap is the new one, and the leader says so.
fn is_through(sim: &Sim) -> bool {
    let world = &sim.world;
    let new = |name: &str| if name == "kubelet" { "201" } else { "101" };
    let mut snaps = world.machines.values().flat_map(|machine| machine.snapd.snaps.values());
    snaps.all(|snap| snap.revision == new(&snap.name))
        && world.app_status("lockstep").to_string().contains("3 of 3 in step")
}

#[test]
fn a_leader_that_is_lost_at_any_step_of_a_rollout_stops_nothing() {
    let mut begun = Begun::new(BEGIN, SEED);
    let steps = begun.steps;
    assert!(steps > 2 * COPIES, "the rollout has {steps} steps");
    let mut rng = Rng::new(SEED);
    let mut chosen: Vec<usize> = rng.shuffle((0..steps).collect()).into_iter().take(COPIES).collect();
    chosen.sort_unstable();
    for step in chosen {
        begun.copy_at(step, |copy| {
            let (old, new) = lead_another(copy, &mut rng);
            copy.live(16 * 60 * 1000).unwrap();
            assert!(
                is_through(copy),
                "{new} leads after {old} was lost at step {step} of {steps} (seed {SEED}): {}",
                copy.world.app_status("lockstep")
            );
        });
    }
}

/// Makes another unit the leader: which was, and which is.
pub fn lead_another(sim: &mut Sim, rng: &mut Rng) -> (String, String) {
    let old = sim.world.leader_of("lockstep").unwrap().to_owned();
    let others = sim.world.units_of("lockstep").into_iter().map(|unit| unit.name.clone());
    let new = rng.pick(others.filter(|name| *name != old).collect()).unwrap();
    sim.lead(&new).unwrap();
    (old, new)
}
