//! Quotients: which states of a model are merged or skipped, and how verdicts about the quotient are lifted to the original.
//!
//! Bisimilar local states are merged (`equivalent`).
//!
//! Thread-transition systems made from nets or from programs are full of shared states that exist only between two halves of one move. A
//! state is skipped ([`QuotientModel`]) if that does not increase the number of steps: if it has `i` steps in and `o` steps
//! out, `i·o ≤ i + o`. One without steps in or without steps out disappears.

mod equivalent;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::equivalent::equivalent;
use throng_model::problem::{Bound, Initial, Problem};
use throng_model::quotient::{QuotientMap, QuotientModel};
use throng_model::verdict::{Certificate, Taken, Trace, Unknown, Verdict};
use throng_model::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step, semantics};

/// The quotient of a problem, and how verdicts are lifted back.
pub struct Quotient {
    /// The quotient problem: same targets.
    pub problem: Problem,
    original: Problem,
    model: Arc<QuotientModel>,
    map: Arc<QuotientMap>,
    /// States that threads leave by themselves, always, and the state that comes then.
    alias: FxHashMap<Local, Local>,
}

/// Runs longer than this are not written out: each of a million threads may have to take its own steps.
const MOST_STEPS: usize = 1 << 20;

/// Paths longer than this are not made into one step.
const LONGEST: u32 = 64;

impl Quotient {
    /// The quotient problem, if it is smaller.
    pub fn of(problem: &Problem) -> Option<Quotient> {
        let listed = problem.model.listed()?;
        if problem.bound != Bound::Any || listed.iter().any(|s| s.others != Bystanders::Stay) {
            return None;
        }
        let bad = || problem.targets.iter().flat_map(|t| &t.configs);
        let named = bad().flat_map(|c| c.threads.entries()).map(|e| e.0).collect();
        let starts: Vec<Shared> = problem.initial.iter().map(|family| family.shared).collect();
        let equivalent = equivalent(listed, &named, &starts);
        let keep = starts.into_iter().chain(bad().map(|c| c.shared)).collect();
        let mut map = QuotientMap { skipped: Vec::new(), merged: equivalent.merged };
        let quotient = |map: &QuotientMap| QuotientModel::new(problem.model.clone(), map).ok();
        // Fewer steps are left between merged states, so more shared states are worth skipping.
        map.skipped = match map.merged.is_empty() {
            true => choose(listed, &keep),
            false => choose((&quotient(&map)? as &dyn Model).listed()?, &keep),
        };
        if map.skipped.is_empty() && map.merged.is_empty() {
            return None;
        }
        let model = Arc::new(quotient(&map)?);
        let initial = problem.initial.iter().map(|family| family.merged(&map)).collect();
        Some(Quotient {
            problem: Problem { model: model.clone(), initial, ..problem.clone() },
            original: problem.clone(),
            model,
            map: Arc::new(map),
            alias: equivalent.alias,
        })
    }

    /// How many shared states are skipped.
    pub fn skipped(&self) -> usize {
        self.map.skipped.len()
    }

    /// How many local states are merged.
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

    /// A run of the original, step by step, unless it is very long. If there were none, the checker would say so.
    fn expand(&self, trace: &Trace) -> Option<Trace> {
        let start = self.start(&trace.start);
        let mut run = Run { quotient: self, now: start.clone(), steps: Vec::new() };
        run.settle();
        for taken in &trace.steps {
            for mut options in self.model.options(&taken.step) {
                // Equivalent states can do the same, so one of the steps is possible.
                let there = |step: &&Step| step.from == run.now.shared && run.now.threads.covers(&step.take);
                if let Some(step) = options.find(there) {
                    run.take(step);
                    run.settle();
                }
            }
        }
        (run.steps.len() <= MOST_STEPS).then_some(Trace { start, steps: run.steps })
    }

    /// An initial configuration of the original whose image is `start`.
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

/// A run of the original model in the making.
struct Run<'a> {
    quotient: &'a Quotient,
    now: Config,
    steps: Vec<Taken>,
}

impl Run<'_> {
    fn take(&mut self, step: &Step) {
        let mut after = Vec::new();
        // Bystanders stay, so there is one way.
        let fired = semantics::fire(&*self.quotient.original.model, &self.now, step, None, &mut after);
        if let (Some(after), Ok(())) = (after.pop(), fired) {
            self.now = after;
            self.steps.push(Taken { step: step.clone(), after: self.now.clone() });
        }
    }

    /// Moves all threads on that the quotient identifies with a later state.
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

/// How many steps lead from one state to another, and how many steps the longest of them is made of.
type Neighbours = BTreeMap<Shared, (u64, u32)>;

/// The shared states to pass through.
fn choose(steps: &[Step], keep: &HashSet<Shared>) -> Vec<Shared> {
    let mut out: FxHashMap<Shared, Neighbours> = FxHashMap::default();
    let mut into: FxHashMap<Shared, Neighbours> = FxHashMap::default();
    let mut open: BTreeSet<Shared> = BTreeSet::new();
    for step in steps {
        out.entry(step.from).or_default().entry(step.to).or_insert((0, 1)).0 += 1;
        into.entry(step.to).or_default().entry(step.from).or_insert((0, 1)).0 += 1;
        open.extend([step.from, step.to]);
    }
    open.retain(|s| !keep.contains(s));
    let mut skipped = Vec::new();
    while let Some(m) = open.pop_first() {
        let none = Neighbours::new();
        let (ins, outs) = (into.get(&m).unwrap_or(&none), out.get(&m).unwrap_or(&none));
        // First by the number of neighbours, which is known: a hub comes up again and again.
        if grows(ins.len() as u64, outs.len() as u64) || ins.contains_key(&m) {
            continue;
        }
        let count = |side: &Neighbours| side.values().map(|e| e.0).sum::<u64>();
        let length = |side: &Neighbours| side.values().map(|e| e.1).max().unwrap_or(0);
        if grows(count(ins), count(outs)) || length(ins) + length(outs) > LONGEST {
            continue;
        }
        let (ins, outs) = (into.remove(&m).unwrap_or_default(), out.remove(&m).unwrap_or_default());
        skipped.push(m);
        let around = ins.keys().chain(outs.keys()).copied().filter(|s| !keep.contains(s));
        open.extend(around);
        ins.keys().for_each(|a| _ = out.entry(*a).or_default().remove(&m));
        outs.keys().for_each(|b| _ = into.entry(*b).or_default().remove(&m));
        for (&a, &(n, first)) in &ins {
            for (&b, &(k, second)) in &outs {
                for side in [out.entry(a).or_default().entry(b), into.entry(b).or_default().entry(a)] {
                    let between = side.or_insert((0, 0));
                    *between = (between.0.saturating_add(n.saturating_mul(k)), between.1.max(first + second));
                }
            }
        }
    }
    skipped
}

/// Whether passing through a state with so many steps in and out would make more steps.
fn grows(ins: u64, outs: u64) -> bool {
    ins.saturating_mul(outs) > ins.saturating_add(outs)
}
