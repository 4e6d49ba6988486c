//! A basis stands for all that can lead to something bad, apart from what invariants rule out.
//!
//! In this order: the views are closed ([`super::views`]); no step that they allow increases a
//! vector ([`super::linear`]); the basis is closed under predecessors, except those that the views
//! or a vector rule out. Why that suffices: suppose a run reaches something bad. Its last
//! configuration is reachable, so nothing rules out what it covers, and it is above the basis. Then
//! so is the one before: it covers a predecessor that is above the basis, or is ruled out; but
//! nothing reachable covers what is ruled out. And so on, back to the first one, which is not above
//! the basis. Where presence blocks, larger configurations may do less than the basis says, never
//! more.

use super::Flaw;
use super::linear::Vectors;
use super::sets::{Order, Set};
use super::views::Closed;
use throng_model::limits::Ticker;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::Vector;
use throng_model::views::Views;
use throng_model::{Config, semantics};

pub(super) fn check_relative(
    problem: &Problem,
    target: &Target,
    views: &Views,
    vectors: &[Vector],
    basis: &[Config],
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let vectors = Vectors::new(problem, vectors)?;
    let views = Closed::new(problem, views, &vectors, ticker)?;
    let ruled_out = |c: &Config| !views.allows(c) || vectors.exclude(&views, c);
    if !basis.is_empty() {
        return check_basis(problem, target, basis, &ruled_out, ticker);
    }
    // Larger configurations may do less: invariants alone do not care.
    match target.configs.iter().find(|c| !ruled_out(c)) {
        Some(bad) => Err(Flaw::BadMember(bad.describe(&*problem.model))),
        None => Ok(()),
    }
}

/// Everything bad is above the basis, so is whatever leads above it, and no start is; but what is
/// ruled out may be missing.
pub(super) fn check_basis(
    problem: &Problem,
    target: &Target,
    basis: &[Config],
    ruled_out: &dyn Fn(&Config) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    if target.configs.is_empty() && basis.is_empty() {
        return Ok(()); // nothing is bad
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
