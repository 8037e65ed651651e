//! `juju-exec`: what a machine's own programs run in the context of a unit, as `juju exec` does.

use anyhow::Result;

use super::{Event, Outcome, Sim};
use crate::snapd::{Client, Reply};
use crate::tools::Call;

impl Sim {
    /// `juju-exec [-u] UNIT COMMAND...`: a shell's command line in the unit's context.
    pub(super) fn juju_exec(&mut self, client: &Client, call: &Call) -> Result<Reply> {
        let machine = &client.machine;
        let fail = |text: &str| Reply { code: 1, stderr: format!("ERROR {text}\n"), ..Reply::default() };
        let faulty = |text: &str| Reply {
            code: 2,
            stderr: format!("ERROR {text}\n"),
            problem: Some(text.to_owned()),
            ..Reply::default()
        };
        let mut args = call.args.iter().peekable();
        let mut unit: Option<String> = None;
        while let Some(flag) = args.next_if(|arg| arg.starts_with('-')) {
            match (flag.as_str(), flag.split_once('=')) {
                ("--", _) => break,
                ("-u" | "--unit", _) => unit = args.next().cloned(),
                (_, Some(("--unit", name))) => unit = Some(name.to_owned()),
                (flag, _) => return Ok(faulty(&format!("juju-exec {flag}: not simulated"))),
            }
        }
        let here: Vec<String> =
            self.world.units.values().filter(|u| u.machine == *machine).map(|u| u.name.clone()).collect();
        let named = |arg: &String| {
            here.iter().find(|unit| *unit == arg || crate::world::unit_tag(unit) == *arg).cloned()
        };
        let looks = |arg: &&String| {
            arg.contains('/')
                && !arg.contains(' ')
                && arg.rsplit('/').next().is_some_and(|n| n.parse::<u32>().is_ok())
        };
        let unit = match unit {
            Some(name) => match named(&name) {
                Some(unit) => unit,
                None => return Ok(fail(&format!("unit {name} not found on this machine"))),
            },
            None => match (args.peek().and_then(|arg| named(arg)), here.as_slice()) {
                (Some(unit), _) => {
                    args.next();
                    unit
                }
                (None, _) if args.peek().is_some_and(looks) => {
                    let name = args.peek().map_or("", |arg| arg.as_str());
                    return Ok(fail(&format!("unit {name} not found on this machine")));
                }
                (None, [only]) => only.clone(),
                (None, _) => return Ok(faulty("missing unit-name")),
            },
        };
        let commands: Vec<&str> = args.map(String::as_str).collect();
        if commands.is_empty() {
            return Ok(faulty("missing commands"));
        }
        if self.running.iter().any(|running| running.machine == *machine) {
            return Ok(faulty(
                "juju-exec within a hook of this machine waits for ever: the hook has the machine's lock",
            ));
        }
        let of = self.world.units.get(&unit);
        if !self.world.agent_runs(&unit) || of.is_none_or(|u| u.scripted || u.uniter.charm.is_none()) {
            return Ok(fail(&format!("the agent of {unit} does not answer")));
        }
        let line = vec!["/bin/bash".to_owned(), "-c".to_owned(), commands.join(" ")];
        let outcome = self.exec(&unit, &line)?;
        let said = self.events.iter().rev().find_map(|event| match event {
            Event::Hook(record) if record.unit == unit => {
                Some((record.stdout.clone(), record.stderr.clone()))
            }
            Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
        });
        let (stdout, stderr) = said.unwrap_or_default();
        let code = match outcome {
            Outcome::Done | Outcome::Missing => 0,
            Outcome::Failed(why) => {
                why.rsplit("exit status ").next().and_then(|code| code.parse().ok()).unwrap_or(1)
            }
            Outcome::Killed(_) => 137,
        };
        Ok(Reply { code, stdout, stderr, problem: None })
    }
}
