//! `cutoff`: the smallest number of threads that shows every reachable thread state (STAR chapter
//! 4; ECUT: IJIT section 5.1).
//!
//! # What it means
//!
//! A thread state (s, l) is *reachable with n threads* if some run reaches a configuration with
//! shared state s and a thread at l, and at most n threads exist at any time of this run: for
//! programs that create threads, these count too, and so do the ones that have not moved. That is
//! the reading without skipping: a `start_thread` beyond n threads is not a step of the run, rather
//! than a step that creates nothing (reference 2.5), whose thread states need not be reachable with
//! more threads. So the sets R₁ ⊆ R₂ ⊆ … only grow; there are finitely many thread states, so they
//! stop growing, and the *reachability cutoff* n₀ is the first n with Rₙ = R∞. That Rₙ = Rₙ₊₁ does
//! not mean that n is the cutoff.
//!
//! Thread states are those that `reach` lists: concrete ones, at moments at which no thread is
//! inside an atomic section (reference 7.1). Where a model's states stand for sets
//! ([`throng_model`]), different ones may overlap, so sets are compared, never their codes
//! ([`super::thread_states::without`]).
//!
//! # Two ways
//!
//! [`Method::Exact`] computes R∞ by `karp-miller` and then grows n until Rₙ is all of it.
//! [`Method::Dynamic`] grows n without knowing R∞. When a level brings nothing new, it asks a
//! prover whether any further thread state can be reached at all. The candidates are the thread
//! states that views (pair views if they can be computed, else views of single threads) do not rule
//! out. If none is reachable, the last level that brought something is the cutoff; else the prover
//! has a run to one, which will turn up at some later level. This way needs no acceleration, so it
//! also serves models whose steps move other threads.

pub mod runs;

use std::sync::Arc;

use self::runs::Runs;
use super::explicit::{Listed, each_level};
use super::facts::FactStore;
use super::karp_miller::KarpMiller;
use super::thread_states::{canonical, expanded, without};
use super::{Algorithm, Watch};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Trace, Unknown, Verdict};
use throng_model::views::Views;
use throng_model::{Bag, Config, Local, Model, Shared};

/// A thread state: a shared state and the local state of a thread.
pub type ThreadState = (Shared, Local);

/// How to know that there is nothing more.
pub enum Method<'e> {
    /// All reachable thread states are computed first.
    Exact(&'e KarpMiller),
    /// Candidates are proved unreachable when nothing new has appeared; views are taken from the
    /// store, or left there.
    Dynamic(&'e dyn Algorithm, &'e FactStore),
}

/// A cutoff and its evidence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cutoff {
    /// So many threads show every reachable thread state, and fewer do not.
    pub threads: u32,
    /// The numbers of threads that bring something new, ascending.
    pub levels: Vec<Level>,
    /// Every thread state that any number of threads can reach, disjoint, as in [`canonical`].
    pub reachable: Vec<ThreadState>,
    /// Runs with at most so many threads, into every thread state that a search meets: the same
    /// states, in other pieces.
    pub runs: Runs,
    /// Why there are no others.
    pub closed: Closed,
}

impl Cutoff {
    /// How many thread states are reachable: as many as `reach` lists.
    pub fn states(&self, model: &dyn Model) -> usize {
        expanded(model, self.reachable.clone()).len()
    }
}

/// What one more thread brings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Level {
    /// How many threads.
    pub threads: u32,
    /// How many thread states need so many, as in [`expanded`].
    pub new: usize,
    /// One of them, concrete.
    pub example: ThreadState,
    /// How the example is reached.
    pub trace: Trace,
}

/// Why no further thread state can be reached.
#[derive(Clone, Debug)]
pub enum Closed {
    /// ω-configurations that cover all that is reachable.
    Downward(Arc<Vec<Config>>),
    /// Views, and why the thread states that they hold beside the reachable ones, if any, cannot be
    /// reached either.
    Views(Arc<Views>, Option<(Vec<ThreadState>, Certificate)>),
}

/// Finds the cutoff. Levels are searched by so many `jobs`.
pub fn cutoff(
    problem: &Problem,
    method: &Method<'_>,
    jobs: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Cutoff, Unknown> {
    if problem.bound != Bound::Any {
        return Err(Unknown::NotForThisModel(
            "a cutoff is about any number of threads: give no bound".into(),
        ));
    }
    let problem = Problem { targets: Vec::new(), ..problem.clone() };
    let search = Search { problem: &problem, inside_atomic: false, jobs, limits, watch };
    let (known, closed) = match method {
        Method::Exact(engine) => search.exact(engine)?,
        Method::Dynamic(prover, store) => search.dynamic(*prover, store)?,
    };
    let Known { states: reachable, runs, levels } = known;
    let threads = levels.last().map_or(0, |l| l.threads);
    Ok(Cutoff { threads, levels, reachable, runs, closed })
}

/// Every thread state that any number of threads can reach, also inside atomic sections, as in
/// [`canonical`]: by growing n and proving that there are no others.
pub fn reachable(
    problem: &Problem,
    prover: &dyn Algorithm,
    store: &FactStore,
    jobs: usize,
    limits: &Limits,
    watch: &dyn Watch,
) -> Result<Vec<ThreadState>, Unknown> {
    let problem = Problem { targets: Vec::new(), ..problem.clone() };
    let search = Search { problem: &problem, inside_atomic: true, jobs, limits, watch };
    Ok(search.dynamic(prover, store)?.0.states)
}

/// The thread states at moments at which no thread is inside an atomic section.
pub fn outside_atomic(model: &dyn Model, mut states: Vec<ThreadState>) -> Vec<ThreadState> {
    states.retain(|&(s, _)| !model.inside_atomic(s));
    states
}

/// The thread states reached so far.
#[derive(Default)]
struct Known {
    /// Disjoint.
    states: Vec<ThreadState>,
    runs: Runs,
    levels: Vec<Level>,
}

/// What a prover finds out about candidates.
enum Proved {
    /// None can be reached.
    Never(Certificate),
    /// This one can.
    Later(ThreadState),
}

struct Search<'a> {
    problem: &'a Problem,
    /// Whether moments at which a thread is inside an atomic section count.
    inside_atomic: bool,
    jobs: usize,
    limits: &'a Limits,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    /// Grows n until all that `karp-miller` found is there.
    fn exact(&self, engine: &KarpMiller) -> Result<(Known, Closed), Unknown> {
        let coverability = engine.coverability(self.problem, self.limits, self.watch)?;
        let mut missing = self.canonical(&self.visible(coverability.thread_states()))?;
        let mut known = Known::default();
        each_level(self.problem, self.jobs, self.limits, self.watch, |threads, reached| {
            self.add(&mut known, threads, reached)?;
            missing = self.without(&missing, &known)?;
            Ok(!missing.is_empty())
        })?;
        Ok((known, Closed::Downward(coverability.maximal)))
    }

    /// Grows n; whenever nothing new appears, asks `prover` whether there is anything left.
    fn dynamic(&self, prover: &dyn Algorithm, store: &FactStore) -> Result<(Known, Closed), Unknown> {
        let facts = store.get_or_find(self.problem, self.limits)?;
        let candidates = facts.singles().flat_map(|(s, locals)| locals.iter().map(move |&l| (s, l)));
        let mut open = self.canonical(&self.visible(candidates.collect()))?;
        let mut known = Known::default();
        let (mut awaited, mut proved) = (None, None);
        each_level(self.problem, self.jobs, self.limits, self.watch, |threads, reached| {
            let is_new = self.add(&mut known, threads, reached)?;
            open = self.without(&open, &known)?;
            if let Some(state) = awaited
                && self.without(&[state], &known)?.is_empty()
            {
                awaited = None;
            }
            // No need to ask while something that is reachable is still to come, or while new
            // things appear anyway.
            if !open.is_empty() && awaited.is_none() && !is_new && !known.states.is_empty() {
                match self.ask(prover, &open)? {
                    Proved::Never(why) => proved = Some(why),
                    Proved::Later(state) => awaited = Some(state),
                }
            }
            Ok(!open.is_empty() && proved.is_none())
        })?;
        // The levels may have ended, because larger numbers of threads cannot differ, before the
        // prover was asked.
        if !open.is_empty() && proved.is_none() {
            match self.ask(prover, &open)? {
                Proved::Never(why) => proved = Some(why),
                Proved::Later(_) => {
                    let why = "internal error: a thread state that can be reached was not found";
                    return Err(Unknown::Inconclusive(why.into()));
                }
            }
        }
        let closed = match proved {
            // What covers all that is reachable says it for every candidate.
            Some(Certificate::Downward(set)) => Closed::Downward(set),
            proved => Closed::Views(facts.views().clone(), proved.map(|why| (open, why))),
        };
        Ok((known, closed))
    }

    /// Adds all that is reached with so many threads; whether something is new.
    fn add(&self, known: &mut Known, threads: u32, listed: &Listed<'_>) -> Result<bool, Unknown> {
        let model = &*self.problem.model;
        let search_states = self.visible(listed.thread_states());
        let new = self.without(&search_states, known)?;
        let Some(&(s, l)) = new.first() else { return Ok(false) };
        let example = (model.sample_shared(s), model.sample_local(l));
        let trace = self.run_to(example, listed)?;
        known.levels.push(Level { threads, new: expanded(model, new).len(), example, trace });
        known.states = self.canonical(&search_states)?;
        known.runs = runs::runs(model, listed, &search_states)?;
        Ok(true)
    }

    fn without(&self, states: &[ThreadState], known: &Known) -> Result<Vec<ThreadState>, Unknown> {
        without(self.problem, states, &known.states, self.limits)
    }

    fn visible(&self, states: Vec<ThreadState>) -> Vec<ThreadState> {
        if self.inside_atomic { states } else { outside_atomic(&*self.problem.model, states) }
    }

    fn canonical(&self, states: &[ThreadState]) -> Result<Vec<ThreadState>, Unknown> {
        canonical(self.problem, states, self.limits)
    }

    /// Whether one of these thread states can be reached.
    fn ask(&self, prover: &dyn Algorithm, states: &[ThreadState]) -> Result<Proved, Unknown> {
        let model = &*self.problem.model;
        let target = Target::covering("candidates", states.iter().map(|&t| alone(t)).collect());
        let asked = Problem { targets: vec![target], ..self.problem.clone() };
        match prover.run(&asked, self.limits, self.watch).verdicts.pop() {
            Some(Verdict::Safe(why)) => Ok(Proved::Never(why)),
            Some(Verdict::Unsafe(trace)) => {
                let end = trace.end();
                let met = states.iter().find_map(|&(s, l)| {
                    let shared = model.meet_shared(end.shared, s)?;
                    let local = end.threads.entries().iter().find_map(|e| model.meet_local(e.0, l))?;
                    Some((model.sample_shared(shared), model.sample_local(local)))
                });
                met.map(Proved::Later)
                    .ok_or_else(|| Unknown::Inconclusive("internal error: a run leads elsewhere".into()))
            }
            Some(Verdict::Unknown(why)) => Err(why),
            None => Err(Unknown::Cancelled),
        }
    }

    /// A shortest run to an example of what is reached.
    fn run_to(&self, (s, l): ThreadState, listed: &Listed<'_>) -> Result<Trace, Unknown> {
        let model = &*self.problem.model;
        let mut found = None;
        listed.each(|id, config| {
            let there = model.within_shared(s, config.shared)
                && config.threads.entries().iter().any(|e| model.within_local(l, e.0));
            found = there.then_some(id);
            !there
        })?;
        let internal = || Unknown::Inconclusive("internal error: an example was not found".into());
        found.map(|id| listed.run_to(id)).ok_or_else(internal)
    }
}

fn alone((s, l): ThreadState) -> Config {
    Config::new(s, Bag::one(l))
}
