//! `juju-sim run SCENARIO... --charm NAME=PATH`: runs scenarios and prints what happened.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, ensure};
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
    /// Runs scenarios, each in a model of its own and all at once, and tells them in order.
    Run(Run),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// YAML files of steps and expectations.
    #[arg(required = true)]
    scenario: Vec<PathBuf>,
    /// A charm that the scenario names: a directory or a packed file.
    #[arg(long, value_name = "NAME=PATH", value_parser = pair)]
    charm: Vec<(String, PathBuf)>,
    /// Decides wherever Juju's order is free.
    #[arg(long)]
    seed: Option<u64>,
    /// One JSON object a line: every event, then the world.
    #[arg(long)]
    json: bool,
    /// Writes the run of the one scenario to this file as one self-contained page, too.
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
    match run_all(&run) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            // Nothing is left to do if standard error is closed too.
            let _ = writeln!(io::stderr(), "juju-sim: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all went as they should. What is printed does not depend on which ends first.
fn run_all(run: &Run) -> Result<bool> {
    ensure!(run.html.is_none() || run.scenario.len() == 1, "--html draws one scenario");
    let temporary = std::env::temp_dir().join(format!("juju-sim-{}", std::process::id()));
    let scratch = run.scratch.as_ref().unwrap_or(&temporary);
    let done = std::thread::scope(|scope| {
        let started: Vec<_> = run
            .scenario
            .iter()
            .enumerate()
            .map(|(number, file)| {
                let scratch = scratch.join(number.to_string());
                scope.spawn(move || -> Result<(bool, Vec<u8>)> {
                    let mut out = Vec::new();
                    let well = run_scenario(run, file, scratch, &mut out)?;
                    Ok((well, out))
                })
            })
            .collect();
        let mut all = true;
        for (number, thread) in started.into_iter().enumerate() {
            let (well, out) = thread.join().map_err(|_| anyhow!("the simulator panicked"))??;
            let mut stdout = io::stdout().lock();
            if number > 0 && !run.json {
                writeln!(stdout, "\n")?;
            }
            stdout.write_all(&out).and_then(|()| stdout.flush()).context("cannot print")?;
            all &= well;
        }
        Ok(all)
    });
    if run.scratch.is_none() && temporary.exists() {
        fs_err::remove_dir_all(&temporary)?;
    }
    done
}

fn run_scenario(run: &Run, file: &Path, scratch: PathBuf, out: &mut impl Write) -> Result<bool> {
    let scenario = Scenario::read(file)?;
    let mut options = Options::new(scratch);
    options.seed = run.seed.or(scenario.seed).unwrap_or(1);
    options.tool.clone_from(&run.tool);
    options.cold_cache.clone_from(&run.cold_cache);
    options.interleave = run.interleave;
    let seed = options.seed;
    let mut sim = scenario.start(options, &run.charm)?;
    if !run.json {
        writeln!(out, "{} (seed {seed})\n", scenario.name)?;
    }
    let judged = scenario.run(&mut sim);
    if let Some(page) = &run.html {
        let failure = judged.as_ref().err().map(|e| format!("{e:#}"));
        let shown =
            show::Run { name: &scenario.name, seed, failure: failure.as_deref(), events: &sim.events };
        fs_err::write(page, show::page(&shown)?)?;
    }
    print(run, &sim, &judged, out)?;
    Ok(judged.is_ok())
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
    Ok(())
}
