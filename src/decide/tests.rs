//! Tables over whole decisions.

use super::*;
use crate::databag::granted::Granted;
use crate::databag::node::{Node, Role};
use crate::databag::progress::Progress;
use crate::juju::{Context, Level, Scope, Timestamp};
use crate::observed::Part;
use serde_json::json;

/// A unit with a peer relation and nothing else.
pub fn observed() -> Observed {
    let variables = [
        ("JUJU_UNIT_NAME", "lockstep/0"),
        ("JUJU_MODEL_NAME", "harbor"),
        ("JUJU_MODEL_UUID", "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41"),
        ("JUJU_CHARM_DIR", "/var/lib/juju/agents/unit-lockstep-0/charm"),
    ];
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let peers = "peers:1".parse().unwrap();
    Observed {
        now: Timestamp(0),
        event: None,
        context: Context::from_variables(&variables).unwrap(),
        build: "0.1.0-00000000".to_owned(),
        leader: false,
        full_read: None,
        committed: true,
        config: BTreeMap::new(),
        relations: BTreeMap::from([(peers, Default::default())]),
        remembered: Remembered::default(),
        own: BTreeMap::from([((peers, Scope::Unit), BTreeMap::new())]),
        signed: None,
        observability: Part::Unchanged,
        collection: Part::Unchanged,
        rollout: Box::new(crate::observed::Rollout::of_unit("lockstep/0".parse().unwrap(), "0.1.0-00000000")),
    }
}

/// What is observed once a plan has been carried out and committed.
fn after(mut observed: Observed, plan: &Plan) -> Observed {
    for write in &plan.writes {
        let told = |key: &str| write.changes.get(key).and_then(Option::as_ref);
        if write.scope == Scope::Unit {
            let own = &mut observed.rollout.own;
            own.node = told("node").map(|text| Node::read(text)).or(own.node.take());
            own.progress = told("progress").map(|text| Progress::read(text)).or(own.progress.take());
        }
        let bag = observed.own.entry((write.relation, write.scope)).or_default();
        for (key, value) in &write.changes {
            match value {
                Some(value) => bag.insert(key.clone(), crate::databag::Digest::of(value)),
                None => bag.remove(key),
            };
        }
    }
    if observed.leader {
        observed.signed = Some(observed.context.unit.clone());
    }
    observed.remembered = plan.remember.clone();
    observed.rollout.memory = plan.remember.rollout.clone();
    observed.committed = true;
    observed
}

fn is_empty(plan: &Plan) -> bool {
    plan.writes.is_empty()
        && plan.unit_status.is_none()
        && plan.app_status.is_none()
        && plan.log.is_empty()
        && plan.story.is_empty()
}

#[test]
fn deciding_again_after_acting_changes_nothing() {
    let mut start = observed();
    start.leader = true;
    start.own.insert(("peers:1".parse().unwrap(), Scope::App), BTreeMap::new());
    start.config.insert("role".to_owned(), json!("boss"));
    let plan = decide(&start);
    assert!(!is_empty(&plan));
    let next = after(start, &plan);
    let again = decide(&next);
    assert!(is_empty(&again), "{again:?}");
    assert_eq!(again.remember, plan.remember);
}

#[test]
fn a_new_leader_signs_and_sets_the_application_status_again() {
    let mut start = observed();
    let peers = "peers:1".parse().unwrap();
    start.remembered = decide(&start).remember;
    start.leader = true;
    start.own.insert((peers, Scope::App), BTreeMap::new());
    start.signed = Some("lockstep/4".parse().unwrap());
    let plan = decide(&start);
    assert_eq!(plan.app_status, Some(Status::new(Level::Active, "")));
    assert_eq!(plan.unit_status, None);
    assert!(
        plan.writes.iter().any(|write| write.scope == Scope::App && write.changes.contains_key("leader"))
    );
}

#[test]
fn after_a_hook_that_was_not_committed_statuses_are_set_again() {
    let mut start = after(observed(), &decide(&observed()));
    assert!(is_empty(&decide(&start)));
    start.committed = false;
    assert!(decide(&start).unit_status.is_some());
}

#[test]
fn a_concern_that_did_not_look_again_keeps_its_status() {
    let mut start = observed();
    let fault = vec![Status::new(Level::Blocked, "k8s/0 config: no JSON")];
    start.remembered.statuses.insert("observability".to_owned(), fault.clone());
    start.config.insert("role".to_owned(), json!("boss"));
    let plan = decide(&start);
    assert_eq!(plan.remember.statuses["observability"], fault);
    assert!(plan.unit_status.unwrap().line.ends_with("(+1 more)"));
}

#[test]
fn a_follower_writes_no_application_databag_and_a_leaving_unit_none() {
    let plan = decide(&observed());
    assert!(plan.writes.iter().all(|write| write.scope == Scope::Unit));
    assert_eq!(plan.app_status, None);
    for hook in [PlainHook::Stop, PlainHook::Remove] {
        let mut leaving = observed();
        leaving.event = Some(Event::Plain(hook));
        leaving.leader = true;
        assert!(is_empty(&decide(&leaving)));
    }
}

/// A unit whose collector has a first step to take.
fn collecting() -> Observed {
    let part = Box::new(collection::tests::part());
    let mut observed = observed();
    // The rollout has read all that it asks for.
    observed.rollout.goal = Some(Ok(Default::default()));
    observed.rollout.app.fresh = true;
    Observed { collection: Part::Changed { part, digest: Digest::of("gate") }, ..observed }
}

#[test]
fn a_unit_that_may_move_or_writes_what_a_leader_decides_leaves_its_collector_alone() {
    let plan = decide(&collecting());
    assert!(matches!(plan.effect, Some(Effect::Collect(_))), "{:?}", plan.effect);
    let mut granted = collecting();
    let unit = granted.context.unit.clone();
    let mut grants = Granted::default();
    grants.grant(unit, None, Role::Worker, "1-0123abcd".parse().unwrap());
    granted.rollout.app.granted = Ok(grants);
    let plan = decide(&granted);
    assert!(!matches!(plan.effect, Some(Effect::Collect(_))), "{:?}", plan.effect);
    assert_eq!(plan.remember.collection, granted.remembered.collection);
    let mut leading = collecting();
    leading.leader = true;
    leading.own.insert(("peers:1".parse().unwrap(), Scope::App), BTreeMap::new());
    let plan = decide(&leading);
    assert!(plan.writes.iter().any(|write| write.scope == Scope::App));
    assert_eq!((plan.effect, plan.follow_up), (None, Some(rollout::AT_ONCE)));
}
