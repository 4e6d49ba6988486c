//! 1-views: which thread states may occur, if one forgets how many threads there are and who is there together.
//!
//! A step is possible if each local state it takes may occur with its shared state; whatever it leaves may occur with the shared state it leads to,
//! and so may every bystander. This holds every reachable thread state, for any number of threads.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use throng_model::limits::{Limits, Ticker};
use throng_model::problem::Problem;
use throng_model::verdict::{Unknown, Views};
use throng_model::{Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// What may occur with one shared state.
#[derive(Default)]
struct View {
    locals: IndexSet<Local, FxBuildHasher>,
    /// How many of them had been there when the view was last looked at.
    seen: usize,
    /// Steps that its threads lead.
    steps: Vec<Step>,
    listed: bool,
    waiting: bool,
}

/// Every thread state that may occur.
pub struct Singles {
    views: IndexMap<Shared, View, FxBuildHasher>,
}

impl Singles {
    /// Closes the initial thread states under all steps.
    pub fn of(problem: &Problem, limits: &Limits) -> Result<Singles, Unknown> {
        let model = &*problem.model;
        let mut singles = Singles { views: IndexMap::default() };
        let mut todo = Vec::new();
        for family in &problem.initial {
            let threads = family.threads.entries().iter().map(|e| e.0).chain(family.any.iter().copied());
            singles.add(family.shared, threads, &mut todo);
        }
        let mut ticker = Ticker::new(limits);
        while let Some(at) = todo.pop() {
            let (&s, view) = singles.views.get_index_mut(at).expect("a view that was added");
            view.waiting = false;
            for (to, locals) in look(model, s, view, &mut ticker)? {
                singles.add(to, locals.into_iter(), &mut todo);
            }
        }
        Ok(singles)
    }

    fn add(&mut self, s: Shared, locals: impl Iterator<Item = Local>, todo: &mut Vec<usize>) {
        let entry = self.views.entry(s);
        let at = entry.index();
        let view = entry.or_default();
        view.locals.extend(locals);
        if !view.waiting && (!view.listed || view.seen < view.locals.len()) {
            view.waiting = true;
            todo.push(at);
        }
    }

    /// The thread states, sorted.
    pub fn thread_states(&self) -> Vec<(Shared, Local)> {
        let mut states: Vec<(Shared, Local)> =
            self.views.iter().flat_map(|(&s, v)| v.locals.iter().map(move |&l| (s, l))).collect();
        states.sort_unstable();
        states
    }

    /// The steps that are possible.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.views.values().flat_map(|v| v.steps.iter().filter(|step| is_possible(step, &v.locals)))
    }

    /// Who may be there with a shared state.
    pub fn at(&self, s: Shared) -> impl Iterator<Item = Local> {
        self.views.get(&s).into_iter().flat_map(|v| v.locals.iter().copied())
    }

    /// The shared states that may occur.
    pub fn shared(&self) -> impl Iterator<Item = Shared> {
        self.views.keys().copied()
    }

    /// All views, sorted.
    pub fn views(&self) -> Views {
        let mut states: Vec<(Shared, Vec<Local>)> =
            self.views.iter().map(|(&s, v)| (s, v.locals.iter().copied().collect())).collect();
        states.sort_unstable();
        Views::of_singles(states)
    }

    /// Whether the views rule out every configuration that covers `config`.
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

fn is_possible(step: &Step, locals: &IndexSet<Local, FxBuildHasher>) -> bool {
    step.take.entries().iter().all(|e| locals.contains(&e.0))
}

/// What the threads of a view lead to.
fn look(
    model: &dyn Model,
    s: Shared,
    view: &mut View,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<(Shared, Vec<Local>)>, Unknown> {
    if !view.listed {
        model.post_shared(s, &mut view.steps)?;
    }
    for &l in &view.locals[view.seen..] {
        model.post(s, l, &mut view.steps)?;
    }
    (view.listed, view.seen) = (true, view.locals.len());
    let mut arrivals = Vec::new();
    for step in view.steps.iter().filter(|step| is_possible(step, &view.locals)) {
        let mut there: Vec<Local> =
            step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0).collect();
        // Who stays where it is, with the same shared state, is nothing new.
        if step.from != step.to || step.others != Bystanders::Stay {
            ticker.ticks(view.locals.len() as u32)?;
            view.locals.iter().try_for_each(|&l| bystander(model, step, l, &mut there))?;
        }
        ticker.tick()?;
        arrivals.push((step.to, there));
    }
    Ok(arrivals)
}

/// Where a bystander may be after a step.
fn bystander(model: &dyn Model, step: &Step, l: Local, there: &mut Vec<Local>) -> Result<(), Incomplete> {
    match step.others {
        Bystanders::Stay => there.push(l),
        Bystanders::WakeOne => there.extend([Some(l), model.woken(l)].into_iter().flatten()),
        Bystanders::Transfer => {
            let mut fates = Vec::new();
            model.bystander(step, l, &mut fates)?;
            there.extend(fates.into_iter().flatten());
        }
    }
    Ok(())
}
