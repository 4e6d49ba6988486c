//! Fewer shared states: which of them a search need only pass through, and how its answers become answers about the original.
//!
//! Thread-transition systems made from nets or from programs are full of shared states that exist only between two halves of one move. A
//! state is passed through ([`Through`]) if that does not make more steps of fewer: if it has `i` steps in and `o` steps
//! out, `i·o ≤ i + o`. One that nothing enters, or nothing leaves, disappears.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::through::Through;
use crate::model::{Others, Shared, Step, semantics};
use crate::problem::{Bound, Problem};
use crate::verdict::{Certificate, Taken, Trace, Verdict};

/// A problem with fewer shared states, and the way back.
pub struct Contracted {
    /// The smaller problem: same initial configurations, same targets.
    pub problem: Problem,
    original: Problem,
    through: Arc<Through>,
    skipped: Arc<Vec<Shared>>,
}

/// Paths longer than this are not made into one step.
const LONGEST: u32 = 64;

impl Contracted {
    /// The smaller problem, if the model can be contracted and it is worth it.
    pub fn of(problem: &Problem) -> Option<Contracted> {
        let listed = problem.model.listed()?;
        if problem.bound != Bound::Any || listed.iter().any(|s| s.others != Others::Stay) {
            return None;
        }
        let starts = problem.initial.iter().map(|family| family.shared);
        let bad = problem.targets.iter().flat_map(|t| t.configs.iter().map(|c| c.shared));
        let skipped = choose(listed, &starts.chain(bad).collect());
        if skipped.is_empty() {
            return None;
        }
        let through = Arc::new(Through::new(problem.model.clone(), &skipped).ok()?);
        Some(Contracted {
            problem: Problem { model: through.clone(), ..problem.clone() },
            original: problem.clone(),
            through,
            skipped: Arc::new(skipped),
        })
    }

    /// How many shared states are gone.
    pub fn skipped(&self) -> usize {
        self.skipped.len()
    }

    /// A verdict about the smaller problem as one about the original.
    pub fn lift(&self, verdict: &Verdict) -> Verdict {
        match verdict {
            Verdict::Safe(proof) => {
                Verdict::Safe(Certificate::Through(self.skipped.clone(), Box::new(proof.clone())))
            }
            Verdict::Unsafe(trace) => Verdict::Unsafe(self.expand(trace)),
            Verdict::Unknown(why) => Verdict::Unknown(why.clone()),
        }
    }

    /// Every step of the run, step by step.
    fn expand(&self, trace: &Trace) -> Trace {
        let mut steps: Vec<Taken> = Vec::new();
        let (mut now, mut after) = (trace.start.clone(), Vec::new());
        for taken in &trace.steps {
            for step in self.through.path(&taken.step) {
                semantics::fire(&*self.original.model, &now, step, None, &mut after);
                // Bystanders stay, so there is one way; if there were none, the checker would say so.
                now = after.pop().unwrap_or(now);
                steps.push(Taken { step: step.clone(), after: now.clone() });
            }
        }
        Trace { start: trace.start.clone(), steps }
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
