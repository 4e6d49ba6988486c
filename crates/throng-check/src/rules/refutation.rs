//! Cases that contradict the state equation: see [`throng_model::verdict::Refutation`].
//!
//! In a case, some comparisons hold and some disjunctions are open; the first case is the predicate
//! of the target. A case is split into those of the parts of an open disjunction, or refuted: a sum
//! that no step increases is at least a non-negative combination of comparisons and traps, term by
//! term. So where these hold it is at least the combination of their bounds, which is more than its
//! value at the start.

use rustc_hash::FxHashMap;

use super::Flaw;
use throng_model::limits::Ticker;
use throng_model::predicate::{Predicate, Sum, value};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Case, Contradiction, Refutation};
use throng_model::{Bag, Bystanders, Local, Step};

/// Maximum factor of a comparison, and maximum number of comparisons: sums of products of 64-bit
/// numbers then stay within 128 bits.
const MOST_TIMES: i64 = 1 << 40;
const MOST_USED: usize = 1 << 20;

/// The comparisons that hold in a case, and the open disjunctions.
#[derive(Clone, Default)]
struct Held<'a> {
    comparisons: Vec<(&'a Sum, i64)>,
    open: Vec<&'a [Predicate]>,
}

impl<'a> Held<'a> {
    fn assume(&mut self, predicate: &'a Predicate) -> Result<(), Flaw> {
        match predicate {
            Predicate::AtLeast(sum, least) => self.comparisons.push((sum, *least)),
            Predicate::All(parts) => parts.iter().try_for_each(|part| self.assume(part))?,
            Predicate::Any(parts) => self.open.push(parts),
            Predicate::Dead | Predicate::Live => return malformed("steps are not counted"),
        }
        Ok(())
    }
}

fn malformed<T>(why: &str) -> Result<T, Flaw> {
    Err(Flaw::Malformed(why.into()))
}

pub(super) fn check_refutation(
    problem: &Problem,
    target: &Target,
    refutation: &Refutation,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let unsuitable = |why: &str| Err(Flaw::NotForThisModel(why.into()));
    let Some(steps) = problem.model.listed().filter(|_| problem.model.is_exact()) else {
        return unsuitable("state equations are about models that list their steps");
    };
    let plain = |step: &Step| step.others == Bystanders::Stay && step.from == step.to;
    let one_state = problem.initial.windows(2).all(|two| two[0].shared == two[1].shared);
    if !steps.iter().all(plain) || !one_state || matches!(problem.bound, Bound::Threads(_)) {
        return unsuitable(
            "state equations are about nets: one shared state, no bystanders, no bound on threads",
        );
    }
    refutation.traps.iter().try_for_each(|trap| check_trap(problem, steps, trap))?;
    let Some(predicate) = target.predicate().counted(steps) else {
        return unsuitable("steps move bystanders");
    };
    let mut first = Held::default();
    first.assume(&predicate)?;
    let mut waiting = vec![first];
    for case in &refutation.cases {
        ticker.ticks(16)?;
        let Some(mut held) = waiting.pop() else { return malformed("there are more cases than parts") };
        match case {
            Case::Split(which) if (*which as usize) < held.open.len() => {
                let parts = held.open.remove(*which as usize);
                // The first part is on top of the stack.
                for part in parts.iter().rev() {
                    let mut held = held.clone();
                    held.assume(part)?;
                    waiting.push(held);
                }
            }
            Case::Split(_) => return malformed("a disjunction that is split is not open"),
            Case::Linear(found) => contradicts(problem, steps, &held, &refutation.traps, found, ticker)?,
        }
    }
    if waiting.is_empty() { Ok(()) } else { malformed("a case is left open") }
}

fn check_trap(problem: &Problem, steps: &[Step], trap: &[Local]) -> Result<(), Flaw> {
    let mut members = trap.to_vec();
    members.sort_unstable();
    let meets = |bag: &Bag| bag.entries().iter().any(|e| members.binary_search(&e.0).is_ok());
    if !problem.initial.iter().all(|family| meets(&family.threads)) {
        return malformed("a trap is empty at the start");
    }
    match steps.iter().find(|step| meets(&step.take) && !meets(&step.put) && !meets(&step.spawn)) {
        Some(step) => {
            let place = problem.model.edge_place(step.edge);
            malformed(&format!("`{}` can empty a trap", place.text))
        }
        None => Ok(()),
    }
}

fn contradicts(
    problem: &Problem,
    steps: &[Step],
    held: &Held,
    traps: &[Vec<Local>],
    found: &Contradiction,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let weights: FxHashMap<Local, i64> = found.weights.iter().copied().collect();
    if weights.len() != found.weights.len() {
        return malformed("a local state has two weights");
    }
    let weight = |l: Local| i128::from(weights.get(&l).copied().unwrap_or(0));
    let of = |bag: &Bag| bag.entries().iter().map(|&(l, n)| weight(l) * i128::from(n)).sum::<i128>();
    for step in steps {
        ticker.tick()?;
        if of(&step.put) + of(&step.spawn) > of(&step.take) {
            return Err(Flaw::Grows(format!("by `{}`", problem.model.edge_place(step.edge).text)));
        }
    }
    let mut start = i128::MIN;
    for family in &problem.initial {
        if let Some(l) = family.any.iter().find(|&&l| weight(l) > 0) {
            let name = problem.model.local_name(*l);
            return Err(Flaw::Grows(format!("any number of threads may start at {name}, which counts")));
        }
        start = start.max(value(&found.weights, &family.threads));
    }
    let usable = |times: i64| (0..=MOST_TIMES).contains(&times);
    if found.comparisons.len().saturating_add(found.traps.len()) > MOST_USED {
        return malformed("too many comparisons are used");
    }
    let (mut used, mut asked): (FxHashMap<Local, i128>, i128) = Default::default();
    for &(which, times) in &found.comparisons {
        let Some((sum, least)) = held.comparisons.get(which as usize).filter(|_| usable(times)) else {
            return malformed("a comparison that is used does not hold");
        };
        asked += i128::from(*least) * i128::from(times);
        sum.iter().for_each(|&(l, n)| *used.entry(l).or_default() += i128::from(n) * i128::from(times));
    }
    for &(which, times) in &found.traps {
        let Some(trap) = traps.get(which as usize).filter(|_| usable(times)) else {
            return malformed("a trap that is used is not there");
        };
        asked += i128::from(times);
        trap.iter().for_each(|&l| *used.entry(l).or_default() += i128::from(times));
    }
    if used.iter().any(|(&l, &n)| n > weight(l))
        || weights.iter().any(|(&l, &n)| n < 0 && !used.contains_key(&l))
    {
        return malformed("comparisons ask for more than the sum has");
    }
    if asked > start {
        Ok(())
    } else {
        malformed("the required value of the sum does not exceed its value at the start")
    }
}
