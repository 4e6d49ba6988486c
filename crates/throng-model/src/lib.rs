//! The narrow waist: what every engine sees, and all that it sees.
//!
//! A system is a shared state and a multiset of threads, each in a local state. A [`Step`] takes
//! some threads, puts others back and changes the shared state; a thread's move, a spawn, an exit
//! and a Petri-net transition are all of this one form. What the bystanders do meanwhile is
//! [`Bystanders`]. [`semantics`] is the only place that says what firing a step means; a [`Model`]
//! only lists steps, when asked.
//!
//! # States are opaque codes, and may stand for sets
//!
//! [`Shared`] and [`Local`] are opaque codes that only their model can decode. A state may stand
//! for a *set* of concrete states: a Boolean program leaves a variable open (`*`) until a statement
//! reads it, so 2ⁿ values of n variables that have not been read are one state. A configuration
//! then stands for the product of its sets. Steps are exact on sets (reference 2.7: every `*` is an
//! independent choice), so a search that treats them as plain states still answers the question
//! exactly; [`SetStates::meets_local`] and its siblings are the only places where the difference
//! shows. Tables and nets have only singletons, and no [`Model::sets`].
//!
//! # Laws
//!
//! Tested on every front end by `throng_dev::laws`: `pre` and `post` list the same steps up to
//! inclusion of sets; every configuration of [`semantics::unfire`] fires into something that covers
//! the one it was asked about; larger configurations can do at least as much, unless
//! [`Traits::blocking`] says otherwise; the same call gives the same list.

pub mod bag;
pub mod bits;
pub mod concrete;
pub mod config;
pub mod cubes;
pub mod deadlock;
pub mod limits;
pub mod localisation;
pub mod packed;
pub mod partial_order;
pub mod predicate;
pub mod problem;
pub mod property;
pub mod quotient;
pub mod reduction;
pub mod semantics;
pub mod singles;
mod states;
pub mod stuck;
pub mod table;
pub mod thread_names;
pub mod unfold;
pub mod verdict;
pub mod views;

use std::sync::Arc;

pub use bag::{Bag, OMEGA, UNCOUNTABLE};
pub use config::Config;

/// The value of the shared variables. Only the model knows what the bits mean.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shared(pub u64);

/// What one thread remembers: its program counter and local variables, or the place of a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Local(pub u64);

/// The statement or net transition a step came from. Models use it to find their way back; engines
/// ignore it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge(pub u32);

/// One move: in shared state `from`, the threads `take` become the threads `put`, `spawn` appear,
/// and `from` becomes `to`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Step {
    /// Shared state before.
    pub from: Shared,
    /// Shared state after.
    pub to: Shared,
    /// The threads that take part; empty only for steps of [`Model::post_shared`].
    pub take: Bag,
    /// What they become.
    pub put: Bag,
    /// Threads that are created. Unlike `put`, they do not appear when the thread bound is reached.
    pub spawn: Bag,
    /// What all other threads do in the same step.
    pub others: Bystanders,
    /// Where it came from.
    pub edge: Edge,
    /// Distinguishes steps of one edge that look alike but treat bystanders differently; only the
    /// model reads it.
    pub choice: u64,
}

impl Step {
    /// Whether there are more threads after it than before.
    pub fn creates(&self) -> bool {
        u64::from(self.put.size()) + u64::from(self.spawn.size()) > u64::from(self.take.size())
    }
}

/// What the threads that a step does not take do while it fires.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Bystanders {
    /// Nothing.
    Stay,
    /// Each meets one of the fates that [`Transfers::bystander`] lists; independently of the
    /// others.
    Transfer,
    /// If a thread waits ([`Transfers::woken`]) for what the step signals ([`Transfers::wakes`]),
    /// exactly one such thread is woken; else nothing happens.
    WakeOne,
}

/// Where a thread is, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Line in the input, from 1.
    pub line: u32,
    /// Column in the input, from 1.
    pub column: u32,
    /// The statement there.
    pub text: String,
    /// Labels on it.
    pub labels: Vec<String>,
    /// The function it is in, with its callers when calls were inlined: `main`, `main > f`.
    pub function: String,
    /// Of each of these callers, the line of the call, if that is known.
    pub calls: Vec<u32>,
    /// Location in the C file the program was made from.
    pub origin: Option<String>,
}

/// What a step read or wrote, for people.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Accessed {
    /// The name of the variable.
    pub variable: String,
    /// The value that was read or written.
    pub value: String,
    /// Whether it was written.
    pub writes: bool,
}

/// What a thread reads and writes, in its next step and ever after, as sets of variables; for
/// [`crate::partial_order`].
///
/// Bits stand for variables that several threads can see; variables may share a bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// Where the thread is; thread states of the same place have the same footprint.
    pub place: u32,
    /// Variables its next step reads.
    pub reads: u64,
    /// Variables its next step writes, or whose values it may rule out.
    pub writes: u64,
    /// Variables that it, or a thread it creates, may ever read, this step included.
    pub later_reads: u64,
    /// Variables that it, or a thread it creates, may ever write, this step included.
    pub later_writes: u64,
    /// Whether the next step concerns other threads only through variables, and no cycle consists
    /// of such places alone.
    pub goes_first: bool,
}

/// Some steps could not be listed, and why. What was listed is right, so runs count; nothing is
/// proved.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Incomplete(pub String);

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incomplete {}

impl Incomplete {
    /// For callers that only look for a step among those listed and conclude nothing from the
    /// absence of one.
    pub fn irrelevant(_listed: Result<(), Incomplete>) {}
}

/// Whether a search has to stop.
pub type Over = Arc<dyn Fn() -> bool + Send + Sync>;

/// What every argument about a model must know. There are no defaults, so that no wrapper forgets
/// one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traits {
    /// Why a thread's mere presence may block a step, if it may: then larger configurations can
    /// do *less*, and only bounded search answers exactly.
    pub blocking: Option<String>,
    /// Whether some step leaves more threads than it takes.
    pub spawns: bool,
}

/// A thread template: which steps there are. See the module documentation for the laws.
///
/// The first six methods say what the system is and have no defaults; the others are capabilities
/// that a model may lack, and that cost answers, never wrong ones.
pub trait Model: Describe + Send + Sync {
    /// Appends the steps that a thread at `l` leads in shared state `s`, in a fixed order.
    ///
    /// A step that takes several threads is led by exactly one local state of its `take`.
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Appends the steps possible in `s` that take no thread at all.
    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// What every argument about the model must know.
    fn traits(&self) -> Traits;

    /// What steps do to bystanders, if some step has [`Bystanders::Transfer`] or
    /// [`Bystanders::WakeOne`]: then accelerations are not exact.
    fn transfers(&self) -> Option<&dyn Transfers>;

    /// How states that stand for sets are compared; `None` if states are plain, equal or different.
    fn sets(&self) -> Option<&dyn SetStates>;

    /// Whether a thread at `l` has come to its end: that it does not move is no deadlock.
    fn has_ended(&self, l: Local) -> bool;

    /// The steps into a state.
    fn predecessors(&self) -> Option<&dyn Predecessors> {
        None
    }

    /// What threads read and write, for partial orders.
    fn footprints(&self) -> Option<&dyn Footprints> {
        None
    }

    /// How states outlive the process, for checkpoints.
    fn persist(&self) -> Option<&dyn Persist> {
        None
    }
}

/// What becomes of bystanders.
pub trait Transfers {
    /// Appends what may become of a bystander at `l` when `step` (with [`Bystanders::Transfer`])
    /// fires: `None` means that it vanishes.
    ///
    /// No fate at all means that its mere presence blocks the step; see [`Traits::blocking`].
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete>;

    /// Where a thread at `l` goes when it is woken, if it waits.
    fn woken(&self, l: Local) -> Option<Local>;

    /// The condition that a thread at `l` waits for, if it waits; there may be one only.
    fn waits_for(&self, _l: Local) -> u32 {
        0
    }

    /// The condition whose waiting threads a step with [`Bystanders::WakeOne`] wakes.
    fn wakes(&self, _step: &Step) -> u32 {
        0
    }
}

/// The steps into a state, and where bystanders came from.
pub trait Predecessors {
    /// Appends the steps that end in (a part of) `s` and leave some thread, active, created, woken
    /// or carried along, at (a part of) `l`.
    fn pre(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Appends the steps that end in `s` and may have begun in another shared state, wherever their
    /// threads end; and those that take no thread.
    fn pre_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Appends where a bystander that is at `l` after `step` may have been before.
    fn bystander_back(&self, step: &Step, l: Local, out: &mut Vec<Local>) -> Result<(), Incomplete>;

    /// Appends the waiting states from which a thread is woken into (a part of) `l`.
    fn woken_back(&self, l: Local, out: &mut Vec<Local>);

    /// Appends every waiting state there is.
    fn waiting(&self, out: &mut Vec<Local>);

    /// Every step there is, if the model is written out.
    fn listed(&self) -> Option<&[Step]> {
        None
    }
}

/// States that stand for sets of concrete states: cubes over the variables of a program.
pub trait SetStates {
    /// Whether some concrete shared state is in both sets.
    fn meets_shared(&self, a: Shared, b: Shared) -> bool;

    /// Whether some concrete local state is in both sets.
    fn meets_local(&self, a: Local, b: Local) -> bool;

    /// Whether every concrete shared state of `a` is in `b`.
    fn within_shared(&self, a: Shared, b: Shared) -> bool;

    /// Whether every concrete local state of `a` is in `b`.
    fn within_local(&self, a: Local, b: Local) -> bool;

    /// The concrete shared states that are in both sets, if there are any.
    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared>;

    /// The concrete local states that are in both sets, if there are any.
    fn meet_local(&self, a: Local, b: Local) -> Option<Local>;

    /// Two local states of which one is within the other have the same class; used to rule out
    /// comparisons quickly.
    fn local_class(&self, l: Local) -> u64;

    /// Of two different local states of one class and one shape, neither is within the other; used
    /// to rule out comparisons quickly.
    fn local_shape(&self, l: Local) -> u64 {
        l.0
    }

    /// The states as cubes.
    fn cubes(&self) -> &dyn cubes::Cubes;

    /// Whether a thread is inside an atomic section: lists of thread states leave such moments out.
    fn inside_atomic(&self, s: Shared) -> bool {
        self.cubes().shared_cube(s).0
    }

    /// One concrete shared state of a set.
    fn sample_shared(&self, s: Shared) -> Shared {
        let (inside, masks) = self.cubes().shared_cube(s);
        self.cubes().encode_shared(inside, &cubes::sample(&masks))
    }

    /// One concrete local state of a set.
    fn sample_local(&self, l: Local) -> Local {
        let (point, masks) = self.cubes().local_cube(l);
        self.cubes().encode_local(point, &cubes::sample(&masks))
    }

    /// How many concrete states a shared and a local state stand for together, as a power of two.
    fn free_bits(&self, s: Shared, l: Local) -> u32 {
        let free = |masks: &[u8]| masks.iter().filter(|&&m| m == cubes::FREE).count() as u32;
        free(&self.cubes().shared_cube(s).1) + free(&self.cubes().local_cube(l).1)
    }

    /// Every concrete shared state of a set.
    fn members_shared(&self, s: Shared) -> Vec<Shared> {
        let (inside, masks) = self.cubes().shared_cube(s);
        cubes::members(&masks).iter().map(|m| self.cubes().encode_shared(inside, m)).collect()
    }

    /// Every concrete local state of a set.
    fn members_local(&self, l: Local) -> Vec<Local> {
        let (point, masks) = self.cubes().local_cube(l);
        cubes::members(&masks).iter().map(|m| self.cubes().encode_local(point, m)).collect()
    }

    /// Whether [`SetStates::forget`] forgets anything in some state.
    fn forgets(&self) -> bool {
        false
    }

    /// The local state, with every value open that no thread will ever read again: two states of
    /// which the same is left can do the same, and after it the same is left of them.
    fn forget(&self, l: Local) -> Local {
        l
    }

    /// A part of the states `step` starts from, out of each of which it can lead its thread into
    /// `to` and `put`, with a new thread in `spawn`; `None` if there is none. How a run over sets
    /// is narrowed down to a concrete one, back to front.
    fn narrow(
        &self,
        step: &Step,
        to: Shared,
        put: Option<Local>,
        spawn: Option<Local>,
    ) -> Option<(Shared, Local)>;

    /// A part of `before`, out of each of which a bystander of `step` can go to `after`.
    fn narrow_bystander(&self, step: &Step, before: Local, after: Local) -> Option<Local>;

    /// As [`Model::post`], but with the values of variables that no thread will ever read again,
    /// which `post` may leave open: for people.
    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Appends parts of `s` and `l` that together are all those in which a thread there can lead a
    /// step or violate an assertion, whatever other threads there are.
    ///
    /// By default every member is tried.
    fn moving(&self, s: Shared, l: Local, out: &mut Vec<(Shared, Local)>) -> Result<(), Incomplete> {
        let (mut complete, mut steps) = (Ok(()), Vec::new());
        for s in self.members_shared(s) {
            for l in self.members_local(l) {
                complete = complete.and(self.post_in_full(s, l, &mut steps));
                out.extend((!steps.is_empty()).then_some((s, l)));
                steps.clear();
            }
        }
        complete
    }

    /// From now on, calls that take long ask whether to stop, and then list too few steps and say
    /// so.
    fn obey(&self, over: Option<Over>);

    /// The model itself, for engines made for one kind of model: the symbolic ones encode programs.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// What threads read and write.
pub trait Footprints {
    /// What a thread at `l` reads and writes, now and later.
    fn footprint(&self, l: Local) -> Footprint;

    /// The variables, as in a [`Footprint`], whose values `s` fixes.
    fn constrained(&self, s: Shared) -> u64;
}

/// States as bytes that a later process can read.
pub trait Persist {
    /// What the states given out so far mean, where they are numbers in a table that grows. Empty
    /// where a state says by itself what it means.
    fn export_states(&self) -> Vec<u8>;

    /// Restores what [`Persist::export_states`] wrote in an earlier process, so that states mean
    /// the same in this one. `false` if that is not possible, e.g. because a state that this
    /// process has given out means something else there.
    fn import_states(&self, states: &[u8]) -> bool;

    /// A shared state as bytes that mean the same in every process that has read the same input.
    fn shared_bytes(&self, s: Shared) -> Vec<u8> {
        s.0.to_le_bytes().into()
    }

    /// The shared state that another process wrote with [`Persist::shared_bytes`], if it is one.
    fn shared_of(&self, bytes: &[u8]) -> Option<Shared> {
        bytes.try_into().ok().map(|word| Shared(u64::from_le_bytes(word)))
    }

    /// A local state as bytes that mean the same in every process that has read the same input.
    fn local_bytes(&self, l: Local) -> Vec<u8> {
        l.0.to_le_bytes().into()
    }

    /// The local state that another process wrote with [`Persist::local_bytes`], if it is one.
    fn local_of(&self, bytes: &[u8]) -> Option<Local> {
        bytes.try_into().ok().map(|word| Local(u64::from_le_bytes(word)))
    }
}

/// Names for people.
pub trait Describe {
    /// Name and value of every part of a shared state: `[("lock", "1")]`.
    fn shared_values(&self, s: Shared) -> Vec<(String, String)>;

    /// Name and value of every part of a local state besides its place.
    fn local_values(&self, l: Local) -> Vec<(String, String)>;

    /// Where a thread in this state is, if the input has lines for that.
    fn place(&self, l: Local) -> Option<Place>;

    /// What the step's statement or transition looks like in the input, with its line if it has
    /// one.
    fn edge_place(&self, edge: Edge) -> Place;

    /// Where control goes by this edge, in words (`line 12`), if the statement has other ways to go
    /// on: which branch was taken.
    fn way(&self, _edge: Edge) -> Option<String> {
        None
    }

    /// What a step reads and writes, in order, if its effect on the state does not tell.
    fn accesses(&self, _step: &Step) -> Vec<Accessed> {
        Vec::new()
    }

    /// What the thread of a step at the end of a run does wrong, in words, if the state afterwards
    /// does not tell.
    fn blame(&self, _step: &Step) -> Option<String> {
        None
    }

    /// The bits of a shared state, if [`Describe::shared_values`] shows several of them as one
    /// value; else nothing.
    fn shared_bits(&self, _s: Shared) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The bits of a local state, if [`Describe::local_values`] shows several of them as one value;
    /// else nothing.
    fn local_bits(&self, _l: Local) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Every place where a thread could be, if the input has lines for that; also those that
    /// control cannot reach.
    fn places(&self) -> Vec<Place> {
        Vec::new()
    }

    /// A name for a shared state.
    fn shared_name(&self, s: Shared) -> String {
        join_values(&self.shared_values(s))
    }

    /// A name for a local state.
    fn local_name(&self, l: Local) -> String {
        let values = join_values(&self.local_values(l));
        match self.place(l) {
            Some(p) if values.is_empty() => format!("line {}", p.line),
            Some(p) => format!("line {} {values}", p.line),
            None => values,
        }
    }
}

/// `x=1 y=0`
fn join_values(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns a number with its noun: `1 thread`, `2 threads`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
