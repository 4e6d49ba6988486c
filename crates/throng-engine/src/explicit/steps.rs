//! The steps of a model, compiled on demand: dense ids, and differences instead of bags.
//!
//! [`Model::post`] is called once per thread state. The inner loop works on a list of [`Compiled`]
//! steps. To fire a usual one, in which bystanders stay, a few differences are spliced into the
//! packed configuration.
//!
//! Once all steps that it needs are compiled ([`Steps::ready`]), expanding a configuration needs no
//! mutable access, so several threads can expand at the same time.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::pack::{Packer, Unpacked, saturated};
use super::targets::Targets;
use crate::levels::SizeLimit;
use crate::listing::{self, Listing};
use throng_model::partial_order::Reduction;
use throng_model::verdict::Unknown;
use throng_model::{Bag, Bystanders, Config, Footprint, Local, Model, Shared, Step};

/// The compiled part of a model.
pub struct Steps {
    pub(crate) listing: Listing,
    targets: Targets,
    /// Decides when one thread may go first; `None` if never.
    reduction: Option<Reduction>,
    /// For each local id, the variables that threads there read and write; only with a reduction.
    footprints: Vec<Footprint>,
    /// The bad configurations over dense ids; only for exact models.
    dense_bads: Vec<Vec<(u32, u32)>>,
    /// For each local id, where a thread there goes when it is woken, and by which condition.
    woken: Vec<Option<(u32, u32)>>,
    /// For each shared id, the steps that take no thread; compiled when first needed.
    pub(crate) alone: Vec<Option<Vec<Compiled>>>,
    /// For each shared id, its bad configurations; looked up when first needed.
    bads: Vec<Option<Bads>>,
    /// (shared id, local id) in one number → bad configurations watched there. Separate from
    /// `number_of`, so that checking targets compiles nothing: ids then depend on the order of
    /// expansion alone.
    watched: FxHashMap<u64, Vec<u32>>,
    /// (shared id, local id) in one number → index in `thread_states`.
    number_of: FxHashMap<u64, u32>,
    pub(crate) thread_states: Vec<ThreadState>,
    /// (index in `moving`, local id) → fates.
    fates: FxHashMap<(u32, u32), Vec<Option<u32>>>,
    /// The steps that move bystanders, as listed by the model.
    moving: Vec<Step>,
}

/// The bad configurations of a shared state.
struct Bads {
    /// Bad configurations whose shared state may be this one.
    all: Vec<u32>,
    /// Those of them that require no thread.
    bare: Vec<u32>,
}

/// The compiled steps of a thread state.
pub(crate) struct ThreadState {
    pub(crate) shared: u32,
    pub(crate) local: u32,
    steps: Vec<Compiled>,
    /// True if one of the steps moves bystanders.
    moves: bool,
}

/// A step over dense ids.
pub struct Compiled {
    /// Shared state afterwards.
    pub to: u32,
    /// The threads it takes; sorted.
    pub(super) take: Vec<(u32, i64)>,
    /// True if it takes one thread, which then is its leader and known to be there.
    single: bool,
    /// The threads it puts, minus those it takes; sorted.
    change: Vec<(u32, i64)>,
    /// The same, plus the threads it creates.
    grown: Vec<(u32, i64)>,
    taken: u64,
    put: u64,
    spawned: u64,
    /// The effect on bystanders.
    pub others: Bystanders,
    /// The condition whose waiting threads it wakes, for [`Bystanders::WakeOne`].
    wakes: u32,
    /// Index in `Steps::moving`, for [`Bystanders::Transfer`].
    moving: u32,
    /// True if it may lead to a target.
    pub may_hit: bool,
}

/// Receives the successors.
pub trait Sink {
    /// Receives a packed successor, and whether it may hit a target.
    fn successor(&mut self, packed: &[u8], may_hit: bool);

    /// Announces one of possibly very many ways to fire the same step.
    fn one_of_many(&mut self) -> Result<(), Unknown>;

    /// Counts steps that were tried, whether enabled or not.
    fn looked_at(&mut self, steps: u32) -> Result<(), Unknown>;

    /// Notes a successor with this many threads that was left out because the level allows fewer.
    fn pruned(&mut self, size: u64);
}

/// Memory that is reused by expansions.
#[derive(Default)]
pub struct Scratch {
    /// The configuration being expanded.
    pub config: Unpacked,
    /// The result of [`Steps::ready`]: a thread state for each entry.
    thread_states: Vec<u32>,
    pub(super) packer: Packer,
    changes: Vec<(u32, i64)>,
    pub(super) entries: Vec<(u32, u32)>,
    footprints: Vec<(Footprint, u32)>,
}

impl Steps {
    /// Creates an empty cache.
    pub fn new(model: Arc<dyn Model>, targets: Targets, reduction: Option<Reduction>) -> Steps {
        let exact = model.is_exact();
        let mut steps = Steps {
            listing: Listing::new(model),
            targets,
            reduction,
            footprints: Vec::new(),
            dense_bads: Vec::new(),
            woken: Vec::new(),
            alone: Vec::new(),
            bads: Vec::new(),
            watched: FxHashMap::default(),
            number_of: FxHashMap::default(),
            thread_states: Vec::new(),
            fates: FxHashMap::default(),
            moving: Vec::new(),
        };
        if exact {
            let bads: Vec<Bag> = steps.targets.bads().iter().map(|b| b.config.threads.clone()).collect();
            steps.dense_bads = bads.iter().map(|bag| steps.dense(bag)).collect();
        }
        steps
    }

    /// Converts a configuration to dense ids.
    pub fn unpacked(&mut self, config: &Config) -> Unpacked {
        Unpacked { shared: self.shared_id(config.shared), entries: self.dense(&config.threads) }
    }

    /// Converts a configuration to the model's states.
    pub fn config(&self, config: &Unpacked) -> Config {
        self.listing.config(config.shared, &config.entries)
    }

    /// Returns the local state with this id, without values that will never be read again.
    pub fn forgotten(&self, l: u32) -> Local {
        let local = self.listing.locals.value(l);
        self.listing.model.sets().map_or(local, |sets| sets.forget(local))
    }

    /// Returns the thread states of all configurations prepared so far.
    pub fn thread_states(&self) -> impl Iterator<Item = (Shared, Local)> + '_ {
        self.thread_states
            .iter()
            .map(|p| (self.listing.shared.value(p.shared), self.listing.locals.value(p.local)))
    }

    /// Returns the number of prepared shared states.
    pub fn shared_states(&self) -> usize {
        self.alone.iter().flatten().count()
    }

    /// Returns the number of local states in configurations prepared so far.
    pub fn local_states(&self) -> usize {
        let mut locals: Vec<u32> = self.thread_states.iter().map(|p| p.local).collect();
        locals.sort_unstable();
        locals.dedup();
        locals.len()
    }

    /// Returns whether all steps for the expansion of `scratch.config` have been compiled.
    pub fn ready(&self, scratch: &mut Scratch) -> bool {
        let Scratch { config, thread_states, .. } = scratch;
        thread_states.clear();
        let Some(alone) = &self.alone[config.shared as usize] else { return false };
        let mut moves = alone.iter().any(|s| s.others == Bystanders::Transfer);
        for &(l, _) in &config.entries {
            let Some(&thread_state) = self.number_of.get(&key(config.shared, l)) else { return false };
            moves |= self.thread_states[thread_state as usize].moves;
            thread_states.push(thread_state);
        }
        !moves || self.moving_steps(scratch).all(|(i, l)| self.fates.contains_key(&(i, l)))
    }

    /// Compiles the steps for the expansion of `scratch.config`, and returns the cost in ticks: a
    /// statement may have thousands of cases.
    pub fn prepare(&mut self, scratch: &mut Scratch) -> u32 {
        if self.ready(scratch) {
            return 0;
        }
        let Scratch { config, thread_states, .. } = scratch;
        self.alone(config.shared);
        thread_states.clear();
        for &(l, _) in &config.entries {
            thread_states.push(self.thread_state(config.shared, l));
        }
        let missing: Vec<(u32, u32)> =
            self.moving_steps(scratch).filter(|key| !self.fates.contains_key(key)).collect();
        for (i, l) in missing {
            let fates = self.listing.fates(&self.moving[i as usize], l);
            let fates = fates.into_iter().map(|fate| fate.map(|l| self.local_id(l))).collect();
            self.fates.insert((i, l), fates);
        }
        self.listing.take_work()
    }

    /// Calls `hit` for each target that `config` hits and that is `open`.
    pub fn targets_hit(
        &mut self,
        config: &Unpacked,
        open: impl Fn(usize) -> bool,
        mut hit: impl FnMut(usize),
    ) {
        let mut decoded = None;
        self.look_up_bads(config.shared);
        for &(l, _) in &config.entries {
            self.look_up_watched(config.shared, l);
        }
        let bare = self.bads[config.shared as usize].iter().flat_map(|b| &b.bare);
        let watched = config.entries.iter().flat_map(|e| &self.watched[&key(config.shared, e.0)]);
        for &i in bare.chain(watched) {
            let bad = self.targets.bad(i);
            if !open(bad.target) {
                continue;
            }
            let covered = bad.single
                || match self.dense_bads.get(i as usize) {
                    Some(needs) => needs.iter().all(|&(l, n)| config.count(l) >= n),
                    None => decoded
                        .get_or_insert_with(|| self.config(config))
                        .may_cover(&bad.config, &*self.listing.model),
                };
            if covered {
                hit(bad.target);
            }
        }
    }

    /// Passes all successors of `scratch.config`, which is prepared, to `sink`, and returns the
    /// number of steps fired.
    pub fn expand(
        &self,
        scratch: &mut Scratch,
        size_limit: SizeLimit,
        sink: &mut impl Sink,
    ) -> Result<u64, Unknown> {
        let size = scratch.config.size();
        let mut fired = 0;
        let alone = self.alone[scratch.config.shared as usize].iter().flatten();
        let first = self.goes_first(scratch);
        let thread_states = std::mem::take(&mut scratch.thread_states);
        let led = match first {
            Some(i) => i..i + 1,
            None => 0..thread_states.len(),
        };
        let led = thread_states[led].iter().flat_map(|&p| &self.thread_states[p as usize].steps);
        let mut looked_at = 0;
        for step in alone.chain(led) {
            looked_at += 1;
            if step.single || step.take.iter().all(|&(l, n)| i64::from(scratch.config.count(l)) >= n) {
                fired += 1;
                self.fire(step, size, scratch, size_limit, sink)?;
            }
        }
        scratch.thread_states = thread_states;
        sink.looked_at(looked_at)?;
        Ok(fired)
    }

    /// Returns whether a step creates its threads, with `size` threads before it.
    fn creates(&self, step: &Compiled, size: u64, size_limit: SizeLimit) -> bool {
        let rest = size.saturating_sub(step.taken) + step.put;
        step.spawned > 0 && size_limit.bound.is_none_or(|n| rest + step.spawned <= u64::from(n))
    }

    /// Returns where a thread at `l` goes when a step wakes it; `None` if the step cannot wake it.
    pub fn woken(&self, step: &Compiled, l: u32) -> Option<u32> {
        self.woken[l as usize].filter(|w| w.1 == step.wakes).map(|w| w.0)
    }

    /// Returns the fates of a bystander at `l` of a step that moves bystanders.
    pub fn fates(&self, step: &Compiled, l: u32) -> &[Option<u32>] {
        &self.fates[&(step.moving, l)]
    }

    /// Returns an entry of `scratch.config` whose steps suffice for the exploration, if there is
    /// one.
    fn goes_first(&self, scratch: &mut Scratch) -> Option<usize> {
        let reduction = self.reduction.as_ref()?;
        let Scratch { config, thread_states, footprints, .. } = scratch;
        if self.alone[config.shared as usize].as_ref().is_none_or(|alone| !alone.is_empty()) {
            return None;
        }
        footprints.clear();
        footprints.extend(config.entries.iter().map(|&(l, n)| (self.footprints[l as usize], n)));
        (0..thread_states.len()).find(|&i| {
            !self.thread_states[thread_states[i] as usize].steps.is_empty()
                && reduction.goes_first(footprints, i)
        })
    }

    /// Fires one enabled step; this is [`throng_model::semantics::fire`] over dense ids.
    fn fire(
        &self,
        step: &Compiled,
        size: u64,
        scratch: &mut Scratch,
        size_limit: SizeLimit,
        sink: &mut impl Sink,
    ) -> Result<(), Unknown> {
        let rest = size - step.taken + step.put;
        let creates = self.creates(step, size, size_limit);
        let (after, change) = if creates { (rest + step.spawned, &step.grown) } else { (rest, &step.change) };
        if step.others == Bystanders::Transfer {
            return self.fire_moving(step, creates, scratch, size_limit, sink);
        }
        if !size_limit.admits(after, sink) {
            return Ok(());
        }
        let Scratch { config, packer, changes, .. } = scratch;
        let mut lost = true;
        if step.others == Bystanders::WakeOne {
            for &(l, n) in &config.entries {
                let Some(woken) = self.woken(step, l) else { continue };
                if i64::from(n) > taken(step, l) {
                    lost = false;
                    changes.clone_from(change);
                    add(changes, l, -1);
                    add(changes, woken, 1);
                    sink.successor(packer.splice(step.to, &config.entries, changes), step.may_hit);
                }
            }
        }
        if lost {
            sink.successor(packer.splice(step.to, &config.entries, change), step.may_hit);
        }
        Ok(())
    }

    /// Fires a step that moves bystanders, each to one of its fates.
    fn fire_moving(
        &self,
        step: &Compiled,
        creates: bool,
        scratch: &mut Scratch,
        size_limit: SizeLimit,
        sink: &mut impl Sink,
    ) -> Result<(), Unknown> {
        let Scratch { config, packer, changes, entries, .. } = scratch;
        let mut groups = Vec::new();
        for &(l, n) in &config.entries {
            let others = i64::from(n) - taken(step, l);
            if others > 0 {
                let fates = self.fates(step, l);
                if fates.is_empty() {
                    return Ok(());
                }
                groups.push((saturated(others), fates));
            }
        }
        // This is what arrives: the change, plus the threads that were taken.
        changes.clone_from(if creates { &step.grown } else { &step.change });
        for &(l, n) in &step.take {
            add(changes, l, n);
        }
        let arrived: Vec<(u32, u32)> =
            changes.iter().filter(|e| e.1 > 0).map(|&(l, n)| (l, saturated(n))).collect();
        let mut chosen = Vec::new();
        deal(&groups, 0, &mut chosen, &mut |chosen| {
            sink.one_of_many()?;
            entries.clone_from(&arrived);
            entries.extend(chosen.iter().filter_map(|&(fate, n)| Some((fate?, n))).filter(|e| e.1 > 0));
            merge(entries);
            let after = entries.iter().map(|e| u64::from(e.1)).sum();
            if size_limit.admits(after, sink) {
                sink.successor(packer.pack(step.to, entries), step.may_hit);
            }
            Ok(())
        })
    }

    /// Returns every (moving step, local id) whose fates matter to the expansion of
    /// `scratch.config`.
    fn moving_steps<'a>(&'a self, scratch: &'a Scratch) -> impl Iterator<Item = (u32, u32)> + 'a {
        let alone = self.alone[scratch.config.shared as usize].iter().flatten();
        let led = scratch.thread_states.iter().flat_map(|&p| &self.thread_states[p as usize].steps);
        let moving = alone.chain(led).filter(|s| s.others == Bystanders::Transfer);
        moving.flat_map(|s| scratch.config.entries.iter().map(|e| (s.moving, e.0)))
    }

    pub(crate) fn shared_id(&mut self, s: Shared) -> u32 {
        let (id, new) = self.listing.shared.intern(s);
        if new {
            self.alone.push(None);
            self.bads.push(None);
        }
        id
    }

    pub(crate) fn local_id(&mut self, l: Local) -> u32 {
        let (id, new) = self.listing.locals.intern(l);
        if new {
            self.woken.push(None);
            if self.reduction.is_some() {
                self.footprints.push(
                    self.listing.model.footprints().map_or_else(Footprint::default, |f| f.footprint(l)),
                );
            }
            if let Some(woken) = self.listing.model.woken(l) {
                let condition = self.listing.model.transfers().map_or(0, |t| t.waits_for(l));
                self.woken[id as usize] = Some((self.local_id(woken), condition));
            }
        }
        id
    }

    /// Returns an error if the model has not listed all steps so far: then nothing can be proved
    /// unreachable.
    pub fn complete(&self) -> Result<(), Unknown> {
        self.listing.complete()
    }

    fn dense(&mut self, bag: &Bag) -> Vec<(u32, u32)> {
        listing::entries(bag, |l| self.local_id(l))
    }

    /// Looks up the bad configurations of a shared state, unless that is done.
    fn look_up_bads(&mut self, s: u32) {
        if self.bads[s as usize].is_none() {
            let all = self.targets.at_shared(self.listing.shared.value(s));
            let bare = all.iter().copied().filter(|&i| self.targets.bad(i).watched.is_none()).collect();
            self.bads[s as usize] = Some(Bads { all, bare });
        }
    }

    /// Looks up the bad configurations watched at a thread state, unless that is done. Those of its
    /// shared state must have been looked up.
    fn look_up_watched(&mut self, s: u32, l: u32) {
        let all = self.bads[s as usize].as_ref().map_or(&[][..], |b| &b.all);
        let look_up =
            || self.targets.watched_at(self.listing.shared.value(s), self.listing.locals.value(l), all);
        self.watched.entry(key(s, l)).or_insert_with(look_up);
    }

    /// Compiles the steps that take no thread, unless that is done.
    pub(super) fn alone(&mut self, s: u32) {
        if self.alone[s as usize].is_some() {
            return;
        }
        let shared = self.listing.shared.value(s);
        let mut listed = self.listing.without_leader(s);
        listed.retain(|step| step.from == shared && step.take.is_empty());
        let steps = listed.into_iter().filter_map(|step| self.compile(step)).collect();
        self.alone[s as usize] = Some(steps);
    }

    /// Compiles the steps of a thread state, unless that is done.
    pub(super) fn thread_state(&mut self, s: u32, l: u32) -> u32 {
        if let Some(&thread_state) = self.number_of.get(&key(s, l)) {
            return thread_state;
        }
        let (shared, local) = (self.listing.shared.value(s), self.listing.locals.value(l));
        let mut listed = self.listing.led_by(s, l);
        listed.retain(|step| step.from == shared && step.take.count(local) > 0);
        let steps: Vec<Compiled> = listed.into_iter().filter_map(|step| self.compile(step)).collect();
        let moves = steps.iter().any(|s| s.others == Bystanders::Transfer);
        self.thread_states.push(ThreadState { shared: s, local: l, steps, moves });
        let thread_state = self.thread_states.len() as u32 - 1;
        self.number_of.insert(key(s, l), thread_state);
        thread_state
    }

    /// Compiles a step; `None` if it never changes anything.
    fn compile(&mut self, step: Step) -> Option<Compiled> {
        let signed = |entries: Vec<(u32, u32)>| -> Vec<(u32, i64)> {
            entries.into_iter().map(|(l, n)| (l, i64::from(n))).collect()
        };
        let mut dense = |bag: &Bag| signed(self.dense(bag));
        let (take, put, spawn) = (dense(&step.take), dense(&step.put), dense(&step.spawn));
        let mut change = put;
        for &(l, n) in &take {
            add(&mut change, l, -n);
        }
        let mut grown = change.clone();
        for &(l, n) in &spawn {
            add(&mut grown, l, n);
        }
        change.retain(|e| e.1 != 0);
        grown.retain(|e| e.1 != 0);
        if step.from == step.to && step.others == Bystanders::Stay && change.is_empty() && spawn.is_empty() {
            return None;
        }
        let to = self.shared_id(step.to);
        self.look_up_bads(to);
        let bads = self.bads[to as usize].as_ref().map_or(&[][..], |b| &b.all);
        let may_hit = self.targets.may_hit(&step, bads);
        let moving = self.moving.len() as u32;
        let compiled = Compiled {
            to,
            single: step.take.size() == 1,
            take,
            change,
            grown,
            taken: u64::from(step.take.size()),
            put: u64::from(step.put.size()),
            spawned: u64::from(step.spawn.size()),
            others: step.others,
            wakes: self.listing.model.transfers().map_or(0, |t| t.wakes(&step)),
            moving,
            may_hit,
        };
        if step.others == Bystanders::Transfer {
            self.moving.push(step);
        }
        Some(compiled)
    }
}

impl SizeLimit {
    /// Returns whether there may be `size` threads; notifies `sink` if only the level forbids them.
    pub(super) fn admits(self, size: u64, sink: &mut impl Sink) -> bool {
        if size <= u64::from(self.level) {
            return true;
        }
        if self.bound.is_none_or(|n| size <= u64::from(n)) {
            sink.pruned(size);
        }
        false
    }
}

fn key(s: u32, l: u32) -> u64 {
    u64::from(s) << 32 | u64::from(l)
}

/// Returns the number of threads at `l` that a step takes.
fn taken(step: &Compiled, l: u32) -> i64 {
    step.take.iter().find(|e| e.0 == l).map_or(0, |e| e.1)
}

/// Adds `n` to the difference at `l`.
fn add(changes: &mut Vec<(u32, i64)>, l: u32, n: i64) {
    match changes.binary_search_by_key(&l, |e| e.0) {
        Ok(i) => changes[i].1 += n,
        Err(i) => changes.insert(i, (l, n)),
    }
}

/// Sorts entries and sums up those of the same state.
fn merge(entries: &mut Vec<(u32, u32)>) {
    entries.sort_unstable();
    entries.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 = saturated(i64::from(earlier.1) + i64::from(later.1));
        }
        same
    });
}

/// The number of bystanders in one state, and their possible fates.
type Group<'a> = (u32, &'a [Option<u32>]);

/// Calls `found` with every distribution of the members of each group over their fates; `option` of
/// the first group and later ones are still to be chosen.
fn deal(
    groups: &[Group<'_>],
    option: usize,
    chosen: &mut Vec<(Option<u32>, u32)>,
    found: &mut impl FnMut(&[(Option<u32>, u32)]) -> Result<(), Unknown>,
) -> Result<(), Unknown> {
    let Some((&(count, fates), later)) = groups.split_first() else { return found(chosen) };
    let left = count - chosen[chosen.len() - option..].iter().map(|c| c.1).sum::<u32>();
    let is_last = option + 1 == fates.len();
    let least = if is_last { left } else { 0 };
    for n in least..=left {
        chosen.push((fates[option], n));
        if is_last {
            deal(later, 0, chosen, found)?
        } else {
            deal(groups, option + 1, chosen, found)?
        }
        chosen.pop();
    }
    Ok(())
}
