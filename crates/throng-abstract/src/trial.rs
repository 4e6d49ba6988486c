//! Random runs of the paths of a program, to drop comparisons that do not hold. What is left is
//! only a guess.

use rustc_hash::FxHashMap;
use throng_goto::program::{Int, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::blast::eval;
use throng_goto_check::abstraction::facts::Differs;
use throng_goto_check::abstraction::graph::{Edge, Graph, Place, To};
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::variables::INPUT;

const RUNS: usize = 150;
/// Maximum number of runs in a row that contradict nothing new: others hardly will.
const MOST_IN_VAIN: usize = 30;
const STEPS: usize = 120;
const MOST_THREADS: usize = 5;

pub(crate) type Values = FxHashMap<u32, i64>;

/// Returns for each place the comparisons that held whenever a thread was there, over variables
/// that may still be read or that `apart` is about. Of that, what did not hold is dropped.
pub(crate) fn survivors(
    program: &Program,
    graph: &Graph,
    list: &[Predicate],
    apart: &mut Vec<Differs>,
    limits: &Limits,
) -> Result<Vec<Vec<u32>>, Unknown> {
    let left = candidates(program, graph, list, apart);
    let mut trial = Trial { list, left, apart, in_vain: 0 };
    let mut runner = Runner::new(program, graph);
    for run in 0..RUNS {
        limits.check()?;
        if trial.in_vain > MOST_IN_VAIN {
            break;
        }
        trial.in_vain += 1;
        runner.run(run % 3 + 1, &mut |threads, taken| trial.drop_contradicted(threads, taken));
    }
    Ok(trial.left)
}

/// Watches the steps of some random runs: the edge, and the values of the thread that moves before
/// and after it.
pub(crate) fn watch_steps(
    program: &Program,
    graph: &Graph,
    runs: usize,
    limits: &Limits,
    watch: &mut dyn FnMut(usize, &Values, &Values),
) -> Result<(), Unknown> {
    let mut runner = Runner::new(program, graph);
    for run in 0..runs {
        limits.check()?;
        runner.run(run % 3 + 1, &mut |_, taken| watch(taken.edge, &taken.before, &taken.after));
    }
    Ok(())
}

/// Returns the comparisons that may hold at each place.
fn candidates(program: &Program, graph: &Graph, list: &[Predicate], apart: &[Differs]) -> Vec<Vec<u32>> {
    let mut remembered: Vec<(usize, u32)> = apart.iter().flat_map(|f| [(f.0, f.2), (f.1, f.3)]).collect();
    remembered.sort_unstable();
    remembered.dedup();
    let at = |(p, place): (usize, &Place)| {
        let fits = |i: &u32| {
            let predicate = &list[*i as usize];
            predicate.template.is_none_or(|t| t == place.template)
                && predicate.lives_with(graph, program, p, &remembered)
        };
        (0..list.len() as u32).filter(fits).collect()
    };
    graph.places.iter().enumerate().map(at).collect()
}

/// A step of a random run.
struct Taken {
    edge: usize,
    /// The thread that moved, by position before the step.
    who: usize,
    /// Number of steps of the run before.
    step: usize,
    /// Its values before and after the step.
    before: Values,
    after: Values,
}

/// A thread: its place and its values, those of shared variables among them.
type Running = (usize, Values);

/// Random runs.
struct Runner<'a> {
    program: &'a Program,
    graph: &'a Graph,
    /// The edges that leave each place.
    from: Vec<Vec<usize>>,
    random: Random,
}

impl<'a> Runner<'a> {
    fn new(program: &'a Program, graph: &'a Graph) -> Runner<'a> {
        let mut constants: Vec<i64> = graph.constants.iter().copied().collect();
        constants.sort_unstable();
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); graph.places.len()];
        for (n, e) in graph.edges.iter().enumerate() {
            if !matches!(e.to, To::Fail(..)) {
                from[e.from].push(n);
            }
        }
        Runner { program, graph, from, random: Random(1, constants) }
    }

    /// One run, which starts with so many threads of each entry if any number may start.
    fn run(&mut self, starts: usize, watch: &mut dyn FnMut(&[Running], &Taken)) {
        let mut threads = self.start(starts);
        for step in 0..STEPS {
            if threads.is_empty() {
                return;
            }
            let atomic = threads.iter().position(|t| self.graph.places[t.0].atomic);
            let who = atomic.unwrap_or_else(|| self.random.below(threads.len()));
            let from = &self.from[threads[who].0];
            let choice = self.random.below(from.len());
            let Some(&edge) = from.get(choice) else { continue };
            let e = &self.graph.edges[edge];
            if threads.len() + e.starts.len() > MOST_THREADS + 1 {
                continue;
            }
            let before = threads[who].1.clone();
            if let Some(after) = advance(self.graph, e, who, &mut threads, &mut self.random) {
                watch(&threads, &Taken { edge, who, step, before, after });
            }
        }
    }

    fn start(&mut self, starts: usize) -> Vec<Running> {
        let (first, any) = Graph::first(self.program);
        let mut shared = Values::default();
        set(&self.graph.initial, &mut shared, &mut self.random);
        let mut threads = Vec::new();
        for _ in 0..if any { starts } else { 1 } {
            for &t in &first {
                let (place, entry) = &self.graph.entries[t];
                let mut values = shared.clone();
                set(entry, &mut values, &mut self.random);
                threads.push((*place, values));
            }
        }
        threads
    }
}

/// What no random run has contradicted.
struct Trial<'a> {
    list: &'a [Predicate],
    left: Vec<Vec<u32>>,
    apart: &'a mut Vec<Differs>,
    /// Number of runs since something was dropped.
    in_vain: usize,
}

impl Trial<'_> {
    /// Drops what does not hold after a step.
    fn drop_contradicted(&mut self, threads: &[Running], &Taken { who, step, .. }: &Taken) {
        let mut dropped = false;
        // All are looked at now and then; what a thread keeps while others move matters, too.
        for (k, (place, values)) in threads.iter().enumerate() {
            if k == who || step.is_multiple_of(3) || k + 1 == threads.len() {
                let before = self.left[*place].len();
                self.left[*place].retain(|&i| eval(&self.list[i as usize].expr, values) != Some(0));
                dropped |= self.left[*place].len() < before;
            }
        }
        let before = self.apart.len();
        self.apart.retain(|fact| differ(threads, fact));
        if dropped || self.apart.len() < before {
            self.in_vain = 0;
        }
    }
}

/// Returns whether variables of any two threads at two places differ.
fn differ(threads: &[Running], &(p, q, a, b): &Differs) -> bool {
    let at = |p: usize| threads.iter().enumerate().filter(move |(_, t)| t.0 == p);
    at(p).all(|(k, one)| {
        let value = one.1.get(&a);
        value.is_none() || at(q).all(|(n, other)| k == n || other.1.get(&b) != value)
    })
}

/// Lets a thread move along an edge, if it can, and returns its values afterwards; it is removed if
/// it ends.
fn advance(
    graph: &Graph,
    e: &Edge,
    who: usize,
    threads: &mut Vec<Running>,
    random: &mut Random,
) -> Option<Values> {
    let mut now = threads[who].1.clone();
    for (k, &ty) in e.inputs.iter().enumerate() {
        now.insert(INPUT + k as u32, random.value(ty));
    }
    // The element that was written last.
    for (any, input) in &e.reads {
        let value = now.get(any).copied().unwrap_or(0);
        now.insert(*input, value);
    }
    if !e.guard.iter().all(|g| eval(g, &now).is_some_and(|v| v != 0)) {
        return None;
    }
    let new: Option<Vec<(u32, i64)>> = e.updates.iter().map(|(id, x)| Some((*id, eval(x, &now)?))).collect();
    let new = new?;
    let shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    for (k, (_, values)) in threads.iter_mut().enumerate() {
        let mine = new.iter().filter(|u| k == who || shared(u.0));
        values.extend(mine.copied());
    }
    for &child in &e.starts {
        let (place, entry) = &graph.entries[child];
        let mut values = threads[who].1.clone();
        if !throng_goto_check::abstraction::program::is_exact(graph, e) {
            set(entry, &mut values, random);
        }
        threads.push((*place, values));
    }
    let after = threads[who].1.clone();
    match e.to {
        To::Place(p) => threads[who].0 = p,
        To::End | To::Fail(..) => _ = threads.swap_remove(who),
    }
    Some(after)
}

fn set(e: &Edge, values: &mut Values, random: &mut Random) {
    let inputs: Vec<i64> = e.inputs.iter().map(|&ty| random.value(ty)).collect();
    for (k, v) in inputs.into_iter().enumerate() {
        values.insert(INPUT + k as u32, v);
    }
    let new: Vec<(u32, i64)> = e.updates.iter().filter_map(|(id, x)| Some((*id, eval(x, values)?))).collect();
    values.extend(new);
}

/// Numbers that look random, near some constants.
struct Random(u64, Vec<i64>);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn value(&mut self, ty: Int) -> i64 {
        let value = match self.below(8) {
            0..=3 if !self.1.is_empty() => {
                let k = self.below(self.1.len());
                self.1[k].wrapping_add(self.below(3) as i64 - 1)
            }
            4..=6 => self.below(8) as i64 - 1,
            _ => (self.below(1 << 31) as i64) << 1,
        };
        ty.wrap(value)
    }
}
