//! From scoped statuses to the one that Juju shows.

use super::{CONCERNS, Scoped};
use crate::juju::{Level, Status};
use tracing::Level as LogLevel;

/// `juju status` cuts a message that is longer than this many bytes (juju/juju
/// `cmd/juju/status/output_tabular.go`), and may do so within a character.
const MESSAGE: usize = 120;
/// Charm state holds 64 KiB a value: so many statuses of one concern are kept, each so long.
const KEPT: usize = 30;
const LINE: usize = 500;

/// The worst status over all concerns, ties by their order; its line, how many more there are, cut
/// to what `juju status` shows. If all are active, what they remark, first what tells a command.
pub fn aggregate(scoped: &Scoped) -> Status {
    let all: Vec<&Status> = CONCERNS.iter().filter_map(|concern| scoped.get(*concern)).flatten().collect();
    let mut bad: Vec<&Status> = all.iter().copied().filter(|status| status.level != Level::Active).collect();
    // A stable sort: within a level the order of concerns stays.
    bad.sort_by_key(|status| status.level);
    match bad.split_first() {
        Some((worst, [])) => Status::new(worst.level, cut(&worst.line, MESSAGE)),
        Some((worst, more)) => {
            let tail = format!(" (+{} more)", more.len());
            let line = cut(&worst.line, MESSAGE.saturating_sub(tail.len()));
            Status::new(worst.level, line + &tail)
        }
        None => {
            let mut remarks: Vec<&str> = all.iter().map(|status| status.line.as_str()).collect();
            remarks.sort_by_key(|line| !line.contains("juju "));
            Status::new(Level::Active, cut(&remarks.join("; "), MESSAGE))
        }
    }
}

/// A status as `juju status` shows it.
pub fn shown(status: Status) -> Status {
    Status::new(status.level, cut(&status.line, MESSAGE))
}

/// The statuses of one concern as they are kept: one line each, worst first, bounded.
pub fn tidy(mut statuses: Vec<Status>) -> Vec<Status> {
    statuses.sort_by_key(|status| status.level);
    statuses.dedup();
    let surplus = statuses.len().saturating_sub(KEPT);
    if surplus > 0 {
        statuses.truncate(KEPT);
        statuses.push(Status::new(Level::Active, format!("{surplus} more are not listed")));
    }
    for status in &mut statuses {
        let line: String = status.line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        status.line = cut(&line, LINE);
    }
    statuses
}

/// What has come and what has gone, for the log.
pub fn news(before: &Scoped, after: &Scoped) -> Vec<(LogLevel, String)> {
    let mut lines = Vec::new();
    for concern in CONCERNS {
        let of = |scoped: &Scoped| scoped.get(concern).cloned().unwrap_or_default();
        let (old, new) = (of(before), of(after));
        for status in new.iter().filter(|status| !old.contains(status)) {
            let level = match status.level {
                Level::Blocked => LogLevel::WARN,
                Level::Maintenance | Level::Waiting => LogLevel::INFO,
                Level::Active => LogLevel::DEBUG,
            };
            lines.push((level, format!("{concern}: {}: {}", status.level, status.line)));
        }
        let gone = old.iter().filter(|status| !new.contains(status) && status.level != Level::Active);
        lines.extend(gone.map(|status| {
            (LogLevel::INFO, format!("{concern}: no longer {}: {}", status.level, status.line))
        }));
    }
    lines
}

/// The text if it fits, else its begin at a character boundary with an ellipsis, in so many bytes.
pub fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let room = bytes.saturating_sub("...".len());
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scoped(entries: &[(&str, Level, &str)]) -> Scoped {
        let mut scoped = Scoped::new();
        for (concern, level, line) in entries {
            scoped.entry((*concern).to_owned()).or_default().push(Status::new(*level, *line));
        }
        scoped
    }

    #[test]
    fn the_worst_wins_and_ties_go_by_the_order_of_concerns() {
        use Level::{Active, Blocked, Maintenance, Waiting};
        let table = [
            (vec![("setup", Active, "a"), ("observability", Active, "b")], (Active, "a; b")),
            (
                vec![("setup", Active, "a"), ("coherence", Active, "b; juju run c")],
                (Active, "b; juju run c; a"),
            ),
            (vec![("setup", Active, "a"), ("observability", Waiting, "b")], (Waiting, "b")),
            (vec![("setup", Waiting, "a"), ("observability", Blocked, "b")], (Blocked, "b (+1 more)")),
            (vec![("observability", Blocked, "b"), ("setup", Blocked, "a")], (Blocked, "a (+1 more)")),
            (
                vec![("setup", Waiting, "a"), ("observability", Maintenance, "b")],
                (Maintenance, "b (+1 more)"),
            ),
            (vec![("unknown", Blocked, "x")], (Active, "")),
            (vec![], (Active, "")),
        ];
        for (entries, (level, line)) in table {
            assert_eq!(aggregate(&scoped(&entries)), Status::new(level, line), "{entries:?}");
        }
    }

    #[test]
    fn a_message_is_cut_at_a_character_and_keeps_the_count() {
        let long = "ü".repeat(100);
        let one = aggregate(&scoped(&[("setup", Level::Blocked, &long)]));
        assert_eq!(one.line, format!("{}...", "ü".repeat(58)));
        let two = aggregate(&scoped(&[("setup", Level::Blocked, &long), ("setup", Level::Waiting, "x")]));
        assert!(two.line.len() <= MESSAGE && two.line.ends_with("... (+1 more)"), "{}", two.line);
        let fits = "x".repeat(MESSAGE);
        assert_eq!(aggregate(&scoped(&[("setup", Level::Blocked, &fits)])).line, fits);
    }

    #[test]
    fn kept_statuses_are_single_lines_and_bounded() {
        let many = (0..100).map(|n| Status::new(Level::Blocked, format!("{n}\nx"))).collect();
        let tidied = tidy(many);
        assert_eq!(tidied.len(), KEPT + 1);
        assert_eq!(tidied.last().unwrap().line, "70 more are not listed");
        assert!(tidied.iter().all(|status| !status.line.contains('\n')));
    }

    #[test]
    fn the_log_tells_what_came_and_what_went() {
        let before = scoped(&[("setup", Level::Blocked, "a"), ("setup", Level::Active, "same")]);
        let after = scoped(&[("setup", Level::Active, "same"), ("observability", Level::Blocked, "b")]);
        assert_eq!(
            news(&before, &after),
            [
                (LogLevel::INFO, "setup: no longer blocked: a".to_owned()),
                (LogLevel::WARN, "observability: blocked: b".to_owned()),
            ]
        );
    }
}
