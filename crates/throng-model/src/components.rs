//! Strongly connected components of a graph, after Tarjan, without recursion.

/// Returns the sets of nodes of which each can be reached from each other one, with at least one
/// edge inside; each sorted, a set before those from which it can be reached. Node `n` has edges to
/// `edges[n]`.
pub fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let new = vec![usize::MAX; edges.len()];
    let mut search = Search {
        edges,
        index: new.clone(),
        low: new,
        open: vec![false; edges.len()],
        stack: Vec::new(),
        count: 0,
        found: Vec::new(),
    };
    for root in 0..edges.len() {
        if search.index[root] == usize::MAX {
            search.from(root);
        }
    }
    search.found
}

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
        let mut all = self.stack.split_off(from);
        all.iter().for_each(|&m| self.open[m] = false);
        if all.len() > 1 || self.edges[n].contains(&n) {
            all.sort_unstable();
            self.found.push(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_and_lines_are_not() {
        let edges = vec![vec![1], vec![2, 4], vec![1, 3], vec![3], vec![5], vec![]];
        assert_eq!(components(&edges), [vec![3], vec![1, 2]]);
        assert!(components(&[vec![1], vec![]]).is_empty());
        let ring: Vec<Vec<usize>> = (0..100_000).map(|n| vec![(n + 1) % 100_000]).collect();
        assert_eq!(components(&ring).len(), 1, "without recursion");
    }
}
