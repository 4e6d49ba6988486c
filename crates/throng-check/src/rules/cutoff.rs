//! The rule for cutoffs: with this many threads every reachable thread state is reached, and with
//! fewer not: see `docs/formats.md`.
//!
//! Configurations in which a thread is inside an atomic section do not count (reference 7.1).

use super::forward::{Kind, check_forward};
use super::run::{countable, is_initial, led_by};
use super::sets::{Order, Set};
use super::{Flaw, check_within};
use crate::Checked;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, RunNode, Verdict};
use throng_model::{Bag, Config, Incomplete, Local, Model, Shared, semantics};

/// Evidence about a cutoff.
pub struct CutoffProof {
    /// The cutoff.
    pub threads: u32,
    /// Runs.
    pub runs: Vec<RunNode>,
    /// Every reachable thread state, and the node in which it is reached.
    pub reachable: Vec<(Shared, Local, usize)>,
    /// A downward set or views, which contain every reachable thread state.
    pub rest: Certificate,
    /// Thread states that `rest` contains but that are unreachable, with the proofs.
    pub except: Vec<(Vec<(Shared, Local)>, Certificate)>,
    /// A thread state that fewer threads do not reach, and all configurations that they reach.
    pub needed: Option<((Shared, Local), Vec<Config>)>,
}

/// Checks a cutoff; the targets of `problem` are ignored.
pub fn check_cutoff(problem: &Problem, proof: &CutoffProof, limits: &Limits) -> Result<Checked, Flaw> {
    check_proof(problem, proof, limits).map(|()| Checked::by_rules())
}

fn check_proof(problem: &Problem, proof: &CutoffProof, limits: &Limits) -> Result<(), Flaw> {
    let model = &*problem.model;
    let mut ticker = Ticker::new(limits);
    for (i, node) in proof.runs.iter().enumerate() {
        ticker.ticks(16)?;
        check_node(problem, proof, i, node)?;
    }
    for &(s, l, at) in &proof.reachable {
        ticker.tick()?;
        let Some(node) = proof.runs.get(at) else {
            return Err(Flaw::Malformed("a run is missing".into()));
        };
        let there = node.config.threads.entries().iter().any(|e| model.within_local(l, e.0));
        if !there || !model.within_shared(s, node.config.shared) {
            return Err(Flaw::EndIsNotBad(node.config.describe(model)));
        }
    }
    let unreachable = |configs: Vec<Config>, why: &Certificate| {
        let target = Target::covering("", configs);
        check_within(problem, &target, &Verdict::Safe(why.clone()), limits).map(|_| ())
    };
    unreachable(Vec::new(), &proof.rest)?;
    let mut listed: Vec<Config> = proof.reachable.iter().map(|r| state(r.0, r.1)).collect();
    for (states, why) in &proof.except {
        let states: Vec<Config> = states.iter().map(|&(s, l)| state(s, l)).collect();
        listed.extend_from_slice(&states);
        unreachable(states, why)?;
    }
    let listed = Set::new(model, &listed, Order::Same);
    for other in held(&proof.rest)?.into_iter().filter(|c| !model.inside_atomic(c.shared)) {
        ticker.ticks(16)?;
        if !listed.holds(&other) {
            return Err(Flaw::BadMember(other.describe(model)));
        }
    }
    let Some(((s, l), set)) = &proof.needed else { return Ok(()) };
    if model.inside_atomic(*s) {
        return Err(Flaw::Malformed(
            "a cutoff does not concern configurations inside an atomic section".into(),
        ));
    }
    // Each of its concrete states needs that many threads; one of them has to be reached.
    if !proof.reachable.iter().any(|r| model.meets_shared(r.0, *s) && model.meets_local(r.1, *l)) {
        return Err(Flaw::Malformed(
            "the thread state that needs so many threads is not among those reached".into(),
        ));
    }
    let fewer = Problem { bound: Bound::Threads(proof.threads.saturating_sub(1)), ..problem.clone() };
    let target = Target::covering("", vec![state(*s, *l)]);
    check_forward(&fewer, &target, set, Kind::Within, &mut Ticker::new(limits))
}

fn state(s: Shared, l: Local) -> Config {
    Config::new(s, Bag::one(l))
}

/// Returns the thread states in a downward set or a set of views.
fn held(certificate: &Certificate) -> Result<Vec<Config>, Flaw> {
    let mut states: Vec<Config> = match certificate {
        Certificate::Downward(set) => {
            set.iter().flat_map(|c| c.threads.entries().iter().map(|e| state(c.shared, e.0))).collect()
        }
        Certificate::Views(views) => views.thread_states().map(|(s, l)| state(s, l)).collect(),
        _ => return Err(Flaw::Malformed("this does not contain all reachable thread states".into())),
    };
    states.sort_unstable();
    states.dedup();
    Ok(states)
}

fn check_node(problem: &Problem, proof: &CutoffProof, i: usize, node: &RunNode) -> Result<(), Flaw> {
    let model: &dyn Model = &*problem.model;
    countable(&node.config)?;
    if node.config.threads.size() > proof.threads {
        let what = format!("{} has more than {} threads", node.config.describe(model), proof.threads);
        return Err(Flaw::Malformed(what));
    }
    let Some(parent) = node.parent else {
        let initial = is_initial(problem, &node.config);
        return if initial { Ok(()) } else { Err(Flaw::NotInitial(node.config.describe(model))) };
    };
    let Some(before) = proof.runs[..i].get(parent) else {
        return Err(Flaw::Malformed("a node of the runs precedes its parent".into()));
    };
    let (mut steps, mut after) = (Vec::new(), Vec::new());
    Incomplete::irrelevant(led_by(model, &before.config, node.by, &mut steps));
    for step in &steps {
        Incomplete::irrelevant(semantics::fire(model, &before.config, step, None, &mut after));
    }
    // Where states are sets, the node may be covered by the results of several steps.
    if Set::new(model, &after, Order::Same).holds(&node.config) {
        return Ok(());
    }
    Err(Flaw::LeadsElsewhere(i + 1, node.config.describe(model)))
}
