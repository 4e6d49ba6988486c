//! Localisation with refinement: decides about a program with few of its variables.
//!
//! Each bad configuration starts with the variables that it is about and the locks around them;
//! everything else is left open, and places that then do the same are merged
//! ([`throng_model::localisation`]). If pairs of threads, or backward search, show that the smaller
//! model is safe, so is the program.
//!
//! What the smaller model can reach says nothing about the program. But a run of it says where to
//! look: it is followed in the program (`follow`), and either a run of the program is found, which
//! the checker replays, or what stood in the way names the variables to add. If it names none,
//! those are added on which the kept ones depend, until there is an answer or there are no more.

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

/// Ticks of the first search for a run of a localised program, which is small as a rule.
const FIRST_SHARE: u64 = 1 << 12;

/// How much more the next search gets.
const GROWTH: u64 = 4;

/// A tick of `explicit` takes as long as about so many of `backward`.
const SLOWNESS_OF_EXPLICIT: u64 = 16;

/// Building a localised program costs a tick for so many edges.
const EDGES_PER_TICK: usize = 16;

/// The engine `localise`. It resumes if it is asked about the same target of the same model again.
#[derive(Debug, Default)]
pub struct Localise {
    begun: Mutex<Vec<Begun>>,
}

/// How far a target has been decided.
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
    /// Why some part is given up.
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

    /// What is known about a target, if it was begun.
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

/// Some bad configurations, and what is kept to decide about them.
struct Part {
    target: Target,
    /// The places of their threads, sorted.
    points: Vec<u32>,
    kept: Variables,
}

/// What one look at a part shows.
enum Seen {
    Proof(LocalProof),
    Run(Trace),
    /// With these variables more may be seen.
    Less(Variables),
}

/// What the localised problem shows.
enum Shown {
    Proof(Certificate),
    Run(Trace),
    Nothing,
}

impl Search<'_> {
    /// A proof for each bad configuration of the target, or a run to one.
    fn decide(&self, progress: &mut Progress, statistics: &mut Statistics) -> Result<Verdict, Unknown> {
        let mut ticker = Ticker::new(self.limits);
        let cost = self.dependences.accesses.len() / EDGES_PER_TICK;
        // One look at each in turn: a part that needs many variables does not keep a bug in another
        // from being found.
        while let Some(part) = progress.open.front_mut() {
            ticker.ticks(cost as u32)?;
            match self.look(part, statistics) {
                Ok(Seen::Proof(proof)) => {
                    progress.proofs.push(proof);
                    progress.open.pop_front();
                }
                Ok(Seen::Run(run)) => return Ok(Verdict::Unsafe(run)),
                Ok(Seen::Less(kept)) => {
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

    /// Bad configurations by what they are about, with the locks around it.
    fn parts(&self, target: &Target) -> Vec<Part> {
        // A part is about all bad configurations at its places: those at one place are answered
        // together, and those with several threads all of them.
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
            Part { target: Target::covering(target.name.clone(), configs), points, kept }
        };
        groups.into_iter().map(part).collect()
    }

    /// Where the threads of a configuration are.
    fn places(&self, config: &Config) -> Vec<u32> {
        let mut found: Vec<u32> =
            config.threads.entries().iter().map(|&(l, _)| self.states.local_cube(l).0).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A proof for some bad configurations, or a run to one, if what is kept suffices.
    fn look(&self, part: &Part, statistics: &mut Statistics) -> Result<Seen, Unknown> {
        let Part { target, points: bad, kept } = part;
        self.limits.check()?;
        if self.dependences.is_too_wide(kept) {
            return self.more(kept).map(Seen::Less);
        }
        let places =
            Places { dependences: &self.dependences, states: self.states, kept, live: &self.live, bad };
        let map = places.localisation();
        let (problem, smaller) = localise(self.problem, target, &map).map_err(Unknown::Inconclusive)?;
        let lacks = match self.ask(&problem, statistics)? {
            Shown::Proof(proof) => {
                let at = bad.iter().map(|&p| self.place(p)).collect();
                return Ok(Seen::Proof(LocalProof { map, at, proof }));
            }
            Shown::Run(run) => {
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
                    Followed::Run(run) => return Ok(Seen::Run(run)),
                    Followed::Lacks(lacks) => lacks,
                }
            }
            Shown::Nothing => Variables::new(),
        };
        match lacks.is_empty() {
            true => self.more(kept).map(Seen::Less),
            false => Ok(Seen::Less(kept.union(&lacks).copied().collect())),
        }
    }

    /// These variables and more.
    fn more(&self, kept: &Variables) -> Result<Variables, Unknown> {
        let why = "neither a proof nor a run was found with the variables that the property depends on";
        self.dependences.grown(kept).ok_or_else(|| Unknown::Inconclusive(why.into()))
    }

    fn place(&self, point: u32) -> Local {
        self.states.encode_local(point, &self.dependences.program.free_slots(point))
    }

    /// Asks about the localised problem: pairs of threads prove, a short search looks for the
    /// shortest run, and backward search does both; these two with growing shares.
    fn ask(&self, problem: &Problem, statistics: &mut Statistics) -> Result<Shown, Unknown> {
        let store = Arc::new(FactStore::default());
        let mut run = |engine: &dyn Algorithm, limits: &Limits| -> Result<Result<Shown, Unknown>, Unknown> {
            let answer = engine.run(problem, limits, &Quiet(self.watch));
            statistics.configurations += answer.statistics.configurations;
            match answer.verdicts.into_iter().next() {
                // A set as a search stored it cannot be part of a proof.
                Some(Verdict::Safe(Certificate::Packed(_))) | None => {
                    Ok(Err(Unknown::Inconclusive("the search gave no evidence that fits".into())))
                }
                Some(Verdict::Safe(proof)) => Ok(Ok(Shown::Proof(proof))),
                Some(Verdict::Unsafe(run)) => Ok(Ok(Shown::Run(run))),
                Some(Verdict::Unknown(
                    why @ (Unknown::Time(_) | Unknown::Memory(_) | Unknown::Cancelled),
                )) => Err(why),
                // Its own share may be used up, or that of all.
                Some(Verdict::Unknown(why)) => self.limits.check().map(|()| Err(why)),
            }
        };
        if let Ok(shown) = run(&Views { store: store.clone() }, self.limits)? {
            return Ok(shown);
        }
        let explicit = Explicit { stop_at_first: true, ..Explicit::default() };
        let mut share = FIRST_SHARE;
        loop {
            let limits = |ticks: u64| self.limits.part().work(ticks);
            if let Ok(shown) = run(&explicit, &limits(share))? {
                return Ok(shown);
            }
            match run(&Pruned { store: store.clone() }, &limits(share * SLOWNESS_OF_EXPLICIT))? {
                Ok(shown) => return Ok(shown),
                Err(Unknown::Work) => share *= GROWTH,
                Err(_) => return Ok(Shown::Nothing),
            }
        }
    }
}
