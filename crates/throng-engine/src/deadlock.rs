//! Deadlocks: configurations in which no thread can move although some thread has not ended
//! ([`throng_model::deadlock`]); and threads that are stuck ([`throng_model::stuck`]).
//!
//! Neither is upward closed: one more thread may move, and wake the others. So engines that cover
//! configurations do not find them. There are two dedicated methods:
//!
//! - *Search*: every configuration with at most 1, 2, 3, … threads is visited and checked. If that
//!   ends (at a thread bound, or at a number of threads that no step raises), it is exact, and the
//!   visited set is the proof; otherwise it finds the deadlocks with the fewest threads and never
//!   ends.
//! - *Proof*, for any number of threads: in a deadlock with shared state s, all threads are in
//!   local states that occur with s and in which a thread can be stuck. For each of these, a linear
//!   program over the steps that views allow looks for a vector that no step increases and that is
//!   too large there: `the lock is taken` minus `threads that hold it` (thread-state equations,
//!   with zeros for all local states that can move). Weights may be negative for local states
//!   without threads there. The rule is in `throng_check::rules`. No thread is stuck if whoever
//!   waits has a helper ([`throng_model::helpers`]); that there is one is shown by such vectors.
//!   And no thread starves if no vector of steps can be repeated while it stays
//!   ([`throng_model::fair`]).

mod fair;

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::equations::{exact, lp};
use super::facts::{FactStore, Facts};
use super::levels::Levels;
use super::{Progress, Statistics, Watch};
use throng_model::deadlock::{deadlocked, may_be_stuck, moves_by_itself};
use throng_model::helpers::without_help;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target, What};
use throng_model::starvation::Starvation;
use throng_model::stuck::Stuck;
use throng_model::verdict::{Certificate, Relative, Taken, Trace, Unknown, Vector, Verdict};
use throng_model::{Config, Local, Shared, Step, semantics};

/// How deadlocks are searched or excluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Search within a budget, then attempt a proof, then continue the search.
    Both,
    /// Search only.
    Search,
    /// Proof only.
    Proof,
    /// Decision diagrams, where the number of threads is bounded.
    #[cfg(feature = "symbolic")]
    Symbolic,
}

/// The answer about deadlocks or stuck threads.
pub struct Found {
    /// The target; a deadlock or stuck thread that was found is added as a configuration.
    pub target: Target,
    /// The answer.
    pub verdict: Verdict,
    /// The method that answered.
    pub by: &'static str,
    /// The statistics of the search.
    pub statistics: Statistics,
}

impl Found {
    /// Returns an answer without a verdict.
    pub fn unknown(target: &Target, by: &'static str, why: Unknown) -> Found {
        let (verdict, statistics) = (Verdict::Unknown(why), Statistics::default());
        Found { target: target.clone(), verdict, by, statistics }
    }
}

/// Maximum number of configurations of a product that are checked.
#[cfg(feature = "symbolic")]
const MOST_OF_A_PRODUCT: usize = 1 << 20;

/// Budget of the search before a proof attempt, in ticks.
const FIRST: u64 = 1 << 18;

/// Answers `target`: deadlocks, or stuck threads.
pub fn find(
    problem: &Problem,
    target: &Target,
    method: Method,
    most: Option<u32>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Found {
    let mut search = Search::new(problem, target, most);
    let mut by = "explicit";
    let prove = |limits: &Limits| match target.what {
        What::Stuck => prove_free(problem, target, limits),
        What::Starvation => fair::prove(problem, target, limits),
        _ => prove(problem, limits),
    };
    let prover = match target.what {
        What::Stuck => "views",
        _ => "equations",
    };
    let done = match (problem.model.blocking(), problem.model.is_exact() && target.is_deadlock()) {
        (Some(why), false) => {
            let what = match target.what {
                What::Stuck => "stuck threads",
                What::Starvation => "starvation",
                _ => "deadlocks",
            };
            Err(Unknown::NotForThisModel(format!("{what} cannot be decided: {why}")))
        }
        _ => match method {
            Method::Search => search.run(limits, watch),
            #[cfg(feature = "symbolic")]
            Method::Symbolic if target.is_starvation() => {
                Err(Unknown::NotForThisModel("`explicit` and `auto` decide starvation".into()))
            }
            #[cfg(feature = "symbolic")]
            Method::Symbolic => {
                by = "symbolic";
                by_diagrams(problem, target, limits, watch, &mut search)
            }
            Method::Proof => prove(limits).and_then(|proof| proved(target, proof)),
            Method::Both => match search.run(&limits.part().work(FIRST), watch) {
                Err(why @ (Unknown::Work | Unknown::Bound(_))) => match prove(limits) {
                    Ok(Some(proof)) => {
                        by = prover;
                        Ok(Verdict::Safe(proof))
                    }
                    Ok(None) | Err(_) if why == Unknown::Work => search.run(limits, watch),
                    Ok(None) | Err(_) => Err(why),
                },
                done => done,
            },
        },
    };
    if method == Method::Proof {
        by = prover;
    }
    let so_far = search.complete_up_to;
    let verdict = done.unwrap_or_else(|why| {
        Verdict::Unknown(match (so_far, why) {
            (Some(n), why) if search.searched => {
                let threads = if n == 1 { "1 thread".into() } else { format!("{n} threads") };
                Unknown::Inconclusive(format!("none with up to {threads}; {why}"))
            }
            (_, why) => why,
        })
    });
    let mut answered = target.clone();
    answered.configs.splice(0..0, search.found);
    Found { target: answered, verdict, by, statistics: search.statistics }
}

fn proved(target: &Target, proof: Option<Certificate>) -> Result<Verdict, Unknown> {
    let none = match target.what {
        What::Starvation => {
            "some steps may be repeated for ever while a thread stays, as far as views and vectors show, which does not imply that it can starve"
        }
        What::Stuck => {
            "views and vectors do not show who would help a thread that waits, which does not imply that it can be stuck"
        }
        _ => "no vectors show that a thread can always move, which does not imply that there is a deadlock",
    };
    proof.map(Verdict::Safe).ok_or_else(|| Unknown::Inconclusive(none.into()))
}

/// Checks the configurations that the engine `symbolic` reaches, one by one.
#[cfg(feature = "symbolic")]
fn by_diagrams(
    problem: &Problem,
    target: &Target,
    limits: &Limits,
    watch: &dyn Watch,
    search: &mut Search<'_>,
) -> Result<Verdict, Unknown> {
    use super::{Algorithm, symbolic::Symbolic};
    if problem.bound == Bound::Any && problem.fixed_threads().is_none() {
        let why =
            "`symbolic` decides deadlocks and stuck threads only where the number of threads is bounded";
        return Err(Unknown::NotForThisModel(why.into()));
    }
    let symbolic = Symbolic { por: false, shortest: false, ..Symbolic::default() };
    let mut ask = |configs: Vec<Config>| {
        let asked = Problem { targets: vec![target.with_configs(configs)], ..problem.clone() };
        let mut answer = symbolic.run(&asked, limits, watch);
        search.statistics = answer.statistics;
        answer.verdicts.remove(0)
    };
    let products = match ask(Vec::new()) {
        Verdict::Safe(Certificate::Products(products)) => products,
        Verdict::Unknown(why) => return Err(why),
        _ => return Err(Unknown::Inconclusive("not all reachable configurations are known".into())),
    };
    let all = products.all(MOST_OF_A_PRODUCT);
    let all = all.ok_or_else(|| Unknown::Inconclusive("a product of sets is too large".into()))?;
    let (model, bound, mut ticker) = (&*problem.model, problem.bound.threads(), Ticker::new(limits));
    let found = match target.is_stuck() {
        true => Stuck::new(model, target, bound, None).find(all.iter(), &mut ticker)?.map(|found| found.0),
        false => {
            let each = all.iter().map(|config| {
                ticker.ticks(16)?;
                Ok(deadlocked(model, config, bound)?)
            });
            each.collect::<Result<Vec<_>, Unknown>>()?.into_iter().flatten().min_by_key(|c| c.threads.size())
        }
    };
    let Some(found) = found else { return Ok(Verdict::Safe(Certificate::Products(products))) };
    let run = ask(vec![found.clone()]);
    search.found = Some(found);
    match run {
        Verdict::Safe(_) => Err(Unknown::Inconclusive("a configuration was found, but no run to it".into())),
        Verdict::Unknown(why) => Err(why),
        run => Ok(run),
    }
}

/// A search that can be resumed after its share of work is used up.
struct Search<'p> {
    problem: &'p Problem,
    target: &'p Target,
    /// Maximum number of threads.
    most: Option<u32>,
    /// The visited configurations, each with its predecessor and the step.
    visited: IndexMap<Config, Option<(usize, Step)>, FxBuildHasher>,
    /// The index of the next configuration to check.
    next: usize,
    level: Option<u32>,
    /// Configurations that are too large for this level, with predecessor and step.
    later: Vec<(Config, (usize, Step))>,
    complete_up_to: Option<u32>,
    searched: bool,
    /// The deadlock, or the configuration with a stuck thread, that was found.
    found: Option<Config>,
    statistics: Statistics,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, target: &'p Target, most: Option<u32>) -> Search<'p> {
        Search {
            problem,
            target,
            most,
            visited: IndexMap::default(),
            next: 0,
            level: None,
            later: Vec::new(),
            complete_up_to: None,
            searched: false,
            found: None,
            statistics: Statistics::default(),
        }
    }

    fn run(&mut self, limits: &Limits, watch: &dyn Watch) -> Result<Verdict, Unknown> {
        self.searched = true;
        let levels = Levels::new(self.problem);
        let mut ticker = Ticker::new(limits);
        loop {
            if let Some(level) = self.level {
                if let Some(found) = self.finish_level(level, &mut ticker, watch)? {
                    return Ok(found);
                }
                if let Some(found) = self.find_stuck(level, &mut ticker)? {
                    return Ok(found);
                }
                self.complete_up_to = Some(level);
            }
            let pruned = self.later.iter().map(|l| l.0.threads.size()).min();
            let next = match levels.next(self.level, pruned) {
                Some(next) => next,
                // Steps at the bound itself differ from those below it.
                None => match levels.last().filter(|&last| self.level.is_none_or(|level| level < last)) {
                    Some(last) => last,
                    None if levels.last().is_some() || self.later.is_empty() => {
                        let all = self.visited.keys().cloned().collect();
                        return Ok(Verdict::Safe(Certificate::Closed(Arc::new(all))));
                    }
                    None => return Err(Unknown::uncountable()),
                },
            };
            if let Some(most) = self.most.filter(|&most| next > most) {
                return Err(Unknown::Bound(most));
            }
            self.begin_level(next, &levels)?;
        }
    }

    /// Prepares the next level. If the search stops during this, nothing is lost.
    fn begin_level(&mut self, level: u32, levels: &Levels) -> Result<(), Unknown> {
        let before = self.level.filter(|_| !self.is_last(level));
        if self.is_last(level) {
            // At the bound `start_thread` acts like `skip`, so all steps are computed anew.
            self.visited.clear();
            self.later.clear();
            self.next = 0;
        }
        let mut starts = Vec::new();
        levels.starts(before, level, &mut |config| {
            starts.push(config);
            Ok(())
        })?;
        for config in starts {
            self.visited.entry(config).or_insert(None);
        }
        let (now, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.later).into_iter().partition(|l| l.0.threads.size() <= level);
        self.later = later;
        for (config, from) in now {
            self.visited.entry(config).or_insert(Some(from));
        }
        self.level = Some(level);
        Ok(())
    }

    /// Returns whether the bound on threads is reached, so that steps create none.
    fn is_last(&self, level: u32) -> bool {
        self.problem.bound.threads() == Some(level)
    }

    /// Checks all open configurations of a level. Returns a deadlock, if there is one.
    fn finish_level(
        &mut self,
        level: u32,
        ticker: &mut Ticker,
        watch: &dyn Watch,
    ) -> Result<Option<Verdict>, Unknown> {
        let (model, bound) = (&*self.problem.model, self.problem.bound.threads());
        let counted = !matches!(self.problem.bound, Bound::Tokens(_));
        let mut after = Vec::new();
        while let Some((config, _)) = self.visited.get_index(self.next) {
            let config = config.clone();
            ticker.ticks(16)?;
            if self.next.is_multiple_of(4096) {
                watch.progress(&Progress {
                    engine: "explicit",
                    phase: format!("{}, up to {level} threads", self.target.name),
                    configurations: self.visited.len() as u64,
                    frontier: (self.visited.len() - self.next) as u64,
                });
            }
            if self.target.is_deadlock()
                && let Some(stuck) = deadlocked(model, &config, bound)?
            {
                self.found = Some(stuck);
                return Ok(Some(Verdict::Unsafe(self.trace(self.next))));
            }
            after.clear();
            semantics::successors(model, &config, bound.filter(|_| self.is_last(level)), &mut after)?;
            ticker.ticks(8 * after.len() as u32)?;
            for (step, config) in after.drain(..) {
                if !config.threads.is_countable() {
                    return Err(Unknown::uncountable());
                }
                self.statistics.steps += 1;
                if counted && config.threads.size() > level {
                    self.later.push((config, (self.next, step)));
                } else {
                    let from = self.next;
                    self.visited.entry(config).or_insert_with(|| Some((from, step)));
                }
            }
            self.next += 1;
            self.statistics.configurations = self.visited.len() as u64;
        }
        Ok(None)
    }

    /// Returns a stuck thread in a configuration of a complete level, if there is one.
    fn find_stuck(&mut self, level: u32, ticker: &mut Ticker) -> Result<Option<Verdict>, Unknown> {
        if self.target.is_starvation() {
            return self.find_lasso(level, ticker);
        }
        if !self.target.is_stuck() {
            return Ok(None);
        }
        let (model, bound) = (&*self.problem.model, self.problem.bound.threads());
        let stuck = Stuck::new(model, self.target, bound.filter(|_| self.is_last(level)), Some(level));
        let Some((config, at)) = stuck.find(self.visited.keys(), ticker)? else { return Ok(None) };
        self.found = Some(config);
        Ok(Some(Verdict::Unsafe(self.trace(at))))
    }

    /// Returns a fair execution in which a thread stays for ever: the run to a cycle, and once
    /// around it where that is a run of the model, too.
    fn find_lasso(&mut self, level: u32, ticker: &mut Ticker) -> Result<Option<Verdict>, Unknown> {
        let (model, bound) = (&*self.problem.model, self.problem.bound.threads());
        let bound = bound.filter(|_| self.is_last(level));
        let starvation = Starvation::new(model, self.target, bound, Some(level));
        let Some(lasso) = starvation.find(self.visited.keys(), ticker)? else { return Ok(None) };
        let mut trace = self.trace(lasso.origin);
        let end = trace.end();
        // Where states are sets, a member of one need not be where a run leads.
        if *end == lasso.start {
            trace.steps.extend(lasso.around);
        }
        self.found = Some(lasso.start);
        Ok(Some(Verdict::Unsafe(trace)))
    }

    /// Returns the run to a visited configuration.
    fn trace(&self, mut at: usize) -> Trace {
        let mut steps = Vec::new();
        loop {
            let Some((config, from)) = self.visited.get_index(at) else { unreachable!("it was visited") };
            match from {
                Some((before, step)) => {
                    steps.push(Taken { step: step.clone(), after: config.clone() });
                    at = *before;
                }
                None => {
                    steps.reverse();
                    return Trace { start: config.clone(), steps };
                }
            }
        }
    }
}

/// Returns a proof that no thread is stuck in the states of `target`, whatever their number, if one is
/// found.
fn prove_free(problem: &Problem, target: &Target, limits: &Limits) -> Result<Option<Certificate>, Unknown> {
    let model = &*problem.model;
    let facts = FactStore::default().get_or_find(problem, limits)?;
    let mut excluded = Excluded::new(problem, &facts, limits);
    let stuck = Stuck::new(model, target, None, None);
    let mut excludes = |s, l, others: &[Local]| excluded.holds(s, l, others);
    let left = without_help(&stuck, facts.views(), &mut excludes, &mut Ticker::new(limits))?;
    Ok(left.is_none().then(|| excluded.certificate()))
}

/// Returns a proof that any number of threads has no deadlock, if one is found.
fn prove(problem: &Problem, limits: &Limits) -> Result<Option<Certificate>, Unknown> {
    let model = &*problem.model;
    if problem.bound != Bound::Any || model.blocking().is_some() {
        return Ok(None);
    }
    let facts = FactStore::default().get_or_find(problem, limits)?;
    let mut excluded = Excluded::new(problem, &facts, limits);
    let mut ticker = Ticker::new(limits);
    let mut states: Vec<(Shared, &[Local])> = facts.singles().collect();
    states.sort_unstable();
    for (s, there) in states {
        if moves_by_itself(model, s)? {
            continue;
        }
        let mut stuck: Vec<Local> = Vec::new();
        for &l in there {
            ticker.ticks(16)?;
            if may_be_stuck(model, s, l)? {
                stuck.push(l);
            }
        }
        for &l in stuck.iter().filter(|l| !model.has_ended(**l)) {
            let together =
                |other: &Local| !facts.rules_out(&Config::new(s, [l, *other].into_iter().collect()));
            let others: Vec<Local> = stuck.iter().copied().filter(together).collect();
            ticker.ticks(8 * others.len() as u32 + 1)?;
            if !excluded.holds(s, l, &others)? {
                return Ok(None);
            }
        }
    }
    Ok(Some(excluded.certificate()))
}

/// Vectors that exclude configurations in which all threads are in some states, found on demand.
struct Excluded<'p> {
    problem: &'p Problem,
    facts: &'p Facts,
    limits: &'p Limits,
    /// The equations, once some vector is wanted.
    system: Option<lp::Equations>,
    known: Vec<Weighted>,
}

impl<'p> Excluded<'p> {
    fn new(problem: &'p Problem, facts: &'p Facts, limits: &'p Limits) -> Excluded<'p> {
        Excluded { problem, facts, limits, system: None, known: Vec::new() }
    }

    /// Returns whether no reachable configuration has `s`, a thread at `l`, and all its threads at
    /// `l` and `others`.
    fn holds(&mut self, s: Shared, l: Local, others: &[Local]) -> Result<bool, Unknown> {
        if self.known.iter().any(|w| w.excludes(s, l, others)) {
            return Ok(true);
        }
        let Excluded { problem, facts, limits, .. } = *self;
        if problem.bound != Bound::Any {
            return Ok(false);
        }
        let system = self.system.get_or_insert_with(|| lp::Equations::new(problem, facts));
        let Some(numbers) = system.without_movers(problem, s, l, others, limits)? else { return Ok(false) };
        let found = exact::vectors(&numbers)
            .filter_map(|vector| Weighted::new(problem, facts, system.vector(&vector)))
            .find(|w| w.excludes(s, l, others));
        let holds = found.is_some();
        self.known.extend(found);
        Ok(holds)
    }

    fn relative(self) -> Relative {
        let vectors: Vec<Vector> = self.known.into_iter().map(|w| w.vector).collect();
        Relative { vectors, ..Relative::of_views(self.facts.views().clone()) }
    }

    fn certificate(self) -> Certificate {
        let relative = self.relative();
        match relative.vectors.is_empty() {
            true => Certificate::Views(relative.views),
            false => Certificate::Relative(Arc::new(relative)),
        }
    }
}

/// A vector that no possible step increases; its weights may be negative.
struct Weighted {
    vector: Vector,
    shared: FxHashMap<Shared, i64>,
    locals: FxHashMap<Local, i64>,
    most: i128,
}

impl Weighted {
    fn new(problem: &Problem, facts: &Facts, vector: Vector) -> Option<Weighted> {
        let shared = vector.shared.iter().copied().collect();
        let locals = vector.locals.iter().copied().collect();
        let mut weighted = Weighted { vector, shared, locals, most: i128::MIN };
        for family in &problem.initial {
            if family.any.iter().any(|&l| weighted.of_local(l) > 0) {
                return None;
            }
            let start = weighted.value(family.shared, family.threads.entries());
            weighted.most = weighted.most.max(start);
        }
        let kept = |step: &Step| {
            let arrived = weighted.value(step.to, step.put.entries()) + weighted.of_all(step.spawn.entries());
            arrived <= weighted.value(step.from, step.take.entries())
                && facts
                    .fates(step)
                    .all(|(before, after)| weighted.of_local(after) <= weighted.of_local(before))
        };
        facts.steps().iter().all(kept).then_some(weighted)
    }

    fn of_local(&self, l: Local) -> i128 {
        self.locals.get(&l).copied().unwrap_or(0).into()
    }

    fn of_all(&self, threads: &[(Local, u32)]) -> i128 {
        threads.iter().map(|&(l, n)| self.of_local(l) * i128::from(n)).sum()
    }

    fn value(&self, s: Shared, threads: &[(Local, u32)]) -> i128 {
        i128::from(self.shared.get(&s).copied().unwrap_or(0)) + self.of_all(threads)
    }

    /// Returns whether it shows that no configuration with `s` has a thread at `l` and all its
    /// threads at `l` and `others`.
    fn excludes(&self, s: Shared, l: Local, others: &[Local]) -> bool {
        self.value(s, &[(l, 1)]) > self.most && others.iter().all(|&other| self.of_local(other) >= 0)
    }
}
