//! Localisation with refinement: proves a program safe with few of its variables.
//!
//! Each bad configuration starts with the variables that it is about and the locks around them; everything else is left open, and places that then do the
//! same are merged ([`throng_model::localisation`]). If pairs of threads, or backward search, show that the smaller model is safe, so is the program. If
//! not, the variables are added on which those that are kept depend, until a proof is found or there are no more.
//!
//! What the smaller model can reach says nothing about the program: this engine only proves.

mod follow;
mod places;
mod variables;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use self::follow::{Follow, Followed};
use self::places::Places;
use self::variables::{Dependences, Variables};
use super::backward::Pruned;
use super::explicit::Explicit;
use super::facts::FactStore;
use super::views::Pairs;
use super::{Algorithm, Answer, Quiet, Statistics, Watch};
use throng_lang::bp::program::live::live_slots;
use throng_lang::bp::program::{Coded, program_of};
use throng_model::limits::Limits;
use throng_model::localisation::localise;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Certificate, LocalProof, Trace, Unknown, Verdict};
use throng_model::{Config, Local};

/// Ticks of the search for a run of a localised program, which is small as a rule.
const SHORT: u64 = 1 << 13;

/// The engine `localise`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Localise;

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
            let verdict = search.decide(target, &mut statistics).unwrap_or_else(Verdict::Unknown);
            watch.found(verdicts.len(), &verdict);
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
    fn decide(&self, target: &Target, statistics: &mut Statistics) -> Result<Verdict, Unknown> {
        let mut open: VecDeque<Part> = self.parts(target).into();
        let mut proofs = Vec::new();
        let mut stuck = None;
        // One look at each in turn: a part that needs many variables does not keep a bug in another from being found.
        while let Some(mut part) = open.pop_front() {
            match self.look(&part, statistics) {
                Ok(Seen::Proof(proof)) => proofs.push(proof),
                Ok(Seen::Run(run)) => return Ok(Verdict::Unsafe(run)),
                Ok(Seen::Less(kept)) => {
                    part.kept = kept;
                    open.push_back(part);
                }
                Err(why @ Unknown::Inconclusive(_)) => stuck = Some(why),
                Err(why) => return Err(why),
            }
        }
        match stuck {
            None => Ok(Verdict::Safe(Certificate::Localised(Arc::new(proofs)))),
            Some(why) => Err(why),
        }
    }

    /// Bad configurations by what they are about, with the locks around it.
    fn parts(&self, target: &Target) -> Vec<Part> {
        // A part is about all bad configurations at its places: those at one place are answered together, and those with several threads all of them.
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
        let why = "no proof was found with the variables that the property depends on";
        self.dependences.grown(kept).ok_or_else(|| Unknown::Inconclusive(why.into()))
    }

    fn place(&self, point: u32) -> Local {
        self.states.encode_local(point, &self.dependences.program.free_slots(point))
    }

    /// Asks about the localised problem: pairs of threads prove, a short search looks for the shortest run, and backward search does both.
    fn ask(&self, problem: &Problem, statistics: &mut Statistics) -> Result<Shown, Unknown> {
        let store = Arc::new(FactStore::default());
        let (short, limits) = (self.limits.part().work(SHORT), self.limits);
        let explicit = Explicit { stop_at_first: true, ..Explicit::default() };
        let engines: [(&dyn Algorithm, &Limits); 3] =
            [(&Pairs { store: store.clone() }, limits), (&explicit, &short), (&Pruned { store }, limits)];
        for (engine, limits) in engines {
            let answer = engine.run(problem, limits, &Quiet(self.watch));
            statistics.configurations += answer.statistics.configurations;
            match answer.verdicts.into_iter().next() {
                // Only what others can write down and check again is a part of a proof.
                Some(Verdict::Safe(Certificate::Packed(_))) => {}
                Some(Verdict::Safe(proof)) => return Ok(Shown::Proof(proof)),
                Some(Verdict::Unsafe(run)) => return Ok(Shown::Run(run)),
                Some(Verdict::Unknown(
                    why @ (Unknown::Work | Unknown::Time(_) | Unknown::Memory(_) | Unknown::Cancelled),
                )) => {
                    // Perhaps it was only the short search that came to its end.
                    self.limits.check()?;
                    if engine.name() != explicit.name() {
                        return Err(why);
                    }
                }
                Some(Verdict::Unknown(_)) | None => {}
            }
        }
        Ok(Shown::Nothing)
    }
}
