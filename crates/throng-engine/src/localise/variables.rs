//! The choice of variables to keep: those of the property, the locks around the variables they
//! depend on, and then more of these variables.
//!
//! The choice need not be correct: any set of variables gives a sound model, and a bad choice only
//! a useless one.

use std::collections::BTreeSet;

use throng_lang::bp::program::expr::{Expr, FREE, Var};
use throng_lang::bp::program::{BystanderEffect, Coded, Edge, Program};
use throng_model::Config;

/// A variable of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Variable {
    Shared(u32),
    /// A thread-local variable by its slot, which is the same for every caller.
    ThreadLocal(u32),
    /// A local variable: its function and its index among the function's variables.
    Local(usize, usize),
}

pub(super) type Variables = BTreeSet<Variable>;

/// Returns the variable in a slot of a thread at a point; `None` if no frame uses it.
pub(super) fn in_slot(program: &Program, point: u32, slot: usize) -> Option<Variable> {
    if slot < program.thread_locals.len() {
        return Some(Variable::ThreadLocal(slot as u32));
    }
    let mut at = Some(program.points[point as usize].instance);
    while let Some(i) = at {
        let instance = &program.instances[i];
        if slot >= instance.base {
            let found = slot - instance.base;
            let fits = found < program.functions[instance.function].variables.len();
            return fits.then_some(Variable::Local(instance.function, found));
        }
        at = instance.caller.map(|c| c.0);
    }
    None
}

/// Returns the variable that an edge assigns; `None` if its slot is not in use afterwards.
fn assigned(program: &Program, edge: &Edge, v: &Var) -> Option<Variable> {
    match *v {
        Var::Shared(i) => Some(Variable::Shared(i)),
        Var::Local(slot) => in_slot(program, edge.to.unwrap_or(edge.from), slot as usize),
        Var::New(_) | Var::Other(_) | Var::OtherNew(_) => None,
    }
}

/// Returns a variable of a bystander, by its index in the view.
fn other(program: &Program, others: &BystanderEffect, i: usize) -> Variable {
    match i.checked_sub(program.thread_locals.len()) {
        None => Variable::ThreadLocal(i as u32),
        Some(i) => Variable::Local(others.function, i),
    }
}

/// Returns the variable that an expression of an edge mentions.
pub(super) fn variable(program: &Program, edge: &Edge, v: &Var) -> Option<Variable> {
    let others = edge.effect.others.as_deref();
    match *v {
        Var::Shared(i) => Some(Variable::Shared(i)),
        Var::Local(slot) => in_slot(program, edge.from, slot as usize),
        Var::New(i) => assigned(program, edge, &edge.effect.assigns.get(i as usize)?.0),
        Var::Other(i) => Some(other(program, others?, i as usize)),
        Var::OtherNew(i) => Some(other(program, others?, others?.assigns.get(i as usize)?.0 as usize)),
    }
}

/// Maximum number of open variables that one statement may read.
const MOST_OPEN: usize = 10;

/// The variables that an edge reads and writes.
#[derive(Clone, Default, Debug)]
pub(super) struct Access {
    /// Variables of its condition and of its constraints.
    pub(super) tests: Vec<Variable>,
    /// Each variable that it assigns, in the order of the effect, with the variables that the value
    /// depends on; then those of bystanders. `None`: the slot is no longer in use.
    pub(super) assigns: Vec<(Option<Variable>, Vec<Variable>)>,
    /// Locks that it takes: it tests them and sets them to a constant.
    takes: Vec<u32>,
}

impl Access {
    fn new(program: &Program, edge: &Edge) -> Access {
        let effect = &edge.effect;
        let target = |v: &Var| assigned(program, edge, v);
        let read = |e: &Expr| {
            let mut found = Vec::new();
            e.each_var(&mut |v| found.extend(variable(program, edge, v)));
            found
        };
        let guards = effect.guards.iter().map(|(e, _)| e);
        let mut access = Access {
            tests: guards.chain(&effect.constraints).flat_map(read).collect(),
            assigns: effect.assigns.iter().map(|(v, e)| (target(v), read(e))).collect(),
            takes: Vec::new(),
        };
        if let Some(others) = &effect.others {
            let guards = others.guards.iter().map(|(e, _)| e);
            access.tests.extend(guards.chain(&others.constraints).flat_map(read));
            let theirs = |i: u32| other(program, others, i as usize);
            access.assigns.extend(others.assigns.iter().map(|(i, e)| (Some(theirs(*i)), read(e))));
        }
        let tested = |v: &Var| target(v).is_some_and(|v| access.tests.contains(&v));
        access.takes = effect
            .assigns
            .iter()
            .filter(|(v, e)| matches!(e, Expr::Const(_)) && tested(v))
            .filter_map(|(v, _)| if let Var::Shared(i) = v { Some(*i) } else { None })
            .collect();
        access
    }

    /// Returns whether it tests or changes one of these.
    pub(super) fn touches(&self, kept: &Variables) -> bool {
        self.tests.iter().any(|v| kept.contains(v)) || self.changes(kept)
    }

    /// Returns whether it assigns one of these.
    fn changes(&self, kept: &Variables) -> bool {
        self.assigns.iter().any(|(v, _)| v.is_some_and(|v| kept.contains(&v)))
    }
}

/// The dependences between the variables of a program.
pub(super) struct Dependences<'a> {
    pub(super) program: &'a Program,
    /// The accesses of each edge.
    pub(super) accesses: Vec<Access>,
    /// For each point, the locks that a thread holds there on every path to it.
    held: Vec<BTreeSet<u32>>,
}

impl<'a> Dependences<'a> {
    pub(super) fn new(program: &'a Program) -> Dependences<'a> {
        let accesses: Vec<Access> = program.edges.iter().map(|edge| Access::new(program, edge)).collect();
        let held = held(program, &accesses);
        Dependences { program, accesses, held }
    }

    /// Returns the variables that a bad configuration mentions.
    pub(super) fn of_property(&self, states: &dyn Coded, bad: &Config) -> Variables {
        let (_, masks) = states.shared_cube(bad.shared);
        let known = (0..).zip(&masks).filter(|(_, m)| **m != FREE);
        let mut kept: Variables = known.map(|(i, _)| Variable::Shared(i)).collect();
        for &(l, _) in bad.threads.entries() {
            let (point, masks) = states.local_cube(l);
            if point as usize == self.program.points.len() {
                continue;
            }
            let known = (0..self.program.used_slots(point)).filter(|&slot| masks[slot] != FREE);
            kept.extend(known.filter_map(|slot| in_slot(self.program, point, slot)));
        }
        kept
    }

    /// Returns the locks that are held wherever one of these variables is used and at these points;
    /// if there are none, those that are held anywhere there.
    pub(super) fn locks(&self, kept: &Variables, points: &[u32]) -> Vec<Variable> {
        let uses = self.program.edges.iter().zip(&self.accesses).filter(|(_, access)| access.touches(kept));
        let places: Vec<u32> = uses.map(|(edge, _)| edge.from).chain(points.iter().copied()).collect();
        let each = || places.iter().map(|&p| &self.held[p as usize]);
        let Some(first) = each().next() else { return Vec::new() };
        let mut common = first.clone();
        each().for_each(|held| common.retain(|lock| held.contains(lock)));
        if common.is_empty() {
            common = each().flatten().copied().collect();
        }
        common.into_iter().map(Variable::Shared).collect()
    }

    /// Returns whether a statement reads many open variables: it then has too many cases to list,
    /// and a model that has once given up on a statement proves nothing any more, with any engine.
    pub(super) fn is_too_wide(&self, kept: &Variables) -> bool {
        self.accesses.iter().any(|access| {
            let reads = access.tests.iter().chain(access.assigns.iter().flat_map(|a| &a.1));
            let mut open: Vec<&Variable> = reads.filter(|v| !kept.contains(v)).collect();
            open.sort_unstable();
            open.dedup();
            open.len() > MOST_OPEN
        })
    }

    /// Returns more variables: those that the values of the kept ones depend on; if these are not
    /// new, those of the conditions on the way, and finally those of all conditions. `None` if
    /// there are no more.
    pub(super) fn grown(&self, kept: &Variables) -> Option<Variables> {
        let mut more = kept.clone();
        for access in &self.accesses {
            for (v, read) in &access.assigns {
                if v.is_some_and(|v| kept.contains(&v)) {
                    more.extend(read);
                }
            }
            if access.touches(kept) {
                more.extend(&access.tests);
            }
        }
        if more.len() == kept.len() {
            more.extend(self.locks(kept, &[]));
        }
        if more.len() == kept.len() {
            let instance = |edge: &Edge| self.program.points[edge.from as usize].instance;
            let edges = || self.program.edges.iter().zip(&self.accesses);
            let inside: BTreeSet<usize> =
                edges().filter(|e| e.1.changes(kept)).map(|e| instance(e.0)).collect();
            edges().filter(|e| inside.contains(&instance(e.0))).for_each(|e| more.extend(&e.1.tests));
        }
        if more.len() == kept.len() {
            self.accesses.iter().for_each(|access| more.extend(&access.tests));
        }
        (more.len() > kept.len()).then_some(more)
    }
}

/// Returns for each point the locks that are held there on every path to it: the usual forward
/// fixpoint.
fn held(program: &Program, accesses: &[Access]) -> Vec<BTreeSet<u32>> {
    let mut found: Vec<Option<BTreeSet<u32>>> = vec![None; program.points.len()];
    let mut todo = vec![(program.entry, BTreeSet::new())];
    while let Some((point, arrived)) = todo.pop() {
        let now = match &found[point as usize] {
            None => arrived,
            Some(known) => known.intersection(&arrived).copied().collect(),
        };
        if found[point as usize].as_ref() == Some(&now) {
            continue;
        }
        let at = &program.points[point as usize];
        for &id in &at.edges {
            let (edge, access) = (&program.edges[id as usize], &accesses[id as usize]);
            let mut after = now.clone();
            for (v, _) in &access.assigns {
                if let Some(Variable::Shared(i)) = v {
                    after.remove(i);
                }
            }
            after.extend(&access.takes);
            todo.extend(edge.to.map(|to| (to, after)));
            todo.extend(edge.child.map(|child| (child, BTreeSet::new())));
        }
        todo.extend(at.woken.map(|woken| (woken, now.clone())));
        found[point as usize] = Some(now);
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}
