//! A breadth-first search of whole configurations, for what engines do not ask: deadlocks, and
//! short runs of programs that create threads without bound.

use std::collections::VecDeque;

use crate::Statistics;
use indexmap::IndexMap;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Taken, Trace, Unknown};
use throng_model::{Config, Incomplete, Step, semantics};

/// Configurations that were reached: from which, by which step.
type Reached = IndexMap<Config, Option<(usize, Step)>>;

/// How a search ended.
pub enum Found {
    /// With a run to such a configuration.
    Run(Trace),
    /// Without one: every configuration within the bound; whether larger ones were left out; whether
    /// all steps are known.
    Nothing(Vec<Config>, bool, Result<(), Incomplete>),
    /// At a limit.
    Stopped(Unknown),
}

/// Looks for a configuration with at most `threads` threads, among at most `most` of them.
pub fn search(
    problem: &Problem,
    threads: u32,
    most: usize,
    limits: &Limits,
    statistics: &mut Statistics,
    mut is_it: impl FnMut(&Config) -> Result<bool, Incomplete>,
) -> Found {
    let mut reached = Reached::default();
    for family in &problem.initial {
        let largest = if family.any.is_empty() { family.threads.size() } else { threads };
        for size in 1..=largest.min(threads) {
            reached.extend(family.of_size(size).into_iter().map(|c| (c, None)));
        }
    }
    let mut queue: VecDeque<usize> = (0..reached.len()).collect();
    let mut exceeded = problem.initial.iter().any(|family| !family.any.is_empty());
    let mut complete: Result<(), Incomplete> = Ok(());
    let mut after = Vec::new();
    while let Some(here) = queue.pop_front() {
        if let Err(why) = limits.check() {
            return Found::Stopped(why);
        }
        if reached.len() > most {
            return Found::Stopped(Unknown::Inconclusive(format!("more than {most} configurations")));
        }
        let Some((config, _)) = reached.get_index(here) else { continue };
        let config = config.clone();
        statistics.configurations += 1;
        match is_it(&config) {
            Ok(true) => return Found::Run(run(&reached, here)),
            Ok(false) => {}
            Err(why) => complete = complete.and(Err(why)),
        }
        let listed = semantics::successors(&*problem.model, &config, None, &mut after);
        complete = complete.and(listed);
        for (step, next) in after.drain(..) {
            statistics.steps += 1;
            if next.threads.size() > threads {
                exceeded = true;
            } else if !reached.contains_key(&next) {
                queue.push_back(reached.len());
                reached.insert(next, Some((here, step)));
            }
        }
    }
    Found::Nothing(reached.into_keys().collect(), exceeded, complete)
}

/// The run to a configuration.
fn run(reached: &Reached, mut at: usize) -> Trace {
    let mut steps = Vec::new();
    while let Some((config, Some((before, step)))) = reached.get_index(at) {
        steps.push(Taken { step: step.clone(), after: config.clone() });
        at = *before;
    }
    steps.reverse();
    let start = reached.get_index(at).map(|(config, _)| config.clone());
    Trace { start: start.unwrap_or_else(|| unreachable!("runs begin where the search does")), steps }
}
