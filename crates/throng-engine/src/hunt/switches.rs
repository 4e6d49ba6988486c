//! A hunt that switches between threads as rarely as possible: first runs without interruption,
//! then those that interrupt a thread once, twice, … Most violations need few interruptions,
//! however many steps they take; a search in the order of steps does not come that far.

use crate::Statistics;
use indexmap::IndexMap;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Config, Local, Step, semantics};

/// A configuration, and the thread that moved last, unless it has ended.
type Moment = (Config, Option<Local>);
/// Moments that were reached: from which, by which step.
type Reached = IndexMap<Moment, Option<(usize, Step)>>;

/// Budget of moments without interruptions in each round; it doubles with each interruption more.
const FIRST: usize = 10_000;

/// Looks at no more than `most` moments, with at most `threads` threads at a time.
pub fn hunt(
    problem: &Problem,
    target: &Target,
    threads: u32,
    most: usize,
    limits: &Limits,
    statistics: &mut Statistics,
) -> Option<Trace> {
    let mut reached = Reached::default();
    for family in &problem.initial {
        let least = family.threads.size();
        let sizes = if family.any.is_empty() { least..=least } else { threads.max(least)..=threads };
        reached.extend(sizes.flat_map(|n| family.of_size(n)).map(|c| ((c, None), None)));
    }
    // By the number of interruptions; what a share leaves over waits for the next round.
    let mut waiting: Vec<Vec<usize>> = vec![(0..reached.len()).collect()];
    let mut after = Vec::new();
    while waiting.iter().any(|level| !level.is_empty()) {
        let mut share = FIRST;
        let mut level = 0;
        while level < waiting.len() {
            let room = reached.len().saturating_add(share).min(most);
            // The last one first: so runs come to their end.
            while reached.len() <= room
                && let Some(here) = waiting[level].pop()
            {
                limits.check().ok()?;
                let ((config, last), _) = reached.get_index(here)?;
                let (config, last) = (config.clone(), *last);
                statistics.configurations += 1;
                if target.is_hit(&config, &*problem.model) {
                    return Some(run(&reached, here));
                }
                // What is missing does not matter: this proves nothing. Only the question's own
                // bound keeps threads from being created; beyond `threads`, steps that create some
                // are not taken.
                _ = semantics::successors(&*problem.model, &config, problem.bound.threads(), &mut after);
                after.retain(|(_, next)| next.threads.size() <= threads);
                let by = |step: &Step| step.take.entries().first().map(|e| e.0);
                let could = last.is_some() && after.iter().any(|(step, _)| by(step) == last);
                for (step, next) in after.drain(..) {
                    statistics.steps += 1;
                    let interrupts = could && by(&step) != last;
                    let moment = (next, step.put.entries().first().map(|e| e.0));
                    let number = reached.len();
                    if let indexmap::map::Entry::Vacant(new) = reached.entry(moment) {
                        new.insert(Some((here, step)));
                        let level = level + usize::from(interrupts);
                        waiting.resize_with(waiting.len().max(level + 1), Vec::new);
                        waiting[level].push(number);
                    }
                }
            }
            if reached.len() > most {
                return None;
            }
            (level, share) = (level + 1, share.saturating_mul(2));
        }
    }
    None
}

/// The run to a moment.
fn run(reached: &Reached, mut at: usize) -> Trace {
    let mut steps = Vec::new();
    while let Some(((config, _), Some((before, step)))) = reached.get_index(at) {
        steps.push(Taken { step: step.clone(), after: config.clone() });
        at = *before;
    }
    steps.reverse();
    let start = reached.get_index(at).map(|((config, _), _)| config.clone());
    Trace { start: start.unwrap_or_else(|| unreachable!("runs begin where the search does")), steps }
}
