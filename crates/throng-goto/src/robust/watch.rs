//! What is remembered beside a run under sequential consistency, to see whether it could have gone
//! another way under C11, or races.
//!
//! One access is *watched*. For robustness it is a write that was overwritten: each view of a
//! thread or of a location has a bit that says whether the view may still be at or before that
//! write (it is *stale* there). A thread that is aware of the last write of the location, and for
//! which the watched one is stale nevertheless, makes an execution that is not one of sequential
//! consistency if it reads the watched write, or writes directly behind it. For races the bit says
//! whether the watched access did not happen before what the thread does next.
//!
//! Any write and any access may be watched: which one is a choice, so that one bit for each view is
//! exact, and locations need not be known beforehand: arrays, and objects that are allocated, are
//! no harder than variables. The rules are those of [`throng_memory::rules`], of the slice of the
//! target and the class that only the watched write is in.

use std::sync::OnceLock;

use throng_memory::Order;
use throng_memory::rules::{Access as Rule, Bit, Class, Features, Kind, Mine, Monitor, Of, Update};

use crate::program::{Access, Instr, Point, Program, object_of};

/// The bits of one thread or of one location, by their numbers in [`Mine::ALL`] or [`Of::ALL`].
pub type Bits = u16;

/// The target in the rules, and any other location: rules about one do not look at the bits of
/// another.
const TARGET: u32 = 0;
const OTHER: u32 = 1;

const fn bit_of_thread(mine: Mine) -> Bits {
    1 << mine as u8
}

const fn bit_of_location(of: Of) -> Bits {
    1 << of as u8
}

/// The bits of a thread that knows nothing about the watched access.
pub const IGNORANT: Bits = 0x7f & !bit_of_thread(Mine::Aware);

/// The bits of a location that hands on nothing.
const SILENT: Bits = 0x7f & !(bit_of_location(Of::WriterAware) | bit_of_location(Of::ReaderAware));

/// Returns whether a thread with these bits has the given one.
pub fn has(bits: Bits, mine: Mine) -> bool {
    bits & bit_of_thread(mine) != 0
}

/// What is watched.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Watched {
    /// A write that was overwritten.
    Stale {
        /// Its value.
        value: Vec<u16>,
        /// Whether it was overwritten by an operation that has read it.
        read: bool,
    },
    /// An access that a later one may race with.
    Earlier {
        /// Whether it writes.
        writes: bool,
        /// Whether it is atomic.
        atomic: bool,
    },
}

/// The part of the monitor that threads share.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Watch {
    /// What is watched.
    pub watched: Watched,
    /// The first byte of its location.
    pub address: i64,
    /// The number of bytes.
    pub size: u32,
    /// The access; that which has overwritten a stale write.
    pub at: Point,
    /// The sizes and bits of locations, by address; others are silent.
    locations: Vec<(i64, u32, Bits)>,
    /// What ended threads knew, by their number; those that have not ended are ignorant.
    ended: Vec<(usize, Bits)>,
    /// The threads, and the locations to which they have written with release order knowing the
    /// watched write, in a release sequence that goes on; sorted.
    sequences: Vec<(u32, i64)>,
}

/// The rules for the accesses of a program.
pub struct Rules {
    robust: Monitor,
    race: Monitor,
    /// What accesses do: by monitor, kind, order, and whether they are to the target.
    table: Vec<OnceLock<Update>>,
}

/// The size of the word of a lock.
const LOCK: u32 = 4;

const KINDS: [Kind; 4] = [Kind::Load, Kind::Store, Kind::Update, Kind::Fence];

impl Rules {
    /// The rules for a program.
    pub fn new(program: &Program) -> Rules {
        let all = accesses(program);
        // What is known to happen before by the order of sequentially consistent operations alone
        // does not happen before.
        let weaker = |rule: &Rule| Rule { order: without_order(rule.order), ..*rule };
        let hb: Vec<Rule> = all.iter().map(weaker).collect();
        Rules {
            robust: Monitor::new(TARGET, Class::Valued, [TARGET, OTHER], Features::of(&all)),
            race: Monitor::new(TARGET, Class::Watched, [OTHER], Features::of(&hb)),
            table: std::iter::repeat_with(OnceLock::new).take(2 * 4 * 6 * 2).collect(),
        }
    }

    fn update(&self, race: bool, rule: Rule) -> &Update {
        let kind = KINDS.iter().position(|&k| k == rule.kind).unwrap_or(0);
        let place = ((usize::from(race) * 4 + kind) * 6 + rule.order as usize) * 2;
        let cell = &self.table[place + rule.location as usize];
        let monitor = if race { &self.race } else { &self.robust };
        cell.get_or_init(|| monitor.step(&rule))
    }
}

fn without_order(order: Order) -> Order {
    if order == Order::SeqCst { Order::AcqRel } else { order }
}

/// The atomic accesses and fences of a program, and what locks are to the rules.
fn accesses(program: &Program) -> Vec<Rule> {
    let mut all = Vec::new();
    for t in &program.templates {
        for (i, access) in t.code.iter().zip(&t.access) {
            let of = |kind, order| Rule { kind, location: OTHER, order };
            match (i, access) {
                (Instr::Fence(order), _) => all.push(Rule::fence(*order)),
                (Instr::Load(..), Access::Atomic(order)) => all.push(of(Kind::Load, *order)),
                (Instr::Store(..), Access::Atomic(order)) => all.push(of(Kind::Store, *order)),
                (Instr::Load(..) | Instr::Store(..), Access::Update(done, failed)) => {
                    all.extend([of(Kind::Update, *done), of(Kind::Load, *failed)]);
                }
                // It may be of an atomic object.
                (Instr::Load(..), Access::Plain) => all.push(of(Kind::Load, Order::Relaxed)),
                (Instr::Store(..), Access::Plain) => all.push(of(Kind::Store, Order::Relaxed)),
                _ => {}
            }
        }
    }
    all
}

impl Watch {
    /// The monitor when an access becomes the watched one, before its own effect: every other
    /// thread is ignorant. Returns the bits of the thread that makes it.
    pub fn new(watched: Watched, address: i64, size: u32, at: Point) -> (Watch, Bits) {
        let known = bit_of_thread(Mine::Current) | bit_of_thread(Mine::Acquired);
        let own = match watched {
            // What it knows follows from what it does to the location.
            Watched::Stale { .. } => IGNORANT,
            Watched::Earlier { .. } => IGNORANT & !known,
        };
        let watch = Watch {
            watched,
            address,
            size,
            at,
            locations: Vec::new(),
            ended: Vec::new(),
            sequences: Vec::new(),
        };
        (watch, own)
    }

    /// Returns whether an access that is not atomic matters: a later read of the location may be
    /// atomic, or the location has another size there, which is `None`.
    pub fn concerns(&self, address: i64, size: u32) -> Option<bool> {
        let end = address + i64::from(size);
        let meets = |(a, of, _): &&(i64, u32, Bits)| *a < end && address < *a + i64::from(*of);
        match self.locations.iter().find(meets) {
            Some(&(a, of, _)) if (a, of) == (address, size) => Some(true),
            Some(_) if self.is_race() => Some(true),
            Some(_) => None,
            None if self.is_race() => Some(false),
            None => self.hits(address, size),
        }
    }

    /// Returns whether races are looked for.
    pub fn is_race(&self) -> bool {
        matches!(self.watched, Watched::Earlier { .. })
    }

    /// Returns whether an access is to the watched location; `None`: to a part of it only, or to
    /// more.
    pub fn hits(&self, address: i64, size: u32) -> Option<bool> {
        let apart =
            address + i64::from(size) <= self.address || self.address + i64::from(self.size) <= address;
        match (address, size) == (self.address, self.size) {
            true => Some(true),
            false => apart.then_some(false),
        }
    }

    /// Forgets what is known about an object whose memory is used again. Returns whether the
    /// watched location is in it.
    pub fn begins(&mut self, object: i64) -> bool {
        self.locations.retain(|(a, ..)| object_of(*a) != object);
        self.sequences.retain(|(_, a)| object_of(*a) != object);
        object_of(self.address) == object
    }

    /// Changes the bits for an atomic access, or a fence, of the thread with these bits. Returns
    /// whether other threads are no longer aware of the last write. `by`: the thread, if its later
    /// writes continue its release sequences.
    pub fn step(
        &mut self,
        rules: &Rules,
        own: &mut Bits,
        (rule, order): (Kind, Order),
        (address, size): (i64, u32),
        by: Option<u32>,
    ) -> bool {
        let race = self.is_race();
        let order = if race { without_order(order) } else { order };
        let hits = !race && rule != Kind::Fence && address == self.address;
        let location = if hits { TARGET } else { OTHER };
        let update = rules.update(race, Rule { kind: rule, location, order });
        let (mine, its) = (*own, self.bits_of(address));
        let value = |bit: Bit| match bit {
            Bit::Thread(m) => has(mine, m),
            Bit::Location(of, l) if l == location => its & bit_of_location(of) != 0,
            // No rule about one location reads those of another.
            Bit::Location(..) => true,
            Bit::Nothing => true,
        };
        let mut now = its;
        let written = hits && rule != Kind::Load;
        if written {
            let aware = bit_of_location(Of::WriterAware) | bit_of_location(Of::ReaderAware);
            self.locations.iter_mut().for_each(|(.., bits)| *bits &= !aware);
            self.ended.iter_mut().for_each(|(_, bits)| *bits &= !bit_of_thread(Mine::Aware));
        }
        for (bit, formula) in &update.own {
            let to = formula.holds(&value, false);
            match bit {
                Bit::Thread(m) => set(own, bit_of_thread(*m), to),
                Bit::Location(of, l) if *l == location => set(&mut now, bit_of_location(*of), to),
                Bit::Location(..) | Bit::Nothing => {}
            }
        }
        if let Some(by) = by.filter(|_| matches!(rule, Kind::Store | Kind::Update)) {
            if rule == Kind::Store {
                self.sequences.retain(|(other, a)| *a != address || *other == by);
            }
            self.continues(by, address, order.releases() && !has(*own, Mine::Current), &mut now);
        }
        if rule != Kind::Fence {
            self.keep((address, size), now);
        }
        written
    }

    /// A write begins a release sequence that hands on that its thread knows the watched write
    /// (`begins`), or continues one.
    fn continues(&mut self, by: u32, address: i64, begins: bool, now: &mut Bits) {
        match self.sequences.binary_search(&(by, address)) {
            Ok(_) => set(now, bit_of_location(Of::Message), false),
            Err(at) if begins => self.sequences.insert(at, (by, address)),
            Err(_) => {}
        }
    }

    /// A library's lock or its like is read or written. All threads agree on the order of such
    /// accesses; what they let threads know is said by [`Watch::acquire`] and [`Watch::release`].
    pub fn internal(&mut self, own: &mut Bits, (address, size): (i64, u32), writes: bool) {
        let (reader, writer) = (bit_of_location(Of::ReaderAware), bit_of_location(Of::WriterAware));
        let its = self.bits_of(address);
        if its & if writes { reader } else { writer } != 0 {
            *own |= bit_of_thread(Mine::Aware);
        }
        let mut now = its;
        if has(*own, Mine::Aware) {
            now |= if writes { reader | writer } else { reader };
        }
        self.keep((address, size), now);
    }

    /// A thread takes a lock: it learns what those know who have released it.
    pub fn acquire(&mut self, own: &mut Bits, address: i64) {
        let silent = self.bits_of(address) & bit_of_location(Of::Message) != 0;
        if !silent {
            *own &= !(bit_of_thread(Mine::Current) | bit_of_thread(Mine::Acquired));
        }
    }

    /// A thread releases a lock.
    pub fn release(&mut self, own: Bits, address: i64) {
        if !has(own, Mine::Current) {
            let now = self.bits_of(address) & !bit_of_location(Of::Message);
            self.keep((address, LOCK), now);
        }
    }

    /// A thread leaves a read of a location out: later writes come behind it nevertheless.
    pub fn leave_out(&mut self, own: Bits, (address, size): (i64, u32)) {
        if !self.is_race() && address != self.address && has(own, Mine::Aware) {
            let now = self.bits_of(address) | bit_of_location(Of::ReaderAware);
            self.keep((address, size), now);
        }
    }

    /// The bits of a thread when another one has written the watched location.
    pub fn unaware(bits: Bits) -> Bits {
        bits & !bit_of_thread(Mine::Aware)
    }

    /// The bits of a new thread: it knows what its parent knows, and has made no fence and no
    /// access yet.
    pub fn child(parent: Bits) -> Bits {
        let known = parent & (bit_of_thread(Mine::Aware) | bit_of_thread(Mine::Current));
        let acquired = if has(parent, Mine::Current) { bit_of_thread(Mine::Acquired) } else { 0 };
        let own = bit_of_thread(Mine::Aware) | bit_of_thread(Mine::Current) | bit_of_thread(Mine::Acquired);
        known | acquired | IGNORANT & !own
    }

    /// A thread ends.
    pub fn ends(&mut self, number: usize, bits: Bits) {
        let bits = bits & (bit_of_thread(Mine::Aware) | bit_of_thread(Mine::Current));
        if let Err(at) = self.ended.binary_search_by_key(&number, |e| e.0) {
            self.ended.insert(at, (number, bits));
        }
    }

    /// A thread sees that another one has ended.
    pub fn joins(&mut self, own: &mut Bits, number: usize) {
        let Ok(at) = self.ended.binary_search_by_key(&number, |e| e.0) else { return };
        let bits = self.ended[at].1;
        *own |= bits & bit_of_thread(Mine::Aware);
        if !has(bits, Mine::Current) {
            *own &= !(bit_of_thread(Mine::Current) | bit_of_thread(Mine::Acquired));
        }
    }

    fn bits_of(&self, address: i64) -> Bits {
        let found = self.locations.binary_search_by_key(&address, |l| l.0);
        found.map_or(SILENT, |at| self.locations[at].2)
    }

    fn keep(&mut self, (address, size): (i64, u32), bits: Bits) {
        match self.locations.binary_search_by_key(&address, |l| l.0) {
            Ok(at) => {
                let (_, most, before) = &mut self.locations[at];
                *most = size.max(*most);
                *before = bits;
            }
            Err(at) if bits != SILENT => self.locations.insert(at, (address, size, bits)),
            Err(_) => {}
        }
    }
}

fn set(bits: &mut Bits, bit: Bits, to: bool) {
    if to { *bits |= bit } else { *bits &= !bit }
}
