//! The loops of control flow.

use rustc_hash::FxHashMap;

use crate::program::{Instr, next};

/// Returns the sets of instructions among `within` of which each can be reached from each other one
/// inside `within`, with at least one edge; of each the first is where control enters it, or the
/// one that is written first.
pub(super) fn components(code: &[Instr], within: &[usize]) -> Vec<Vec<usize>> {
    let numbers: FxHashMap<usize, usize> = within.iter().enumerate().map(|(n, &pc)| (pc, n)).collect();
    let edges: Vec<Vec<usize>> = within
        .iter()
        .map(|&pc| next(code, pc).iter().filter_map(|to| numbers.get(to).copied()).collect())
        .collect();
    let mut before = vec![Vec::new(); within.len()];
    for (from, to) in edges.iter().enumerate() {
        to.iter().for_each(|&to| before[to].push(from));
    }
    let headed = |mut all: Vec<usize>| {
        let enters = |&n: &usize| before[n].iter().any(|from| all.binary_search(from).is_err());
        let head = all.iter().position(enters).unwrap_or(0);
        all.swap(0, head);
        all.into_iter().map(|n| within[n]).collect()
    };
    let mut found: Vec<Vec<usize>> =
        throng_model::components::components(&edges).into_iter().map(headed).collect();
    found.sort_unstable();
    found
}
