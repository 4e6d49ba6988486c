//! Deadlocks of C programs: a search of whole configurations, because more threads may make a deadlock disappear.

use std::sync::Arc;

use super::search::{Found, search};
use throng::engine::{Algorithm, Answer, Statistics, Watch};
use throng_c::Concrete;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Certificate, Unknown, Verdict};

/// An engine that answers about deadlocks, as the last target, and leaves the others to another engine.
struct WithDeadlock {
    others: Box<dyn Algorithm + Send>,
    verdict: Verdict,
    statistics: Statistics,
}

/// Searches for a deadlock, and adds the question to the problem.
pub(super) fn also(
    others: Box<dyn Algorithm + Send>,
    model: &Concrete,
    problem: &mut Problem,
    limits: &Limits,
) -> Box<dyn Algorithm + Send> {
    let mut statistics = Statistics::default();
    let verdict = hunt(model, problem, limits, &mut statistics);
    let configs = match &verdict {
        // The run is checked as one into this configuration; that nothing moves there was found out by the model.
        Verdict::Unsafe(trace) => vec![trace.end().clone()],
        _ => Vec::new(),
    };
    problem.targets.push(Target::covering("deadlock", configs));
    Box::new(WithDeadlock { others, verdict, statistics })
}

impl Algorithm for WithDeadlock {
    fn name(&self) -> &'static str {
        if matches!(self.verdict, Verdict::Unknown(_)) { self.others.name() } else { "explicit" }
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut rest = problem.clone();
        rest.targets.pop();
        let mut answer = match rest.targets.is_empty() {
            true => Answer::new(Vec::new(), self.statistics.clone()),
            false => self.others.run(&rest, limits, watch),
        };
        answer.verdicts.push(self.verdict.clone());
        answer.by.push(Some("explicit"));
        answer.fewest.push(matches!(self.verdict, Verdict::Unsafe(_)));
        answer.checked = false;
        answer
    }
}

/// With 1, 2, 3, … threads, until there is no step that would exceed the number.
fn hunt(model: &Concrete, problem: &Problem, limits: &Limits, statistics: &mut Statistics) -> Verdict {
    let most = problem.bound.threads().unwrap_or(u32::MAX);
    for threads in 1..=most {
        match search(problem, threads, usize::MAX, limits, statistics, |config| model.is_deadlock(config)) {
            Found::Run(trace) => return Verdict::Unsafe(trace),
            Found::Stopped(why) => return Verdict::Unknown(why),
            Found::Nothing(all, exceeded, complete) if !exceeded || threads == most => {
                return match complete {
                    Ok(()) => Verdict::Safe(Certificate::Closed(Arc::new(all))),
                    Err(why) => Verdict::Unknown(why.into()),
                };
            }
            Found::Nothing(..) => {}
        }
    }
    Verdict::Unknown(Unknown::Inconclusive("no number of threads was tried".into()))
}
