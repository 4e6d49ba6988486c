//! Refinement, as slowly as one can decide it: one thread with concrete values, every value that
//! others may leave behind one by one, and the set of local states of the machine beside it.

use std::collections::{BTreeSet, HashSet};

use super::{BOTH, Config, Naive, Question, Thread, parser, product};
use throng_lang::bp::ast::{Expr, StmtKind};

/// A local/global state machine with numbers for its states.
#[derive(Clone, Debug)]
pub struct Plain {
    /// For each shared state, a condition on the program's shared variables.
    pub conditions: Vec<String>,
    /// Edges: shared and local state before, shared and local state after.
    pub edges: Vec<(usize, usize, usize, usize)>,
    /// Thread states that some number of threads reaches, from any number in 0 with 0.
    pub reachable: HashSet<(usize, usize)>,
}

impl Plain {
    /// Local states after a step of the program from one shared state to another.
    fn after(&self, from: &BTreeSet<usize>, g: usize, h: usize) -> BTreeSet<usize> {
        let mut found = self.quiet(from, g);
        if g != h {
            let edges = self.edges.iter().filter(|e| (e.0, e.2) == (g, h) && found.contains(&e.1));
            found = self.quiet(&edges.map(|e| e.3).collect(), h);
        }
        found
    }

    fn quiet(&self, from: &BTreeSet<usize>, g: usize) -> BTreeSet<usize> {
        let mut found = from.clone();
        loop {
            let edges = self.edges.iter().filter(|e| (e.0, e.2) == (g, g) && found.contains(&e.1));
            let more: Vec<usize> = edges.map(|e| e.3).filter(|l| !found.contains(l)).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }
}

type State = (Vec<bool>, Thread, BTreeSet<usize>);

impl Naive<'_> {
    /// Returns whether the program refines the machine; `None` if there are more states than that.
    pub fn refines(&self, machine: &Plain, limit: usize) -> Option<bool> {
        let conditions: Vec<Expr> = machine.conditions.iter().map(|text| parsed(text)).collect();
        let question = Question { bound: 1, initial: Some(1), keep_ended: false, limit };
        let mut todo: Vec<State> = Vec::new();
        for Config { shared, threads, .. } in self.initial(&question, 1) {
            if self.stands_for(&conditions, &shared, &threads[0]) != Some(0) {
                return Some(false);
            }
            todo.push((shared, threads[0].clone(), BTreeSet::from([0])));
        }
        let all = product(&vec![BOTH.to_vec(); self.shared.len()]);
        let mut seen: HashSet<State> = HashSet::new();
        while let Some(state) = todo.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > limit {
                return None;
            }
            let (shared, thread, machines) = state;
            let g = self.stands_for(&conditions, &shared, &thread)?;
            let alone = Config { shared, threads: vec![thread.clone()], ended: 0 };
            let possible: BTreeSet<usize> =
                machines.iter().copied().filter(|&m| machine.reachable.contains(&(g, m))).collect();
            for Config { shared, threads, .. } in self.successors(&alone, &question) {
                let at = threads.first().unwrap_or(&thread);
                let after = match self.stands_for(&conditions, &shared, at) {
                    Some(h) => machine.after(&possible, g, h),
                    None => BTreeSet::new(),
                };
                if after.is_empty() {
                    return Some(false);
                }
                todo.extend(threads.into_iter().map(|thread| (shared.clone(), thread, after.clone())));
            }
            if !self.holds(&thread) {
                let left = all.iter().filter(|shared| {
                    let h = self.stands_for(&conditions, shared, &thread);
                    h.is_some_and(|h| machines.iter().any(|&m| machine.reachable.contains(&(h, m))))
                });
                todo.extend(left.map(|shared| (shared.clone(), thread.clone(), machines.clone())));
            }
        }
        Some(true)
    }

    /// The number of the condition that these shared values satisfy.
    fn stands_for(&self, conditions: &[Expr], shared: &[bool], thread: &Thread) -> Option<usize> {
        conditions.iter().position(|e| self.eval_shared(e, shared, thread).contains(&true))
    }

    /// Whether shared values that some number of threads up to `within` reaches, while none is
    /// inside an atomic section, satisfy no condition or one of a shared state that the machine
    /// does not reach; `None` if there are too many configurations.
    pub fn escapes(&self, machine: &Plain, question: &Question, within: usize) -> Option<bool> {
        let conditions: Vec<Expr> = machine.conditions.iter().map(|text| parsed(text)).collect();
        let reached = self.closure(self.initial(question, within), question, within)?.0;
        let escapes = |config: &Config| {
            let Some(thread) = config.threads.first() else { return false };
            let g = self.stands_for(&conditions, &config.shared, thread);
            g.is_none_or(|g| !machine.reachable.iter().any(|state| state.0 == g))
        };
        Some(reached.iter().any(escapes))
    }
}

fn parsed(text: &str) -> Expr {
    let (tree, _) = parser::parse(&format!("void main() begin assume ({text}); end"));
    match &tree.functions[0].body[0].kind {
        StmtKind::Assume(e) => e.clone(),
        _ => unreachable!("written so"),
    }
}
