//! Claims about thread states: the lists and the dead code of `reach`, and cutoffs, against a naive
//! search with growing numbers of threads.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::case::{Body, Program};
use super::compare::{Asked, Kind, Trouble};
use super::oracles::Answers;
use crate::interpreter::{Answer, Naive, Question, State};
use crate::states::states;
use throng::report::reach::{dead, places};
use throng_check::rules::Flaw;
use throng_check::rules::cutoff::check_cutoff;
use throng_engine::Silent;
use throng_engine::backward::Pruned;
use throng_engine::cutoff::{Cutoff, Method, ThreadState, cutoff, outside_atomic, runs};
use throng_engine::explicit;
use throng_engine::facts::FactStore;
use throng_engine::karp_miller::KarpMiller;
use throng_lang::bp::{self, parser};
use throng_model::Model;
use throng_model::limits::Limits;
use throng_model::problem::Problem;

/// The name of the oracle. It makes no claims about targets.
pub const NAME: &str = "thread states";

/// Runs with more threads are not looked for.
const MOST_THREADS: u32 = 4;

/// Compares lists of thread states, dead code and the cutoff, if the case is a program.
pub fn compare(asked: &Asked<'_>, limits: &Limits) -> Answers {
    let Body::Program(program) = &asked.case.body else { return Ok(None) };
    let options =
        bp::Options { keep_ended: program.keep_ended, exact_copies: true, ..bp::Options::default() };
    let (Some(model), _) = bp::read(&program.text, &options) else {
        return Err(trouble("the program is refused where thread states are to be listed"));
    };
    let problem = Problem {
        initial: vec![model.initial(program.initial)],
        initial_text: String::new(),
        targets: Vec::new(),
        bound: asked.problem.bound,
        model: Arc::new(model),
    };
    let (tree, _) = parser::parse(&program.text);
    let naive = Naive::new(&program.text, &tree);
    match problem.bound.threads() {
        Some(bound) => lists(&problem, limits, search(&naive, program, bound, bound))?,
        None => cutoffs(&problem, limits, &mut |within| search(&naive, program, u32::MAX, within))?,
    }
    Ok(None)
}

fn trouble(why: impl Into<String>) -> Trouble {
    Trouble::new(Kind::ThreadStates, why)
}

fn search(naive: &Naive<'_>, program: &Program, bound: u32, within: u32) -> Option<Answer> {
    let question = Question {
        bound: if bound == u32::MAX { usize::MAX } else { bound as usize },
        initial: program.initial.map(|n| n as usize),
        keep_ended: program.keep_ended,
        limit: 3_000,
    };
    naive.search_within(&question, within as usize, None, None)
}

/// `reach --threads N`: the same thread states and the same dead code.
fn lists(problem: &Problem, limits: &Limits, naive: Option<Answer>) -> Result<(), Trouble> {
    let model = &*problem.model;
    let (Some(naive), Ok(found)) = (naive, explicit::reachable(problem, 1, limits, &Silent)) else {
        return Ok(());
    };
    if problem.complete().is_err() {
        return Ok(());
    }
    same_states(model, &outside_atomic(model, found.clone()), &naive.reached, "reach lists")?;
    let positions: HashSet<(u32, u32)> = naive.positions.into_iter().collect();
    let (claimed, actual) = (dead(model, &places(model, &found)), dead(model, &positions));
    if claimed == actual {
        Ok(())
    } else {
        Err(trouble(format!("dead code: {claimed:?}; in truth {actual:?}")))
    }
}

/// Every way to find a cutoff: its evidence stands, a naive search with so many threads reaches the
/// same, with fewer less, with one more no more.
fn cutoffs(
    problem: &Problem,
    limits: &Limits,
    naive: &mut dyn FnMut(u32) -> Option<Answer>,
) -> Result<(), Trouble> {
    let (karp_miller, store) = (KarpMiller::default(), Arc::new(FactStore::default()));
    let backward = Pruned { store: store.clone() };
    for method in [Method::Exact(&karp_miller), Method::Dynamic(&backward, &store)] {
        let Ok(found) = cutoff(problem, &method, 1, limits, &Silent) else { continue };
        if problem.complete().is_err() {
            return Ok(());
        }
        stands(problem, &found, limits)?;
        let n = found.threads;
        let reached = |answer: Option<Answer>| answer.map(|a| a.reached);
        let mut all = BTreeSet::new();
        found.reachable.iter().for_each(|&(s, l)| states(&*problem.model, s, l, &mut all));
        for within in n.saturating_sub(1)..=n.saturating_add(1).min(MOST_THREADS) {
            let Some(reached) = reached(naive(within)) else { continue };
            if within >= n {
                same_states(
                    &*problem.model,
                    &found.reachable,
                    &reached,
                    &format!("cutoff {n}, {within} threads:"),
                )?;
            } else if reached == all {
                return Err(trouble(format!("cutoff {n}, but {within} threads show everything")));
            }
        }
    }
    Ok(())
}

fn stands(problem: &Problem, found: &Cutoff, limits: &Limits) -> Result<(), Trouble> {
    let Ok(proof) = runs::proof(problem, found, limits) else { return Ok(()) };
    if found.threads > 0 && proof.needed.is_none() {
        return Err(trouble("it is not shown that fewer threads do not suffice"));
    }
    match check_cutoff(problem, &proof, limits) {
        Ok(_) | Err(Flaw::Limit(_)) => Ok(()),
        Err(flaw) => Err(trouble(format!("the evidence for cutoff {} fails: {flaw}", found.threads))),
    }
}

fn same_states(
    model: &dyn Model,
    thread_states: &[ThreadState],
    naive: &BTreeSet<State>,
    what: &str,
) -> Result<(), Trouble> {
    let mut found = BTreeSet::new();
    thread_states.iter().for_each(|&(s, l)| states(model, s, l, &mut found));
    let Some(odd) = found.symmetric_difference(naive).next() else { return Ok(()) };
    let (own, other) = (found.len(), naive.len());
    Err(trouble(format!("{what} {own} thread states, {other} can be reached: they differ in {odd:?}")))
}
