//! Deadlocks: configurations in which no thread can move although some thread has not ended ([`throng_model::deadlock`]).
//!
//! A deadlock is not upward closed: one more thread may move, and wake the others. So nothing that covers configurations finds it. There are two ways:
//!
//! - *Search*: every configuration with at most 1, 2, 3, … threads is visited and looked at. Where that comes to an end (a thread bound, or a number of threads that
//!   no step raises), it is exact, and the set of what was visited is the proof; else it finds the deadlocks with the fewest threads and never ends.
//! - *Proof*, for any number of threads: in a deadlock with shared state s, all threads are in local states that occur with s and in which a thread can be stuck. For each of these a vector is
//!   sought, by a linear program over the steps that views allow, that no step increases and that is too large there: `the lock is taken` minus `threads that
//!   hold it` (thread-state equations, with zeros for all local states that can move). It may be negative where no thread is. The rule is in `throng_check::rules`.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::equations::{exact, lp};
use super::facts::{FactStore, Facts};
use super::levels::Levels;
use super::{Progress, Statistics, Watch};
use throng_model::deadlock::{DEADLOCK, deadlocked, may_be_stuck, moves_by_itself};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Relative, Taken, Trace, Unknown, Vector, Verdict};
use throng_model::{Config, Local, Shared, Step, semantics};

/// What is done about deadlocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Search a little, then look for a proof, then search on.
    Both,
    /// Search only.
    Search,
    /// Proof only.
    Proof,
}

/// What was found about deadlocks.
pub struct Found {
    /// The deadlock that was found, as something to cover, or nothing.
    pub target: Target,
    /// The answer.
    pub verdict: Verdict,
    /// What answered.
    pub by: &'static str,
    /// What the search did.
    pub statistics: Statistics,
}

impl Found {
    /// Nothing.
    pub fn unknown(why: Unknown) -> Found {
        let (verdict, statistics) = (Verdict::Unknown(why), Statistics::default());
        Found { target: Target::deadlock(), verdict, by: "explicit", statistics }
    }
}

/// Work before a proof is tried, in ticks.
const FIRST: u64 = 1 << 18;

/// Looks for deadlocks.
pub fn find(
    problem: &Problem,
    method: Method,
    most: Option<u32>,
    limits: &Limits,
    watch: &dyn Watch,
) -> Found {
    let mut search = Search::new(problem, most);
    let mut by = "explicit";
    let done = match (problem.model.blocking(), problem.model.is_exact()) {
        (Some(why), false) => {
            Err(Unknown::NotForThisModel(format!("deadlocks cannot be asked about: {why}")))
        }
        _ => match method {
            Method::Search => search.run(limits, watch),
            Method::Proof => prove(problem, limits).and_then(proved),
            Method::Both => match search.run(&limits.part().work(FIRST), watch) {
                Err(why @ (Unknown::Work | Unknown::Bound(_))) => match prove(problem, limits) {
                    Ok(Some(proof)) => {
                        by = "equations";
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
        by = "equations";
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
    let configs = search.deadlock.into_iter().collect();
    Found { target: Target::covering(DEADLOCK, configs), verdict, by, statistics: search.statistics }
}

fn proved(proof: Option<Certificate>) -> Result<Verdict, Unknown> {
    let none = "no vectors show that a thread can always move, which need not mean that there is a deadlock";
    proof.map(Verdict::Safe).ok_or_else(|| Unknown::Inconclusive(none.into()))
}

/// A search that can be resumed after its share of work is used up.
struct Search<'p> {
    problem: &'p Problem,
    /// Give up beyond this many threads.
    most: Option<u32>,
    /// What was visited, with the configuration before and the step.
    visited: IndexMap<Config, Option<(usize, Step)>, FxBuildHasher>,
    /// The next to be looked at.
    next: usize,
    level: Option<u32>,
    /// Configurations that are too large for this level, with where they come from.
    later: Vec<(Config, (usize, Step))>,
    complete_up_to: Option<u32>,
    searched: bool,
    deadlock: Option<Config>,
    statistics: Statistics,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, most: Option<u32>) -> Search<'p> {
        Search {
            problem,
            most,
            visited: IndexMap::default(),
            next: 0,
            level: None,
            later: Vec::new(),
            complete_up_to: None,
            searched: false,
            deadlock: None,
            statistics: Statistics::default(),
        }
    }

    fn run(&mut self, limits: &Limits, watch: &dyn Watch) -> Result<Verdict, Unknown> {
        self.searched = true;
        let levels = Levels::new(self.problem);
        let mut ticker = Ticker::new(limits);
        loop {
            if let Some(level) = self.level
                && let Some(found) = self.finish_level(level, &mut ticker, watch)?
            {
                return Ok(found);
            }
            let pruned = self.later.iter().map(|l| l.0.threads.size()).min();
            let next = match levels.next(self.level, pruned) {
                Some(next) => next,
                // What happens at the bound itself differs from what happens below it.
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

    /// Prepares the next level; on the way to it, nothing is lost if the search stops.
    fn begin_level(&mut self, level: u32, levels: &Levels) -> Result<(), Unknown> {
        let before = self.level.filter(|_| !self.is_last(level));
        if self.is_last(level) {
            // At the bound `start_thread` acts like `skip`: all steps are taken anew.
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

    /// Whether the bound on threads is reached, so that steps create none.
    fn is_last(&self, level: u32) -> bool {
        self.problem.bound.threads() == Some(level)
    }

    /// Looks at everything that is open in a level; a deadlock, if there is one.
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
                    phase: format!("deadlocks, up to {level} threads"),
                    configurations: self.visited.len() as u64,
                    frontier: (self.visited.len() - self.next) as u64,
                });
            }
            if let Some(stuck) = deadlocked(model, &config, bound)? {
                self.deadlock = Some(stuck);
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
        self.complete_up_to = Some(level);
        Ok(None)
    }

    /// The run to a configuration that was visited.
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

/// A proof that any number of threads has no deadlock, if one is found.
fn prove(problem: &Problem, limits: &Limits) -> Result<Option<Certificate>, Unknown> {
    let model = &*problem.model;
    if problem.bound != Bound::Any || model.blocking().is_some() {
        return Ok(None);
    }
    let facts = FactStore::default().get_or_find(problem, limits)?;
    let system = lp::Equations::new(problem, &facts);
    let mut ticker = Ticker::new(limits);
    let mut known: Vec<Weighted> = Vec::new();
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
            if known.iter().any(|w| w.excludes(s, l, &others)) {
                continue;
            }
            let Some(numbers) = system.without_movers(problem, s, l, &others, limits)? else {
                return Ok(None);
            };
            let found = exact::vectors(&numbers)
                .filter_map(|vector| Weighted::new(problem, &facts, system.vector(&vector)))
                .find(|w| w.excludes(s, l, &others));
            match found {
                Some(vector) => known.push(vector),
                None => return Ok(None),
            }
        }
    }
    let vectors = known.into_iter().map(|w| w.vector).collect();
    let relative = Relative { views: facts.views().clone(), vectors, basis: Vec::new() };
    Ok(Some(Certificate::Relative(Arc::new(relative))))
}

/// A vector that no possible step increases; it may be negative.
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

    /// Whether it says that no configuration with `s` has a thread at `l` and all its threads at `l` and `others`.
    fn excludes(&self, s: Shared, l: Local, others: &[Local]) -> bool {
        self.value(s, &[(l, 1)]) > self.most && others.iter().all(|&other| self.of_local(other) >= 0)
    }
}
