//! Thread-state equations (TSE, Liu and Wahl 2016): proofs by linear arithmetic.
//!
//! # Idea
//!
//! Count how often each step is taken in a run. Then for every local state, the threads that start
//! there plus those that arrive minus those that leave cannot be negative, and must be enough for
//! the target (C_L); for every shared state, it is entered as often as it is left, but for the
//! first and the last one (C_F). If these equations have no solution the target cannot be reached,
//! whatever the number of threads. The converse does not hold: a solution need not be a run.
//!
//! # Evidence
//!
//! By Farkas' lemma the equations have no rational solution iff there is a
//! [vector](throng_model::verdict::Vector): numbers for shared states, and numbers ≥ 0 for local
//! states, such that no step increases the sum, and it is larger at the target than at the start.
//! An LP in floating point (`lp`) finds such a vector, which is rounded to integers (`exact`). It
//! counts only if it holds exactly ([`Facts::learn`], and again the checker); so a floating-point
//! error can lose an answer, but never cause a wrong one. A vector that was found for one target is
//! tried on all others before a new LP is solved.
//!
//! # Runs
//!
//! If the equations have a solution, the least number of threads of an integer solution (`flow`) is
//! a lower bound for a run: [`super::explicit`] starts with this many threads, initial or created,
//! then with one more, and so on. Unlike the paper's loop, which is fair in the sum of both, it
//! finds every bug. It never ends if there is none.
//!
//! # Connectivity
//!
//! The paper's process B proves safety from all constraints, those of connectivity (C_C) included.
//! That is not implemented: an integer program in floating point that has no solution is no
//! evidence, and Farkas' lemma gives none where integers and disjunctions matter. C_C only improves
//! the number of threads to begin with. If it leaves no solution, the engine says so, and its
//! verdict is UNKNOWN unless that many threads can be searched exhaustively. In the paper's
//! experiments process B was never needed to the end.
//!
//! Only steps that the views allow take part, so the evidence is relative to them
//! ([`throng_model::verdict::Relative`]). Steps that move bystanders take part as far as a thread
//! may go from one state to another in them: for proofs that is an over-approximation.

pub(crate) mod exact;
mod flow;
pub(crate) mod lp;

use std::cell::LazyCell;
use std::ops::Deref;
use std::sync::Arc;

use self::flow::PATIENCE;
pub(super) use self::lp::{Bearings, Equations as System};
use super::explicit::Explicit;
use super::facts::{FactStore, Facts};
use super::{Algorithm, Answer, FlowStatistics, Progress, Silent, Statistics, Watch};
use throng_model::Config;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Relative, Unknown, Verdict};

/// The engine `equations`.
#[derive(Clone, Debug, Default)]
pub struct Equations {
    /// The shared facts, among them views.
    pub store: Arc<FactStore>,
    /// True to leave the search for runs to other engines.
    pub only_proves: bool,
    /// Enables partial-order reduction in the search for runs. A proof found with it cannot be
    /// written as a certificate.
    pub por: bool,
}

impl Algorithm for Equations {
    fn name(&self) -> &'static str {
        "equations"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut statistics = Statistics::default();
        let facts = match self.store.get_or_find(problem, limits) {
            Ok(facts) => facts,
            Err(why) => {
                statistics.configurations = self.store.views_so_far(problem);
                return Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], statistics);
            }
        };
        // If views exclude every bad configuration, no steps have to be listed.
        let system = LazyCell::new(|| System::new(problem, &facts));
        statistics.configurations = facts.views().len() as u64;
        let mut verdicts = Vec::new();
        for (i, target) in problem.targets.iter().enumerate() {
            watch.progress(&Progress {
                engine: self.name(),
                phase: format!("target {} of {}", i + 1, problem.targets.len()),
                configurations: statistics.configurations,
                frontier: (problem.targets.len() - i) as u64,
            });
            let proved = prove(problem, target, &facts, &system, limits).and_then(|proved| match proved {
                Some(certificate) => Ok(Verdict::Safe(certificate)),
                None if self.only_proves => inconclusive(NO_VECTOR),
                None => self.hunt(problem, target, &facts, &system, &mut statistics, limits),
            });
            let verdict = proved.unwrap_or_else(Verdict::Unknown);
            watch.found(i, &verdict);
            verdicts.push(verdict);
        }
        Answer::new(verdicts, statistics)
    }
}

impl Equations {
    /// Searches for a run, beginning with the least number of threads of a solution.
    fn hunt(
        &self,
        problem: &Problem,
        target: &Target,
        facts: &Facts,
        system: &System,
        statistics: &mut Statistics,
        limits: &Limits,
    ) -> Result<Verdict, Unknown> {
        if problem.bound != Bound::Any
            || problem.model.moves_bystanders()
            || problem.model.blocking().is_some()
        {
            return inconclusive(NO_VECTOR);
        }
        let mut least: Option<u32> = None;
        let fewest = problem.initial.iter().map(|family| family.threads.size().max(1)).min();
        let mut patience = PATIENCE;
        let numbers = statistics.flow.get_or_insert_with(FlowStatistics::default);
        let cut_before = numbers.ruled_out;
        for (i, bad) in target.configs.iter().filter(|bad| !facts.rules_out(bad)).enumerate() {
            if i == MOST_GOALS {
                // Nothing is known about the other bad configurations.
                least = least.or(fewest);
                break;
            }
            let enough = system.least_threads(problem, facts, bad, limits, &mut patience, numbers)?;
            least = [least, enough].into_iter().flatten().min();
            if least <= fewest && least.is_some() {
                break;
            }
        }
        let by_cuts = numbers.ruled_out > cut_before;
        // If the number of threads is fixed, a search that finds no run is a proof.
        let finite = !problem.model.spawns() && problem.initial.iter().all(|family| family.any.is_empty());
        let Some(first) = least.or(fewest.filter(|_| finite)) else {
            return inconclusive(if by_cuts { NOT_CONNECTED } else { NO_INTEGERS });
        };
        let one = Problem { targets: vec![target.clone()], ..problem.clone() };
        let explicit = Explicit { first: Some(first), por: self.por, ..Explicit::default() };
        let verdict = explicit.run(&one, limits, &Silent).verdicts.into_iter().next();
        verdict.map_or_else(|| inconclusive(NO_VECTOR), Ok)
    }
}

/// Returns evidence if every bad configuration is excluded by views or a vector.
fn prove(
    problem: &Problem,
    target: &Target,
    facts: &Facts,
    system: &dyn Deref<Target = System>,
    limits: &Limits,
) -> Result<Option<Certificate>, Unknown> {
    for bad in &target.configs {
        if !facts.rules_out(bad) && !rule_out(problem, bad, facts, system, limits)? {
            return Ok(None);
        }
    }
    Ok(Some(Certificate::Relative(Arc::new(Relative {
        views: facts.views().clone(),
        vectors: facts.linear().iter().map(|l| l.vector.clone()).collect(),
        basis: Vec::new(),
        ranks: Vec::new(),
    }))))
}

const NO_VECTOR: &str =
    "no vector that excludes the target was found, which does not imply that there is a run";

const NO_INTEGERS: &str = "no solution of the equations in integers was found, but also no vector to show it, so this is not a proof";

const NOT_CONNECTED: &str = "no solution of the equations was found whose steps are connected (C_C), but there is no certificate for that, so this is not a proof";

fn inconclusive(why: &str) -> Result<Verdict, Unknown> {
    Ok(Verdict::Unknown(Unknown::Inconclusive(why.into())))
}

/// Maximum number of bad configurations whose least number of threads is computed.
const MOST_GOALS: usize = 16;

/// Searches for a vector that excludes `bad`. Returns whether one was found.
pub(super) fn rule_out(
    problem: &Problem,
    bad: &Config,
    facts: &Facts,
    system: &System,
    limits: &Limits,
) -> Result<bool, Unknown> {
    let Some(solution) = system.certificate(problem, facts, bad, limits)? else { return Ok(false) };
    for vector in exact::vectors(&solution) {
        if facts.learn(problem, system.vector(&vector)).is_some() && facts.rules_out(bad) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_lang::tts;

    /// Three threads in local state 0 lead from shared state 0 to 3; a fourth is needed to enter 4,
    /// where a thread can become 8 without changing the shared state. Pairs of threads do not count
    /// to three, and without C_C the equations let a thread become 8 all the same.
    const LOOP: &str = "5 10\n0 0 -> 1 9\n1 0 -> 2 9\n2 0 -> 3 9\n3 0 -> 4 9\n4 9 -> 3 9\n4 9 -> 4 8\n";

    fn asked(initial: &str, target: &str) -> Problem {
        let (system, findings) = tts::read(LOOP);
        let system = system.unwrap_or_else(|| panic!("{findings:?}"));
        let (shared, locals) = (system.table.shared().clone(), system.table.locals().clone());
        Problem {
            initial: vec![tts::parse_config(initial, &shared, &locals).unwrap()],
            initial_text: initial.into(),
            targets: vec![tts::parse_target(target, &shared, &locals).unwrap()],
            bound: Bound::Any,
            model: system.table,
        }
    }

    fn run(initial: &str, target: &str) -> (Verdict, FlowStatistics) {
        let answer = Equations::default().run(&asked(initial, target), &Limits::none(), &Silent);
        (answer.verdicts[0].clone(), answer.statistics.flow.unwrap())
    }

    #[test]
    fn steps_that_keep_a_shared_state_that_is_never_entered_are_cut_off() {
        let (verdict, flow) = run("0|0,0,0/6", "3|8");
        assert!(flow.cuts > 0 && flow.ruled_out == 1, "{flow:?}");
        assert_eq!(verdict, Verdict::Unknown(Unknown::Inconclusive(NOT_CONNECTED.into())));
        let (verdict, flow) = run("0|0,0,0", "3|8");
        assert!(flow.ruled_out == 1 && matches!(verdict, Verdict::Safe(_)), "{verdict:?}: all was searched");
        let (verdict, _) = run("0|0,0,0,0/6", "3|8");
        assert!(matches!(verdict, Verdict::Unsafe(_)), "four suffice: {verdict:?}");
    }
}
