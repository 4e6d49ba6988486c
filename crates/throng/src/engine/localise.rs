//! Localisation with refinement: proves a program safe with few of its variables.
//!
//! Each bad configuration starts with the variables that it is about and the locks around them; everything else is left open, and places that then do the
//! same are merged ([`throng_model::localisation`]). If pairs of threads, or backward search, show that the smaller model is safe, so is the program. If
//! not, the variables are added on which those that are kept depend, until a proof is found or there are no more.
//!
//! What the smaller model can reach says nothing about the program: this engine only proves.

mod places;
mod variables;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::places::Places;
use self::variables::{Dependences, Variables};
use super::backward::Pruned;
use super::facts::FactStore;
use super::views::Pairs;
use super::{Algorithm, Answer, Quiet, Statistics, Watch};
use throng_lang::bp::program::live::live_slots;
use throng_lang::bp::program::{Coded, program_of};
use throng_model::limits::Limits;
use throng_model::localisation::localise;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Certificate, LocalProof, Unknown, Verdict};
use throng_model::{Config, Local};

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
            let verdict = match search.prove(target, &mut statistics) {
                Ok(parts) => Verdict::Safe(Certificate::Localised(Arc::new(parts))),
                Err(why) => Verdict::Unknown(why),
            };
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

impl Search<'_> {
    /// A proof for each bad configuration of the target.
    fn prove(&self, target: &Target, statistics: &mut Statistics) -> Result<Vec<LocalProof>, Unknown> {
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
        let mut parts = Vec::new();
        for (mut kept, configs) in groups {
            let mut points: Vec<u32> = configs.iter().flat_map(|c| self.places(c)).collect();
            points.sort_unstable();
            points.dedup();
            let locks = self.dependences.locks(&kept, &points);
            kept.extend(locks);
            let target = Target::covering(target.name.clone(), configs);
            parts.push(self.refine(&target, kept, &points, statistics)?);
        }
        Ok(parts)
    }

    /// Where the threads of a configuration are.
    fn places(&self, config: &Config) -> Vec<u32> {
        let mut found: Vec<u32> =
            config.threads.entries().iter().map(|&(l, _)| self.states.local_cube(l).0).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A proof for some bad configurations, with as many variables as it takes.
    fn refine(
        &self,
        target: &Target,
        mut kept: Variables,
        bad: &[u32],
        statistics: &mut Statistics,
    ) -> Result<LocalProof, Unknown> {
        loop {
            self.limits.check()?;
            if self.dependences.is_too_wide(&kept) {
                kept = self.more(&kept)?;
                continue;
            }
            let places = Places {
                dependences: &self.dependences,
                states: self.states,
                kept: &kept,
                live: &self.live,
                bad,
            };
            let map = places.localisation();
            let (problem, _) = localise(self.problem, target, &map).map_err(Unknown::Inconclusive)?;
            if let Some(proof) = self.proof(&problem, statistics)? {
                let at = bad.iter().map(|&p| self.place(p)).collect();
                return Ok(LocalProof { map, at, proof });
            }
            kept = self.more(&kept)?;
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

    /// Why the localised problem is safe, if it is and that is found.
    fn proof(&self, problem: &Problem, statistics: &mut Statistics) -> Result<Option<Certificate>, Unknown> {
        let store = Arc::new(FactStore::default());
        let engines: [&dyn Algorithm; 2] = [&Pairs { store: store.clone() }, &Pruned { store }];
        for engine in engines {
            let answer = engine.run(problem, self.limits, &Quiet(self.watch));
            statistics.configurations += answer.statistics.configurations;
            match answer.verdicts.into_iter().next() {
                Some(Verdict::Safe(proof)) => return Ok(Some(proof)),
                Some(Verdict::Unsafe(_)) => return Ok(None),
                Some(Verdict::Unknown(
                    why @ (Unknown::Work | Unknown::Time(_) | Unknown::Memory(_) | Unknown::Cancelled),
                )) => {
                    return Err(why);
                }
                Some(Verdict::Unknown(_)) | None => {}
            }
        }
        Ok(None)
    }
}
