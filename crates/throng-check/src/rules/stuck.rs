//! The rule for stuck threads ([`throng_model::stuck`]), which are not upward closed.
//!
//! A run proves that there is one: all configurations that can follow its last one are explored
//! here, and the thread moves in none of them. A closed set proves that there is none within a
//! bound: the same is checked for every thread. For any number of threads, views and vectors prove
//! it that show for each waiting thread that another is there which can change what it waits for
//! ([`throng_model::helpers`]). Vectors may be negative, as in the rule for deadlocks.

use super::Flaw;
use super::deadlock::{all_of, check_vanishing};
use super::forward::{Kind, check_forward};
use super::linear::Vectors;
use super::run::check_trace;
use super::views::Closed;
use throng_model::helpers::without_help;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::stuck::Stuck;
use throng_model::verdict::{Certificate, Vector, Verdict};
use throng_model::views::Views;
use throng_model::{Config, Local, Model};

/// Checks that the evidence of `verdict` proves the verdict about threads that are stuck in the
/// states of `target`.
pub(super) fn check_stuck(
    problem: &Problem,
    target: &Target,
    verdict: &Verdict,
    limits: &Limits,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    if let (Some(why), false) = (model.blocking(), matches!(verdict, Verdict::Unknown(_))) {
        return Err(Flaw::NotForThisModel(why));
    }
    let within = |configs| Target::covering(String::new(), configs);
    let bound = problem.bound.threads();
    let mut ticker = Ticker::new(limits);
    let stuck = Stuck::new(model, target, bound, None);
    match verdict {
        Verdict::Unknown(_) => Ok(()),
        Verdict::Unsafe(trace) => {
            let last = trace.steps.last().map_or(&trace.start, |taken| &taken.after);
            check_trace(problem, &within(vec![last.clone()]), trace)?;
            match stuck.is_stuck(last, &mut ticker)? {
                true => Ok(()),
                false => Err(Flaw::EndIsNotBad(last.describe(model))),
            }
        }
        Verdict::Safe(Certificate::Closed(set)) => {
            check_forward(problem, &within(Vec::new()), set, Kind::Closed, &mut ticker)?;
            none_stuck(&stuck, set, model, &mut ticker)
        }
        Verdict::Safe(Certificate::Products(products)) => {
            let all = all_of(problem, products, &mut ticker)?;
            none_stuck(&stuck, &all, model, &mut ticker)
        }
        Verdict::Safe(Certificate::Views(views)) => all_get_on(problem, &stuck, views, &[], &mut ticker),
        Verdict::Safe(Certificate::Relative(relative)) if relative.basis.is_empty() => {
            all_get_on(problem, &stuck, &relative.views, &relative.vectors, &mut ticker)
        }
        Verdict::Safe(_) => Err(Flaw::Malformed("this is not evidence about stuck threads".into())),
    }
}

fn none_stuck(stuck: &Stuck<'_>, set: &[Config], model: &dyn Model, ticker: &mut Ticker) -> Result<(), Flaw> {
    match stuck.find(set.iter(), ticker)? {
        None => Ok(()),
        Some((config, _)) => Err(Flaw::BadMember(config.describe(model))),
    }
}

fn all_get_on(
    problem: &Problem,
    stuck: &Stuck<'_>,
    views: &Views,
    vectors: &[Vector],
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    // At a bound, a step creates fewer threads, which may increase a vector that is negative at
    // them.
    if problem.bound != Bound::Any && !vectors.is_empty() {
        return Err(Flaw::NotForThisModel("this is sound for any number of threads only".into()));
    }
    let model = &*problem.model;
    let vectors = Vectors::signed(problem, vectors)?;
    let closed = Closed::new(problem, views, &vectors, ticker)?;
    check_vanishing(model, &closed, &vectors)?;
    let mut excludes = |s, l, others: &[Local]| Ok(vectors.exclude_stuck(s, l, others));
    match without_help(stuck, views, &mut excludes, ticker)? {
        None => Ok(()),
        Some((s, l)) => {
            let name = format!("{} with a thread at {}", model.shared_name(s), model.local_name(l));
            Err(Flaw::BadMember(name))
        }
    }
}
