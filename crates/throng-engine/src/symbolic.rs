//! `symbolic`: counter abstraction over *sets* of local states (Boom, section 6).
//!
//! A state ⟨S, {(L₁, n₁), …}⟩ stands for all configurations with a shared state in S and nᵢ threads
//! in Lᵢ, where S and the Lᵢ are decision diagrams and program points are explicit. A `*` is a set,
//! never enumerated; statements that relate shared and local variables are split on their splice
//! variables and on no others (`encode`); states are merged by two rules and no other (`store`).
//! Dead slots are quantified away, so that states without relevant differences become equal.
//!
//! The search is breadth-first and proceeds level by level as that of [`super::explicit`], so a
//! violation is found with the fewest threads, and without partial-order reduction by a shortest
//! run. Runs are mapped back to the model's own steps (`replay`); SAFE comes with products of sets
//! that the checker verifies through the model, without diagrams (`closure`).

mod closure;
mod encode;
mod machine;
mod registry;
mod replay;
mod search;
mod store;
mod targets;
pub mod thread_states;

use std::sync::Arc;

use self::encode::Encoder;
use self::machine::Machine;
use self::search::{Search, Stop};
use self::targets::{Targets, watched};
use super::{Algorithm, Answer, Quiet, Statistics, Watch};
use throng_lang::bp::program::Coded;
use throng_model::limits::Limits;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Certificate, Unknown, Verdict};

const NAME: &str = "symbolic";

/// Initial number of nodes; if they do not suffice, the search restarts with more.
const FEW_NODES: usize = 1 << 18;

/// Memory of a node in bytes, caches included.
const NODE_BYTES: u64 = 40;

/// The engine and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbolic {
    /// Maximum number of threads.
    pub max_threads: Option<u32>,
    /// True to stop when one target is hit and leave the others open.
    pub stop_at_first: bool,
    /// Enables partial-order reduction.
    pub por: bool,
    /// True to search for a shortest run even if reduction has found one.
    pub shortest: bool,
}

impl Default for Symbolic {
    fn default() -> Symbolic {
        Symbolic { max_threads: None, stop_at_first: false, por: true, shortest: true }
    }
}

impl Algorithm for Symbolic {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let Some(coded) = program_of(problem) else {
            return refuse(problem, "the symbolic engine works on Boolean programs; use `explicit`");
        };
        let shortens = self.por && self.shortest;
        let quiet = Quiet(watch);
        // Runs that a shorter one will soon replace are not reported.
        let reports: &dyn Watch = if shortens { &quiet } else { watch };
        let mut statistics = Statistics::default();
        let attempted = with_enough_nodes(limits, |nodes| {
            self.attempt(problem, coded, nodes, limits, reports, &mut statistics)
        });
        // The encoding lists no steps, but a target with too many cases makes the model as
        // incomplete as a list of steps does.
        let complete = problem.complete();
        let mut answer = match attempted {
            Ok(mut verdicts) => {
                if let Err(why) = complete {
                    let moot = |v: &&mut Verdict| matches!(v, Verdict::Safe(_));
                    verdicts.iter_mut().filter(moot).for_each(|v| *v = Verdict::Unknown(why.clone().into()));
                    statistics.complete_up_to = None;
                    Answer::new(verdicts, statistics)
                } else {
                    Answer::ascending(verdicts, statistics)
                }
            }
            Err(why) => Answer { statistics, ..unknown(problem, why) },
        };
        if shortens {
            self.shorten(problem, limits, &quiet, &mut answer);
            let hit = |v: &&Verdict| matches!(v, Verdict::Unsafe(_));
            answer.verdicts.iter().enumerate().filter(|v| hit(&v.1)).for_each(|(i, v)| watch.found(i, v));
        }
        answer
    }
}

impl Symbolic {
    /// Searches with this many nodes; returns `None` if they do not suffice. Adds to `statistics`
    /// in any case.
    fn attempt(
        &self,
        problem: &Problem,
        coded: &dyn Coded,
        nodes: usize,
        limits: &Limits,
        watch: &dyn Watch,
        statistics: &mut Statistics,
    ) -> Option<Vec<Verdict>> {
        let watched = watched(coded, &problem.targets);
        let encoder = Encoder::new(coded.program(), nodes, &watched, true).ok()?;
        let targets = Targets::new(coded, &encoder, &problem.targets).ok()?;
        let reduction = if self.por { Reduction::of(problem) } else { None };
        let machine = Machine::new(coded, encoder, reduction);
        let mut search = Search::new(problem, coded, machine, targets, self.stop_at_first, limits, watch);
        let outcome = self.climb(&mut search, statistics);
        statistics.steps = search.machine.fired;
        statistics.occupied = Some(search.occupied);
        statistics.shared_states = search.registry().shared_len() as u64;
        statistics.local_states = search.registry().locals_len() as u64;
        let rest = match outcome {
            Err(Stop::Full) => return None,
            Err(Stop::Limit(why)) => Verdict::Unknown(why),
            Err(Stop::Decided) => Verdict::Unknown(Unknown::Cancelled),
            Ok(()) if search.traces.iter().all(|t| t.is_some()) => Verdict::Unknown(Unknown::Cancelled),
            Ok(()) => match closure::closure(&mut search, self.por) {
                Ok(products) => Verdict::Safe(Certificate::Products(Arc::new(products))),
                Err(Stop::Limit(why)) => Verdict::Unknown(why),
                Err(Stop::Full | Stop::Decided) => return None,
            },
        };
        let verdicts = search.traces.into_iter().map(|t| t.map_or_else(|| rest.clone(), Verdict::Unsafe));
        Some(verdicts.collect())
    }

    /// Searches level after level; returns `Ok` when there are no more.
    fn climb(&self, search: &mut Search<'_>, statistics: &mut Statistics) -> Result<(), Stop> {
        if search.is_decided() {
            return Err(Stop::Decided);
        }
        let (mut below, mut pruned) = (None, None);
        while let Some(level) = search.levels.next(below, pruned) {
            if let Some(most) = self.max_threads.filter(|&most| level > most) {
                return Err(Stop::Limit(Unknown::Bound(most)));
            }
            let searched = search.level(below, level);
            statistics.configurations = statistics.configurations.max(search.nodes.len() as u64);
            pruned = searched?;
            below = Some(level);
            let next = search.levels.next(below, pruned);
            statistics.complete_up_to = next.map(|next| next - 1).or(search.levels.last()).or(below);
        }
        Ok(())
    }

    /// Replaces runs found with reduction by shortest ones, if a search without it finds them
    /// within the limits.
    fn shorten(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch, answer: &mut Answer) {
        let hit = |v: &Verdict| matches!(v, Verdict::Unsafe(_));
        if !answer.verdicts.iter().any(hit) {
            return;
        }
        let open = |(i, v): (usize, &Verdict)| hit(v).then(|| problem.targets[i].clone());
        let targets = answer.verdicts.iter().enumerate().filter_map(open).collect();
        let problem = Problem { targets, ..problem.clone() };
        let plain = Symbolic { por: false, stop_at_first: false, ..self.clone() };
        let mut again = plain.run(&problem, limits, &Quiet(watch)).verdicts.into_iter();
        for verdict in answer.verdicts.iter_mut().filter(|v| hit(v)) {
            if let Some(shorter @ Verdict::Unsafe(_)) = again.next() {
                *verdict = shorter;
            }
        }
    }
}

/// Returns the program of a problem, if its bound counts threads.
fn program_of(problem: &Problem) -> Option<&dyn Coded> {
    throng_lang::bp::program::program_of(&*problem.model)
        .filter(|_| !matches!(problem.bound, Bound::Tokens(_)))
}

/// Tries with more and more nodes, as far as the limits allow.
fn with_enough_nodes<T>(limits: &Limits, mut attempt: impl FnMut(usize) -> Option<T>) -> Result<T, Unknown> {
    let most =
        limits.memory_limit().map_or(1 << 28, |bytes| bytes / NODE_BYTES).clamp(1 << 12, 1 << 28) as usize;
    let mut nodes = FEW_NODES.min(most);
    loop {
        if let Some(found) = attempt(nodes) {
            return Ok(found);
        }
        limits.check()?;
        if nodes == most {
            return Err(Unknown::Memory(limits.memory_limit().unwrap_or(most as u64 * NODE_BYTES)));
        }
        nodes = nodes.saturating_mul(8).min(most);
    }
}

fn unknown(problem: &Problem, why: Unknown) -> Answer {
    let verdicts = problem.targets.iter().map(|_| Verdict::Unknown(why.clone())).collect();
    Answer::new(verdicts, Statistics::default())
}

fn refuse(problem: &Problem, why: &str) -> Answer {
    unknown(problem, Unknown::NotForThisModel(why.into()))
}
