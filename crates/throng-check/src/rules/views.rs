//! The rule for views: see [`throng_model::views::Views`].
//!
//! The set contains ⟨s | a, b⟩ if the row of a with s has b; first, rows must be symmetric. Then,
//! for every step whose threads can be together: those that arrive, and every bystander that was
//! pairwise with all that were taken, must again be pairwise in the set. Bystanders are an
//! intersection of rows, and "for every bystander" is inclusion of sets of numbers; states with the
//! same row are checked once.
//!
//! Bystanders B that stay keep all their pairs. If that has been checked for a step to the same
//! shared state with bystanders D, and B is a subset of D, nothing is left to check: a pair of B is
//! one of D.
//!
//! Vectors are checked for the same steps ([`super::linear`]): where states are sets, both checks
//! use the rounded result of a step.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Flaw;
use super::cubes::Parts;
use super::linear::Vectors;
use throng_model::bits::{Bits, Row};
use throng_model::limits::Ticker;
use throng_model::problem::Problem;
use throng_model::views::{Group, Views};
use throng_model::{Bag, Bystanders, Config, Local, Model, Shared, Step};

/// A set of views that contains the initial ones and is closed under steps, none of which increases
/// a vector.
pub(super) struct Closed<'a> {
    pub(super) model: &'a dyn Model,
    views: &'a Views,
    parts: Parts<'a>,
    vectors: &'a Vectors,
}

/// Sets of bystanders whose pairs have been checked with the shared state to which a step leads,
/// for steps from the same shared state.
type Shown = FxHashMap<Shared, Vec<Bits>>;

/// Maximum number of them that are remembered for one shared state.
const MOST_SHOWN: usize = 16;

/// Returns the local states that may occur together with each of these.
fn with_all<'a>(group: &'a Group, threads: &[u32], common: &'a mut Bits) -> Row<'a> {
    let mut rows = threads.iter().filter_map(|&a| group.with(a));
    let Some(first) = rows.next() else { return group.all() };
    let Some(second) = rows.next() else { return first };
    *common = rows.fold(first.and(second), |left, row| left.row().and(row));
    common.row()
}

impl<'a> Closed<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        views: &'a Views,
        vectors: &'a Vectors,
        ticker: &mut Ticker,
    ) -> Result<Closed<'a>, Flaw> {
        let model = &*problem.model;
        for (s, group) in views.groups() {
            ticker.ticks(group.rows() as u32)?;
            if !group.is_symmetric() {
                let what = format!("the pairs of views are not symmetric: {}", model.shared_name(s));
                return Err(Flaw::Malformed(what));
            }
        }
        let states = || (views.groups().map(|e| e.0).collect(), views.locals().collect());
        let set = Closed { model, views, parts: Parts::new(model, states), vectors };
        for family in &problem.initial {
            let mut threads = family.threads.clone();
            family.any.iter().for_each(|&l| threads.insert(l, 2));
            set.hold(family.shared, &flat(&threads))?;
        }
        let (mut steps, mut shown) = (Vec::new(), Shown::default());
        for (s, group) in views.groups() {
            model.post_shared(s, &mut steps)?;
            set.singles(group).try_for_each(|l| model.post(s, l, &mut steps))?;
            steps.drain(..).try_for_each(|step| set.check_step(group, &step, &mut shown, ticker))?;
            shown.clear();
        }
        Ok(set)
    }

    /// Returns the shared states that may occur, with their views.
    pub(super) fn groups(&self) -> impl Iterator<Item = (Shared, &'a Group)> {
        self.views.groups()
    }

    /// Returns the numbers of these states; `None` if one has no view and so cannot occur.
    fn numbers(&self, threads: &[Local]) -> Option<Vec<u32>> {
        threads.iter().map(|&l| self.views.number(l)).collect()
    }

    /// Returns the local states that may occur with a shared state.
    pub(super) fn singles<'b>(&'b self, group: &'b Group) -> impl Iterator<Item = Local> + 'b {
        self.views.singles(group)
    }

    /// Returns whether two local states may occur together with a shared state.
    pub(super) fn pair(&self, group: &Group, a: Local, b: Local) -> bool {
        match (self.views.number(a), self.views.number(b)) {
            (Some(a), Some(b)) => group.pair(a, b),
            _ => false,
        }
    }

    /// Calls `found` for every step whose threads can be together, with the views of the shared
    /// state in which it starts.
    pub(super) fn each_possible_step(
        &self,
        found: &mut impl FnMut(&Group, &Step) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        let mut steps = Vec::new();
        for (s, group) in self.groups() {
            self.model.post_shared(s, &mut steps)?;
            self.singles(group).try_for_each(|l| self.model.post(s, l, &mut steps))?;
            for step in steps.drain(..) {
                if self.numbers(&flat(&step.take)).is_some_and(|taken| group.together(&taken)) {
                    found(group, &step)?;
                }
            }
        }
        Ok(())
    }

    fn missing<T>(&self, s: Shared, threads: &[Local]) -> Result<T, Flaw> {
        Err(Flaw::ViewMissing(Config::new(s, threads.iter().copied().collect()).describe(self.model)))
    }

    /// Returns the views with `s`, and the numbers of these threads, if they can be together.
    fn built(&self, s: Shared, threads: &[Local]) -> Option<(&Group, Vec<u32>)> {
        let (group, numbers) = (self.views.group(s)?, self.numbers(threads)?);
        group.together(&numbers).then_some((group, numbers))
    }

    /// Like [`Closed::built`], but an error if they cannot.
    fn hold(&self, s: Shared, threads: &[Local]) -> Result<(&Group, Vec<u32>), Flaw> {
        self.built(s, threads).map_or_else(|| self.missing(s, threads), Ok)
    }

    /// Checks a step, which is possible if the threads that it takes can be together.
    fn check_step(
        &self,
        group: &Group,
        step: &Step,
        shown: &mut Shown,
        ticker: &mut Ticker,
    ) -> Result<(), Flaw> {
        let Some(taken) = self.numbers(&flat(&step.take)).filter(|taken| group.together(taken)) else {
            return Ok(());
        };
        ticker.ticks(8)?;
        let mut common = Bits::default();
        let bystanders = with_all(group, &taken, &mut common);
        let mut arrived = step.put.clone();
        arrived.add_all(&step.spawn);
        let mut flaw = None;
        let fits = self.parts.pass(&Config::new(step.to, arrived), &mut |part| {
            let found = self.arrive(group, step, bystanders, part, shown, ticker);
            // The first flaw is about the whole and is kept; only a limit replaces it.
            let matters = |why: &Flaw| flaw.is_none() || matches!(why, Flaw::Limit(_));
            if let Some(why) = found.as_ref().err().filter(|why| matters(why)) {
                flaw = Some(why.clone());
            }
            found.is_ok()
        });
        flaw.filter(|_| !fits).map_or(Ok(()), Err)
    }

    /// Rounds a state up to the least of these states that contains it. The order of states decides
    /// between several.
    fn round_up(&self, among: impl Iterator<Item = Local>, l: Local) -> Option<Local> {
        let within = |a, b| self.model.within_local(a, b);
        let mut holding: Vec<Local> = among.filter(|&m| within(l, m)).collect();
        holding.sort_unstable();
        holding.into_iter().reduce(|least, m| if within(m, least) { m } else { least })
    }

    /// Rounds arriving states up to the least known ones. A known state is its own least one, so
    /// most of the time there is nothing to search.
    fn round_arriving(&self, part: &Config) -> Option<(Shared, Bag)> {
        let within = |a, b| self.model.within_shared(a, b);
        let to = match self.views.group(part.shared) {
            Some(_) => part.shared,
            None => {
                let holding = self.groups().map(|e| e.0).filter(|&s| within(part.shared, s));
                holding.reduce(|least, s| if within(s, least) { s } else { least })?
            }
        };
        let group = self.views.group(to)?;
        let round = |&(l, n): &(Local, u32)| match self.views.number(l) {
            Some(number) if group.all().contains(number) => Some((l, n)),
            _ => Some((self.round_up(self.singles(group), l)?, n)),
        };
        Some((to, part.threads.entries().iter().map(round).collect::<Option<Bag>>()?))
    }

    /// Checks that the set has all views after a step, and that no vector has grown.
    fn arrive(
        &self,
        group: &Group,
        step: &Step,
        bystanders: Row<'_>,
        part: &Config,
        shown: &mut Shown,
        ticker: &mut Ticker,
    ) -> Result<(), Flaw> {
        let exact = self.model.is_exact();
        // States that the views have need not be rounded.
        let direct = self.built(part.shared, &flat(&part.threads));
        let rounded = if direct.is_some() || exact { None } else { self.round_arriving(part) };
        let (to, arrived) = rounded.as_ref().map_or((part.shared, &part.threads), |e| (e.0, &e.1));
        let (after, numbers) = direct.map_or_else(|| self.hold(to, &flat(arrived)), Ok)?;
        let grows = || Flaw::Grows(self.model.edge_place(step.edge).text);
        if !self.vectors.allow_step(step, to, arrived) {
            return Err(grows());
        }
        let mut common = Bits::default();
        let paired = with_all(after, &numbers, &mut common);
        // Checks that each of these may be together with all that arrive.
        let all_paired = |others: Row<'_>| {
            let Some(b) = others.beyond(paired) else { return Ok(()) };
            let apart = numbers.iter().find(|&&p| !after.pair(p, b));
            self.missing(to, &apart.into_iter().chain([&b]).map(|&n| self.views.local(n)).collect::<Vec<_>>())
        };
        // Where states are sets, a bystander that stays may have to be rounded as well.
        if step.others == Bystanders::Stay && (exact || bystanders.beyond(paired).is_none()) {
            all_paired(bystanders)?;
            return if step.from == to {
                Ok(())
            } else {
                self.stay(group, bystanders, to, after, shown, ticker)
            };
        }
        // Most steps change few bystanders.
        let mut fates: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for b in bystanders.iter() {
            ticker.tick()?;
            let before = self.views.local(b);
            let found = self.fates(step, to, before, paired)?;
            if found.iter().any(|&fate| !self.vectors.allow_move((step.from, to), before, fate)) {
                return Err(grows());
            }
            if found != [before] {
                fates.insert(b, self.numbers(&found).map_or_else(|| self.missing(to, &found), Ok)?);
            }
        }
        let movers: Bits = fates.keys().copied().collect();
        let moved = |set: Row<'_>| -> Bits {
            let moving = set.and(movers.row());
            let after: Bits = moving.row().iter().flat_map(|b| fates[&b].iter().copied()).collect();
            after.row().or(set.minus(moving.row()).row())
        };
        all_paired(moved(bystanders).row())?;
        // States that may occur together before the step must be allowed together after it.
        let mut partners: FxHashMap<u32, Bits> = FxHashMap::default();
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        for b in bystanders.iter() {
            ticker.tick()?;
            let Some(row) = group.row_of(b) else { continue };
            let becomes = fates.get(&b).map_or(std::slice::from_ref(&b), Vec::as_slice);
            for &fate in becomes {
                let Some(row_after) = after.row_of(fate) else {
                    return self.missing(to, &[self.views.local(fate)]);
                };
                if seen.insert((row, row_after)) {
                    let others = match partners.get(&row) {
                        Some(others) => others,
                        None => {
                            let moved = moved(group.row(row).and(bystanders).row());
                            ticker.ticks(moved.row().size())?;
                            partners.entry(row).or_insert(moved)
                        }
                    };
                    if let Some(other) = others.row().beyond(after.row(row_after)) {
                        return self.missing(to, &[self.views.local(fate), self.views.local(other)]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks that bystanders that stay, each of which may occur with the new shared state, keep
    /// their pairs there.
    fn stay(
        &self,
        group: &Group,
        bystanders: Row<'_>,
        to: Shared,
        after: &Group,
        shown: &mut Shown,
        ticker: &mut Ticker,
    ) -> Result<(), Flaw> {
        let shown = shown.entry(to).or_default();
        ticker.ticks(1 + shown.len() as u32 / 4)?;
        if shown.iter().any(|all| bystanders.beyond(all.row()).is_none()) {
            return Ok(());
        }
        let mut last = None;
        for b in bystanders.iter() {
            let (row, row_after) = (group.row_of(b), after.row_of(b));
            // Neighbours often have the same rows.
            if last.replace((row, row_after)) == Some((row, row_after)) {
                continue;
            }
            let (Some(row), Some(row_after)) = (row, row_after) else {
                return self.missing(to, &[self.views.local(b)]);
            };
            ticker.ticks(1 + bystanders.size() / 8)?;
            if let Some(other) = group.row(row).common_beyond(bystanders, after.row(row_after)) {
                return self.missing(to, &[self.views.local(b), self.views.local(other)]);
            }
        }
        if shown.len() < MOST_SHOWN {
            shown.push(bystanders.by_word().collect());
        }
        Ok(())
    }

    /// Returns the states of a bystander after a step, rounded to states that may be together with
    /// those that arrive: split in halves if none of them contains the whole.
    fn fates(&self, step: &Step, to: Shared, b: Local, paired: Row<'_>) -> Result<Vec<Local>, Flaw> {
        const MOST: usize = 1 << 12;
        let mut fates = Vec::new();
        match step.others {
            Bystanders::Stay => fates.push(Some(b)),
            Bystanders::Transfer => self.model.bystander(step, b, &mut fates)?,
            Bystanders::WakeOne => fates.extend([Some(b), self.model.woken_by(step, b)]),
        }
        let (mut todo, mut found): (Vec<Local>, Vec<Local>) =
            (fates.into_iter().flatten().collect(), Vec::new());
        let allowed = |fate: Local| self.vectors.allow_move((step.from, to), b, fate);
        let known = |l: Local| self.views.number(l).is_some_and(|n| paired.contains(n));
        let round = |fate: Local| {
            if known(fate) && allowed(fate) {
                return Some(fate);
            }
            let among = paired.iter().map(|n| self.views.local(n));
            self.round_up(among.filter(|&m| allowed(m)), fate)
        };
        while let Some(fate) = todo.pop() {
            match (round(fate), self.parts.halves(fate)) {
                (None, Some(halves)) if todo.len() + found.len() < MOST => todo.extend(halves),
                (rounded, _) => found.push(rounded.unwrap_or(fate)),
            }
        }
        Ok(found)
    }

    /// Returns whether all views of some configuration that covers `bad` are in the set.
    pub(super) fn allows(&self, bad: &Config) -> bool {
        let wanted = flat(&bad.threads);
        if self.model.is_exact() {
            return self.built(bad.shared, &wanted).is_some();
        }
        let mut meeting = self.groups().filter(|(s, _)| self.model.meets_shared(*s, bad.shared));
        meeting.any(|(_, group)| self.builds(group, &wanted, &mut Vec::new()))
    }

    fn builds(&self, group: &Group, wanted: &[Local], chosen: &mut Vec<u32>) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return true };
        group.all().iter().any(|a| {
            if !self.model.meets_local(self.views.local(a), first)
                || !chosen.iter().all(|&c| group.pair(c, a))
            {
                return false;
            }
            chosen.push(a);
            let built = self.builds(group, rest, chosen);
            chosen.pop();
            built
        })
    }
}

/// Returns the threads one by one; two stand for more, because views do not count further.
fn flat(threads: &Bag) -> Vec<Local> {
    threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n.min(2) as usize)).collect()
}
