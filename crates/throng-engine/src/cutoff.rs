//! `cutoff`: the smallest number of threads that shows every reachable thread state (STAR chapter
//! 4; ECUT: IJIT section 5.1).
//!
//! # What it means
//!
//! A thread state (s, l) is *reachable with n threads* if some run reaches a configuration with
//! shared state s and a thread at l, and at most n threads exist at any time of this run: for
//! programs that create threads, these count too, even if they have not moved. A `start_thread`
//! beyond n threads is not a step of such a run. (As a step that creates nothing, see reference
//! 2.5, it could lead to thread states that are not reachable with more threads.) So the sets R₁ ⊆
//! R₂ ⊆ … only grow; there are finitely many thread states, so they stop growing, and the
//! *reachability cutoff* n₀ is the first n with Rₙ = R∞. That Rₙ = Rₙ₊₁ does not mean that n is the
//! cutoff.
//!
//! Thread states are those that `reach` lists: concrete ones, where no thread is inside an atomic
//! section (reference 7.1). Where a model's states stand for sets ([`throng_model`]), different
//! states may overlap, so sets are compared, never codes ([`super::thread_states::without`]).
//!
//! # Two ways
//!
//! [`Method::Exact`] computes R∞ by `karp-miller` and then grows n until Rₙ = R∞.
//! [`Method::Dynamic`] grows n without knowing R∞. When a level brings nothing new, it asks a
//! prover whether any further thread state can be reached at all. The candidates are the thread
//! states that views (pair views if they can be computed, else views of single threads) do not
//! exclude. If none is reachable, the last level that added something is the cutoff; otherwise the
//! prover has a run to one, which some later level will add. This method needs no acceleration, so
//! it also serves models whose steps move other threads.

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

/// How to determine that no further thread state is reachable.
pub enum Method<'e> {
    /// All reachable thread states are computed first.
    Exact(&'e KarpMiller),
    /// Candidates are proved unreachable when nothing new has appeared; views are taken from the
    /// store, or stored there.
    Dynamic(&'e dyn Algorithm, &'e FactStore),
}

/// A cutoff and its evidence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cutoff {
    /// The cutoff: this many threads reach every reachable thread state, and fewer do not.
    pub threads: u32,
    /// The numbers of threads that add something new, ascending.
    pub levels: Vec<Level>,
    /// Every thread state that any number of threads can reach, disjoint, as returned by
    /// [`canonical`].
    pub reachable: Vec<ThreadState>,
    /// Runs with at most that many threads into every thread state that the search finds: the same
    /// states, divided differently.
    pub runs: Runs,
    /// Why there are no other thread states.
    pub closed: Closed,
}

impl Cutoff {
    /// Returns the number of reachable thread states, as `reach` lists them.
    pub fn states(&self, model: &dyn Model) -> usize {
        expanded(model, self.reachable.clone()).len()
    }
}

/// The thread states that one more thread adds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Level {
    /// The number of threads.
    pub threads: u32,
    /// The number of thread states that need this many threads, as counted by [`expanded`].
    pub new: usize,
    /// A concrete one of them.
    pub example: ThreadState,
    /// A run to the example.
    pub trace: Trace,
}

/// Why no further thread state can be reached.
#[derive(Clone, Debug)]
pub enum Closed {
    /// ω-configurations that cover every reachable configuration.
    Downward(Arc<Vec<Config>>),
    /// Views, and a proof that the thread states in them beyond the reachable ones, if any, cannot
    /// be reached either.
    Views(Arc<Views>, Option<(Vec<ThreadState>, Certificate)>),
}

/// Finds the cutoff. Levels are searched by `jobs` threads.
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

/// Returns every thread state that any number of threads can reach, also inside atomic sections, as
/// in
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

/// Returns the thread states of configurations in which no thread is inside an atomic section.
pub fn outside_atomic(model: &dyn Model, mut states: Vec<ThreadState>) -> Vec<ThreadState> {
    states.retain(|&(s, _)| !model.inside_atomic(s));
    states
}

/// The thread states reached so far.
#[derive(Default)]
struct Known {
    /// Disjoint thread states.
    states: Vec<ThreadState>,
    runs: Runs,
    levels: Vec<Level>,
}

/// The result of a prover about candidates.
enum Proved {
    /// None of them can be reached.
    Never(Certificate),
    /// This one can be reached.
    Later(ThreadState),
}

struct Search<'a> {
    problem: &'a Problem,
    /// True if thread states inside atomic sections count.
    inside_atomic: bool,
    jobs: usize,
    limits: &'a Limits,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    /// Grows n until everything that `karp-miller` found is reached.
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

    /// Grows n; whenever nothing new appears, asks `prover` whether more can be reached.
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
            // The prover is not needed while a reachable candidate is still missing, or while new
            // thread states appear anyway.
            if !open.is_empty() && awaited.is_none() && !is_new && !known.states.is_empty() {
                match self.ask(prover, &open)? {
                    Proved::Never(why) => proved = Some(why),
                    Proved::Later(state) => awaited = Some(state),
                }
            }
            Ok(!open.is_empty() && proved.is_none())
        })?;
        // If larger numbers of threads cannot differ, the levels may have ended before the prover
        // was asked.
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
            // A set that covers everything reachable is evidence for every candidate.
            Some(Certificate::Downward(set)) => Closed::Downward(set),
            proved => Closed::Views(facts.views().clone(), proved.map(|why| (open, why))),
        };
        Ok((known, closed))
    }

    /// Adds what this many threads reach. Returns whether something is new.
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

    /// Asks the prover whether one of these thread states can be reached.
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

    /// Returns a shortest run to an example of a reached thread state.
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
