//! What the client says where snapd does not answer.

use super::flags::Flags;
use super::list::system_lines;
use super::{Reply, Turn, after};
use crate::world::World;

const DIAL: &str = "dial unix /run/snapd.socket: connect: no such file or directory";
/// So long it tries a GET again.
pub(super) const TRIES: u64 = 120_000;

/// What it says at last.
pub(super) fn unreachable(verb: &str, path: &str) -> String {
    format!("cannot communicate with server: {verb} \"http://localhost/v2/{path}\": {DIAL}")
}

pub(super) fn call(world: &World, name: &str, flags: &Flags) -> Turn {
    let text = unreachable;
    let one = flags.args.first().map_or("", String::as_str).to_owned();
    let posts = |text: String| Turn::from(Reply::fail(1, &text));
    let gets = |text: String| after(world, TRIES, move |_| Reply::fail(1, &text).into());
    match name {
        "version" => after(world, 25_000, |_| Reply::out(system_lines("2.68.3", "unavailable", "-")).into()),
        "list" => gets(format!("cannot list snaps: {}", text("Get", "snaps"))),
        "info" => gets(format!("no snap found for \"{one}\"")),
        "create-cohort" => posts(format!("cannot create cohorts: {}", text("Post", "cohorts"))),
        "refresh" if flags.has("list") => {
            gets(format!("cannot list updates: {}", text("Get", "find?select=refresh")))
        }
        "refresh" if flags.has("time") => {
            gets(format!("cannot obtain system details: {}", text("Get", "system-info")))
        }
        "refresh" | "install" | "switch" if flags.args.len() == 1 => {
            posts(text("Post", &format!("snaps/{one}")))
        }
        "refresh" | "install" | "switch" => posts(text("Post", "snaps")),
        "changes" => gets(text("Get", "changes?select=all")),
        "services" => gets(text("Get", "apps?select=service")),
        "set" => posts(text("Put", "snaps/system/conf")),
        "get" => gets(text("Get", "snaps/system/conf")),
        "known" => gets(text("Get", &format!("assertions/{one}"))),
        _ => gets(text("Get", &format!("changes/{one}"))),
    }
}
