//! A run for the page, in a compact form in which thousands of steps take a few hundred kilobytes:
//! every state and statement is stored once and referred to by number, and a step contains only its
//! changes, with the old value beside the new one, so that the page can step backward as well as
//! forward.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde::Serialize;

use super::super::story::{self, Culprit, Lasso, State, one_line};
use throng_model::problem::{Problem, Target};
use throng_model::thread_names::{Change, Role, ThreadId, ThreadNames};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Bag, Config, Edge, Local, Model};

/// A run into a target.
#[derive(Serialize)]
pub(super) struct Run {
    /// Maximum number of threads at a time.
    threads: u32,
    /// True if threads have names. If there are very many, only counts are shown.
    named: bool,
    /// Names of the shared variables.
    variables: Vec<String>,
    /// Their values at the start.
    shared: Vec<String>,
    states: Vec<State>,
    statements: Vec<Statement>,
    /// The initial state of each thread: thread, state.
    start: Vec<(u32, usize)>,
    /// If threads have no names: state, count.
    counts: Vec<(usize, u32)>,
    steps: Vec<Step>,
    /// The first of the steps that are repeated for ever, if the run goes around.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
    violation: Vec<Culprit>,
}

#[derive(Serialize)]
struct Statement {
    line: u32,
    text: String,
    /// Where control goes, if it could go elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    goes: Option<String>,
    function: String,
    labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
}

#[derive(Serialize)]
struct Step {
    /// The statement.
    e: usize,
    /// The acting thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<u32>,
    /// The changed shared variables: number, before, after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    s: Vec<(usize, String, String)>,
    /// The threads that take part: thread, role, state before, state after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    m: Vec<(u32, Role, Option<usize>, Option<usize>)>,
    /// The accesses: variable, value, `read` or `write`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    a: Vec<story::Access>,
    /// If threads have no names: state, count before, count after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    c: Vec<(usize, u32, u32)>,
}

/// Distinct values, each with a number.
struct Once<K> {
    numbers: HashMap<K, usize>,
    list: Vec<K>,
}

impl<K: Copy + Eq + Hash> Once<K> {
    fn new() -> Once<K> {
        Once { numbers: HashMap::new(), list: Vec::new() }
    }

    fn number(&mut self, key: K) -> usize {
        let next = self.list.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.list.push(key);
        }
        number
    }
}

/// The shared variables of a run, by name: allocated memory is added later, and may be freed at the
/// end.
struct Variables {
    names: Vec<String>,
    now: Vec<String>,
}

/// The displayed value of a variable that does not exist.
const NOT_THERE: &str = "–";

impl Variables {
    fn new(values: &[(String, String)]) -> Variables {
        let (names, now) = values.iter().cloned().unzip();
        Variables { names, now }
    }

    /// Updates the values. Returns the changed ones: number, before, after.
    fn change(&mut self, values: &[(String, String)]) -> Vec<(usize, String, String)> {
        let mut changed = Vec::new();
        let mut there = vec![false; self.names.len()];
        for (k, (name, value)) in values.iter().enumerate() {
            let same = self.names.get(k).filter(|n| *n == name).map(|_| k);
            let known = same.or_else(|| self.names.iter().position(|n| n == name));
            let i = known.unwrap_or_else(|| {
                self.names.push(name.clone());
                self.now.push(NOT_THERE.into());
                self.names.len() - 1
            });
            there.get_mut(i).into_iter().for_each(|t| *t = true);
            self.set(i, value, &mut changed);
        }
        // Freed memory has no value; if nothing is known at all, the last values stay.
        let gone = there.iter().enumerate().filter(|(_, there)| !**there && !values.is_empty());
        gone.for_each(|(i, _)| self.set(i, NOT_THERE, &mut changed));
        changed
    }

    fn set(&mut self, i: usize, value: &str, changed: &mut Vec<(usize, String, String)>) {
        if self.now[i] != value {
            changed.push((i, std::mem::replace(&mut self.now[i], value.into()), value.into()));
        }
    }

    /// Returns the initial values of all variables.
    fn at_start(&self, mut values: Vec<String>) -> Vec<String> {
        values.resize(self.names.len(), NOT_THERE.into());
        values
    }
}

/// Returns the run of a trace.
pub(super) fn run(problem: &Problem, target: &Target, trace: &Trace) -> Run {
    let model = &*problem.model;
    let mut states = Once::new();
    let mut edges = Once::new();
    let mut variables = Variables::new(&model.shared_values(trace.start.shared));
    let shared = variables.now.clone();
    let mut lasso = Lasso::of(model, target, trace);
    let named = name(problem, trace, &mut lasso);
    let mut steps = Vec::with_capacity(trace.steps.len());
    let start: Vec<(u32, usize)> =
        named.iter().flat_map(|t| &t.start).map(|&(t, l)| (t.0, states.number(l))).collect();
    let count = |&(l, n): &(Local, u32), states: &mut Once<Local>| (states.number(l), n);
    let counts = match &named {
        Some(_) => Vec::new(),
        None => trace.start.threads.entries().iter().map(|e| count(e, &mut states)).collect(),
    };
    let mut before = &trace.start;
    for (i, taken) in trace.steps.iter().enumerate() {
        let changes = named.as_ref().map(|t| &t.changes[i][..]);
        let changed = match before.shared == taken.after.shared {
            true => Vec::new(),
            false => variables.change(&model.shared_values(taken.after.shared)),
        };
        steps.push(Step { s: changed, ..step(model, before, taken, changes, &mut states, &mut edges) });
        before = &taken.after;
    }
    let names = named.as_ref().map(|t| &t.end);
    let mut violation = story::violation(model, target, trace, names).threads;
    if let Some(culprit) = lasso.culprit(model) {
        violation = vec![culprit];
    }
    if violation.is_empty() {
        let actor = |i: usize| steps[i].t.map(ThreadId);
        violation = story::culprits(model, trace, actor);
    }
    Run {
        threads: trace.threads(),
        named: named.is_some(),
        shared: variables.at_start(shared),
        variables: variables.names,
        states: states.list.iter().map(|&l| story::state(model, l)).collect(),
        statements: edges.list.iter().map(|&e| statement(model, e)).collect(),
        start,
        counts,
        steps,
        repeats: lasso.repeats_from(),
        violation,
    }
}

/// The roles and positions of named threads.
struct Named {
    start: Vec<(ThreadId, Local)>,
    changes: Vec<Vec<Change>>,
    end: ThreadNames,
}

/// Returns names for all threads; `None` if there are too many.
fn name(problem: &Problem, trace: &Trace, lasso: &mut Lasso) -> Option<Named> {
    let mut names = ThreadNames::new(&trace.start.threads)?;
    let start = names.threads();
    let mut step = |(i, taken): (usize, &Taken)| {
        lasso.before(i, &mut names);
        names.step(&*problem.model, &taken.step, &taken.after, problem.bound.threads())
    };
    let changes = trace.steps.iter().enumerate().map(&mut step).collect::<Option<Vec<_>>>()?;
    Some(Named { start, changes, end: names })
}

fn step(
    model: &dyn Model,
    before: &Config,
    taken: &Taken,
    changes: Option<&[Change]>,
    states: &mut Once<Local>,
    edges: &mut Once<Edge>,
) -> Step {
    let number = |l: Option<Local>, states: &mut Once<Local>| l.map(|l| states.number(l));
    let m: Vec<_> = changes
        .unwrap_or_default()
        .iter()
        .map(|c| (c.thread.0, c.role, number(c.before, states), number(c.after, states)))
        .collect();
    let c =
        if changes.is_some() { Vec::new() } else { recount(&before.threads, &taken.after.threads, states) };
    let t = m.first().filter(|m| m.1 == Role::Acts).map(|m| m.0);
    let a = story::accesses(model, &taken.step);
    Step { e: edges.number(taken.step.edge), t, s: Vec::new(), m, a, c }
}

/// Returns the states whose counts differ.
fn recount(before: &Bag, after: &Bag, states: &mut Once<Local>) -> Vec<(usize, u32, u32)> {
    let mut counts: BTreeMap<Local, (u32, u32)> = BTreeMap::new();
    before.entries().iter().for_each(|&(l, n)| counts.entry(l).or_default().0 = n);
    after.entries().iter().for_each(|&(l, n)| counts.entry(l).or_default().1 = n);
    let differ = counts.into_iter().filter(|(_, (a, b))| a != b);
    differ.map(|(l, (a, b))| (states.number(l), a, b)).collect()
}

fn statement(model: &dyn Model, edge: Edge) -> Statement {
    let place = model.edge_place(edge);
    Statement {
        line: place.line,
        text: one_line(&place.text),
        goes: model.way(edge),
        function: story::call_stack(&place.function, &place.calls),
        labels: place.labels,
        origin: place.origin,
    }
}
