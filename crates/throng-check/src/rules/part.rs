//! The rule for a closed set that is distributed over several workers: what a worker has to check
//! in its own part.
//!
//! The whole set contains every initial configuration, is closed under steps and hits no target if
//! every worker has checked that its members hit no target, and every configuration that some
//! worker reports here (the initial ones, and the successors of its members) is a member of the
//! part to which it belongs. The workers look them up; which configurations have to be looked up is
//! decided here, from [`semantics`] alone, independently of the steps that the search has compiled.

use std::collections::hash_map::Entry;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Flaw;
use super::run::{countable, each_initial, led_by};
use crate::Checked;
use throng_model::problem::{Problem, Target};
use throng_model::{Config, Local, Shared, Step, semantics};

/// The rule for one part of a closed set.
pub struct PartRule {
    problem: Arc<Problem>,
    /// The steps that a thread state leads; a step that takes no thread has no leader.
    known: FxHashMap<(Shared, Option<Local>), Vec<Step>>,
    /// Whether every initial configuration was named, and found.
    started: bool,
    /// Whether some member was refused.
    failed: bool,
}

impl PartRule {
    /// Creates the rule for parts of a set that is evidence about some targets of `problem`.
    pub fn new(problem: Arc<Problem>) -> PartRule {
        PartRule { problem, known: FxHashMap::default(), started: false, failed: false }
    }

    /// Calls `found` for every initial configuration.
    pub fn starts(&mut self, found: &mut impl FnMut(Config) -> Result<(), Flaw>) -> Result<(), Flaw> {
        each_initial(&self.problem, found)?;
        self.started = true;
        Ok(())
    }

    /// Returns the proof that the rule has accepted what it was shown: to be asked for by a worker
    /// that has shown every member, and whose peers found what was named here.
    pub fn stands(&self) -> Option<Checked> {
        (self.started && !self.failed).then(Checked::by_rules)
    }

    /// Checks that a member hits none of the targets, and appends its successors.
    pub fn member<'t>(
        &mut self,
        config: &Config,
        targets: impl IntoIterator<Item = &'t Target>,
        successors: &mut Vec<Config>,
    ) -> Result<(), Flaw> {
        let found = self.check_member(config, targets, successors);
        self.failed |= found.is_err();
        found
    }

    fn check_member<'t>(
        &mut self,
        config: &Config,
        targets: impl IntoIterator<Item = &'t Target>,
        successors: &mut Vec<Config>,
    ) -> Result<(), Flaw> {
        let model = &*self.problem.model;
        countable(config)?;
        for target in targets {
            if target.hits(config, model)? {
                return Err(Flaw::BadMember(config.describe(model)));
            }
        }
        let bound = self.problem.bound.threads();
        let leaders = config.threads.entries().iter().map(|e| Some(e.0));
        for by in std::iter::once(None).chain(leaders) {
            let key = (config.shared, by);
            let steps = match self.known.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let mut steps = Vec::new();
                    led_by(model, config, by, &mut steps)?;
                    unknown.insert(steps)
                }
            };
            steps.iter().try_for_each(|step| semantics::fire(model, config, step, bound, successors))?;
        }
        Ok(())
    }
}
