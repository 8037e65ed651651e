//! Random models in which random things happen and go wrong, on the packed executable: S1, S2 and S4 after
//! every event, nothing forwarded is lost, nothing panics, no hook fails without a fault that explains it,
//! and in the end, when faults have stopped and an admin has done what statuses say, everybody is in step.
//!
//! A seed gives the same run for ever. One that fails is made shorter by leaving out what is not needed, and
//! printed as a scenario. `LOCKSTEP_SEED` is the first seed, `LOCKSTEP_RUNS` their number (`make soak`).

mod begin;
mod happen;
mod judge;

use crate::support::{charm, dir};
use crate::{chaos::judge::Seen, invariants};
use begin::Model;
use juju_sim::rng::Rng;
use juju_sim::scenario::Scenario;
use juju_sim::sim::{Options, Sim};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What happens in one run in `make test`.
const FEW: usize = 16;
/// What happens in one run in `make soak`.
const MANY: usize = 40;
/// Shorter runs that are tried of one that fails. Each costs as much as the run itself.
const TRIES: usize = 60;

/// Where the steps of a run come from.
enum Source {
    /// So many are drawn, each for the model as it then is.
    Drawn(Rng, usize),
    /// They are given; those that do not fit are passed over.
    Given(Vec<String>),
}

/// A run that has ended: what happened in it, and what went wrong.
struct Ended {
    steps: Vec<String>,
    wrong: Option<String>,
    hooks: usize,
    faults: usize,
}

fn scenario(model: &Model, steps: &[String]) -> String {
    let lines: String = steps.iter().map(|step| format!("  - {step}\n")).collect();
    format!("{}{lines}", model.text)
}

/// One run. A panic of a judge is what went wrong.
fn play(seed: u64, model: &Model, source: Source) -> Ended {
    let scratch = tempfile::tempdir().unwrap();
    let begin = Scenario::parse(&model.text, dir()).unwrap();
    let options = Options {
        seed,
        juju: model.juju.to_owned(),
        interleave: model.interleave,
        ..Options::new(scratch.path().join("model"))
    };
    let mut sim = begin.start(options, &[("lockstep".to_owned(), charm())]).unwrap();
    let seen = Seen::watch(&mut sim);
    let mut steps = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        begin.run(&mut sim).map_err(|error| format!("it does not begin: {error:#}"))?;
        match source {
            Source::Drawn(mut rng, count) => {
                for _ in 0..count {
                    for step in happen::steps(&sim, model, &mut rng) {
                        steps.push(step.clone());
                        take(&mut sim, &step)?;
                    }
                }
            }
            Source::Given(given) => {
                for step in given {
                    steps.push(step.clone());
                    take(&mut sim, &step)?;
                }
            }
        }
        judge::come_to_rest(&mut sim, model)?;
        invariants::judge_end(&sim);
        Ok(())
    }));
    let wrong = match outcome {
        Ok(ended) => ended.err(),
        Err(panic) => Some(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned())),
    };
    let (hooks, faults) = seen.counted();
    Ended { steps, wrong, hooks, faults }
}

/// Carries out a step. One that does not fit the model any more is no fault of anybody.
fn take(sim: &mut Sim, text: &str) -> Result<(), String> {
    let scenario = Scenario::parse(&format!("name: a step\nsteps:\n  - {text}\n"), dir())
        .unwrap_or_else(|error| panic!("{text}: {error:#}"));
    for step in &scenario.steps {
        if let Err(error) = sim.step(step) {
            let error = format!("{error:#}");
            if ["no correct charm", "does not come to rest", "goes on without"]
                .iter()
                .any(|w| error.contains(w))
            {
                return Err(error);
            }
        }
    }
    Ok(())
}

/// What kind of thing went wrong, without the units and numbers of one run.
fn kind(wrong: &str) -> String {
    wrong.split(|c: char| !c.is_ascii_alphabetic() && c != ' ').next().unwrap_or_default().to_owned()
}

/// Leaves out step by step what is not needed for the same kind of thing to go wrong.
fn shortened(seed: u64, model: &Model, ended: &Ended) -> Vec<String> {
    let wrong = kind(ended.wrong.as_deref().unwrap_or_default());
    let mut steps = ended.steps.clone();
    let mut tries = 0;
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < steps.len() && tries < TRIES {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            tries += 1;
            let again = play(seed, model, Source::Given(fewer.clone()));
            if again.wrong.as_deref().map(kind).as_ref() == Some(&wrong) {
                steps = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    steps
}

#[expect(clippy::disallowed_methods, reason = "which runs, and how many, is for a person to say")]
fn given(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|number| number.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

#[expect(clippy::print_stderr, reason = "how far a long test is")]
fn runs(first: u64, count: u64, steps: usize) {
    for seed in first..first + count {
        let mut rng = Rng::new(seed);
        let model = Model::draw(&mut rng, steps > FEW);
        let ended = play(seed, &model, Source::Drawn(rng, steps));
        eprintln!("seed {seed}: {} hooks, {} faults came true", ended.hooks, ended.faults);
        if let Some(wrong) = &ended.wrong {
            let short = shortened(seed, &model, &ended);
            panic!("seed {seed} ({steps} steps): {wrong}\nin short:\n{}", scenario(&model, &short));
        }
    }
}

#[test]
fn whatever_happens_everybody_gets_there_and_nothing_is_lost() {
    runs(given("LOCKSTEP_SEED").unwrap_or(1), given("LOCKSTEP_RUNS").unwrap_or(4), FEW);
}

mod all {
    #[test]
    #[ignore = "make soak"]
    fn whatever_happens_in_larger_models_everybody_gets_there_and_nothing_is_lost() {
        let seed = super::given("LOCKSTEP_SEED").unwrap_or(1000);
        super::runs(seed, super::given("LOCKSTEP_RUNS").unwrap_or(60), super::MANY);
    }
}
