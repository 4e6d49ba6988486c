//! The goto program under sequential consistency, with the monitor of robustness beside it.
//!
//! Its violations are two: an execution of C11 that is not one of sequential consistency
//! ([`Robust::NOT_ROBUST`]), and a data race ([`Robust::RACE`]). A program that has neither, and is
//! safe under sequential consistency, is safe under the memory model of C11, for as many threads
//! as this was shown for: take an execution graph of C11 with fewest events that is not sequentially
//! consistent, or has a race. Without an event that is last in its thread and that no read reads
//! from, it is a run of sequential consistency, in which that thread is aware of the last write
//! of the location that it is about to access, and an older one is stale for it. That is what the
//! monitor looks for, whichever write is the older one.

pub mod lag;
mod poison;
pub mod watch;

use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;
use throng_memory::Order;
use throng_memory::axioms::Sequences;
use throng_memory::rules::{Kind, Mine};
use throng_model::problem::{Initial, Problem, Target};
use throng_model::waiting::Waits;
use throng_model::{
    Accessed, Bag, Bystanders, Config, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared,
    Step, Traits, Transfers,
};

use crate::model::{Concrete, Table, number, thing};
use crate::program::{Access, Point, Program, Start, object_of, offset_of};
use crate::step::{After, Effect, Memory, Outcome, Slot, Thread, step_with_effects};
use lag::{Lag, Values};
use poison::{FLAGS, LeftOut, Use};
use watch::{Bits, IGNORANT, Rules, Watch, Watched, has};

/// The bits of a thread are the low ones of its local state.
const BITS: u32 = 16;
/// The number of the monitor's state is in the upper half of a shared state.
const HALF: u32 = 32;

/// A read of an older value: the state of the thread, the place of the read, and the bytes read.
type ReadAt = (u64, i64, Vec<u16>);

/// The program and the monitor as a model.
pub struct Robust {
    concrete: Arc<Concrete>,
    rules: Rules,
    /// The states of the monitor; number 0 is that nothing is watched yet.
    watches: RwLock<Table<Watch>>,
    missing: Mutex<Option<String>>,
    mixed: Mixed,
    /// The values of locations, if reads that change nothing are to be found.
    values: Option<Values>,
    /// Whether reads may be left out whose values nothing uses.
    leaves_out: bool,
    /// Whether a read of a stale write changes nothing: by thread, address and value.
    harmless: Mutex<FxHashMap<ReadAt, bool>>,
    sequences: Sequences,
}

/// What may be accessed by both plain and atomic operations.
struct Mixed {
    /// Objects that are accessed by their name, by number: whether plainly, whether atomically.
    named: FxHashMap<i64, (bool, bool)>,
    /// Whether there are accesses through pointers: plain ones, atomic ones.
    through: (bool, bool),
}

impl Mixed {
    fn new(program: &Program) -> Mixed {
        use crate::program::Instr;
        let mut mixed = Mixed { named: FxHashMap::default(), through: (false, false) };
        for t in &program.templates {
            for (i, access) in t.code.iter().zip(&t.access) {
                let (Instr::Load(_, a, _) | Instr::Store(a, ..)) = i else { continue };
                let (plain, atomic) = (*access == Access::Plain, access.is_atomic());
                let seen = match a.constant() {
                    Some(a) => mixed.named.entry(object_of(a)).or_default(),
                    None => &mut mixed.through,
                };
                *seen = (seen.0 | plain, seen.1 | atomic);
            }
        }
        mixed
    }

    /// Returns whether an access of the other kind may be to this object.
    fn is(&self, program: &Program, address: i64, atomic: bool) -> bool {
        let number = object_of(address);
        let named = self.named.get(&number).copied().unwrap_or_default();
        let object = usize::try_from(number - 1).ok().and_then(|o| program.objects.get(o));
        let pointed = object.is_none_or(|o| o.leaves || !o.global || o.init.len() > 8);
        let through = if pointed { self.through } else { (false, false) };
        if atomic { named.0 | through.0 } else { named.1 | through.1 }
    }
}

/// One way of a step through the monitor.
#[derive(Clone)]
struct Run {
    watch: Option<Watch>,
    bits: Bits,
    children: Vec<Bits>,
    /// Whether other threads are no longer aware of the last write.
    written: bool,
    /// The thread, if its later writes continue its release sequences.
    by: Option<u32>,
}

/// What a thread is found to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    NotRobust,
    Race,
}

impl Robust {
    /// The shared state after a thread could have left sequential consistency.
    pub const NOT_ROBUST: Shared = Shared(0);
    /// The shared state after a data race.
    pub const RACE: Shared = Shared(1);
    /// The shared state after the process has ended, or a property was violated.
    const ENDED: Shared = Shared(2);
    const FIRST: u64 = 3;

    /// The monitor beside a model.
    pub fn new(concrete: Arc<Concrete>) -> Robust {
        let rules = Rules::new(concrete.program());
        let mixed = Mixed::new(concrete.program());
        Robust {
            concrete,
            rules,
            watches: RwLock::new(Table::new()),
            missing: Mutex::new(None),
            mixed,
            values: None,
            leaves_out: false,
            harmless: Mutex::default(),
            sequences: Sequences::Updates,
        }
    }

    /// The same, in which reads that change nothing do not count: those after which a thread comes
    /// back to where it was (`robust/lag.rs`), and those whose values nothing uses (`robust/poison.rs`).
    #[must_use]
    pub fn but_for_harmless_reads(self, values: Values) -> Robust {
        let leaves_out = poison::applies(self.program());
        Robust { values: Some(values), leaves_out, ..self }
    }

    /// The same with release sequences of one kind. Those with writes of the same thread need a
    /// program whose threads have numbers; they end where another thread writes without reading.
    #[must_use]
    pub fn with(self, sequences: Sequences) -> Robust {
        Robust { sequences, ..self }
    }

    /// The question whether the program is robust and free of races.
    pub fn problem(self: Arc<Self>, original: &Problem) -> Problem {
        let (shared, threads) = self.concrete.initial();
        let shared = Shared(Self::FIRST + shared.0);
        let threads: Vec<Local> = threads.iter().map(|l| Local(l.0 << BITS)).collect();
        let initial = match &self.concrete.program().start {
            Start::One(_) => Initial { shared, threads: threads.into_iter().collect(), any: Vec::new() },
            Start::Any(_) => Initial { shared, threads: Bag::new(), any: threads },
        };
        let bad = [Self::NOT_ROBUST, Self::RACE].map(|s| Config::new(s, Bag::new()));
        Problem {
            targets: vec![Target::covering("robustness".to_string(), bad.to_vec())],
            initial: vec![initial],
            initial_text: original.initial_text.clone(),
            bound: original.bound,
            model: self,
        }
    }

    /// The model of the program without the monitor.
    pub fn concrete(&self) -> &Concrete {
        &self.concrete
    }

    /// Returns why not all steps are known, if a search met one that is not.
    pub fn incomplete(&self) -> Option<String> {
        locked(&self.missing).clone()
    }

    /// Returns what was watched in a state.
    pub fn watched(&self, s: Shared) -> Option<Arc<Watch>> {
        (s.0 >> HALF).checked_sub(1).and_then(|n| thing(&self.watches, n))
    }

    fn number(&self, watch: Option<Watch>) -> u64 {
        watch.map_or(0, |watch| number(&self.watches, watch) + 1)
    }

    fn inner(s: Shared) -> Option<Shared> {
        (s.0 & ((1 << HALF) - 1)).checked_sub(Self::FIRST).map(Shared)
    }

    /// The state of the program in a state of the model.
    pub fn program_state(s: Shared) -> Option<Shared> {
        Robust::inner(s)
    }

    /// The thread in a local state.
    pub fn program_thread(l: Local) -> Local {
        Local(l.0 >> BITS)
    }

    fn bits(l: Local) -> Bits {
        (l.0 & ((1 << BITS) - 1)) as Bits
    }

    fn local(&self, thread: Thread, bits: Bits) -> Local {
        Local(self.concrete.local(thread).0 << BITS | u64::from(bits))
    }

    fn program(&self) -> &Program {
        self.concrete.program()
    }

    fn incomplete_at(&self, at: Point, why: &str) {
        let line = self.program().origin_at(at).line;
        locked(&self.missing).get_or_insert_with(|| format!("line {line}: {why}"));
    }

    fn complete(&self) -> Result<(), Incomplete> {
        match self.incomplete() {
            Some(why) => Err(Incomplete(why)),
            None => Ok(()),
        }
    }

    fn outcomes(&self, memory: &Arc<Memory>, thread: &Thread) -> Vec<Outcome> {
        let steps = step_with_effects(self.program(), memory, thread);
        if let Some(why) = steps.missing {
            locked(&self.missing).get_or_insert_with(|| why.to_string());
        }
        steps.outcomes
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

const SIZES: &str = "an atomic object is accessed in parts of different sizes";
const SECTION: &str = "memory is accessed in an atomic section, which has no meaning under C11";

impl Robust {
    /// Goes through the effects of a step. `choose`: the number of the effect that becomes the
    /// watched one. `None`: there is no such step.
    fn follow(&self, from: &Run, effects: &[Effect], choose: Option<(usize, Found)>) -> Option<Run> {
        let mut run = from.clone();
        for n in 0..effects.len() {
            if let Some((at, what)) = choose
                && at == n
            {
                begin(&mut run, &effects[n], what);
            }
            self.effect(&mut run, effects, n)?;
        }
        Some(run)
    }

    /// The monitor's part of an effect. `None`: what is watched no longer exists.
    fn effect(&self, run: &mut Run, effects: &[Effect], n: usize) -> Option<()> {
        let Some(watch) = &mut run.watch else {
            if effects[n] == Effect::Started {
                run.children.push(0);
            }
            return Some(());
        };
        match &effects[n] {
            Effect::Access { address, size, writes, kind, at, inside, .. } => {
                let rule = match (kind, writes) {
                    (Access::Internal, _) => {
                        watch.internal(&mut run.bits, (*address, *size), *writes);
                        return Some(());
                    }
                    // To free an object is not a write that a read may meet: whether one still may
                    // come to it is a matter of races.
                    (Access::Plain, true) if *size > 8 && !watch.is_race() => return Some(()),
                    (Access::Plain, _) => {
                        match watch.concerns(*address, *size) {
                            None => self.incomplete_at(*at, SIZES),
                            Some(true) => {
                                let kind = if *writes { Kind::Store } else { Kind::Load };
                                let rule = (kind, Order::Relaxed);
                                run.written |=
                                    watch.step(&self.rules, &mut run.bits, rule, (*address, *size), run.by);
                            }
                            Some(false) => {}
                        }
                        return Some(());
                    }
                    (Access::Update(..), false) if updates(effects, n) => return Some(()),
                    (Access::Update(done, _), true) => (Kind::Update, *done),
                    (Access::Update(_, failed), false) => (Kind::Load, *failed),
                    (Access::Atomic(order), true) => (Kind::Store, *order),
                    (Access::Atomic(order), false) => (Kind::Load, *order),
                };
                if *inside && matches!(kind, Access::Atomic(_)) {
                    self.incomplete_at(*at, SECTION);
                }
                if !watch.is_race() && watch.concerns(*address, *size).is_none() {
                    self.incomplete_at(*at, SIZES);
                }
                run.written |= watch.step(&self.rules, &mut run.bits, rule, (*address, *size), run.by);
            }
            Effect::Fence(order, _) => {
                _ = watch.step(&self.rules, &mut run.bits, (Kind::Fence, *order), (0, 0), None);
            }
            Effect::Acquired(address) => watch.acquire(&mut run.bits, *address),
            Effect::Released(address) => watch.release(run.bits, *address),
            Effect::Started => run.children.push(Watch::child(run.bits)),
            Effect::Joined(number) => watch.joins(&mut run.bits, *number),
            Effect::Ended(number) => watch.ends(*number, run.bits),
            Effect::Begins(object) => {
                if watch.begins(*object) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The effects of a step that may become the watched access: for robustness, and for races.
    fn choices(&self, effects: &[Effect], n: usize) -> [bool; 2] {
        let Effect::Access { address, writes, kind, size, .. } = &effects[n] else { return [false; 2] };
        let atomic = kind.is_atomic();
        let mixed = self.mixed.is(self.program(), *address, atomic);
        let stale = self.program().weak_orders
            && *writes
            && *size <= 8
            && (atomic || *kind == Access::Plain && mixed);
        let read_of_update = !*writes && updates(effects, n);
        let earlier = *kind == Access::Plain || atomic && mixed && !read_of_update;
        [stale, earlier]
    }

    /// Returns whether the thread, whose step goes like this, races with the watched access.
    fn races(&self, from: &Run, effects: &[Effect]) -> Option<Point> {
        let mut run = from.clone();
        for (n, effect) in effects.iter().enumerate() {
            let watch = run.watch.as_ref()?;
            if let (
                Watched::Earlier { writes: earlier, atomic },
                Effect::Access { address, size, writes, kind, at, .. },
            ) = (&watch.watched, effect)
                && has(run.bits, Mine::Current)
                && (*earlier || *writes)
                && *kind != Access::Internal
                && !(*atomic && kind.is_atomic())
                && *address < watch.address + i64::from(watch.size)
                && watch.address < *address + i64::from(*size)
            {
                return Some(*at);
            }
            self.effect(&mut run, effects, n)?;
        }
        None
    }

    /// Returns where a thread that meets the watched write, instead of the last one, leaves
    /// sequential consistency: its step is tried in a memory where the location has that value.
    fn leaves(&self, memory: &Arc<Memory>, thread: &Thread, from: &Run) -> Option<Point> {
        let watch = from.watch.as_ref()?;
        let Watched::Stale { value, read } = &watch.watched else { return None };
        let other = Arc::new(poked(self.program(), memory, watch.address, value)?);
        let outcomes = match from.bits & FLAGS {
            0 => self.outcomes(&other, thread),
            // What an open register leads to is judged elsewhere.
            _ => step_with_effects(self.program(), &other, thread).outcomes,
        };
        outcomes.iter().filter(|outcome| !turns_in_a_circle(&other, thread, outcome)).find_map(|outcome| {
            let at = self.leaves_by(from, outcome, *read)?;
            let harmless = || keeps(&other, outcome) && self.is_harmless(memory, thread, watch, outcome);
            (from.bits & FLAGS != 0 || !harmless()).then_some(at)
        })
    }

    /// Returns whether a read of the watched write changes nothing.
    fn is_harmless(&self, memory: &Arc<Memory>, thread: &Thread, watch: &Watch, read: &Outcome) -> bool {
        let (Some(values), Watched::Stale { value, .. }) = (&self.values, &watch.watched) else {
            return false;
        };
        let fixed = object_of(watch.address) <= self.program().objects.len() as i64;
        let key = (self.concrete.local(thread.clone()).0, watch.address, value.clone());
        if let Some(known) = locked(&self.harmless).get(&key).filter(|_| fixed) {
            return *known;
        }
        let lag = Lag { program: self.program(), values, memory, before: thread };
        let harmless = lag.is_harmless(read);
        locked(&self.harmless).insert(key, harmless);
        harmless
    }

    fn leaves_by(&self, from: &Run, outcome: &Outcome, read: bool) -> Option<Point> {
        let mut run = from.clone();
        for (n, effect) in outcome.effects.iter().enumerate() {
            let watch = run.watch.as_ref()?;
            if let Effect::Access { address, size, kind, writes, at, .. } = effect
                && watch.hits(*address, *size) == Some(true)
            {
                let order = match kind {
                    Access::Atomic(order) => *order,
                    Access::Update(done, _) if *writes || updates(&outcome.effects, n) => *done,
                    Access::Update(_, failed) => *failed,
                    Access::Plain | Access::Internal => return None,
                };
                let stale = has(run.bits, Mine::Aware)
                    && has(run.bits, Mine::Current)
                    && (order != Order::SeqCst || has(run.bits, Mine::Ordered));
                let directly_behind = *writes || updates(&outcome.effects, n);
                let found = stale && !(directly_behind && read);
                return found.then_some(*at);
            }
            self.effect(&mut run, &outcome.effects, n)?;
        }
        None
    }
}

/// An access becomes the watched one: for races, the access itself; else what it overwrites.
fn begin(run: &mut Run, effect: &Effect, what: Found) {
    let Effect::Access { address, size, writes, kind, at, old, .. } = effect else { return };
    let watched = match what {
        Found::Race => Watched::Earlier { writes: *writes, atomic: kind.is_atomic() },
        Found::NotRobust => Watched::Stale { value: old.clone(), read: matches!(kind, Access::Update(..)) },
    };
    let (watch, bits) = Watch::new(watched, *address, *size, *at);
    run.children.fill(IGNORANT);
    (run.watch, run.bits) = (Some(watch), bits);
}

/// Returns whether a read is the first half of an operation that also writes.
pub(crate) fn updates(effects: &[Effect], n: usize) -> bool {
    let Some(Effect::Access { address, kind: Access::Update(..), writes: false, .. }) = effects.get(n) else {
        return false;
    };
    let later = effects[n + 1..].iter().find_map(|e| match e {
        Effect::Access { address: a, kind: Access::Update(..), writes, .. } if a == address => Some(*writes),
        _ => None,
    });
    later == Some(true)
}

/// Returns whether a step only reads, and the thread is where it was: without it, the execution is
/// one of the program, too.
pub(crate) fn turns_in_a_circle(memory: &Arc<Memory>, thread: &Thread, outcome: &Outcome) -> bool {
    let reads = outcome.effects.iter().all(|e| matches!(e, Effect::Access { writes: false, .. }));
    reads && outcome.thread.as_ref() == Some(thread) && keeps(memory, outcome)
}

/// Returns whether a step leaves memory as it was. Effects do not tell: what a thread writes to
/// memory that it alone accesses is none.
pub(crate) fn keeps(memory: &Arc<Memory>, outcome: &Outcome) -> bool {
    matches!(&outcome.after, After::Runs(after) if after == memory)
}

/// Memory in which these bytes are at an address, if there is an object.
pub(crate) fn poked(program: &Program, memory: &Memory, address: i64, value: &[u16]) -> Option<Memory> {
    let mut memory = memory.clone();
    let (object, offset) = (usize::try_from(object_of(address) - 1).ok()?, offset_of(address) as usize);
    match program.objects.get(object) {
        Some(o) => memory.fixed.write(o.base + offset, value),
        None => {
            let slot = object - program.objects.len();
            memory.heap.get(slot)?;
            memory.heap.update(slot, |slot| {
                if let Slot::Used(bytes, _) | Slot::Local(_, bytes, _) = slot {
                    bytes.write(offset, value);
                }
            });
        }
    }
    Some(memory)
}

impl Model for Robust {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let Some(inner) = Robust::inner(s) else { return Ok(()) };
        let (Some(state), Some(thread)) =
            (self.concrete.memory(inner), self.concrete.thread(Robust::program_thread(l)))
        else {
            return self.complete();
        };
        let watch = self.watched(s).map(|w| Watch::clone(&w));
        let by = (self.sequences == Sequences::Thread && self.program().numbered).then_some(thread.id);
        let from = Run { watch, bits: Robust::bits(l), children: Vec::new(), written: false, by };
        let ended = &state.0.ended;
        let has_company = ended.is_empty() || ended.others_run(thread.id as usize);
        let mover = Mover { s, l, from: &from, has_company };
        if from.watch.is_some()
            && has(from.bits, Mine::Current)
            && let Some(at) = self.leaves(&state.0, &thread, &from)
        {
            let left = self.left_out(&state.0, &thread);
            match left.and_then(|left| left.poisons(from.bits).map(|bits| (left, bits))) {
                Some((left, bits)) => out.push(self.leave_out(&mover, left, inner, bits)),
                None => self.report(&mover, Found::NotRobust, at, out),
            }
        }
        // A thread that knows the watched access learns nothing from reads.
        if from.watch.is_some()
            && has(from.bits, Mine::Current)
            && let Some(left) = self.left_out(&state.0, &thread)
        {
            let bits = left.leaves_out(from.bits);
            out.push(self.leave_out(&mover, left, inner, bits));
        }
        for (n, outcome) in self.known_outcomes(&mover, &state.0, &thread, out).into_iter().enumerate() {
            if let Some(at) = self.races(&from, &outcome.effects) {
                self.report(&mover, Found::Race, at, out);
            }
            self.ways(&mover, n, &outcome, out);
        }
        self.complete()
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.complete()
    }

    fn traits(&self) -> Traits {
        self.concrete.traits()
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        Some(self)
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, _: Local) -> bool {
        false
    }

    /// Who waits is asked under sequential consistency.
    fn waits(&self) -> Option<&dyn Waits> {
        None
    }
}

/// A thread that moves.
struct Mover<'a> {
    s: Shared,
    l: Local,
    from: &'a Run,
    /// Whether other threads may be there.
    has_company: bool,
}

impl Mover<'_> {
    fn step(&self, to: Shared, edge: Edge) -> Step {
        Step {
            from: self.s,
            to,
            take: Bag::one(self.l),
            put: Bag::new(),
            spawn: Bag::new(),
            others: Bystanders::Stay,
            edge,
            choice: 0,
        }
    }
}

impl Robust {
    /// A violation ends the run; the thread is still there, to be seen.
    fn report(&self, mover: &Mover<'_>, found: Found, at: Point, out: &mut Vec<Step>) {
        let bad = match found {
            Found::NotRobust => Self::NOT_ROBUST,
            Found::Race => Self::RACE,
        };
        out.push(Step { put: Bag::one(mover.l), ..mover.step(bad, self.concrete.edge_of(at)) });
    }

    /// The steps of an outcome: one that watches nothing new, and one for each choice.
    fn ways(&self, mover: &Mover<'_>, n: usize, outcome: &Outcome, out: &mut Vec<Step>) {
        let mut runs = vec![(self.follow(mover.from, &outcome.effects, None), 0)];
        if mover.from.watch.is_none() && (mover.has_company || !outcome.started.is_empty()) {
            for k in 0..outcome.effects.len() {
                let [stale, earlier] = self.choices(&outcome.effects, k);
                for (wanted, what) in [(stale, Found::NotRobust), (earlier, Found::Race)] {
                    if wanted {
                        let choice = 1 + 2 * k as u64 + u64::from(what == Found::Race);
                        runs.push((self.follow(mover.from, &outcome.effects, Some((k, what))), choice));
                    }
                }
            }
        }
        for (run, choice) in runs.into_iter().filter_map(|(run, choice)| run.map(|run| (run, choice))) {
            out.push(self.step(mover, (n as u64) << HALF | choice, outcome, run));
        }
    }

    fn step(&self, mover: &Mover<'_>, choice: u64, outcome: &Outcome, run: Run) -> Step {
        let After::Runs(memory) = &outcome.after else {
            return mover.step(Self::ENDED, self.concrete.edge_of(outcome.at));
        };
        let begun = mover.from.watch.is_none() && run.watch.is_some();
        let inner = self.concrete.shared(memory.clone(), None);
        let to = self.shared(run.watch, inner);
        let started = outcome.started.iter().zip(&run.children);
        Step {
            put: outcome
                .thread
                .iter()
                .map(|t| self.local(t.clone(), poison::still(self.program(), t, run.bits)))
                .collect(),
            spawn: started.map(|(t, bits)| self.local(t.clone(), *bits)).collect(),
            others: if begun || run.written { Bystanders::Transfer } else { Bystanders::Stay },
            choice: choice << 2 | u64::from(run.written) << 1 | u64::from(begun),
            ..mover.step(to, self.concrete.edge_of(outcome.at))
        }
    }
}

impl Robust {
    fn shared(&self, watch: Option<Watch>, inner: Shared) -> Shared {
        Shared(self.number(watch) << HALF | (inner.0 + Self::FIRST))
    }

    /// The thread without its next read, if that may be left out.
    fn left_out(&self, memory: &Arc<Memory>, thread: &Thread) -> Option<LeftOut> {
        if !self.leaves_out {
            return None;
        }
        let outcomes = step_with_effects(self.program(), memory, thread).outcomes;
        let location = outcomes.iter().flat_map(|o| &o.effects).find_map(|e| match e {
            Effect::Access { address, size, kind: Access::Atomic(_), writes: false, .. } => {
                Some((*address, *size))
            }
            _ => None,
        })?;
        poison::left_out(self.program(), thread, location)
    }

    /// The step of a thread that leaves a read out, and has these bits then.
    fn leave_out(&self, mover: &Mover<'_>, left: LeftOut, inner: Shared, bits: Bits) -> Step {
        let mut watch = mover.from.watch.clone();
        if let Some(watch) = &mut watch {
            watch.leave_out(mover.from.bits, left.location);
        }
        let point = self.concrete.thread(Robust::program_thread(mover.l)).map(|t| t.point());
        let edge = point.map_or(Edge(0), |at| self.concrete.edge_of(at));
        let bits = poison::still(self.program(), &left.thread, bits);
        Step {
            put: Bag::one(self.local(left.thread, bits)),
            choice: u64::from(bits) << HALF,
            ..mover.step(self.shared(watch, inner), edge)
        }
    }

    /// The outcomes of a step that depend on no register that is open because a read was left out;
    /// those that depend on one are violations, or not looked at.
    fn known_outcomes(
        &self,
        mover: &Mover<'_>,
        memory: &Arc<Memory>,
        thread: &Thread,
        out: &mut Vec<Step>,
    ) -> Vec<Outcome> {
        if mover.from.bits & FLAGS == 0 {
            return self.outcomes(memory, thread);
        }
        let steps = step_with_effects(self.program(), memory, thread);
        let used = |o: &Outcome| poison::used(self.program(), thread, mover.from.bits, o);
        if let Some(user) = steps.outcomes.iter().find(|o| used(o) == Use::Stale) {
            self.report(mover, Found::NotRobust, user.at, out);
        }
        let kept: Vec<Outcome> = steps.outcomes.iter().filter(|o| used(o) == Use::Nothing).cloned().collect();
        if let Some(why) = steps.missing.filter(|_| kept.len() == steps.outcomes.len()) {
            locked(&self.missing).get_or_insert_with(|| why.to_string());
        }
        kept
    }
}

impl Transfers for Robust {
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete> {
        let bits = match step.choice & 1 != 0 {
            true => IGNORANT,
            false => Watch::unaware(Robust::bits(l)),
        };
        out.push(Some(Local(Robust::program_thread(l).0 << BITS | u64::from(bits))));
        Ok(())
    }

    fn woken(&self, _: Local) -> Option<Local> {
        None
    }
}

impl Describe for Robust {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        Robust::inner(s).map(|s| self.concrete.shared_values(s)).unwrap_or_default()
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        self.concrete.local_values(Robust::program_thread(l))
    }

    fn place(&self, l: Local) -> Option<Place> {
        self.concrete.place(Robust::program_thread(l))
    }

    fn edge_place(&self, edge: Edge) -> Place {
        self.concrete.edge_place(edge)
    }

    fn accesses(&self, _: &Step) -> Vec<Accessed> {
        Vec::new()
    }
}
