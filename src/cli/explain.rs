//! `explain`: what was observed, what a pass would do, and every status.

use super::show_status::show_status;
use super::table::table;
use crate::observed::Observed;
use crate::plan::Plan;
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
    steps.extend(plan.unit_status.iter().map(|s| format!("unit status: {}: {}", s.level, s.line)));
    steps.extend(plan.app_status.iter().map(|s| format!("application status: {}: {}", s.level, s.line)));
    steps
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
