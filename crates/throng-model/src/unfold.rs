//! Converts any model to a table of every thread state that may occur, with dense numbers.
//!
//! Models may compute their steps on demand. This lists all of them, for every pair of a shared and
//! a local state in the closure of views of one thread ([`crate::singles`]). The closure may
//! contain unreachable thread states, whose steps are harmless. States that stand for sets are
//! taken as plain states, which is exact (see [`crate`]); every state that meets a state of a
//! target counts as that state.
//!
//! It is used by the writers of the tabular formats.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::{Limits, Ticker};
use crate::problem::{Initial, Problem, Target};
use crate::singles::Singles;
use crate::table::{Fate, Names, Table};
use crate::verdict::Unknown;
use crate::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step};

/// Maximum number of configurations that one target may become.
const MOST_CONFIGS: usize = 100_000;

type Set<T> = IndexSet<T, FxBuildHasher>;

/// A problem whose model is a table.
#[derive(Clone, Debug)]
pub struct Unfolded {
    /// States and steps; numbers are dense, and names are those of the model.
    pub table: Table,
    /// The initial configurations.
    pub initial: Vec<Initial>,
    /// The initial configurations in the user's words.
    pub initial_text: String,
    /// The targets. One that no thread state can meet has no configurations.
    pub targets: Vec<Target>,
}

/// Converts the model of a problem to a table.
///
/// Signals cannot be expressed as steps of a table: they are [`Unknown::NotForThisModel`].
pub fn unfold(problem: &Problem, limits: &Limits) -> Result<Unfolded, Unknown> {
    let model = &*problem.model;
    let views = Singles::of(model, &problem.initial, usize::MAX, limits)?.map_err(not_for_this)?;
    if views.steps().any(|step| step.others == Bystanders::WakeOne) {
        return Err(Unknown::NotForThisModel(
            "a signal wakes exactly one waiting thread: a table of steps cannot express that".into(),
        ));
    }
    let mut numbers = Numbers::default();
    for s in views.shared() {
        numbers.shared.insert(s);
        numbers.locals.extend(views.at(s));
    }
    let table = numbers.table(model, &views, limits)?;
    let initial = problem.initial.iter().map(|i| numbers.initial(i)).collect();
    let targets =
        problem.targets.iter().map(|t| numbers.target(t, model, &views)).collect::<Result<_, _>>()?;
    Ok(Unfolded { table, initial, initial_text: problem.initial_text.clone(), targets })
}

/// An incomplete list of steps cannot become a table.
fn not_for_this(why: Incomplete) -> Unknown {
    Unknown::NotForThisModel(why.0)
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

    fn table(&self, model: &dyn Model, views: &Singles, limits: &Limits) -> Result<Table, Unknown> {
        let shared = names(self.shared.iter().map(|&s| model.shared_name(s)));
        let locals = names(self.locals.iter().map(|&l| model.local_name(l)));
        let mut table = Table::new(Names::List(shared), Names::List(locals));
        let mut ticker = Ticker::new(limits);
        let mut steps = Vec::new();
        for s in views.shared() {
            model.post_shared(s, &mut steps).map_err(not_for_this)?;
            for l in views.at(s) {
                model.post(s, l, &mut steps).map_err(not_for_this)?;
            }
            for step in steps.drain(..) {
                ticker.tick()?;
                if step.take.entries().iter().all(|e| views.contains(s, e.0)) {
                    self.add(model, views, step, &mut table).map_err(not_for_this)?;
                }
            }
        }
        Ok(table)
    }

    fn add(
        &self,
        model: &dyn Model,
        views: &Singles,
        step: Step,
        table: &mut Table,
    ) -> Result<(), Incomplete> {
        let (mut fates, mut of_l) = (Vec::new(), Vec::new());
        if step.others == Bystanders::Transfer {
            for l in views.at(step.from) {
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

    /// Returns every combination of states that meets one of the target's configurations.
    fn target(&self, target: &Target, model: &dyn Model, views: &Singles) -> Result<Target, Unknown> {
        if target.formula().is_some() && !target.is_upward_closed() {
            return Err(Unknown::NotForThisModel(
                "a target has a formula, which refers to the original states".into(),
            ));
        }
        let mut configs: Set<Config> = Set::default();
        for bad in &target.configs {
            for s in views.shared().filter(|&s| model.meets_shared(s, bad.shared)) {
                let mut bags = vec![Bag::new()];
                for &(wanted, n) in bad.threads.entries() {
                    let fitting: Vec<Local> = views.at(s).filter(|&l| model.meets_local(l, wanted)).collect();
                    bags = spread(&bags, &fitting, n)?;
                }
                configs.extend(bags.iter().map(|b| Config::new(self.shared(s), self.bag(b))));
                if configs.len() > MOST_CONFIGS {
                    return Err(too_many());
                }
            }
        }
        Ok(target.with_configs(configs.into_iter().collect()))
    }
}

fn too_many() -> Unknown {
    Unknown::NotForThisModel(format!("a target stands for more than {MOST_CONFIGS} configurations"))
}

/// Returns every way to add `n` threads to one of `bases`, each in one of `places`.
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

/// Returns unique names: missing names are replaced by numbers, and equal ones are distinguished by
/// their numbers.
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
