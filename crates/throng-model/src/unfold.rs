//! Any model, written out as a table: every thread state that may occur, with dense numbers.
//!
//! Models may compute their steps when asked. This asks for all of them, for every thread state
//! in the closure of *1-views*: if a step is possible in shared state s with threads that may each occur in s, whatever it leaves
//! may occur in the shared state it leads to. Counts are ignored, so the closure may hold thread states that cannot be reached;
//! their steps are harmless. States that stand for sets are taken as plain states, which is exact (see
//! [`crate`]); a target is met by every state that meets one of its own.
//!
//! This is neither a reader nor an engine: writers of the tabular formats use it.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::{Limits, Ticker};
use crate::problem::{Initial, Problem, Target};
use crate::table::{Fate, Names, Table};
use crate::verdict::Unknown;
use crate::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// Configurations that one target may become.
const MOST_CONFIGS: usize = 100_000;

type Set<T> = IndexSet<T, FxBuildHasher>;

/// A problem whose model is a table.
#[derive(Clone, Debug)]
pub struct Unfolded {
    /// States and steps; numbers are dense, names are the model's.
    pub table: Table,
    /// Where it may start.
    pub initial: Vec<Initial>,
    /// The same in the user's words.
    pub initial_text: String,
    /// What must not happen. A target that no thread state can meet has no configurations.
    pub targets: Vec<Target>,
}

/// Writes out the model of a problem.
///
/// Signals cannot be written as steps of a table: that is [`Unknown::NotForThisModel`].
pub fn unfold(problem: &Problem, limits: &Limits) -> Result<Unfolded, Unknown> {
    let model = &*problem.model;
    let views = closure(model, &problem.initial, usize::MAX, limits)?;
    let mut numbers = Numbers::default();
    for (&s, view) in &views {
        numbers.shared.insert(s);
        numbers.locals.extend(view.locals.iter().copied());
    }
    let table = numbers.table(model, &views, limits)?;
    let initial = problem.initial.iter().map(|i| numbers.initial(i)).collect();
    let targets =
        problem.targets.iter().map(|t| numbers.target(t, model, &views)).collect::<Result<_, _>>()?;
    Ok(Unfolded { table, initial, initial_text: problem.initial_text.clone(), targets })
}

/// A table must have every step.
fn not_for_this(why: Incomplete) -> Unknown {
    Unknown::NotForThisModel(why.0)
}

/// Every shared state that may occur, with the local states that may occur in it: the closure of 1-views.
///
/// More than `most` thread states are [`Unknown::NotForThisModel`], and so are signals.
pub fn thread_states(
    model: &dyn Model,
    initial: &[Initial],
    most: usize,
    limits: &Limits,
) -> Result<Vec<(Shared, Vec<Local>)>, Unknown> {
    let views = closure(model, initial, most, limits)?;
    Ok(views.into_iter().map(|(s, view)| (s, view.locals.into_iter().collect())).collect())
}

/// What may occur together with one shared state.
#[derive(Default)]
struct View {
    locals: Set<Local>,
    /// Locals whose steps were listed.
    listed: usize,
    started: bool,
    /// Steps that lack a thread so far.
    pending: Vec<Step>,
    /// Where bystanders get by steps that leave them alone, and how many were passed on.
    flows: IndexMap<Shared, usize, FxBuildHasher>,
    /// Steps that move bystanders, and how many locals they have seen.
    movers: Vec<(Step, usize)>,
}

type Views = IndexMap<Shared, View, FxBuildHasher>;

fn closure(model: &dyn Model, initial: &[Initial], most: usize, limits: &Limits) -> Result<Views, Unknown> {
    let mut views = Views::default();
    let mut queue: Set<Shared> = Set::default();
    let mut ticker = Ticker::new(limits);
    let mut found = 0;
    for family in initial {
        let threads = family.threads.entries().iter().map(|e| e.0);
        found += add(&mut views, &mut queue, family.shared, threads.chain(family.any.iter().copied()));
    }
    while let Some(s) = queue.pop() {
        let arrivals = explore(model, s, views.entry(s).or_default(), &mut ticker)?;
        for (to, locals) in arrivals {
            found += add(&mut views, &mut queue, to, locals.into_iter());
        }
        if found > most {
            return Err(Unknown::NotForThisModel(format!("there are more than {most} thread states")));
        }
    }
    Ok(views)
}

/// Adds thread states and says how many are new; a shared state with news is looked at again.
fn add(views: &mut Views, queue: &mut Set<Shared>, s: Shared, locals: impl Iterator<Item = Local>) -> usize {
    let entry = views.entry(s).or_default();
    let before = entry.locals.len();
    entry.locals.extend(locals);
    let new = entry.locals.len() - before;
    if new > 0 || !entry.started {
        queue.insert(s);
    }
    new
}

/// What the news in one view lead to.
fn explore(
    model: &dyn Model,
    s: Shared,
    view: &mut View,
    ticker: &mut Ticker<'_>,
) -> Result<Vec<(Shared, Vec<Local>)>, Unknown> {
    let mut steps = std::mem::take(&mut view.pending);
    if !view.started {
        view.started = true;
        model.post_shared(s, &mut steps).map_err(not_for_this)?;
    }
    for &l in &view.locals[view.listed..] {
        ticker.tick()?;
        model.post(s, l, &mut steps).map_err(not_for_this)?;
    }
    view.listed = view.locals.len();
    let mut arrivals = Vec::new();
    for step in steps {
        ticker.tick()?;
        if !step.take.entries().iter().all(|e| view.locals.contains(&e.0)) {
            view.pending.push(step);
            continue;
        }
        arrivals
            .push((step.to, step.put.entries().iter().chain(step.spawn.entries()).map(|e| e.0).collect()));
        match step.others {
            Bystanders::Stay => {
                if step.to != s {
                    view.flows.entry(step.to).or_insert(0);
                }
            }
            Bystanders::Transfer => view.movers.push((step, 0)),
            Bystanders::WakeOne => {
                return Err(Unknown::NotForThisModel(
                    "a signal wakes exactly one waiting thread: a table of steps cannot say that".into(),
                ));
            }
        }
    }
    for (&to, passed) in &mut view.flows {
        arrivals.push((to, view.locals[*passed..].iter().copied().collect()));
        *passed = view.locals.len();
    }
    let mut fates = Vec::new();
    for (step, seen) in &mut view.movers {
        for &l in &view.locals[*seen..] {
            ticker.tick()?;
            model.bystander(step, l, &mut fates).map_err(not_for_this)?;
        }
        *seen = view.locals.len();
        arrivals.push((step.to, fates.drain(..).flatten().collect()));
    }
    Ok(arrivals)
}

/// The dense numbers of states.
#[derive(Default)]
struct Numbers {
    shared: Set<Shared>,
    locals: Set<Local>,
}

impl Numbers {
    fn shared(&self, s: Shared) -> Shared {
        Shared(self.shared.get_index_of(&s).unwrap_or_default() as u64)
    }

    fn local(&self, l: Local) -> Local {
        Local(self.locals.get_index_of(&l).unwrap_or_default() as u64)
    }

    fn bag(&self, bag: &Bag) -> Bag {
        bag.entries().iter().map(|&(l, n)| (self.local(l), n)).collect()
    }

    fn table(&self, model: &dyn Model, views: &Views, limits: &Limits) -> Result<Table, Unknown> {
        let shared = names(self.shared.iter().map(|&s| model.shared_name(s)));
        let locals = names(self.locals.iter().map(|&l| model.local_name(l)));
        let mut table = Table::new(Names::List(shared), Names::List(locals));
        let mut ticker = Ticker::new(limits);
        let mut steps = Vec::new();
        for (&s, view) in views {
            model.post_shared(s, &mut steps).map_err(not_for_this)?;
            for &l in &view.locals {
                model.post(s, l, &mut steps).map_err(not_for_this)?;
            }
            for step in steps.drain(..) {
                ticker.tick()?;
                if step.take.entries().iter().all(|e| view.locals.contains(&e.0)) {
                    self.add(model, view, step, &mut table).map_err(not_for_this)?;
                }
            }
        }
        Ok(table)
    }

    fn add(&self, model: &dyn Model, view: &View, step: Step, table: &mut Table) -> Result<(), Incomplete> {
        let (mut fates, mut of_l) = (Vec::new(), Vec::new());
        if step.others == Bystanders::Transfer {
            for &l in &view.locals {
                of_l.clear();
                model.bystander(&step, l, &mut of_l)?;
                let from = self.local(l);
                match of_l[..] {
                    [] => fates.push((from, Fate::Block)),
                    [Some(same)] if same == l => {}
                    _ => fates.extend(
                        of_l.iter().map(|to| (from, to.map_or(Fate::Vanish, |m| Fate::To(self.local(m))))),
                    ),
                }
            }
        }
        let place = model.edge_place(step.edge);
        let step = Step {
            from: self.shared(step.from),
            to: self.shared(step.to),
            take: self.bag(&step.take),
            put: self.bag(&step.put),
            spawn: self.bag(&step.spawn),
            ..step
        };
        table.add(step, fates, place);
        Ok(())
    }

    fn initial(&self, initial: &Initial) -> Initial {
        Initial {
            shared: self.shared(initial.shared),
            threads: self.bag(&initial.threads),
            any: initial.any.iter().map(|&l| self.local(l)).collect(),
        }
    }

    /// Every combination of states that meets one of the target's configurations.
    fn target(&self, target: &Target, model: &dyn Model, views: &Views) -> Result<Target, Unknown> {
        let mut configs: Set<Config> = Set::default();
        for bad in &target.configs {
            for (&s, view) in views.iter().filter(|(s, _)| model.meets_shared(**s, bad.shared)) {
                let mut bags = vec![Bag::new()];
                for &(wanted, n) in bad.threads.entries() {
                    let fitting: Vec<Local> =
                        view.locals.iter().copied().filter(|&l| model.meets_local(l, wanted)).collect();
                    bags = spread(&bags, &fitting, n)?;
                }
                configs.extend(bags.iter().map(|b| Config::new(self.shared(s), self.bag(b))));
                if configs.len() > MOST_CONFIGS {
                    return Err(too_many());
                }
            }
        }
        Ok(Target { name: target.name.clone(), configs: configs.into_iter().collect() })
    }
}

fn too_many() -> Unknown {
    Unknown::NotForThisModel(format!("a target stands for more than {MOST_CONFIGS} configurations"))
}

/// Every way to add `n` threads, each in one of `places`.
fn spread(bases: &[Bag], places: &[Local], n: u32) -> Result<Vec<Bag>, Unknown> {
    let mut found: Set<Bag> = bases.iter().cloned().collect();
    if let [only] = places {
        return Ok(bases
            .iter()
            .map(|b| {
                let mut more = b.clone();
                more.insert(*only, n);
                more
            })
            .collect());
    }
    for _ in 0..n {
        let mut next = Set::default();
        for base in &found {
            for &l in places {
                let mut more = base.clone();
                more.insert(l, 1);
                next.insert(more);
            }
            if next.len() > MOST_CONFIGS {
                return Err(too_many());
            }
        }
        found = next;
    }
    Ok(found.into_iter().collect())
}

/// Names that are there and unique: missing names are numbered, and equal ones are made different by their numbers.
fn names(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: FxHashMap<String, ()> = FxHashMap::default();
    names
        .enumerate()
        .map(|(i, name)| {
            let mut unique = if name.is_empty() { i.to_string() } else { name };
            while seen.insert(unique.clone(), ()).is_some() {
                unique = format!("{unique} ({i})");
            }
            unique
        })
        .collect()
}
