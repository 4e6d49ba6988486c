//! The shortest search one can write: slow, and obviously right.

use std::collections::{HashMap, VecDeque};

use throng_model::problem::Problem;
use throng_model::{Config, semantics};

/// For each target, the fewest threads with which it can be hit and, for that many, the fewest
/// steps; `None` if it cannot be hit by a run of the problem in which at most `most` threads exist
/// at once.
pub fn naive(problem: &Problem, most: u32) -> Vec<Option<(u32, usize)>> {
    let mut found = vec![None; problem.targets.len()];
    for level in 0..=most {
        for (config, length) in distances(problem, level) {
            for (target, found) in problem.targets.iter().zip(&mut found) {
                if found.is_none_or(|best| (level, length) < best) && target.is_hit(&config, &*problem.model)
                {
                    *found = Some((level, length));
                }
            }
        }
    }
    found
}

/// Every configuration that is reached without ever having more than `level` threads, and in how
/// many steps.
fn distances(problem: &Problem, level: u32) -> HashMap<Config, usize> {
    let starts = problem.initial.iter().flat_map(|family| (0..=level).flat_map(|k| family.of_size(k)));
    let mut queue: VecDeque<Config> = starts.collect();
    let mut distance: HashMap<Config, usize> = queue.iter().map(|c| (c.clone(), 0)).collect();
    let mut after = Vec::new();
    while let Some(config) = queue.pop_front() {
        let further = distance[&config] + 1;
        semantics::successors(&*problem.model, &config, problem.bound.threads(), &mut after)
            .expect("few threads");
        for (_, next) in after.drain(..) {
            if next.threads.size() <= level && !distance.contains_key(&next) {
                distance.insert(next.clone(), further);
                queue.push_back(next);
            }
        }
    }
    distance
}
