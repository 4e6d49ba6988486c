//! The model's steps over small ids, compiled when a search first asks for them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::vector::{Entry, add, remove};
use crate::engine::explicit::ids::Ids;
use crate::model::{Bag, Config, Local, Model, Shared, Step};

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
        let mut entries: Vec<Entry> =
            bag.entries().iter().map(|&(l, n)| (self.locals.intern(l).0, n)).collect();
        entries.sort_unstable();
        entries
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
