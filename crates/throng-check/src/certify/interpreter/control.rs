//! Control flow: every stack that is reachable if values are ignored, and the moves between them.

use std::collections::{HashMap, VecDeque};

use crate::certificate::names::places;
use throng_lang::bp::function::{Kind, Name, Node, Ref, Resolved};
use throng_lang::bp::program::expr::Expr;

/// A stack of (function, statement), outermost first; callers are at their calls.
pub(super) type Stack = Vec<(usize, usize)>;

/// A place where a thread can be.
pub(super) struct Spot {
    pub(super) stack: Stack,
    /// True if it is inside an atomic section.
    pub(super) inside: bool,
    /// True if that section is an `atomic { … }`, which only its `}` ends.
    block: bool,
    /// The first variable of the innermost call, and the number of all variables.
    pub(super) base: usize,
    pub(super) width: usize,
    /// If it waits: its place when woken.
    pub(super) woken: Option<u32>,
    pub(super) name: String,
}

impl Spot {
    /// Returns the innermost call.
    pub(super) fn top(&self) -> (usize, usize) {
        self.stack[self.stack.len() - 1]
    }
}

/// One way to continue from a place.
pub(super) struct Move {
    pub(super) from: u32,
    /// The place of the thread after the move; none if it ends.
    pub(super) to: Option<u32>,
    /// The place at which a new thread starts.
    pub(super) child: Option<u32>,
    /// The value that the condition must have.
    pub(super) branch: bool,
    /// Variables that both the thread and its child may read later.
    pub(super) copied: Vec<usize>,
}

/// All places and moves.
pub(super) struct Control {
    pub(super) program: Resolved,
    pub(super) spots: Vec<Spot>,
    pub(super) moves: Vec<Move>,
    /// Numbers of the moves that leave each place.
    pub(super) out: Vec<Vec<u32>>,
    pub(super) named: HashMap<String, u32>,
}

/// A successor of a statement.
struct Next {
    to: Option<Stack>,
    child: Option<Stack>,
    branch: bool,
}

impl Control {
    pub(super) fn new(program: Resolved, exact: bool) -> Control {
        let of = |f: &throng_lang::bp::function::Function| {
            places(&f.name, f.nodes.iter().map(|n| ((n.span.start, 0), &n.labels[..])))
        };
        let names: Vec<Vec<String>> = program.functions.iter().map(of).collect();
        let entry = vec![(program.main, program.functions[program.main].entry)];
        let mut control =
            Control { program, spots: Vec::new(), moves: Vec::new(), out: Vec::new(), named: HashMap::new() };
        let mut numbers: HashMap<Stack, u32> = HashMap::new();
        let mut todo = VecDeque::new();
        control.number(entry, (false, false), &names, &mut numbers, &mut todo);
        while let Some(at) = todo.pop_front() {
            let stack = control.spots[at as usize].stack.clone();
            let after = control.inside_after(at, &numbers);
            if let Kind::Wait { next, .. } = control.kind(&control.spots[at as usize]) {
                let to = step_to(&stack, *next);
                let spot = &control.spots[at as usize];
                let inside = (spot.inside, spot.block);
                control.spots[at as usize].woken =
                    Some(control.number(to, inside, &names, &mut numbers, &mut todo));
            }
            for next in control.next(&stack) {
                let to = next.to.map(|s| control.number(s, after, &names, &mut numbers, &mut todo));
                let child =
                    next.child.map(|s| control.number(s, (false, false), &names, &mut numbers, &mut todo));
                control.out[at as usize].push(control.moves.len() as u32);
                control.moves.push(Move { from: at, to, child, branch: next.branch, copied: Vec::new() });
            }
        }
        control.mark_copied(exact);
        control
    }

    /// Returns the kind of the statement at a place.
    pub(super) fn kind(&self, spot: &Spot) -> &Kind {
        &self.node(spot).kind
    }

    fn node(&self, spot: &Spot) -> &Node {
        let (function, node) = spot.top();
        &self.program.functions[function].nodes[node]
    }

    fn number(
        &mut self,
        stack: Stack,
        (inside, block): (bool, bool),
        names: &[Vec<String>],
        numbers: &mut HashMap<Stack, u32>,
        todo: &mut VecDeque<u32>,
    ) -> u32 {
        if let Some(&number) = numbers.get(&stack) {
            return number;
        }
        let number = self.spots.len() as u32;
        // A thread that waits inside `atomic { }` has released the section meanwhile.
        let releases = stack.last().is_some_and(|&(f, n)| self.program.functions[f].releases(n));
        let inside = inside && !releases;
        let size = |&(f, _): &(usize, usize)| self.program.functions[f].variables.len();
        let width = self.program.thread_locals.len() + stack.iter().map(size).sum::<usize>();
        let base = width - stack.last().map_or(0, size);
        let name = stack.iter().map(|&(f, n)| names[f][n].as_str()).collect::<Vec<_>>().join(" > ");
        self.named.insert(name.clone(), number);
        numbers.insert(stack.clone(), number);
        self.spots.push(Spot { stack, inside, block, base, width, woken: None, name });
        self.out.push(Vec::new());
        todo.push_back(number);
        number
    }

    /// Returns whether a thread that leaves a place is inside an atomic section, and whether inside
    /// a block. A block's end restores the state before its beginning, which control has passed,
    /// because no `goto` may jump into a block.
    fn inside_after(&self, at: u32, numbers: &HashMap<Stack, u32>) -> (bool, bool) {
        let spot = &self.spots[at as usize];
        match self.kind(spot) {
            Kind::AtomicBegin { .. } => (true, spot.block),
            Kind::AtomicEnter { .. } | Kind::Resume { .. } => (true, true),
            Kind::AtomicEnd { .. } => (spot.block, spot.block),
            Kind::AtomicLeave { enter, .. } => {
                let before = numbers.get(&step_to(&spot.stack, *enter)).map(|&n| &self.spots[n as usize]);
                before.map_or((false, false), |spot| (spot.inside, spot.block))
            }
            _ => (spot.inside, spot.block),
        }
    }

    fn next(&self, stack: &Stack) -> Vec<Next> {
        let (function, node) = stack[stack.len() - 1];
        let go = |n: usize| Next { to: Some(step_to(stack, n)), child: None, branch: true };
        let entry = |f: usize| (f, self.program.functions[f].entry);
        match &self.program.functions[function].nodes[node].kind {
            Kind::Skip { next }
            | Kind::Assume { next, .. }
            | Kind::Assert { next, .. }
            | Kind::Assign { next, .. }
            | Kind::AtomicBegin { next }
            | Kind::AtomicEnd { next }
            | Kind::AtomicEnter { next }
            | Kind::AtomicLeave { next, .. }
            | Kind::Resume { next }
            | Kind::Signal { next, .. }
            | Kind::Broadcast { next, .. } => vec![go(*next)],
            Kind::Goto { targets } => targets.iter().map(|&n| go(n)).collect(),
            Kind::Branch { then, otherwise, .. } => {
                vec![go(*then), Next { branch: false, ..go(*otherwise) }]
            }
            // Calls that return alike cannot be distinguished inside the callee.
            Kind::Call { callee, site, .. } => {
                let deeper = [&step_to(stack, *site)[..], &[entry(*callee)]].concat();
                vec![Next { to: Some(deeper), child: None, branch: true }]
            }
            Kind::TailCall { callee, .. } => {
                vec![Next { to: Some(vec![entry(*callee)]), child: None, branch: true }]
            }
            Kind::Return { .. } if stack.len() > 1 => {
                let outer = &stack[..stack.len() - 1];
                let (caller, call) = outer[outer.len() - 1];
                match &self.program.functions[caller].nodes[call].kind {
                    Kind::Call { next, .. } => {
                        vec![Next { to: Some(step_to(outer, *next)), child: None, branch: true }]
                    }
                    _ => Vec::new(),
                }
            }
            Kind::Return { .. } | Kind::EndThread => vec![Next { to: None, child: None, branch: true }],
            Kind::Start { child, next } => vec![Next { child: Some(step_to(stack, *child)), ..go(*next) }],
            Kind::Wait { .. } => Vec::new(),
        }
    }

    /// Computes, for every spawn, the variables that both parent and child may still read. A
    /// variable that one of them never reads again need not equal its copy: the difference is
    /// unobservable.
    fn mark_copied(&mut self, exact: bool) {
        if self.moves.iter().all(|m| m.child.is_none()) {
            return;
        }
        let mut read: Vec<Vec<bool>> = self.spots.iter().map(|spot| self.reads(spot)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..self.spots.len()).rev() {
                let moves = self.out[at].iter().map(|&m| &self.moves[m as usize]);
                let next: Vec<u32> =
                    moves.flat_map(|m| m.to.into_iter().chain(m.child)).chain(self.spots[at].woken).collect();
                for to in next {
                    for slot in 0..read[at].len().min(read[to as usize].len()) {
                        if read[to as usize][slot] && !read[at][slot] {
                            (read[at][slot], changed) = (true, true);
                        }
                    }
                }
            }
        }
        for m in &mut self.moves {
            if let (Some(to), Some(child)) = (m.to, m.child) {
                let both = |&slot: &usize| exact || read[to as usize][slot] && read[child as usize][slot];
                m.copied = (0..self.spots[m.from as usize].width).filter(both).collect();
            }
        }
    }

    /// Returns the variables of a thread at a place that its statement reads, or that other threads
    /// may read there.
    fn reads(&self, spot: &Spot) -> Vec<bool> {
        let mut read = vec![false; spot.width];
        let mut see = |base: usize, e: &Expr<Ref>| {
            e.each_var(&mut |r| match r.name {
                Name::ThreadLocal(i) => read[i as usize] = true,
                Name::Local(i) => read[base + i as usize] = true,
                _ => {}
            });
        };
        expressions(self.node(spot)).into_iter().for_each(|e| see(spot.base, e));
        // A `return` also reads the constraints of the call.
        let mut base = self.program.thread_locals.len();
        for &(function, node) in &spot.stack {
            let f = &self.program.functions[function];
            expressions(&f.nodes[node]).into_iter().for_each(|e| see(base, e));
            base += f.variables.len();
        }
        for (reader, f) in self.program.functions.iter().enumerate() {
            let mut base = self.program.thread_locals.len();
            let mut frame = None;
            for &(function, _) in &spot.stack {
                if function == reader {
                    frame = Some(base);
                }
                base += self.program.functions[function].variables.len();
            }
            for e in f.nodes.iter().flat_map(expressions) {
                e.each_var(&mut |r| match (r.name, frame) {
                    (Name::OtherThreadLocal(i), _) => read[i as usize] = true,
                    (Name::OtherLocal(i), Some(base)) => read[base + i as usize] = true,
                    _ => {}
                });
            }
        }
        read
    }
}

fn step_to(stack: &[(usize, usize)], node: usize) -> Stack {
    let mut stack = stack.to_vec();
    if let Some(top) = stack.last_mut() {
        top.1 = node;
    }
    stack
}

/// Returns all expressions in a statement.
fn expressions(node: &Node) -> Vec<&Expr<Ref>> {
    let mut found: Vec<&Expr<Ref>> = match &node.kind {
        Kind::Assume { condition, .. } | Kind::Branch { condition, .. } | Kind::Assert { condition, .. } => {
            vec![condition]
        }
        Kind::Assign { assigns, constraints, .. } => {
            assigns.iter().map(|a| &a.1).chain(constraints).collect()
        }
        Kind::Call { arguments, constraints, .. } => arguments.iter().chain(constraints).collect(),
        Kind::TailCall { arguments, .. } => arguments.iter().collect(),
        Kind::Return { results } => results.iter().flatten().collect(),
        _ => Vec::new(),
    };
    found.extend(&node.check);
    found
}
