//! An execution of C11 that fails, as a run of a model of its own: one step for each event, in an
//! order in which everything that is read has been written.

use std::collections::BTreeMap;
use std::sync::Arc;

use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_lang::bp::orders::{At, Executed};
use throng_memory::Order;
use throng_memory::explain::{outdated, repair};
use throng_memory::graph::{Event, Graph, Id};
use throng_memory::rules::Kind;
use throng_memory::search::{Execution, Failure};
use throng_model::limits::Limits;
use throng_model::problem::{Initial, Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Taken, Trace, Verdict};
use throng_model::waiting::Waits;
use throng_model::{
    Accessed, Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared,
    Step, Traits, Transfers,
};

/// A step of the run: an event, or the assertion that fails.
struct Played {
    thread: usize,
    place: Place,
    accesses: Vec<Accessed>,
}

/// The run and what is wrong with it.
pub(super) struct Run {
    steps: Vec<Played>,
    /// How many steps each thread takes.
    lengths: Vec<usize>,
    why: String,
}

impl Run {
    /// The run of an execution that fails.
    pub(super) fn new(executed: &Executed<'_>, found: &Execution<At>, failure: &Failure) -> Run {
        let graph = &found.graph;
        let (order, told) = told_last(ordered(graph), graph, failure);
        let names = names(&order, failure);
        let words = Words { executed, graph, names: &names };
        let mut steps: Vec<Played> = order.iter().map(|&id| words.played(id)).collect();
        if let Failure::Assertion(thread, site) = failure
            && !told
        {
            let place = words.place(*site);
            steps.push(Played { thread: *thread, place, accesses: Vec::new() });
        }
        let mut lengths = vec![0; graph.threads.len()];
        steps.iter().for_each(|step| lengths[step.thread] += 1);
        Run { steps, lengths, why: words.why(failure) }
    }

    fn local(&self, thread: usize, steps: usize) -> Local {
        Local((thread as u64) << 32 | steps as u64)
    }

    /// The step with this number.
    fn step(&self, number: usize) -> Step {
        let thread = self.steps[number].thread;
        let before = self.steps[..number].iter().filter(|step| step.thread == thread).count();
        Step {
            from: Shared(number as u64),
            to: Shared(number as u64 + 1),
            take: Bag::one(self.local(thread, before)),
            put: Bag::one(self.local(thread, before + 1)),
            spawn: Bag::new(),
            others: Bystanders::Stay,
            edge: Edge(number as u32),
            choice: 0,
        }
    }

    /// The threads that do something, after so many steps.
    fn config(&self, steps: usize) -> Config {
        let done = |thread| self.steps[..steps].iter().filter(|step| step.thread == thread).count();
        let threads = (0..self.lengths.len()).filter(|&thread| self.lengths[thread] > 0);
        Config::new(Shared(steps as u64), threads.map(|thread| self.local(thread, done(thread))).collect())
    }

    fn trace(&self) -> Trace {
        let taken = |n| Taken { step: self.step(n), after: self.config(n + 1) };
        Trace { start: self.config(0), steps: (0..self.steps.len()).map(taken).collect() }
    }

    /// The question that the run answers.
    pub(super) fn problem(self, failure: &Failure, asked: &Problem) -> (Problem, Known) {
        let (trace, end) = (self.trace(), Config::new(Shared(self.steps.len() as u64), Bag::new()));
        let target = match failure {
            Failure::Assertion(..) => Target::of(Property::Assertions, vec![end]),
            Failure::Race(..) => Target::covering("data race", vec![end]),
        };
        let start = self.config(0);
        let initial = Initial { shared: start.shared, threads: start.threads, any: Vec::new() };
        let problem =
            Problem { model: Arc::new(self), initial: vec![initial], targets: vec![target], ..asked.clone() };
        (problem, Known(trace))
    }
}

/// An engine that knows the run.
pub(super) struct Known(Trace);

impl Algorithm for Known {
    fn name(&self) -> &'static str {
        "executions"
    }

    fn run(&self, _: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        Answer::new(vec![Verdict::Unsafe(self.0.clone())], Statistics::default())
    }
}

/// The events in an order in which each comes after those before it in its thread, and after what it
/// reads from; a thread goes on as long as it can.
fn ordered(graph: &Graph) -> Vec<Id> {
    let mut done: Vec<usize> = vec![0; graph.threads.len()];
    let mut order: Vec<Id> = Vec::new();
    let ready = |done: &[usize], order: &[Id], thread: usize| {
        let event = graph.threads[thread].get(done[thread])?;
        let from = event.read.is_none_or(|(_, from)| matches!(from, Id::Initial(_)) || order.contains(&from));
        let parent = graph.created.get(&(thread as u16));
        let begun = parent.is_none_or(|&(by, after)| done[usize::from(by)] >= usize::from(after));
        let joins =
            graph.joined.iter().filter(|j| usize::from(j.0) == thread && usize::from(j.1) <= done[thread]);
        let mut joined = joins.map(|j| usize::from(j.2));
        let ended = joined.all(|other| done[other] == graph.threads[other].len());
        (from && begun && ended).then_some(thread)
    };
    let mut at = 0;
    while order.len() < graph.len() {
        let threads = (0..done.len()).map(|i| (at + i) % done.len());
        let Some(thread) = { threads }.find_map(|thread| ready(&done, &order, thread)) else { break };
        order.push(Id::Event { thread: thread as u16, index: done[thread] as u16 });
        done[thread] += 1;
        at = thread;
    }
    order
}

/// Puts the event at the end that is the failing assertion itself, if there is one and it can be
/// last; returns whether it did.
fn told_last(mut order: Vec<Id>, graph: &Graph, failure: &Failure) -> (Vec<Id>, bool) {
    let Failure::Assertion(thread, site) = failure else { return (order, true) };
    let Some(last) = graph.threads[*thread].last().filter(|event| event.site == *site) else {
        return (order, false);
    };
    let index = graph.threads[*thread].len() as u16 - 1;
    let id = Id::Event { thread: *thread as u16, index };
    let read = graph.events().any(|(_, event)| event.read.is_some_and(|(_, from)| from == id));
    if read || last.kind == Kind::Fence {
        return (order, false);
    }
    order.retain(|other| *other != id);
    order.push(id);
    (order, true)
}

/// What reports call the threads: by their first steps.
fn names(order: &[Id], failure: &Failure) -> BTreeMap<usize, usize> {
    let mut names = BTreeMap::new();
    let last = match failure {
        Failure::Assertion(thread, _) => Some(*thread),
        Failure::Race(..) => None,
    };
    let threads = order.iter().filter_map(|id| match id {
        Id::Event { thread, .. } => Some(usize::from(*thread)),
        Id::Initial(_) => None,
    });
    for thread in threads.chain(last) {
        let next = names.len() + 1;
        names.entry(thread).or_insert(next);
    }
    names
}

/// Words about an execution.
struct Words<'a> {
    executed: &'a Executed<'a>,
    graph: &'a Graph,
    names: &'a BTreeMap<usize, usize>,
}

impl Words<'_> {
    fn place(&self, site: u32) -> Place {
        let info = self.executed.info(site);
        Place {
            line: info.line,
            column: info.column,
            text: info.text.clone(),
            labels: info.labels.clone(),
            function: "main".into(),
            ..Place::default()
        }
    }

    fn line(&self, id: Id) -> u32 {
        self.graph.event(id).map_or(0, |event| self.executed.info(event.site).line)
    }

    fn thread(&self, id: Id) -> String {
        match id {
            Id::Event { thread, .. } => {
                format!("T{}", self.names.get(&usize::from(thread)).copied().unwrap_or_default())
            }
            Id::Initial(_) => "the start".into(),
        }
    }

    fn played(&self, id: Id) -> Played {
        let Id::Event { thread, .. } = id else { unreachable!("initial writes are no steps") };
        let event = self.graph.event(id).expect("an event of the graph");
        let mut accesses = Vec::new();
        if let Some(name) = self.executed.name(event.location).filter(|_| event.kind != Kind::Fence) {
            let access = |value, writes| Accessed {
                variable: name.to_string(),
                value: self.executed.shown(event.location, value),
                writes,
            };
            accesses.extend(event.read.map(|(value, _)| access(value, false)));
            accesses.extend(event.written.map(|value| access(value, true)));
        }
        Played { thread: thread.into(), place: self.place(event.site), accesses }
    }

    fn why(&self, failure: &Failure) -> String {
        let mut sentences: Vec<String> = match failure {
            Failure::Race(a, b) => vec![self.race(*a, *b)],
            Failure::Assertion(..) => self.outdated(),
        };
        let auxiliary = self.executed.auxiliary();
        let repairs = repair(self.graph, failure, &|location| location == auxiliary);
        let needs =
            |&(site, order): &(u32, Order)| format!("line {} needs {order}", self.executed.info(site).line);
        if !repairs.is_empty() {
            sentences.push(repairs.iter().map(needs).collect::<Vec<_>>().join(", "));
        }
        sentences.join("; ")
    }

    fn race(&self, a: Id, b: Id) -> String {
        let name = self.graph.event(a).and_then(|e| self.executed.name(e.location)).unwrap_or_default();
        format!(
            "races: {} at line {} and {} at line {} access `{name}`, and neither happens before the other",
            self.thread(a),
            self.line(a),
            self.thread(b),
            self.line(b)
        )
    }

    /// The reads that sequential consistency rules out, once for each pair of statements.
    fn outdated(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for stale in outdated(self.graph) {
            let Some(event) = self.graph.event(stale.reader) else { continue };
            let (Some(name), Some(late)) =
                (self.executed.name(event.location), self.graph.event(stale.although))
            else {
                continue;
            };
            let words = self.stale(event, name, late, &stale);
            if !found.contains(&words) {
                found.push(words);
            }
        }
        found
    }

    fn stale(
        &self,
        event: &Event,
        name: &str,
        late: &Event,
        stale: &throng_memory::explain::Outdated,
    ) -> String {
        let shown = |value: Option<i64>| {
            value.map_or_else(String::new, |value| self.executed.shown(event.location, value))
        };
        let from = match stale.from {
            Id::Initial(_) => "from the start".to_string(),
            write => format!("from line {}", self.line(write)),
        };
        format!(
            "{} reads {name}={} {from} (line {}), although {} wrote {} (line {})",
            self.thread(stale.reader),
            shown(event.read.map(|(value, _)| value)),
            self.line(stale.reader),
            self.thread(stale.although),
            shown(late.written),
            self.line(stale.although)
        )
    }
}

impl Model for Run {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let number = s.0 as usize;
        if number < self.steps.len() {
            out.extend(Some(self.step(number)).filter(|step| step.take == Bag::one(l)));
        }
        Ok(())
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        Ok(())
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: false }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, l: Local) -> bool {
        let (thread, steps) = ((l.0 >> 32) as usize, (l.0 & 0xffff_ffff) as usize);
        self.lengths.get(thread).is_none_or(|&length| steps >= length)
    }

    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

impl Describe for Run {
    fn shared_values(&self, _: Shared) -> Vec<(String, String)> {
        Vec::new()
    }

    fn local_values(&self, _: Local) -> Vec<(String, String)> {
        Vec::new()
    }

    fn place(&self, l: Local) -> Option<Place> {
        let (thread, done) = ((l.0 >> 32) as usize, (l.0 & 0xffff_ffff) as usize);
        let mut of = self.steps.iter().filter(|step| step.thread == thread);
        of.nth(done).map(|step| step.place.clone())
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.steps[edge.0 as usize].place.clone()
    }

    fn accesses(&self, step: &Step) -> Vec<Accessed> {
        self.steps[step.edge.0 as usize].accesses.clone()
    }

    fn blame(&self, step: &Step) -> Option<String> {
        (step.edge.0 as usize + 1 == self.steps.len() && !self.why.is_empty()).then(|| self.why.clone())
    }
}
