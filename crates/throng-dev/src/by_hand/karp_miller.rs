//! The coverability set of any number of threads: Karp and Miller's tree, in which what is covered
//! by an earlier node is left out, and what covers a node above it is accelerated.

use rustc_hash::FxHashMap;

use super::{ByHand, Common, Counts, Thread};

/// Any number.
const ANY: u32 = u32::MAX;

/// Threads with their numbers, sorted.
type Threads = Vec<(Thread, u32)>;

struct Node {
    common: Common,
    threads: Threads,
    before: Option<usize>,
    covered: bool,
}

/// Explores everything that any number of threads covers; `None` if the tree has more than `limit`
/// nodes. The configurations that are counted are the maximal ones.
pub fn karp_miller(by_hand: &ByHand<'_>, limit: usize) -> Option<Counts> {
    let (common, thread) = by_hand.start();
    let mut tree = Tree { nodes: Vec::new(), by_common: FxHashMap::default(), todo: Vec::new() };
    tree.add(common, vec![(thread, ANY)], None);
    let (mut violated, mut after) = (false, Vec::new());
    while let Some(i) = tree.todo.pop() {
        if tree.nodes[i].covered {
            continue;
        }
        let (common, threads) = (tree.nodes[i].common, tree.nodes[i].threads.clone());
        for &(thread, _) in &threads {
            violated |= by_hand.violates(common, thread);
            by_hand.successors(common, thread, &mut after);
            for (common, put) in after.drain(..) {
                let mut next = threads.clone();
                change(&mut next, thread, false);
                put.into_iter().for_each(|thread| change(&mut next, thread, true));
                tree.add(common, next, Some(i));
            }
        }
        if tree.nodes.len() > limit {
            return None;
        }
    }
    let configurations = tree.nodes.iter().filter(|node| !node.covered).count();
    Some(Counts { configurations, violated })
}

/// Adds a thread or takes one away.
fn change(threads: &mut Threads, thread: Thread, more: bool) {
    match threads.binary_search_by_key(&thread, |e| e.0) {
        Ok(at) if threads[at].1 == ANY => {}
        Ok(at) if more => threads[at].1 += 1,
        Ok(at) if threads[at].1 > 1 => threads[at].1 -= 1,
        Ok(at) => {
            threads.remove(at);
        }
        Err(at) => threads.insert(at, (thread, 1)),
    }
}

/// Whether the first are at most as many as the second, of each kind.
fn is_below(a: &Threads, b: &Threads) -> bool {
    let mut rest = b.iter();
    a.iter().all(|(thread, n)| {
        rest.by_ref().find(|e| e.0 >= *thread).is_some_and(|e| e.0 == *thread && *n <= e.1)
    })
}

struct Tree {
    nodes: Vec<Node>,
    /// Nodes that no other covers.
    by_common: FxHashMap<Common, Vec<usize>>,
    todo: Vec<usize>,
}

impl Tree {
    fn add(&mut self, common: Common, mut threads: Threads, before: Option<usize>) {
        self.accelerate(common, &mut threads, before);
        let nodes = &mut self.nodes;
        let known = self.by_common.entry(common).or_default();
        if known.iter().any(|&i| is_below(&threads, &nodes[i].threads)) {
            return;
        }
        known.retain(|&i| {
            nodes[i].covered = is_below(&nodes[i].threads, &threads);
            !nodes[i].covered
        });
        known.push(nodes.len());
        self.todo.push(nodes.len());
        nodes.push(Node { common, threads, before, covered: false });
    }

    /// Makes a number that grew since a node above, none having shrunk, any number.
    fn accelerate(&self, common: Common, threads: &mut Threads, before: Option<usize>) {
        let mut at = before;
        while let Some(i) = at {
            let node = &self.nodes[i];
            if node.common == common && is_below(&node.threads, threads) {
                for (thread, n) in threads.iter_mut() {
                    let known = node.threads.iter().find(|e| e.0 == *thread).map_or(0, |e| e.1);
                    *n = if known < *n { ANY } else { *n };
                }
            }
            at = node.before;
        }
    }
}
