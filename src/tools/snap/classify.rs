//! What an exit status and an error text mean. The only place that looks into error texts of `snap`.

use super::text::Messages;
use crate::snap::{Answer, TroubleKind};
use crate::tools::{Exit, Output};

/// snapd answered `snap-change-conflict`.
const CONFLICT: i32 = 10;
/// The command line is not one that this client knows.
const USAGE: i32 = 64;
/// As a shell tells the signals HUP, INT, KILL and TERM.
const ENDED: [i32; 4] = [129, 130, 137, 143];

/// Parts of error texts, by what they mean; the first that fits counts. Texts are collapsed first.
const PARTS: [(TroubleKind, &[&str]); 24] = [
    (TroubleKind::AccessDenied, &["dial unix /run/snapd.socket: connect: permission denied"]),
    (TroubleKind::SnapdUnavailable, &["cannot communicate with server", "daemon is restarting"]),
    (TroubleKind::Busy, &["in progress, no other changes allowed until this is done"]),
    (TroubleKind::TooManyRequests, &["too many requests"]),
    (
        TroubleKind::StoreUnreachable,
        &[
            "unable to contact snap store",
            "dial tcp",
            "Temporary failure in name resolution",
            "no such host",
            "i/o timeout",
            "TLS handshake timeout",
            "persistent network error",
            "context deadline exceeded",
            "unexpected EOF",
            "connection reset by peer",
            "got unexpected HTTP status code 5",
        ],
    ),
    (TroubleKind::AccessDenied, &["access denied", "snap help login", "HTTP status code 401"]),
    (TroubleKind::AccessDenied, &["HTTP status code 403"]),
    (TroubleKind::DiskFull, &["due to low disk space", "no space left on device"]),
    (TroubleKind::ChangeFailed, &["cannot perform the following tasks:", "change finished in status"]),
    (TroubleKind::NotInstalled, &["is not installed", "no matching snaps installed"]),
    (TroubleKind::NoSuchChange, &["cannot find change with id", "no changes found", "no changes of type"]),
    (TroubleKind::NotForArchitecture, &["for this architecture"]),
    (TroubleKind::ChannelNotAvailable, &["but is available to install on the following"]),
    (TroubleKind::ChannelNotAvailable, &["not available on channel", "requested a non-existing branch"]),
    (TroubleKind::NotAvailableAsSpecified, &["not available as specified"]),
    (TroubleKind::RevisionNotAvailable, &[" not available (see 'snap info "]),
    (TroubleKind::NeedsClassic, &["was published using classic confinement"]),
    (TroubleKind::Sideloaded, &["is unknown to the store, use --amend"]),
    (TroubleKind::Disabled, &["refreshing disabled snap"]),
    (TroubleKind::Epoch, &["because it can't read the current epoch of"]),
    (TroubleKind::NotFound, &["cannot create cohorts: snap not found", "no snap found for "]),
    (
        TroubleKind::Usage,
        &["cannot specify both", "nothing to switch; specify", "a single snap name is needed"],
    ),
    (TroubleKind::Usage, &["channel name has too many components", "invalid risk in channel name"]),
    (TroubleKind::Usage, &["hold value must be", "the required argument"]),
];

/// The tasks of a change that fetch something from the store.
const FETCHING: [&str; 3] =
    [" - Download snap ", " - Fetch and check assertions ", " - Ensure prerequisites "];

/// What became of a command, by its exit status and its texts. An error comes with its whole text, white
/// space collapsed; keys in it are not yet shortened.
pub fn classify(output: &Output) -> Result<Answer, (TroubleKind, String)> {
    let messages = Messages::parse(&output.stderr);
    match output.exit {
        Exit::Status(0) => Ok(answer(output, &messages)),
        Exit::Status(status) => {
            let text = messages.error.unwrap_or_else(|| messages.remarks.join("; "));
            let kind = kind(status, &text);
            Err((kind, if text.is_empty() { format!("exit status {status}") } else { text }))
        }
        Exit::Signal(signal) => Err((TroubleKind::Unfinished, format!("ended by signal {signal}"))),
    }
}

fn answer(output: &Output, messages: &Messages) -> Answer {
    let nothing = |remark: &String| {
        remark.ends_with("has no updates available")
            || remark.contains("is already installed, see")
            || remark == "All snaps up to date."
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    if stdout.contains(" waiting on external action to be completed") {
        Answer::Waiting
    } else if stdout.trim().is_empty() && messages.remarks.iter().any(nothing) {
        Answer::NothingToDo
    } else {
        Answer::Done
    }
}

fn kind(status: i32, text: &str) -> TroubleKind {
    match status {
        CONFLICT => return TroubleKind::Busy,
        USAGE if text.contains("unknown flag") || text.contains("unknown command") => {
            return TroubleKind::NotSupported;
        }
        USAGE => return TroubleKind::Usage,
        status if ENDED.contains(&status) => return TroubleKind::Unfinished,
        _ => {}
    }
    if text.contains("\" has running ") {
        return TroubleKind::RunningApps { pids: pids(text) };
    }
    // `snap "x" not found`, and not a text in which something else was not found.
    if text.starts_with("snap \"") && text.ends_with("\" not found") {
        return TroubleKind::NotFound;
    }
    let fits = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    // What a task of a change says may come from anybody, a hook of the snap for one: only of those
    // that fetch something it is taken for the store's.
    if fits(&["cannot perform the following tasks:"]) && !fits(&FETCHING) {
        return TroubleKind::ChangeFailed;
    }
    let found = PARTS.iter().find(|(_, parts)| fits(parts));
    found.map_or(TroubleKind::Other, |(kind, _)| kind.clone())
}

/// The numbers in `snap "x" has running apps (y), pids: 12,34`.
fn pids(text: &str) -> Vec<u32> {
    let list = text.split_once("pids: ").map_or("", |(_, list)| list);
    list.split(',').map_while(|number| number.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(exit: Exit, stderr: &str) -> TroubleKind {
        let output = Output { exit, stdout: Vec::new(), stderr: stderr.to_owned() };
        classify(&output).unwrap_err().0
    }

    /// Texts that snapd's source has and no recording.
    #[test]
    fn texts_without_a_recording_are_known_too() {
        let table = [
            ("cannot refresh \"x\": refreshing disabled snap \"x\" not supported", TroubleKind::Disabled),
            (
                "cannot refresh \"x\" to local snap with epoch 1, because it can't read the current epoch of 2",
                TroubleKind::Epoch,
            ),
            (
                "snap \"x\" not available on channel \"9.9/stable\" (see 'snap info x')",
                TroubleKind::ChannelNotAvailable,
            ),
            ("invalid risk in channel name: 1.30/stabl", TroubleKind::Usage),
            ("a single snap name is needed to specify mode or channel flags", TroubleKind::Usage),
            ("remodeling in progress, no other changes allowed until this is done", TroubleKind::Busy),
            (
                "cannot communicate with server: Post \"http://localhost/v2/cohorts\": dial unix \
                 /run/snapd.socket: connect: no such file or directory",
                TroubleKind::SnapdUnavailable,
            ),
            (
                "cannot communicate with server: Post \"http://localhost/v2/snaps/x\": dial unix \
                 /run/snapd.socket: connect: permission denied",
                TroubleKind::AccessDenied,
            ),
            ("access denied (try with sudo)", TroubleKind::AccessDenied),
            ("something new", TroubleKind::Other),
        ];
        for (text, kind) in table {
            assert_eq!(classified(Exit::Status(1), &format!("error: {text}\n")), kind, "{text}");
        }
    }

    #[test]
    fn running_apps_are_told_with_their_numbers_where_snapd_tells_them() {
        let table: [(&str, &[u32]); 3] = [
            ("error: cannot refresh \"x\": snap \"x\" has running apps (x.y, z), pids: 12,345\n", &[12, 345]),
            ("error: snap \"x\" has running apps or hooks, pids: 7\n", &[7]),
            ("error: snap \"x\" has running hooks (configure)\n", &[]),
        ];
        for (text, pids) in table {
            let kind = TroubleKind::RunningApps { pids: pids.to_vec() };
            assert_eq!(classified(Exit::Status(1), text), kind);
        }
    }

    #[test]
    fn only_a_task_that_fetches_may_speak_of_the_store() {
        let failed = |task: &str| {
            let text = format!("error: cannot perform the following tasks:\n- {task} (dial tcp: refused)\n");
            classified(Exit::Status(1), &text)
        };
        assert_eq!(
            failed("Download snap \"x\" (43) from channel \"1.30/stable\""),
            TroubleKind::StoreUnreachable
        );
        assert_eq!(failed("Run post-refresh hook of \"x\" snap if present"), TroubleKind::ChangeFailed);
    }

    #[test]
    fn statuses_and_signals_come_before_texts() {
        let refreshed = "error: snap \"x\" not found\n";
        assert_eq!(classified(Exit::Status(10), refreshed), TroubleKind::Busy);
        assert_eq!(classified(Exit::Status(143), ""), TroubleKind::Unfinished);
        assert_eq!(classified(Exit::Signal(15), refreshed), TroubleKind::Unfinished);
        assert_eq!(classified(Exit::Status(64), "error: unknown flag `hold'\n"), TroubleKind::NotSupported);
        assert_eq!(classified(Exit::Status(2), ""), TroubleKind::Other);
    }
}
