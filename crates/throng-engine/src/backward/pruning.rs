//! What backward search need not look at: configurations that nothing reachable covers.
//!
//! Views and vectors that are known rule out much for little. For an element that they do not rule
//! out a new vector may be looked for: that is worth its time only as long as the search itself
//! takes as much.

use std::cell::Cell;
use std::cell::OnceCell;
use std::sync::Arc;

use crate::equations::{System, rule_out};
use crate::facts::Facts;
use crate::views::triples::Triples;
use throng_model::Config;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, Relative, Unknown};

/// A predicate "cannot be reached forward", with its evidence.
pub struct Pruning<'a> {
    problem: &'a Problem,
    facts: Arc<Facts>,
    triples: Option<Arc<Triples>>,
    limits: &'a Limits,
    system: OnceCell<System>,
    /// Ticks spent on linear programs.
    spent: Cell<u64>,
    /// How many linear programs were solved, and how many of them ruled something out.
    tried: Cell<(u64, u64)>,
}

impl<'a> Pruning<'a> {
    /// Prunes with these facts and what can be learned from them.
    pub fn new(
        problem: &'a Problem,
        facts: Arc<Facts>,
        triples: Option<Arc<Triples>>,
        limits: &'a Limits,
    ) -> Pruning<'a> {
        Pruning {
            problem,
            facts,
            triples,
            limits,
            system: OnceCell::new(),
            spent: Cell::new(0),
            tried: Cell::new((0, 0)),
        }
    }

    /// Whether what is known rules out `config`.
    pub fn rules_out(&self, config: &Config) -> bool {
        self.facts.rules_out(config)
    }

    /// A part of `config` that triples rule out, if they do. To look at it instead of all of
    /// `config` is sound, for it cannot be reached either, and so the search ends sooner: triples
    /// rule out what leads to it, too.
    pub fn generalise(&self, config: &Config) -> Option<Config> {
        self.triples.as_ref()?.core(config)
    }

    /// Whether what is known rules out `config`; may look for a new vector if the search has taken
    /// `ticks` so far.
    pub fn learns_to_rule_out(&self, config: &Config, ticks: u64) -> Result<bool, Unknown> {
        if self.rules_out(config) {
            return Ok(true);
        }
        // What leads to an element that triples rule out, they rule out as well: no vector is
        // needed for it.
        if self.generalise(config).is_some() {
            return Ok(false);
        }
        let system = self.system.get_or_init(|| System::new(self.problem, &self.facts));
        let (tried, useful) = self.tried.get();
        let cost = u64::from(system.effort());
        // The first few are free if they are small; a method that never helps is asked ever more
        // rarely.
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

    /// A basis, as evidence relative to what was used.
    pub fn certificate(&self, basis: Vec<Config>) -> Certificate {
        Certificate::Relative(Arc::new(Relative {
            views: self.facts.views().clone(),
            vectors: self.facts.linear().iter().map(|l| l.vector.clone()).collect(),
            basis,
        }))
    }
}

/// Ticks for linear programs that need no justification.
const FREE: u64 = 1 << 16;
