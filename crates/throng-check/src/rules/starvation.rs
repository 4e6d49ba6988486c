//! The rule for starvation ([`throng_model::starvation`]), which is about executions without an end.
//!
//! A run proves it: all configurations that can follow its last one are explored here, and some of
//! them, with a thread that stays at its place, can be visited for ever under a fair scheduler. A
//! closed set proves that there is none within a bound: the same is looked for among all its
//! members.

use super::Flaw;
use super::forward::{Kind, check_forward};
use super::run::check_trace;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Problem, Target};
use throng_model::starvation::Starvation;
use throng_model::verdict::{Certificate, Verdict};

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
        Verdict::Safe(_) => Err(Flaw::Malformed("this is not evidence about starvation".into())),
    }
}
