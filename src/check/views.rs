//! Whether a set of views is what it claims to be: see [`crate::verdict::Certificate::Views`].
//!
//! A plain loop over all steps and all bystanders; nothing is remembered between them.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Flaw;
use super::cubes::Parts;
use crate::limits::Ticker;
use crate::model::{Bag, Config, Local, Model, Others, Shared, Step};
use crate::problem::{Problem, Target};
use crate::verdict::Views;

/// The views of one shared state.
#[derive(Default)]
pub(super) struct Group {
    pub singles: FxHashSet<Local>,
    /// Both ways round; `None` if views have one thread, and say nothing about two.
    partners: Option<FxHashMap<Local, FxHashSet<Local>>>,
}

impl Group {
    fn pair(&self, a: Local, b: Local) -> bool {
        match &self.partners {
            Some(partners) => partners.get(&a).is_some_and(|p| p.contains(&b)),
            None => self.singles.contains(&a) && self.singles.contains(&b),
        }
    }

    /// Who may be there together with `b`; nobody in particular if views have one thread.
    fn partners(&self, b: Local) -> impl Iterator<Item = Local> {
        self.partners.iter().filter_map(move |p| p.get(&b)).flatten().copied()
    }
}

/// A set of views that has been checked.
pub(super) struct Set<'a> {
    pub model: &'a dyn Model,
    pub groups: FxHashMap<Shared, Group>,
    parts: Parts<'a>,
    /// Whether something arrived that had to be taken for a larger known state.
    pub rounded: Cell<bool>,
}

pub(super) fn check_views(
    problem: &Problem,
    target: &Target,
    views: &Views,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let set = Set::closed(problem, views, ticker)?;
    match target.configs.iter().find(|bad| set.allows(bad)) {
        Some(bad) => Err(Flaw::BadMember(bad.describe(set.model))),
        None => Ok(()),
    }
}

impl<'a> Set<'a> {
    /// The views, if they hold the initial ones and are closed under steps.
    pub fn closed(problem: &'a Problem, views: &'a Views, ticker: &mut Ticker) -> Result<Set<'a>, Flaw> {
        let set = Set::new(&*problem.model, views)?;
        for family in &problem.initial {
            let mut threads = family.threads.clone();
            family.any.iter().for_each(|&l| threads.insert(l, 2));
            set.needs_all(family.shared, &flat(&threads))?;
        }
        set.each_step(&mut |group, step| set.check_step(group, step, ticker))?;
        Ok(set)
    }

    /// Shows `found` every step that a thread of the set may lead, with the views of the shared state it starts in.
    fn each_step(&self, found: &mut impl FnMut(&Group, &Step) -> Result<(), Flaw>) -> Result<(), Flaw> {
        let mut steps = Vec::new();
        for (&s, group) in &self.groups {
            self.model.post_shared(s, &mut steps);
            group.singles.iter().for_each(|&l| self.model.post(s, l, &mut steps));
            steps.drain(..).try_for_each(|step| found(group, &step))?;
        }
        Ok(())
    }

    /// Shows `found` every step whose threads can be there together, with the views of the shared state it starts in.
    pub fn each_possible_step(
        &self,
        found: &mut impl FnMut(&Group, &Step) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        self.each_step(&mut |group, step| if can_meet(group, step) { found(group, step) } else { Ok(()) })
    }

    fn new(model: &'a dyn Model, views: &'a Views) -> Result<Set<'a>, Flaw> {
        let mut groups: FxHashMap<Shared, Group> = FxHashMap::default();
        let pairs = match views.k {
            1 => false,
            2 => true,
            k => return Err(Flaw::Malformed(format!("views of {k} threads are not known"))),
        };
        let fresh = || Group { partners: pairs.then(FxHashMap::default), ..Group::default() };
        for view in &views.set {
            let group = groups.entry(view.shared).or_insert_with(fresh);
            match (&flat(&view.threads)[..], &mut group.partners) {
                ([], _) => {}
                ([a], _) => _ = group.singles.insert(*a),
                ([a, b], Some(partners)) => {
                    group.singles.extend([*a, *b]);
                    partners.entry(*a).or_default().insert(*b);
                    partners.entry(*b).or_default().insert(*a);
                }
                _ => {
                    return Err(Flaw::ViewMissing(format!(
                        "nothing, but {} is no view",
                        view.describe(model)
                    )));
                }
            }
        }
        Ok(Set { model, groups, parts: Parts::new(model, &views.set), rounded: Cell::new(false) })
    }

    /// All views of these threads must be there.
    fn needs_all(&self, s: Shared, threads: &[Local]) -> Result<(), Flaw> {
        self.needs(s, &[])?;
        for (i, &a) in threads.iter().enumerate() {
            self.needs(s, &[a])?;
            threads[i + 1..].iter().try_for_each(|&b| self.needs(s, &[a, b]))?;
        }
        Ok(())
    }

    fn needs(&self, s: Shared, threads: &[Local]) -> Result<(), Flaw> {
        let there = self.groups.get(&s).is_some_and(|group| match *threads {
            [] => true,
            [a] => group.singles.contains(&a),
            [a, b] => group.pair(a, b),
            _ => false,
        });
        if there {
            return Ok(());
        }
        let view = Config::new(s, threads.iter().copied().collect());
        Err(Flaw::ViewMissing(view.describe(self.model)))
    }

    fn check_step(&self, group: &Group, step: &Step, ticker: &mut Ticker) -> Result<(), Flaw> {
        ticker.ticks(8)?;
        if !can_meet(group, step) {
            return Ok(());
        }
        let taken = flat(&step.take);
        let mut arrived = flat(&step.put);
        arrived.extend(flat(&step.spawn));
        let stands_by = |b: &Local| taken.iter().all(|&t| group.pair(t, *b));
        let bystanders: FxHashSet<Local> = group.singles.iter().copied().filter(stands_by).collect();
        let mut first = match self.arrive(group, step, step.to, &arrived, &bystanders, ticker) {
            Err(flaw) if !self.model.is_exact() => flaw,
            done => return done,
        };
        // Where states are sets, what arrives may be rounded up to states that the views know: more can then happen, not less.
        // Only once for all bystanders: views of one configuration are about the same states.
        self.rounded.set(true);
        let arrived = Config::new(step.to, arrived.into_iter().collect());
        let fits = self.parts.pass(&arrived, &mut |part| {
            self.roundings(part).iter().any(|(s, arrived)| {
                match self.arrive(group, step, *s, arrived, &bystanders, ticker) {
                    Ok(()) => true,
                    Err(flaw) => {
                        if matches!(flaw, Flaw::Limit(_)) {
                            first = flaw;
                        }
                        false
                    }
                }
            })
        });
        if fits { Ok(()) } else { Err(first) }
    }

    /// Ways to replace states by known ones that hold at least as much.
    fn roundings(&self, config: &Config) -> Vec<(Shared, Vec<Local>)> {
        const MOST: usize = 64;
        let mut found = Vec::new();
        for (&s, group) in &self.groups {
            if !self.model.within_shared(config.shared, s) {
                continue;
            }
            let mut rows: Vec<Vec<Local>> = vec![Vec::new()];
            for l in flat(&config.threads) {
                let mut wider: Vec<Local> =
                    group.singles.iter().copied().filter(|&m| self.model.within_local(l, m)).collect();
                wider.sort_unstable_by_key(|&m| (m != l, m));
                rows = rows
                    .iter()
                    .flat_map(|r| wider.iter().map(|&m| [&r[..], &[m]].concat()))
                    .take(MOST)
                    .collect();
            }
            found.extend(rows.into_iter().map(|row| (s, row)));
        }
        found
    }

    /// Whether all views are there after `step` has led to `to` and put `arrived` there.
    fn arrive(
        &self,
        group: &Group,
        step: &Step,
        to: Shared,
        arrived: &[Local],
        bystanders: &FxHashSet<Local>,
        ticker: &mut Ticker,
    ) -> Result<(), Flaw> {
        self.needs_all(to, arrived)?;
        let undisturbed = step.from == to && step.others == Others::Stay;
        for &b in bystanders {
            ticker.ticks(4)?;
            for after in self.fates(step, to, b) {
                self.needs(to, &[after])?;
                arrived.iter().try_for_each(|&p| self.needs(to, &[p, after]))?;
                if undisturbed {
                    continue;
                }
                for c in group.partners(b).filter(|c| bystanders.contains(c)) {
                    self.fates(step, to, c)
                        .into_iter()
                        .try_for_each(|other| self.needs(to, &[after, other]))?;
                }
            }
        }
        Ok(())
    }

    /// What may become of a bystander that is still there afterwards.
    pub fn fates(&self, step: &Step, to: Shared, l: Local) -> Vec<Local> {
        let mut fates = Vec::new();
        match step.others {
            Others::Stay => fates.push(Some(l)),
            Others::Move => self.model.bystander(step, l, &mut fates),
            Others::Wake => fates.extend([Some(l), self.model.woken(l)]),
        }
        let singles = self.groups.get(&to).map(|group| &group.singles);
        let round = |l: Local| match singles {
            Some(singles) if !singles.contains(&l) && !self.model.is_exact() => {
                self.rounded.set(true);
                singles.iter().copied().filter(|&m| self.model.within_local(l, m)).min().unwrap_or(l)
            }
            _ => l,
        };
        fates.into_iter().flatten().map(round).collect()
    }

    /// Whether a configuration that covers `bad` could be built of these views.
    pub fn allows(&self, bad: &Config) -> bool {
        let wanted = flat(&bad.threads);
        let mut meeting = self.groups.iter().filter(|(s, _)| self.model.meets_shared(**s, bad.shared));
        meeting.any(|(_, group)| self.builds(group, &wanted, &mut Vec::new()))
    }

    fn builds(&self, group: &Group, wanted: &[Local], chosen: &mut Vec<Local>) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return true };
        let exactly = group.singles.get(&first).filter(|_| self.model.is_exact());
        let all = group.singles.iter().filter(|_| !self.model.is_exact());
        exactly.into_iter().chain(all).any(|&a| {
            if !self.model.meets_local(a, first) || !chosen.iter().all(|&c| group.pair(c, a)) {
                return false;
            }
            chosen.push(a);
            let built = self.builds(group, rest, chosen);
            chosen.pop();
            built
        })
    }
}

/// Whether all threads that a step takes can be there together.
fn can_meet(group: &Group, step: &Step) -> bool {
    let taken = flat(&step.take);
    let together = |(i, &a): (usize, &Local)| {
        group.singles.contains(&a) && taken[i + 1..].iter().all(|&b| group.pair(a, b))
    };
    taken.iter().enumerate().all(together)
}

/// The threads one by one; two stand for more, because views know no larger number.
fn flat(threads: &Bag) -> Vec<Local> {
    threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n.min(2) as usize)).collect()
}
