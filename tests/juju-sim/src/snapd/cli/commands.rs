//! Which commands there are, and which flags each takes.

use super::flags::{Flags, Kind, Spec};
use super::{Client, Turn, changes, config, info, install, list, many, plugs, refresh, run, switch};
use crate::world::World;

/// Carries a command out.
pub(super) type Command = fn(&mut World, &Client, Flags) -> Turn;

const ABS_TIME: (&str, Option<char>, Kind) = ("abs-time", None, Kind::Bool);
const NO_WAIT: (&str, Option<char>, Kind) = ("no-wait", None, Kind::Bool);
const COLOR: (&str, Option<char>, Kind) = ("color", None, Kind::Value);
const UNICODE: (&str, Option<char>, Kind) = ("unicode", None, Kind::Value);

const fn flag(name: &'static str) -> (&'static str, Option<char>, Kind) {
    (name, None, Kind::Bool)
}

const fn value(name: &'static str) -> (&'static str, Option<char>, Kind) {
    (name, None, Kind::Value)
}

const REFRESH: &Spec = &[
    value("channel"),
    value("revision"),
    value("cohort"),
    flag("leave-cohort"),
    flag("amend"),
    flag("list"),
    flag("time"),
    flag("ignore-validation"),
    flag("ignore-running"),
    value("transaction"),
    flag("classic"),
    flag("devmode"),
    flag("jailmode"),
    flag("edge"),
    flag("beta"),
    flag("candidate"),
    flag("stable"),
    ABS_TIME,
    NO_WAIT,
    COLOR,
    UNICODE,
    // From 2.58 on; taken out below where they are not known.
    ("hold", None, Kind::Optional("forever")),
    flag("unhold"),
];

const INSTALL: &Spec = &[
    value("channel"),
    value("revision"),
    value("cohort"),
    value("transaction"),
    flag("classic"),
    flag("devmode"),
    flag("jailmode"),
    flag("dangerous"),
    flag("unaliased"),
    flag("ignore-validation"),
    flag("ignore-running"),
    flag("edge"),
    flag("beta"),
    flag("candidate"),
    flag("stable"),
    NO_WAIT,
    COLOR,
    UNICODE,
];

const LIST: &Spec = &[flag("all"), COLOR, UNICODE];
const INFO: &Spec = &[flag("verbose"), ABS_TIME, COLOR, UNICODE];
const SWITCH: &Spec = &[
    value("channel"),
    value("cohort"),
    flag("leave-cohort"),
    flag("edge"),
    flag("beta"),
    flag("candidate"),
    flag("stable"),
    NO_WAIT,
];
const TASKS: &Spec = &[value("last"), ABS_TIME];
const SERVICES: &Spec = &[flag("global"), ("user", Some('u'), Kind::Bool)];
const SET: &Spec = &[("string", Some('s'), Kind::Bool), ("typed", Some('t'), Kind::Bool), NO_WAIT];
const GET: &Spec =
    &[("doc", Some('d'), Kind::Bool), ("list", Some('l'), Kind::Bool), ("typed", Some('t'), Kind::Bool)];
const CONNECTIONS: &Spec = &[flag("all")];
const CONNECT: &Spec = &[NO_WAIT];
const DISCONNECT: &Spec = &[NO_WAIT, flag("forget")];
const START: &Spec = &[NO_WAIT, flag("enable")];
const RESTART: &Spec = &[NO_WAIT, flag("reload")];
const STOP: &Spec = &[NO_WAIT, flag("disable")];
const REMOVE: &Spec = &[NO_WAIT, flag("purge"), value("revision")];
const KNOWN: &Spec = &[flag("remote"), flag("direct")];

/// A command by its name: its flags, and the words for what it needs.
pub(super) fn command(name: &str) -> Option<(Command, &'static Spec, Option<&'static str>)> {
    let some = Some("<snap> (at least 1 argument)");
    Some(match name {
        "version" => (list::version, &[], None),
        "list" => (list::list, LIST, None),
        "info" => (info::info, INFO, some),
        "create-cohort" => (many::create_cohort, &[], some),
        "install" => (install::install, INSTALL, some),
        "refresh" => (refresh::refresh, REFRESH, None),
        "switch" => (switch::switch, SWITCH, Some("<snap>")),
        "changes" => (changes::changes, &[ABS_TIME], None),
        "tasks" | "change" => (changes::tasks, TASKS, None),
        "watch" => (changes::watch, &[("last", None, Kind::Value)], None),
        "services" => (list::services, SERVICES, None),
        "set" => (config::set, SET, Some("<snap>")),
        "get" => (config::get, GET, Some("<snap>")),
        "connections" => (plugs::connections, CONNECTIONS, None),
        "connect" => (plugs::connect, CONNECT, Some("<snap>:<plug>")),
        "disconnect" => (plugs::disconnect, DISCONNECT, Some("<snap>:<plug>")),
        "start" => (run::start, START, Some("<service> (at least 1 argument)")),
        "restart" => (run::restart, RESTART, Some("<service> (at least 1 argument)")),
        "stop" => (run::stop, STOP, Some("<service> (at least 1 argument)")),
        "remove" => (run::remove, REMOVE, some),
        "known" => (config::known, KNOWN, Some("<assertion type>")),
        _ => return None,
    })
}

/// Commands that the real client has and this simulator has not.
pub(super) const OTHERS: [&str; 20] = [
    "abort",
    "ack",
    "alias",
    "aliases",
    "disable",
    "download",
    "enable",
    "find",
    "help",
    "interface",
    "interfaces",
    "login",
    "logs",
    "model",
    "pack",
    "prefer",
    "revert",
    "run",
    "unalias",
    "warnings",
];
