//! The rule for starvation ([`throng_model::starvation`]), which is about executions without an end.
//!
//! A run proves it: all configurations that can follow its last one are explored here, and some of
//! them, with a thread that stays at its place, can be visited for ever under a fair scheduler. A
//! closed set proves that there is none within a bound: the same is looked for among all its
//! members. For any number of threads, views, vectors and ranks prove that no vector of steps can be
//! repeated while a thread stays at its place ([`throng_model::fair`]).

use super::Flaw;
use super::deadlock::check_vanishing;
use super::forward::{Kind, check_forward};
use super::linear::Vectors;
use super::run::check_trace;
use super::views::Closed;
use throng_model::Local;
use throng_model::fair::{Part, Weights, may_starve};
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::starvation::Starvation;
use throng_model::verdict::{Certificate, Relative, Verdict};

/// Checks that the evidence of `verdict` proves the verdict about starvation at the places of
/// `target`.
pub(super) fn check_starvation(
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
    let mut ticker = Ticker::new(limits);
    let starvation = Starvation::new(model, target, problem.bound.threads(), None);
    match verdict {
        Verdict::Unknown(_) => Ok(()),
        Verdict::Unsafe(trace) => {
            let last = trace.steps.last().map_or(&trace.start, |taken| &taken.after);
            check_trace(problem, &within(vec![last.clone()]), trace)?;
            match starvation.can_follow(last, &mut ticker)? {
                true => Ok(()),
                false => Err(Flaw::EndIsNotBad(last.describe(model))),
            }
        }
        Verdict::Safe(Certificate::Closed(set)) => {
            check_forward(problem, &within(Vec::new()), set, Kind::Closed, &mut ticker)?;
            match starvation.find(set.iter(), &mut ticker)? {
                None => Ok(()),
                Some(lasso) => Err(Flaw::BadMember(lasso.start.describe(model))),
            }
        }
        Verdict::Safe(Certificate::Relative(relative)) if relative.basis.is_empty() => {
            none_starves(problem, &starvation, relative, &mut ticker)
        }
        Verdict::Safe(_) => Err(Flaw::Malformed("this is not evidence about starvation".into())),
    }
}

fn none_starves(
    problem: &Problem,
    starvation: &Starvation<'_>,
    relative: &Relative,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    // At a bound, a step creates fewer threads than the moves say.
    if problem.bound != Bound::Any {
        return Err(Flaw::NotForThisModel("this is sound for any number of threads only".into()));
    }
    let model = &*problem.model;
    let vectors = Vectors::signed(problem, &relative.vectors)?;
    let closed = Closed::new(problem, &relative.views, &vectors, ticker)?;
    check_vanishing(model, &closed, &vectors)?;
    let negative = || Flaw::Grows("a rank is negative at a local state".into());
    let ranks: Option<Vec<Weights>> = relative.ranks.iter().map(Weights::new).collect();
    let ranks = ranks.ok_or_else(negative)?;
    let mut excludes = |s, l, others: &[Local]| Ok(vectors.exclude_stuck(s, l, others));
    let mut falling =
        |part: &Part<'_>| Ok(ranks.iter().flat_map(|rank| rank.falling(part)).collect::<Vec<usize>>());
    match may_starve(starvation, &relative.views, &mut excludes, &mut falling, ticker)? {
        None => Ok(()),
        Some((s, l)) => {
            let name = format!("{} with a thread at {}", model.shared_name(s), model.local_name(l));
            Err(Flaw::BadMember(name))
        }
    }
}
