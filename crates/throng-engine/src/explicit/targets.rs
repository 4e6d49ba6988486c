//! Efficient check for the targets that a new configuration may hit.
//!
//! Every bad configuration is *watched* through one of its local states, the one that the fewest
//! bad configurations contain: a configuration that hits it has a thread there (or in a state that
//! meets it). So a configuration is compared only with those watched at its own thread states,
//! which are listed per thread state.
//!
//! A second filter is per step. No stored configuration hits an open target, so a step that leaves
//! the shared state alone can only hit through a thread that it puts, and one that changes it can
//! only hit bad configurations of the new shared state.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use throng_model::problem::Target;
use throng_model::{Bystanders, Config, Local, Model, Shared, Step};

/// All targets, indexed.
pub struct Targets {
    model: Arc<dyn Model>,
    bads: Vec<Bad>,
    /// The bad configurations of each shared state.
    by_shared: FxHashMap<Shared, Vec<u32>>,
    /// Exact models only: the bad configurations watched at each thread state.
    by_watch: FxHashMap<(Shared, Local), Vec<u32>>,
    /// Exact models only: thread states that occur in a bad configuration.
    touched: FxHashSet<(Shared, Local)>,
}

/// A bad configuration.
pub struct Bad {
    /// The target it belongs to.
    pub target: usize,
    /// The configuration: those that cover it are bad.
    pub config: Config,
    /// The local state through which it is watched; `None` if no thread is required.
    pub watched: Option<Local>,
    /// True if it requires exactly one thread.
    pub single: bool,
}

impl Targets {
    /// Builds the indices of `targets`.
    pub fn new(model: Arc<dyn Model>, targets: &[Target]) -> Targets {
        let mut popularity: FxHashMap<(Shared, Local), u32> = FxHashMap::default();
        for bad in targets.iter().flat_map(|t| &t.configs) {
            for &(l, _) in bad.threads.entries() {
                *popularity.entry((bad.shared, l)).or_default() += 1;
            }
        }
        let mut index = Targets {
            model,
            bads: Vec::new(),
            by_shared: FxHashMap::default(),
            by_watch: FxHashMap::default(),
            touched: FxHashSet::default(),
        };
        for (target, t) in targets.iter().enumerate() {
            for config in &t.configs {
                let rarest =
                    config.threads.entries().iter().min_by_key(|e| popularity[&(config.shared, e.0)]);
                let watched = rarest.map(|e| e.0);
                let single = config.threads.size() == 1;
                index.add(Bad { target, config: config.clone(), watched, single });
            }
        }
        index
    }

    /// Returns bad configuration number `i`.
    pub fn bad(&self, i: u32) -> &Bad {
        &self.bads[i as usize]
    }

    /// Returns all bad configurations.
    pub fn bads(&self) -> &[Bad] {
        &self.bads
    }

    /// Returns the bad configurations whose shared state may be `s`.
    pub fn at_shared(&self, s: Shared) -> Vec<u32> {
        if self.model.is_exact() {
            return self.by_shared.get(&s).cloned().unwrap_or_default();
        }
        // Comparing states may be expensive, and many bad configurations have the same one.
        let meets = self.by_shared.iter().filter(|(other, _)| self.model.meets_shared(s, **other));
        let mut found: Vec<u32> = meets.flat_map(|(_, bads)| bads).copied().collect();
        found.sort_unstable();
        found
    }

    /// Returns those of them that are watched at `l`; `at_shared` is the result of
    /// [`Targets::at_shared`] for `s`.
    pub fn watched_at(&self, s: Shared, l: Local, at_shared: &[u32]) -> Vec<u32> {
        if self.model.is_exact() {
            return self.by_watch.get(&(s, l)).cloned().unwrap_or_default();
        }
        let meets = |i: &u32| self.bad(*i).watched.is_some_and(|w| self.model.meets_local(l, w));
        at_shared.iter().copied().filter(meets).collect()
    }

    /// Returns whether `step` may lead from a configuration that hits no open target to one that
    /// does.
    pub fn may_hit(&self, step: &Step, at_to: &[u32]) -> bool {
        if step.from != step.to || step.others != Bystanders::Stay {
            return !at_to.is_empty();
        }
        let mut arrivals = step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0);
        if self.model.is_exact() {
            return arrivals.any(|l| self.touched.contains(&(step.to, l)));
        }
        let wants = |i: &u32| self.bad(*i).config.threads.entries();
        arrivals.any(|l| at_to.iter().flat_map(wants).any(|e| self.model.meets_local(l, e.0)))
    }

    fn add(&mut self, bad: Bad) {
        let (i, s) = (self.bads.len() as u32, bad.config.shared);
        self.by_shared.entry(s).or_default().push(i);
        if self.model.is_exact() {
            if let Some(l) = bad.watched {
                self.by_watch.entry((s, l)).or_default().push(i);
            }
            self.touched.extend(bad.config.threads.entries().iter().map(|e| (s, e.0)));
        }
        self.bads.push(bad);
    }
}
