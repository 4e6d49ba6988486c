//! Shortens a run by removing everything that its end does not need.
//!
//! Backward from the goal, the need of the rest of the run is known at every point; the earliest
//! configuration with the same shared state that covers it is as good as the latest, so everything
//! between the two is removed. The start then has only the threads that the shorter run needs,
//! which makes the configurations smaller; so this is repeated until nothing changes.

use super::steps::Steps;
use super::vector::{Entry, add, covers, remove};
use throng_model::limits::Ticker;
use throng_model::verdict::Unknown;

/// A run over ids.
#[derive(Clone, Debug)]
pub struct Run {
    /// The shared state at the start.
    pub shared: u32,
    /// The threads at the start.
    pub start: Vec<Entry>,
    /// The steps.
    pub steps: Vec<u32>,
}

impl Run {
    /// Returns the configurations: one more than steps.
    pub fn configs(&self, steps: &Steps) -> Vec<(u32, Vec<Entry>)> {
        let mut configs = vec![(self.shared, self.start.clone())];
        for &id in &self.steps {
            let step = steps.step(id);
            let mut after = Vec::new();
            if let Some((_, before)) = configs.last() {
                step.fire(before, &mut after);
            }
            configs.push((step.to, after));
        }
        configs
    }
}

/// Returns a run that still ends with `goal`, and starts with `start` applied to its need there.
pub fn shorten(
    mut run: Run,
    goal: &[Entry],
    steps: &Steps,
    start: impl Fn(&[Entry]) -> Vec<Entry>,
    ticker: &mut Ticker<'_>,
) -> Result<Run, Unknown> {
    loop {
        let (need, kept) = pass(&run, goal, steps, ticker)?;
        let shorter = Run { shared: run.shared, start: start(&need), steps: kept };
        if shorter.steps.len() == run.steps.len() && shorter.start == run.start {
            return Ok(run);
        }
        run = shorter;
    }
}

/// Returns the need at the start and the remaining steps.
fn pass(
    run: &Run,
    goal: &[Entry],
    steps: &Steps,
    ticker: &mut Ticker<'_>,
) -> Result<(Vec<Entry>, Vec<u32>), Unknown> {
    let configs = run.configs(steps);
    let (mut need, mut kept) = (goal.to_vec(), Vec::new());
    let mut at = run.steps.len();
    loop {
        let shared = configs[at].0;
        for (i, c) in configs[..at].iter().enumerate() {
            ticker.tick()?;
            if c.0 == shared && covers(&c.1, &need) {
                at = i;
                break;
            }
        }
        let Some(before) = at.checked_sub(1) else { break };
        let step = steps.step(run.steps[before]);
        for &(l, n) in &step.give {
            remove(&mut need, l, n);
        }
        step.take.iter().for_each(|&(l, n)| add(&mut need, l, n));
        kept.push(run.steps[before]);
        at = before;
    }
    kept.reverse();
    Ok((need, kept))
}
