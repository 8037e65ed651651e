//! The rooms of `src/` and the one direction of imports between them (ARCHITECTURE.md).

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "support/sources.rs"]
mod sources;

use sources::sources;
use std::collections::BTreeSet;
use std::path::Path;

/// The rooms in reading order, as `src/lib.rs` lists them.
const ROOMS: [&str; 14] = [
    "pass",
    "invocation",
    "cli",
    "observe",
    "act",
    "decide",
    "plan",
    "observed",
    "databag",
    "tools",
    "juju",
    "snap",
    "kube",
    "log",
];
/// Rooms that a room must not know although they stand below it.
const FORBIDDEN: [(&str, &[&str]); 4] = [
    ("decide", &["tools", "log"]),
    ("observed", &["tools", "log"]),
    ("plan", &["tools", "log"]),
    ("databag", &["tools", "log"]),
];

/// The rooms that a text names in `crate::room` and in `use crate::{a::.., b::..}`.
fn named(text: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for part in text.split("crate::").skip(1) {
        let names = match part.strip_prefix('{') {
            Some(group) => top_level(group),
            None => vec![part],
        };
        for name in names {
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            rooms.insert(name[..end].to_owned());
        }
    }
    rooms
}

/// The items of a group, not those of groups within it.
fn top_level(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(group[start..at].trim());
                return items;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(group[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    items
}

fn room_of(path: &Path) -> String {
    let inside = path.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn imports_point_down_the_list_of_rooms_only() {
    let mut files = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
    assert!(files.len() > 30, "only {} files found", files.len());
    let place = |room: &str| ROOMS.iter().position(|name| *name == room);
    let mut faults = Vec::new();
    for file in files {
        let room = room_of(&file);
        let Some(own) = place(&room) else { continue };
        for other in named(&std::fs::read_to_string(&file).unwrap()) {
            let forbidden = FORBIDDEN.iter().any(|(from, to)| *from == room && to.contains(&other.as_str()));
            match place(&other) {
                Some(place) if place >= own && !forbidden => {}
                Some(_) => faults.push(format!("{}: {room} must not know {other}", file.display())),
                None => faults.push(format!("{}: {other} is no room", file.display())),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn lib_rs_lists_the_rooms_in_reading_order_and_nothing_else() {
    let lib = include_str!("../src/lib.rs");
    let code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let listed: Vec<&str> = lib.lines().filter(code).collect();
    let expected: Vec<String> = ROOMS.iter().map(|room| format!("pub mod {room};")).collect();
    assert_eq!(listed, expected);
}

#[test]
fn groups_of_imports_are_understood() {
    let found = named("use crate::{a::{x, y}, b}; crate::c::d(); use crate::e::F;");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "c", "e"]);
}

#[test]
fn main_is_under_sixty_lines() {
    assert!(include_str!("../src/main.rs").lines().count() < 60);
}
