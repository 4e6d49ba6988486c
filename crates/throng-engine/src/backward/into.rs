//! The steps that lead above an element, cached for each shared and local state.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use throng_model::{Config, Incomplete, Local, Model, Shared, Step};

/// Steps by their target states.
pub struct StepsInto<'a> {
    model: &'a dyn Model,
    known: FxHashMap<(Shared, Option<Local>), Vec<Step>>,
}

impl<'a> StepsInto<'a> {
    /// Creates an empty cache.
    pub fn new(model: &'a dyn Model) -> StepsInto<'a> {
        StepsInto { model, known: FxHashMap::default() }
    }

    /// Returns every step that can lead above `config` from elsewhere, each once.
    pub fn list(&mut self, config: &Config) -> Result<Vec<Step>, Incomplete> {
        let leads = std::iter::once(None).chain(config.threads.entries().iter().map(|e| Some(e.0)));
        let mut steps: Vec<Step> = Vec::new();
        for lead in leads {
            let listed = match self.known.entry((config.shared, lead)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let mut listed = Vec::new();
                    match (lead, self.model.predecessors()) {
                        (Some(l), Some(back)) => back.pre(config.shared, l, &mut listed)?,
                        (None, Some(back)) => back.pre_shared(config.shared, &mut listed)?,
                        (_, None) => {}
                    }
                    new.insert(listed)
                }
            };
            steps.extend(listed.iter().cloned());
        }
        steps.sort_unstable();
        steps.dedup();
        Ok(steps)
    }
}
