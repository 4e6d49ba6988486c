//! Quotients: chooses the states of a model that are merged or skipped, and lifts verdicts about
//! the quotient to the original.
//!
//! Bisimilar local states are merged (`equivalent`).
//!
//! Thread-transition systems made from nets or from programs are full of shared states that exist
//! only between two halves of one move. A state is skipped ([`QuotientModel`]) if that does not
//! increase the number of steps: if it has `i` steps in and `o` steps out, `i·o ≤ i + o`. A state
//! without steps in or without steps out is removed.

mod equivalent;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use self::equivalent::equivalent;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Initial, Problem};
use throng_model::quotient::{QuotientMap, QuotientModel};
use throng_model::verdict::{Certificate, Taken, Trace, Unknown, Verdict};
use throng_model::{Bag, Bystanders, Config, Incomplete, Local, Shared, Step, semantics};

/// The quotient of a problem, with the data to lift verdicts.
pub struct Quotient {
    /// The quotient problem: same targets.
    pub problem: Problem,
    original: Problem,
    model: Arc<QuotientModel>,
    map: Arc<QuotientMap>,
    /// States that threads always leave by themselves, with the next state.
    alias: FxHashMap<Local, Local>,
}

/// Maximum length of an expanded run: each of a million threads may have to take its own steps.
const MOST_STEPS: usize = 1 << 20;

/// Maximum number of steps that are combined into one.
const LONGEST: u32 = 64;

impl Quotient {
    /// Returns the quotient problem, if it is smaller and found within the limits.
    pub fn of(problem: &Problem, limits: &Limits) -> Option<Quotient> {
        let listed = problem.model.listed()?;
        if problem.bound != Bound::Any || listed.iter().any(|s| s.others != Bystanders::Stay) {
            return None;
        }
        let bad = || problem.targets.iter().flat_map(|t| &t.configs);
        let named = bad().flat_map(|c| c.threads.entries()).map(|e| e.0).collect();
        let starts: Vec<Shared> = problem.initial.iter().map(|family| family.shared).collect();
        let equivalent = equivalent(listed, &named, &starts, limits).ok()?;
        let keep = starts.into_iter().chain(bad().map(|c| c.shared)).collect();
        let mut map = QuotientMap { skipped: Vec::new(), merged: equivalent.merged };
        // There are fewer steps between merged states, so it pays off to skip more shared states.
        let merged = map.merge_steps(listed);
        limits.check().ok()?;
        map.skipped = choose(&merged.passages(listed), &keep);
        limits.check().ok()?;
        if map.skipped.is_empty() && map.merged.is_empty() {
            return None;
        }
        let model = Arc::new(QuotientModel::of_merged(problem.model.clone(), merged, &map.skipped).ok()?);
        let initial = problem.initial.iter().map(|family| family.merged(&map)).collect();
        Some(Quotient {
            problem: Problem { model: model.clone(), initial, ..problem.clone() },
            original: problem.clone(),
            model,
            map: Arc::new(map),
            alias: equivalent.alias,
        })
    }

    /// Returns the number of skipped shared states.
    pub fn skipped(&self) -> usize {
        self.map.skipped.len()
    }

    /// Returns the number of merged local states.
    pub fn merged(&self) -> usize {
        self.map.merged.len()
    }

    /// Lifts a verdict about the quotient to the original.
    pub fn lift(&self, verdict: &Verdict) -> Verdict {
        match verdict {
            Verdict::Safe(proof) => {
                Verdict::Safe(Certificate::Quotient(self.map.clone(), Box::new(proof.clone())))
            }
            Verdict::Unsafe(trace) => self.expand(trace).map_or_else(
                || {
                    Verdict::Unknown(Unknown::Inconclusive(format!(
                        "the run has more than {MOST_STEPS} steps"
                    )))
                },
                Verdict::Unsafe,
            ),
            Verdict::Unknown(why) => Verdict::Unknown(why.clone()),
        }
    }

    /// Returns the run of the original, step by step, unless it is very long. The checker would
    /// notice if it were not a run.
    fn expand(&self, trace: &Trace) -> Option<Trace> {
        let start = self.start(&trace.start);
        let mut run = Run { quotient: self, now: start.clone(), steps: Vec::new() };
        run.settle();
        for taken in &trace.steps {
            for mut options in self.model.options(&taken.step) {
                // Equivalent states have equivalent steps, so one of these is possible.
                let there = |step: &&Step| step.from == run.now.shared && run.now.threads.covers(&step.take);
                if let Some(step) = options.find(there) {
                    run.take(step);
                    run.settle();
                }
            }
        }
        (run.steps.len() <= MOST_STEPS).then_some(Trace { start, steps: run.steps })
    }

    /// Returns an initial configuration of the original whose image is `start`.
    fn start(&self, start: &Config) -> Config {
        let merge = |l: Local| self.map.merge_one(l);
        let more = |family: &Initial| {
            let rest = start.threads.minus(&self.map.merge(&family.threads))?;
            let mut threads = family.threads.clone();
            for &(l, n) in rest.entries() {
                threads.insert(*family.any.iter().find(|&&m| merge(m) == Some(l))?, n);
            }
            Some(Config::new(start.shared, threads))
        };
        let families = self.original.initial.iter().filter(|family| family.shared == start.shared);
        families.into_iter().find_map(more).unwrap_or_else(|| start.clone())
    }
}

/// A run of the original model under construction.
struct Run<'a> {
    quotient: &'a Quotient,
    now: Config,
    steps: Vec<Taken>,
}

impl Run<'_> {
    fn take(&mut self, step: &Step) {
        let mut after = Vec::new();
        // Bystanders stay, so there is one successor.
        let fired = semantics::fire(&*self.quotient.original.model, &self.now, step, None, &mut after);
        if let (Some(after), Ok(())) = (after.pop(), fired) {
            self.now = after;
            self.steps.push(Taken { step: step.clone(), after: self.now.clone() });
        }
    }

    /// Moves all threads that the quotient identifies with a later state to that state.
    fn settle(&mut self) {
        let alias = &self.quotient.alias;
        while self.steps.len() <= MOST_STEPS
            && let Some((l, next)) =
                self.now.threads.entries().iter().find_map(|&(l, _)| Some((l, *alias.get(&l)?)))
        {
            let mut steps = Vec::new();
            Incomplete::irrelevant(self.quotient.original.model.post(self.now.shared, l, &mut steps));
            let before = self.steps.len();
            let goes = |s: &&Step| s.take == Bag::one(l) && s.to == s.from && s.put == Bag::one(next);
            if let Some(step) = steps.iter().find(goes) {
                self.take(step);
            }
            if self.steps.len() == before {
                return; // cannot be; the checker would say so
            }
        }
    }
}

/// The steps between shared states while states are skipped one after another. States are numbered
/// in order.
#[derive(Default)]
struct Passages {
    /// The number of steps from one state to another, and the length of the longest of them.
    between: FxHashMap<(usize, usize), (u64, u32)>,
    states: Vec<State>,
}

#[derive(Clone, Default)]
struct State {
    /// The predecessors, each once, including skipped ones.
    before: SmallVec<[usize; 2]>,
    /// The successors, likewise.
    after: SmallVec<[usize; 2]>,
    /// The numbers of steps in and out, without those of skipped states.
    ins: u64,
    outs: u64,
    skipped: bool,
    waits: bool,
}

impl Passages {
    /// Adds `n` steps from `a` to `b`, each made of up to `length` original ones.
    fn add(&mut self, a: usize, b: usize, n: u64, length: u32) {
        let between = self.between.entry((a, b)).or_insert_with(|| {
            self.states[a].after.push(b);
            self.states[a].outs += 1;
            self.states[b].before.push(a);
            self.states[b].ins += 1;
            (0, 0)
        });
        *between = (between.0.saturating_add(n), between.1.max(length));
    }

    /// Returns the neighbours in `list` that are not skipped, with the steps to them.
    fn around(
        &self,
        list: &[usize],
        ways: impl Fn(usize) -> (usize, usize),
    ) -> SmallVec<[(usize, u64, u32); 2]> {
        let there = list.iter().filter(|&&s| !self.states[s].skipped);
        there.map(|&s| (s, self.between[&ways(s)])).map(|(s, (n, length))| (s, n, length)).collect()
    }

    /// Skips a state, unless that increases the number of steps or creates very long ones. Returns
    /// its neighbours.
    fn skip(&mut self, m: usize) -> Option<SmallVec<[usize; 4]>> {
        let state = &self.states[m];
        // The number of neighbours is known and rules out most hubs, which are tried again and
        // again.
        if grows(state.ins, state.outs) || self.between.contains_key(&(m, m)) {
            return None;
        }
        let (ins, outs) = (self.around(&state.before, |a| (a, m)), self.around(&state.after, |b| (m, b)));
        let count = |side: &[(usize, u64, u32)]| side.iter().map(|e| e.1).sum::<u64>();
        let length = |side: &[(usize, u64, u32)]| side.iter().map(|e| e.2).max().unwrap_or(0);
        if grows(count(&ins), count(&outs)) || length(&ins) + length(&outs) > LONGEST {
            return None;
        }
        self.states[m] = State { skipped: true, ..State::default() };
        ins.iter().for_each(|&(a, ..)| self.states[a].outs -= 1);
        outs.iter().for_each(|&(b, ..)| self.states[b].ins -= 1);
        for &(a, n, first) in &ins {
            for &(b, k, second) in &outs {
                self.add(a, b, n.saturating_mul(k), first + second);
            }
        }
        Some(ins.iter().chain(&outs).map(|e| e.0).collect())
    }
}

/// Returns the shared states to skip.
fn choose(steps: &[(Shared, Shared)], keep: &HashSet<Shared>) -> Vec<Shared> {
    let mut names: Vec<Shared> = steps.iter().flat_map(|&(from, to)| [from, to]).collect();
    names.sort_unstable();
    names.dedup();
    let number: FxHashMap<Shared, usize> = names.iter().copied().zip(0..).collect();
    let mut passages = Passages { states: vec![State::default(); names.len()], ..Passages::default() };
    for (from, to) in steps {
        passages.add(number[from], number[to], 1, 1);
    }
    let is_open = |m: &usize| !keep.contains(&names[*m]);
    let mut open: BinaryHeap<Reverse<usize>> = (0..names.len()).filter(is_open).map(Reverse).collect();
    open.iter().for_each(|m| passages.states[m.0].waits = true);
    let mut skipped = Vec::new();
    while let Some(Reverse(m)) = open.pop() {
        passages.states[m].waits = false;
        let Some(around) = passages.skip(m) else { continue };
        skipped.push(names[m]);
        for s in around.into_iter().filter(is_open) {
            if !std::mem::replace(&mut passages.states[s].waits, true) {
                open.push(Reverse(s));
            }
        }
    }
    skipped
}

/// Returns whether skipping a state with this many steps in and out would increase the number of
/// steps.
fn grows(ins: u64, outs: u64) -> bool {
    ins.saturating_mul(outs) > ins.saturating_add(outs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_skipped_unless_that_makes_more_steps() {
        let skipped = |steps: &[(u64, u64)], keep: &[u64]| -> Vec<u64> {
            let steps: Vec<(Shared, Shared)> = steps.iter().map(|&(a, b)| (Shared(a), Shared(b))).collect();
            let keep = keep.iter().map(|&s| Shared(s)).collect();
            choose(&steps, &keep).into_iter().map(|s| s.0).collect()
        };
        assert_eq!(skipped(&[(0, 1), (1, 2), (2, 0)], &[0]), [1, 2]);
        // Two steps in and three out would become six.
        let hub = [(0, 5), (1, 5), (5, 0), (5, 1), (5, 2), (2, 0), (2, 1)];
        assert_eq!(skipped(&hub, &[0, 1, 2]), [0; 0]);
        // The same holds for parallel steps.
        assert_eq!(skipped(&[(0, 5), (0, 5), (5, 1), (5, 1), (5, 1)], &[0, 1]), [0; 0]);
        // A state with a step to itself is not skipped.
        assert_eq!(skipped(&[(0, 3), (3, 5), (5, 0), (5, 4), (4, 4)], &[0]), [3, 5]);
    }
}
