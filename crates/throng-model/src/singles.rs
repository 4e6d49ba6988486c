//! Views of one thread: the thread states that may occur if one abstracts from the number of
//! threads and from which ones occur together.
//!
//! A step is possible if each local state that it takes may occur with its shared state. Then the
//! states that it puts, and those of every bystander, may occur with the shared state that it leads
//! to. The closure contains every reachable thread state, for any number of threads.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::limits::{Limits, Ticker};
use crate::problem::Initial;
use crate::verdict::Unknown;
use crate::views::Views;
use crate::{Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// Cost in ticks of listing the steps of one thread state.
pub const LISTING: u32 = 16;

type Set<T> = IndexSet<T, FxBuildHasher>;

/// The local states that may occur with one shared state.
#[derive(Default)]
struct View {
    locals: Set<Local>,
    /// The number of local states whose steps were listed.
    listed: usize,
    started: bool,
    /// Steps for which some local state is still missing, and possible ones.
    pending: Vec<Step>,
    possible: Vec<Step>,
    /// Shared states that bystanders reach unchanged, and how many local states were passed on to
    /// each.
    flows: IndexMap<Shared, usize, FxBuildHasher>,
    /// Possible steps that move bystanders, by index, and how many local states each has been
    /// applied to.
    movers: Vec<(usize, usize)>,
}

/// Every thread state that may occur.
#[derive(Default)]
pub struct Singles {
    views: IndexMap<Shared, View, FxBuildHasher>,
    /// Shared states with new local states.
    queue: Set<Shared>,
    found: usize,
}

impl Singles {
    /// Closes the initial thread states under all steps. More than `most` of them are
    /// [`Unknown::NotForThisModel`].
    pub fn of(
        model: &dyn Model,
        initial: &[Initial],
        most: usize,
        limits: &Limits,
    ) -> Result<Result<Singles, Incomplete>, Unknown> {
        let mut singles = Singles::default();
        let mut ticker = Ticker::new(limits);
        for family in initial {
            let threads = family.threads.entries().iter().map(|e| e.0);
            singles.add(family.shared, threads.chain(family.any.iter().copied()));
        }
        while let Some(s) = singles.queue.pop() {
            let view = singles.views.entry(s).or_default();
            let arrivals = match view.explore(model, s, &mut ticker)? {
                Ok(arrivals) => arrivals,
                Err(why) => return Ok(Err(why)),
            };
            arrivals.into_iter().for_each(|(to, locals)| singles.add(to, locals.into_iter()));
            if singles.found > most {
                return Err(Unknown::NotForThisModel(format!("there are more than {most} thread states")));
            }
        }
        Ok(Ok(singles))
    }

    /// Adds thread states, and queues the shared state if some are new.
    fn add(&mut self, s: Shared, locals: impl Iterator<Item = Local>) {
        let view = self.views.entry(s).or_default();
        let before = view.locals.len();
        view.locals.extend(locals);
        let new = view.locals.len() - before;
        self.found += new;
        if new > 0 || !view.started {
            self.queue.insert(s);
        }
    }

    /// Returns the shared states that may occur.
    pub fn shared(&self) -> impl Iterator<Item = Shared> {
        self.views.keys().copied()
    }

    /// Returns the local states that may occur with a shared state.
    pub fn at(&self, s: Shared) -> impl Iterator<Item = Local> {
        self.views.get(&s).into_iter().flat_map(|v| v.locals.iter().copied())
    }

    /// Returns whether a thread state may occur.
    pub fn contains(&self, s: Shared, l: Local) -> bool {
        self.views.get(&s).is_some_and(|v| v.locals.contains(&l))
    }

    /// Returns the possible steps.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.views.values().flat_map(|v| &v.possible)
    }

    /// Returns all views, sorted.
    pub fn views(&self) -> Views {
        let mut states: Vec<(Shared, Vec<Local>)> =
            self.views.iter().map(|(&s, v)| (s, v.locals.iter().copied().collect())).collect();
        states.sort_unstable();
        Views::of_singles(states)
    }

    /// Returns whether the views rule out every configuration that covers `config`.
    pub fn excludes(&self, model: &dyn Model, config: &Config) -> bool {
        let misses = |v: &View, l: Local| {
            if model.is_exact() {
                !v.locals.contains(&l)
            } else {
                !v.locals.iter().any(|&m| model.meets_local(m, l))
            }
        };
        let excluded = |v: &View| config.threads.entries().iter().any(|e| misses(v, e.0));
        if model.is_exact() {
            return self.views.get(&config.shared).is_none_or(excluded);
        }
        self.views.iter().filter(|(s, _)| model.meets_shared(**s, config.shared)).all(|(_, v)| excluded(v))
    }
}

/// Reached thread states: local states with a shared state.
type Arrivals = Vec<(Shared, Vec<Local>)>;

impl View {
    /// Returns the thread states that follow from new local states.
    fn explore(
        &mut self,
        model: &dyn Model,
        s: Shared,
        ticker: &mut Ticker<'_>,
    ) -> Result<Result<Arrivals, Incomplete>, Unknown> {
        ticker.ticks(LISTING.saturating_mul((self.locals.len() - self.listed) as u32))?;
        let mut steps = std::mem::take(&mut self.pending);
        if let Err(why) = self.list(model, s, &mut steps) {
            return Ok(Err(why));
        }
        let mut arrivals = Vec::new();
        for step in steps {
            ticker.tick()?;
            if !step.take.entries().iter().all(|e| self.locals.contains(&e.0)) {
                self.pending.push(step);
                continue;
            }
            let left = step.put.entries().iter().chain(step.spawn.entries());
            arrivals.push((step.to, left.map(|e| e.0).collect()));
            match step.others {
                Bystanders::Stay if step.to != s => _ = self.flows.entry(step.to).or_insert(0),
                Bystanders::Stay => {}
                Bystanders::Transfer | Bystanders::WakeOne => self.movers.push((self.possible.len(), 0)),
            }
            self.possible.push(step);
        }
        for (&to, passed) in &mut self.flows {
            ticker.ticks((self.locals.len() - *passed) as u32)?;
            arrivals.push((to, self.locals[*passed..].iter().copied().collect()));
            *passed = self.locals.len();
        }
        for (step, seen) in &mut self.movers {
            let (step, mut fates) = (&self.possible[*step], Vec::new());
            ticker.ticks((self.locals.len() - *seen) as u32)?;
            for &l in &self.locals[*seen..] {
                if let Err(why) = bystander(model, step, l, &mut fates) {
                    return Ok(Err(why));
                }
            }
            *seen = self.locals.len();
            arrivals.push((step.to, fates.into_iter().flatten().collect()));
        }
        Ok(Ok(arrivals))
    }

    /// Lists the steps of new local states.
    fn list(&mut self, model: &dyn Model, s: Shared, steps: &mut Vec<Step>) -> Result<(), Incomplete> {
        if !self.started {
            self.started = true;
            model.post_shared(s, steps)?;
        }
        for &l in &self.locals[self.listed..] {
            model.post(s, l, steps)?;
        }
        self.listed = self.locals.len();
        Ok(())
    }
}

/// Appends where a bystander may be after a step; which waiting thread a signal wakes is left open.
fn bystander(
    model: &dyn Model,
    step: &Step,
    l: Local,
    fates: &mut Vec<Option<Local>>,
) -> Result<(), Incomplete> {
    match step.others {
        Bystanders::Stay => fates.push(Some(l)),
        Bystanders::WakeOne => fates.extend([Some(l), model.woken_by(step, l)]),
        Bystanders::Transfer => model.bystander(step, l, fates)?,
    }
    Ok(())
}
