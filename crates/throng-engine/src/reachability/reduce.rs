//! The choice of structural reductions, which lead to smaller nets that reach the same where it
//! matters (`throng_model::reduction` defines them and shows that they are sound). Runs are lifted;
//! proofs include the list of reductions, from which the checker builds the smaller net itself.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::net::Net;
use throng_model::Local;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Problem, Target};
use throng_model::reduction::{ReducedNet, Reduction, Reductions};
use throng_model::verdict::{Certificate, Unknown, Verdict};

/// Maximum number of additional transitions for the removal of a place.
const MOST_MORE: usize = 0;

/// A smaller net, for some targets of a problem.
pub struct Smaller {
    /// The problem of the smaller net, with these targets only.
    pub problem: Problem,
    /// The numbers of these targets in the original problem.
    pub targets: Vec<usize>,
    reductions: Arc<Reductions>,
    net: ReducedNet,
}

impl Smaller {
    /// Returns a smaller net for these targets, if it can be reduced.
    pub fn new(problem: &Problem, targets: &[usize], limits: &Limits) -> Result<Option<Smaller>, Unknown> {
        let mut visible = Vec::new();
        for &i in targets {
            let asks = problem.targets[i].predicate();
            if asks.asks_for_steps() {
                return Ok(None);
            }
            asks.each_local(&mut |l| visible.push(l));
        }
        visible.sort_unstable();
        visible.dedup();
        let Ok(mut net) = ReducedNet::new(problem, visible.iter().copied()) else { return Ok(None) };
        let (transitions, places) = (net.len(), net.places().len());
        let steps = reduce(&mut net, &mut Ticker::new(limits))?;
        let reductions = Arc::new(Reductions { visible, steps });
        if (net.len(), net.places().len()) == (transitions, places) {
            return Ok(None);
        }
        let kept: Vec<Target> = targets.iter().map(|&i| problem.targets[i].clone()).collect();
        let problem = Problem { targets: kept, ..net.problem(problem) };
        Ok(Some(Smaller { problem, targets: targets.to_vec(), reductions, net }))
    }

    /// Returns the number of transitions.
    pub fn transitions(&self) -> usize {
        self.net.len()
    }

    /// Lifts a verdict about the smaller net to the original one; `None` if the run is too long.
    pub fn lift(&self, original: &Net, verdict: Verdict) -> Option<Verdict> {
        Some(match verdict {
            Verdict::Safe(proof) => {
                Verdict::Safe(Certificate::Reduced(self.reductions.clone(), Box::new(proof)))
            }
            Verdict::Unsafe(trace) => {
                let fired = trace.steps.iter().map(|taken| taken.step.edge.0);
                Verdict::Unsafe(original.run(&self.net.lift(fired, original.most_steps())?))
            }
            unknown => unknown,
        })
    }
}

/// Applies reductions until there are no more, and returns them.
fn reduce(net: &mut ReducedNet, ticker: &mut Ticker) -> Result<Vec<Reduction>, Unknown> {
    let mut done = Vec::new();
    let mut apply = |net: &mut ReducedNet, reduction| {
        let applied = net.apply(reduction).is_ok();
        if applied {
            done.push(reduction);
        }
        applied
    };
    loop {
        apply(net, Reduction::Prune);
        let mut changed = false;
        for l in redundant(net) {
            changed |= apply(net, Reduction::Drop(l));
        }
        for l in net.places() {
            let around = net.around(l);
            let into = around.iter().filter(|t| t.1 > 0).count();
            let from = around.len() - into;
            ticker.ticks(4 + around.len() as u32)?;
            if into * from <= into + from + MOST_MORE {
                changed |= apply(net, Reduction::Post(l)) || apply(net, Reduction::Pre(l));
            }
        }
        if !changed {
            return Ok(done);
        }
    }
}

/// Returns places that never block a transition: those that always have enough tokens, and those
/// that change like another one that has no more and is needed no less.
fn redundant(net: &ReducedNet) -> Vec<Local> {
    let mut found = Vec::new();
    let mut alike: FxHashMap<Vec<(u32, u32, u32)>, Local> = FxHashMap::default();
    for l in net.places() {
        let around = net.around(l);
        let start = net.at_start(l);
        if around.iter().all(|&(_, put, take)| put >= take && start >= take) {
            found.push(l);
            continue;
        }
        match alike.get(&around) {
            Some(&other) if net.at_start(other) <= start => found.push(l),
            Some(&other) => {
                found.push(other);
                alike.insert(around, l);
            }
            None => _ = alike.insert(around, l),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::explore::explore;
    use super::super::net::tests::random_net;
    use super::super::net::{Formula, Net};
    use super::super::walk::Wanted;
    use super::*;
    use throng_model::predicate::Predicate;
    use throng_model::problem::{Asks, Problem, Target};
    use throng_model::random::Random;

    fn at_least(problem: &Problem, sum: Vec<(Local, i64)>, least: i64) -> Target {
        let everything = vec![throng_model::Config::new(problem.initial[0].shared, Default::default())];
        let when = Predicate::AtLeast(sum, least);
        let formula = throng_model::problem::Formula { when, asks: Asks::Exists };
        Target::satisfying("t", everything, formula)
    }

    /// Decides by exhaustive search whether a target is reached.
    fn verdict(problem: &Problem, target: usize) -> Verdict {
        let net = Net::new(problem).unwrap();
        let formula = Formula::new(&net, &problem.targets[target].predicate());
        let wanted = [Wanted { target, formula }];
        let found = explore(&net, &wanted, 1_000_000, &mut Ticker::new(&Limits::none())).unwrap();
        match found.reached.first() {
            Some((_, fired)) => Verdict::Unsafe(net.run(fired)),
            None => Verdict::Safe(Certificate::Closed(Arc::new(found.all.unwrap()))),
        }
    }

    #[test]
    fn smaller_nets_reach_the_same_and_their_evidence_stands() {
        let (mut used, mut safe, mut reached) = (BTreeSet::new(), 0, 0);
        for seed in 0..1500 {
            let random = &mut Random::new(seed);
            let places = 6 + random.below(5);
            let mut problem = random_net(random, places);
            // Two questions share a smaller net, and each has its own evidence.
            for _ in 0..1 + random.below(2) {
                let mut sum = vec![(Local(random.below(5) as u64), 1)];
                if random.below(2) == 0 {
                    sum.push((Local(5), 1 - 2 * random.below(2) as i64));
                }
                let least = random.below(5) as i64 - 1;
                problem.targets.push(at_least(&problem, sum, least));
            }
            let all: Vec<usize> = (0..problem.targets.len()).collect();
            let Some(smaller) = Smaller::new(&problem, &all, &Limits::none()).unwrap() else { continue };
            used.extend(smaller.reductions.steps.iter().map(|r| format!("{r:?}")[..3].to_string()));
            for i in all {
                let expected = verdict(&problem, i);
                let found = smaller.lift(&Net::new(&problem).unwrap(), verdict(&smaller.problem, i)).unwrap();
                match (&expected, &found) {
                    (Verdict::Safe(_), Verdict::Safe(_)) => safe += 1,
                    (Verdict::Unsafe(_), Verdict::Unsafe(_)) => reached += 1,
                    _ => panic!("seed {seed}: {expected:?} but {found:?} after {:?}", smaller.reductions),
                }
                throng_check::rules::check(&problem, &problem.targets[i], &found)
                    .unwrap_or_else(|flaw| panic!("seed {seed}: {flaw}"));
            }
        }
        assert_eq!(used.len(), 4, "{used:?}");
        assert!(safe > 50 && reached > 50, "{safe} safe, {reached} reached");
    }
}
