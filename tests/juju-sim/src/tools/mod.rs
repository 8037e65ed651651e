//! The hook tools: what each answers, and what it does to the model or buffers in the context.
//!
//! Each is a function of the world, the context and the arguments, so that all texts can be tested without a process.
//! They are strict: a call that only a faulty charm makes is answered as Juju answers it, and is also a `problem`.

mod action;
mod config;
mod leader;
mod log;
mod network;
mod other;
mod read;
mod relation;
mod state;
mod status;
#[cfg(test)]
mod tests;
mod write;

use serde_json::Value;

use crate::agent::context::Context;
use crate::wire::format::{Output, render};
use crate::wire::gnuflag::{Parsed, Spec, Stop};
use crate::world::{Version, World};

pub use crate::wire::format::Format;

/// A call of a tool, as the client sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// Name of the tool.
    pub tool: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Where it was called.
    pub cwd: String,
    /// Standard input, once the tool has asked for it.
    pub stdin: Option<Vec<u8>>,
}

/// What the client prints and exits with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Exit status.
    pub code: u8,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// The client shall read its standard input and call again.
    pub wants_stdin: bool,
    /// What a correct charm never does.
    pub problem: Option<String>,
}

/// Why a tool gives no output.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fail {
    /// `--help`
    Help,
    /// Exit 2, by a fault of the charm.
    Usage(String),
    /// Exit 2, but it can happen to a correct charm.
    Unknown(String),
    /// Exit 1.
    Error(String),
    /// Standard input is needed.
    Stdin,
    /// Juju has it, this simulator has not.
    NotSimulated,
}

impl From<Stop> for Fail {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Help => Self::Help,
            // The relation may have gone between two calls.
            Stop::Usage(text) if text.ends_with("relation not found") => Self::Unknown(text),
            Stop::Usage(text) => Self::Usage(text),
        }
    }
}

type Done = Result<Vec<u8>, Fail>;
type Tool = fn(&mut World, &mut Context, &Call) -> Done;

fn table(name: &str) -> Option<Tool> {
    Some(match name {
        "relation-ids" => relation::ids,
        "relation-list" => relation::list,
        "relation-model-get" => relation::model_get,
        "relation-get" => read::relation_get,
        "relation-set" => write::relation_set,
        "is-leader" => leader::is_leader,
        "leader-get" => leader::leader_get,
        "leader-set" => leader::leader_set,
        "config-get" => config::config_get,
        "state-get" => state::state_get,
        "state-set" => state::state_set,
        "state-delete" => state::state_delete,
        "juju-log" => log::juju_log,
        "status-set" => status::status_set,
        "status-get" => status::status_get,
        "application-version-set" => status::version_set,
        "goal-state" => network::goal_state,
        "network-get" => network::network_get,
        "unit-get" => network::unit_get,
        "action-get" => action::get,
        "action-set" => action::set,
        "action-fail" => action::fail,
        "action-log" => action::log,
        "open-port" => other::open_port,
        "close-port" => other::close_port,
        "opened-ports" => other::opened_ports,
        "juju-reboot" => other::reboot,
        "resource-get" => other::resource_get,
        "credential-get" | "secret-add" | "secret-get" | "secret-grant" | "secret-ids"
        | "secret-info-get" | "secret-remove" | "secret-revoke" | "secret-set" | "storage-add"
        | "storage-get" | "storage-list" | "payload-register" | "payload-status-set"
        | "payload-unregister" | "add-metric" => other::not_simulated,
        _ => return None,
    })
}

/// The tools that an agent of this version makes links for.
pub fn names(juju: &Version) -> Vec<&'static str> {
    let mut names = vec![
        "action-fail",
        "action-get",
        "action-log",
        "action-set",
        "application-version-set",
        "close-port",
        "config-get",
        "credential-get",
        "goal-state",
        "is-leader",
        "juju-log",
        "juju-reboot",
        "network-get",
        "open-port",
        "opened-ports",
        "relation-get",
        "relation-ids",
        "relation-list",
        "relation-set",
        "resource-get",
        "secret-add",
        "secret-get",
        "secret-grant",
        "secret-ids",
        "secret-info-get",
        "secret-remove",
        "secret-revoke",
        "secret-set",
        "state-delete",
        "state-get",
        "state-set",
        "status-get",
        "status-set",
        "storage-add",
        "storage-get",
        "storage-list",
        "unit-get",
    ];
    if juju.at_least(3, 6, 2) {
        names.push("relation-model-get");
    }
    if !juju.at_least(4, 0, 0) {
        names.extend([
            "leader-get",
            "leader-set",
            "payload-register",
            "payload-status-set",
            "payload-unregister",
        ]);
        names.push("add-metric");
    }
    names
}

/// Answers one call.
pub fn call(world: &mut World, context: &mut Context, call: &Call) -> Answer {
    let line = shown(call);
    let known = names(&world.juju).contains(&call.tool.as_str());
    let Some(tool) = table(&call.tool).filter(|_| known) else {
        let text = format!("bad request: unknown command: {}", call.tool);
        return Answer {
            code: 1,
            stderr: error(&text),
            problem: Some(format!("{line}: unknown tool")),
            ..Answer::default()
        };
    };
    match tool(world, context, call) {
        Ok(stdout) => Answer { stdout, ..Answer::default() },
        Err(Fail::Help) => {
            Answer { stdout: format!("Usage: {} [options]\n", call.tool).into_bytes(), ..Answer::default() }
        }
        Err(Fail::Usage(text)) => Answer {
            code: 2,
            stderr: error(&text),
            problem: Some(format!("{line}: {text}")),
            ..Answer::default()
        },
        Err(Fail::Unknown(text)) => Answer { code: 2, stderr: error(&text), ..Answer::default() },
        Err(Fail::Error(text)) => Answer { code: 1, stderr: error(&text), ..Answer::default() },
        Err(Fail::Stdin) => Answer { wants_stdin: true, ..Answer::default() },
        Err(Fail::NotSimulated) => {
            let text = format!("{line}: not simulated");
            Answer { code: 1, stderr: error(&text), problem: Some(text), ..Answer::default() }
        }
    }
}

/// The call as one line.
pub fn shown(call: &Call) -> String {
    let mut line = call.tool.clone();
    for arg in &call.args {
        let plain = !arg.is_empty()
            && arg.bytes().all(|b| b.is_ascii_graphic() && !b"'\"$`\\;&|<>(){}*?#".contains(&b));
        line.push(' ');
        if plain {
            line.push_str(arg);
        } else {
            line.push_str(&format!("'{}'", arg.replace('\'', "'\\''")));
        }
    }
    line
}

fn error(text: &str) -> Vec<u8> {
    format!("ERROR {text}\n").into_bytes()
}

/// Prints a value in the asked format, to the file of `--output` if there is one.
fn print(call: &Call, parsed: &Parsed, default: Format, output: impl Into<Output>) -> Done {
    let text = render(&output.into(), parsed.format(default)).into_bytes();
    let Some(file) = parsed.value("output") else { return Ok(text) };
    let path = std::path::Path::new(&call.cwd).join(file);
    fs_err::write(path, text).map_err(|e| Fail::Error(e.to_string()))?;
    Ok(Vec::new())
}

fn parse(spec: Spec<'_>, call: &Call, at_most: usize) -> Result<Parsed, Fail> {
    let parsed = spec.parse(&call.args)?;
    parsed.at_most(at_most)?;
    Ok(parsed)
}

fn strings(map: std::collections::BTreeMap<String, String>) -> Value {
    Value::Object(map.into_iter().map(|(key, value)| (key, Value::String(value))).collect())
}
