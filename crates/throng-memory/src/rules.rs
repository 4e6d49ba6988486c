//! The monitor of robustness: bits beside a program, and how each access changes them.
//!
//! A program is *robust* if every execution that C11 (as RC11 repairs it) allows is one of
//! sequential consistency, and no two plain accesses race. What is safe under sequential
//! consistency and robust is safe under C11. Robustness is a safety property of the runs under
//! sequential consistency, watched by a monitor: a few bits for each thread and each location.
//!
//! A *view* of a thread is a position in the order in which a location was written. What a monitor
//! keeps of a view is one bit: is there a *stale* write in the class asked about, a write at or
//! after the position that is not the last one? Views only differ in where they start, so the
//! sets of stale writes are nested, and the bit of the union of two views is the conjunction of
//! their bits. The monitor of one target location and one class of writes never looks at the bits
//! of another: robustness is the absence of violations in all these *slices*, each on its own.
//!
//! All rules are monotone: a bit that is 1 where the exact monitor has 0 may cost an answer, never
//! make a wrong one. So a location that is not among the sources of a slice needs no bits.
//!
//! A slice is used like this. [`Monitor::bits`] says which bits there are and how they start. Before
//! an access that [`Monitor::violation`] has a formula for, that formula is asserted to be false.
//! With the access, in the same step, the bits change as [`Monitor::step`] says, for the thread
//! itself and for all others. A new thread starts with a copy of its parent's bits.

use crate::order::Order;
use std::collections::{BTreeMap, BTreeSet};

/// A location, as the program at hand numbers them.
pub type Location = u32;

/// What an instruction does to a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes, as one event.
    Update,
    /// It orders other accesses, and accesses nothing.
    Fence,
}

/// An access of a location, or a fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// What it does.
    pub kind: Kind,
    /// The location; of a fence, any.
    pub location: Location,
    /// Its order; [`Order::Plain`] if it is not atomic.
    pub order: Order,
}

impl Access {
    /// A fence of this order.
    pub fn fence(order: Order) -> Access {
        Access { kind: Kind::Fence, location: 0, order }
    }

    /// Returns whether it accesses a location.
    pub fn is_access(&self) -> bool {
        self.kind != Kind::Fence
    }

    /// Returns whether it reads.
    pub fn reads(&self) -> bool {
        matches!(self.kind, Kind::Load | Kind::Update)
    }

    /// Returns whether it only reads.
    pub fn reads_only(&self) -> bool {
        self.kind == Kind::Load
    }

    /// Returns whether it writes.
    pub fn writes(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::Update)
    }
}

/// A bit of each thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mine {
    /// Under sequential consistency, the last write of the target happened before.
    Aware,
    /// What the thread knows.
    Current,
    /// What an acquire fence would let it know.
    Acquired,
    /// What it knew at its last release fence.
    Released,
    /// What it knew at its last sequentially consistent fence.
    Fenced,
    /// What a sequentially consistent fence would let it know.
    Pending,
    /// What it knows through the order of sequentially consistent accesses.
    Ordered,
}

impl Mine {
    /// All of them.
    pub const ALL: [Mine; 7] = [
        Mine::Aware,
        Mine::Current,
        Mine::Acquired,
        Mine::Released,
        Mine::Fenced,
        Mine::Pending,
        Mine::Ordered,
    ];

    /// The views among them: all but [`Mine::Aware`].
    const VIEWS: [Mine; 6] =
        [Mine::Current, Mine::Acquired, Mine::Released, Mine::Fenced, Mine::Pending, Mine::Ordered];
}

/// A bit of each location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Of {
    /// Its last writer was aware of the last write of the target.
    WriterAware,
    /// Its last writer, or a reader since, was.
    ReaderAware,
    /// What its last write lets an acquiring reader know.
    Message,
    /// What sequentially consistent fences before its last write knew.
    FenceWrite,
    /// The same, before its last write or a read since.
    FenceRead,
    /// What its last write hands on in the order of sequentially consistent accesses.
    OrderedWrite,
    /// The same, with the reads since.
    OrderedRead,
}

impl Of {
    /// All of them.
    pub const ALL: [Of; 7] = [
        Of::WriterAware,
        Of::ReaderAware,
        Of::Message,
        Of::FenceWrite,
        Of::FenceRead,
        Of::OrderedWrite,
        Of::OrderedRead,
    ];

    /// The views among them.
    const VIEWS: [Of; 5] = [Of::Message, Of::FenceWrite, Of::FenceRead, Of::OrderedWrite, Of::OrderedRead];
}

/// A bit of the monitor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bit {
    /// One of each thread.
    Thread(Mine),
    /// One of a location, shared.
    Location(Of, Location),
    /// The view that knows nothing, shared: is there a stale write at all?
    Nothing,
}

/// A formula over bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// A constant.
    Constant(bool),
    /// The value of a bit before the step.
    Bit(Bit),
    /// Is the value that the target had before the step in the class of the slice? Only where the
    /// class is not that of all values.
    Old,
    /// All of these, two or more.
    And(Vec<Formula>),
    /// One of these, two or more.
    Or(Vec<Formula>),
}

impl Formula {
    /// The conjunction.
    pub fn and(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::Constant(false), _) | (_, Formula::Constant(false)) => Formula::Constant(false),
            (Formula::Constant(true), f) | (f, Formula::Constant(true)) => f,
            (a, b) => gather(a, b, Formula::And, |f| match f {
                Formula::And(parts) => Ok(parts),
                f => Err(f),
            }),
        }
    }

    /// The disjunction.
    pub fn or(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::Constant(true), _) | (_, Formula::Constant(true)) => Formula::Constant(true),
            (Formula::Constant(false), f) | (f, Formula::Constant(false)) => f,
            (a, b) => gather(a, b, Formula::Or, |f| match f {
                Formula::Or(parts) => Ok(parts),
                f => Err(f),
            }),
        }
    }

    /// Its value, given those of bits and of [`Formula::Old`].
    pub fn holds(&self, bit: &dyn Fn(Bit) -> bool, old: bool) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::Bit(b) => bit(*b),
            Formula::Old => old,
            Formula::And(parts) => parts.iter().all(|part| part.holds(bit, old)),
            Formula::Or(parts) => parts.iter().any(|part| part.holds(bit, old)),
        }
    }
}

/// Joins the parts of two formulas, each once.
fn gather(
    a: Formula,
    b: Formula,
    make: fn(Vec<Formula>) -> Formula,
    parts: fn(Formula) -> Result<Vec<Formula>, Formula>,
) -> Formula {
    let mut found: Vec<Formula> = Vec::new();
    for part in [a, b].into_iter().flat_map(|f| parts(f).unwrap_or_else(|f| vec![f])) {
        if !found.contains(&part) {
            found.push(part);
        }
    }
    match found.len() {
        1 => found.swap_remove(0),
        _ => make(found),
    }
}

/// What a step does to the bits: simultaneous assignments; bits that are not listed stay.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Update {
    /// To the bits of the thread itself and to shared ones.
    pub own: Vec<(Bit, Formula)>,
    /// To the bits of every other thread; in these formulas, [`Bit::Thread`] is the bit of that
    /// other thread.
    pub others: Vec<(Mine, Formula)>,
}

/// The writes of the target that a slice is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Of an atomic location: all writes.
    Any,
    /// Those that no read-modify-write has read: a new write may be placed directly after them.
    AnyUnread,
    /// Those with a value that [`Formula::Old`] selects.
    Valued,
    /// Those that no read-modify-write has read, with a value that [`Formula::Old`] selects.
    ValuedUnread,
    /// Of a plain location: the last write, which an access races with unless it is known.
    LastWrite,
    /// Of a plain location: one read, chosen on the way, that a later write may race with. All
    /// reads since the last write as one class would be too coarse: two threads may know them
    /// together, and neither of them alone.
    Watched,
}

impl Class {
    fn is_plain(self) -> bool {
        matches!(self, Class::LastWrite | Class::Watched)
    }

    fn is_unread(self) -> bool {
        matches!(self, Class::AnyUnread | Class::ValuedUnread)
    }

    /// Returns whether [`Formula::Old`] occurs.
    pub fn is_valued(self) -> bool {
        matches!(self, Class::Valued | Class::ValuedUnread)
    }
}

/// What the accesses of a program need: bits that no rule would read are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    acquired: bool,
    released: bool,
    fenced: bool,
    ordered: bool,
    nothing: bool,
}

impl Features {
    /// Those of a program with these accesses and fences.
    pub fn of(accesses: &[Access]) -> Features {
        let fence = |is: fn(Order) -> bool| accesses.iter().any(|a| !a.is_access() && is(a.order));
        let atomic = |a: &&Access| a.is_access() && a.order != Order::Plain;
        let atomics = || accesses.iter().filter(atomic);
        let weak_read = atomics().any(|a| a.reads() && !a.order.acquires());
        let weak_write = atomics().any(|a| a.writes() && !a.order.releases());
        let ordered = atomics().any(|a| a.order == Order::SeqCst);
        let release_fence = fence(Order::releases);
        Features {
            acquired: fence(Order::acquires) && weak_read,
            released: release_fence && weak_write,
            fenced: fence(|o| o == Order::SeqCst),
            ordered,
            nothing: ordered || (weak_write && !release_fence),
        }
    }
}

/// The monitor of one slice.
#[derive(Clone, Debug)]
pub struct Monitor {
    target: Location,
    class: Class,
    sources: BTreeSet<Location>,
    features: Features,
    auxiliary: Option<Location>,
}

impl Monitor {
    /// The monitor of this target and class, through these sources: atomic locations whose accesses
    /// hand on what threads know. Others hand on nothing, which is sound. The target itself always
    /// is one, if it is atomic.
    pub fn new(
        target: Location,
        class: Class,
        sources: impl IntoIterator<Item = Location>,
        features: Features,
    ) -> Monitor {
        let mut sources: BTreeSet<Location> = sources.into_iter().collect();
        if class.is_plain() {
            sources.remove(&target);
        } else {
            sources.insert(target);
        }
        Monitor { target, class, sources, features, auxiliary: None }
    }

    /// The same beside auxiliary variables, which this location stands for: a thread that uses them is
    /// aware of what happened before, and knows no more ([`Monitor::auxiliary`]).
    #[must_use]
    pub fn beside(self, auxiliary: Location) -> Monitor {
        Monitor { auxiliary: Some(auxiliary), ..self }
    }

    /// The location that the slice is about.
    pub fn target(&self) -> Location {
        self.target
    }

    /// The class that the slice is about.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns whether there is such a bit.
    fn has(&self, bit: Bit) -> bool {
        let on = self.features;
        match bit {
            Bit::Thread(Mine::Aware) => !self.class.is_plain(),
            Bit::Thread(Mine::Current) => true,
            Bit::Thread(Mine::Acquired) => on.acquired,
            Bit::Thread(Mine::Released) => on.released,
            Bit::Thread(Mine::Fenced | Mine::Pending) => on.fenced,
            Bit::Thread(Mine::Ordered) => on.ordered,
            Bit::Location(Of::ReaderAware, y) if self.auxiliary == Some(y) => !self.class.is_plain(),
            Bit::Location(_, y) if !self.sources.contains(&y) => false,
            Bit::Location(Of::WriterAware | Of::ReaderAware, y) => !self.class.is_plain() && y != self.target,
            Bit::Location(Of::Message, y) => y != self.target,
            Bit::Location(Of::FenceWrite | Of::FenceRead, _) => on.fenced,
            Bit::Location(Of::OrderedWrite | Of::OrderedRead, _) => on.ordered,
            Bit::Nothing => on.nothing,
        }
    }

    /// All bits with their initial values.
    pub fn bits(&self) -> Vec<(Bit, bool)> {
        let threads = Mine::ALL.into_iter().map(Bit::Thread);
        let sources = self.sources.iter().copied().chain(self.auxiliary);
        let locations = sources.flat_map(|y| Of::ALL.map(|of| Bit::Location(of, y)));
        let all = threads.chain(locations).chain([Bit::Nothing]).filter(|&bit| self.has(bit));
        let aware = |bit: &Bit| {
            matches!(bit, Bit::Thread(Mine::Aware) | Bit::Location(Of::WriterAware | Of::ReaderAware, _))
        };
        all.map(|bit| (bit, aware(&bit))).collect()
    }

    /// When an access, about to be made, violates robustness or races; `None`: never. For a class
    /// with values, only if the instruction accepts the value of a stale write: for a slice about
    /// the value v, if it would go on after reading v.
    pub fn violation(&self, access: &Access) -> Option<Formula> {
        if !access.is_access() || access.location != self.target {
            return None;
        }
        let bit = |mine| Formula::Bit(Bit::Thread(mine));
        let asks = match self.class {
            Class::LastWrite => return Some(bit(Mine::Current)),
            Class::Watched => return access.writes().then(|| bit(Mine::Current)),
            Class::Any | Class::Valued => access.kind == Kind::Load,
            Class::AnyUnread | Class::ValuedUnread => access.writes(),
        };
        let stale = bit(Mine::Aware).and(bit(Mine::Current));
        let ordered = access.order == Order::SeqCst;
        asks.then(|| if ordered { stale.and(bit(Mine::Ordered)) } else { stale })
    }

    /// Returns whether a plain read of the target is a choice: it may be the watched one
    /// ([`Monitor::watch`]) or not ([`Monitor::step`], which then changes nothing).
    pub fn may_watch(&self, access: &Access) -> bool {
        self.class == Class::Watched && access.kind == Kind::Load && access.location == self.target
    }

    /// What a plain read of the target does if it becomes the watched one.
    pub fn watch(&self) -> Update {
        let mut draft = Draft::new(self);
        draft.all_stale(&Formula::Constant(true));
        draft.up_to_date();
        draft.finish()
    }

    /// What a statement about auxiliary variables does: it orders, like a read-modify-write of one
    /// location, and never synchronises.
    pub fn auxiliary(&self) -> Update {
        let mut draft = Draft::new(self);
        if let Some(y) = self.auxiliary {
            let aware = draft.mine(Mine::Aware).or(draft.at(Of::ReaderAware, y));
            draft.set(Bit::Thread(Mine::Aware), aware.clone());
            draft.set(Bit::Location(Of::ReaderAware, y), aware);
        }
        draft.finish()
    }

    /// What an access or a fence does to the bits.
    pub fn step(&self, access: &Access) -> Update {
        let mut draft = Draft::new(self);
        match access.kind {
            Kind::Fence => draft.fence(access.order),
            _ if access.order == Order::Plain => draft.plain(access),
            Kind::Load => draft.read(access),
            Kind::Store | Kind::Update => draft.write(access),
        }
        draft.finish()
    }
}

/// An update in the making: the values that bits have after the rules so far, in terms of those
/// before the step.
struct Draft<'m> {
    monitor: &'m Monitor,
    own: BTreeMap<Bit, Formula>,
    others: BTreeMap<Mine, Formula>,
}

impl Draft<'_> {
    fn new(monitor: &Monitor) -> Draft<'_> {
        Draft { monitor, own: BTreeMap::new(), others: BTreeMap::new() }
    }

    fn finish(self) -> Update {
        let changed = |(bit, f): &(Bit, Formula)| *f != Formula::Bit(*bit);
        let own = self.own.into_iter().filter(changed).collect();
        let others = self.others.into_iter().filter(|(mine, f)| *f != Formula::Bit(Bit::Thread(*mine)));
        Update { own, others: others.collect() }
    }

    /// A bit that is not kept has the value that it would always have.
    fn get(&self, bit: Bit) -> Formula {
        if !self.monitor.has(bit) {
            // What a write or a reader of the target hands on: awareness, and no stale write.
            let aware = matches!(bit, Bit::Location(Of::WriterAware | Of::ReaderAware, _));
            return Formula::Constant(aware);
        }
        self.own.get(&bit).cloned().unwrap_or(Formula::Bit(bit))
    }

    fn mine(&self, mine: Mine) -> Formula {
        self.get(Bit::Thread(mine))
    }

    fn at(&self, of: Of, y: Location) -> Formula {
        self.get(Bit::Location(of, y))
    }

    fn set(&mut self, bit: Bit, to: Formula) {
        if self.monitor.has(bit) {
            self.own.insert(bit, to);
        }
    }

    /// Lets a bit of the thread become its conjunction with a bit of a location: the thread learns.
    fn learn(&mut self, mine: Mine, of: Of, y: Location) {
        let known = self.mine(mine).and(self.at(of, y));
        self.set(Bit::Thread(mine), known);
    }

    /// Lets a bit of a location become its conjunction with a bit of the thread.
    fn tell(&mut self, of: Of, y: Location, mine: Mine) {
        let known = self.at(of, y).and(self.mine(mine));
        self.set(Bit::Location(of, y), known);
    }

    fn hits(&self, y: Location) -> bool {
        y == self.monitor.target
    }

    fn tracks(&self, y: Location) -> bool {
        self.monitor.sources.contains(&y)
    }

    fn aware(&mut self, of: Of, y: Location) {
        let aware = match self.hits(y) || !self.tracks(y) {
            true => Formula::Constant(true),
            false => self.mine(Mine::Aware).or(self.at(of, y)),
        };
        self.set(Bit::Thread(Mine::Aware), aware);
    }

    /// The thread knows the last write of the target.
    fn up_to_date(&mut self) {
        for mine in [Mine::Current, Mine::Acquired] {
            self.set(Bit::Thread(mine), Formula::Constant(false));
        }
    }

    /// What reading does to the reader.
    fn read_part(&mut self, access: &Access) {
        let y = access.location;
        self.aware(Of::WriterAware, y);
        if self.tracks(y) {
            self.learn(Mine::Pending, Of::FenceWrite, y);
            self.learn(Mine::Acquired, Of::Message, y);
            if access.order.acquires() {
                self.learn(Mine::Current, Of::Message, y);
            }
            if access.order == Order::SeqCst {
                self.learn(Mine::Ordered, Of::OrderedWrite, y);
            }
        }
        if self.hits(y) {
            self.up_to_date();
        }
    }

    fn read(&mut self, access: &Access) {
        self.read_part(access);
        let y = access.location;
        if !self.tracks(y) {
            return;
        }
        let aware = self.at(Of::ReaderAware, y).or(self.mine(Mine::Aware));
        self.set(Bit::Location(Of::ReaderAware, y), aware);
        self.tell(Of::FenceRead, y, Mine::Fenced);
        if access.order == Order::SeqCst {
            self.tell(Of::OrderedRead, y, Mine::Ordered);
        }
    }

    fn write(&mut self, access: &Access) {
        let y = access.location;
        if access.kind == Kind::Update {
            self.read_part(access);
        }
        self.aware(Of::ReaderAware, y);
        if self.hits(y) {
            self.target_written(access.kind == Kind::Update);
        } else {
            for of in [Of::WriterAware, Of::ReaderAware] {
                self.set(Bit::Location(of, y), self.mine(Mine::Aware));
            }
        }
        if self.tracks(y) {
            self.write_fenced(y);
            self.write_message(access);
            self.write_ordered(access);
        }
    }

    /// The last write so far becomes stale, and only the writer knows the new one.
    fn target_written(&mut self, update: bool) {
        self.set_others(Mine::Aware, Formula::Constant(false));
        for z in self.monitor.sources.iter().copied().chain(self.monitor.auxiliary) {
            for of in [Of::WriterAware, Of::ReaderAware] {
                self.set(Bit::Location(of, z), Formula::Constant(false));
            }
        }
        if !(update && self.monitor.class.is_unread()) {
            let valued = self.monitor.class.is_valued();
            self.all_stale(&if valued { Formula::Old } else { Formula::Constant(true) });
        }
        self.up_to_date();
    }

    /// All bits that stand for views.
    fn views(&self) -> impl Iterator<Item = Bit> + use<> {
        let threads = Mine::VIEWS.into_iter().map(Bit::Thread);
        let sources: Vec<Location> = self.monitor.sources.iter().copied().collect();
        let locations = sources.into_iter().flat_map(|y| Of::VIEWS.map(|of| Bit::Location(of, y)));
        threads.chain(locations).chain([Bit::Nothing])
    }

    /// If the condition holds, no view knows better than the write that is stale now.
    fn all_stale(&mut self, condition: &Formula) {
        for bit in self.views() {
            let stale = self.get(bit).or(condition.clone());
            self.set(bit, stale);
        }
        for mine in Mine::VIEWS {
            let theirs = Formula::Bit(Bit::Thread(mine)).or(condition.clone());
            self.set_others(mine, theirs);
        }
    }

    fn set_others(&mut self, mine: Mine, to: Formula) {
        if self.monitor.has(Bit::Thread(mine)) {
            self.others.insert(mine, to);
        }
    }

    fn write_fenced(&mut self, y: Location) {
        self.learn(Mine::Pending, Of::FenceRead, y);
        self.tell(Of::FenceRead, y, Mine::Fenced);
        self.set(Bit::Location(Of::FenceWrite, y), self.at(Of::FenceRead, y));
    }

    fn write_message(&mut self, access: &Access) {
        let y = access.location;
        let new = match (access.order.releases(), self.monitor.features.released) {
            (true, _) => self.mine(Mine::Current),
            (false, true) => self.mine(Mine::Released),
            (false, false) => self.get(Bit::Nothing),
        };
        // An update continues the release sequence that it reads from.
        let new = if access.kind == Kind::Update { new.and(self.at(Of::Message, y)) } else { new };
        self.set(Bit::Location(Of::Message, y), new);
    }

    fn write_ordered(&mut self, access: &Access) {
        let y = access.location;
        if access.order != Order::SeqCst {
            self.set(Bit::Location(Of::OrderedWrite, y), self.get(Bit::Nothing));
            return;
        }
        let ordered = match self.hits(y) {
            true => Formula::Constant(false),
            false => self.mine(Mine::Ordered).and(self.at(Of::OrderedRead, y)),
        };
        for bit in [
            Bit::Thread(Mine::Ordered),
            Bit::Location(Of::OrderedWrite, y),
            Bit::Location(Of::OrderedRead, y),
        ] {
            self.set(bit, ordered.clone());
        }
    }

    fn fence(&mut self, order: Order) {
        if order.acquires() && self.monitor.features.acquired {
            self.set(Bit::Thread(Mine::Current), self.mine(Mine::Acquired));
        }
        if order == Order::SeqCst {
            let known = self.mine(Mine::Current).and(self.mine(Mine::Pending));
            for mine in [Mine::Current, Mine::Acquired, Mine::Fenced] {
                self.set(Bit::Thread(mine), known.clone());
            }
        }
        if order.releases() {
            self.set(Bit::Thread(Mine::Released), self.mine(Mine::Current));
        }
    }

    fn plain(&mut self, access: &Access) {
        if !self.hits(access.location) || !access.writes() {
            return;
        }
        match self.monitor.class {
            Class::LastWrite => {
                self.all_stale(&Formula::Constant(true));
                self.up_to_date();
            }
            Class::Watched => self.unwatched(),
            Class::Any | Class::AnyUnread | Class::Valued | Class::ValuedUnread => {}
        }
    }

    /// No read is watched any more.
    fn unwatched(&mut self) {
        for bit in self.views() {
            self.set(bit, Formula::Constant(false));
        }
        for mine in Mine::VIEWS {
            self.set_others(mine, Formula::Constant(false));
        }
    }
}
