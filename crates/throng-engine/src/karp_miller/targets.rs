//! Look-up of the targets that a label covers, which every node needs.

use super::steps::Steps;
use super::vector::{Entry, covers};
use throng_model::problem::Target;
use throng_model::{Config, Local, Model};

/// The targets of a problem.
pub struct Targets<'p> {
    model: &'p dyn Model,
    targets: &'p [Target],
    bads: Vec<Bad>,
    /// For each shared state, the bad configurations that it fits, once needed.
    by_shared: Vec<Option<Vec<u32>>>,
}

/// A bad configuration.
struct Bad {
    target: usize,
    /// The index of the configuration in its target.
    index: usize,
    /// Its threads, if states are singletons.
    exact: Option<Vec<Entry>>,
    /// Whether each local state fits its first thread, as far as known.
    fits: Vec<Option<bool>>,
}

impl<'p> Targets<'p> {
    /// Prepares the targets.
    pub fn new(model: &'p dyn Model, targets: &'p [Target], steps: &mut Steps) -> Targets<'p> {
        let mut bads = Vec::new();
        for (target, t) in targets.iter().enumerate() {
            for (index, config) in t.configs.iter().enumerate() {
                let exact = model.is_exact().then(|| steps.vector(&config.threads));
                bads.push(Bad { target, index, exact, fits: Vec::new() });
            }
        }
        Targets { model, targets, bads, by_shared: Vec::new() }
    }

    /// Calls `hit` with each `open` target that contains some concrete configuration of the label,
    /// and the number of its configuration that is covered.
    pub fn hits(
        &mut self,
        steps: &Steps,
        shared: u32,
        counts: &[Entry],
        open: impl Fn(usize) -> bool,
        mut hit: impl FnMut(usize, usize),
    ) {
        self.prepare(steps, shared);
        let mut config = None;
        for &i in self.by_shared[shared as usize].iter().flatten() {
            let bad = &mut self.bads[i as usize];
            if !open(bad.target) {
                continue;
            }
            let wanted = &self.targets[bad.target].configs[bad.index];
            let is_hit = match &bad.exact {
                Some(threads) => covers(counts, threads),
                None => {
                    bad.may_fit(self.model, steps, wanted.threads.entries().first().map(|e| e.0), counts)
                        && (wanted.threads.size() <= 1 || {
                            let config = config.get_or_insert_with(|| steps.config(shared, counts));
                            config.may_cover(wanted, self.model)
                        })
                }
            };
            if is_hit {
                hit(bad.target, bad.index);
            }
        }
    }

    /// Returns a configuration of a target.
    pub fn config(&self, target: usize, index: usize) -> &'p Config {
        &self.targets[target].configs[index]
    }

    fn prepare(&mut self, steps: &Steps, shared: u32) {
        if self.by_shared.len() <= shared as usize {
            self.by_shared.resize(shared as usize + 1, None);
        }
        let list = &mut self.by_shared[shared as usize];
        if list.is_none() {
            let state = steps.shared_state(shared);
            let meets = |&i: &u32| {
                let bad = &self.bads[i as usize];
                self.model.meets_shared(state, self.targets[bad.target].configs[bad.index].shared)
            };
            *list = Some((0..self.bads.len() as u32).filter(meets).collect());
        }
    }
}

impl Bad {
    /// Returns whether some thread fits the first wanted one.
    fn may_fit(&mut self, model: &dyn Model, steps: &Steps, wanted: Option<Local>, counts: &[Entry]) -> bool {
        let Some(wanted) = wanted else { return true };
        counts.iter().any(|&(l, _)| {
            if self.fits.len() <= l as usize {
                self.fits.resize(l as usize + 1, None);
            }
            *self.fits[l as usize].get_or_insert_with(|| model.meets_local(steps.local_state(l), wanted))
        })
    }
}
