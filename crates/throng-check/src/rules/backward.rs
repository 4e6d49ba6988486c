//! Relative bases: the configurations above a basis include all that can lead to a target, except
//! those that invariants rule out.
//!
//! The checks are, in this order: the views are closed ([`super::views`]); no step that they allow
//! increases a vector, or one of a tree ([`super::linear`]); the basis is closed under predecessors, except those
//! that the views or a vector rule out. Proof of soundness: suppose a run reaches a target. Its
//! last configuration is reachable, so nothing that it covers is ruled out, and it is above the
//! basis. Then so is the one before: it covers a predecessor that is above the basis, or is ruled
//! out; but a reachable configuration covers nothing that is ruled out. By induction the first one
//! is above the basis, too, which contradicts the check of initial configurations. Where the
//! presence of threads blocks steps, larger configurations may have fewer steps than the basis
//! assumes, never more.

use super::Flaw;
use super::linear::Vectors;
use super::sets::{Order, Set};
use super::views::Closed;
use throng_model::limits::Ticker;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::Relative;
use throng_model::{Config, semantics};

pub(super) fn check_relative(
    problem: &Problem,
    target: &Target,
    found: &Relative,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let basis = &found.basis;
    let vectors = Vectors::new(problem, &found.vectors, &found.trees)?;
    let views = Closed::new(problem, &found.views, &vectors, ticker)?;
    let ruled_out = |c: &Config| !views.allows(c) || vectors.exclude(&views, c);
    if !basis.is_empty() {
        return check_basis(problem, target, basis, &ruled_out, ticker);
    }
    // Larger configurations may have fewer steps, which does not affect invariants.
    match target.configs.iter().find(|c| !ruled_out(c)) {
        Some(bad) => Err(Flaw::BadMember(bad.describe(&*problem.model))),
        None => Ok(()),
    }
}

/// Checks that every target configuration is above the basis, that the basis is closed under
/// predecessors, and that no initial configuration is above it; configurations that are ruled out
/// may be missing.
pub(super) fn check_basis(
    problem: &Problem,
    target: &Target,
    basis: &[Config],
    ruled_out: &dyn Fn(&Config) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    if target.configs.is_empty() && basis.is_empty() {
        return Ok(()); // there are no targets
    }
    let model = &*problem.model;
    let Some(back) = model.predecessors() else {
        return Err(Flaw::NotForThisModel("the model lists no predecessors".into()));
    };
    let above = Set::new(model, basis, Order::Above);
    if let Some(bad) = target.configs.iter().find(|c| !above.holds_or(c, ruled_out)) {
        return Err(Flaw::TargetMissing(bad.describe(model)));
    }
    let starts: Vec<Config> = problem.initial.iter().map(|family| family.omega()).collect();
    let (mut steps, mut before) = (Vec::new(), Vec::new());
    for element in basis {
        ticker.ticks(64)?;
        if starts.iter().any(|start| start.may_cover(element, model)) {
            return Err(Flaw::InitialInside(element.describe(model)));
        }
        back.pre_shared(element.shared, &mut steps)?;
        element.threads.entries().iter().try_for_each(|e| back.pre(element.shared, e.0, &mut steps))?;
        steps.drain(..).try_for_each(|step| semantics::unfire(model, element, &step, &mut before))?;
        if let Some(p) = before.drain(..).find(|p| !above.holds_or(p, ruled_out)) {
            return Err(Flaw::PredecessorMissing(element.describe(model), p.describe(model)));
        }
    }
    Ok(())
}
