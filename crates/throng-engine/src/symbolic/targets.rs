//! Computation of the targets that a state hits.

use rustc_hash::FxHashMap;

use super::encode::Encoder;
use super::registry::{Registry, State, Threads, matches};
use crate::bdd::{Full, Set};
use throng_lang::bp::program::Coded;
use throng_lang::bp::program::expr::FREE;
use throng_model::problem::Target;

/// All targets as sets.
pub struct Targets {
    bads: Vec<Bad>,
    /// Bad thread states by atomic flag and point, each with its target; shared and local variables
    /// together.
    single: FxHashMap<(bool, u32), Vec<(usize, Set)>>,
    /// Targets hit by thread states, computed on demand.
    known: FxHashMap<(u32, u32, bool), Vec<usize>>,
}

/// A bad configuration that requires no thread, several threads, or that there are no others.
struct Bad {
    target: usize,
    inside: bool,
    shared: Set,
    threads: Vec<(u32, Set, u32)>,
    /// The exact number of threads; `None`: there may be others.
    exactly: Option<u32>,
}

/// Returns the slots that targets mention: (point, slot).
pub fn watched(coded: &dyn Coded, targets: &[Target]) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for &(l, _) in targets.iter().flat_map(|t| &t.configs).flat_map(|c| c.threads.entries()) {
        let (point, masks) = coded.local_cube(l);
        if (point as usize) < coded.program().points.len() {
            found.extend((0..masks.len()).filter(|&s| masks[s] != FREE).map(|s| (point, s)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

impl Targets {
    /// Encodes targets.
    pub fn new(coded: &dyn Coded, encoder: &Encoder<'_>, targets: &[Target]) -> Result<Targets, Full> {
        let mut all = Targets { bads: Vec::new(), single: FxHashMap::default(), known: FxHashMap::default() };
        for (target, t) in targets.iter().enumerate() {
            for config in &t.configs {
                let (inside, masks) = coded.shared_cube(config.shared);
                let shared = encoder.shared_set(&masks)?;
                let mut threads = Vec::new();
                for &(l, n) in config.threads.entries() {
                    let (point, masks) = coded.local_cube(l);
                    threads.push((point, encoder.local_set(point, &masks)?, n));
                }
                let exactly = t.is_about_all_threads().then(|| config.threads.size());
                match &threads[..] {
                    [(point, set, 1)] if exactly.is_none() => {
                        let here = all.single.entry((inside, *point)).or_default();
                        let both = shared.and(set)?;
                        match here.iter_mut().find(|h| h.0 == target) {
                            Some(h) => h.1 = h.1.or(&both)?,
                            None => here.push((target, both)),
                        }
                    }
                    _ => all.bads.push(Bad { target, inside, shared, threads, exactly }),
                }
            }
        }
        Ok(all)
    }

    /// Appends the targets that a state hits; some may repeat.
    pub fn hits(
        &mut self,
        registry: &Registry,
        state: &State,
        inside: bool,
        out: &mut Vec<usize>,
    ) -> Result<(), Full> {
        for &(l, _) in &state.threads {
            let key = (state.shared, l, inside);
            if !self.known.contains_key(&key) {
                let found = self.thread_state(registry, key)?;
                self.known.insert(key, found);
            }
            out.extend(&self.known[&key]);
        }
        let size: u32 = state.threads.iter().map(|t| t.1).sum();
        let fits = |b: &&Bad| b.inside == inside && b.exactly.is_none_or(|n| n == size);
        for bad in self.bads.iter().filter(fits) {
            if bad.shared.meets(registry.shared(state.shared))? && bad.found_in(registry, state)? {
                out.push(bad.target);
            }
        }
        Ok(())
    }

    fn thread_state(
        &self,
        registry: &Registry,
        (shared, local, inside): (u32, u32, bool),
    ) -> Result<Vec<usize>, Full> {
        let (point, set) = registry.local(local);
        let Some(here) = self.single.get(&(inside, point)) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let both = registry.shared(shared).and(set)?;
        for (target, bad) in here {
            if bad.meets(&both)? {
                found.push(*target);
            }
        }
        Ok(found)
    }
}

impl Bad {
    fn found_in(&self, registry: &Registry, state: &State) -> Result<bool, Full> {
        let mut fits = Vec::new();
        for (point, set, _) in &self.threads {
            let mut row = Vec::new();
            for &(l, _) in &state.threads {
                let (at, have) = registry.local(l);
                row.push(at == *point && have.meets(set)?);
            }
            fits.push(row);
        }
        let wanted: Threads = (0u32..).zip(&self.threads).map(|(i, t)| (i, t.2)).collect();
        Ok(matches(&wanted, &state.threads, &fits))
    }
}
