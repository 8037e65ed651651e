//! The search: every state that can be reached within the bounds, the nearest first, so that what breaks
//! a promise is told by a shortest run.

use crate::quick_hash::{Set, fingerprint};
use crate::state::{Bounds, Budget, State, Step};
use crate::tables::Tables;
use std::collections::VecDeque;

/// So many rounds of fair hooks are enough to complete.
const ROUNDS: usize = 40;

/// What a search has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Distinct states.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
    /// The most steps that a shortest way to one of them has.
    pub depth: u32,
    /// Distinct states that rounds of fair hooks passed through, where L1 was shown.
    pub settling: usize,
}

/// A promise that was broken, and the run that does it.
#[derive(Debug)]
pub struct Counterexample {
    pub promise: String,
    pub run: Vec<String>,
}

fn print(state: &State) -> u128 {
    fingerprint(&state.words())
}

/// Searches everything within the bounds.
pub fn search(bounds: &Bounds) -> Result<Seen, Counterexample> {
    Search::new(bounds).run()
}

struct Search {
    tables: Tables,
    start: State,
    found: Set,
    /// By which step of which earlier one each state was found.
    ways: Vec<(u32, Step)>,
    /// States from which fair hooks alone lead to the end.
    settling: Set,
}

impl Search {
    fn new(bounds: &Bounds) -> Self {
        let mut tables = Tables::new(bounds.clone());
        let mut start = tables.nothing_yet();
        if !bounds.fresh {
            for _ in 0..8 {
                start = tables.round(&start).unwrap();
            }
            assert!(tables.is_settled(&start), "the first target is not completed");
        }
        Self { tables, start, found: Set::default(), ways: Vec::new(), settling: Set::default() }
    }

    fn run(mut self) -> Result<Seen, Counterexample> {
        let mut open = VecDeque::from([(u32::MAX, 0, self.start)]);
        self.found.insert(print(&self.start));
        let (mut steps, mut deepest) = (0, 0);
        while let Some((number, depth, state)) = open.pop_front() {
            deepest = deepest.max(depth);
            if let Err(promise) = self.settle(&state) {
                return Err(self.counterexample(number, None, promise));
            }
            for step in self.tables.steps(&state) {
                steps += 1;
                let next = match self.tables.take(&state, step) {
                    Ok(next) => next,
                    Err(promise) => return Err(self.counterexample(number, Some(step), promise)),
                };
                if self.found.insert(print(&next)) {
                    let found = u32::try_from(self.ways.len()).unwrap();
                    self.ways.push((number, step));
                    open.push_back((found, depth + 1, next));
                }
            }
        }
        Ok(Seen { states: self.found.len(), steps, depth: deepest, settling: self.settling.len() })
    }

    /// L1: fair hooks without faults complete whatever is there.
    fn settle(&mut self, state: &State) -> Result<(), String> {
        let mut state = *state;
        state.left = Budget::default();
        let mut way = Vec::new();
        for _ in 0..ROUNDS {
            let print = print(&state);
            if self.settling.contains(&print) || self.tables.is_settled(&state) {
                way.push(print);
                self.settling.extend(way.into_iter().skip(1));
                return Ok(());
            }
            way.push(print);
            state = self.tables.round(&state).map_err(|promise| format!("{promise}, by fair hooks alone"))?;
        }
        Err(format!("L1: {ROUNDS} rounds of fair hooks do not complete\n{}", self.tables.show(&state)))
    }

    fn counterexample(&mut self, number: u32, last: Option<Step>, promise: String) -> Counterexample {
        let mut steps: Vec<Step> = last.into_iter().collect();
        let mut at = number;
        while at != u32::MAX {
            let (before, step) = self.ways[at as usize];
            steps.push(step);
            at = before;
        }
        let mut state = self.start;
        let mut run = Vec::new();
        for step in steps.into_iter().rev() {
            let next = self.tables.take(&state, step);
            run.push(self.tables.tell(&state, step, next.as_ref().ok()));
            state = next.unwrap_or(state);
        }
        Counterexample { promise, run }
    }
}
