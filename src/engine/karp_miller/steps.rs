//! The model's steps over small ids, compiled when a search first asks for them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::vector::{Entry, Signature, add, covers, included, remove};
use crate::engine::explicit::ids::Ids;
use crate::model::{Bag, Config, Local, Model, OMEGA, Shared, Step};

/// A step between vectors: `take` must be there and goes, `give` comes.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Shared state before.
    pub from: u32,
    /// Shared state afterwards.
    pub to: u32,
    /// The threads that take part.
    pub take: SmallVec<[Entry; 1]>,
    /// What they become, and who is created.
    pub give: SmallVec<[Entry; 2]>,
}

impl Compiled {
    /// Writes to `out` what `counts` becomes; `false` if the step is not enabled.
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

/// Steps that one thread state leads: first those that keep the shared state, then the others.
#[derive(Clone, Copy, Debug)]
pub struct Led {
    /// The first step.
    pub start: u32,
    /// The first that changes the shared state.
    pub middle: u32,
    /// After the last.
    pub end: u32,
}

/// Words, their ids, and steps.
pub struct Steps<'m> {
    model: &'m dyn Model,
    shared: Ids<Shared>,
    locals: Ids<Local>,
    /// For each local state, its class ([`Model::local_class`]) as a small number; only if words may stand for sets.
    class_of: Vec<u32>,
    classes: Ids<u64>,
    led: FxHashMap<(u32, u32), Led>,
    alone: FxHashMap<u32, Led>,
    compiled: Vec<Compiled>,
    originals: Vec<Step>,
}

impl<'m> Steps<'m> {
    /// Nothing compiled yet.
    pub fn new(model: &'m dyn Model) -> Steps<'m> {
        Steps {
            model,
            shared: Ids::default(),
            locals: Ids::default(),
            class_of: Vec::new(),
            classes: Ids::default(),
            led: FxHashMap::default(),
            alone: FxHashMap::default(),
            compiled: Vec::new(),
            originals: Vec::new(),
        }
    }

    /// The steps that a thread at `l` leads in `s`.
    pub fn led_by(&mut self, s: u32, l: u32) -> Led {
        if let Some(&led) = self.led.get(&(s, l)) {
            return led;
        }
        let mut steps = Vec::new();
        self.model.post(self.shared.word(s), self.locals.word(l), &mut steps);
        let led = self.compile(steps);
        self.led.insert((s, l), led);
        led
    }

    /// The steps in `s` that take nobody.
    pub fn led_by_nobody(&mut self, s: u32) -> Led {
        if let Some(&led) = self.alone.get(&s) {
            return led;
        }
        let mut steps = Vec::new();
        self.model.post_shared(self.shared.word(s), &mut steps);
        let led = self.compile(steps);
        self.alone.insert(s, led);
        led
    }

    /// A compiled step.
    pub fn step(&self, id: u32) -> &Compiled {
        &self.compiled[id as usize]
    }

    /// The step of the model that it was compiled from.
    pub fn original(&self, id: u32) -> &Step {
        &self.originals[id as usize]
    }

    /// The id of a shared state.
    pub fn shared_id(&mut self, s: Shared) -> u32 {
        self.shared.intern(s).0
    }

    /// The word of a shared state.
    pub fn shared_word(&self, s: u32) -> Shared {
        self.shared.word(s)
    }

    /// The word of a local state.
    pub fn local_word(&self, l: u32) -> Local {
        self.locals.word(l)
    }

    /// The vector of a bag.
    pub fn vector(&mut self, bag: &Bag) -> Vec<Entry> {
        let mut entries: Vec<Entry> = bag.entries().iter().map(|&(l, n)| (self.local_id(l), n)).collect();
        entries.sort_unstable();
        entries
    }

    fn local_id(&mut self, l: Local) -> u32 {
        let (id, new) = self.locals.intern(l);
        if new && !self.model.is_exact() {
            self.class_of.push(self.classes.intern(self.model.local_class(l)).0);
        }
        id
    }

    /// Whether words may stand for sets of states, so that one may be part of another.
    pub fn has_sets(&self) -> bool {
        !self.class_of.is_empty()
    }

    /// What a local state has in common with all that are parts of it or that it is a part of.
    pub fn class(&self, l: u32) -> u32 {
        self.class_of.get(l as usize).copied().unwrap_or(l)
    }

    /// Whether every state of `part` is one of `whole`.
    pub fn is_within(&self, part: u32, whole: u32) -> bool {
        part == whole
            || self.has_sets()
                && self.class(part) == self.class(whole)
                && self.model.within_local(self.locals.word(part), self.locals.word(whole))
    }

    /// Whether a vector stands for at least the threads of another: each of `small` is a part of one of its own in `large`.
    pub fn covers(&self, large: &[Entry], small: &[Entry]) -> bool {
        covers(large, small)
            || self.has_sets() && included(small, large, &|part, whole| self.is_within(part, whole))
    }

    /// Removes the entries among `suspects` (all if none are given) that are parts of another one with ω: they add nothing to what the vector stands for.
    pub fn absorb(&self, counts: &mut Vec<Entry>, suspects: Option<&[Entry]>) {
        if !self.has_sets() {
            return;
        }
        let is_suspect = |l: u32| suspects.is_none_or(|list| list.iter().any(|e| e.0 == l));
        let mut i = 0;
        while i < counts.len() {
            let l = counts[i].0;
            let absorbs = |&(m, n): &Entry| n == OMEGA && m != l && self.is_within(l, m);
            if is_suspect(l) && counts.iter().any(absorbs) {
                counts.remove(i);
            } else {
                i += 1;
            }
        }
    }

    /// The signature by which vectors are compared with [`Steps::covers`].
    pub fn signature(&self, counts: &[Entry]) -> Signature {
        Signature::of_all(counts.iter().map(|&(l, n)| (self.class(l), n)))
    }

    /// The configuration that a shared state and a vector stand for.
    pub fn config(&self, s: u32, counts: &[Entry]) -> Config {
        Config::new(self.shared.word(s), counts.iter().map(|&(l, n)| (self.locals.word(l), n)).collect())
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
