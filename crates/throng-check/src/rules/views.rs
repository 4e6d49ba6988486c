//! Whether a set of views is what it claims to be: see [`throng_model::verdict::Views`].
//!
//! For every step whose threads can be there together: those that arrive, and every bystander that was pairwise with all that were taken, must again be
//! pairwise in the set. "For every bystander" is inclusion of sets of numbers; states with the same partners are looked at once.
//! Vectors are asked about the same steps ([`super::linear`]): where states are sets, both are about what a step's result is taken for.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Flaw;
use super::cubes::Parts;
use super::linear::Vectors;
use throng_model::bits::Bits;
use throng_model::limits::Ticker;
use throng_model::problem::Problem;
use throng_model::verdict::{Block, Unknown, Views};
use throng_model::{Bag, Bystanders, Config, Incomplete, Local, Model, Shared, Step};

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

    /// Whether all of these can be there, each with each.
    fn together(&self, threads: &[u32]) -> bool {
        let mut each = threads.iter().enumerate();
        each.all(|(i, &a)| self.all.contains(a) && threads[i + 1..].iter().all(|&b| self.pair(a, b)))
    }
}

/// What a step leads to.
struct Arrival<'a> {
    step: &'a Step,
    /// The views that it starts from.
    group: &'a Group,
    /// Those of them that it does not take and that can be there with those that it takes.
    bystanders: &'a Bits,
    /// Where it leads,
    to: Shared,
    /// and whom it brings there. Where states are sets, both may have been rounded up.
    arrived: &'a Bag,
}

/// A set of views that holds the initial ones and is closed under steps, none of which increases a vector.
pub(super) struct Closed<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) groups: FxHashMap<Shared, Group>,
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
        let mut locals: Vec<Local> = views.blocks.iter().flat_map(Block::locals).collect();
        locals.sort_unstable();
        locals.dedup();
        let states = || {
            (
                views.blocks.iter().map(|b| b.shared).collect(),
                views.blocks.iter().flat_map(Block::locals).collect(),
            )
        };
        let mut set = Closed {
            model,
            groups: FxHashMap::default(),
            numbers: locals.iter().copied().zip(0..).collect(),
            locals,
            parts: Parts::new(model, states),
            vectors,
        };
        let mut blocks: FxHashMap<Shared, Vec<&Block>> = FxHashMap::default();
        views.blocks.iter().for_each(|b| blocks.entry(b.shared).or_default().push(b));
        for (s, blocks) in blocks {
            let group = set.group(&blocks, ticker)?;
            set.groups.insert(s, group);
        }
        for family in &problem.initial {
            let mut threads = family.threads.clone();
            family.any.iter().for_each(|&l| threads.insert(l, 2));
            set.hold(family.shared, &flat(&threads))?;
        }
        set.each_possible_step(&mut |group, step| set.check_step(group, step, ticker))?;
        Ok(set)
    }

    fn group(&self, blocks: &[&Block], ticker: &mut Ticker) -> Result<Group, Flaw> {
        let number = |ls: &[Local]| ls.iter().map(|l| self.numbers[l]).collect::<Vec<u32>>();
        let mut sides: Vec<Vec<u32>> = Vec::new();
        // For each local state, the sides of blocks that it may be there with.
        let mut facing: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for block in blocks {
            let (here, first) = (number(&block.left), sides.len());
            let there = block.right.as_ref().map_or_else(|| here.clone(), |right| number(right));
            here.iter().for_each(|&a| facing.entry(a).or_default().push(first));
            there.iter().for_each(|&b| facing.entry(b).or_default().push(first + 1));
            sides.extend([there, here]);
        }
        let mut group = Group {
            all: Bits::new(facing.keys().copied().collect()),
            row_of: FxHashMap::default(),
            rows: Vec::new(),
        };
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        for (a, faced) in facing {
            ticker.ticks(faced.len() as u32)?;
            let row = *known.entry(faced).or_insert_with_key(|faced| {
                let partners = faced.iter().flat_map(|&side| sides[side].iter().copied());
                group.rows.push(Bits::new(partners.collect()));
                group.rows.len() - 1
            });
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

    fn check_step(&self, group: &Group, step: &Step, ticker: &mut Ticker) -> Result<(), Flaw> {
        ticker.ticks(8)?;
        let taken = step.take.entries().iter().filter_map(|e| group.row(*self.numbers.get(&e.0)?));
        let bystanders = taken.fold(group.all.clone(), |left, row| left.and(row));
        let mut arrived = step.put.clone();
        arrived.add_all(&step.spawn);
        let exactly = Arrival { step, group, bystanders: &bystanders, to: step.to, arrived: &arrived };
        let first = match self.arrive(&exactly, ticker) {
            Err(flaw) if !self.model.is_exact() => flaw,
            done => return done,
        };
        // Where states are sets, what arrives may be rounded up to states that the views know: more can then happen, not less.
        // Only once for all bystanders and vectors: views and values of one configuration are about the same states.
        let mut stopped = None;
        let fits = self.parts.pass(&Config::new(step.to, arrived.clone()), &mut |part| {
            self.roundings(part).iter().any(|(to, arrived)| {
                let rounded = Arrival { to: *to, arrived, ..exactly };
                let there = match self.arrive(&rounded, ticker) {
                    Err(Flaw::Limit(why)) => Err(why),
                    Err(_) => self.settle(&rounded, ticker),
                    Ok(()) => Ok(true),
                };
                there.unwrap_or_else(|why| {
                    stopped = Some(why);
                    false
                })
            })
        });
        match stopped {
            _ if fits => Ok(()),
            Some(why) => Err(Flaw::Limit(why)),
            None => Err(first),
        }
    }

    /// The same as [`Closed::arrive`] where bystanders may be taken for any known states that hold at least as much: an interpreter that reads a bystander's variable
    /// has two states where the views have one pair of larger ones. A bystander and its fate are always rounded to the same state, whatever other threads are there, so
    /// that views of one configuration are about the same states.
    fn settle(&self, arrival: &Arrival, ticker: &mut Ticker) -> Result<bool, Unknown> {
        let &Arrival { step, group, bystanders, to, arrived } = arrival;
        const MOST: usize = 1 << 14;
        let Some((after, numbers)) = self.built(to, &flat(arrived)) else { return Ok(false) };
        if !self.vectors.allow_step(step, to, arrived) {
            return Ok(false);
        }
        // For each bystander and fate, the states to which it may be rounded.
        let mut options: Vec<Vec<u32>> = Vec::new();
        let mut fates: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for b in bystanders.iter() {
            let mut todo: Vec<Local> = self.raw_fates(step, self.locals[b as usize])?;
            while let Some(fate) = todo.pop() {
                ticker.ticks(16)?;
                let wider = |&n: &u32| self.holds(self.locals[b as usize], fate, self.locals[n as usize]);
                let with = |&n: &u32| numbers.iter().all(|&p| after.pair(p, n));
                let found: Vec<u32> = after.all.iter().filter(wider).filter(with).collect();
                // No known state holds all of it: perhaps one holds each half.
                if let (true, Some(halves)) = (found.is_empty(), self.parts.halves(fate)) {
                    todo.extend(halves);
                    continue;
                }
                if found.is_empty() || options.len() > MOST {
                    return Ok(false);
                }
                fates.entry(b).or_default().push(options.len());
                options.push(found);
            }
        }
        let mut together: FxHashSet<(usize, usize)> = FxHashSet::default();
        for (&b, mine) in &fates {
            for theirs in group.row(b).into_iter().flat_map(|row| row.iter()).filter_map(|c| fates.get(&c)) {
                let pairs = mine.len() * theirs.len();
                ticker.ticks(pairs as u32)?;
                if together.len() + pairs > MOST {
                    return Ok(false);
                }
                together.extend(mine.iter().flat_map(|&i| theirs.iter().map(move |&j| (i, j))));
            }
        }
        let mut agree = |options: &mut [Vec<u32>]| -> Result<bool, Unknown> {
            loop {
                let before: usize = options.iter().map(Vec::len).sum();
                for &(i, j) in &together {
                    ticker.ticks(options[j].len() as u32)?;
                    let theirs = options[j].clone();
                    let fits = |&a: &u32| match i == j {
                        true => after.pair(a, a),
                        false => theirs.iter().any(|&b| after.pair(a, b)),
                    };
                    options[i].retain(fits);
                }
                if options.iter().map(Vec::len).sum::<usize>() == before {
                    return Ok(options.iter().all(|o| !o.is_empty()));
                }
            }
        };
        if !agree(&mut options)? {
            return Ok(false);
        }
        for i in 0..options.len() {
            let mut settled = None;
            for &choice in &options[i].clone() {
                let mut tried = options.clone();
                tried[i] = vec![choice];
                if agree(&mut tried)? {
                    settled = Some(tried);
                    break;
                }
            }
            let Some(tried) = settled else { return Ok(false) };
            options = tried;
        }
        // One choice is left for each, and all of them agree.
        Ok(true)
    }

    /// Ways to replace states by known ones that hold at least as much.
    fn roundings(&self, config: &Config) -> Vec<(Shared, Bag)> {
        const MOST: usize = 64;
        let mut found = Vec::new();
        for (&s, group) in &self.groups {
            if !self.model.within_shared(config.shared, s) {
                continue;
            }
            let mut rows: Vec<Vec<Local>> = vec![Vec::new()];
            let threads = config.threads.entries().iter();
            for l in threads.flat_map(|&(l, n)| std::iter::repeat_n(l, n as usize)) {
                let mut wider: Vec<Local> =
                    self.singles(group).filter(|&m| self.model.within_local(l, m)).collect();
                wider.sort_unstable_by_key(|&m| (m != l, m));
                rows = rows
                    .iter()
                    .flat_map(|r| wider.iter().map(|&m| [&r[..], &[m]].concat()))
                    .take(MOST)
                    .collect();
            }
            found.extend(rows.into_iter().map(|row| (s, row.into_iter().collect())));
        }
        found
    }

    /// Whether all views are there after a step, and no vector has grown.
    fn arrive(&self, arrival: &Arrival, ticker: &mut Ticker) -> Result<(), Flaw> {
        let &Arrival { step, group, bystanders, to, arrived } = arrival;
        let (after, numbers) = self.hold(to, &flat(arrived))?;
        let grows = || Flaw::Grows(self.model.edge_place(step.edge).text);
        if !self.vectors.allow_step(step, to, arrived) {
            return Err(grows());
        }
        // Where states are sets, a bystander that stays may have to be rounded as well.
        let stay = step.others == Bystanders::Stay
            && (self.model.is_exact() || bystanders.beyond(&after.all).is_none());
        let mut fates: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        if !stay {
            for b in bystanders.iter() {
                ticker.tick()?;
                let before = self.locals[b as usize];
                let found = self.fates(step, to, before)?;
                if found.iter().any(|&fate| !self.vectors.allow_move(before, fate)) {
                    return Err(grows());
                }
                fates.insert(b, self.numbers(&found).map_or_else(|| self.missing(to, &found), Ok)?);
            }
        }
        let moved = |set: &Bits| -> Bits {
            match stay {
                true => set.clone(),
                false => set.iter().flat_map(|b| fates[&b].iter().copied()).collect(),
            }
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
            let (row, one) = (group.row_of[&b], Bits::new(vec![b]));
            for fate in moved(&one).iter() {
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

    /// What becomes of a bystander that is still there afterwards.
    fn raw_fates(&self, step: &Step, l: Local) -> Result<Vec<Local>, Incomplete> {
        let mut fates = Vec::new();
        match step.others {
            Bystanders::Stay => fates.push(Some(l)),
            Bystanders::Transfer => self.model.bystander(step, l, &mut fates)?,
            Bystanders::WakeOne => fates.extend([Some(l), self.model.woken_by(step, l)]),
        }
        Ok(fates.into_iter().flatten().collect())
    }

    /// Whether a bystander `b` that became `fate` may be taken for `wider`.
    fn holds(&self, b: Local, fate: Local, wider: Local) -> bool {
        self.model.within_local(fate, wider) && self.vectors.allow_move(b, wider)
    }

    /// What becomes of a bystander; what is not known is taken for a known state that holds at least as much, and no more than need be.
    fn fates(&self, step: &Step, to: Shared, b: Local) -> Result<Vec<Local>, Incomplete> {
        let known = |l: Local| self.built(to, &[l]).is_some();
        let round = |l: Local| match self.groups.get(&to) {
            Some(group) if !self.model.is_exact() && !known(l) => {
                let within = |a: Local, b: Local| self.model.within_local(a, b);
                let wider: Vec<Local> = self.singles(group).filter(|&m| self.holds(b, l, m)).collect();
                let least = |&m: &Local| wider.iter().all(|&n| !within(n, m) || within(m, n));
                wider.iter().copied().filter(least).min().unwrap_or(l)
            }
            _ => l,
        };
        Ok(self.raw_fates(step, b)?.into_iter().map(round).collect())
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
