//! Partial-order reduction (Boom, section 7.3): when exploring the steps of one thread first is
//! enough.
//!
//! # The rule
//!
//! Let t be a thread about to execute a statement that writes no variable which any other thread
//! will ever read or write, and reads none that any other will ever write. Then only t's steps are
//! explored. The model supplies the four sets ([`crate::Footprints::footprint`]); this module
//! applies the rule to the threads of a configuration.
//!
//! # Why nothing is lost
//!
//! Let w be a run of the full system from this configuration into a target. If t moves in w, its
//! first move there can be moved to the front, since it is independent of all earlier steps of the
//! others. If t never moves in w, any move α of t can be put in front: the others neither see what
//! it writes nor, since `assume` counts as a write, what it rules out. Either way the run that
//! begins with t ends in the same target, provided that the target mentions neither t at its place
//! nor a variable that α writes: so a thread at a point named by a target never goes first, and
//! variables that a target's shared state fixes count as read by another thread. Creating and
//! ending threads never goes first, so both runs have the same number of threads at every moment
//! but shifted: *the fewest threads of a violation stay the same*. Its length may not. Points of t
//! that may go first form no cycle, so after finitely many such steps all threads are explored
//! again.
//!
//! Where states are sets, t must be able to move for each value of the shared variables; its own
//! variables may rule some values of *themselves* out.

use crate::problem::{Problem, Target};
use crate::{Footprint, Model};

/// The thread states and variables that the targets of a problem mention.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Places that a target mentions; sorted.
    places: Vec<u32>,
    /// Shared variables that a target mentions.
    variables: u64,
}

impl Reduction {
    /// Returns the reduction for a search that decides all targets of a problem; `None` if its
    /// model has no footprints.
    pub fn of(problem: &Problem) -> Option<Reduction> {
        Reduction::new(&*problem.model, &problem.targets)
    }

    /// Returns the reduction for evidence about one target: a thread that may go first for several
    /// targets may do so for one of them.
    pub fn for_target(problem: &Problem, target: &Target) -> Option<Reduction> {
        Reduction::new(&*problem.model, [target])
    }

    /// Returns the reduction for a search that decides these targets; `None` if the model has no
    /// footprints.
    pub fn new<'t>(model: &dyn Model, targets: impl IntoIterator<Item = &'t Target>) -> Option<Reduction> {
        let footprints = model.footprints()?;
        let (mut places, mut variables) = (Vec::new(), 0);
        for config in targets.into_iter().flat_map(|t| &t.configs) {
            variables |= footprints.constrained(config.shared);
            for &(l, _) in config.threads.entries() {
                places.push(footprints.footprint(l).place);
            }
        }
        places.sort_unstable();
        places.dedup();
        Some(Reduction { places, variables })
    }

    /// Returns whether a thread of the `i`-th group may go first, where `threads` lists all groups
    /// with their sizes.
    pub fn goes_first(&self, threads: &[(Footprint, u32)], i: usize) -> bool {
        let (mine, count) = &threads[i];
        if !mine.goes_first
            || mine.writes & self.variables != 0
            || self.places.binary_search(&mine.place).is_ok()
        {
            return false;
        }
        let others = threads.iter().enumerate().filter(|&(j, _)| j != i || *count > 1).map(|(_, t)| &t.0);
        others.into_iter().all(|other| {
            mine.writes & (other.later_reads | other.later_writes) == 0
                && mine.reads & other.later_writes == 0
        })
    }
}
