//! The search that all other oracles are compared with: over plain lists of numbers, one size after
//! another, in a few lines.
//!
//! Systems and nets say what their states and steps are ([`Steps`]), each by itself and without any
//! code of the engines or readers. Programs have an interpreter of their own, see
//! [`crate::interpreter`].

use std::collections::HashSet;

use super::claim::Claim;

/// A configuration: whatever its owner takes the numbers for.
pub type State = Vec<u32>;

/// States and steps of a system that is small.
pub trait Steps {
    /// Lists every initial state with exactly this many threads or tokens.
    fn starts(&self, size: u32) -> Vec<State>;
    /// Lists every initial state with at most this many tokens in each place that may start with
    /// any number.
    fn starts_of_tokens(&self, most: u32) -> Vec<State>;
    /// The size of the largest initial state; none if any number may start.
    fn largest_start(&self) -> Option<u32>;
    /// All states that are one step away; with `bound` threads, no thread is created.
    fn after(&self, state: &State, bound: Option<u32>) -> Vec<State>;
    /// Returns the number of threads or tokens.
    fn size(&self, state: &State) -> u32;
    /// Returns the number of targets.
    fn targets(&self) -> usize;
    /// Returns whether a state hits a target.
    fn hits(&self, state: &State, target: usize) -> bool;
}

/// More states than this are not looked at.
const MOST_STATES: usize = 4_000;

/// Decides each target for `bound` threads or any number, looking at runs of at most
/// `most` at once.
pub fn by_size(system: &dyn Steps, bound: Option<u32>, most: u32) -> Vec<Claim> {
    let mut claims = vec![Claim::UNKNOWN; system.targets()];
    let last = bound.map_or(most, |bound| bound.min(most));
    for size in 0..=last {
        let starts: Vec<State> = (0..=size).flat_map(|n| system.starts(n)).collect();
        let Some(found) = search(system, starts, bound, Some(size)) else { break };
        // Nothing larger can start, and nothing became larger: later sizes are the same.
        let closed = !found.left_out && system.largest_start().is_some_and(|largest| largest <= size);
        for (claim, hit) in claims.iter_mut().zip(&found.hit) {
            match hit {
                _ if claim.hit.is_some() => {}
                Some(steps) => *claim = Claim::fewest(size, Some(*steps)),
                None if closed || bound == Some(size) => *claim = Claim::SAFE,
                None => *claim = Claim::none_up_to(size),
            }
        }
        if closed {
            break;
        }
    }
    claims
}

/// Decides each target if each open place starts with at most `most` tokens.
pub fn by_tokens(system: &dyn Steps, most: u32) -> Vec<Claim> {
    match search(system, system.starts_of_tokens(most), None, None) {
        None => vec![Claim::UNKNOWN; system.targets()],
        Some(found) => {
            let claim = |hit: &Option<usize>| hit.map_or(Claim::SAFE, |_| Claim::hit(Claim::UNCOUNTED));
            found.hit.iter().map(claim).collect()
        }
    }
}

struct Found {
    /// For each target, after how many steps it can be hit first.
    hit: Vec<Option<usize>>,
    /// True if a step was not taken because it leads to something too large.
    left_out: bool,
}

fn search(system: &dyn Steps, starts: Vec<State>, bound: Option<u32>, within: Option<u32>) -> Option<Found> {
    let mut found = Found { hit: vec![None; system.targets()], left_out: false };
    let mut seen: HashSet<State> = HashSet::new();
    let (mut level, mut depth) = (starts, 0);
    while !level.is_empty() {
        let mut next = Vec::new();
        for state in level {
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > MOST_STATES {
                return None;
            }
            for (target, hit) in found.hit.iter_mut().enumerate() {
                if hit.is_none() && system.hits(&state, target) {
                    *hit = Some(depth);
                }
            }
            for after in system.after(&state, bound) {
                if within.is_some_and(|within| system.size(&after) > within) {
                    found.left_out = true;
                } else {
                    next.push(after);
                }
            }
        }
        (level, depth) = (next, depth + 1);
    }
    Some(found)
}

/// Every way to take one element of each.
pub(super) fn product(sets: &[Vec<u32>]) -> Vec<Vec<u32>> {
    sets.iter().fold(vec![Vec::new()], |rows, set| {
        rows.iter().flat_map(|row| set.iter().map(move |&v| [&row[..], &[v]].concat())).collect()
    })
}
