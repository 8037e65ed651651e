//! `explain`: what was observed, what a pass would do, and every status.

use super::show_status::show_status;
use super::table::table;
use crate::observed::Observed;
use crate::observed::collection::Step;
use crate::plan::{Effect, Plan};
use crate::snap::{Alteration, Place, Relocation, SnapName};
use serde_json::{Value, json};

/// The explanation, for a person or as JSON. It shows sizes of databag values, never the values.
pub fn explain(observed: &Observed, plan: &Plan, json: bool) -> String {
    let facts = facts(observed);
    let steps = steps(plan);
    let status = show_status(observed, plan);
    if json {
        let facts: Value = facts.into_iter().map(|[name, value]| (name, Value::from(value))).collect();
        return format!("{}\n", json!({"observed": facts, "plan": steps, "statuses": status.results}));
    }
    let plan = if steps.is_empty() {
        "  nothing to do\n".to_owned()
    } else {
        steps.iter().map(|step| format!("  {step}\n")).collect()
    };
    format!("Observed\n{}\nPlan\n{plan}\nStatuses\n{}", indent(&table(&facts)), indent(&status.text))
}

fn facts(observed: &Observed) -> Vec<[String; 2]> {
    let context = &observed.context;
    let row = |name: &str, value: String| [name.to_owned(), value];
    let mut rows = vec![
        row("unit", context.unit.to_string()),
        row("leader", if observed.leader { "yes" } else { "no" }.to_owned()),
        row("machine", context.machine.clone()),
        row("model", format!("{} ({})", context.model, context.model_uuid)),
        row("charm build", observed.build.clone()),
        row(
            "read",
            observed
                .full_read
                .map_or("what is stale; the rest is cached".to_owned(), |why| format!("everything: {why}")),
        ),
    ];
    if let Some(principal) = &context.principal_unit {
        rows.push(row("principal", principal.to_string()));
    }
    for (id, relation) in &observed.relations {
        let units: Vec<String> = relation.units.iter().map(ToString::to_string).collect();
        let shown = match (&relation.app, units.as_slice()) {
            (_, []) => "no units met".to_owned(),
            (_, units) if units.len() > 8 => format!("{} units", units.len()),
            (_, units) => units.join(", "),
        };
        rows.push(row(&id.to_string(), shown));
    }
    rows
}

fn steps(plan: &Plan) -> Vec<String> {
    let mut steps = Vec::new();
    for write in &plan.writes {
        let bag = match write.scope {
            crate::juju::Scope::Unit => "unit databag",
            crate::juju::Scope::App => "application databag",
        };
        for (key, value) in &write.changes {
            let what = match value {
                Some(value) => format!("set {key} ({} bytes)", value.len()),
                None => format!("remove {key}"),
            };
            steps.push(format!("{} {bag}: {what}", write.relation));
        }
    }
    steps.extend(plan.effect.iter().map(|next| format!("first {}; then it decides again", effect(next))));
    steps.extend(plan.unit_status.iter().map(|s| format!("unit status: {}: {}", s.level, s.line)));
    steps.extend(plan.app_status.iter().map(|s| format!("application status: {}: {}", s.level, s.line)));
    steps
}

/// What a pass carries out before it decides again.
fn effect(effect: &Effect) -> String {
    match effect {
        Effect::ReadAppBag => "reads the peers application databag again".to_owned(),
        Effect::ReadGoalState => "reads goal-state".to_owned(),
        Effect::ReadInfo { names } => format!("asks the store about {}", joined(names)),
        Effect::ReadKube { whole: true } => "asks the API server about the cluster".to_owned(),
        Effect::ReadKube { whole: false } => "asks the API server about its own node".to_owned(),
        Effect::CreateCohorts { names } => format!("has the store make keys of {}", joined(names)),
        Effect::Alter(alteration) => altered(alteration),
        Effect::Collect(step) => collected(step),
    }
}

fn altered(alteration: &Alteration) -> String {
    match alteration {
        Alteration::Move(to) => format!("refreshes {}", place(to)),
        Alteration::Install { to, .. } => format!("installs {}", place(to)),
        Alteration::Hold { names } => format!("holds {}", joined(names)),
        Alteration::Unhold { names } => format!("takes the hold off {}", joined(names)),
        Alteration::LeaveCohort { name } => format!("takes {name} out of its cohort"),
    }
}

/// A step of the collector. Configurations are never shown: they have the principals' secrets.
fn collected(step: &Step) -> String {
    match step {
        Step::Lock { name } => format!("places the collector's lock {name}"),
        Step::Bundle { text: Some(_) } => "writes the collector's certificates".to_owned(),
        Step::Bundle { text: None } => "takes the collector's certificates away".to_owned(),
        Step::Validate { .. } => "has the collector validate its configuration".to_owned(),
        Step::Probe { parts } => {
            format!("has the collector validate the jobs of {} principals each", parts.len())
        }
        Step::Place { text: Some(_) } => "puts the collector's configuration in force".to_owned(),
        Step::Place { text: None } => "takes the collector's configuration away".to_owned(),
        Step::Alter(alteration) => altered(alteration),
        Step::ReadConnections => "reads the collector's connections".to_owned(),
        Step::ConnectPlug { plug, slot } => format!("connects the collector's {plug} to :{slot}"),
        Step::Connect { slot } => format!("connects the collector's logs to {slot}"),
        Step::Disconnect { slot } => format!("disconnects the collector's logs from {slot}"),
        Step::Start => "starts the collector".to_owned(),
        Step::Restart => "starts the collector anew".to_owned(),
        Step::Stop => "stops the collector".to_owned(),
        Step::RemoveSnap => "removes the collector".to_owned(),
        Step::Withdraw => "takes away what this unit wrote for the collector".to_owned(),
    }
}

/// Where a snap goes. A key is never shown.
fn place(to: &Relocation) -> String {
    let place = match &to.to {
        Place::Cohort(_) => "into its cohort".to_owned(),
        Place::Revision(revision) => format!("to revision {revision}"),
    };
    let channel = to.channel.as_ref().map_or_else(String::new, |channel| format!(" on {channel}"));
    format!("{} {place}{channel}", to.name)
}

fn joined<'a>(names: impl IntoIterator<Item = &'a SnapName>) -> String {
    names.into_iter().map(SnapName::as_str).collect::<Vec<_>>().join(", ")
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_is_told_without_a_key() {
        let to = Relocation {
            name: "kubelet".parse().unwrap(),
            channel: Some("1.32/stable".parse().unwrap()),
            to: Place::Cohort("SECRETKEY".parse().unwrap()),
            ignore_running: false,
        };
        let plan = Plan { effect: Some(Effect::Alter(Alteration::Move(to))), ..Plan::default() };
        let told = ["first refreshes kubelet into its cohort on 1.32/stable; then it decides again"];
        assert_eq!(steps(&plan), told);
    }
}
