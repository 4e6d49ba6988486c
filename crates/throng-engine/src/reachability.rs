//! Exact reachability in nets: targets may require few tokens as well as many, or markings at which
//! no transition is enabled.
//!
//! The engine works first on the net itself, then on smaller nets that reach the same where it
//! matters (`reduce`), in rounds of growing budgets. Walks, at random or towards a target, find
//! runs (`walk`). A few places may suffice for a proof (`project`). Flows (`flows`) and the state
//! equation with traps refute a target, case by case (`equation`), or say how often each transition
//! fires, and orders of these firings are tried (`follow`). Exhaustive search finds the shortest
//! runs, and decides everything if it ends (`explore`). Best-first search goes where the state
//! equation estimates the target to be close (`aim`). All evidence is self-contained: a run, a
//! refutation, or the closed set of reachable markings.

mod aim;
mod equation;
mod explore;
mod flows;
mod follow;
mod net;
mod project;
mod reduce;
mod walk;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex};

use self::aim::aim;
use self::equation::EquationResult;
use self::explore::explore;
use self::flows::Flow;
use self::follow::follow;
use self::net::{Formula, Net};
use self::project::{Projected, project};
use self::reduce::Smaller;
use self::walk::{Choice, Lookout, Walker, Wanted, walk};
use super::{Algorithm, Answer, Progress, Statistics, Watch};
use throng_model::Local;
use throng_model::limits::{Limits, Ticker};
use throng_model::predicate::Sum;
use throng_model::problem::{Asks, Bound, Problem, Target};
use throng_model::random::Random;
use throng_model::verdict::{Certificate, Unknown, Verdict};

/// The engine `reachability`.
#[derive(Debug, Default)]
pub struct Reachability {
    /// Targets that the state equation does not refute, by name and number of places of the net: it
    /// need not be solved again when the search is resumed with a larger share of work.
    equations: Mutex<BTreeMap<(String, usize), EquationState>>,
    /// The flows of the most recent net, with its places.
    flows: Mutex<Option<KnownFlows>>,
}

/// Places, and the flows of the net that has them; `None`: there are too many.
type KnownFlows = (Vec<Local>, Option<Arc<Vec<Flow>>>);

/// The result of the state equation for a target.
#[derive(Debug)]
struct EquationState {
    /// The budget spent, in slices of time; `u32::MAX` if a larger one would not help.
    patience: u32,
    /// A case that is possible, or at least not refuted; empty if none is known.
    case: Vec<(Sum, i64)>,
}

/// Returns, for each largest value that a problem asks for, the largest one that the state equation
/// allows. Nothing relies on it.
pub fn largest_allowed(problem: &Problem, limits: &Limits) -> Vec<Option<i64>> {
    let net = Net::new(problem).ok();
    let sums = problem.targets.iter().filter_map(|t| match t.asks() {
        Some(Asks::Largest(sum)) => Some(sum),
        _ => None,
    });
    let flows = net.as_ref().and_then(flows::flows);
    let most = |sum| equation::largest(net.as_ref()?, flows.as_deref(), sum, limits).ok().flatten();
    sums.map(most).collect()
}

/// Number of steps of the walks of the first round, for each target.
const FIRST_STEPS: usize = 20_000;

/// Maximum number of markings of the first exhaustive search.
const FIRST_MARKINGS: usize = 20_000;

impl Reachability {
    /// Returns whether the engine can answer questions about this problem.
    pub fn takes(problem: &Problem) -> bool {
        Net::new(problem).is_ok()
    }

    /// Returns the comparisons that hold at a target, in a case that the state equation does not
    /// refute.
    fn case(&self, net: &Net, target: &Target) -> Option<Vec<(Sum, i64)>> {
        let case = self.equations.lock().ok()?.get(&(target.name.clone(), net.places.len()))?.case.clone();
        Some(case).filter(|case| !case.is_empty())
    }

    /// Returns the flows of a net, if they can be computed; nets with the same places number them
    /// alike.
    fn flows(&self, net: &Net) -> Option<Arc<Vec<Flow>>> {
        let mut known = self.flows.lock().ok()?;
        if known.as_ref().is_none_or(|(places, _)| *places != net.places) {
            *known = Some((net.places.clone(), flows::flows(net).map(Arc::new)));
        }
        known.as_ref()?.1.clone()
    }

    fn note(&self, net: &Net, target: &Target, state: EquationState) {
        if let Ok(mut known) = self.equations.lock() {
            known.insert((target.name.clone(), net.places.len()), state);
        }
    }
}

impl Algorithm for Reachability {
    fn name(&self) -> &'static str {
        "reachability"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut search = Search {
            verdicts: vec![None; problem.targets.len()],
            statistics: Statistics::default(),
            problem,
            lifting: None,
            limits,
            watch,
        };
        let why = match Net::new(problem) {
            Ok(net) => match search.run(&net, self) {
                Ok(()) => Unknown::Inconclusive("everything was tried".into()),
                Err(why) => why,
            },
            Err(why) => Unknown::NotForThisModel(why),
        };
        let verdicts =
            search.verdicts.into_iter().map(|v| v.unwrap_or_else(|| Verdict::Unknown(why.clone())));
        Answer::new(verdicts.collect(), search.statistics)
    }
}

struct Search<'a> {
    verdicts: Vec<Option<Verdict>>,
    statistics: Statistics,
    problem: &'a Problem,
    /// If the problem is about a smaller net: that net, and the original one.
    lifting: Option<(&'a Smaller, &'a Net<'a>)>,
    limits: &'a Limits,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    fn run(&mut self, net: &Net, engine: &Reachability) -> Result<(), Unknown> {
        self.decide_at_start(net);
        // Easy targets need no smaller net: their evidence is about the net itself, and their runs
        // are short.
        if self.round(net, engine, 0)? || self.open().is_empty() {
            return Ok(());
        }
        // A single target may have a smaller net than all of them together.
        let mut alone: BTreeMap<usize, Option<Smaller>> = BTreeMap::new();
        // A net that is hardly smaller costs more than it saves, because everything is computed
        // again.
        let worthwhile = |smaller: &Smaller, size: usize| smaller.transitions() < size - size / 8;
        let together = Smaller::new(self.problem, &self.open(), self.limits)?
            .filter(|smaller| worthwhile(smaller, net.needs.len()));
        for round in 0u32.. {
            let complete = match &together {
                Some(smaller) => self.on_smaller(smaller, net, engine, round)?,
                None if round == 0 => false,
                None => self.round(net, engine, round)?,
            };
            if complete || self.open().is_empty() {
                return Ok(());
            }
            let size = together.as_ref().map_or(net.needs.len(), Smaller::transitions);
            for i in self.open() {
                let one = match alone.entry(i) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(Smaller::new(self.problem, &[i], self.limits)?),
                };
                if let Some(one) = one.as_ref().filter(|one| worthwhile(one, size)) {
                    self.on_smaller(one, net, engine, round)?;
                }
            }
            self.limits.check()?;
        }
        Ok(())
    }

    /// Performs one round on a smaller net. Returns whether everything reachable was explored.
    fn on_smaller(
        &mut self,
        smaller: &Smaller,
        original: &Net,
        engine: &Reachability,
        round: u32,
    ) -> Result<bool, Unknown> {
        let net = Net::new(&smaller.problem).map_err(Unknown::NotForThisModel)?;
        let mut search = Search {
            verdicts: smaller.targets.iter().map(|&i| self.verdicts[i].clone()).collect(),
            statistics: self.statistics.clone(),
            problem: &smaller.problem,
            lifting: Some((smaller, original)),
            limits: self.limits,
            watch: self.watch,
        };
        let complete = search.round(&net, engine, round);
        self.statistics = search.statistics;
        for (&i, verdict) in smaller.targets.iter().zip(search.verdicts) {
            self.verdicts[i] = verdict;
        }
        complete
    }

    /// Performs one round. Returns whether everything reachable was explored.
    fn round(&mut self, net: &Net, engine: &Reachability, round: u32) -> Result<bool, Unknown> {
        let steps = FIRST_STEPS.saturating_mul(3usize.saturating_pow(round));
        let markings = FIRST_MARKINGS.saturating_mul(5usize.saturating_pow(round));
        self.walk(net, steps, round)?;
        self.project(net, markings / 8)?;
        let patience = equation::patience(round);
        self.refute_by_flows(net, engine, patience / 2)?;
        self.refute(net, engine, &self.unsolved(net, engine, patience), None, patience)?;
        self.follow(net, engine, round)?;
        if self.explore(net, markings)? || self.open().is_empty() {
            return Ok(true);
        }
        self.aim(net, engine, markings, patience)?;
        Ok(false)
    }

    fn decide(&mut self, target: usize, verdict: Verdict) {
        let (number, verdict) = match self.lifting {
            None => (target, Some(verdict)),
            Some((smaller, net)) => (smaller.targets[target], smaller.lift(net, verdict)),
        };
        if let Some(verdict) = &verdict {
            self.watch.found(number, verdict);
        }
        self.verdicts[target] = verdict;
    }

    fn open(&self) -> Vec<usize> {
        let largest = |t: &Target| matches!(t.asks(), Some(Asks::Largest(_)));
        let open = |i: &usize| self.verdicts[*i].is_none() && !largest(&self.problem.targets[*i]);
        (0..self.verdicts.len()).filter(open).collect()
    }

    fn wanted(&self, net: &Net) -> Vec<Wanted> {
        let one = |target: usize| {
            let formula = Formula::new(net, &self.problem.targets[target].predicate());
            Wanted { target, formula }
        };
        self.open().into_iter().map(one).collect()
    }

    fn decide_at_start(&mut self, net: &Net) {
        let walker = Walker::new(net);
        for one in self.wanted(net) {
            if one.formula.holds(&walker.marking, walker.enabled.len()) {
                self.decide(one.target, Verdict::Unsafe(net.run(&[])));
            }
        }
    }

    /// Walks about this many steps for each target.
    fn walk(&mut self, net: &Net, steps: usize, round: u32) -> Result<(), Unknown> {
        let first = Walker::new(net);
        let mut random = Random::new(u64::from(round));
        let mut ticker = Ticker::new(self.limits);
        for &open in &self.open() {
            if self.verdicts[open].is_some() {
                continue;
            }
            let mut left = steps;
            // Short walks come first, because their runs are short, too.
            let mut most = 64;
            while left > 0 {
                let wanted = self.wanted(net);
                let Some(aim) = wanted.iter().position(|w| w.target == open) else { break };
                let mut lookout = Lookout::new(net, wanted);
                for i in 0..4 {
                    let choice = if i == 3 { Choice::Random } else { Choice::Towards(aim) };
                    let length = most.min(left);
                    left -= length;
                    let found = walk(net, &first, &mut lookout, choice, length, &mut random, &mut ticker)?;
                    self.statistics.steps += length as u64;
                    let hit = !found.is_empty();
                    for (i, trace) in found {
                        self.decide(lookout.wanted[i].target, Verdict::Unsafe(trace));
                    }
                    if hit {
                        break;
                    }
                }
                most = (most * 2).min(steps / 4 + 64);
            }
            self.progress("walks", 0);
        }
        Ok(())
    }

    /// Applies flows to targets to which they were applied with a smaller budget, if at all.
    fn refute_by_flows(&mut self, net: &Net, engine: &Reachability, patience: u32) -> Result<(), Unknown> {
        let open = self.unsolved(net, engine, patience);
        if open.is_empty() {
            return Ok(());
        }
        let Some(flows) = engine.flows(net) else { return Ok(()) };
        self.refute(net, engine, &open, Some(&flows), patience)
    }

    /// Returns the targets for which the state equation was solved with a smaller budget, if at
    /// all.
    fn unsolved(&self, net: &Net, engine: &Reachability, patience: u32) -> Vec<usize> {
        let solved = |i: &usize| {
            let key = (self.problem.targets[*i].name.clone(), net.places.len());
            engine.equations.lock().is_ok_and(|all| all.get(&key).is_some_and(|a| a.patience >= patience))
        };
        self.open().into_iter().filter(|i| !solved(i)).collect()
    }

    /// Applies the state equation, or flows, to these targets.
    fn refute(
        &mut self,
        net: &Net,
        engine: &Reachability,
        open: &[usize],
        flows: Option<&[Flow]>,
        patience: u32,
    ) -> Result<(), Unknown> {
        for &i in open {
            let target = &self.problem.targets[i];
            self.progress("state equation", 0);
            match equation::refute(net, flows, self.problem, target, patience, self.limits)? {
                EquationResult::Refuted(refutation) => {
                    let certificate = Certificate::Refutation(Arc::new(refutation));
                    self.decide(i, Verdict::Safe(certificate));
                }
                EquationResult::Possible(case) => {
                    engine.note(net, target, EquationState { patience: u32::MAX, case })
                }
                EquationResult::Undecided(case) => engine.note(net, target, EquationState { patience, case }),
            }
        }
        Ok(())
    }

    /// Follows the solutions of the state equation.
    fn follow(&mut self, net: &Net, engine: &Reachability, round: u32) -> Result<(), Unknown> {
        let mut random = Random::new(u64::from(round) << 32);
        for one in self.wanted(net) {
            let Some(case) = engine.case(net, &self.problem.targets[one.target]) else { continue };
            self.progress("state equation", 0);
            let plans = 8 << round.min(10);
            if let Some(fired) = follow(net, &one.formula, &case, plans, &mut random, self.limits)? {
                self.decide(one.target, Verdict::Unsafe(net.run(&fired)));
            }
        }
        Ok(())
    }

    /// Searches towards each target.
    fn aim(&mut self, net: &Net, engine: &Reachability, most: usize, patience: u32) -> Result<(), Unknown> {
        for one in self.wanted(net) {
            let Some(case) = engine.case(net, &self.problem.targets[one.target]) else { continue };
            self.progress("guided search", 0);
            if let Some(fired) = aim(net, &one.formula, &case, most, patience, self.limits)? {
                self.decide(one.target, Verdict::Unsafe(net.run(&fired)));
            }
        }
        Ok(())
    }

    /// Searches the net with few of its places.
    fn project(&mut self, net: &Net, most: usize) -> Result<(), Unknown> {
        // A bound counts the tokens on removed places as well.
        if self.problem.bound != Bound::Any {
            return Ok(());
        }
        for i in self.open() {
            self.progress("fewer places", 0);
            match project(net, &self.problem.targets[i].predicate(), most, &mut Ticker::new(self.limits))? {
                Projected::Run(fired) => self.decide(i, Verdict::Unsafe(net.run(&fired))),
                Projected::Proof(map, all) => {
                    let proof = Box::new(Certificate::Closed(Arc::new(all)));
                    self.decide(i, Verdict::Safe(Certificate::Quotient(Arc::new(map), proof)));
                }
                Projected::Nothing => {}
            }
        }
        Ok(())
    }

    /// Searches exhaustively. Returns whether everything reachable was explored.
    fn explore(&mut self, net: &Net, most: usize) -> Result<bool, Unknown> {
        let wanted = self.wanted(net);
        if wanted.is_empty() {
            return Ok(true);
        }
        let found = explore(net, &wanted, most, &mut Ticker::new(self.limits))?;
        self.statistics.configurations = self.statistics.configurations.max(found.markings as u64);
        for (i, fired) in found.reached {
            self.decide(wanted[i].target, Verdict::Unsafe(net.run(&fired)));
        }
        if let Some(all) = found.all {
            let all = Arc::new(all);
            for i in self.open() {
                self.decide(i, Verdict::Safe(Certificate::Closed(all.clone())));
            }
        }
        self.progress("exhaustive search", found.markings as u64);
        Ok(found.complete)
    }

    fn progress(&self, phase: &str, configurations: u64) {
        self.watch.progress(&Progress {
            engine: "reachability",
            phase: phase.into(),
            configurations: configurations.max(self.statistics.configurations),
            frontier: 0,
        });
    }
}
