//! Random runs of the paths of a program, to drop comparisons that do not hold. What is left is
//! only a guess.

use rustc_hash::FxHashMap;
use throng_goto::program::{Int, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::blast::eval;
use crate::edges::{Edge, Graph, To};
use crate::facts::Differs;
use crate::predicates::Predicate;
use crate::variables::INPUT;

const RUNS: usize = 150;
/// After so many runs that contradict nothing new, others hardly will.
const MOST_IN_VAIN: usize = 30;
const STEPS: usize = 120;
const MOST_THREADS: usize = 5;

type Values = FxHashMap<u32, i64>;

/// For each place, the comparisons that held whenever a thread was there, over variables that may
/// still be read or that `apart` is about. Of that, what did not hold is dropped.
pub(crate) fn survivors(
    program: &Program,
    graph: &Graph,
    list: &[Predicate],
    apart: &mut Vec<Differs>,
    limits: &Limits,
) -> Result<Vec<Vec<u32>>, Unknown> {
    let mut remembered: Vec<(usize, u32)> = apart.iter().flat_map(|f| [(f.0, f.2), (f.1, f.3)]).collect();
    remembered.sort_unstable();
    remembered.dedup();
    let at = |(p, place): (usize, &crate::edges::Place)| {
        let fits = |i: &u32| {
            let predicate = &list[*i as usize];
            predicate.template.is_none_or(|t| t == place.template)
                && predicate.lives_with(graph, program, p, &remembered)
        };
        (0..list.len() as u32).filter(fits).collect()
    };
    let mut left: Vec<Vec<u32>> = graph.places.iter().enumerate().map(at).collect();
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); graph.places.len()];
    for (n, e) in graph.edges.iter().enumerate() {
        if !matches!(e.to, To::Fail(..)) {
            from[e.from].push(n);
        }
    }
    let mut constants: Vec<i64> = graph.constants.iter().copied().collect();
    constants.sort_unstable();
    let mut random = Random(1, constants);
    let first = Graph::first(program).0;
    let mut in_vain = 0;
    for run in 0..RUNS {
        limits.check()?;
        if in_vain > MOST_IN_VAIN {
            break;
        }
        in_vain += 1;
        let mut shared = Values::default();
        set(&graph.initial, &mut shared, &mut random);
        let mut threads: Vec<(usize, Values)> = Vec::new();
        for _ in 0..=run % 3 {
            for &t in &first {
                let (place, entry) = &graph.entries[t];
                let mut values = shared.clone();
                set(entry, &mut values, &mut random);
                threads.push((*place, values));
            }
            if !Graph::first(program).1 {
                break;
            }
        }
        for step in 0..STEPS {
            if threads.is_empty() {
                break;
            }
            let atomic = threads.iter().position(|t| graph.places[t.0].atomic);
            let who = atomic.unwrap_or_else(|| random.below(threads.len()));
            let place = threads[who].0;
            let choice = random.below(from[place].len());
            let Some(&n) = from[place].get(choice) else { continue };
            let e = &graph.edges[n];
            if threads.len() + e.starts.len() > MOST_THREADS + 1 {
                continue;
            }
            advance(graph, e, who, &mut threads, &mut random);
            // All are looked at now and then; what a thread keeps while others move matters, too.
            for (k, (place, values)) in threads.iter().enumerate() {
                if k == who || step % 3 == 0 || k + 1 == threads.len() {
                    let before = left[*place].len();
                    left[*place].retain(|&i| eval(&list[i as usize].expr, values) != Some(0));
                    in_vain = if left[*place].len() < before { 0 } else { in_vain };
                }
            }
            if !apart.is_empty() {
                let before = apart.len();
                apart.retain(|fact| differ(&threads, fact));
                in_vain = if apart.len() < before { 0 } else { in_vain };
            }
        }
    }
    Ok(left)
}

/// Whether variables of any two threads at two places differ.
fn differ(threads: &[(usize, Values)], &(p, q, a, b): &Differs) -> bool {
    let at = |p: usize| threads.iter().enumerate().filter(move |(_, t)| t.0 == p);
    at(p).all(|(k, one)| {
        let value = one.1.get(&a);
        value.is_none() || at(q).all(|(n, other)| k == n || other.1.get(&b) != value)
    })
}

/// Lets a thread move along an edge, if it can; it is removed if it ends.
fn advance(
    graph: &Graph,
    e: &Edge,
    who: usize,
    threads: &mut Vec<(usize, Values)>,
    random: &mut Random,
) -> bool {
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
        return false;
    }
    let new: Option<Vec<(u32, i64)>> = e.updates.iter().map(|(id, x)| Some((*id, eval(x, &now)?))).collect();
    let Some(new) = new else { return false };
    let shared = |id: u32| graph.variables.list[id as usize].template.is_none();
    for (k, (_, values)) in threads.iter_mut().enumerate() {
        let mine = new.iter().filter(|u| k == who || shared(u.0));
        values.extend(mine.copied());
    }
    for &child in &e.starts {
        let (place, entry) = &graph.entries[child];
        let mut values = threads[who].1.clone();
        if !crate::render::is_exact(graph, e) {
            set(entry, &mut values, random);
        }
        threads.push((*place, values));
    }
    match e.to {
        To::Place(p) => threads[who].0 = p,
        To::End | To::Fail(..) => _ = threads.swap_remove(who),
    }
    true
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
