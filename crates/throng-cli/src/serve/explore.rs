//! Walks through configurations. A request names the whole walk, and the answer is where it leads:
//! the server remembers nothing, and a click on "back" is a shorter walk.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Asked, Purpose, Shared, found};
use crate::simulate::{Walk, start};
use throng_model::random::Random;
use throng_model::verdict::Verdict;

/// The longest walk.
const LONGEST: usize = 1000;

/// The most choices that are shown: a broadcast may have thousands of outcomes.
const MOST_SHOWN: usize = 200;

/// A walk.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Route {
    question: Asked,
    /// Number of steps of the run into the violation that are taken first; none if it is missing.
    #[serde(default)]
    run: Option<usize>,
    /// Then these choices, by their numbers.
    #[serde(default)]
    path: Vec<usize>,
}

/// Follows a walk and lists what is possible at its end.
pub(super) fn explore(route: &Route, shared: &Shared) -> Result<Value, String> {
    if route.path.len() > LONGEST {
        return Err(format!("a walk has at most {LONGEST} steps"));
    }
    match route.run {
        None => {
            let job = route.question.job(Purpose::Walk, shared, &shared.limits())?;
            let problem = &job.prepare().map_err(|why| why.to_string())?.problem;
            let first = start(problem, &mut Random::new(0)).ok_or("there is no initial configuration")?;
            walk(Walk::new(problem, first), &route.path, None)
        }
        Some(steps) => {
            let found = found(shared, &route.question)?;
            let outcome = &found.outcome;
            let trace = outcome.shown().verdicts.iter().find_map(|v| match v {
                Verdict::Unsafe(trace) => Some(trace),
                _ => None,
            });
            let trace = trace.ok_or_else(|| format!("no violation is known: {}", outcome.status()))?;
            let mut walked = Walk::new(&outcome.problem, trace.start.clone());
            let steps = steps.min(trace.steps.len());
            walked.follow(&trace.steps[..steps]);
            walk(walked, &route.path, Some((steps, trace.steps.len())))
        }
    }
}

fn walk(mut walk: Walk<'_>, path: &[usize], run: Option<(usize, usize)>) -> Result<Value, String> {
    for &choice in path {
        walk.choose(choice)?;
    }
    let choices = walk.events()?;
    let shown: Vec<Value> = choices
        .iter()
        .take(MOST_SHOWN)
        .enumerate()
        .map(|(i, (event, who, violated))| {
            let who: Vec<String> = who.iter().map(ToString::to_string).collect();
            json!({ "choice": i, "threads": who, "event": event, "violated": violated })
        })
        .collect();
    Ok(json!({
        "steps": walk.len(),
        "name": walk.name(),
        "situation": walk.situation(),
        "violated": walk.violated(),
        "choices": shown,
        "more": choices.len().saturating_sub(MOST_SHOWN),
        "run": run.map(|(at, of)| json!({ "at": at, "of": of })),
    }))
}
