//! `cutoff`: the smallest number of threads that shows every reachable thread state (STAR chapter 4; ECUT: IJIT section 5.1).
//!
//! # What it means
//!
//! A thread state (s, l) is *reachable with n threads* if some run reaches a configuration with shared state s and a thread at l,
//! and at most n threads exist at any time of this run: for programs that create threads, these count too, and so do the
//! ones that have not moved. That is the reading without skipping: a `start_thread` beyond n threads is not a step of the run, rather than a step that
//! creates nobody (reference 1.5), whose thread states need not be reachable with more threads. So the sets R₁ ⊆ R₂ ⊆ … only grow; there are
//! finitely many thread states, so they stop growing, and the *reachability cutoff* n₀ is the first n with Rₙ = R∞.
//! That Rₙ = Rₙ₊₁ does not mean that n is the cutoff.
//!
//! # Two ways
//!
//! [`Method::Exact`] computes R∞ by `karp-miller` and then grows n until Rₙ is all of it. [`Method::Dynamic`] grows n without knowing R∞. When
//! a level brings nothing new, it asks a prover whether any further thread state can be reached at all. The candidates are
//! the thread states of the *1-view* closure: whatever a step does with threads that may each occur, one by one, may occur. If none is
//! reachable, the last level that brought something is the cutoff; those that are will turn up at some later level.
//!
//! # Words
//!
//! Where words stand for sets of states ([`throng_model`]), thread states are words, and a word within one that is known already is not new. So every
//! concrete thread state is reachable with n₀ threads, too; that fewer do not suffice is certain for levels that have a
//! [`Level::witness`]: a concrete thread state that is in no word known before.

mod opaque_states;
pub mod runs;

use std::sync::Arc;

use rustc_hash::FxHashSet;

use self::opaque_states::OpaqueStates;
use super::explicit::{Explicit, each_level};
use super::karp_miller::KarpMiller;
use super::views::singles::Singles;
use super::{Engine, Watch};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Trace, Unknown, Verdict, Views};
use throng_model::{Bag, Config, Local, Model, Shared};

/// A shared state, and a thread.
pub type ThreadState = (Shared, Local);

/// How to know that there is nothing more.
pub enum Method<'e> {
    /// All reachable thread states are computed first.
    Exact(&'e KarpMiller),
    /// Candidates are proved unreachable when nothing new has appeared.
    Dynamic(&'e dyn Engine),
}

/// A cutoff and its evidence.
#[derive(Clone, Debug)]
pub struct Cutoff {
    /// So many threads show every reachable thread state, and fewer do not.
    pub threads: u32,
    /// The numbers of threads that bring something new, ascending.
    pub levels: Vec<Level>,
    /// Every thread state that any number of threads can reach, sorted.
    pub reachable: Vec<ThreadState>,
    /// Why there are no others.
    pub closed: Closed,
}

/// What one more thread brings.
#[derive(Clone, Debug)]
pub struct Level {
    /// How many threads.
    pub threads: u32,
    /// How many thread states need so many.
    pub new: usize,
    /// One of them.
    pub example: ThreadState,
    /// A concrete one that is in no thread state known before; always there if words are plain states.
    pub witness: Option<ThreadState>,
    /// How the example is reached.
    pub trace: Trace,
}

/// Why no further thread state can be reached.
#[derive(Clone, Debug)]
pub enum Closed {
    /// ω-configurations that cover all that is reachable.
    Downward(Arc<Vec<Config>>),
    /// The 1-view closure, and for each of its thread states that is not reachable, why.
    Each(Views, Vec<(ThreadState, Certificate)>),
}

/// Finds the cutoff.
pub fn cutoff(
    problem: &Problem,
    method: &Method<'_>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Cutoff, Unknown> {
    if problem.bound != Bound::Any {
        return Err(Unknown::NotForThisModel(
            "a cutoff is about any number of threads: give no bound".into(),
        ));
    }
    let plain = Problem { model: OpaqueStates::of(&problem.model), targets: Vec::new(), ..problem.clone() };
    let mut known =
        Known { model: &*problem.model, states: Vec::new(), set: FxHashSet::default(), fresh: Vec::new() };
    let closed = match method {
        Method::Exact(engine) => exact(&plain, engine, &mut known, limits, watch)?,
        Method::Dynamic(prover) => dynamic(&plain, *prover, &mut known, limits, watch)?,
    };
    let traces = traces(&plain, &known.fresh, limits, watch)?;
    let levels: Vec<Level> = known.fresh.into_iter().zip(traces).map(|(f, trace)| f.level(trace)).collect();
    let mut reachable = known.states;
    reachable.sort_unstable();
    Ok(Cutoff { threads: levels.last().map_or(0, |l| l.threads), levels, reachable, closed })
}

/// The thread states reached so far.
struct Known<'m> {
    model: &'m dyn Model,
    states: Vec<ThreadState>,
    set: FxHashSet<ThreadState>,
    fresh: Vec<Fresh>,
}

/// What a level brought.
struct Fresh {
    threads: u32,
    new: usize,
    example: ThreadState,
    witness: Option<ThreadState>,
}

impl Fresh {
    fn level(self, trace: Trace) -> Level {
        let Fresh { threads, new, example, witness } = self;
        Level { threads, new, example, witness, trace }
    }
}

impl Known<'_> {
    /// Adds what is reached with this many threads, all told; whether something is new.
    fn add(&mut self, threads: u32, reached: &[ThreadState]) -> bool {
        let new: Vec<ThreadState> = reached.iter().copied().filter(|&t| !self.has(t)).collect();
        let samples = new.iter().map(|&(s, l)| (self.model.sample_shared(s), self.model.sample_local(l)));
        let found = new.iter().copied().zip(samples).find(|(_, sample)| !self.has(*sample));
        let Some(&first) = new.first() else { return false };
        let example = found.map_or(first, |f| f.0);
        self.fresh.push(Fresh { threads, new: new.len(), example, witness: found.map(|f| f.1) });
        self.set.extend(new.iter().copied());
        self.states.extend(new);
        true
    }

    /// Whether all of this thread state is within a known one.
    fn has(&self, (s, l): ThreadState) -> bool {
        if self.model.is_exact() || self.set.contains(&(s, l)) {
            return self.set.contains(&(s, l));
        }
        self.states.iter().any(|&(t, m)| self.model.within_shared(s, t) && self.model.within_local(l, m))
    }
}

/// Grows n until all that `karp-miller` found is there.
fn exact(
    problem: &Problem,
    engine: &KarpMiller,
    known: &mut Known<'_>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Closed, Unknown> {
    let coverability = engine.coverability(problem, limits, watch)?;
    let mut missing = coverability.thread_states();
    each_level(problem, limits, watch, |threads, reached| {
        known.add(threads, &reached);
        missing.retain(|&t| !known.has(t));
        Ok(!missing.is_empty())
    })?;
    Ok(Closed::Downward(coverability.maximal))
}

/// Grows n; whenever nothing new appears, asks `prover` whether there is anything left.
fn dynamic(
    problem: &Problem,
    prover: &dyn Engine,
    known: &mut Known<'_>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Closed, Unknown> {
    let singles = Singles::of(problem, limits)?;
    let mut open = singles.thread_states();
    let mut awaited: Vec<ThreadState> = Vec::new();
    let mut proved = Vec::new();
    let mut ask = |open: &mut Vec<ThreadState>, awaited: &mut Vec<ThreadState>| {
        for (state, verdict) in judge(problem, prover, std::mem::take(open), limits, watch) {
            match verdict {
                Verdict::Safe(certificate) => proved.push((state, certificate)),
                Verdict::Unsafe(_) => awaited.push(state),
                Verdict::Unknown(why) => return Err(why),
            }
        }
        Ok(())
    };
    each_level(problem, limits, watch, |threads, reached| {
        let is_new = known.add(threads, &reached);
        open.retain(|&t| !known.has(t));
        awaited.retain(|&t| !known.has(t));
        // No need to ask while something that is reachable is still to come, or while new things appear anyway.
        if awaited.is_empty() && (!is_new || open.is_empty()) {
            ask(&mut open, &mut awaited)?;
        }
        Ok(!(awaited.is_empty() && open.is_empty()))
    })?;
    // If larger numbers cannot differ, nobody may have been asked.
    ask(&mut open, &mut awaited)?;
    // What covers all that is reachable says it for every candidate at once. And it has to where words overlap: a word may be unreachable although
    // some of its states are reached, by way of another word.
    let covers = proved.iter().find_map(|(_, certificate)| match certificate {
        Certificate::Downward(set) => Some(Closed::Downward(set.clone())),
        _ => None,
    });
    Ok(covers.unwrap_or_else(|| Closed::Each(singles.views(), proved)))
}

/// Asks whether thread states can be reached.
fn judge(
    problem: &Problem,
    prover: &dyn Engine,
    states: Vec<ThreadState>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Vec<(ThreadState, Verdict)> {
    if states.is_empty() {
        return Vec::new();
    }
    let asked = Problem { targets: states.iter().map(|&t| target(problem, t)).collect(), ..problem.clone() };
    states.into_iter().zip(prover.run(&asked, limits, watch).verdicts).collect()
}

/// A shortest run with the fewest threads to each example.
fn traces(
    problem: &Problem,
    fresh: &[Fresh],
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<Trace>, Unknown> {
    let targets = fresh.iter().map(|f| target(problem, f.example)).collect();
    let asked = Problem { targets, ..problem.clone() };
    let verdicts = Explicit::default().run(&asked, limits, watch).verdicts;
    let trace = |verdict| match verdict {
        Verdict::Unsafe(trace) => Ok(trace),
        Verdict::Unknown(why) => Err(why),
        // It was reached just before.
        Verdict::Safe(_) => Err(Unknown::Cancelled),
    };
    verdicts.into_iter().map(trace).collect()
}

fn target(problem: &Problem, (s, l): ThreadState) -> Target {
    let name = format!("{} | {}", problem.model.shared_name(s), problem.model.local_name(l));
    Target { name, configs: vec![Config::new(s, Bag::one(l))] }
}
