//! Pruning of backward search: configurations that nothing reachable covers need not be explored.
//!
//! Known views and vectors exclude many elements at low cost. For an element that they do not
//! exclude, the search for a new vector may take at most as much time as the backward search
//! itself.

use std::cell::Cell;
use std::cell::OnceCell;
use std::sync::Arc;

use crate::equations::{System, rule_out};
use crate::facts::Facts;
use throng_model::Config;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, Relative, Unknown};

/// A test for "cannot be reached forward", with its evidence.
pub struct Pruning<'a> {
    problem: &'a Problem,
    facts: Arc<Facts>,
    limits: &'a Limits,
    system: OnceCell<System>,
    /// Ticks spent on linear programs.
    spent: Cell<u64>,
    /// The number of linear programs that were solved, and of those that excluded an element.
    tried: Cell<(u64, u64)>,
}

impl<'a> Pruning<'a> {
    /// Prunes with these facts and with vectors learned from them.
    pub fn new(problem: &'a Problem, facts: Arc<Facts>, limits: &'a Limits) -> Pruning<'a> {
        Pruning {
            problem,
            facts,
            limits,
            system: OnceCell::new(),
            spent: Cell::new(0),
            tried: Cell::new((0, 0)),
        }
    }

    /// Returns whether the known facts exclude `config`.
    pub fn rules_out(&self, config: &Config) -> bool {
        self.facts.rules_out(config)
    }

    /// Returns whether the facts exclude `config`; may look for a new vector if the search has
    /// taken `ticks` so far.
    pub fn learns_to_rule_out(&self, config: &Config, ticks: u64) -> Result<bool, Unknown> {
        if self.rules_out(config) {
            return Ok(true);
        }
        let system = self.system.get_or_init(|| System::new(self.problem, &self.facts));
        let (tried, useful) = self.tried.get();
        let cost = u64::from(system.effort());
        // The first few programs are free if they are small. The less often they help, the more
        // rarely they are solved.
        let free = tried < 8 && cost <= FREE;
        let patience = if free { u64::MAX } else { (ticks + FREE) * (useful + 1) / (tried / 4 + 1) };
        if self.spent.get() + cost > patience {
            return Ok(false);
        }
        self.spent.set(self.spent.get() + cost);
        let found = rule_out(self.problem, config, &self.facts, system, self.limits)?;
        self.tried.set((tried + 1, useful + u64::from(found)));
        Ok(found)
    }

    /// Returns a basis as evidence relative to the facts used.
    pub fn certificate(&self, basis: Vec<Config>) -> Certificate {
        Certificate::Relative(Arc::new(Relative {
            views: self.facts.views().clone(),
            vectors: self.facts.linear().iter().map(|l| l.vector.clone()).collect(),
            basis,
            ranks: Vec::new(),
        }))
    }
}

/// Budget of a linear program in ticks that needs no justification.
const FREE: u64 = 1 << 16;
