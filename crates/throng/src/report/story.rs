//! A run described for people: which thread executes which line, and what changes. Text and JSON
//! are two formats of a [`Story`].

use serde::{Serialize, Serializer};

use throng_model::deadlock::may_be_stuck;
use throng_model::problem::{Problem, Target};
use throng_model::starvation::{Around, around};
use throng_model::thread_names::{Change, Role, ThreadId, ThreadNames, assign};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Accessed, Bystanders, Config, Edge, Incomplete, Local, Model, Place, Shared, Step};

/// Names and values, in order; a map in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Values(pub Vec<(String, String)>);

impl Values {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A run that violates a target.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// Maximum number of threads at a time.
    pub threads: u32,
    /// The number of steps.
    pub length: usize,
    /// The initial configuration.
    pub start: Situation,
    /// The steps.
    pub steps: Vec<Event>,
    /// The number of steps in the middle that are left out, if the run is too long to be read.
    #[serde(skip_serializing_if = "is_none")]
    pub omitted: usize,
    /// The first of the steps that are repeated for ever, if the run goes around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats_from: Option<usize>,
    /// The violation at the end.
    pub violation: Violation,
}

fn is_none(n: &usize) -> bool {
    *n == 0
}

/// The shared variables and all threads between two steps.
#[derive(Clone, Debug, Serialize)]
pub struct Situation {
    /// Shared variables.
    pub shared: Values,
    /// The bits of values that combine several.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub shared_bits: Values,
    /// The number of threads in each local state.
    pub counts: Vec<Count>,
}

/// The threads in one local state.
#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// The number of threads.
    pub count: u32,
    /// Their names; empty if there are too many threads to name.
    pub threads: Vec<ThreadId>,
    /// Their state.
    #[serde(flatten)]
    pub state: State,
}

/// The state of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct State {
    /// A name for the whole state.
    pub name: String,
    /// Its line, if the input has lines.
    pub line: Option<u32>,
    /// Its column.
    pub column: Option<u32>,
    /// The statement at this position.
    pub statement: Option<String>,
    /// The enclosing function.
    pub function: Option<String>,
    /// The position of the statement in the C program.
    pub origin: Option<String>,
    /// Its local variables.
    pub locals: Values,
    /// The bits of values that combine several.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub bits: Values,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// Its number, from 1.
    pub step: usize,
    /// The number of times that it is taken in a row, if more than once; the values after it are
    /// those after the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
    /// The active thread; `None` if there is none, or if there are too many threads to name.
    pub thread: Option<ThreadId>,
    /// Line of the statement; 0 if unknown.
    pub line: u32,
    /// Its column; 0 if unknown.
    pub column: u32,
    /// The statement, on one line.
    pub statement: String,
    /// Where control goes, if the statement has several successors: `line 12`.
    pub goes_to: Option<String>,
    /// The enclosing function.
    pub function: String,
    /// The line of the call in each of its callers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<u32>,
    /// Labels on it.
    pub labels: Vec<String>,
    /// The position in the C program.
    pub origin: Option<String>,
    /// Its reads and writes, in order, where known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<Access>,
    /// Shared variables before.
    pub shared_before: Values,
    /// Shared variables after.
    pub shared_after: Values,
    /// The bits after the step of values that combine several.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub shared_bits: Values,
    /// The changes of shared and local variables.
    pub changes: Vec<Difference>,
    /// The threads that took part: the acting ones first, then those created, woken or moved.
    pub participants: Vec<Participant>,
}

impl Event {
    /// Returns whether it only advances one thread: no variable changes, and no other thread is
    /// affected.
    pub fn is_silent(&self) -> bool {
        let moves = |p: &Participant| p.role == Role::Acts && p.after.is_some();
        self.changes.is_empty() && self.participants.len() == 1 && self.participants.iter().all(moves)
    }
}

/// Groups steps that are shown as one: consecutive silent ones of one thread and the same C
/// statement.
pub fn folded(steps: &[Event]) -> impl Iterator<Item = &[Event]> {
    steps.chunk_by(|a, b| a.is_silent() && b.is_silent() && a.thread == b.thread && a.origin == b.origin)
}

/// A read or a write of a step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Access {
    /// The name of the variable.
    pub variable: String,
    /// The value that was read or written.
    pub value: String,
    /// `read` or `write`.
    pub kind: &'static str,
}

/// Returns the reads and writes of a step.
pub fn accesses(model: &dyn Model, step: &Step) -> Vec<Access> {
    let access = |a: Accessed| Access {
        variable: a.variable,
        value: a.value,
        kind: if a.writes { "write" } else { "read" },
    };
    model.accesses(step).into_iter().map(access).collect()
}

/// Formats the function of a step with its callers, and the line of each call: `main:12 > f`.
pub fn call_stack(function: &str, calls: &[u32]) -> String {
    let mut lines = calls.iter().filter(|&&line| line > 0);
    let name = |name: &str| lines.next().map_or_else(|| name.to_string(), |line| format!("{name}:{line}"));
    function.split(" > ").map(name).collect::<Vec<_>>().join(" > ")
}

/// A variable that changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// The thread of the variable; `None` for shared ones.
    pub thread: Option<ThreadId>,
    /// Its name.
    pub variable: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
}

/// The effect of a step on one thread.
#[derive(Clone, Debug, Serialize)]
pub struct Participant {
    /// The thread.
    pub thread: ThreadId,
    /// Its role.
    pub role: Role,
    /// Its state before, if it existed.
    pub before: Option<State>,
    /// Its state after, if it still exists.
    pub after: Option<State>,
}

impl Story {
    /// Returns the steps that lead to what is repeated, and those that are repeated for ever.
    pub fn stem_and_loop(&self) -> (&[Event], &[Event]) {
        let stem = self.repeats_from.map_or(self.steps.len(), |first| first - 1);
        self.steps.split_at(stem.min(self.steps.len()))
    }

    /// Returns whether a step is repeated for ever.
    pub fn is_repeated(&self, event: &Event) -> bool {
        self.repeats_from.is_some_and(|first| event.step >= first)
    }

    /// Says which steps are repeated for ever, if the run goes around.
    pub fn for_ever(&self) -> Option<String> {
        let (first, last) = (self.repeats_from?, self.length);
        let steps = match first == last {
            true => format!("step {first} is"),
            false => format!("steps {first} to {last} are"),
        };
        Some(format!("stays there while {steps} repeated for ever"))
    }
}

/// The violation at the end of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    /// The target.
    pub target: String,
    /// The threads that cause it, with their states. Empty if the shared state alone does.
    pub threads: Vec<Culprit>,
    /// The shared variables at the end.
    pub shared: Values,
}

/// A thread in a forbidden state.
#[derive(Clone, Debug, Serialize)]
pub struct Culprit {
    /// The thread.
    pub thread: ThreadId,
    /// The forbidden action, unless the state itself is forbidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does: Option<String>,
    /// If it waits for ever: the last step after which a thread in its state could have gone on; 0
    /// for the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_chance: Option<usize>,
    /// Its state.
    #[serde(flatten)]
    pub state: State,
}

/// Number of steps above which a run is abbreviated: repeated steps are one event, threads have no
/// names, and only a number of events is kept.
const LONG: usize = 10_000;

/// Describes a trace.
pub fn describe_run(problem: &Problem, target: &Target, trace: &Trace) -> Story {
    let model = &*problem.model;
    if trace.steps.len() > LONG {
        return describe_abbreviated(model, target, trace);
    }
    let mut names = ThreadNames::new(&trace.start.threads);
    let start = situation(model, &trace.start, names.as_ref());
    let mut shared = trace.start.shared;
    let mut steps = Vec::new();
    let mut lasso = Lasso::of(model, target, trace);
    for (i, taken) in trace.steps.iter().enumerate() {
        names.iter_mut().for_each(|names| lasso.before(i, names));
        let changes =
            names.as_mut().and_then(|c| c.step(model, &taken.step, &taken.after, problem.bound.threads()));
        if changes.is_none() {
            names = None;
        }
        steps.push(event(model, i + 1, shared, taken, &changes.unwrap_or_default()));
        shared = taken.after.shared;
    }
    let mut violation = violation(model, target, trace, names.as_ref());
    if let Some(culprit) = lasso.culprit(model) {
        violation.threads = vec![culprit];
    }
    let repeats_from = lasso.repeats_from();
    if violation.threads.is_empty() {
        let actor = |i: usize| steps[i].thread;
        violation.threads = culprits(model, trace, actor);
    }
    let (threads, length) = (trace.threads(), steps.len());
    Story { threads, length, start, steps, omitted: 0, repeats_from, violation }
}

/// The part of a run that is repeated for ever, and the thread that stays meanwhile.
pub(super) struct Lasso {
    around: Option<Around>,
    thread: Option<ThreadId>,
}

impl Lasso {
    pub(super) fn of(model: &dyn Model, target: &Target, trace: &Trace) -> Lasso {
        let around = target.is_starvation().then(|| around(model, target, trace)).flatten();
        Lasso { around, thread: None }
    }

    /// Says of step `i`, which comes next, whether the thread that stays takes it.
    pub(super) fn before(&mut self, i: usize, names: &mut ThreadNames) {
        let Some(around) = &self.around else { return };
        let Some(&moves) = i.checked_sub(around.from).and_then(|k| around.moves.get(k)) else { return };
        self.thread = self.thread.or_else(|| names.at(around.stays).last());
        self.thread.into_iter().for_each(|thread| names.says(thread, moves));
    }

    /// Returns the thread that stays, where it is when the repetition begins.
    pub(super) fn culprit(&self, model: &dyn Model) -> Option<Culprit> {
        let (around, thread) = (self.around.as_ref()?, self.thread?);
        Some(Culprit { thread, does: None, last_chance: None, state: state(model, around.stays) })
    }

    /// Returns the number of the first step that is repeated.
    pub(super) fn repeats_from(&self) -> Option<usize> {
        Some(self.around.as_ref()?.from + 1)
    }
}

/// Describes a trace that is too long to be read.
fn describe_abbreviated(model: &dyn Model, target: &Target, trace: &Trace) -> Story {
    let again = |a: &Taken, b: &Taken| {
        a.step.edge == b.step.edge && b.step.from == b.step.to && a.after.shared == b.after.shared
    };
    let repeated: Vec<&[Taken]> = trace.steps.chunk_by(again).collect();
    let left_out = LONG / 2..repeated.len().saturating_sub(LONG / 2).max(LONG / 2);
    let (mut steps, mut omitted, mut number, mut shared) = (Vec::new(), 0, 1, trace.start.shared);
    for (i, &taken) in repeated.iter().enumerate() {
        if left_out.contains(&i) {
            omitted += taken.len();
        } else if let Some(last) = taken.last() {
            let times = Some(taken.len()).filter(|&n| n > 1);
            steps.push(Event { times, ..event(model, number, shared, last, &[]) });
        }
        number += taken.len();
        shared = taken.last().map_or(shared, |last| last.after.shared);
    }
    let start = situation(model, &trace.start, None);
    let violation = violation(model, target, trace, None);
    let (threads, length) = (trace.threads(), trace.steps.len());
    Story { threads, length, start, steps, omitted, repeats_from: None, violation }
}

/// Describes one step.
pub fn event(model: &dyn Model, number: usize, from: Shared, taken: &Taken, changes: &[Change]) -> Event {
    let place = model.edge_place(taken.step.edge);
    let before = Values(model.shared_values(from));
    let after = Values(model.shared_values(taken.after.shared));
    let mut differences = differences(None, &before, &after);
    for change in changes {
        if let (Some(b), Some(a)) = (change.before, change.after) {
            let (b, a) = (Values(model.local_values(b)), Values(model.local_values(a)));
            differences.extend(self::differences(Some(change.thread), &b, &a));
        }
    }
    Event {
        step: number,
        times: None,
        thread: changes.first().filter(|c| c.role == Role::Acts).map(|c| c.thread),
        line: place.line,
        column: place.column,
        statement: one_line(&place.text),
        goes_to: model.way(taken.step.edge),
        function: place.function,
        calls: place.calls,
        labels: place.labels,
        origin: place.origin,
        accesses: accesses(model, &taken.step),
        shared_before: before,
        shared_after: after,
        shared_bits: Values(model.shared_bits(taken.after.shared)),
        changes: differences,
        participants: changes.iter().map(|c| participant(model, c)).collect(),
    }
}

/// Describes the state of one thread.
pub fn state(model: &dyn Model, l: Local) -> State {
    let place: Option<Place> = model.place(l);
    State {
        name: model.local_name(l),
        line: place.as_ref().map(|p| p.line),
        column: place.as_ref().map(|p| p.column),
        origin: place.as_ref().and_then(|p| p.origin.clone()),
        statement: place.as_ref().map(|p| one_line(&p.text)),
        function: place.map(|p| p.function).filter(|f| !f.is_empty()),
        locals: Values(model.local_values(l)),
        bits: Values(model.local_bits(l)),
    }
}

/// Describes a configuration: the shared variables and the threads.
pub fn situation(model: &dyn Model, config: &Config, names: Option<&ThreadNames>) -> Situation {
    let count = |&(l, count): &(Local, u32)| Count {
        count,
        threads: names.map_or_else(Vec::new, |c| c.at(l).collect()),
        state: state(model, l),
    };
    Situation {
        shared: Values(model.shared_values(config.shared)),
        shared_bits: Values(model.shared_bits(config.shared)),
        counts: config.threads.entries().iter().map(count).collect(),
    }
}

/// Returns text on one line, with single blanks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn participant(model: &dyn Model, change: &Change) -> Participant {
    Participant {
        thread: change.thread,
        role: change.role,
        before: change.before.map(|l| state(model, l)),
        after: change.after.map(|l| state(model, l)),
    }
}

/// Returns the variables that both have, with different values.
fn differences(thread: Option<ThreadId>, before: &Values, after: &Values) -> Vec<Difference> {
    let value_before = |name: &String| before.0.iter().find(|b| b.0 == *name).map(|b| b.1.clone());
    let changed = after.0.iter().filter_map(|(name, value)| {
        let old = value_before(name)?;
        (old != *value).then(|| Difference {
            thread,
            variable: name.clone(),
            before: old,
            after: value.clone(),
        })
    });
    changed.collect()
}

/// Returns the threads that the last steps of a run make responsible, if the last configuration
/// does not show it: one, or two that race.
pub(super) fn culprits(
    model: &dyn Model,
    trace: &Trace,
    actor: impl Fn(usize) -> Option<ThreadId>,
) -> Vec<Culprit> {
    let last = trace.steps.len().saturating_sub(2)..trace.steps.len();
    let culprit = |i: usize| {
        let step = &trace.steps[i].step;
        let does = model.blame(step)?;
        let after = step.put.entries().first().map(|e| e.0);
        let state = state_at(model, step.edge, after);
        Some(Culprit { thread: actor(i)?, does: Some(does), last_chance: None, state })
    };
    last.filter_map(culprit).collect()
}

/// Returns the state of a thread that executes, or is about to execute, the statement of an edge.
fn state_at(model: &dyn Model, edge: Edge, l: Option<Local>) -> State {
    let place = model.edge_place(edge);
    State {
        name: l.map_or_else(String::new, |l| model.local_name(l)),
        line: Some(place.line),
        column: Some(place.column),
        origin: place.origin,
        statement: Some(one_line(&place.text)),
        function: Some(place.function).filter(|f| !f.is_empty()),
        locals: Values(l.map_or_else(Vec::new, |l| model.local_values(l))),
        bits: Values::default(),
    }
}

fn waits_at_the_end(model: &dyn Model, end: &Config, l: Local) -> bool {
    !model.has_ended(l) && may_be_stuck(model, end.shared, l).is_ok_and(|stuck| stuck)
}

/// Returns the number of the last step after which a thread that waits at `l` for ever could have
/// gone on, if it had been there: it could move, or the step would have woken it. 0: the start.
fn last_chance(model: &dyn Model, trace: &Trace, l: Local) -> Option<usize> {
    let can_move = |s: Shared| may_be_stuck(model, s, l).is_ok_and(|stuck| !stuck);
    let wakes = |taken: &Taken| moves_bystander(model, &taken.step, l);
    let all = trace.steps.iter().enumerate().rev();
    let mut chances = all.filter(|(_, taken)| wakes(taken) || can_move(taken.after.shared));
    let at_start = || can_move(trace.start.shared).then_some(0);
    chances.next().map(|(i, _)| i + 1).or_else(at_start)
}

/// Returns whether another thread's step can move a thread at `l` elsewhere.
fn moves_bystander(model: &dyn Model, step: &Step, l: Local) -> bool {
    match step.others {
        Bystanders::Stay => false,
        Bystanders::WakeOne => model.woken_by(step, l).is_some(),
        Bystanders::Transfer => {
            let mut fates = Vec::new();
            Incomplete::irrelevant(model.bystander(step, l, &mut fates));
            fates.iter().any(|fate| *fate != Some(l))
        }
    }
}

/// Returns the threads of the last configuration that form a bad configuration of the target.
pub(super) fn violation(
    model: &dyn Model,
    target: &Target,
    trace: &Trace,
    names: Option<&ThreadNames>,
) -> Violation {
    let end = trace.end();
    let waits = target.is_deadlock() || target.is_stuck();
    let all = names.map_or_else(Vec::new, ThreadNames::threads);
    let threads =
        target.configs.iter().filter(|bad| end.may_cover(bad, model) && bad.threads.size() <= 64).find_map(
            |bad| {
                let wanted: Vec<Local> =
                    bad.threads.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l)).collect();
                let fits = |i: usize, j: usize| model.meets_local(all[i].1, wanted[j]);
                let given = assign(&vec![false; all.len()], wanted.len(), &fits)?;
                let culprits = all.iter().zip(given).filter(|(_, seat)| seat.is_some());
                let culprit = |(thread, l)| {
                    let waits = waits && waits_at_the_end(model, end, l);
                    let last_chance = waits.then(|| last_chance(model, trace, l)).flatten();
                    Culprit { thread, does: None, last_chance, state: state(model, l) }
                };
                Some(culprits.map(|(&known, _)| culprit(known)).collect())
            },
        );
    Violation {
        target: target.name.clone(),
        threads: threads.unwrap_or_default(),
        shared: Values(model.shared_values(end.shared)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use throng_model::problem::{Bound, Initial};
    use throng_model::table::{Names, Table, thread_step};

    /// Returns a run of a net with two places that takes these steps, each a number of times: 0 to
    /// the second place, 1 back.
    fn run(steps: &[(u32, usize)]) -> Story {
        let mut table = Table::new(Names::Numbers(1), Names::Numbers(2));
        let edges =
            [(0, 1), (1, 0)].map(|(a, b)| table.add(thread_step(0, a, 0, b), Vec::new(), Place::default()));
        let listed = table.steps().to_vec();
        let mut now = Config::new(Shared(0), [(Local(0), 20_000)].into_iter().collect());
        let mut trace = Trace { start: now.clone(), steps: Vec::new() };
        for &(which, times) in steps {
            let step = &listed[edges[which as usize].0 as usize];
            for _ in 0..times {
                now.threads = now.threads.minus(&step.take).expect("it is enabled");
                now.threads.add_all(&step.put);
                trace.steps.push(Taken { step: step.clone(), after: now.clone() });
            }
        }
        let initial = Initial { shared: Shared(0), threads: trace.start.threads.clone(), any: Vec::new() };
        let target = Target::covering("t", vec![now]);
        let problem = Problem {
            model: Arc::new(table),
            initial: vec![initial],
            initial_text: String::new(),
            targets: Vec::new(),
            bound: Bound::Any,
        };
        describe_run(&problem, &target, &trace)
    }

    #[test]
    fn long_runs_are_told_in_short() {
        let story = run(&[(0, 9_000), (1, 500), (0, 3_000)]);
        let seen: Vec<_> = story.steps.iter().map(|s| (s.step, s.times)).collect();
        assert_eq!(seen, [(1, Some(9_000)), (9_001, Some(500)), (9_501, Some(3_000))]);
        assert_eq!((story.length, story.omitted), (12_500, 0));
        let there_and_back: Vec<(u32, usize)> = (0..12_001).map(|i| (i % 2, 1)).collect();
        let story = run(&there_and_back);
        assert_eq!((story.length, story.steps.len(), story.omitted), (12_001, 10_000, 2_001));
        assert_eq!(
            (story.steps[4_999].step, story.steps[5_000].step, story.steps[9_999].step),
            (5_000, 7_002, 12_001)
        );
        assert!(story.steps.iter().all(|s| s.times.is_none()));
        assert_eq!(run(&[(0, 9_999)]).steps.len(), 9_999);
    }
}
