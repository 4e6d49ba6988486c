//! The laws of [`throng_model`], as tests.
//!
//! They are stated with "meets" and "covers" of sets, so that they hold for models whose states
//! stand for sets as well; where states are singletons they say: exactly this step.

use std::collections::BTreeSet;

use throng_model::{Bystanders, Config, Local, Model, Shared, Step, semantics};

/// Tests the laws of `model` on `configs` and the configurations one step away from them; says how
/// many things were tested, or what is wrong.
pub fn laws(model: &dyn Model, configs: &[Config]) -> Result<usize, String> {
    let mut tester = Tester { model, tested: 0 };
    for config in configs {
        let mut fired = Vec::new();
        semantics::successors(model, config, None, &mut fired).map_err(|why| why.to_string())?;
        tester.same_call_same_list(config)?;
        tester.ended_threads_stay(config)?;
        tester.larger_can_do_more(config, configs, &fired)?;
        if model.predecessors().is_some() {
            tester.post_is_in_pre(config)?;
            tester.pre_is_in_post(config)?;
            tester.unfire_is_sound(config)?;
            for (step, after) in &fired {
                tester.unfire_is_complete(config, step, after)?;
            }
        }
    }
    Ok(tester.tested)
}

struct Tester<'m> {
    model: &'m dyn Model,
    tested: usize,
}

impl Tester<'_> {
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
        self.tested += 1;
        if holds { Ok(()) } else { Err(what()) }
    }

    fn same_call_same_list(&mut self, config: &Config) -> Result<(), String> {
        let once = (self.steps_from(config), self.steps_into(config));
        let again = (self.steps_from(config), self.steps_into(config));
        self.demand(once == again, || format!("the steps from or into {config:?} change between calls"))
    }

    /// A thread that has ended leads no step, and no step takes it along.
    fn ended_threads_stay(&mut self, config: &Config) -> Result<(), String> {
        let steps = self.steps_from(config);
        for &(l, _) in config.threads.entries().iter().filter(|e| self.model.has_ended(e.0)) {
            let moves = steps.iter().any(|step| step.take.count(l) > 0);
            self.demand(!moves, || format!("a thread at {l:?} has ended, but moves from {config:?}"))?;
        }
        Ok(())
    }

    /// Whatever `config` can do, one thread more can do too, and ends with at least as much.
    fn larger_can_do_more(
        &mut self,
        config: &Config,
        configs: &[Config],
        fired: &[(Step, Config)],
    ) -> Result<(), String> {
        if self.model.blocking().is_some() {
            return Ok(());
        }
        let extra: BTreeSet<Local> =
            configs.iter().flat_map(|c| c.threads.entries()).map(|e| e.0).take(16).collect();
        for l in extra {
            let mut larger = config.clone();
            larger.threads.insert(l, 1);
            for (step, after) in fired {
                let mut all = Vec::new();
                semantics::fire(self.model, &larger, step, None, &mut all).map_err(|why| why.to_string())?;
                self.demand(all.iter().any(|c| c.covers(after)), || {
                    format!("{config:?} can go to {after:?} by {step:?}, but {larger:?} can do less")
                })?;
            }
        }
        Ok(())
    }

    /// Every step is found from each state in which it leaves a thread, and from its shared state
    /// if it changes that.
    fn post_is_in_pre(&mut self, config: &Config) -> Result<(), String> {
        for step in self.steps_from(config) {
            let idle = step.from == step.to
                && step.put == step.take
                && step.spawn.is_empty()
                && step.others == Bystanders::Stay;
            if idle {
                continue;
            }
            for l in self.arrivals(config, &step) {
                let mut listed = Vec::new();
                self.model
                    .predecessors()
                    .expect("has predecessors")
                    .pre(step.to, l, &mut listed)
                    .expect("complete");
                let found = listed.iter().any(|u| self.is_same(&step, u));
                self.demand(found, || format!("pre({:?}, {l:?}) lacks {step:?}", step.to))?;
            }
            // Having read something narrows a set; that alone does not change it.
            if !self.model.within_shared(step.to, step.from) || step.take.is_empty() {
                let mut listed = Vec::new();
                self.model
                    .predecessors()
                    .expect("has predecessors")
                    .pre_shared(step.to, &mut listed)
                    .expect("complete");
                let found = listed.iter().any(|u| self.is_same(&step, u));
                self.demand(found, || format!("pre_shared({:?}) lacks {step:?}", step.to))?;
            }
        }
        Ok(())
    }

    /// Every step found backward ends where it was asked for and exists forward.
    fn pre_is_in_post(&mut self, config: &Config) -> Result<(), String> {
        for step in self.steps_into(config) {
            let inside = self.model.within_shared(step.to, config.shared);
            self.demand(inside, || format!("{step:?} does not end within {:?}", config.shared))?;
            let forward = self.steps_from(&Config::new(step.from, step.take.clone()));
            let found = forward.iter().any(|t| self.is_same(t, &step));
            self.demand(found, || format!("post lacks {step:?}, which pre lists"))?;
        }
        Ok(())
    }

    /// Checks that what `unfire` gives leads to something that covers `config`.
    fn unfire_is_sound(&mut self, config: &Config) -> Result<(), String> {
        for step in self.steps_into(config) {
            let mut before = Vec::new();
            semantics::unfire(self.model, config, &step, &mut before).map_err(|why| why.to_string())?;
            for c in before {
                let mut after = Vec::new();
                semantics::successors(self.model, &c, None, &mut after).map_err(|why| why.to_string())?;
                let covers =
                    after.iter().any(|(t, d)| self.is_same(t, &step) && d.may_cover(config, self.model));
                self.demand(covers, || format!("{c:?} does not lead to {config:?} by {step:?}"))?;
            }
        }
        Ok(())
    }

    /// Checks that if `config` steps to `after`, it covers a predecessor of `after`, and of `after`
    /// with a thread less.
    fn unfire_is_complete(&mut self, config: &Config, step: &Step, after: &Config) -> Result<(), String> {
        let mut parts = vec![after.clone()];
        parts.extend(after.threads.entries().iter().map(|e| {
            let mut part = after.clone();
            part.threads.remove(e.0, 1);
            part
        }));
        for part in parts {
            let mut before = vec![part.clone()];
            for step in self.steps_into(&part) {
                semantics::unfire(self.model, &part, &step, &mut before).map_err(|why| why.to_string())?;
            }
            let found = before.iter().any(|c| config.may_cover(c, self.model));
            self.demand(found, || {
                format!("{config:?} leads to {part:?} by {step:?}, but backward it is missed")
            })?;
        }
        Ok(())
    }

    /// The steps that `config` may take, enabled or not.
    fn steps_from(&self, config: &Config) -> Vec<Step> {
        let mut steps = Vec::new();
        self.model.post_shared(config.shared, &mut steps).expect("complete");
        for &(l, _) in config.threads.entries() {
            self.model.post(config.shared, l, &mut steps).expect("complete");
        }
        steps
    }

    /// The steps that backward search fires from `config`.
    fn steps_into(&self, config: &Config) -> Vec<Step> {
        let mut steps = Vec::new();
        self.model
            .predecessors()
            .expect("has predecessors")
            .pre_shared(config.shared, &mut steps)
            .expect("complete");
        for &(l, _) in config.threads.entries() {
            self.model
                .predecessors()
                .expect("has predecessors")
                .pre(config.shared, l, &mut steps)
                .expect("complete");
        }
        steps
    }

    /// Lists the local states in which `step` leaves a thread that was not there before: put,
    /// created, carried along or woken.
    fn arrivals(&self, config: &Config, step: &Step) -> BTreeSet<Local> {
        let brought = step.put.entries().iter().chain(step.spawn.entries());
        let mut arrivals: BTreeSet<Local> = brought.map(|e| e.0).collect();
        let Some(rest) = config.threads.minus(&step.take) else { return arrivals };
        for &(l, _) in rest.entries() {
            let mut fates = Vec::new();
            match step.others {
                Bystanders::Stay => {}
                Bystanders::Transfer => self.model.bystander(step, l, &mut fates).expect("complete"),
                Bystanders::WakeOne => fates.push(self.model.woken_by(step, l)),
            }
            arrivals.extend(fates.into_iter().flatten().filter(|&m| m != l));
        }
        arrivals
    }

    /// Returns whether a step found forward and one found backward are the same, as far as sets can
    /// distinguish them.
    fn is_same(&self, forward: &Step, backward: &Step) -> bool {
        if self.model.is_exact() {
            return forward == backward;
        }
        let meet = |a: Shared, b: Shared| self.model.meets_shared(a, b);
        forward.edge == backward.edge && meet(forward.from, backward.from) && meet(forward.to, backward.to)
    }
}
