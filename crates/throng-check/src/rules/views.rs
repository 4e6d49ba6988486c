//! Whether a set of views is what it claims to be: see [`throng_model::verdict::Views`].
//!
//! For every step whose threads can be there together: those that arrive, and every bystander that was pairwise with all that were taken, must again be
//! pairwise in the set. "For every bystander" is inclusion of sets of numbers; states with the same partners are looked at once.
//! Vectors are asked about the same steps ([`super::linear`]): where states are sets, both are about what a step's result is taken for.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Flaw;
use super::cubes::Parts;
use super::linear::Vectors;
use throng_model::bits::Bits;
use throng_model::limits::Ticker;
use throng_model::problem::Problem;
use throng_model::verdict::{Block, Views};
use throng_model::{Bag, Bystanders, Config, Local, Model, Shared, Step};

/// The views of one shared state. Local states are given by number.
pub(super) struct Group {
    /// The local states that may occur.
    all: Bits,
    /// The local states that may occur together with each: an index into `rows`.
    row_of: FxHashMap<u32, usize>,
    rows: Vec<Bits>,
}

impl Group {
    fn row(&self, a: u32) -> Option<&Bits> {
        Some(&self.rows[*self.row_of.get(&a)?])
    }

    fn pair(&self, a: u32, b: u32) -> bool {
        self.row(a).is_some_and(|row| row.contains(b))
    }

    /// The local states that may occur together with each of these.
    fn with_all(&self, threads: &[u32]) -> Bits {
        threads.iter().filter_map(|&a| self.row(a)).fold(self.all.clone(), |left, row| left.and(row))
    }

    /// Whether all of these can be there, each with each.
    fn together(&self, threads: &[u32]) -> bool {
        let mut each = threads.iter().enumerate();
        each.all(|(i, &a)| self.all.contains(a) && threads[i + 1..].iter().all(|&b| self.pair(a, b)))
    }
}

/// A set of views that holds the initial ones and is closed under steps, none of which increases a vector.
pub(super) struct Closed<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) groups: BTreeMap<Shared, Group>,
    locals: Vec<Local>,
    numbers: FxHashMap<Local, u32>,
    parts: Parts<'a>,
    vectors: &'a Vectors,
}

impl<'a> Closed<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        views: &'a Views,
        vectors: &'a Vectors,
        ticker: &mut Ticker,
    ) -> Result<Closed<'a>, Flaw> {
        let model = &*problem.model;
        let locals: FxHashSet<Local> = views.blocks.iter().flat_map(Block::locals).collect();
        let mut locals: Vec<Local> = locals.into_iter().collect();
        locals.sort_unstable();
        let states = || {
            (
                views.blocks.iter().map(|b| b.shared).collect(),
                views.blocks.iter().flat_map(Block::locals).collect(),
            )
        };
        let mut set = Closed {
            model,
            groups: BTreeMap::new(),
            numbers: locals.iter().copied().zip(0..).collect(),
            locals,
            parts: Parts::new(model, states),
            vectors,
        };
        let mut blocks: FxHashMap<Shared, Vec<&Block>> = FxHashMap::default();
        views.blocks.iter().for_each(|b| blocks.entry(b.shared).or_default().push(b));
        let mut facing = vec![Vec::new(); set.locals.len()];
        for (s, blocks) in blocks {
            let group = set.group(&blocks, &mut facing, ticker)?;
            set.groups.insert(s, group);
        }
        for family in &problem.initial {
            let mut threads = family.threads.clone();
            family.any.iter().for_each(|&l| threads.insert(l, 2));
            set.hold(family.shared, &flat(&threads))?;
        }
        let mut steps = Vec::new();
        for (&s, group) in &set.groups {
            model.post_shared(s, &mut steps)?;
            set.singles(group).try_for_each(|l| model.post(s, l, &mut steps))?;
            steps.drain(..).try_for_each(|step| set.check_step(group, &step, ticker))?;
        }
        Ok(set)
    }

    /// The views of one shared state. `facing` has an empty list for each local state, before and after.
    fn group(
        &self,
        blocks: &[&Block],
        facing: &mut [Vec<usize>],
        ticker: &mut Ticker,
    ) -> Result<Group, Flaw> {
        let number = |ls: &[Local]| ls.iter().map(|l| self.numbers[l]).collect::<Vec<u32>>();
        let (mut sides, mut all): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
        // For each local state, the sides of blocks that it may be there with.
        for block in blocks {
            let (here, first) = (number(&block.left), sides.len());
            let there = block.right.as_ref().map_or_else(|| here.clone(), |right| number(right));
            let faced = here.iter().map(|&a| (a, first)).chain(there.iter().map(|&b| (b, first + 1)));
            for (a, side) in faced {
                if facing[a as usize].is_empty() {
                    all.push(a);
                }
                facing[a as usize].push(side);
            }
            sides.extend([there, here]);
        }
        let mut group = Group { all: Bits::new(all), row_of: FxHashMap::default(), rows: Vec::new() };
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        for a in group.all.iter() {
            let faced = &mut facing[a as usize];
            ticker.ticks(faced.len() as u32)?;
            let row = known.get(faced).copied().unwrap_or_else(|| {
                let partners = faced.iter().flat_map(|&side| sides[side].iter().copied());
                group.rows.push(Bits::new(partners.collect()));
                known.insert(faced.clone(), group.rows.len() - 1);
                group.rows.len() - 1
            });
            faced.clear();
            group.row_of.insert(a, row);
        }
        Ok(group)
    }

    /// The numbers of these; a state without a view cannot occur.
    fn numbers(&self, threads: &[Local]) -> Option<Vec<u32>> {
        threads.iter().map(|l| self.numbers.get(l).copied()).collect()
    }

    /// The local states that may occur with a shared state.
    pub(super) fn singles(&self, group: &Group) -> impl Iterator<Item = Local> {
        group.all.iter().map(|n| self.locals[n as usize])
    }

    /// Whether two local states may occur together with a shared state.
    pub(super) fn pair(&self, group: &Group, a: Local, b: Local) -> bool {
        match (self.numbers.get(&a), self.numbers.get(&b)) {
            (Some(&a), Some(&b)) => group.pair(a, b),
            _ => false,
        }
    }

    /// Shows `found` every step whose threads can be there together, with the views of the shared state it starts in.
    pub(super) fn each_possible_step(
        &self,
        found: &mut impl FnMut(&Group, &Step) -> Result<(), Flaw>,
    ) -> Result<(), Flaw> {
        let mut steps = Vec::new();
        for (&s, group) in &self.groups {
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

    /// The views with `s`, and the numbers of these threads, if they can be there together.
    fn built(&self, s: Shared, threads: &[Local]) -> Option<(&Group, Vec<u32>)> {
        let (group, numbers) = (self.groups.get(&s)?, self.numbers(threads)?);
        group.together(&numbers).then_some((group, numbers))
    }

    /// The same if they have to be.
    fn hold(&self, s: Shared, threads: &[Local]) -> Result<(&Group, Vec<u32>), Flaw> {
        self.built(s, threads).map_or_else(|| self.missing(s, threads), Ok)
    }

    /// A step is possible if the threads that it takes can be there together.
    fn check_step(&self, group: &Group, step: &Step, ticker: &mut Ticker) -> Result<(), Flaw> {
        let Some(taken) = self.numbers(&flat(&step.take)).filter(|taken| group.together(taken)) else {
            return Ok(());
        };
        ticker.ticks(8)?;
        let bystanders = group.with_all(&taken);
        let mut arrived = step.put.clone();
        arrived.add_all(&step.spawn);
        let mut flaw = None;
        let fits = self.parts.pass(&Config::new(step.to, arrived), &mut |part| {
            let found = self.arrive(group, step, &bystanders, part, ticker);
            // The first one is about all of it; but a limit says nothing about the rest.
            let matters = |why: &Flaw| flaw.is_none() || matches!(why, Flaw::Limit(_));
            if let Some(why) = found.as_ref().err().filter(|why| matters(why)) {
                flaw = Some(why.clone());
            }
            found.is_ok()
        });
        flaw.filter(|_| !fits).map_or(Ok(()), Err)
    }

    /// What one of these states is taken for: the least of those that hold all of it. The order of states decides between several.
    fn least(&self, among: impl Iterator<Item = Local>, l: Local) -> Option<Local> {
        let within = |a, b| self.model.within_local(a, b);
        among.filter(|&m| within(l, m)).reduce(|least, m| if within(m, least) { m } else { least })
    }

    /// What arrives, in states that the views know. Nothing that holds a state is less than the state itself, so most of the time there is nothing to look for.
    fn taken_for(&self, part: &Config) -> Option<(Shared, Bag)> {
        let within = |a, b| self.model.within_shared(a, b);
        let to = match self.groups.contains_key(&part.shared) {
            true => part.shared,
            false => {
                let holding = self.groups.keys().copied().filter(|&s| within(part.shared, s));
                holding.reduce(|least, s| if within(s, least) { s } else { least })?
            }
        };
        let group = &self.groups[&to];
        let round = |&(l, n): &(Local, u32)| match self.numbers.get(&l) {
            Some(&number) if group.all.contains(number) => Some((l, n)),
            _ => Some((self.least(self.singles(group), l)?, n)),
        };
        Some((to, part.threads.entries().iter().map(round).collect::<Option<Bag>>()?))
    }

    /// Whether all views are there after a step, and no vector has grown.
    fn arrive(
        &self,
        group: &Group,
        step: &Step,
        bystanders: &Bits,
        part: &Config,
        ticker: &mut Ticker,
    ) -> Result<(), Flaw> {
        let exact = self.model.is_exact();
        let whole = || (part.shared, part.threads.clone());
        let (to, arrived) = if exact { whole() } else { self.taken_for(part).unwrap_or_else(whole) };
        let (after, numbers) = self.hold(to, &flat(&arrived))?;
        let grows = || Flaw::Grows(self.model.edge_place(step.edge).text);
        if !self.vectors.allow_step(step, to, &arrived) {
            return Err(grows());
        }
        // Where states are sets, a bystander that stays may have to be rounded as well.
        let paired = after.with_all(&numbers);
        let stay = step.others == Bystanders::Stay && (exact || bystanders.beyond(&paired).is_none());
        // Of most steps few bystanders become something else.
        let (mut fates, mut movers): (FxHashMap<u32, Vec<u32>>, _) = (FxHashMap::default(), Bits::default());
        if !stay {
            for b in bystanders.iter() {
                ticker.tick()?;
                let before = self.locals[b as usize];
                let found = self.fates(step, before, &paired)?;
                if found.iter().any(|&fate| !self.vectors.allow_move(before, fate)) {
                    return Err(grows());
                }
                if found != [before] {
                    movers.insert(b);
                    fates.insert(b, self.numbers(&found).map_or_else(|| self.missing(to, &found), Ok)?);
                }
            }
        }
        let moved = |set: &Bits| -> Bits {
            let moving = set.and(&movers);
            if moving.is_empty() {
                return set.clone();
            }
            let mut after: Bits = moving.iter().flat_map(|b| fates[&b].iter().copied()).collect();
            after.absorb(&set.minus(&moving));
            after
        };
        let all_moved = moved(bystanders);
        if let Some(b) = all_moved.beyond(&after.all) {
            return self.missing(to, &[self.locals[b as usize]]);
        }
        let with = |p: u32, others: &Bits| match others.beyond(after.row(p).unwrap_or(&Bits::default())) {
            Some(b) => self.missing(to, &[self.locals[p as usize], self.locals[b as usize]]),
            None => Ok(()),
        };
        numbers.iter().try_for_each(|&p| with(p, &all_moved))?;
        if step.from == to && stay {
            return Ok(());
        }
        // States that may occur together before the step must be allowed together after it.
        let mut partners: FxHashMap<usize, Bits> = FxHashMap::default();
        let mut seen: FxHashSet<(usize, usize)> = FxHashSet::default();
        for b in bystanders.iter() {
            ticker.tick()?;
            let row = group.row_of[&b];
            let becomes = if movers.contains(b) { &fates[&b][..] } else { std::slice::from_ref(&b) };
            for &fate in becomes {
                if seen.insert((row, after.row_of[&fate])) {
                    let others = match partners.get(&row) {
                        Some(others) => others,
                        None => {
                            let moved = moved(&group.rows[row].and(bystanders));
                            ticker.ticks(moved.words())?;
                            partners.entry(row).or_insert(moved)
                        }
                    };
                    with(fate, others)?;
                }
            }
        }
        Ok(())
    }

    /// What becomes of a bystander, in states that may be there with those that arrive: in halves if none of them holds all of it.
    fn fates(&self, step: &Step, b: Local, paired: &Bits) -> Result<Vec<Local>, Flaw> {
        const MOST: usize = 1 << 12;
        let mut fates = Vec::new();
        match step.others {
            Bystanders::Stay => fates.push(Some(b)),
            Bystanders::Transfer => self.model.bystander(step, b, &mut fates)?,
            Bystanders::WakeOne => fates.extend([Some(b), self.model.woken_by(step, b)]),
        }
        let (mut todo, mut found): (Vec<Local>, Vec<Local>) =
            (fates.into_iter().flatten().collect(), Vec::new());
        let known = |l: Local| self.numbers.get(&l).is_some_and(|&n| paired.contains(n));
        let round = |fate: Local| {
            if known(fate) && self.vectors.allow_move(b, fate) {
                return Some(fate);
            }
            let among = paired.iter().map(|n| self.locals[n as usize]);
            self.least(among.filter(|&m| self.vectors.allow_move(b, m)), fate)
        };
        while let Some(fate) = todo.pop() {
            match (round(fate), self.parts.halves(fate)) {
                (None, Some(halves)) if todo.len() + found.len() < MOST => todo.extend(halves),
                (rounded, _) => found.push(rounded.unwrap_or(fate)),
            }
        }
        Ok(found)
    }

    /// Whether a configuration that covers `bad` could be built of these views.
    pub(super) fn allows(&self, bad: &Config) -> bool {
        let wanted = flat(&bad.threads);
        if self.model.is_exact() {
            return self.built(bad.shared, &wanted).is_some();
        }
        let mut meeting = self.groups.iter().filter(|(s, _)| self.model.meets_shared(**s, bad.shared));
        meeting.any(|(_, group)| self.builds(group, &wanted, &mut Vec::new()))
    }

    fn builds(&self, group: &Group, wanted: &[Local], chosen: &mut Vec<u32>) -> bool {
        let Some((&first, rest)) = wanted.split_first() else { return true };
        group.all.iter().any(|a| {
            if !self.model.meets_local(self.locals[a as usize], first)
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

/// The threads one by one; two stand for more, because views know no larger number.
fn flat(threads: &Bag) -> Vec<Local> {
    threads.entries().iter().flat_map(|&(l, n)| std::iter::repeat_n(l, n.min(2) as usize)).collect()
}
