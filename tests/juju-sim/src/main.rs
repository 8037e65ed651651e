//! `juju-sim run SCENARIO --charm NAME=PATH`: runs a scenario and prints what happened.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use juju_sim::scenario::Scenario;
use juju_sim::show;
use juju_sim::sim::{Options, Sim};

/// A simulated Juju model that runs real charm executables.
#[derive(Debug, Parser)]
#[command(name = "juju-sim", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a scenario.
    Run(Run),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// A YAML file of steps and expectations.
    scenario: PathBuf,
    /// A charm that the scenario names: a directory or a packed file.
    #[arg(long, value_name = "NAME=PATH", value_parser = pair)]
    charm: Vec<(String, PathBuf)>,
    /// Decides wherever Juju's order is free.
    #[arg(long)]
    seed: Option<u64>,
    /// One JSON object a line: every event, then the world.
    #[arg(long)]
    json: bool,
    /// Writes the run to this file as one self-contained page, too.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Every call of a hook tool.
    #[arg(long)]
    trace: bool,
    /// Deletes these files of a unit's agent directory before every hook.
    #[arg(long, value_name = "GLOB")]
    cold_cache: Vec<String>,
    /// Lets hooks of other machines run inside tool calls.
    #[arg(long)]
    interleave: bool,
    /// A directory for the machines' files, which is kept; otherwise they are deleted.
    #[arg(long)]
    scratch: Option<PathBuf>,
    /// The program that every hook tool is a link to.
    #[arg(long)]
    tool: Option<PathBuf>,
}

fn pair(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("not NAME=PATH")?;
    Ok((name.to_owned(), PathBuf::from(path)))
}

fn main() -> ExitCode {
    let Command::Run(run) = Cli::parse().command;
    let mut out = io::stdout().lock();
    match run_scenario(&run, &mut out) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            // Nothing is left to do if standard error is closed too.
            let _ = writeln!(io::stderr(), "juju-sim: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_scenario(run: &Run, out: &mut impl Write) -> Result<bool> {
    let scenario = Scenario::read(&run.scenario)?;
    let temporary = std::env::temp_dir().join(format!("juju-sim-{}", std::process::id()));
    let scratch = run.scratch.clone().unwrap_or_else(|| temporary.clone());
    let mut options = Options::new(scratch);
    options.seed = run.seed.or(scenario.seed).unwrap_or(1);
    options.tool.clone_from(&run.tool);
    options.cold_cache.clone_from(&run.cold_cache);
    options.interleave = run.interleave;
    let seed = options.seed;
    let done = (|| {
        let mut sim = scenario.start(options, &run.charm)?;
        if !run.json {
            writeln!(out, "{} (seed {seed})\n", scenario.name)?;
        }
        let judged = scenario.run(&mut sim);
        if let Some(file) = &run.html {
            let failure = judged.as_ref().err().map(|e| format!("{e:#}"));
            let shown =
                show::Run { name: &scenario.name, seed, failure: failure.as_deref(), events: &sim.events };
            fs_err::write(file, show::page(&shown)?)?;
        }
        print(run, &sim, &judged, out)?;
        Ok(judged.is_ok())
    })();
    if run.scratch.is_none() && temporary.exists() {
        fs_err::remove_dir_all(&temporary)?;
    }
    done
}

fn print(run: &Run, sim: &Sim, judged: &Result<()>, out: &mut impl Write) -> Result<()> {
    if run.json {
        for event in &sim.events {
            writeln!(out, "{}", serde_json::to_string(event)?)?;
        }
        let failure = judged.as_ref().err().map(|e| format!("{e:#}"));
        writeln!(
            out,
            "{}",
            serde_json::json!({"event": "end", "failure": failure, "world": sim.world.dump()})
        )?;
        return Ok(());
    }
    let colour = io::stdout().is_terminal();
    write!(out, "{}", show::story(&sim.events, run.trace, colour))?;
    writeln!(out, "\n{}", show::status(&sim.world))?;
    if let Err(e) = judged {
        writeln!(out, "FAILED: {e:#}")?;
    }
    out.flush().context("cannot print")
}
