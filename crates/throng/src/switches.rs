//! Reordering of a run with fewer context switches, for people.
//!
//! Engines find runs that are short, not runs that are easy to follow: between two steps of one
//! thread, others may move for no reason. Here each thread executes the same statements in the same
//! order; the interleaving is searched again, with the fewest switches first (A*, bounded below by
//! the number of threads that still have to move). The result has as many steps, starts the same
//! and ends in the target; the caller replays it with the checker like every run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Problem, Target};
use throng_model::thread_names::{Role, ThreadId, ThreadNames};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Bystanders, Config, Edge, Incomplete, Local, Model, Shared, Step, semantics};

/// Budget of the searches for all runs of an answer: the number of threads examined, counted for
/// every moment.
pub(crate) const MOST_LOOKS: usize = 80_000;

/// Number of threads per unit of that budget in examining one of them: its successors are copied
/// with all threads.
const THREADS_PER_LOOK: usize = 16;

/// Cost in ticks of examining a thread.
const TICKS_PER_LOOK: u32 = 64;

/// The actions of one thread: statements in order, each with the thread that it creates.
type Script = Vec<(Edge, Option<ThreadId>)>;

/// Returns the number of switches between threads.
fn turns(actors: &[usize]) -> usize {
    actors.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// Returns the run with the fewest switches among those in which each thread executes the same
/// statements. `None` if that is this run, if the search needs more than `left`, from which it is
/// charged, or if a limit is reached.
pub(crate) fn fewest_switches(
    problem: &Problem,
    target: &Target,
    trace: &Trace,
    left: &mut usize,
    limits: &Limits,
) -> Option<Trace> {
    limits.check().ok()?;
    let (scripts, actors, start) = scripts(problem, trace)?;
    let now = turns(&actors);
    let least = scripts.iter().filter(|script| !script.is_empty()).count().saturating_sub(1);
    if now <= least {
        return None;
    }
    // The reordered run must have no more threads at a time, because that number is stated beside
    // the verdict.
    let bound = problem.bound.threads().unwrap_or(u32::MAX).min(trace.threads());
    let ticker = Ticker::new(limits);
    let mut search =
        Search { problem, target, scripts, bound: Some(bound), steps: FxHashMap::default(), ticker };
    search.run(trace, start, now, left)
}

/// Returns the script of each thread, the acting thread of each step, and the initial state of each
/// thread. `None` if steps take several threads or none, as in nets, or if there are too many
/// threads to name.
#[expect(clippy::type_complexity, reason = "three lists that belong together for one caller")]
fn scripts(problem: &Problem, trace: &Trace) -> Option<(Vec<Script>, Vec<usize>, Vec<Option<Local>>)> {
    let mut names = ThreadNames::new(&trace.start.threads)?;
    let start: BTreeMap<ThreadId, Local> = names.threads().into_iter().collect();
    let mut scripts: Vec<Script> = vec![Script::new(); start.len()];
    let mut actors = Vec::new();
    for taken in &trace.steps {
        let changes = names.step(&*problem.model, &taken.step, &taken.after, problem.bound.threads())?;
        let mut acting = changes.iter().filter(|c| c.role == Role::Acts);
        let mut created = changes.iter().filter(|c| c.role == Role::Created).map(|c| c.thread);
        let (Some(actor), None) = (acting.next(), acting.next()) else { return None };
        let child = created.next();
        if created.next().is_some() || taken.step.put.size() > 1 {
            return None;
        }
        let index = actor.thread.0 as usize - 1;
        scripts.get_mut(index)?.push((taken.step.edge, child));
        actors.push(index);
        if child.is_some() {
            scripts.push(Script::new());
        }
    }
    let mut places = vec![None; scripts.len()];
    start.into_iter().for_each(|(thread, l)| places[thread.0 as usize - 1] = Some(l));
    Some((scripts, actors, places))
}

/// A moment of a run: the shared state, the local state and script position of each thread, and the
/// thread that moved last.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    shared: Shared,
    places: Vec<Option<Local>>,
    done: Vec<u32>,
    last: Option<usize>,
}

impl Moment {
    fn config(&self) -> Config {
        Config::new(self.shared, self.places.iter().flatten().copied().collect())
    }
}

/// The predecessor of a moment.
struct Node {
    moment: Moment,
    switches: usize,
    from: Option<(usize, Step)>,
}

struct Search<'a> {
    problem: &'a Problem,
    target: &'a Target,
    scripts: Vec<Script>,
    bound: Option<u32>,
    /// The model's steps by thread state, cached because many moments have the same thread in the
    /// same shared state.
    steps: FxHashMap<(Shared, Local), Rc<[Step]>>,
    ticker: Ticker<'a>,
}

impl Search<'_> {
    fn run(
        &mut self,
        trace: &Trace,
        places: Vec<Option<Local>>,
        worst: usize,
        left: &mut usize,
    ) -> Option<Trace> {
        let start = Moment { shared: trace.start.shared, done: vec![0; places.len()], places, last: None };
        let mut best: FxHashMap<Moment, usize> = FxHashMap::default();
        let mut nodes = vec![Node { moment: start, switches: 0, from: None }];
        // The fewest switches come first; among those, the most advanced moment.
        let mut queue = BinaryHeap::from([(Reverse(0), 0, Reverse(0))]);
        while let Some((_, depth, Reverse(at))) = queue.pop() {
            if depth == trace.steps.len() {
                if self.target.is_hit(&nodes[at].moment.config(), &*self.problem.model) {
                    return Some(self.path(trace, &nodes, at));
                }
                continue;
            }
            for (step, moment) in self.next(&nodes[at].moment, left)? {
                let before = &nodes[at];
                let switched = before.moment.last.is_some_and(|last| Some(last) != moment.last);
                let switches = before.switches + usize::from(switched);
                let estimate = switches + self.at_least(&moment);
                if estimate >= worst || best.get(&moment).is_some_and(|&known| known <= switches) {
                    continue;
                }
                best.insert(moment.clone(), switches);
                queue.push((Reverse(estimate), depth + 1, Reverse(nodes.len())));
                nodes.push(Node { moment, switches, from: Some((at, step)) });
            }
        }
        None
    }

    /// Returns a lower bound of the number of switches: each thread that is not done has to move
    /// again.
    fn at_least(&self, moment: &Moment) -> usize {
        let open = |t: usize| (moment.done[t] as usize) < self.scripts[t].len();
        (0..self.scripts.len()).filter(|&t| Some(t) != moment.last && open(t)).count()
    }

    /// Returns the rest of a thread's script.
    fn rest(&self, now: &Moment, t: usize) -> &[(Edge, Option<ThreadId>)] {
        &self.scripts[t][now.done[t] as usize..]
    }

    /// Returns whether an earlier thread can replace this one: the successors by this thread then
    /// equal those by the other, with the two exchanged. The identity of a thread matters only if
    /// it moved last.
    fn has_twin(&self, now: &Moment, t: usize) -> bool {
        let same = |u: usize| now.places[u] == now.places[t] && self.rest(now, u) == self.rest(now, t);
        now.last != Some(t) && (0..t).any(|u| now.last != Some(u) && same(u))
    }

    /// Returns the steps of a thread.
    fn steps(&mut self, shared: Shared, l: Local) -> Rc<[Step]> {
        let model = &*self.problem.model;
        let listed = || {
            let mut steps = Vec::new();
            Incomplete::irrelevant(model.post(shared, l, &mut steps));
            steps.into()
        };
        self.steps.entry((shared, l)).or_insert_with(listed).clone()
    }

    /// Returns the successors by each thread's next statement; `None` if the budget is used up.
    fn next(&mut self, now: &Moment, left: &mut usize) -> Option<Vec<(Step, Moment)>> {
        let model = &*self.problem.model;
        let config = now.config();
        let mut found = Vec::new();
        for t in 0..self.scripts.len() {
            let (Some(&(edge, child)), Some(l)) = (self.rest(now, t).first(), now.places[t]) else {
                continue;
            };
            if self.has_twin(now, t) {
                continue;
            }
            *left = left.checked_sub(1 + self.scripts.len() / THREADS_PER_LOOK)?;
            self.ticker.ticks(TICKS_PER_LOOK).ok()?;
            let steps = self.steps(now.shared, l);
            for step in steps.iter().filter(|s| s.edge == edge && s.from == now.shared) {
                let step = step.clone();
                let Some(mut after) = self.moved(now, &config, t, child, &step) else { continue };
                after.done[t] += 1;
                after.last = Some(t);
                match step.others {
                    Bystanders::Stay => found.push((step, after)),
                    Bystanders::WakeOne => woken(model, t, step, after, &mut found),
                    Bystanders::Transfer => {
                        if self.carried(&step, t, now, &mut after) {
                            found.push((step, after));
                        }
                    }
                }
            }
        }
        Some(found)
    }

    /// Returns the moment after the thread itself has moved and the new one exists; `None` if the
    /// step creates another number of threads than in the original run.
    fn moved(
        &self,
        now: &Moment,
        config: &Config,
        t: usize,
        child: Option<ThreadId>,
        step: &Step,
    ) -> Option<Moment> {
        let rest = config.threads.minus(&step.take)?;
        let creates = !step.spawn.is_empty() && !semantics::exceeds(&rest, step, self.bound);
        if creates != child.is_some() || step.put.size() > 1 || step.spawn.size() > 1 {
            return None;
        }
        let mut after = now.clone();
        after.shared = step.to;
        after.places[t] = step.put.entries().first().map(|e| e.0);
        if let Some(child) = child {
            after.places[child.0 as usize - 1] = step.spawn.entries().first().map(|e| e.0);
        }
        Some(after)
    }

    /// Moves the bystanders, if each has one fate only.
    fn carried(&self, step: &Step, t: usize, now: &Moment, after: &mut Moment) -> bool {
        for (other, place) in now.places.iter().enumerate().filter(|(other, _)| *other != t) {
            let Some(l) = *place else { continue };
            let mut fates = Vec::new();
            Incomplete::irrelevant(self.problem.model.bystander(step, l, &mut fates));
            let [fate] = fates[..] else { return false };
            after.places[other] = fate;
        }
        true
    }

    fn path(&self, trace: &Trace, nodes: &[Node], end: usize) -> Trace {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some((before, step)) = &nodes[at].from {
            steps.push(Taken { step: step.clone(), after: nodes[at].moment.config() });
            at = *before;
        }
        steps.reverse();
        Trace { start: trace.start.clone(), steps }
    }
}

/// Fires a signal, in every way to wake one waiting thread; if none waits, the signal is lost.
fn woken(model: &dyn Model, t: usize, step: Step, after: Moment, found: &mut Vec<(Step, Moment)>) {
    let waiting = after.places.iter().enumerate().filter(|(other, _)| *other != t);
    let ways: Vec<(usize, Local)> =
        waiting.filter_map(|(other, place)| Some((other, model.woken_by(&step, (*place)?)?))).collect();
    if ways.is_empty() {
        found.push((step, after));
        return;
    }
    for (other, to) in ways {
        let mut after = after.clone();
        after.places[other] = Some(to);
        found.push((step.clone(), after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_lang::tts;
    use throng_model::Bag;
    use throng_model::problem::Bound;

    #[test]
    fn threads_that_do_the_same_are_looked_at_once() {
        let system = tts::read("1 3\n0 0 -> 0 1\n0 1 -> 0 2\n").0.expect("it is right");
        let (shared, locals) = (system.table.shared().clone(), system.table.locals().clone());
        let target = tts::parse_target("0|2,2,2,2,2,2,2,2", &shared, &locals).expect("it is right");
        let start = Config::new(Shared(0), [(Local(0), 8)].into_iter().collect());
        let (mut now, mut steps) = (start.clone(), Vec::new());
        for (l, next) in [(0, 1), (1, 2)] {
            for _ in 0..8 {
                let step = system.table.steps()[l as usize].clone();
                now.threads = now.threads.minus(&Bag::one(Local(l))).expect("one is there");
                now.threads.insert(Local(next), 1);
                steps.push(Taken { step, after: now.clone() });
            }
        }
        let problem = Problem {
            initial: vec![tts::parse_config("0/0", &shared, &locals).expect("it is right")],
            initial_text: "0/0".into(),
            targets: vec![target.clone()],
            bound: Bound::Any,
            model: system.table.clone(),
        };
        // The threads act one after another: in each of 16 moments the one that moved last, or one
        // of those that wait.
        let mut left = 32;
        let trace = Trace { start, steps };
        let limits = Limits::none();
        let better = fewest_switches(&problem, &target, &trace, &mut left, &limits).expect("it is short");
        let (_, actors, _) = scripts(&problem, &better).expect("threads have names");
        assert_eq!(turns(&actors), 7);
        limits.stopper().stop();
        assert!(fewest_switches(&problem, &target, &trace, &mut 1000, &limits).is_none());
    }
}
