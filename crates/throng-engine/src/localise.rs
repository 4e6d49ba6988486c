//! Localisation with refinement: decides questions about a program with few of its variables.
//!
//! Each bad configuration starts with the variables that it mentions and the locks around them.
//! Everything else is left open, and places that are then equivalent are merged
//! ([`throng_model::localisation`]). If views of thread pairs, or backward search, show that the
//! smaller model is safe, so is the program.
//!
//! A run of the smaller model need not be one of the program. It is followed in the program
//! (`follow`): either that yields a run of the program, which the checker replays, or the blocked
//! conditions name the variables to add. If there are none, the variables that the kept ones depend
//! on are added, until there is an answer or there are no more.

mod follow;
mod places;
mod variables;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::follow::{Follow, Followed};
use self::places::Places;
use self::variables::{Dependences, Variables};
use super::backward::Pruned;
use super::explicit::Explicit;
use super::facts::FactStore;
use super::views::Views;
use super::{Algorithm, Answer, Quiet, Statistics, Watch};
use throng_lang::bp::program::live::live_slots;
use throng_lang::bp::program::{Coded, program_of};
use throng_model::limits::{Limits, Ticker};
use throng_model::localisation::localise;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Certificate, LocalProof, Trace, Unknown, Verdict};
use throng_model::{Config, Local, Model};

/// Ticks of the first search for a run of a localised program, which is usually small.
const FIRST_SHARE: u64 = 1 << 12;

/// Ratio of the shares of two consecutive searches.
const GROWTH: u64 = 4;

/// One tick of `explicit` costs about as much time as this many of `backward`.
const SLOWNESS_OF_EXPLICIT: u64 = 16;

/// Number of edges per tick in building a localised program.
const EDGES_PER_TICK: usize = 16;

/// The engine `localise`. It resumes if it is called with the same target of the same model again.
#[derive(Debug, Default)]
pub struct Localise {
    begun: Mutex<Vec<Begun>>,
}

/// The state of a target whose decision was interrupted.
struct Begun {
    model: Arc<dyn Model>,
    target: Target,
    progress: Progress,
}

/// Parts that are still open, and proofs of the others.
#[derive(Default)]
struct Progress {
    open: VecDeque<Part>,
    proofs: Vec<LocalProof>,
    /// Why some part was given up.
    stuck: Option<Unknown>,
}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { open, proofs, .. } = &self.progress;
        write!(f, "{}: {} parts open, {} proved", self.target.name, open.len(), proofs.len())
    }
}

impl Localise {
    fn begun(&self) -> MutexGuard<'_, Vec<Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the progress on a target, if it was begun.
    fn resume(&self, problem: &Problem, target: &Target) -> Option<Progress> {
        let mut begun = self.begun();
        let same = |b: &Begun| Arc::ptr_eq(&b.model, &problem.model) && b.target == *target;
        let at = begun.iter().position(same)?;
        Some(begun.swap_remove(at).progress)
    }
}

impl Algorithm for Localise {
    fn name(&self) -> &'static str {
        "localise"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut statistics = Statistics::default();
        let refuse = |why: &str| {
            let verdict = Verdict::Unknown(Unknown::NotForThisModel(why.into()));
            Answer::new(vec![verdict; problem.targets.len()], Statistics::default())
        };
        let Some(states) = program_of(&*problem.model) else {
            return refuse("only Boolean programs have variables to leave open");
        };
        let program = states.program();
        let search = Search {
            problem,
            states,
            dependences: Dependences::new(program),
            live: live_slots(program, &[]),
            limits,
            watch,
        };
        let mut verdicts = Vec::new();
        for target in &problem.targets {
            let fresh = || Progress { open: search.parts(target).into(), ..Progress::default() };
            let mut progress = self.resume(problem, target).unwrap_or_else(fresh);
            let verdict = search.decide(&mut progress, &mut statistics).unwrap_or_else(Verdict::Unknown);
            watch.found(verdicts.len(), &verdict);
            if verdict == Verdict::Unknown(Unknown::Work) {
                let (model, target) = (problem.model.clone(), target.clone());
                self.begun().push(Begun { model, target, progress });
            }
            verdicts.push(verdict);
        }
        Answer::new(verdicts, statistics)
    }
}

struct Search<'a> {
    problem: &'a Problem,
    states: &'a dyn Coded,
    dependences: Dependences<'a>,
    live: Vec<Vec<bool>>,
    limits: &'a Limits,
    watch: &'a dyn Watch,
}

/// Some bad configurations, and the variables kept to decide them.
struct Part {
    target: Target,
    /// The places of their threads, sorted.
    points: Vec<u32>,
    kept: Variables,
}

/// The result of one attempt at a part.
enum Attempt {
    Proof(LocalProof),
    Run(Trace),
    /// The attempt failed; these variables may suffice.
    Failed(Variables),
}

/// The result for the localised problem.
enum Solution {
    Proof(Certificate),
    Run(Trace),
    Nothing,
}

impl Search<'_> {
    /// Returns a proof for each bad configuration of the target, or a run to one.
    fn decide(&self, progress: &mut Progress, statistics: &mut Statistics) -> Result<Verdict, Unknown> {
        let mut ticker = Ticker::new(self.limits);
        let cost = self.dependences.accesses.len() / EDGES_PER_TICK;
        // Parts take turns, so that one that needs many variables does not delay the discovery of a
        // bug in another.
        while let Some(part) = progress.open.front_mut() {
            ticker.ticks(cost as u32)?;
            match self.attempt(part, statistics) {
                Ok(Attempt::Proof(proof)) => {
                    progress.proofs.push(proof);
                    progress.open.pop_front();
                }
                Ok(Attempt::Run(run)) => return Ok(Verdict::Unsafe(run)),
                Ok(Attempt::Failed(kept)) => {
                    part.kept = kept;
                    progress.open.rotate_left(1);
                }
                Err(why @ Unknown::Inconclusive(_)) => {
                    progress.stuck = Some(why);
                    progress.open.pop_front();
                }
                Err(why) => return Err(why),
            }
        }
        match progress.stuck.take() {
            None => Ok(Verdict::Safe(Certificate::Localised(Arc::new(std::mem::take(&mut progress.proofs))))),
            Some(why) => Err(why),
        }
    }

    /// Groups bad configurations by the variables they mention, and adds the locks around these.
    fn parts(&self, target: &Target) -> Vec<Part> {
        // A part covers all bad configurations at its places. So those at one place belong to one
        // part, and if some have several threads, all do.
        let single = target.configs.iter().all(|bad| bad.threads.size() < 2);
        let mut by_places: BTreeMap<Vec<u32>, (Variables, Vec<Config>)> = BTreeMap::new();
        for bad in &target.configs {
            let kept = self.dependences.of_property(self.states, bad);
            let places = if single { self.places(bad) } else { Vec::new() };
            let (all, configs) = by_places.entry(places).or_default();
            all.extend(kept);
            configs.push(bad.clone());
        }
        let mut groups: BTreeMap<Variables, Vec<Config>> = BTreeMap::new();
        for (kept, configs) in by_places.into_values() {
            groups.entry(kept).or_default().extend(configs);
        }
        let part = |(mut kept, configs): (Variables, Vec<Config>)| {
            let mut points: Vec<u32> = configs.iter().flat_map(|c| self.places(c)).collect();
            points.sort_unstable();
            points.dedup();
            kept.extend(self.dependences.locks(&kept, &points));
            Part { target: target.with_configs(configs), points, kept }
        };
        groups.into_iter().map(part).collect()
    }

    /// Returns the places of the threads of a configuration.
    fn places(&self, config: &Config) -> Vec<u32> {
        let mut found: Vec<u32> =
            config.threads.entries().iter().map(|&(l, _)| self.states.local_cube(l).0).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns a proof for some bad configurations, or a run to one, if the kept variables suffice.
    fn attempt(&self, part: &Part, statistics: &mut Statistics) -> Result<Attempt, Unknown> {
        let Part { target, points: bad, kept } = part;
        self.limits.check()?;
        if self.dependences.is_too_wide(kept) {
            return self.extended(kept).map(Attempt::Failed);
        }
        let places =
            Places { dependences: &self.dependences, states: self.states, kept, live: &self.live, bad };
        let map = places.localisation();
        let (problem, smaller) = localise(self.problem, target, &map).map_err(Unknown::Inconclusive)?;
        let lacks = match self.solve(&problem, statistics)? {
            Solution::Proof(proof) => {
                let at = bad.iter().map(|&p| self.place(p)).collect();
                return Ok(Attempt::Proof(LocalProof { map, at, proof }));
            }
            Solution::Run(run) => {
                let follow = Follow {
                    problem: self.problem,
                    target,
                    states: self.states,
                    dependences: &self.dependences,
                    kept,
                    smaller: &smaller,
                    limits: self.limits,
                };
                match follow.along(&run)? {
                    Followed::Run(run) => return Ok(Attempt::Run(run)),
                    Followed::Lacks(lacks) => lacks,
                }
            }
            Solution::Nothing => Variables::new(),
        };
        match lacks.is_empty() {
            true => self.extended(kept).map(Attempt::Failed),
            false => Ok(Attempt::Failed(kept.union(&lacks).copied().collect())),
        }
    }

    /// Returns these variables and more.
    fn extended(&self, kept: &Variables) -> Result<Variables, Unknown> {
        let why = "neither a proof nor a run was found with the variables that the property depends on";
        self.dependences.grown(kept).ok_or_else(|| Unknown::Inconclusive(why.into()))
    }

    fn place(&self, point: u32) -> Local {
        self.states.encode_local(point, &self.dependences.program.free_slots(point))
    }

    /// Decides the localised problem: pair views prove, a short search finds the shortest run, and
    /// backward search does both; the last two alternate with growing shares.
    fn solve(&self, problem: &Problem, statistics: &mut Statistics) -> Result<Solution, Unknown> {
        let store = Arc::new(FactStore::default());
        let mut run =
            |engine: &dyn Algorithm, limits: &Limits| -> Result<Result<Solution, Unknown>, Unknown> {
                let answer = engine.run(problem, limits, &Quiet(self.watch));
                statistics.configurations += answer.statistics.configurations;
                match answer.verdicts.into_iter().next() {
                    // A stored set of a search cannot be part of a proof.
                    Some(Verdict::Safe(Certificate::Packed(_))) | None => {
                        Ok(Err(Unknown::Inconclusive("the search gave no evidence that fits".into())))
                    }
                    Some(Verdict::Safe(proof)) => Ok(Ok(Solution::Proof(proof))),
                    Some(Verdict::Unsafe(run)) => Ok(Ok(Solution::Run(run))),
                    Some(Verdict::Unknown(
                        why @ (Unknown::Time(_) | Unknown::Memory(_) | Unknown::Cancelled),
                    )) => Err(why),
                    // Either its own share is used up, or the whole.
                    Some(Verdict::Unknown(why)) => self.limits.check().map(|()| Err(why)),
                }
            };
        if let Ok(solution) = run(&Views { store: store.clone() }, self.limits)? {
            return Ok(solution);
        }
        let explicit = Explicit { stop_at_first: true, ..Explicit::default() };
        let mut share = FIRST_SHARE;
        loop {
            let limits = |ticks: u64| self.limits.part().work(ticks);
            if let Ok(solution) = run(&explicit, &limits(share))? {
                return Ok(solution);
            }
            match run(&Pruned { store: store.clone() }, &limits(share * SLOWNESS_OF_EXPLICIT))? {
                Ok(solution) => return Ok(solution),
                Err(Unknown::Work) => share *= GROWTH,
                Err(_) => return Ok(Solution::Nothing),
            }
        }
    }
}
