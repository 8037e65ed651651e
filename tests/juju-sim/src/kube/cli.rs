//! The `kubectl` program: `get` of raw paths, nodes and pods as JSON.

use serde_json::Value;

use super::json;
use super::model::{Access, Api, ApiMore, Kubectl};
use crate::machine::parse_span;
use crate::snapd::{Client, Reply, Turn};
use crate::world::World;

/// How long a program that hangs is waited for at most; its caller is long gone by then.
const HANGS: u64 = 3_600_000;

fn error(text: impl std::fmt::Display) -> Reply {
    Reply { code: 1, stderr: format!("{text}\n"), ..Reply::default() }
}

fn not_simulated(what: &str) -> Reply {
    let text = format!("{what}: not simulated");
    Reply { problem: Some(text.clone()), ..error(format!("error: {text}")) }
}

fn printed(value: &Value) -> Reply {
    // The real client indents by four blanks and sorts keys.
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut to = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    match serde::Serialize::serialize(value, &mut to) {
        Ok(()) => Reply { stdout: format!("{}\n", String::from_utf8_lossy(&bytes)), ..Reply::default() },
        Err(error) => not_simulated(&error.to_string()),
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
struct Asked {
    args: Vec<String>,
    kubeconfig: Option<String>,
    timeout: u64,
    namespace: Option<String>,
    output: Option<String>,
    raw: Option<String>,
}

/// Reads flags in both of their forms; what is not understood is an error.
fn parse(args: &[String]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if !arg.starts_with('-') || arg == "-" {
            asked.args.push(arg.clone());
            continue;
        }
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => match arg.strip_prefix("-n").or(arg.strip_prefix("-o")).filter(|v| !v.is_empty()) {
                Some(value) if !arg.starts_with("--") => (arg.get(..2).unwrap_or_default(), value.to_owned()),
                _ => {
                    let value = rest.next().cloned();
                    (arg.as_str(), value.ok_or_else(|| format!("flag needs an argument: {arg}"))?)
                }
            },
        };
        match name {
            "--kubeconfig" => asked.kubeconfig = Some(value),
            "--request-timeout" => {
                asked.timeout =
                    parse_span(&value).ok_or_else(|| format!("invalid argument \"{value}\" for {name}"))?;
            }
            "-n" | "--namespace" => asked.namespace = Some(value),
            "-o" | "--output" => asked.output = Some(value),
            "--raw" => asked.raw = Some(value),
            _ => return Err(format!("unknown flag: {name}")),
        }
    }
    Ok(asked)
}

/// Answers a call of `kubectl`, or of `k8s`.
pub(crate) fn call(world: &mut World, client: &Client, program: &str, args: &[String]) -> Turn {
    let args = match (program, args.split_first()) {
        ("k8s", Some((first, rest))) if first == "kubectl" => rest,
        ("k8s", _) => return not_simulated("k8s without kubectl").into(),
        (_, _) => args,
    };
    let asked = match parse(args) {
        Ok(asked) => asked,
        Err(text) => return Reply { problem: Some(text.clone()), ..error(format!("error: {text}")) }.into(),
    };
    let Some(machine) = world.machines.get(&client.machine) else { return Reply::default().into() };
    if machine.kube.kubectl == Kubectl::Hangs {
        let reply = error("error: signal: killed");
        return Turn::Until(world.clock.plus(HANGS), Box::new(|_| reply.into()));
    }
    let path = asked.kubeconfig.clone().unwrap_or_else(|| match program {
        "k8s" => machine.usual_kubeconfig().to_owned(),
        _ => "/root/.kube/config".to_owned(),
    });
    let access = machine.kube.kubeconfigs.get(&path).copied().unwrap_or(Access::Absent);
    if access == Access::Absent {
        return match asked.kubeconfig {
            Some(path) => error(format!("error: stat {path}: no such file or directory")),
            None => error("The connection to the server localhost:8080 was refused - did you specify the right host or port?"),
        }
        .into();
    }
    let Some((server, address)) = world.api_server(&client.machine) else {
        return error("Unable to connect to the server: dial tcp 10.1.255.1:6443: connect: no route to host")
            .into();
    };
    if !server.api_is_up() {
        return refused(world, &asked, &address).into();
    }
    let Api::More(ApiMore::Slow(seconds)) = server.kube.api else {
        return answer(world, client, &asked, access).into();
    };
    let wait = seconds * 1000;
    if asked.timeout > 0 && asked.timeout < wait {
        let late = "Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting headers)";
        return Turn::Until(world.clock.plus(asked.timeout), Box::new(move |_| error(late).into()));
    }
    let client = client.clone();
    Turn::Until(world.clock.plus(wait), Box::new(move |world| answer(world, &client, &asked, access).into()))
}

/// Resources are discovered first, five times over; a raw path is not.
fn refused(world: &World, asked: &Asked, address: &str) -> Reply {
    let mut text = String::new();
    if asked.raw.is_none() {
        let clock = world.clock.rfc3339();
        let clock = clock.get(11..19).unwrap_or_default();
        for _ in 0..5 {
            text.push_str(&format!(
                "E1105 {clock}.218431   20831 memcache.go:265] couldn't get current server API group list: Get \
                 \"https://{address}/api?timeout=32s\": dial tcp {address}: connect: connection refused\n"
            ));
        }
    }
    error(format!(
        "{text}The connection to the server {address} was refused - did you specify the right host or port?"
    ))
}

fn answer(world: &World, client: &Client, asked: &Asked, access: Access) -> Reply {
    let words: Vec<&str> = asked.args.iter().map(String::as_str).collect();
    let Some(machine) = world.machines.get(&client.machine) else { return Reply::default() };
    if access == Access::Unauthorized {
        return error("error: You must be logged in to the server (Unauthorized)");
    }
    let own = world.node_name(machine);
    let user = match access {
        Access::Node => format!("system:node:{own}"),
        Access::Admin | Access::Nothing | Access::Unauthorized | Access::Absent => "observer".to_owned(),
    };
    let forbidden = |what: &str, rest: &str| {
        error(format!("Error from server (Forbidden): {what} is forbidden: User \"{user}\" cannot {rest}"))
    };
    if let Some(path) = &asked.raw {
        return match (words.as_slice(), path.as_str()) {
            (["get"], "/readyz" | "/livez" | "/healthz") => {
                health(world, client, path.trim_start_matches('/'))
            }
            (_, _) => not_simulated(&format!("kubectl {} --raw={path}", words.join(" "))),
        };
    }
    if asked.output.as_deref() != Some("json") {
        return not_simulated("kubectl without -o json");
    }
    match words.as_slice() {
        ["get", "nodes" | "node" | "no"] => match access {
            Access::Admin => {
                let all = world.nodes();
                printed(&json::list(all.iter().map(|(name, of)| json::node(world, name, of)).collect()))
            }
            Access::Node | Access::Nothing | Access::Unauthorized | Access::Absent => {
                let why = match access {
                    Access::Node => format!(": node '{own}' cannot read all nodes, only its own Node object"),
                    Access::Admin | Access::Nothing | Access::Unauthorized | Access::Absent => String::new(),
                };
                let rest = format!("list resource \"nodes\" in API group \"\" at the cluster scope{why}");
                forbidden("nodes", &rest)
            }
        },
        ["get", "nodes" | "node" | "no", name] => {
            if access == Access::Nothing || (access == Access::Node && *name != own) {
                let why = match access {
                    Access::Node => format!(": node '{own}' cannot read '{name}', only its own Node object"),
                    Access::Admin | Access::Nothing | Access::Unauthorized | Access::Absent => String::new(),
                };
                let rest = format!("get resource \"nodes\" in API group \"\" at the cluster scope{why}");
                return forbidden(&format!("nodes \"{name}\""), &rest);
            }
            match world.nodes().get(*name) {
                Some(of) => printed(&json::node(world, name, of)),
                None => error(format!("Error from server (NotFound): nodes \"{name}\" not found")),
            }
        }
        ["get", "pods" | "pod" | "po"] if asked.namespace.as_deref() == Some("kube-system") => match access {
            Access::Admin => {
                let nodes = world.nodes();
                let (node, address) =
                    nodes.iter().next().map_or(("", ""), |(name, of)| (name.as_str(), of.address.as_str()));
                let pods = world.kube.pods.values();
                printed(&json::list(pods.map(|pod| json::pod(pod, node, address)).collect()))
            }
            Access::Node | Access::Nothing | Access::Unauthorized | Access::Absent => {
                let why = match access {
                    Access::Node => ": can only list/watch pods with spec.nodeName field selector",
                    Access::Admin | Access::Nothing | Access::Unauthorized | Access::Absent => "",
                };
                let rest =
                    format!("list resource \"pods\" in API group \"\" in the namespace \"kube-system\"{why}");
                forbidden("pods", &rest)
            }
        },
        _ => not_simulated(&format!("kubectl {}", words.join(" "))),
    }
}

/// A health endpoint: `ok`, or all checks with those that failed.
fn health(world: &World, client: &Client, name: &str) -> Reply {
    let api = world.api_server(&client.machine).map(|(server, _)| &server.kube.api);
    let Some(Api::More(ApiMore::Failing(failing))) = api else {
        return Reply::out("ok");
    };
    let mut text = String::new();
    let usual = ["ping", "log", "etcd", "informer-sync", "shutdown"];
    let others = failing.iter().map(String::as_str).filter(|check| !usual.contains(check));
    for check in usual.into_iter().chain(others) {
        match failing.iter().any(|failing| failing == check) {
            true => text.push_str(&format!("[-]{check} failed: reason withheld\\n")),
            false => text.push_str(&format!("[+]{check} ok\\n")),
        }
    }
    error(format!(
        "Error from server (InternalError): an error on the server (\"{text}{name} check failed\") has prevented the \
         request from succeeding"
    ))
}
