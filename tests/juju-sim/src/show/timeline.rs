//! One event as lines of text.

use std::fmt::Write as _;

use crate::sim::{CallRecord, Event, HookRecord, Outcome};
use crate::world::Level;

/// All events, with room before what an admin did. Hooks that changed nothing to be seen are only counted, unless
/// every call is wanted.
pub fn story(events: &[Event], trace: bool, colour: bool) -> String {
    let mut out = String::new();
    let (mut ran, mut quiet) = (false, 0);
    for event in events {
        if !trace && is_quiet(event) {
            quiet += 1;
            continue;
        }
        let step = matches!(event, Event::Step { .. });
        count_quiet(&mut out, &mut quiet, colour);
        if step && ran {
            out.push('\n');
        }
        let table = matches!(event, Event::Step { text, .. } if text.contains('\n'));
        ran = !step || table;
        out.push_str(&timeline(event, trace, colour));
    }
    count_quiet(&mut out, &mut quiet, colour);
    out
}

fn is_quiet(event: &Event) -> bool {
    match event {
        Event::Hook(record) => {
            record.kind != "action"
                && record.retry == 0
                && record.outcome == Outcome::Done
                && details(record, false).is_empty()
        }
        Event::Step { .. } | Event::Note { .. } => false,
    }
}

fn count_quiet(out: &mut String, quiet: &mut u32, colour: bool) {
    if *quiet > 0 {
        let hooks = if *quiet == 1 { "hook" } else { "hooks" };
        let _ =
            writeln!(out, "{}", paint(colour, "2", &format!("         ... {quiet} {hooks} changed nothing")));
        *quiet = 0;
    }
}

/// Lines of an event; with `trace` also every call, with `colour` for a terminal.
pub fn timeline(event: &Event, trace: bool, colour: bool) -> String {
    match event {
        Event::Step { text, .. } if text.contains('\n') => text.clone(),
        Event::Step { time, text } => format!("{time} {}\n", paint(colour, "1", &format!("-- {text}"))),
        Event::Note { time, text } => format!("{time} {}\n", paint(colour, "2", &format!("   ({text})"))),
        Event::Hook(record) => hook(record, trace, colour),
    }
}

fn paint(colour: bool, code: &str, text: &str) -> String {
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn hook(record: &HookRecord, trace: bool, colour: bool) -> String {
    let mut out = String::new();
    let kind = match record.kind.as_str() {
        "action" => "action ",
        "exec" => "exec ",
        _ => "",
    };
    let mut line = format!("{} {:<16} {kind}{}", record.time, record.unit, record.name);
    if let Some(remote) = &record.remote {
        let _ = write!(line, " ({remote})");
    }
    if record.departing.is_some() && record.departing != record.remote {
        line.push_str(" while leaving");
    }
    if record.retry > 0 {
        let _ = write!(line, ", try {}", record.retry + 1);
    }
    if let Some(during) = &record.during {
        let _ = write!(line, ", while {during} runs");
    }
    let seconds = record.ended.0.saturating_sub(record.time.0) / 1000;
    if seconds > 0 {
        let _ = write!(line, ", {seconds} s long");
    }
    match &record.outcome {
        Outcome::Done => {}
        Outcome::Missing => line = paint(colour, "2", &format!("{line}: no such file")),
        Outcome::Failed(_) => line.push_str(&paint(colour, "31", ": FAILED")),
        Outcome::Killed(_) => line.push_str(&paint(colour, "33", ": killed, runs again")),
    }
    let _ = writeln!(out, "{line}");
    for detail in details(record, trace) {
        let _ = writeln!(out, "{:25} {detail}", "");
    }
    if trace {
        for call in &record.calls {
            trace_call(&mut out, call, colour);
        }
    }
    out
}

fn details(record: &HookRecord, trace: bool) -> Vec<String> {
    let mut lines: Vec<String> = record.faults.iter().map(|fault| format!("! {fault}")).collect();
    if let Outcome::Failed(why) = &record.outcome {
        let short = why.split_once(" failed: ").map_or(why.as_str(), |(_, short)| short);
        lines.push(format!("! {short}"));
    }
    lines.extend(record.snaps.iter().map(|change| format!("snap: {change}")));
    for bag in &record.bags {
        let keys: Vec<String> = bag
            .keys
            .iter()
            .map(|key| match (key.is, key.was) {
                (None, _) => format!("-{}", key.key),
                (Some(_), _) if key.value.chars().count() <= 24 && !key.value.contains('\n') => {
                    format!("{}={}", key.key, key.value)
                }
                (Some(size), None) => format!("{} ({})", key.key, bytes(size)),
                (Some(size), Some(was)) if size == was => format!("{} ({}, changed)", key.key, bytes(size)),
                (Some(size), Some(was)) => format!("{} ({}, was {})", key.key, bytes(size), bytes(was)),
            })
            .collect();
        lines.push(format!("{} of {}: {}", bag.relation, bag.owner, keys.join(", ")));
    }
    if trace && !record.state.is_empty() {
        lines.push(format!("state: {}", record.state.join(", ")));
    }
    for (open, port) in &record.ports {
        lines.push(format!("{} {port}", if *open { "opens" } else { "closes" }));
    }
    if let Some(version) = &record.version {
        lines.push(format!("version {version}"));
    }
    for status in &record.statuses {
        lines.push(format!("{} is {}", status.of, status.info));
    }
    let of_agent = |module: &str| module == "uniter.operation";
    for line in record.log.iter().filter(|line| line.level >= Level::Info && !of_agent(&line.module)) {
        // One record may be several lines long.
        let mut told = line.text.lines();
        lines.push(format!("{}: {}", line.level, told.next().unwrap_or_default()));
        lines.extend(told.map(|more| format!("  {more}")));
    }
    for line in record.stdout.lines() {
        lines.push(format!("| {line}"));
    }
    lines
}

fn bytes(size: usize) -> String {
    match size {
        0..10_000 => format!("{size} B"),
        10_000..10_000_000 => format!("{} kB", size / 1000),
        _ => format!("{} MB", size / 1_000_000),
    }
}

fn trace_call(out: &mut String, call: &CallRecord, colour: bool) {
    let shown = crate::tools::Call {
        tool: call.tool.clone(),
        args: call.args.clone(),
        ..crate::tools::Call::default()
    };
    let mut line = format!("{:25} $ {}", "", crate::sim::shorten(&crate::tools::shown(&shown), 160));
    if let Some(size) = call.stdin {
        let _ = write!(line, " < {}", bytes(size));
    }
    match call.code {
        Some(0) => {}
        Some(code) => {
            let _ = write!(line, " -> exit {code}");
        }
        None => line.push_str(" -> killed"),
    }
    let _ = writeln!(out, "{}", paint(colour, "2", &line));
    for text in call.stdout.lines().chain(call.stderr.lines()) {
        let _ = writeln!(
            out,
            "{}",
            paint(colour, "2", &format!("{:25}   {}", "", crate::sim::shorten(text, 160)))
        );
    }
}
