//! Which hook, action or command this run is: arguments, else `JUJU_DISPATCH_PATH`, else `argv[0]`.

use crate::cli::{self, Command};
use crate::juju::{Event, HookName, RelationEvent, RelationHook, Variables};
use std::path::Path;

/// What the executable is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// A hook.
    Hook(Event),
    /// An action of that name.
    Action(String),
    /// A command of the command line.
    Command(Command),
    /// A hook that this charm has no link for: nothing to do.
    Unknown(String),
    /// A command line that says no more than this text, with this exit status.
    Text(String, u8),
}

impl Invocation {
    /// Reads the command line and the environment. An error is one line: which variable is wrong.
    pub fn read(args: &[String], variables: &Variables) -> Result<Self, String> {
        if args.len() > 1 {
            return Ok(match cli::parse(args) {
                Ok(command) => Self::Command(command),
                Err((text, status)) => Self::Text(text, status),
            });
        }
        let dispatch = variables.get("JUJU_DISPATCH_PATH").filter(|path| !path.is_empty());
        let path = Path::new(dispatch.or(args.first()).map_or("", String::as_str));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match path.parent().and_then(Path::file_name).and_then(|dir| dir.to_str()) {
            Some("hooks") => hook(name, variables),
            Some("actions") => Ok(Self::Action(name.to_owned())),
            Some(_) | None => Ok(Self::Text(cli::usage(), 2)),
        }
    }
}

fn hook(name: &str, variables: &Variables) -> Result<Invocation, String> {
    Ok(match HookName::parse(name) {
        None => Invocation::Unknown(name.to_owned()),
        Some(HookName::Plain(hook)) => Invocation::Hook(Event::Plain(hook)),
        Some(HookName::Relation(_, hook)) => {
            Invocation::Hook(Event::Relation(relation_event(hook, variables)?))
        }
    })
}

fn relation_event(hook: RelationHook, variables: &Variables) -> Result<RelationEvent, String> {
    let get = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let id = get("JUJU_RELATION_ID").ok_or("JUJU_RELATION_ID is not set in a relation hook")?;
    let unit = |name: &str| {
        get(name).map(|text| text.parse().map_err(|error| format!("{name}: {error}"))).transpose()
    };
    Ok(RelationEvent {
        hook,
        relation: id.parse().map_err(|error| format!("JUJU_RELATION_ID: {error}"))?,
        // Missing in -broken after the agent restarted; what cannot be read is as good as missing.
        remote_app: get("JUJU_REMOTE_APP").and_then(|name| name.parse().ok()),
        remote_unit: unit("JUJU_REMOTE_UNIT")?,
        departing_unit: unit("JUJU_DEPARTING_UNIT")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::juju::PlainHook;

    fn read(args: &[&str], variables: &[(&str, &str)]) -> Invocation {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Invocation::read(&args, &variables).unwrap()
    }

    #[test]
    fn arguments_win_then_the_dispatch_path_then_argv0() {
        let update = Invocation::Hook(Event::Plain(PlainHook::UpdateStatus));
        let dispatch = [("JUJU_DISPATCH_PATH", "hooks/update-status")];
        assert_eq!(read(&["/c/dispatch"], &dispatch), update);
        assert_eq!(read(&["/c/hooks/install"], &dispatch), update);
        assert_eq!(read(&["/c/hooks/update-status"], &[("JUJU_DISPATCH_PATH", "")]), update);
        assert_eq!(read(&["/c/lockstep", "pass"], &dispatch), Invocation::Command(Command::Pass));
        let action = [("JUJU_DISPATCH_PATH", "actions/show-status")];
        assert_eq!(read(&["/c/dispatch"], &action), Invocation::Action("show-status".to_owned()));
        assert_eq!(read(&["/c/actions/show-status"], &[]), Invocation::Action("show-status".to_owned()));
    }

    #[test]
    fn an_unknown_hook_is_known_to_be_unknown_and_no_hook_is_wrong_usage() {
        for name in ["collect-metrics", "pre-series-upgrade", "db-relation-changed", "x"] {
            let path = format!("hooks/{name}");
            let found = read(&["/c/dispatch"], &[("JUJU_DISPATCH_PATH", &path)]);
            assert_eq!(found, Invocation::Unknown(name.to_owned()));
        }
        assert!(matches!(read(&["/c/lockstep"], &[]), Invocation::Text(_, 2)));
        assert!(matches!(read(&["lockstep", "nonsense"], &[]), Invocation::Text(_, 2)));
        assert!(matches!(read(&["lockstep", "--help"], &[]), Invocation::Text(_, 0)));
        assert!(matches!(read(&[], &[]), Invocation::Text(_, 2)));
    }

    #[test]
    fn relation_hooks_tolerate_what_juju_leaves_out() {
        let variables = [
            ("JUJU_DISPATCH_PATH", "hooks/cos-agent-relation-broken"),
            ("JUJU_RELATION_ID", "cos-agent:5"),
            ("JUJU_REMOTE_APP", ""),
            ("JUJU_REMOTE_UNIT", ""),
        ];
        let Invocation::Hook(Event::Relation(event)) = read(&["/c/dispatch"], &variables) else {
            panic!("no relation hook");
        };
        assert_eq!((event.remote_app, event.remote_unit, event.departing_unit), (None, None, None));
        assert_eq!(event.relation.to_string(), "cos-agent:5");
    }

    #[test]
    fn a_relation_hook_without_its_relation_says_which_variable_is_missing() {
        let variables = [("JUJU_DISPATCH_PATH".to_owned(), "hooks/peers-relation-changed".to_owned())].into();
        let error = Invocation::read(&["/c/dispatch".to_owned()], &variables).unwrap_err();
        assert_eq!(error, "JUJU_RELATION_ID is not set in a relation hook");
    }
}
