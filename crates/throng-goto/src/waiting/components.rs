//! Strongly connected components of control flow, after Tarjan, without recursion.

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
    let mut search = Search { edges: &edges, ..Search::default() };
    search.index = vec![usize::MAX; within.len()];
    search.low = search.index.clone();
    search.open = vec![false; within.len()];
    for root in 0..within.len() {
        if search.index[root] == usize::MAX {
            search.from(root);
        }
    }
    let mut found: Vec<Vec<usize>> = search
        .found
        .into_iter()
        .map(|mut all| {
            all.sort_unstable();
            let inside = |n: &usize| all.binary_search(n).is_ok();
            let enters = |&n: &usize| (0..edges.len()).any(|from| !inside(&from) && edges[from].contains(&n));
            let head = all.iter().position(enters).unwrap_or(0);
            all.swap(0, head);
            all.into_iter().map(|n| within[n]).collect()
        })
        .collect();
    found.sort_unstable();
    found
}

#[derive(Default)]
struct Search<'e> {
    edges: &'e [Vec<usize>],
    index: Vec<usize>,
    low: Vec<usize>,
    open: Vec<bool>,
    stack: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((n, edge)) = path.last_mut() {
            let n = *n;
            match self.edges[n].get(*edge) {
                Some(&to) => {
                    *edge += 1;
                    if self.index[to] == usize::MAX {
                        self.enter(to);
                        path.push((to, 0));
                    } else if self.open[to] {
                        self.low[n] = self.low[n].min(self.index[to]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(before, _)) = path.last() {
                        self.low[before] = self.low[before].min(self.low[n]);
                    }
                    if self.low[n] == self.index[n] {
                        self.close(n);
                    }
                }
            }
        }
    }

    fn enter(&mut self, n: usize) {
        (self.index[n], self.low[n]) = (self.count, self.count);
        self.count += 1;
        self.stack.push(n);
        self.open[n] = true;
    }

    fn close(&mut self, n: usize) {
        let from = self.stack.iter().rposition(|&m| m == n).unwrap_or(0);
        let all = self.stack.split_off(from);
        all.iter().for_each(|&m| self.open[m] = false);
        if all.len() > 1 || self.edges[n].contains(&n) {
            self.found.push(all);
        }
    }
}
