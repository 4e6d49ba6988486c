//! How many threads a program creates, where its own constants say so: `for (i = 0; i < 20; i++)
//! pthread_create(…)`.
//!
//! The code of a thread is gone through with the values of registers that are constants; memory may
//! hold anything. If no way goes through a creation for ever, the longest way says how many threads
//! there are at most.

use std::collections::HashMap;

use super::{Expr, Instr, Leaf, Program, Reg, Start, Undefined, next, writes};

/// A place with the constants that matter there.
type State = (usize, Vec<(Reg, i64)>);

/// So many states of one template are gone through.
const MOST_STATES: usize = 20_000;
/// Programs with more threads count as programs without a bound.
const MOST_THREADS: u32 = 10_000;

impl Program {
    /// How many threads there are at most, in all and so at a time, if that is known.
    pub fn most_threads(&self) -> Option<u32> {
        let Start::One(first) = self.start else { return None };
        self.threads_of(first, &mut Vec::new())
    }

    /// Returns whether the first thread can come from each creation of a thread to what lies behind
    /// all of them, so that no loop of it creates threads for ever.
    pub fn leaves_creation(&self) -> bool {
        let Start::One(first) = self.start else { return false };
        let code = &self.templates[first].code;
        let spawns = |pc: usize| matches!(code[pc], Instr::Spawn(..));
        let ways = |pc: usize| next(code, pc).into_iter().filter(|&to| to < code.len());
        let mut creates: Vec<bool> = (0..code.len()).map(spawns).collect();
        // Backwards, because most ways go forwards.
        while let Some(pc) = (0..code.len()).rev().find(|&pc| !creates[pc] && ways(pc).any(|to| creates[to]))
        {
            creates[pc] = true;
        }
        let leaves = |from: usize| {
            let (mut seen, mut work) = (vec![false; code.len()], vec![from]);
            while let Some(pc) = work.pop() {
                if !std::mem::replace(&mut seen[pc], true) {
                    work.extend(ways(pc));
                }
            }
            (0..code.len()).any(|pc| seen[pc] && !creates[pc])
        };
        (0..code.len()).filter(|&pc| spawns(pc)).all(leaves)
    }

    /// A thread of a template and all that it creates.
    fn threads_of(&self, template: usize, parents: &mut Vec<usize>) -> Option<u32> {
        // A function that creates threads in itself has no end.
        if parents.contains(&template) {
            return None;
        }
        let spawns = |t: usize| self.templates[t].code.iter().any(|i| matches!(i, Instr::Spawn(..)));
        if self.callees(template).into_iter().flat_map(|t| self.reaches(t)).any(spawns) {
            return None;
        }
        parents.push(template);
        let mut children = HashMap::new();
        for i in &self.templates[template].code {
            if let Instr::Spawn(child, ..) = i
                && !children.contains_key(child)
            {
                children.insert(*child, self.threads_of(*child, parents)?);
            }
        }
        parents.pop();
        let created = if children.is_empty() { 0 } else { self.longest(template, &children)? };
        created.checked_add(1).filter(|&n| n <= MOST_THREADS)
    }

    /// How many threads a thread creates on the longest way, if there is one; each of the children
    /// counts for so many.
    fn longest(&self, template: usize, children: &HashMap<usize, u32>) -> Option<u32> {
        let code = &self.templates[template].code;
        let graph = self.states(template)?;
        let weight = |s: usize| match &code[graph[s].0.0] {
            Instr::Spawn(child, ..) => children[child],
            _ => 0,
        };
        let component = components(&graph);
        // Components are numbered so that edges go to smaller numbers; one with a cycle through a
        // creation has no end.
        let mut best = vec![0u32; graph.len()];
        let mut order: Vec<usize> = (0..graph.len()).collect();
        order.sort_unstable_by_key(|&s| component[s]);
        for group in order.chunk_by(|&a, &b| component[a] == component[b]) {
            let inside = |&s: &usize| component[s] == component[group[0]];
            let repeats = group.iter().any(|&s| graph[s].1.iter().any(inside));
            let own = group.iter().map(|&s| weight(s)).max().unwrap_or(0);
            if repeats && own > 0 {
                return None;
            }
            let after = group.iter().flat_map(|&s| &graph[s].1).filter(|s| !inside(s));
            let total = after.map(|&s| best[component[s]]).max().unwrap_or(0).checked_add(own)?;
            best[component[group[0]]] = total;
        }
        best.get(*component.first()?).copied()
    }

    /// The states of a thread, the first one first, and where each leads.
    fn states(&self, template: usize) -> Option<Vec<(State, Vec<usize>)>> {
        let code = &self.templates[template].code;
        let first: State = (0, Vec::new());
        let mut numbers = HashMap::from([(first.clone(), 0)]);
        let mut graph: Vec<(State, Vec<usize>)> = vec![(first, Vec::new())];
        let mut at = 0;
        while at < graph.len() {
            let (pc, known) = graph[at].0.clone();
            for (to, known) in self.after(template, code, pc, known) {
                let count = graph.len();
                let number = *numbers.entry((to, known.clone())).or_insert(count);
                if number == count {
                    graph.push(((to, known), Vec::new()));
                }
                graph[at].1.push(number);
            }
            if graph.len() > MOST_STATES {
                return None;
            }
            at += 1;
        }
        Some(graph)
    }

    /// Where a thread may be after an instruction.
    fn after(&self, template: usize, code: &[Instr], pc: usize, mut known: Vec<(Reg, i64)>) -> Vec<State> {
        let live = &self.templates[template].live;
        let mut ways = next(code, pc);
        match &code[pc] {
            Instr::Branch(e, yes, no) => {
                if let Some(v) = constant(e, &known) {
                    ways = vec![if v != 0 { *yes } else { *no }];
                }
            }
            i => {
                if let Some(r) = writes(i) {
                    let v = if let Instr::Let(_, e) = i { constant(e, &known) } else { None };
                    known.retain(|k| k.0 != r);
                    known.extend(v.map(|v| (r, v)));
                    known.sort_unstable();
                }
            }
        }
        let keep = |to: usize| known.iter().copied().filter(|k| live[to].contains(&k.0)).collect();
        ways.into_iter().filter(|&to| to < code.len()).map(|to| (to, keep(to))).collect()
    }
}

/// The value of an expression over constants.
fn constant(e: &Expr, known: &[(Reg, i64)]) -> Option<i64> {
    let leaf = |of: Leaf| match of {
        Leaf::Register(r) => known.iter().find(|k| k.0 == r).map(|k| k.1).ok_or(Undefined::Operator),
        Leaf::SelfId | Leaf::Local(_) => Err(Undefined::Operator),
    };
    e.value(&leaf, &|| ()).ok()
}

/// The strongly connected components (Tarjan, without recursion); edges between them go to smaller
/// numbers.
fn components(graph: &[(State, Vec<usize>)]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let (mut index, mut low) = (vec![NONE; graph.len()], vec![0; graph.len()]);
    let mut component = vec![NONE; graph.len()];
    let (mut stack, mut path, mut counter, mut groups) = (Vec::new(), vec![(0, 0)], 0, 0);
    while let Some((s, edge)) = path.pop() {
        if edge == 0 {
            (index[s], low[s]) = (counter, counter);
            counter += 1;
            stack.push(s);
        }
        match graph[s].1.get(edge) {
            Some(&to) => {
                path.push((s, edge + 1));
                if index[to] == NONE {
                    path.push((to, 0));
                } else if component[to] == NONE {
                    low[s] = low[s].min(index[to]);
                }
            }
            None => {
                if low[s] == index[s] {
                    while let Some(member) = stack.pop() {
                        component[member] = groups;
                        if member == s {
                            break;
                        }
                    }
                    groups += 1;
                }
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[s]);
                }
            }
        }
    }
    component
}
