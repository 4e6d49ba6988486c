//! Breadth first through everything that a fixed number of threads reaches, with counters or, as
//! without counter abstraction, with a thread in each place of a list.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{ByHand, Common, Thread};

/// What was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Number of configurations.
    pub configurations: usize,
    /// Whether an assertion can be violated.
    pub violated: bool,
}

/// Explores everything that up to `threads` threads reach, all of which start at once; `None` if
/// that is more than `limit`. With `counted`, threads have no names.
pub fn explicit(by_hand: &ByHand<'_>, threads: usize, counted: bool, limit: usize) -> Option<Counts> {
    let (common, thread) = by_hand.start();
    let mut counts = Counts::default();
    let mut seen: FxHashSet<(Common, Vec<Thread>)> = FxHashSet::default();
    let mut todo: VecDeque<(Common, Vec<Thread>)> = VecDeque::new();
    for n in 0..=threads {
        let start = (common, vec![thread; n]);
        if seen.insert(start.clone()) {
            todo.push_back(start);
        }
    }
    let mut after = Vec::new();
    while let Some((common, list)) = todo.pop_front() {
        for (i, &thread) in list.iter().enumerate() {
            if counted && i > 0 && list[i - 1] == thread {
                continue;
            }
            counts.violated |= by_hand.violates(common, thread);
            by_hand.successors(common, thread, &mut after);
            for (common, put) in after.drain(..) {
                let mut next = list.clone();
                match put {
                    Some(thread) => next[i] = thread,
                    None => {
                        next.remove(i);
                    }
                }
                if counted {
                    next.sort_unstable();
                }
                if !seen.contains(&(common, next.clone())) {
                    seen.insert((common, next.clone()));
                    todo.push_back((common, next));
                }
            }
        }
        if seen.len() > limit {
            return None;
        }
    }
    counts.configurations = seen.len();
    Some(counts)
}
