//! The model's steps over small ids, compiled on demand.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::vector::{Entry, Signature, add, count, covers, included, remove};
use crate::listing::{self, Ids, Listing};
use throng_model::verdict::Unknown;
use throng_model::{Bag, Config, Local, Model, OMEGA, Shared, Step};

/// A step between vectors: it removes `take`, which must be present, and adds `give`.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Shared state before.
    pub from: u32,
    /// Shared state afterwards.
    pub to: u32,
    /// The threads that take part.
    pub take: SmallVec<[Entry; 1]>,
    /// What they become, and the threads that are created.
    pub give: SmallVec<[Entry; 2]>,
}

impl Compiled {
    /// Writes the successor of `counts` to `out`; returns `false` if the step is not enabled.
    pub fn fire(&self, counts: &[Entry], out: &mut Vec<Entry>) -> bool {
        out.clear();
        out.extend_from_slice(counts);
        let enabled = self.take.iter().all(|&(l, n)| remove(out, l, n));
        if enabled {
            self.give.iter().for_each(|&(l, n)| add(out, l, n));
        }
        enabled
    }
}

/// The steps that one thread state leads: first those that keep the shared state, then the others.
#[derive(Clone, Copy, Debug)]
pub struct Led {
    /// The first step.
    pub start: u32,
    /// The first that changes the shared state.
    pub middle: u32,
    /// After the last.
    pub end: u32,
}

/// States, their ids, and steps.
pub struct Steps {
    pub(super) listing: Listing,
    /// The inclusions between local states; only if states may stand for sets.
    pub(super) order: Option<Inclusion>,
    pub(super) led: FxHashMap<(u32, u32), Led>,
    pub(super) alone: FxHashMap<u32, Led>,
    pub(super) compiled: Vec<Compiled>,
    originals: Vec<Step>,
}

impl Steps {
    /// Creates an empty cache.
    pub fn new(model: Arc<dyn Model>) -> Steps {
        Steps {
            order: (!model.is_exact()).then(Inclusion::default),
            listing: Listing::new(model),
            led: FxHashMap::default(),
            alone: FxHashMap::default(),
            compiled: Vec::new(),
            originals: Vec::new(),
        }
    }

    /// Returns the steps that a thread at `l` leads in `s`.
    pub fn led_by(&mut self, s: u32, l: u32) -> Led {
        if let Some(&led) = self.led.get(&(s, l)) {
            return led;
        }
        let steps = self.listing.led_by(s, l);
        let led = self.compile(steps);
        self.led.insert((s, l), led);
        led
    }

    /// Returns the steps in `s` that take no thread.
    pub fn without_leader(&mut self, s: u32) -> Led {
        if let Some(&led) = self.alone.get(&s) {
            return led;
        }
        let steps = self.listing.without_leader(s);
        let led = self.compile(steps);
        self.alone.insert(s, led);
        led
    }

    /// Returns an error if the model has not listed all steps so far.
    pub fn complete(&self) -> Result<(), Unknown> {
        self.listing.complete()
    }

    /// Returns the cost in ticks of calling the model since the last call of this method.
    pub fn take_work(&mut self) -> u32 {
        self.listing.take_work()
    }

    /// Returns a compiled step.
    pub fn step(&self, id: u32) -> &Compiled {
        &self.compiled[id as usize]
    }

    /// Returns the step of the model that it was compiled from.
    pub fn original(&self, id: u32) -> &Step {
        &self.originals[id as usize]
    }

    /// Returns the id of a shared state.
    pub fn shared_id(&mut self, s: Shared) -> u32 {
        self.listing.shared.intern(s).0
    }

    /// Returns the shared state of an id.
    pub fn shared_state(&self, s: u32) -> Shared {
        self.listing.shared.value(s)
    }

    /// Returns the local state of an id.
    pub fn local_state(&self, l: u32) -> Local {
        self.listing.locals.value(l)
    }

    /// Converts a bag to a vector.
    pub fn vector(&mut self, bag: &Bag) -> Vec<Entry> {
        listing::entries(bag, |l| self.local_id(l))
    }

    pub(super) fn local_id(&mut self, l: Local) -> u32 {
        let (id, new) = self.listing.locals.intern(l);
        if let Some(order) = self.order.as_mut().filter(|_| new) {
            let work = order.add(&*self.listing.model, &self.listing.locals, id);
            self.listing.add_work(work / 16);
        }
        id
    }

    /// Returns whether states may stand for sets, so that one may be part of another.
    pub fn has_sets(&self) -> bool {
        self.order.is_some()
    }

    /// Returns a class that a local state shares with all its parts and with all states that it is
    /// a part of.
    pub fn class(&self, l: u32) -> u32 {
        self.order.as_ref().map_or(l, |order| order.class_of[l as usize])
    }

    /// Returns the local states that `l` is a part of, except itself.
    pub fn above(&self, l: u32) -> &[u32] {
        self.order.as_ref().map_or(&[], |order| &order.above[l as usize])
    }

    /// Returns the local states that are parts of `l`, except itself.
    pub fn below(&self, l: u32) -> &[u32] {
        self.order.as_ref().map_or(&[], |order| &order.below[l as usize])
    }

    /// Returns whether every state of `part` is one of `whole`.
    pub fn is_within(&self, part: u32, whole: u32) -> bool {
        part == whole || self.above(part).binary_search(&whole).is_ok()
    }

    /// Returns whether each thread of `small` is a part of a thread of its own in `large`.
    pub fn covers(&self, large: &[Entry], small: &[Entry]) -> bool {
        covers(large, small)
            || self.has_sets()
                && self.may_cover(large, small)
                && included(small, large, &|part, whole| self.is_within(part, whole))
    }

    /// Returns whether each local state of `small`, by itself, has enough threads in `large`:
    /// refutes most pairs.
    fn may_cover(&self, large: &[Entry], small: &[Entry]) -> bool {
        small.iter().all(|&(l, n)| {
            let above = self.above(l);
            let room = if above.len() < large.len() {
                above.iter().map(|&m| count(large, m)).fold(0, u32::saturating_add)
            } else {
                let wider = large.iter().filter(|e| above.binary_search(&e.0).is_ok());
                wider.map(|e| e.1).fold(0, u32::saturating_add)
            };
            room.saturating_add(count(large, l)) >= n
        })
    }

    /// Removes the entries among `suspects` (or all entries) that are parts of another one with ω:
    /// without them the vector stands for the same.
    pub fn absorb(&self, counts: &mut Vec<Entry>, suspects: Option<&[Entry]>) {
        if !self.has_sets() {
            return;
        }
        // Labels may have thousands of entries, but a state is part of few others.
        let is_absorbed = |counts: &[Entry], l: u32| self.above(l).iter().any(|&m| count(counts, m) == OMEGA);
        match suspects {
            Some(suspects) => {
                for &(l, _) in suspects {
                    if let Ok(i) = counts.binary_search_by_key(&l, |e| e.0)
                        && is_absorbed(counts, l)
                    {
                        counts.remove(i);
                    }
                }
            }
            None => {
                let mut i = 0;
                while i < counts.len() {
                    if is_absorbed(counts, counts[i].0) {
                        counts.remove(i);
                    } else {
                        i += 1;
                    }
                }
            }
        }
    }

    /// Returns the signature by which vectors are compared with [`Steps::covers`]; `plain` is
    /// [`Signature::of`] the same vector.
    pub fn signature(&self, plain: Signature, counts: &[Entry]) -> Signature {
        if !self.has_sets() {
            return plain;
        }
        Signature::of_all(counts.iter().map(|&(l, n)| (self.class(l), n)))
    }

    /// Returns the configuration that a shared state and a vector stand for.
    pub fn local(&self, l: u32) -> Local {
        self.listing.locals.value(l)
    }

    /// Returns the configuration of a shared state and a vector.
    pub fn config(&self, s: u32, counts: &[Entry]) -> Config {
        self.listing.config(s, counts)
    }

    /// Compiles `steps`, without those that change nothing.
    fn compile(&mut self, steps: Vec<Step>) -> Led {
        let start = self.compiled.len() as u32;
        let (stay, leave): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(|s| s.from == s.to);
        for step in stay {
            let mut give = step.put.clone();
            give.add_all(&step.spawn);
            if give != step.take {
                self.push(step, &give);
            }
        }
        let middle = self.compiled.len() as u32;
        for step in leave {
            let mut give = step.put.clone();
            give.add_all(&step.spawn);
            self.push(step, &give);
        }
        Led { start, middle, end: self.compiled.len() as u32 }
    }

    fn push(&mut self, step: Step, give: &Bag) {
        let compiled = Compiled {
            from: self.shared_id(step.from),
            to: self.shared_id(step.to),
            take: self.vector(&step.take).into(),
            give: self.vector(give).into(),
        };
        self.compiled.push(compiled);
        self.originals.push(step);
    }
}

/// The inclusions between local states.
#[derive(Debug, Default)]
pub(super) struct Inclusion {
    /// For each local state, its class ([`throng_model::SetStates::local_class`]) as a small
    /// number.
    class_of: Vec<u32>,
    classes: Ids<u64>,
    /// The local states of each class by shape ([`throng_model::SetStates::local_shape`]).
    shapes: Vec<FxHashMap<u64, Vec<u32>>>,
    /// For each local state, the states that it is a part of; sorted.
    above: Vec<Vec<u32>>,
    /// For each local state, its parts; sorted.
    below: Vec<Vec<u32>>,
}

impl Inclusion {
    /// Adds the next local state and returns the number of comparisons.
    fn add(&mut self, model: &dyn Model, locals: &Ids<Local>, new: u32) -> u32 {
        let state = locals.value(new);
        let class = self.class(model, state);
        let shape = model.local_shape(state);
        let (mut above, mut below, mut compared) = (Vec::new(), Vec::new(), 0);
        for (_, others) in self.shapes[class as usize].iter().filter(|(other, _)| **other != shape) {
            for &other in others {
                compared += 1;
                if model.within_local(state, locals.value(other)) {
                    above.push(other);
                    self.below[other as usize].push(new);
                } else if model.within_local(locals.value(other), state) {
                    below.push(other);
                    self.above[other as usize].push(new);
                }
            }
        }
        above.sort_unstable();
        below.sort_unstable();
        self.shapes[class as usize].entry(shape).or_default().push(new);
        self.class_of.push(class);
        self.above.push(above);
        self.below.push(below);
        compared
    }

    /// Adds the next local state with the states that it is a part of, as an earlier process
    /// computed them; after the last one, [`Inclusion::index_below`] must be called.
    pub(super) fn add_known(&mut self, model: &dyn Model, state: Local, above: Vec<u32>) {
        let (new, class) = (self.class_of.len() as u32, self.class(model, state));
        self.shapes[class as usize].entry(model.local_shape(state)).or_default().push(new);
        self.class_of.push(class);
        self.above.push(above);
        self.below.push(Vec::new());
    }

    /// Derives `below` from `above`.
    pub(super) fn index_below(&mut self) {
        for (l, above) in self.above.iter().enumerate() {
            above.iter().for_each(|&a| self.below[a as usize].push(l as u32));
        }
    }

    fn class(&mut self, model: &dyn Model, state: Local) -> u32 {
        let (class, is_new) = self.classes.intern(model.local_class(state));
        if is_new {
            self.shapes.push(FxHashMap::default());
        }
        class
    }
}
