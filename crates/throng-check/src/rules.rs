//! The checker of evidence. It calls no engine and does not trust one.
//!
//! There are six rules about targets, one file each: a run is replayed (`run`); a set is closed under steps
//! (`forward`); views are closed and vectors do not grow (`views`, `linear`); a basis is closed
//! under predecessors (`backward`); every case contradicts the state equation (`refutation`). Runs,
//! closed sets and refutations respect the formula of a target; the other rules show that the
//! larger, upward-closed target is unreachable. `simulation` is about refinement, which no target
//! expresses. All rules share one membership test (`sets`). The
//! trusted base is this module, [`throng_model`], [`throng_model::problem`] and the model itself;
//! `partial_order` only for searches with partial orders, on which certificates do not rely.

mod backward;
mod cubes;
pub mod cutoff;
mod deadlock;
mod flaw;
mod forward;
mod linear;
mod localised;
pub mod part;
mod partial_order;
mod refutation;
pub(crate) mod run;
mod sets;
pub mod simulation;
mod starvation;
mod stuck;
mod views;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

pub use self::flaw::Flaw;

use self::deadlock::check_deadlock;
use self::forward::{Kind, check_forward};
use self::starvation::check_starvation;
use self::stuck::check_stuck;
use crate::Checked;
use throng_model::limits::{Limits, Ticker};
use throng_model::predicate::Predicate;
use throng_model::problem::{Asks, Bound, Formula, Initial, Problem, Target, What};
use throng_model::quotient::{QuotientMap, QuotientModel};
use throng_model::reduction::{ReducedNet, Reductions};
use throng_model::verdict::{Certificate, Relative, Verdict};
use throng_model::{Bag, Config, Local, Shared};

/// Checks that the evidence of `verdict` proves the verdict about `target`.
///
/// `Verdict::Unknown` passes.
pub fn check(problem: &Problem, target: &Target, verdict: &Verdict) -> Result<Checked, Flaw> {
    check_within(problem, target, verdict, &Limits::none())
}

/// Like [`check`], but gives up with [`Flaw::Limit`] when a limit is hit.
pub fn check_within(
    problem: &Problem,
    target: &Target,
    verdict: &Verdict,
    limits: &Limits,
) -> Result<Checked, Flaw> {
    check_verdict(problem, target, verdict, limits).map(|()| Checked::by_rules())
}

fn check_verdict(problem: &Problem, target: &Target, verdict: &Verdict, limits: &Limits) -> Result<(), Flaw> {
    match target.what {
        What::Deadlock => return check_deadlock(problem, verdict, limits),
        What::Stuck => return check_stuck(problem, target, verdict, limits),
        What::Starvation => return check_starvation(problem, target, verdict, limits),
        What::Covers | What::Formula(_) => {}
    }
    if matches!(target.asks(), Some(Asks::Largest(_))) {
        let why = "the largest value of a sum is shown by two targets, not by one".to_string();
        return if matches!(verdict, Verdict::Unknown(_)) { Ok(()) } else { Err(Flaw::NotForThisModel(why)) };
    }
    let safe = match verdict {
        Verdict::Unsafe(trace) => return run::check_trace(problem, target, trace),
        Verdict::Unknown(_) => return Ok(()),
        Verdict::Safe(certificate) => certificate,
    };
    check_safe(problem, target, safe, &mut Ticker::new(limits))
}

fn check_safe(
    problem: &Problem,
    target: &Target,
    certificate: &Certificate,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    match certificate {
        Certificate::Closed(set) => check_forward(problem, target, set, Kind::Closed, ticker),
        Certificate::Downward(set) => check_forward(problem, target, set, Kind::Downward, ticker),
        // A formula may distinguish orders of steps, so it is dropped.
        Certificate::Packed(set) if set.reduced => {
            partial_order::check_reduced(problem, &covered(target), set, ticker)
        }
        Certificate::Packed(set) => forward::check_packed(problem, target, set, &|_, _, _| false, ticker),
        Certificate::Products(products) => {
            partial_order::check_products(problem, &covered(target), products, ticker)
        }
        Certificate::Upward(basis) => backward::check_basis(problem, target, basis, &|_| false, ticker),
        Certificate::Views(set) => {
            backward::check_relative(problem, target, &Relative::of_views(set.clone()), ticker)
        }
        Certificate::Relative(found) => backward::check_relative(problem, target, found, ticker),
        Certificate::Refutation(found) => refutation::check_refutation(problem, target, found, ticker),
        Certificate::Quotient(map, proof) => {
            let (problem, target) = quotient(problem, target, map)?;
            check_safe(&problem, &target, proof, ticker)
        }
        Certificate::Reduced(reductions, proof) => {
            let problem = reduced(problem, target, reductions)?;
            check_safe(&problem, target, proof, ticker)
        }
        Certificate::Localised(parts) => localised::check_localised(problem, target, parts, ticker),
        Certificate::Spread(_) => {
            let why = "the set is spread over workers, which check it where it is".to_string();
            Err(Flaw::NotForThisModel(why))
        }
        Certificate::OfSource(_) => {
            let why = "the proof is about the source, and has a checker of its own".to_string();
            Err(Flaw::NotForThisModel(why))
        }
    }
}

/// Returns the larger, upward-closed target without the formula.
fn covered(target: &Target) -> Target {
    Target { what: What::Covers, ..target.clone() }
}

/// Returns the quotient problem, if no initial and no target configuration has a skipped shared
/// state.
fn quotient(problem: &Problem, target: &Target, map: &QuotientMap) -> Result<(Problem, Target), Flaw> {
    let model = &problem.model;
    let matters = |s: &&Shared| {
        problem.initial.iter().any(|family| model.meets_shared(family.shared, **s))
            || target.configs.iter().any(|bad| model.meets_shared(bad.shared, **s))
    };
    if let Some(s) = map.skipped.iter().find(matters) {
        return Err(Flaw::Malformed(format!("{} cannot be skipped", model.shared_name(*s))));
    }
    if problem.bound != Bound::Any {
        return Err(Flaw::NotForThisModel("quotients are sound for any number of threads only".into()));
    }
    let model = QuotientModel::new(model.clone(), map).map_err(Flaw::NotForThisModel)?;
    let initial: Vec<Initial> = problem.initial.iter().map(|family| family.merged(map)).collect();
    let configs: Vec<Config> = target.configs.iter().map(|bad| map.merge_config(bad)).collect();
    let mut bags = initial.iter().map(|i| &i.threads).chain(configs.iter().map(|c| &c.threads));
    if !bags.all(Bag::is_countable) {
        return Err(Flaw::NotForThisModel("there are too many threads to count".into()));
    }
    let problem = Problem { model: Arc::new(model), initial, ..problem.clone() };
    let what = match &target.what {
        What::Formula(formula) if !is_kept(&formula.when, map) => What::Covers,
        what => what.clone(),
    };
    Ok((problem, Target { what, ..target.with_configs(configs) }))
}

/// Returns the problem with the reduced net, if every reduction is valid, and the places of the
/// target are visible.
fn reduced(problem: &Problem, target: &Target, reductions: &Reductions) -> Result<Problem, Flaw> {
    let (asks, mut hidden) = (target.predicate(), false);
    if asks.asks_for_steps() {
        return Err(Flaw::NotForThisModel("reductions do not keep which steps are possible".into()));
    }
    let visible: FxHashSet<Local> = reductions.visible.iter().copied().collect();
    asks.each_local(&mut |l| hidden |= !visible.contains(&l));
    if hidden {
        return Err(Flaw::Malformed("the question is about a place that is not visible".into()));
    }
    let mut net = ReducedNet::new(problem, visible).map_err(Flaw::NotForThisModel)?;
    for &reduction in &reductions.steps {
        net.apply(reduction).map_err(|why| Flaw::Malformed(format!("{reduction:?}: {why}")))?;
    }
    Ok(net.problem(problem))
}

/// Returns whether the quotient preserves a predicate; otherwise the predicate is dropped.
fn is_kept(when: &Predicate, map: &QuotientMap) -> bool {
    let changed: FxHashSet<Local> = map.merged.iter().flat_map(|&(l, to)| [Some(l), to]).flatten().collect();
    let mut kept = !when.asks_for_steps();
    when.each_local(&mut |l| kept &= !changed.contains(&l));
    kept
}

/// Checks verdicts about several targets, given by number. Returns the name of a target that fails
/// with the flaw.
pub fn check_all(
    problem: &Problem,
    verdicts: &[(usize, &Verdict)],
    limits: &Limits,
) -> Result<(), (String, Flaw)> {
    for (&(i, _), found) in verdicts.iter().zip(check_each(problem, verdicts, limits)) {
        found.map_err(|flaw| (problem.targets[i].name.clone(), flaw))?;
    }
    Ok(())
}

/// Like [`check_all`], but returns for every verdict, in their order, whether its evidence is
/// valid. Targets that share a certificate are checked against it together, so that a large set is
/// traversed only once.
pub fn check_each(
    problem: &Problem,
    verdicts: &[(usize, &Verdict)],
    limits: &Limits,
) -> Vec<Result<Checked, Flaw>> {
    let mut jobs: Vec<(Target, &Verdict, Vec<usize>)> = Vec::new();
    let mut job_of = FxHashMap::default();
    for (place, &(i, verdict)) in verdicts.iter().enumerate() {
        let target = &problem.targets[i];
        let next = jobs.len();
        let job = match verdict {
            // Targets with formulas share a check only if their configurations are equal.
            Verdict::Safe(certificate) => {
                let configs = has_condition(target).then_some(&target.configs);
                let kind = (target.is_deadlock(), target.is_stuck(), target.is_starvation());
                *job_of.entry((certificate.identity(), kind, configs)).or_insert(next)
            }
            Verdict::Unsafe(_) | Verdict::Unknown(_) => next,
        };
        match jobs.get_mut(job) {
            Some((joint, _, places)) => {
                match has_condition(joint) {
                    true => {
                        let each = [&*joint, target].into_iter().filter_map(Target::formula);
                        let when = Predicate::any(each.map(|f| f.when.clone()).collect());
                        joint.what = What::Formula(Arc::new(Formula { when, asks: Asks::Target }));
                    }
                    false => joint.configs.extend_from_slice(&target.configs),
                }
                places.push(place);
            }
            None => jobs.push((target.clone(), verdict, vec![place])),
        }
    }
    let mut found: Vec<(usize, Result<Checked, Flaw>)> = Vec::with_capacity(verdicts.len());
    for (target, verdict, places) in jobs {
        let one = check_within(problem, &target, verdict, limits);
        found.extend(places.into_iter().map(|place| (place, one.clone())));
    }
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, one)| one).collect()
}

/// Returns whether some configuration that covers one of the target may not hit it.
fn has_condition(target: &Target) -> bool {
    target.formula().is_some() && !target.is_upward_closed()
}
