//! One thing that happens or goes wrong, as a step of a scenario that fits the model as it is now.

use super::begin::{self, Model};
use juju_sim::rng::Rng;
use juju_sim::sim::Sim;
use juju_sim::world::{Life, World};
use serde_json::json;

/// Draws a step, or several that belong together.
pub fn steps(sim: &Sim, model: &Model, rng: &mut Rng) -> Vec<String> {
    let one = match rng.below(60) {
        0..=5 => return vec![publish(sim, rng), "live: {minutes: 11}".to_owned(), few_hooks(rng)],
        6..=11 => return upgrade(rng),
        12..=13 => wish(rng),
        14..=17 => action(sim, rng),
        18..=20 => come_and_go(sim, model, rng),
        21..=23 => lead(sim, rng),
        24..=37 => return vec![fault(sim, rng), few_hooks(rng)],
        38 => power(sim, rng),
        39..=40 => store(rng),
        41..=43 => data(sim, model, rng),
        44..=45 => cache(sim, rng),
        46 => relations(sim, model, rng),
        47 => skip(sim),
        48 => "refresh: {application: lockstep, charm: lockstep-next}".to_owned(),
        49..=54 => few_hooks(rng),
        _ => format!("live: {{minutes: {}}}", 1 + rng.below(8)),
    };
    vec![one]
}

/// The model goes on a little, so that what comes next comes in the middle of something.
fn few_hooks(rng: &mut Rng) -> String {
    format!("settle: {{hooks: {}}}", 1 + rng.below(8))
}

/// Another channel is wanted, and the checks are passed over.
fn upgrade(rng: &mut Rng) -> Vec<String> {
    let channel = rng.pick(vec!["1.31/stable", "1.32/stable", "1.33/stable"]).unwrap();
    vec![
        format!("config: {{application: lockstep, set: {{channel: {channel}}}}}"),
        "live: {minutes: 1}".to_owned(),
        "action: {unit: lockstep/leader, name: override-checks, params: {checks: all}}".to_owned(),
        few_hooks(rng),
    ]
}

fn alive(sim: &Sim, app: impl Fn(&str) -> bool) -> Vec<String> {
    let units = sim.world.units.values().filter(|unit| unit.life == Life::Alive && app(&unit.application));
    units.map(|unit| unit.name.clone()).collect()
}

fn ours(sim: &Sim, rng: &mut Rng) -> String {
    rng.pick(alive(sim, |app| app == "lockstep")).unwrap_or_else(|| "lockstep/0".to_owned())
}

fn principal(sim: &Sim, rng: &mut Rng) -> String {
    let cluster = alive(sim, |app| app.starts_with("kubernetes-"));
    rng.pick(cluster).unwrap_or_else(|| "kubernetes-control-plane/0".to_owned())
}

/// A newer revision, of a number that was never used.
fn publish(sim: &Sim, rng: &mut Rng) -> String {
    let (snap, base) = rng.pick(vec![("kube-apiserver", 1000), ("kubelet", 2000)]).unwrap();
    let minor = 31 + rng.below(3);
    // The clock tells them apart: two in one minute are one.
    let patch = 1 + (sim.world.clock.0 / 60_000) % 90;
    let revision = base + (minor as u64 - 30) * 100 + patch;
    format!(
        "store: {{publish: [{{snap: {snap}, channel: 1.{minor}/stable, revision: {revision}, version: 1.{minor}.{patch}}}]}}"
    )
}

fn wish(rng: &mut Rng) -> String {
    let options = [
        "channel: \"\"",
        "channel: nonsense/",
        "cohort-refresh: manual",
        "cohort-refresh: auto",
        "worker-parallelism: 0",
        "worker-parallelism: 2",
        "hold-snaps: false",
        "extra-alert-labels: \"team:infra\"",
        "pause-after-unit-refresh: first",
    ];
    format!("config: {{application: lockstep, set: {{{}}}}}", rng.pick(options.to_vec()).unwrap())
}

fn action(sim: &Sim, rng: &mut Rng) -> String {
    let unit = principal(sim, rng);
    let on = if rng.below(4) > 0 { "lockstep/leader".to_owned() } else { ours(sim, rng) };
    let actions = [
        "override-checks, params: {checks: all}".to_owned(),
        "override-checks, params: {checks: all}".to_owned(),
        format!("retry-unit, params: {{unit: {unit}}}"),
        format!("skip-unit, params: {{unit: {unit}}}"),
        "rollback".to_owned(),
        "refresh-cohorts".to_owned(),
        "resume-upgrade".to_owned(),
        "pre-upgrade-check".to_owned(),
        "show-status".to_owned(),
    ];
    format!("action: {{unit: {on}, name: {}}}", rng.pick(actions.to_vec()).unwrap())
}

fn come_and_go(sim: &Sim, model: &Model, rng: &mut Rng) -> String {
    let app = rng.pick(model.senders.clone()).unwrap();
    let units = alive(sim, |name| name == app);
    // One of each stays, so that there is somebody to lead and something to see.
    if units.len() > 1 && (units.len() > 4 || rng.below(2) == 0) {
        let unit = rng.pick(units).unwrap();
        let force = sim.world.units.get(&unit).is_some_and(|unit| !sim.world.machines[&unit.machine].up);
        format!("remove-unit: {{unit: {unit}, force: {force}}}")
    } else {
        format!("add-unit: {{application: {app}}}")
    }
}

fn lead(sim: &Sim, rng: &mut Rng) -> String {
    format!("leader: {{unit: {}}}", ours(sim, rng))
}

/// Something goes wrong in the next hook of a unit, or in the one in which it moves.
fn fault(sim: &Sim, rng: &mut Rng) -> String {
    let unit = match sim.world.leader_of("lockstep").filter(|_| rng.below(3) == 0) {
        Some(leader) => leader.to_owned(),
        None => ours(sim, rng),
    };
    let most = rng.pick(vec![4, 12, 30]).unwrap();
    let call = 1 + rng.below(most);
    let by = rng.pick(vec!["process", "process", "agent"]).unwrap();
    let moving = "counting: {tool: snap, argv-contains: refresh}";
    let what = match rng.below(9) {
        0 | 1 => format!("kill-at-call: {call}, by: {by}"),
        2 => format!("kill-in-call: {call}, by: {by}"),
        3 => format!("kill-at-call: 1, by: {by}, {moving}"),
        4 => format!("kill-in-call: 1, by: {by}, {moving}"),
        5 => format!("fail-commit: true, {moving}"),
        6 => "fail-commit: true".to_owned(),
        7 => format!("lose-leadership-at-call: {call}"),
        _ => {
            let tools = [
                "state-get",
                "relation-get",
                "relation-set",
                "config-get",
                "is-leader",
                "status-set",
                "state-set",
            ];
            let tool = rng.pick(tools.to_vec()).unwrap();
            format!("tool-answer: {{tool: {tool}, exit: 1, stderr: \"ERROR cannot reach the controller\"}}")
        }
    };
    // It waits for a hook that makes so many calls.
    format!("fault: {{unit: {unit}, optional: true, waits: true, {what}}}")
}

/// A machine dies; one that is dead boots.
fn power(sim: &Sim, rng: &mut Rng) -> String {
    let dead = sim.world.machines.iter().find(|(_, machine)| !machine.up).map(|(id, _)| id.clone());
    match dead {
        Some(machine) => format!("reboot: {{machine: \"{machine}\"}}"),
        None => format!("machine-dead: {{unit: {}}}", principal(sim, rng)),
    }
}

fn store(rng: &mut Rng) -> String {
    let what = [
        "outage: none, slow: 0",
        "outage: none, slow: 0",
        "outage: unreachable",
        "outage: throttled",
        "outage: timeout",
        "outage: {kind: empty, requests: [cohorts], times: 2}",
        "outage: {status: 503, requests: [info]}",
        "outage: {kind: damaged, requests: [download], times: 1}",
        "slow: 7",
    ];
    format!("store: {{{}}}", rng.pick(what.to_vec()).unwrap())
}

/// What a principal, or somebody at the far side, writes.
fn data(sim: &Sim, model: &Model, rng: &mut Rng) -> String {
    if let Some((name, theirs, ours)) = rng.pick(model.receivers.clone()).filter(|_| rng.below(5) == 0) {
        let events = ["junk", "{}", "{\"valid\": false}", "{\"errors\": [7, {\"error\": \"\\u001b[31m\"}]}"];
        let event = json!(rng.pick(events.to_vec()).unwrap());
        let ends = format!("[\"lockstep:{ours}\", \"{name}:{theirs}\"]");
        return format!("databag: {{relation: {ends}, app: {name}, set: {{event: {event}}}}}");
    }
    let Some(unit) = rng.pick(alive(sim, |app| model.senders.contains(&app))) else {
        return "settle: {}".to_owned();
    };
    let good = begin::sends(&unit);
    let value = match rng.below(8) {
        0..=3 => return good,
        4 => "{\"metrics_alert_rules\": {\"groups\": [".to_owned(),
        5 => "[".repeat(3000),
        6 => format!(
            "{{\"metrics_alert_rules\": {{}}, \"log_alert_rules\": {{}}, \"dashboards\": [\"{}\"]}}",
            "A".repeat(1_200_000)
        ),
        _ => "{\"metrics_alert_rules\": null, \"log_alert_rules\": 7, \"dashboards\": [7, \"\\ud800\"]}"
            .to_owned(),
    };
    let ends = good.split_once("unit:").map_or("", |(ends, _)| ends);
    let foreign = if rng.below(2) == 0 {
        ""
    } else {
        ", config-x/0: \"{}\", node: \"{\\\"format\\\":1}\", configuration: \"-\""
    };
    format!("{ends}unit: {unit}, set: {{config: {}{foreign}}}}}", json!(value))
}

/// The cache is gone, cut, another unit's, or was written by another build.
fn cache(sim: &Sim, rng: &mut Rng) -> String {
    let (unit, other) = (ours(sim, rng), ours(sim, rng));
    let read = |unit: &str| {
        let path = sim.paths_of(unit).ok().map(|paths| paths.agent(unit).join("lockstep/cache"));
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let content = match rng.below(5) {
        0 => return format!("delete-agent-files: {{unit: {unit}, glob: lockstep/cache}}"),
        1 => return format!("delete-agent-files: {{unit: {unit}, glob: \"lockstep/values/*\"}}"),
        2 => return format!("write-agent-file: {{unit: {unit}, path: lockstep/in-flight, content: x}}"),
        3 => read(&other),
        _ => {
            let own = read(&unit);
            let at = rng.below(own.len() + 1);
            own.get(..at).unwrap_or_default().to_owned()
        }
    };
    format!("write-agent-file: {{unit: {unit}, path: lockstep/cache, content: {}}}", json!(content))
}

/// A relation goes, or comes back.
fn relations(sim: &Sim, model: &Model, rng: &mut Rng) -> String {
    let mut ends: Vec<(String, String)> = model
        .receivers
        .iter()
        .map(|(name, theirs, ours)| (format!("lockstep:{ours}"), format!("{name}:{theirs}")))
        .collect();
    ends.extend(
        model.senders.iter().map(|name| (format!("{name}:cos-agent"), "lockstep:cos-agent".to_owned())),
    );
    let (one, two) = rng.pick(ends).unwrap();
    match sim.world.find_relation(&[one.clone(), two.clone()]) {
        Some(_) => format!("remove-relation: {{relation: [\"{one}\", \"{two}\"]}}"),
        None => format!("integrate: [\"{one}\", \"{two}\"]"),
    }
}

/// `resolved --no-retry` where there is an error.
fn skip(sim: &Sim) -> String {
    let failed =
        sim.world.units.values().find(|unit| unit.in_error() && World::app_of(&unit.name) == "lockstep");
    match failed {
        Some(unit) => format!("resolve: {{unit: {}, retry: false}}", unit.name),
        None => "live: {minutes: 5}".to_owned(),
    }
}
