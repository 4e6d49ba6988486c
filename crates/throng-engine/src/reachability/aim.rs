//! Best-first search towards a target. Lower bounds of the distance are given by *bearings*:
//! weights of places such that no transition raises the weighted sum by more than one. So a marking
//! whose sum is n below that of the target is at least n steps away. Bearings are dual solutions of
//! the state equation: each is the best one at some marking, but holds at every other one, so a few
//! linear programs guide a search over many markings. Weights that no transition raises at all show
//! where the target is unreachable.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Variable};

use super::equation::columns;
use super::explore::Store;
use super::net::{FEW, Formula, Leads, Marking, Net};
use crate::equations::lp::solve;
use throng_model::limits::{Limits, Ticker};
use throng_model::predicate::Sum;
use throng_model::verdict::Unknown;

/// Maximum number of bearings.
const MOST_BEARINGS: usize = 40;

/// Number of markings without a closer one after which the state equation is solved again; it grows
/// while that yields nothing new.
const STAGNATION: usize = 64;

/// Weight of the distance to the target relative to the steps taken: any run is more important than
/// a short one.
const GREED: f64 = 4.0;

/// Distances below this count as zero.
const EPSILON: f64 = 1e-6;

/// Weights that no transition raises by more than one; or, if it is `infinite`, that no transition
/// raises at all.
struct Bearing {
    weights: Vec<f64>,
    /// The weighted sum is at least this at the target.
    goal: f64,
    infinite: bool,
    /// The increase of the sum by each transition.
    gains: Vec<f64>,
}

impl Bearing {
    /// Returns by how much the weighted sum is too small.
    fn lacks(&self, marking: &[u32]) -> f64 {
        self.goal - self.weights.iter().zip(marking).map(|(w, &n)| w * f64::from(n)).sum::<f64>()
    }

    /// Returns a lower bound of the distance to the target if the sum lacks this much.
    fn distance(&self, lacks: f64) -> f64 {
        match (lacks > EPSILON, self.infinite) {
            (true, true) => f64::INFINITY,
            (true, false) => lacks,
            (false, _) => 0.0,
        }
    }
}

fn distance(bearings: &[Bearing], lacks: impl Iterator<Item = f64>) -> f64 {
    bearings.iter().zip(lacks).map(|(b, lacks)| b.distance(lacks)).fold(0.0, f64::max)
}

/// Searches for a run to where `formula` holds, guided to this case of it, with at most `most`
/// stored markings and a budget of time slices for linear programs.
pub fn aim(
    net: &Net,
    formula: &Formula,
    case: &[(Sum, i64)],
    most: usize,
    patience: u32,
    limits: &Limits,
) -> Result<Option<Vec<u32>>, Unknown> {
    let mut search = Search {
        net,
        formula,
        case,
        bearings: Vec::new(),
        // Markings that do not fit are left out: nothing is concluded from an unsuccessful search.
        store: Store::new(net.places.len(), if net.start.iter().all(|&n| n < FEW) { 1 } else { 4 }),
        origins: vec![(0, 0)],
        steps: vec![0],
        open: BinaryHeap::new(),
        patience,
        limits,
    };
    search.run(most)
}

struct Search<'a> {
    net: &'a Net<'a>,
    formula: &'a Formula,
    case: &'a [(Sum, i64)],
    bearings: Vec<Bearing>,
    store: Store,
    /// The predecessor of each marking, and the transition from it.
    origins: Vec<(u32, u32)>,
    /// The number of steps to each marking.
    steps: Vec<u32>,
    /// Open markings, closest first, later ones before earlier ones.
    open: BinaryHeap<(Reverse<u64>, u32)>,
    /// Remaining slices of time for linear programs.
    patience: u32,
    limits: &'a Limits,
}

impl Search<'_> {
    fn run(&mut self, most: usize) -> Result<Option<Vec<u32>>, Unknown> {
        let net = self.net;
        let mut ticker = Ticker::new(self.limits);
        let (mut now, mut after, mut packed): (Marking, Marking, Vec<u8>) =
            (net.start.clone(), net.start.clone(), Vec::new());
        if !self.take_bearing(&now)? {
            return Ok(None);
        }
        self.store.add(&now, &mut packed);
        self.open.push((Reverse(0), 0));
        let (mut closest, mut since, mut patience) = (f64::INFINITY, 0, STAGNATION);
        let (leads, mut enabled, mut then) = (Leads::new(net), Vec::new(), Vec::new());
        let asks_for_steps = self.formula.each_place(&mut |_| {});
        while let Some((Reverse(key), i)) = self.open.pop() {
            self.store.unpack(i as usize, &mut now);
            let mut lacks: Vec<f64> = self.bearings.iter().map(|b| b.lacks(&now)).collect();
            let mut away = distance(&self.bearings, lacks.iter().copied());
            since += 1;
            if away < closest {
                (closest, since) = (away, 0);
            }
            if since > patience && away.is_finite() {
                since = 0;
                if self.take_bearing(&now)? {
                    lacks = self.bearings.iter().map(|b| b.lacks(&now)).collect();
                    away = distance(&self.bearings, lacks.iter().copied());
                    (closest, patience) = (f64::INFINITY, STAGNATION);
                } else {
                    patience *= 2;
                }
            }
            let Some(due) = key_of(away, self.steps[i as usize]) else { continue };
            // New bearings show that it is further away.
            if due > key {
                self.open.push((Reverse(due), i));
                continue;
            }
            leads.enabled(net, &now, &mut enabled);
            ticker.ticks(1 + (net.places.len() / 16 + enabled.len()) as u32)?;
            for &t in &enabled {
                after.copy_from_slice(&now);
                if !net.fire(&mut after, t) || !self.store.add(&after, &mut packed) {
                    continue;
                }
                self.origins.push((i, t));
                self.steps.push(self.steps[i as usize] + 1);
                let at = self.origins.len() - 1;
                if asks_for_steps {
                    leads.enabled(net, &after, &mut then);
                }
                if self.formula.holds(&after, then.len()) {
                    return Ok(Some(self.fired(at)));
                }
                let there = lacks.iter().zip(&self.bearings).map(|(n, b)| n - b.gains[t as usize]);
                if let Some(key) = key_of(distance(&self.bearings, there), self.steps[at]) {
                    self.open.push((Reverse(key), at as u32));
                }
            }
            if self.store.count() >= most {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Solves the state equation for the best bearing at a marking. Returns whether it gives a
    /// better bound than the known ones.
    fn take_bearing(&mut self, marking: &[u32]) -> Result<bool, Unknown> {
        let known = distance(&self.bearings, self.bearings.iter().map(|b| b.lacks(marking)));
        for infinite in [false, true] {
            let Some(bearing) = self.bearing(marking, infinite)? else { continue };
            let says = bearing.distance(bearing.lacks(marking));
            if says > known + 0.5 || self.bearings.is_empty() {
                if self.bearings.len() == MOST_BEARINGS {
                    // The first bearing, which is best at the start, is kept.
                    self.bearings.remove(1);
                }
                self.bearings.push(bearing);
                return Ok(true);
            }
            if says > 0.0 {
                break;
            }
        }
        Ok(false)
    }

    fn bearing(&mut self, marking: &[u32], infinite: bool) -> Result<Option<Bearing>, Unknown> {
        let net = self.net;
        let numbered = |sum: &Sum| sum.iter().map(|&(l, n)| (net.number(l), n)).collect::<Vec<_>>();
        let sums: Vec<(Vec<(u32, i64)>, i64)> =
            self.case.iter().map(|(sum, n)| (numbered(sum), *n)).collect();
        let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
        // If the target is unreachable, the optimum would be unbounded without this limit.
        let most = if infinite { 1.0 } else { 1e4 };
        let at = |p: u32| f64::from(marking[p as usize]);
        let spare: Vec<Variable> = marking.iter().map(|&n| lp.add_var(-f64::from(n), (0.0, most))).collect();
        let mut terms: Vec<Vec<(Variable, f64)>> = spare.iter().map(|&v| vec![(v, 1.0)]).collect();
        let mut used = Vec::new();
        for (sum, least) in &sums {
            let here: f64 = sum.iter().map(|&(p, n)| n as f64 * at(p)).sum();
            let variable = lp.add_var(*least as f64 - here, (0.0, most));
            sum.iter().for_each(|&(p, n)| terms[p as usize].push((variable, n as f64)));
            used.push(variable);
        }
        for column in columns(net) {
            let mut row: Vec<(Variable, f64)> = Vec::new();
            for &(p, n) in column {
                for &(variable, times) in &terms[p as usize] {
                    match row.iter_mut().find(|e| e.0 == variable) {
                        Some(known) => known.1 += times * n as f64,
                        None => row.push((variable, times * n as f64)),
                    }
                }
            }
            let row: LinearExpr = row.into_iter().filter(|e| e.1 != 0.0).collect();
            lp.add_constraint(row, ComparisonOp::Le, if infinite { 0.0 } else { 1.0 });
        }
        let Ok(solution) = solve(lp, Some(&mut self.patience), self.limits)? else { return Ok(None) };
        let value = |&(variable, times): &(Variable, f64)| solution.var_value(variable) * times;
        let weights: Vec<f64> = terms.iter().map(|terms| terms.iter().map(value).sum()).collect();
        let asked =
            |(variable, (_, least)): (&Variable, &(_, i64))| solution.var_value(*variable) * *least as f64;
        let goal = used.iter().zip(&sums).map(asked).sum();
        let gain =
            |column: &Vec<(u32, i64)>| column.iter().map(|&(p, n)| weights[p as usize] * n as f64).sum();
        let gains = net.changes.iter().map(gain).collect();
        Ok(Some(Bearing { weights, goal, infinite, gains }))
    }

    fn fired(&self, end: usize) -> Vec<u32> {
        let (mut fired, mut at) = (Vec::new(), end);
        while at != 0 {
            fired.push(self.origins[at].1);
            at = self.origins[at].0 as usize;
        }
        fired.reverse();
        fired
    }
}

/// Returns the key that orders markings; `None` if the target is unreachable from one.
fn key_of(away: f64, steps: u32) -> Option<u64> {
    away.is_finite().then(|| ((away - EPSILON).ceil().max(0.0) * GREED) as u64 + u64::from(steps))
}

#[cfg(test)]
mod tests {
    use super::super::net::tests::random_net;
    use super::super::walk::Walker;
    use super::*;
    use throng_model::random::Random;

    /// Checks that bearings never exclude a target that a walk reaches. Without a limit on
    /// markings, the search ends only if the target is unreachable.
    #[test]
    fn what_a_walk_reaches_is_found() {
        let mut long = 0;
        for seed in 0..60 {
            let random = &mut Random::new(seed);
            let problem = random_net(random, 8);
            let net = Net::new(&problem).unwrap();
            let mut walker = Walker::new(&net);
            for _ in 0..25 {
                if !walker.enabled.is_empty() {
                    let t = walker.enabled[random.below(walker.enabled.len())];
                    walker.fire(t);
                }
            }
            let there = walker.marking.clone();
            if there == net.start {
                continue;
            }
            let exactly =
                |(&l, &n): (_, &u32)| [(vec![(l, 1)], i64::from(n)), (vec![(l, -1)], -i64::from(n))];
            let case: Vec<(Sum, i64)> = net.places.iter().zip(&there).flat_map(exactly).collect();
            let each =
                case.iter().map(|(sum, n)| throng_model::predicate::Predicate::AtLeast(sum.clone(), *n));
            let formula = Formula::new(&net, &throng_model::predicate::Predicate::All(each.collect()));
            let fired = aim(&net, &formula, &case, usize::MAX, 10_000, &Limits::none()).unwrap();
            let fired = fired.unwrap_or_else(|| panic!("seed {seed}: {there:?} is reached by a walk"));
            let mut marking = net.start.clone();
            for &t in &fired {
                assert!(net.enables(&marking, t) && net.fire(&mut marking, t), "seed {seed}");
            }
            assert_eq!(marking, there, "seed {seed}");
            long += usize::from(fired.len() > 3);
        }
        assert!(long > 0);
    }
}
