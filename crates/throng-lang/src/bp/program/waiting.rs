//! Waiting loops: loops in which a thread only waits for what others do.
//!
//! A *pass* of a loop goes from its head to its head. A loop is a waiting loop if every pass leaves
//! everything as it was: it assigns no shared variable, except the value that it has read from
//! there in the same step or atomic section (an exchange that finds the lock taken); it starts no
//! thread, wakes none, accesses no variables of others, asserts nothing; and the thread's own
//! variables that it assigns are not read in the next pass or after the loop. A thread at a `wait`
//! in such a loop waits there until it is woken.
//!
//! Passes are executed with three values for the thread's variables, 0, 1 and *either*, and *either*
//! for every shared one, so that the branch behind a compare-and-swap is decided by what the success
//! was stored in. Where something is not understood, the loop is not a waiting loop.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};
use throng_model::components::natural_loop;

use super::expr::{Expr, FREE, ONE, Var, ZERO, mask};
use super::{Edge, EdgeKind, Program, live};

/// Maximum number of states of a loop.
const MOST: usize = 4096;
/// Maximum number of points of a loop that are tried as its head.
const MOST_HEADS: usize = 64;

/// A loop in which a thread waits.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WaitingLoop {
    /// The point at which passes begin and end.
    pub head: u32,
    /// The points of passes that do not leave the loop, sorted; the head is one of them.
    pub points: Vec<u32>,
    /// The edges that end such a pass: they lead to the head.
    pub returns: Vec<u32>,
    /// The shared variables that such passes read, sorted.
    pub reads: Vec<u32>,
    /// The edges from points of the loop that can only be taken by leaving it.
    pub exits: Vec<u32>,
    /// The edges of such passes that put back what they have read, sorted.
    pub puts_back: Vec<u32>,
    /// The points of such passes with a `wait`, sorted.
    pub waits: Vec<u32>,
}

impl WaitingLoop {
    /// Returns whether a thread at a point may be in a pass that does not leave the loop.
    pub fn contains(&self, point: u32) -> bool {
        self.points.binary_search(&point).is_ok()
    }

    /// Returns whether passes are reads alone: they put nothing back, and never sleep.
    pub fn only_reads(&self) -> bool {
        self.puts_back.is_empty() && self.waits.is_empty()
    }

    /// Returns the conditions under which control leaves at its only exit, if passes are a single
    /// step with reads alone: `wait until …`.
    pub fn test<'p>(&self, program: &'p Program) -> Option<&'p [(Expr, bool)]> {
        match (&self.exits[..], &self.points[..]) {
            ([exit], _) if self.only_reads() => {
                let edge = &program.edges[*exit as usize];
                (edge.from == self.head).then_some(&edge.effect.guards[..])
            }
            _ => None,
        }
    }
}

/// Returns the waiting loops of a program, by head. None contains another.
pub fn waiting_loops(program: &Program) -> Vec<WaitingLoop> {
    let live = live::live_slots(program, &[]);
    let all: Vec<u32> = (0..program.points.len() as u32).collect();
    let mut found = Vec::new();
    loops(program, &live, &all, &mut found);
    found.sort_by_key(|l| l.head);
    found
}

/// A statement: function and node.
type Statement = (usize, usize);

/// The statements of loops.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// The number of the waiting loop, and that of the loop in which threads may wait.
    loops: BTreeMap<Statement, (Option<u32>, Option<u32>)>,
    /// The statements inside of those at which loops begin.
    inside: BTreeMap<Statement, FxHashSet<Statement>>,
}

impl Nodes {
    /// Returns whether there are no loops in which threads may wait.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Returns the numbers of the waiting loop that a statement belongs to, and of the loop in which
    /// threads may wait.
    pub fn loops_of(&self, place: Statement) -> (Option<u32>, Option<u32>) {
        self.loops.get(&place).copied().unwrap_or_default()
    }

    /// Returns whether a statement is another one, or inside of the loop that begins there.
    pub fn is_inside(&self, outer: Statement, place: Statement) -> bool {
        outer == place || self.inside.get(&outer).is_some_and(|inside| inside.contains(&place))
    }
}

/// Returns the statements of loops in which threads wait, or may wait, that read shared variables or
/// sleep: a loop that looks at nothing waits for nothing.
pub fn nodes(program: &Program) -> Nodes {
    let waits = |l: &WaitingLoop| !(l.reads.is_empty() && l.waits.is_empty());
    let sure: Vec<Vec<u32>> = waiting_loops(program)
        .into_iter()
        .filter(waits)
        .map(|l| [&[l.head], &l.points[..]].concat())
        .collect();
    let possible = possible_waits(program);
    let inside = inside(program, &possible);
    let (sure, possible) = (numbers(program, sure), numbers(program, possible));
    let of = |at: &Statement| (*at, (sure.get(at).copied(), possible.get(at).copied()));
    Nodes { loops: sure.keys().chain(possible.keys()).map(of).collect(), inside }
}

fn statement(program: &Program, point: u32) -> Statement {
    let point = &program.points[point as usize];
    (point.function, point.node)
}

/// Returns what is inside of the loops that begin at branches of these loops.
fn inside(program: &Program, loops: &[Vec<u32>]) -> BTreeMap<Statement, FxHashSet<Statement>> {
    let edges: Vec<Vec<usize>> =
        (0..program.points.len() as u32).map(|p| next(program, p).map(|to| to as usize).collect()).collect();
    let children = program.edges.iter().filter_map(|e| e.child);
    let entries: Vec<usize> = children.chain([program.entry]).map(|p| p as usize).collect();
    let branches = |p: &&u32| program.points[**p as usize].edges.len() > 1;
    let mut found: BTreeMap<Statement, FxHashSet<Statement>> = BTreeMap::new();
    for &header in loops.iter().flatten().filter(branches) {
        let inside = natural_loop(&edges, &entries, header as usize);
        let statements = inside.into_iter().map(|p| statement(program, p as u32));
        found.entry(statement(program, header)).or_default().extend(statements);
    }
    found
}

/// Numbers loops by their first points, the heads: the loop of a function is the same one wherever
/// the function is called.
fn numbers(program: &Program, loops: Vec<Vec<u32>>) -> BTreeMap<Statement, u32> {
    let place = |point: u32| statement(program, point);
    let mut heads: Vec<(usize, usize)> = loops.iter().map(|l| place(l[0])).collect();
    heads.sort_unstable();
    heads.dedup();
    let mut found = BTreeMap::new();
    for points in &loops {
        let number = heads.binary_search(&place(points[0])).unwrap_or(0) as u32;
        points.iter().for_each(|&p| _ = found.entry(place(p)).or_insert(number));
    }
    found
}

/// Returns the loops of which some way around may change nothing that others can tell: strongly
/// connected by edges that assign no shared variable, except one that is read in the same step or
/// atomic section, and have no other effect. What such a way does to the variables of the thread is
/// seen where it is executed.
pub fn possible_waits(program: &Program) -> Vec<Vec<u32>> {
    let read_inside: FxHashSet<u32> =
        program.points.iter().filter(|p| p.inside).flat_map(|p| p.reads.iter().copied()).collect();
    let silent = |e: &Edge| {
        let point = &program.points[e.from as usize];
        let stays = |(v, to): &(Var, Expr)| match v {
            Var::Shared(x) => {
                *to == Expr::Var(*v) || point.reads.contains(x) || point.inside && read_inside.contains(x)
            }
            _ => true,
        };
        is_plain(e) && e.effect.assigns.iter().all(stays)
    };
    let edges: Vec<Vec<usize>> = program
        .points
        .iter()
        .map(|point| {
            let edges = point.edges.iter().map(|&e| &program.edges[e as usize]).filter(|e| silent(e));
            edges.filter_map(|e| e.to).chain(point.woken).map(|to| to as usize).collect()
        })
        .collect();
    let looks = |&p: &u32| {
        let point = &program.points[p as usize];
        !point.reads.is_empty() || point.woken.is_some()
    };
    let components = throng_model::components::components(&edges).into_iter();
    let points = components.map(|all| all.into_iter().map(|p| p as u32).collect::<Vec<u32>>());
    points.filter(|all| all.iter().any(looks)).collect()
}

/// Adds the outermost waiting loops among the points `within`.
fn loops(program: &Program, live: &[Vec<bool>], within: &[u32], found: &mut Vec<WaitingLoop>) {
    for component in components(program, within) {
        // In `t := flag; while t do t := flag; od`, nothing is live before the assignment.
        let heads = component.iter().take(MOST_HEADS);
        match heads.copied().find_map(|head| waiting(program, live, head, &component)) {
            Some(waiting) => found.push(waiting),
            None => loops(program, live, &component[1..], found),
        }
    }
}

/// Returns where control may go from a point.
pub(in crate::bp) fn next(program: &Program, point: u32) -> impl Iterator<Item = u32> + '_ {
    let point = &program.points[point as usize];
    let edges = point.edges.iter().filter_map(|&e| program.edges[e as usize].to);
    edges.chain(point.woken)
}

/// Returns the strongly connected components among the points `within`, each with the point first
/// at which control enters it.
fn components(program: &Program, within: &[u32]) -> Vec<Vec<u32>> {
    let numbers: BTreeMap<u32, usize> = within.iter().enumerate().map(|(n, &p)| (p, n)).collect();
    let inside = |p: u32| numbers.get(&p).copied();
    let edges: Vec<Vec<usize>> =
        within.iter().map(|&p| next(program, p).filter_map(inside).collect()).collect();
    let heads = |all: &[usize]| {
        let enters = |&n: &usize| {
            within[n] == program.entry
                || (0..edges.len()).any(|from| !all.contains(&from) && edges[from].contains(&n))
        };
        all.iter().position(enters).unwrap_or(0)
    };
    let mut found: Vec<Vec<u32>> = Vec::new();
    for mut all in throng_model::components::components(&edges) {
        let head = heads(&all);
        all.swap(0, head);
        found.push(all.into_iter().map(|n| within[n]).collect());
    }
    found.sort_unstable();
    found
}

/// What a pass has written so far.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Wrote {
    Nothing,
    /// A constant into a shared variable whose old value is in a slot.
    Instead {
        slot: u32,
        value: u8,
        edge: u32,
    },
    Something,
}

/// Where a pass is.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    point: u32,
    /// The slots that were assigned, or of which something is known, and their possible values.
    known: BTreeMap<u32, u8>,
    assigned: BTreeMap<u32, ()>,
    /// In an atomic section: slots that hold the value of a shared variable: slot, variable.
    copies: Vec<(u32, u32)>,
    wrote: Wrote,
}

struct Passes<'p> {
    program: &'p Program,
    live: &'p [Vec<bool>],
    head: u32,
    inside: FxHashSet<u32>,
    /// Whether other threads assign to variables of threads: then these are not known.
    disturbed: bool,
    states: IndexSet<State, FxBuildHasher>,
    /// From state to state by an edge, or by being woken; the end of a pass leads to `None`.
    steps: Vec<(usize, Option<u32>, Option<usize>)>,
}

fn waiting(program: &Program, live: &[Vec<bool>], head: u32, component: &[u32]) -> Option<WaitingLoop> {
    let inside: FxHashSet<u32> = component.iter().copied().collect();
    if component.iter().any(|&p| program.points[p as usize].assertion.is_some()) {
        return None;
    }
    let others = |e: &Edge| e.effect.others.as_ref().is_some_and(|o| !o.assigns.is_empty());
    let disturbed = program.edges.iter().any(others);
    let mut passes =
        Passes { program, live, head, inside, disturbed, states: IndexSet::default(), steps: Vec::new() };
    passes.explore()?;
    passes.result()
}

impl Passes<'_> {
    /// Executes all passes. `None`: some pass is more than waiting.
    fn explore(&mut self) -> Option<()> {
        self.states.insert(State {
            point: self.head,
            known: BTreeMap::new(),
            assigned: BTreeMap::new(),
            copies: Vec::new(),
            wrote: Wrote::Nothing,
        });
        let mut at = 0;
        while let Some(state) = self.states.get_index(at).cloned() {
            let point = &self.program.points[state.point as usize];
            if let Some(to) = point.woken {
                self.arrive(at, None, State { point: to, ..state.clone() })?;
            }
            for &e in &point.edges {
                if let Some(after) = self.after(&state, e) {
                    self.arrive(at, Some(e), after)?;
                }
            }
            at += 1;
            if self.states.len() > MOST {
                return None;
            }
        }
        Some(())
    }

    fn arrive(&mut self, from: usize, by: Option<u32>, mut state: State) -> Option<()> {
        if !self.inside.contains(&state.point) {
            return Some(());
        }
        if state.point == self.head {
            self.is_as_before(&state).then(|| self.steps.push((from, by, None)))?;
            return Some(());
        }
        if !self.program.points[state.point as usize].inside {
            state.copies.clear();
        }
        let to = self.states.insert_full(state).0;
        self.steps.push((from, by, Some(to)));
        Some(())
    }

    /// Returns whether nothing that matters is different from before the pass.
    fn is_as_before(&self, state: &State) -> bool {
        let put_back = match &state.wrote {
            Wrote::Nothing => true,
            Wrote::Instead { slot, value, .. } => state.known.get(slot) == Some(value),
            Wrote::Something => false,
        };
        put_back && !state.assigned.keys().any(|&slot| self.live[self.head as usize][slot as usize])
    }

    /// Returns the state after an edge; `None` if it cannot be taken.
    fn after(&self, state: &State, number: u32) -> Option<State> {
        let edge = &self.program.edges[number as usize];
        let to = edge.to?;
        let mut after = state.clone();
        for (guard, value) in &edge.effect.guards {
            if guard.eval(&|v| look(&after, v)).can & mask(*value) == 0 {
                return None;
            }
            learn(&mut after, guard, *value);
        }
        if !is_plain(edge) {
            after.wrote = Wrote::Something;
        }
        let before = after.clone();
        for (variable, e) in &edge.effect.assigns {
            if let Var::Local(slot) = variable {
                assign(&mut after, *slot, e, &before);
            }
        }
        for (variable, e) in &edge.effect.assigns {
            if let Var::Shared(x) = variable
                && *e != Expr::Var(*variable)
            {
                after.wrote = written(&before, &after, *x, e, number);
            }
        }
        if self.disturbed {
            after.known.clear();
        }
        after.point = to;
        Some(after)
    }

    /// Returns the loop, once all passes were executed.
    fn result(self) -> Option<WaitingLoop> {
        let returning = self.returning();
        let states = || self.states.iter().zip(&returning).filter(|s| *s.1).map(|s| s.0);
        let points = sorted(states().map(|s| s.point));
        let stays = |s: &&(usize, Option<u32>, Option<usize>)| s.2.is_none_or(|to| returning[to]);
        let taken = sorted(self.steps.iter().filter(stays).filter_map(|s| s.1));
        let returns = sorted(self.steps.iter().filter(|s| s.2.is_none()).filter_map(|s| s.1));
        let mut read = Vec::new();
        for point in &points {
            read.extend_from_slice(&self.program.points[*point as usize].reads);
        }
        let of_point = |p: &u32| self.program.points[*p as usize].edges.clone();
        let all = points.iter().flat_map(of_point);
        let exits = all.filter(|e| taken.binary_search(e).is_err()).collect();
        let put = states().filter_map(|s| match s.wrote {
            Wrote::Instead { edge, .. } => Some(edge),
            _ => None,
        });
        let is_wait = |p: &u32| self.program.points[*p as usize].woken.is_some();
        let waits = points.iter().copied().filter(is_wait).collect();
        (!points.is_empty()).then(|| WaitingLoop {
            head: self.head,
            returns,
            reads: sorted(read.into_iter()),
            exits,
            puts_back: sorted(put),
            waits,
            points,
        })
    }

    /// Returns which states may come to the end of a pass.
    fn returning(&self) -> Vec<bool> {
        let mut found = vec![false; self.states.len()];
        let mut before = vec![Vec::new(); self.states.len()];
        let mut work = Vec::new();
        for &(from, _, to) in &self.steps {
            match to {
                Some(to) => before[to].push(from),
                None => work.push(from),
            }
        }
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut found[n], true) {
                work.extend(&before[n]);
            }
        }
        found
    }
}

/// Returns whether an edge does nothing beside its assignments.
fn is_plain(edge: &Edge) -> bool {
    edge.kind == EdgeKind::Plain && edge.child.is_none() && edge.effect.others.is_none()
}

fn look(state: &State, v: Var) -> u8 {
    match v {
        Var::Local(slot) => state.known.get(&slot).copied().unwrap_or(FREE),
        _ => FREE,
    }
}

/// Notes what a guard says about a variable of the thread.
fn learn(state: &mut State, guard: &Expr, value: bool) {
    match guard {
        Expr::Var(Var::Local(slot)) => _ = state.known.insert(*slot, mask(value)),
        Expr::Not(e) => learn(state, e, !value),
        Expr::And(es) if value => es.iter().for_each(|e| learn(state, e, true)),
        Expr::Or(es) if !value => es.iter().for_each(|e| learn(state, e, false)),
        _ => {}
    }
}

fn assign(state: &mut State, slot: u32, e: &Expr, before: &State) {
    state.known.insert(slot, e.eval(&|v| look(before, v)).can);
    state.assigned.insert(slot, ());
    state.copies.retain(|copy| copy.0 != slot);
    if let Expr::Var(Var::Shared(x)) = e {
        state.copies.push((slot, *x));
    }
    if matches!(state.wrote, Wrote::Instead { slot: old, .. } if old == slot) {
        state.wrote = Wrote::Something;
    }
}

/// Returns what a pass has written once it assigns a shared variable.
fn written(before: &State, after: &State, x: u32, e: &Expr, edge: u32) -> Wrote {
    let value = e.eval(&|v| look(before, v)).can;
    let copy = after.copies.iter().find(|copy| copy.1 == x);
    match (&before.wrote, copy) {
        (Wrote::Nothing, Some(&(slot, _))) if value == ZERO || value == ONE => {
            Wrote::Instead { slot, value, edge }
        }
        _ => Wrote::Something,
    }
}

fn sorted(list: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut list: Vec<u32> = list.collect();
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bp::{Options, read};

    fn found(body: &str) -> (Program, Vec<WaitingLoop>) {
        let text = format!(
            "decl lock := 0, flag := 0, turn := 0; void main() begin decl t := 0, n := 0; {body} lock := 0; flag := !flag; end"
        );
        let (jit, diagnostics) = read(&text, &Options::default());
        let program = jit.unwrap_or_else(|| panic!("{text}: {diagnostics:?}")).program().clone();
        let loops = waiting_loops(&program);
        (program, loops)
    }

    #[track_caller]
    fn waits(body: &str) -> WaitingLoop {
        let (_, loops) = found(body);
        assert_eq!(loops.len(), 1, "{body}: {loops:?}");
        let one = loops.into_iter().next().unwrap();
        assert!(one.contains(one.head), "{one:?}");
        one
    }

    #[test]
    fn loops_that_only_read_wait() {
        for body in [
            "while flag do skip; od",
            "while !flag do skip; skip; od",
            "t := flag; while t do t := flag; od t := 0;",
            "L: if flag then goto L; fi",
            "while flag do if turn then skip; fi od",
            "while !(flag = turn) do n := turn; od",
            "while !(t = flag) do t := flag; od lock := t;",
        ] {
            let one = waits(body);
            assert!(one.only_reads() && !one.exits.is_empty(), "{body}: {one:?}");
        }
        let (program, loops) = found("while flag do skip; od");
        let test = loops[0].test(&program).map(<[_]>::len);
        assert_eq!(test, Some(1), "{loops:?}");
    }

    #[test]
    fn an_exchange_that_finds_what_it_puts_waits() {
        for body in [
            "t := 1; while t do t, lock := lock, 1; od",
            "t := 1; while t do atomic { t := lock; lock := 1; } od",
            "t := 1; while t do atomic { t := lock; if !t then lock := 1; fi } od",
        ] {
            waits(body);
        }
        for body in [
            "t := 1; while t do t, lock := lock, 0; od",
            "t := 1; while t do t := lock; lock := 1; od",
            "t := 1; while t do t, lock := flag, 1; od",
        ] {
            assert_eq!(found(body).1, [], "{body}");
        }
    }

    #[test]
    fn what_a_loop_does_makes_it_more_than_a_wait() {
        for body in [
            "while flag do turn := 1; od",
            "while flag do n := !n; od turn := n;",
            "while flag do assert(turn); od",
            "while flag do start_thread goto E; E: skip; od",
            "while flag do signal; od",
            "while * do lock := 1 constrain !lock; lock := 0; od",
        ] {
            assert_eq!(found(body).1, [], "{body}");
        }
    }

    #[test]
    fn some_way_around_may_change_nothing() {
        for (body, waits) in [
            ("while flag do t := !t; od turn := t;", true),
            ("while flag do if turn then turn := 0; fi od", true),
            ("while flag do if t then turn := 0; fi od", true),
            ("t := 1; while t do t, lock := lock, !turn; od", true),
            ("while !flag do wait; od", true),
            ("while flag do turn := 1; od", false),
            ("while t do t := !t; od", false),
            ("while flag do signal; od", false),
        ] {
            let loops = possible_waits(&found(body).0);
            assert_eq!(!loops.is_empty(), waits, "{body}: {loops:?}");
        }
    }

    #[test]
    fn a_thread_may_sleep_in_a_loop() {
        let one = waits("while !flag do wait; od");
        assert!(!one.waits.is_empty() && !one.only_reads(), "{one:?}");
    }
}
