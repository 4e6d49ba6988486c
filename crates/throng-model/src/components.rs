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

/// Returns the nodes of the natural loop of a header, sorted: those from which control comes back to
/// the header without leaving what it dominates, seen from the entries; empty if there are none.
pub fn natural_loop(edges: &[Vec<usize>], entries: &[usize], header: usize) -> Vec<usize> {
    let without = reachable(edges, entries.iter().copied().filter(|&n| n != header), header);
    let mut before = vec![Vec::new(); edges.len()];
    for (from, to) in edges.iter().enumerate().filter(|(from, _)| !without[*from]) {
        to.iter().filter(|&&to| !without[to]).for_each(|&to| before[to].push(from));
    }
    let back = before[header].clone();
    if back.iter().all(|&n| n == header) && !back.contains(&header) {
        return Vec::new();
    }
    let mut inside = reachable(&before, back.into_iter().filter(|&n| n != header), header);
    inside[header] = true;
    let from_header = reachable(edges, edges[header].iter().copied(), header);
    (0..edges.len()).filter(|&n| inside[n] && (n == header || from_header[n])).collect()
}

/// Returns the nodes that can be reached from some, other than through `barred`.
fn reachable(edges: &[Vec<usize>], from: impl Iterator<Item = usize>, barred: usize) -> Vec<bool> {
    let (mut seen, mut work) = (vec![false; edges.len()], from.collect::<Vec<_>>());
    while let Some(n) = work.pop() {
        if n != barred && !std::mem::replace(&mut seen[n], true) {
            work.extend(&edges[n]);
        }
    }
    seen
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
        let outer = vec![vec![1], vec![2, 4], vec![3], vec![1], vec![5], vec![5]];
        assert_eq!(natural_loop(&outer, &[0], 1), [1, 2, 3]);
        assert_eq!(natural_loop(&outer, &[0], 5), [5]);
        assert!(natural_loop(&outer, &[0], 2).is_empty(), "the loop is that of node 1");
        let ring: Vec<Vec<usize>> = (0..100_000).map(|n| vec![(n + 1) % 100_000]).collect();
        assert_eq!(components(&ring).len(), 1, "without recursion");
    }
}
