//! Transient timers: `systemd-run --on-active`, and what `systemctl` says about them.
//!
//! Only what a follow-up run needs. As with the real ones, a name cannot be used again while its service runs, or
//! after it failed without `--collect`.

use serde::Serialize;

use crate::snapd::Reply;
use crate::world::{Machine, Time, World};

/// What a transient unit of one name is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transient {
    /// When the timer fires; none once it has.
    pub fires: Option<Time>,
    /// The command of its service.
    pub command: Vec<String>,
    /// `--collect`: a failed service is forgotten.
    pub collect: bool,
    /// Properties of service and timer as they were given.
    pub properties: Vec<String>,
    /// `waiting`, `active` or `failed`.
    pub state: String,
    /// The unit whose hook made it.
    pub by: Option<String>,
}

fn fail(code: u8, text: &str) -> Reply {
    Reply { code, stderr: format!("{text}\n"), ..Reply::default() }
}

fn faulty(text: &str) -> Reply {
    Reply { problem: Some(text.to_owned()), ..fail(1, text) }
}

/// Milliseconds of a time span as systemd writes it: `30`, `30s`, `5min`, `1h 30min`.
pub fn parse_span(text: &str) -> Option<u64> {
    let mut total = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().ok()?;
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let millis = match unit {
            "ms" | "msec" => 1.0,
            "" | "s" | "sec" | "second" | "seconds" => 1000.0,
            "m" | "min" | "minute" | "minutes" => 60_000.0,
            "h" | "hr" | "hour" | "hours" => 3_600_000.0,
            "d" | "day" | "days" => 86_400_000.0,
            _ => return None,
        };
        total += number * millis;
        rest = tail.trim_start();
    }
    Some(total as u64)
}

/// `systemd-run`
pub(crate) fn run(world: &mut World, machine: &str, by: Option<&str>, args: &[String]) -> Reply {
    let mut name = None;
    let mut span = None;
    let mut collect = false;
    let mut quiet = false;
    let mut properties = Vec::new();
    let mut rest = args.iter();
    let mut command: Vec<String> = Vec::new();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            command.extend(rest.by_ref().cloned());
            break;
        }
        let Some(flag) = arg.strip_prefix('-') else {
            command.push(arg.clone());
            command.extend(rest.by_ref().cloned());
            break;
        };
        match flag {
            "-collect" | "G" => collect = true,
            "-quiet" | "q" => quiet = true,
            "-no-ask-password" | "-no-block" => {}
            _ => {
                let (flag, value) = match flag.split_once('=') {
                    Some((flag, value)) => (flag, Some(value.to_owned())),
                    None => (flag, rest.next().cloned()),
                };
                let Some(value) = value else {
                    return faulty(&format!("systemd-run: option '-{flag}' requires an argument"));
                };
                match flag {
                    "-unit" | "u" => name = Some(value),
                    "-on-active" => span = Some(value),
                    "-property" | "p" | "-timer-property" | "-description" | "-setenv" | "E" => {
                        properties.push(value);
                    }
                    _ => return faulty(&format!("systemd-run: unrecognized option '-{flag}'")),
                }
            }
        }
    }
    let Some(name) = name else { return faulty("systemd-run without --unit: not simulated") };
    let Some(span) = span else { return faulty("systemd-run without --on-active: not simulated") };
    if command.is_empty() {
        return faulty("Command line to execute required.");
    }
    let Some(millis) = parse_span(&span) else {
        return faulty(&format!("Failed to parse timer value: {span}"));
    };
    let name = base(&name).to_owned();
    let fires = Some(world.clock.plus(millis));
    let Some(of) = world.machines.get_mut(machine) else { return Reply::default() };
    if let Some(there) = of.transient.get(&name) {
        let suffix = if there.fires.is_some() { "timer" } else { "service" };
        return fail(
            1,
            &format!(
                "Failed to start transient timer unit: Unit {name}.{suffix} was already loaded or has a fragment file."
            ),
        );
    }
    let state = "waiting".to_owned();
    let by = by.map(str::to_owned);
    of.transient.insert(name.clone(), Transient { fires, command, collect, properties, state, by });
    let said = format!("Running timer as unit: {name}.timer\nWill run service as unit: {name}.service\n");
    Reply { stderr: if quiet { String::new() } else { said }, ..Reply::default() }
}

fn base(name: &str) -> &str {
    name.strip_suffix(".timer").or(name.strip_suffix(".service")).unwrap_or(name)
}

/// The state of a unit as `is-active` says it.
fn state(machine: &Machine, name: &str) -> &'static str {
    if let Some(service) = name.strip_prefix("snap.") {
        let service = service.strip_suffix(".service").unwrap_or(service);
        let found =
            service.split_once('.').and_then(|(snap, app)| machine.snapd.snaps.get(snap)?.services.get(app));
        return if found.is_some_and(|s| s.active) { "active" } else { "inactive" };
    }
    let Some(of) = machine.transient.get(base(name)) else { return "inactive" };
    match (name.ends_with(".timer"), of.state.as_str()) {
        (true, "waiting") | (false, "active") => "active",
        (false, "failed") => "failed",
        (_, _) => "inactive",
    }
}

/// `systemctl`
pub(crate) fn ctl(world: &mut World, machine: &str, args: &[String]) -> Reply {
    let quiet = args.iter().any(|arg| arg == "--quiet" || arg == "-q");
    let legend = !args.iter().any(|arg| arg == "--no-legend" || arg == "--legend=false");
    let known = ["--quiet", "-q", "--no-legend", "--legend=false", "--all", "-a", "--no-pager", "--no-block"];
    if let Some(odd) = args.iter().find(|arg| arg.starts_with('-') && !known.contains(&arg.as_str())) {
        return faulty(&format!("systemctl: unrecognized option '{odd}'"));
    }
    let mut words = args.iter().filter(|arg| !arg.starts_with('-'));
    let verb = words.next().map_or("list-units", String::as_str);
    let names: Vec<&String> = words.collect();
    let now = world.clock;
    let Some(of) = world.machines.get_mut(machine) else { return Reply::default() };
    match (verb, names.as_slice()) {
        ("is-active", [name, ..]) => {
            let state = state(of, name);
            let stdout = if quiet { String::new() } else { format!("{state}\n") };
            Reply { code: if state == "active" { 0 } else { 3 }, stdout, ..Reply::default() }
        }
        ("stop", names) if !names.is_empty() && names.iter().all(|name| name.ends_with(".timer")) => {
            let mut unknown = Vec::new();
            for name in names {
                if of.transient.get(base(name)).is_some_and(|t| t.fires.is_some()) {
                    of.transient.remove(base(name));
                } else {
                    unknown.push(format!("Failed to stop {name}: Unit {name} not loaded."));
                }
            }
            if unknown.is_empty() { Reply::default() } else { fail(5, &unknown.join("\n")) }
        }
        ("reset-failed", names) => {
            for name in names {
                if of.transient.get(base(name)).is_none_or(|t| t.state == "waiting") {
                    return fail(
                        1,
                        &format!("Failed to reset failed state of unit {name}: Unit {name} not loaded."),
                    );
                }
            }
            of.transient.retain(|name, t| {
                t.state != "failed" || !(names.is_empty() || names.iter().any(|n| base(n) == name))
            });
            Reply::default()
        }
        ("list-timers", names) => {
            let mut out = String::new();
            let mut count = 0;
            if legend {
                out.push_str("NEXT                    LEFT LAST PASSED UNIT ACTIVATES\n");
            }
            for (name, timer) in &of.transient {
                let Some(fires) = timer.fires else { continue };
                if !names.is_empty() && !names.iter().any(|pattern| base(pattern) == name) {
                    continue;
                }
                count += 1;
                let left = fires.0.saturating_sub(now.0) / 1000;
                out.push_str(&format!("{} {left}s - - {name}.timer {name}.service\n", fires.stamp()));
            }
            if legend {
                out.push_str(&format!("\n{count} timers listed.\n"));
            }
            Reply::out(out)
        }
        (_, _) => faulty(&format!("systemctl {verb}: not simulated")),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_span;

    #[test]
    fn spans_are_read_as_systemd_reads_them() {
        for (text, millis) in [("30", 30_000), ("90s", 90_000), ("5min", 300_000), ("1h 30min", 5_400_000)] {
            assert_eq!(parse_span(text), Some(millis), "{text}");
        }
        assert_eq!((parse_span(""), parse_span("1 fortnight")), (None, None));
    }
}
