//! The rule for deadlocks ([`throng_model::deadlock`]), which are not upward closed.
//!
//! A run whose last configuration is a deadlock proves that there is one. A closed set without
//! deadlocks proves that there is none within a bound. For any number of threads, views and vectors
//! prove it: in a deadlock with shared state s, every thread is in a local state that occurs with s
//! and may be stuck there. A vector that no step increases, that is not negative in those states,
//! and that exceeds its initial value in s with one of them, excludes that state: `lock is taken,
//! minus the threads that hold it` is 0 at the start and never grows, but would be 1 if all threads
//! waited. Here a vector may be negative at other local states, because no thread is there.

use super::Flaw;
use super::forward::{Kind, check_forward};
use super::linear::Vectors;
use super::partial_order::{MOST, check_products};
use super::run::check_trace;
use super::views::Closed;
use throng_model::deadlock::{deadlocked, may_be_stuck, moves_by_itself};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Products, Unknown, Vector, Verdict};
use throng_model::views::Views;
use throng_model::{Bystanders, Config, Local, Model};

/// Checks that the evidence of `verdict` proves the verdict about deadlocks.
pub(super) fn check_deadlock(problem: &Problem, verdict: &Verdict, limits: &Limits) -> Result<(), Flaw> {
    let model = &*problem.model;
    if let (Some(why), false) = (model.blocking(), model.is_exact() || matches!(verdict, Verdict::Unknown(_)))
    {
        return Err(Flaw::NotForThisModel(why));
    }
    let target = |configs| Target::covering(String::new(), configs);
    let bound = problem.bound.threads();
    let mut ticker = Ticker::new(limits);
    match verdict {
        Verdict::Unknown(_) => Ok(()),
        Verdict::Unsafe(trace) => {
            let last = trace.steps.last().map_or(&trace.start, |taken| &taken.after);
            check_trace(problem, &target(vec![last.clone()]), trace)?;
            match deadlocked(model, last, bound)? {
                Some(_) => Ok(()),
                None => Err(Flaw::EndIsNotBad(last.describe(model))),
            }
        }
        Verdict::Safe(Certificate::Closed(set)) => {
            check_forward(problem, &target(Vec::new()), set, Kind::Closed, &mut ticker)?;
            no_deadlock(model, set, bound, &mut ticker)
        }
        Verdict::Safe(Certificate::Products(products)) => {
            let all = all_of(problem, products, &mut ticker)?;
            no_deadlock(model, &all, bound, &mut ticker)
        }
        Verdict::Safe(Certificate::Views(views)) => check_invariants(problem, views, &[], &mut ticker),
        Verdict::Safe(Certificate::Relative(relative)) if relative.basis.is_empty() => {
            check_invariants(problem, &relative.views, &relative.vectors, &mut ticker)
        }
        Verdict::Safe(_) => Err(Flaw::Malformed("this is not evidence about deadlocks".into())),
    }
}

/// Returns the configurations of products, which must be closed under all steps.
pub(super) fn all_of(
    problem: &Problem,
    products: &Products,
    ticker: &mut Ticker,
) -> Result<Vec<Config>, Flaw> {
    if products.reduced {
        return Err(Flaw::Malformed("not all orders of steps were looked at".into()));
    }
    check_products(problem, &Target::covering(String::new(), Vec::new()), products, ticker)?;
    let too_large = || Flaw::Limit(Unknown::Inconclusive("a product of sets is too large to check".into()));
    products.all(MOST).ok_or_else(too_large)
}

fn no_deadlock(
    model: &dyn Model,
    set: &[Config],
    bound: Option<u32>,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    for config in set {
        ticker.tick()?;
        if deadlocked(model, config, bound)?.is_some() {
            return Err(Flaw::BadMember(config.describe(model)));
        }
    }
    Ok(())
}

/// Checks that no bystander may vanish, where a vector counts some of them less than nothing.
pub(super) fn check_vanishing(model: &dyn Model, views: &Closed<'_>, vectors: &Vectors) -> Result<(), Flaw> {
    if !vectors.some_negative() {
        return Ok(());
    }
    views.each_possible_step(&mut |group, step| {
        if step.others == Bystanders::Transfer {
            let mut fates = Vec::new();
            views.singles(group).try_for_each(|l| model.bystander(step, l, &mut fates))?;
            if fates.contains(&None) {
                return Err(Flaw::Grows("bystanders may vanish that count less than nothing".into()));
            }
        }
        Ok(())
    })
}

fn check_invariants(
    problem: &Problem,
    views: &Views,
    vectors: &[Vector],
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    if let Some(why) = model.blocking() {
        return Err(Flaw::NotForThisModel(why));
    }
    // At a bound, a step creates fewer threads, which may increase a vector that is negative at
    // them.
    if problem.bound != Bound::Any {
        return Err(Flaw::NotForThisModel("this is sound for any number of threads only".into()));
    }
    let vectors = Vectors::signed(problem, vectors)?;
    let views = Closed::new(problem, views, &vectors, ticker)?;
    check_vanishing(model, &views, &vectors)?;
    for (s, group) in views.groups() {
        if moves_by_itself(model, s)? {
            continue;
        }
        let mut stuck: Vec<Local> = Vec::new();
        for l in views.singles(group) {
            ticker.tick()?;
            if may_be_stuck(model, s, l)? {
                stuck.push(l);
            }
        }
        for &l in stuck.iter().filter(|l| !model.has_ended(**l)) {
            let others: Vec<Local> =
                stuck.iter().copied().filter(|&other| views.pair(group, l, other)).collect();
            ticker.ticks(others.len() as u32 + 1)?;
            if !vectors.exclude_stuck(s, l, &others) {
                let name = format!("{} with a thread at {}", model.shared_name(s), model.local_name(l));
                return Err(Flaw::BadMember(name));
            }
        }
    }
    Ok(())
}
