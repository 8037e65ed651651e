//! The command line, and what a person reads: the same pass, explained.

mod check_data;
mod explain;
mod paint;
mod show_status;
mod table;

pub use check_data::check_data;
pub use explain::explain;
pub use paint::paint;
pub use show_status::{Shown, show_status};

use crate::tools::TIED;
use clap::{Arg, ArgAction, ArgMatches, Command as Clap};
use std::path::PathBuf;

/// A command of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// One pass outside a hook.
    Pass,
    /// Observe and decide, print both, change nothing.
    Explain {
        /// For a machine.
        json: bool,
    },
    /// Validate a cos-agent `config` value.
    CheckData {
        /// The file that holds it.
        file: PathBuf,
        /// For a machine.
        json: bool,
    },
    /// Become a program that ends when the process that started this one does. Not for a person:
    /// the executable starts itself in this way.
    Tied {
        /// The process that started this one.
        parent: u32,
        /// The program's path.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// Reads a command line. The error is a text to print and an exit status: help and the version come
/// this way too, with status 0.
pub fn parse(args: &[String]) -> Result<Command, (String, u8)> {
    let matches = clap().try_get_matches_from(args).map_err(|error| {
        let status = if error.use_stderr() { 2 } else { 0 };
        (error.render().to_string(), status)
    })?;
    let json = |matches: &ArgMatches| matches.get_flag("json");
    match matches.subcommand() {
        Some(("pass", _)) => Ok(Command::Pass),
        Some(("explain", matches)) => Ok(Command::Explain { json: json(matches) }),
        Some(("check-data", matches)) => {
            let file = matches.get_one::<PathBuf>("FILE").cloned().unwrap_or_default();
            Ok(Command::CheckData { file, json: json(matches) })
        }
        Some((TIED, matches)) => {
            let mut command = matches.get_many::<String>("COMMAND").into_iter().flatten().cloned();
            Ok(Command::Tied {
                parent: matches.get_one("PARENT").copied().unwrap_or_default(),
                program: command.next().unwrap_or_default(),
                args: command.collect(),
            })
        }
        Some(_) | None => Err((usage(), 2)),
    }
}

/// The text of `--help`.
pub fn usage() -> String {
    clap().render_long_help().to_string()
}

fn clap() -> Clap {
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON");
    Clap::new("lockstep")
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "The lockstep charm. Juju runs it as each of its hooks and actions; \
             these commands are for a person, inside `juju exec` or `juju debug-hooks`.",
        )
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand(Clap::new("pass").about("Run one pass now, outside a hook"))
        .subcommand(
            Clap::new("explain")
                .about("Print what is observed, what a pass would do, and every status; change nothing")
                .arg(json()),
        )
        .subcommand(
            Clap::new("check-data")
                .about("Validate the `config` value of a cos-agent databag: each fault with its JSON path")
                .arg(
                    Arg::new("FILE")
                        .required(true)
                        .value_parser(clap::value_parser!(PathBuf))
                        .help("A file that holds the value, or the whole databag as relation-get prints it"),
                )
                .arg(json()),
        )
        .subcommand(
            Clap::new(TIED)
                .hide(true)
                .arg(Arg::new("PARENT").required(true).value_parser(clap::value_parser!(u32)))
                .arg(
                    Arg::new("COMMAND")
                        .required(true)
                        .num_args(1..)
                        .trailing_var_arg(true)
                        .allow_hyphen_values(true),
                ),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        clap().debug_assert();
    }

    #[test]
    fn commands_are_read() {
        let parse = |args: &[&str]| parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&["lockstep", "pass"]), Ok(Command::Pass));
        assert_eq!(parse(&["lockstep", "explain", "--json"]), Ok(Command::Explain { json: true }));
        let file = PathBuf::from("f");
        assert_eq!(parse(&["l", "check-data", "f"]), Ok(Command::CheckData { file, json: false }));
        assert_eq!(parse(&["l", "check-data"]).unwrap_err().1, 2);
        let args = ["refresh", "x", "--cohort=K", "--help", "--", "-h"].map(str::to_owned);
        let mut line = vec!["l", "tied", "17", "/usr/bin/snap"];
        line.extend(args.iter().map(String::as_str));
        let program = "/usr/bin/snap".to_owned();
        assert_eq!(parse(&line), Ok(Command::Tied { parent: 17, program, args: args.to_vec() }));
        assert!(!usage().contains("tied"));
        let (version, status) = parse(&["l", "--version"]).unwrap_err();
        assert_eq!((version.trim(), status), (concat!("lockstep ", env!("CARGO_PKG_VERSION")), 0));
    }
}
