//! Vectors that no possible step increases: see [`throng_model::verdict::Vector`]. No reachable
//! configuration has a larger value than all initial ones.
//!
//! In a [`throng_model::verdict::Tree`] a leaf is about the runs that are never in some sets of
//! shared states, and enter others at least once. Steps from or to the former do not occur in such
//! a run. No set has an initial state, so each of the latter is entered by a step that leads into
//! it, and the value has decreased by all of their drops. Every run belongs to one leaf of a tree;
//! so what all leaves exclude is not reachable. A vector alone is a tree with one leaf.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Flaw;
use super::views::Closed;
use throng_model::problem::Problem;
use throng_model::verdict::{Branch, MOST_SPLITS, Tree, Vector};
use throng_model::{Bag, Config, Local, Shared, Step};

/// A vector.
struct Linear {
    shared: FxHashMap<Shared, i64>,
    locals: FxHashMap<Local, i64>,
    /// The largest value of an initial configuration, which no reachable one exceeds.
    most: i128,
}

/// A vector for the runs of one case.
struct Leaf {
    linear: Linear,
    /// Sets of shared states in which the runs never are.
    never: Vec<Rc<FxHashSet<Shared>>>,
    /// Sets that the runs enter, and by how much each entry decreases the vector at least.
    entered: Vec<(Rc<FxHashSet<Shared>>, i64)>,
}

/// Trees of vectors; [`super::views::Closed`] checks for every step that views allow that they do
/// not grow.
pub(super) struct Vectors(Vec<Vec<Leaf>>);

impl Vectors {
    pub(super) fn new(problem: &Problem, vectors: &[Vector], trees: &[Tree]) -> Result<Vectors, Flaw> {
        let alone = vectors.iter().map(|v| Linear::new(problem, v).map(|linear| vec![Leaf::alone(linear)]));
        let trees = trees.iter().map(|tree| leaves(problem, tree));
        Ok(Vectors(alone.chain(trees).collect::<Result<_, _>>()?))
    }

    /// Reads vectors that may be negative at local states, and so do not exclude a configuration
    /// because of one that it covers.
    pub(super) fn signed(problem: &Problem, vectors: &[Vector]) -> Result<Vectors, Flaw> {
        let alone =
            vectors.iter().map(|v| Linear::signed(problem, v).map(|linear| vec![Leaf::alone(linear)]));
        Ok(Vectors(alone.collect::<Result<_, _>>()?))
    }

    fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.0.iter().flatten()
    }

    /// Returns whether one is negative at a local state.
    pub(super) fn some_negative(&self) -> bool {
        self.leaves().any(|leaf| leaf.linear.locals.values().any(|&n| n < 0))
    }

    /// Returns whether no reachable configuration has shared state `s`, a thread at `l`, and all
    /// its threads at `l` and `others`, given vectors without cases.
    pub(super) fn exclude_stuck(&self, s: Shared, l: Local, others: &[Local]) -> bool {
        self.leaves().map(|leaf| &leaf.linear).any(|linear| {
            linear.of_shared(s) + linear.of_local(l) > linear.most
                && others.iter().all(|&other| linear.of_local(other) >= 0)
        })
    }

    /// Returns whether a step to `to` after which `arrived` are there increases none; bystanders
    /// aside.
    pub(super) fn allow_step(&self, step: &Step, to: Shared, arrived: &Bag) -> bool {
        self.leaves().filter(|leaf| !leaf.never_takes(step.from, to)).all(|leaf| {
            let after = leaf.linear.value(to, arrived) + leaf.drop(step.from, to);
            after <= leaf.linear.value(step.from, &step.take)
        })
    }

    /// Returns whether none has a larger value for a thread in the second local state than in the
    /// first; `over` are the shared states before and after the step.
    pub(super) fn allow_move(&self, over: (Shared, Shared), from: Local, to: Local) -> bool {
        from == to
            || self
                .leaves()
                .filter(|leaf| !leaf.never_takes(over.0, over.1))
                .all(|leaf| leaf.linear.of_local(to) <= leaf.linear.of_local(from))
    }

    /// Returns whether some tree shows that no configuration that covers a concrete one of `config`
    /// is reachable.
    pub(super) fn exclude(&self, views: &Closed, config: &Config) -> bool {
        self.0.iter().any(|tree| tree.iter().all(|leaf| leaf.excludes(views, config)))
    }
}

/// Reads the leaves of a tree.
fn leaves(problem: &Problem, tree: &Tree) -> Result<Vec<Leaf>, Flaw> {
    let malformed = |why: &str| Flaw::Malformed(why.into());
    let mut found = Vec::new();
    // For each node that is still to come: the sets above it, and whether they are entered.
    let mut waiting: Vec<Vec<(Rc<FxHashSet<Shared>>, bool)>> = vec![Vec::new()];
    for branch in tree {
        let above = waiting.pop().ok_or_else(|| malformed("a tree has more nodes than parts"))?;
        match branch {
            Branch::Split(states) => {
                if above.len() == MOST_SPLITS {
                    return Err(malformed("a tree is too deep"));
                }
                if let Some(start) = problem.initial.iter().find(|f| states.contains(&f.shared)) {
                    let name = problem.model.shared_name(start.shared);
                    return Err(malformed(&format!("a run starts in {name}, which it should enter")));
                }
                let states: Rc<FxHashSet<Shared>> = Rc::new(states.iter().copied().collect());
                let with = |entered| above.iter().cloned().chain([(states.clone(), entered)]).collect();
                // The first part is on top of the stack.
                waiting.extend([with(true), with(false)]);
            }
            Branch::Leaf { vector, drops } => {
                let linear = Linear::new(problem, vector)?;
                let (entered, never): (Vec<_>, Vec<_>) = above.into_iter().partition(|set| set.1);
                if entered.len() != drops.len() || drops.iter().any(|&n| n < 0) {
                    return Err(malformed("a leaf has no drop for each set that is entered"));
                }
                let entered = entered.into_iter().map(|set| set.0).zip(drops.iter().copied()).collect();
                found.push(Leaf { linear, never: never.into_iter().map(|set| set.0).collect(), entered });
            }
        }
    }
    if waiting.is_empty() { Ok(found) } else { Err(malformed("a tree lacks a part")) }
}

impl Leaf {
    fn alone(linear: Linear) -> Leaf {
        Leaf { linear, never: Vec::new(), entered: Vec::new() }
    }

    /// Returns whether the runs of this case take no step between these shared states.
    fn never_takes(&self, from: Shared, to: Shared) -> bool {
        self.never.iter().any(|set| set.contains(&from) || set.contains(&to))
    }

    /// Returns by how much a step between these shared states has to decrease the vector.
    fn drop(&self, from: Shared, to: Shared) -> i128 {
        let enters = |set: &FxHashSet<Shared>| !set.contains(&from) && set.contains(&to);
        self.entered.iter().filter(|(set, _)| enters(set)).map(|(_, n)| i128::from(*n)).sum()
    }

    fn excludes(&self, views: &Closed, config: &Config) -> bool {
        let (linear, model) = (&self.linear, views.model);
        let dropped: i128 = self.entered.iter().map(|(_, n)| i128::from(*n)).sum();
        let most = linear.most.saturating_sub(dropped);
        let never = |s: Shared| self.never.iter().any(|set| set.contains(&s));
        if model.is_exact() {
            return never(config.shared) || linear.value(config.shared, &config.threads) > most;
        }
        // Only states of the views occur; the one with the least value is assumed.
        let mut meeting = views.groups().filter(|(s, _)| model.meets_shared(*s, config.shared));
        meeting.all(|(s, group)| {
            let least = |l: Local| {
                let fitting = views.singles(group).filter(|&have| model.meets_local(have, l));
                fitting.map(|have| linear.of_local(have)).min().unwrap_or(0)
            };
            let threads = config.threads.entries().iter().map(|&(l, n)| least(l) * i128::from(n));
            never(s) || linear.of_shared(s) + threads.sum::<i128>() > most
        })
    }
}

impl Linear {
    fn new(problem: &Problem, vector: &Vector) -> Result<Linear, Flaw> {
        let linear = Linear::signed(problem, vector)?;
        match linear.locals.iter().find(|e| *e.1 < 0) {
            Some((l, _)) => Err(Flaw::Grows(format!("it is negative at {}", problem.model.local_name(*l)))),
            None => Ok(linear),
        }
    }

    fn signed(problem: &Problem, vector: &Vector) -> Result<Linear, Flaw> {
        let model = &*problem.model;
        let shared = vector.shared.iter().copied().collect();
        let locals: FxHashMap<Local, i64> = vector.locals.iter().copied().collect();
        let mut linear = Linear { shared, locals, most: i128::MIN };
        for family in &problem.initial {
            if let Some(l) = family.any.iter().find(|l| linear.of_local(**l) > 0) {
                let name = model.local_name(*l);
                return Err(Flaw::Grows(format!("any number of threads may start at {name}, which counts")));
            }
            linear.most = linear.most.max(linear.value(family.shared, &family.threads));
        }
        Ok(linear)
    }

    fn of_shared(&self, s: Shared) -> i128 {
        self.shared.get(&s).copied().unwrap_or(0).into()
    }

    fn of_local(&self, l: Local) -> i128 {
        self.locals.get(&l).copied().unwrap_or(0).into()
    }

    // At most 2³² threads in each of 2³² local states, 2⁶³ each: 128 bits are enough.
    fn value(&self, s: Shared, threads: &Bag) -> i128 {
        let each = threads.entries().iter().map(|&(l, n)| self.of_local(l) * i128::from(n));
        self.of_shared(s) + each.sum::<i128>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rules::check;
    use throng_lang::tts;
    use throng_model::problem::Bound;
    use throng_model::verdict::{Certificate, Relative, Verdict};
    use throng_model::views::{Block, Views};

    /// Figure 3 of Athanasiou, Liu and Wahl: a thread becomes 1 in shared state 2 only, from which
    /// nothing leads back to 1.
    fn figure_3() -> Problem {
        let (system, findings) = tts::read("3 3\n0 0 -> 1 2\n1 0 +> 2 2\n2 0 -> 2 1\n");
        let table = system.unwrap_or_else(|| panic!("{findings:?}")).table;
        let (shared, locals) = (table.shared().clone(), table.locals().clone());
        Problem {
            initial: vec![tts::parse_config("0|/0", &shared, &locals).expect("a start")],
            initial_text: "0|/0".into(),
            targets: vec![tts::parse_target("1|1", &shared, &locals).expect("a target")],
            bound: Bound::Any,
            model: table,
        }
    }

    /// Returns whether a tree, over views that exclude nothing, is evidence.
    fn stands(tree: Tree) -> bool {
        let problem = figure_3();
        let all = || (0..3).map(Local).collect();
        let block = |s| Block { shared: Shared(s), left: all(), right: None };
        let views = Arc::new(Views::of_blocks((0..3).map(block)));
        let proof = Relative { trees: vec![tree], ..Relative::of_views(views) };
        let verdict = Verdict::Safe(Certificate::Relative(Arc::new(proof)));
        check(&problem, &problem.targets[0], &verdict).is_ok()
    }

    fn split(states: &[u64]) -> Branch {
        Branch::Split(states.iter().copied().map(Shared).collect())
    }

    fn leaf(shared: &[(u64, i64)], locals: &[(u64, i64)], drops: &[i64]) -> Branch {
        let vector = Vector {
            shared: shared.iter().map(|&(s, n)| (Shared(s), n)).collect(),
            locals: locals.iter().map(|&(l, n)| (Local(l), n)).collect(),
        };
        Branch::Leaf { vector, drops: drops.to_vec() }
    }

    #[test]
    fn connectivity_excludes_the_target_of_figure_3() {
        let (never, entered) = (leaf(&[], &[(1, 1)], &[]), leaf(&[(2, -1)], &[], &[1]));
        assert!(stands(vec![split(&[2]), never.clone(), entered.clone()]));
        // Without the distinction there is no vector: steps from 2 put threads at 1.
        assert!(!stands(vec![never.clone()]) && !stands(vec![leaf(&[(2, -1)], &[], &[])]));
        // What enters 2 ends there, but a run that does not may be in 1.
        assert!(!stands(vec![split(&[2]), leaf(&[], &[], &[]), entered.clone()]));
        // Entering 2 takes 1 and not 2 from this vector, and nothing from that one.
        assert!(!stands(vec![split(&[2]), never.clone(), leaf(&[(2, -1)], &[], &[2])]));
        assert!(!stands(vec![split(&[2]), never.clone(), leaf(&[], &[], &[1])]));
        // Steps into 2 occur in runs that are never in 0, which begin there.
        assert!(!stands(vec![split(&[0]), never.clone(), entered.clone()]));
        assert!(!stands(vec![split(&[0, 2]), never.clone(), entered.clone()]));
        // A run may well enter 1.
        assert!(!stands(vec![split(&[1]), never.clone(), entered.clone()]));
    }

    #[test]
    fn trees_are_whole() {
        let (never, entered) = (leaf(&[], &[(1, 1)], &[]), leaf(&[(2, -1)], &[], &[1]));
        assert!(!stands(vec![]));
        assert!(!stands(vec![split(&[2]), never.clone()]));
        assert!(!stands(vec![split(&[2]), never.clone(), entered.clone(), entered.clone()]));
        assert!(!stands(vec![split(&[2]), entered.clone(), never.clone()]), "drops of another case");
        assert!(!stands(vec![split(&[2]), never.clone(), leaf(&[(2, -1)], &[], &[])]), "no drop");
        let up = leaf(&[(2, 1)], &[], &[-1]);
        assert!(!stands(vec![split(&[2]), never.clone(), up]), "an entry that adds");
        // Each node's first part is the next one; all second parts come after the last.
        let nodes = |n: usize| {
            let splits = std::iter::repeat_n(split(&[2]), n).chain([never.clone()]);
            splits.chain(std::iter::repeat_n(entered.clone(), n)).collect()
        };
        assert!(stands(nodes(MOST_SPLITS)) && !stands(nodes(MOST_SPLITS + 1)));
    }
}
