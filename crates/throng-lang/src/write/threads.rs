//! Rewrites a system so that every step moves one thread, or lets one thread create another.
//!
//! Steps that take several threads consume them one at a time: they pass through fresh shared
//! states in which nothing else can happen, and the threads wait in a fresh local state `hold`. No
//! target is missed by a run that gets stuck there, as targets are about the original shared
//! states. Threads that vanish go to a fresh local state `dead`. A step that takes no thread is led
//! by a `helper` thread that exists from the start.

use std::sync::Arc;
use throng_model::Describe;

use super::{Refusal, origin_text};
use crate::system::System;
use throng_model::problem::Initial;
use throng_model::table::{Fate, Names, Table};
use throng_model::{Bag, Bystanders, Edge, Local, Place, Shared, Step};

/// Maximum number of fresh shared states of a rewriting.
const MOST_FRESH: u64 = 2_000_000;

/// A step, the fates of its bystanders, and its place in the text.
type Entry = (Step, Vec<(Local, Fate)>, Place);

/// A system under construction.
pub(super) struct Rewriter {
    shared: Names,
    locals: Names,
    steps: Vec<Entry>,
    fresh: u64,
    hold: Option<Local>,
    dead: Option<Local>,
    helper: Option<Local>,
}

impl Rewriter {
    pub(super) fn new(table: &Table) -> Rewriter {
        Rewriter {
            shared: table.shared().clone(),
            locals: table.locals().clone(),
            steps: Vec::new(),
            fresh: 0,
            hold: None,
            dead: None,
            helper: None,
        }
    }

    /// Copies all steps of a table.
    pub(super) fn copy(table: &Table) -> Rewriter {
        let mut all = Rewriter::new(table);
        for step in table.steps() {
            all.steps.push((step.clone(), table.fates(step.edge).to_vec(), table.edge_place(step.edge)));
        }
        all
    }

    pub(super) fn add(&mut self, step: Step, place: Place) {
        self.steps.push((step, Vec::new(), place));
    }

    pub(super) fn fresh_shared(&mut self, name: &str) -> Result<Shared, Refusal> {
        self.fresh += 1;
        if self.fresh > MOST_FRESH {
            return Err(Refusal(format!("this would need more than {MOST_FRESH} further shared states")));
        }
        fresh(&mut self.shared, name).map(Shared)
    }

    pub(super) fn fresh_local(&mut self, name: &str) -> Result<Local, Refusal> {
        fresh(&mut self.locals, name).map(Local)
    }

    fn hold(&mut self) -> Result<Local, Refusal> {
        let l = self.hold.map_or_else(|| self.fresh_local("hold"), Ok)?;
        self.hold = Some(l);
        Ok(l)
    }

    fn dead(&mut self) -> Result<Local, Refusal> {
        let l = self.dead.map_or_else(|| self.fresh_local("dead"), Ok)?;
        self.dead = Some(l);
        Ok(l)
    }

    fn helper(&mut self) -> Result<Local, Refusal> {
        let l = self.helper.map_or_else(|| self.fresh_local("helper"), Ok)?;
        self.helper = Some(l);
        Ok(l)
    }

    /// Returns the system with these steps; everything else is `system`'s.
    pub(super) fn finish(self, system: &System) -> System {
        let mut table = Table::new(self.shared, self.locals);
        for (step, fates, place) in self.steps {
            table.add(step, fates, place);
        }
        System { table: Arc::new(table), ..system.clone() }
    }

    fn one(
        &mut self,
        from: Shared,
        l: Local,
        to: Shared,
        m: Local,
        fates: Vec<(Local, Fate)>,
        place: &Place,
    ) {
        if (from, l) != (to, m) || !fates.is_empty() {
            let step = step(from, to, Bag::one(l), Bag::one(m), Bag::new());
            self.steps.push((step, fates, place.clone()));
        }
    }

    fn create(&mut self, from: Shared, parent: Local, to: Shared, child: Local, place: &Place) {
        let step = step(from, to, Bag::one(parent), Bag::one(parent), Bag::one(child));
        self.steps.push((step, Vec::new(), place.clone()));
    }

    /// Rewrites one step.
    fn rewrite(
        &mut self,
        step: &Step,
        fates: Vec<(Local, Fate)>,
        place: &Place,
        shared_transfers: bool,
    ) -> Result<(), Refusal> {
        let mut takes = each(&step.take);
        let mut puts = each(&step.put);
        puts.extend(each(&step.spawn));
        if takes.is_empty() {
            let simple = fates.len() <= 1 && puts.is_empty();
            if shared_transfers && simple {
                self.steps.push((step.clone(), fates, place.clone()));
                return Ok(());
            }
            let helper = self.helper()?;
            takes.push(helper);
            puts.insert(0, helper);
        }
        if let ([l], [a, b], true) = (&takes[..], &puts[..], fates.is_empty()) {
            return self.spawn(step, *l, (*a, *b), place);
        }
        let (Some(last), holds) = (takes.pop(), takes.len()) else { return Ok(()) };
        let mut now = step.from;
        for &l in &takes {
            let next = self.fresh_shared("step")?;
            let hold = self.hold()?;
            self.one(now, l, next, hold, Vec::new(), place);
            now = next;
        }
        // All taken threads are on hold: now the bystanders move, if they do.
        let mut puts = puts.into_iter();
        let first = puts.next().map_or_else(|| self.dead(), Ok)?;
        let mut left = holds + puts.len().saturating_sub(holds);
        let next = if left == 0 { step.to } else { self.fresh_shared("step")? };
        self.one(now, last, next, first, fates, place);
        now = next;
        for held in (0..holds).map(|_| true).chain(std::iter::repeat(false)) {
            let put = puts.next();
            let put = match (put, held) {
                (None, false) => return Ok(()),
                (Some(put), _) => put,
                (None, true) => self.dead()?,
            };
            left -= 1;
            let next = if left == 0 { step.to } else { self.fresh_shared("step")? };
            if held {
                let hold = self.hold()?;
                self.one(now, hold, next, put, Vec::new(), place);
            } else {
                self.create(now, first, next, put, place);
            }
            now = next;
        }
        Ok(())
    }

    /// Lets a thread at `l` become two. If one of them is at `l` it stays; else it first creates
    /// one and then moves. The shared state in between belongs to this step only, so any thread
    /// that completes it is at `l` and indistinguishable from the others.
    fn spawn(&mut self, step: &Step, l: Local, (a, b): (Local, Local), place: &Place) -> Result<(), Refusal> {
        if a == l || b == l {
            let child = if a == l { b } else { a };
            self.create(step.from, l, step.to, child, place);
            return Ok(());
        }
        let between = self.fresh_shared("spawn")?;
        self.create(step.from, l, between, b, place);
        self.one(between, l, step.to, a, Vec::new(), place);
        Ok(())
    }
}

fn fresh(names: &mut Names, name: &str) -> Result<u64, Refusal> {
    let i = names.len();
    match names {
        Names::Numbers(u64::MAX) => {
            return Err(Refusal("there is no number left for a further state".into()));
        }
        Names::Numbers(n) => *n += 1,
        Names::List(list) => list.push(format!("{name} {i}")),
    }
    Ok(i)
}

fn each(bag: &Bag) -> Vec<Local> {
    bag.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l)).collect()
}

pub(super) fn step(from: Shared, to: Shared, take: Bag, put: Bag, spawn: Bag) -> Step {
    Step { from, to, take, put, spawn, others: Bystanders::Stay, edge: Edge(0), choice: 0 }
}

/// Rewrites a system so that every step moves one thread (and others along), creates one, or, if
/// `shared_transfers`, takes no thread and moves those at one local state.
pub(super) fn thread_form(system: &System, shared_transfers: bool) -> Result<System, Refusal> {
    let table = &system.table;
    let mut rewriter = Rewriter::new(table);
    for step in table.steps() {
        let mut fates = table.fates(step.edge).to_vec();
        for fate in &mut fates {
            match fate.1 {
                Fate::To(_) => {}
                Fate::Vanish => fate.1 = Fate::To(rewriter.dead()?),
                Fate::Block => {
                    return Err(Refusal(format!(
                        "{} needs that some place is empty; only `.spec` can say that",
                        origin_text(table, step.edge)
                    )));
                }
            }
        }
        rewriter.rewrite(step, fates, &table.edge_place(step.edge), shared_transfers)?;
    }
    let helper = rewriter.helper;
    let mut rewritten = rewriter.finish(system);
    if let Some(helper) = helper {
        rewritten.initial.iter_mut().for_each(|i| i.threads.insert(helper, 1));
    }
    Ok(rewritten)
}

/// Returns a system with one initial configuration without threads; the first steps choose one of
/// the original ones and create its threads.
pub(super) fn single_initial(system: &System) -> Result<System, Refusal> {
    let mut rewriter = Rewriter::copy(&system.table);
    let start = rewriter.fresh_shared("start")?;
    let none = Bag::new;
    for initial in &system.initial {
        let chosen = rewriter.fresh_shared("starting")?;
        rewriter.add(step(start, chosen, none(), none(), none()), Place::default());
        for &l in &initial.any {
            rewriter.add(step(chosen, chosen, none(), Bag::one(l), none()), Place::default());
        }
        rewriter.add(step(chosen, initial.shared, none(), initial.threads.clone(), none()), Place::default());
    }
    let mut single = rewriter.finish(system);
    single.initial = vec![Initial { shared: start, threads: Bag::new(), any: Vec::new() }];
    Ok(single)
}

/// Returns the system itself if it has one initial configuration, else [`single_initial`].
pub(super) fn with_one_initial(system: &System) -> Result<System, Refusal> {
    if system.initial.len() == 1 { Ok(system.clone()) } else { single_initial(system) }
}

/// Adds a shared state for targets that cannot be met, if there are such.
pub(super) fn with_met_targets(system: System) -> Result<System, Refusal> {
    if system.targets.iter().all(|t| !t.configs.is_empty()) {
        return Ok(system);
    }
    let mut rewriter = Rewriter::copy(&system.table);
    let never = rewriter.fresh_shared("never")?;
    let mut system = rewriter.finish(&system);
    for target in system.targets.iter_mut().filter(|t| t.configs.is_empty()) {
        target.configs.push(throng_model::Config::new(never, Bag::new()));
    }
    Ok(system)
}
