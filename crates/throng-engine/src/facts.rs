//! Facts about everything that any number of threads can reach, which engines use and exchange.
//!
//! First views (pair views if they could be computed, else views of single threads), then linear
//! invariants over the steps that the views allow. Configurations that they exclude need not be
//! explored, and both are evidence ([`throng_model::verdict::Relative`]).

mod pairs;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;

use rustc_hash::FxHashMap;

use super::Silent;
use super::views::closure::Closure;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Initial, Problem};
use throng_model::singles::Singles;
use throng_model::verdict::{Unknown, Vector};
use throng_model::views::Views;
use throng_model::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// Invariants of a problem, independent of its targets.
pub struct Facts {
    model: Arc<dyn Model>,
    built_of: Built,
    /// The possible steps, computed on demand.
    steps: OnceLock<Vec<Step>>,
    /// For each shared state, the local states that may occur with it, computed on demand.
    singles: OnceLock<FxHashMap<Shared, Vec<Local>>>,
    linear: Mutex<Arc<Vec<Linear>>>,
}

enum Built {
    Pairs(Arc<Views>),
    Singles(Singles, OnceLock<Arc<Views>>),
}

/// The local states that a wanted thread may be in, and the number of such threads.
pub type Fitting = (Vec<Local>, u32);

/// A vector that no possible step increases, prepared for evaluation.
#[derive(Clone)]
pub struct Linear {
    /// The vector.
    pub vector: Vector,
    shared: FxHashMap<Shared, i64>,
    locals: FxHashMap<Local, i64>,
    /// The maximal value of a reachable configuration.
    most: i128,
}

/// Budget of pair views in ticks when another engine needs them; beyond it, views of single threads
/// must do.
const WORK_FOR_PAIRS: u64 = 1 << 24;

impl Facts {
    /// Returns the facts from views of two threads.
    pub fn of_pairs(problem: &Problem, closure: Closure) -> Facts {
        Facts::new(problem, Built::Pairs(Arc::new(closure.into_views())))
    }

    /// Returns the facts from views of one thread.
    pub fn of_singles(problem: &Problem, limits: &Limits) -> Result<Facts, Unknown> {
        let found = Singles::of(&*problem.model, &problem.initial, usize::MAX, limits)??;
        Ok(Facts::new(problem, Built::Singles(found, OnceLock::new())))
    }

    fn new(problem: &Problem, built_of: Built) -> Facts {
        let (model, linear) = (problem.model.clone(), Mutex::default());
        Facts { model, built_of, steps: OnceLock::new(), singles: OnceLock::new(), linear }
    }

    /// Returns the views, as evidence.
    pub fn views(&self) -> &Arc<Views> {
        match &self.built_of {
            Built::Pairs(views) => views,
            Built::Singles(singles, views) => views.get_or_init(|| Arc::new(singles.views())),
        }
    }

    /// Returns the possible steps.
    pub fn steps(&self) -> &[Step] {
        self.steps.get_or_init(|| match &self.built_of {
            Built::Pairs(views) => pairs::steps(&*self.model, views),
            Built::Singles(singles, _) => singles.steps().cloned().collect(),
        })
    }

    /// Returns the shared states that may occur, each with the local states that may occur there.
    pub fn singles(&self) -> impl Iterator<Item = (Shared, &[Local])> {
        self.local_states().iter().map(|(&s, ls)| (s, &ls[..]))
    }

    fn local_states(&self) -> &FxHashMap<Shared, Vec<Local>> {
        self.singles.get_or_init(|| match &self.built_of {
            Built::Pairs(views) => {
                views.groups().map(|(s, group)| (s, views.singles(group).collect())).collect()
            }
            Built::Singles(singles, _) => singles.shared().map(|s| (s, singles.at(s).collect())).collect(),
        })
    }

    /// Returns the vectors known so far.
    pub fn linear(&self) -> Arc<Vec<Linear>> {
        self.linear.lock().expect("no engine panics while it holds the vectors").clone()
    }

    /// Returns whether nothing reachable covers a concrete configuration of `config`.
    pub fn rules_out(&self, config: &Config) -> bool {
        let by_views = match &self.built_of {
            Built::Pairs(views) => pairs::exclude(&*self.model, views, config),
            Built::Singles(singles, _) => singles.excludes(&*self.model, config),
        };
        by_views || self.linear().iter().any(|linear| self.excludes(linear, config))
    }

    /// Adds a vector if no possible step increases it; returns `None` otherwise.
    pub fn learn(&self, problem: &Problem, vector: Vector) -> Option<Linear> {
        let linear = Linear::new(problem, vector)?;
        if !self.steps().iter().all(|step| self.is_kept(&linear, step)) {
            return None;
        }
        let mut known = self.linear.lock().expect("no engine panics while it holds the vectors");
        Arc::make_mut(&mut *known).push(linear.clone());
        Some(linear)
    }

    fn is_kept(&self, linear: &Linear, step: &Step) -> bool {
        let after = linear.value(step.to, &step.put) + linear.of_threads(&step.spawn);
        after <= linear.value(step.from, &step.take)
            && self.fates(step).all(|(before, after)| linear.of_local(after) <= linear.of_local(before))
    }

    /// Returns the changes of bystanders that do not stay: (before, after).
    pub fn fates(&self, step: &Step) -> impl Iterator<Item = (Local, Local)> {
        let mut found = Vec::new();
        let standing_by = self.local_states().get(&step.from).map_or(&[][..], Vec::as_slice);
        match step.others {
            Bystanders::Stay => {}
            Bystanders::WakeOne => {
                found.extend(standing_by.iter().filter_map(|&l| Some((l, self.model.woken_by(step, l)?))))
            }
            Bystanders::Transfer => {
                let mut fates = Vec::new();
                for &l in standing_by {
                    // The views are closed, so the list was complete when they were computed.
                    Incomplete::irrelevant(self.model.bystander(step, l, &mut fates));
                    found.extend(fates.drain(..).flatten().map(|after| (l, after)));
                }
            }
        }
        found.into_iter().filter(|(before, after)| before != after)
    }

    /// Returns the shared states of reachable configurations that may cover `config`, each with the
    /// possible local states of the threads of `config`.
    pub fn meeting(&self, config: &Config) -> Vec<(Shared, Vec<Fitting>)> {
        let model = &*self.model;
        if model.is_exact() {
            let threads = config.threads.entries().iter().map(|&(l, n)| (vec![l], n)).collect();
            return vec![(config.shared, threads)];
        }
        let meeting = self.local_states().iter().filter(|(s, _)| model.meets_shared(**s, config.shared));
        let mut found: Vec<_> = meeting
            .map(|(&s, there)| {
                let fitting = |l| there.iter().copied().filter(|&m| model.meets_local(m, l)).collect();
                (s, config.threads.entries().iter().map(|&(l, n)| (fitting(l), n)).collect())
            })
            .collect();
        found.sort_unstable();
        found
    }

    fn excludes(&self, linear: &Linear, config: &Config) -> bool {
        if self.model.is_exact() {
            return linear.value(config.shared, &config.threads) > linear.most;
        }
        self.meeting(config).iter().all(|(s, threads)| {
            let least = |ls: &[Local]| ls.iter().map(|&l| linear.of_local(l)).min().unwrap_or(0);
            let sum: i128 = threads.iter().map(|(ls, n)| least(ls) * i128::from(*n)).sum();
            linear.of_shared(*s) + sum > linear.most
        })
    }
}

impl Linear {
    /// Prepares a vector, provided that its weight is 0 wherever any number of threads may start.
    fn new(problem: &Problem, vector: Vector) -> Option<Linear> {
        let mut linear = Linear {
            shared: vector.shared.iter().copied().collect(),
            locals: vector.locals.iter().copied().collect(),
            most: i128::MIN,
            vector,
        };
        for family in &problem.initial {
            if family.any.iter().any(|&l| linear.of_local(l) != 0) {
                return None;
            }
            linear.most = linear.most.max(linear.value(family.shared, &family.threads));
        }
        linear.vector.locals.iter().all(|e| e.1 >= 0).then_some(linear)
    }

    fn of_shared(&self, s: Shared) -> i128 {
        self.shared.get(&s).copied().unwrap_or(0).into()
    }

    fn of_local(&self, l: Local) -> i128 {
        self.locals.get(&l).copied().unwrap_or(0).into()
    }

    fn of_threads(&self, threads: &Bag) -> i128 {
        threads.entries().iter().map(|&(l, n)| self.of_local(l) * i128::from(n)).sum()
    }

    fn value(&self, s: Shared, threads: &Bag) -> i128 {
        self.of_shared(s) + self.of_threads(threads)
    }
}

/// The exchange of facts between engines that run on one problem. Facts about an earlier problem
/// are dropped, so an engine may be used for one problem after another.
#[derive(Default)]
pub struct FactStore(Mutex<Exchange>);

#[derive(Default)]
struct Exchange {
    about: Option<(Arc<dyn Model>, Vec<Initial>, Bound)>,
    facts: Option<Arc<Facts>>,
    /// Facts from views of single threads, for callers that did not wait for better ones.
    singles: Option<Arc<Facts>>,
    /// Pair views that an engine had no time to finish.
    unfinished: Option<Closure>,
}

impl Drop for FactStore {
    /// Drops unfinished pair views in another thread: they may be millions of small allocations,
    /// and freeing them takes longer than a caller whose time is over wants to wait.
    fn drop(&mut self) {
        let unfinished = self.0.get_mut().ok().and_then(|left| left.unfinished.take());
        if let Some(closure) = unfinished {
            // Where no thread can be started, they are dropped here.
            let _ = thread::Builder::new().spawn(move || drop(closure));
        }
    }
}

impl FactStore {
    /// Returns the facts about `problem`.
    fn about(&self, problem: &Problem) -> MutexGuard<'_, Exchange> {
        let mut left = self.0.lock().expect("no engine panics while it holds the store");
        let Problem { model, initial, bound, .. } = problem;
        let same =
            left.about.as_ref().is_some_and(|(m, i, b)| Arc::ptr_eq(m, model) && i == initial && b == bound);
        if !same {
            let about = Some((model.clone(), initial.clone(), *bound));
            *left = Exchange { about, ..Exchange::default() };
        }
        left
    }

    /// Returns the unfinished closure of pair views, to be resumed.
    pub fn unfinished(&self, problem: &Problem) -> Closure {
        let left = self.about(problem).unfinished.take();
        left.unwrap_or_else(|| Closure::new(problem.model.clone()))
    }

    /// Returns the number of views in the unfinished closure.
    pub fn views_so_far(&self, problem: &Problem) -> u64 {
        self.about(problem).unfinished.as_ref().map_or(0, Closure::len)
    }

    /// Stores an unfinished closure for another engine.
    pub fn leave_unfinished(&self, problem: &Problem, closure: Closure) {
        self.about(problem).unfinished = Some(closure);
    }

    /// Stores facts; later ones replace earlier ones.
    pub fn put(&self, problem: &Problem, facts: Facts) -> Arc<Facts> {
        let facts = Arc::new(facts);
        self.about(problem).facts = Some(facts.clone());
        facts
    }

    /// Returns the stored facts.
    pub fn get(&self, problem: &Problem) -> Option<Arc<Facts>> {
        self.about(problem).facts.clone()
    }

    /// Returns the stored facts, or those from views of single threads: for callers that cannot
    /// wait for better ones.
    pub fn get_or_singles(&self, problem: &Problem, limits: &Limits) -> Result<Arc<Facts>, Unknown> {
        match self.get(problem) {
            Some(facts) => Ok(facts),
            None => {
                let known = self.about(problem).singles.clone();
                let singles = known.map_or_else(|| Facts::of_singles(problem, limits).map(Arc::new), Ok)?;
                self.about(problem).singles = Some(singles.clone());
                Ok(singles)
            }
        }
    }

    /// Returns the stored facts, or computes them.
    pub fn get_or_find(&self, problem: &Problem, limits: &Limits) -> Result<Arc<Facts>, Unknown> {
        if let Some(facts) = self.get(problem) {
            return Ok(facts);
        }
        let mut closure = self.unfinished(problem);
        if closure.run(problem, &limits.part().work(WORK_FOR_PAIRS), &Silent).is_ok() {
            return Ok(self.put(problem, Facts::of_pairs(problem, closure)));
        }
        self.leave_unfinished(problem, closure);
        limits.check()?;
        Ok(self.put(problem, Facts::of_singles(problem, limits)?))
    }
}

impl std::fmt::Debug for FactStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FactStore")
    }
}
