//! The narrow waist: the only interface between systems and the engines.
//!
//! A system is a shared state and a multiset of threads, each in a local state. A [`Step`] takes
//! some threads, puts others back and changes the shared state; a thread's move, a spawn, an exit
//! and a Petri-net transition are all of this one form. [`Bystanders`] says what the other threads
//! do meanwhile. [`semantics`] defines what firing a step means; a [`Model`] only lists steps, on
//! demand.
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
//! inclusion of sets; every configuration of [`semantics::unfire`] fires into a configuration that
//! covers the given one; larger configurations can do at least as much, unless [`Traits::blocking`]
//! says otherwise; equal calls return equal lists.

pub mod assumption;
pub mod bag;
pub mod bits;
pub mod components;
pub mod concrete;
pub mod config;
pub mod cubes;
pub mod deadlock;
pub mod fair;
pub mod helpers;
pub mod limits;
pub mod localisation;
pub mod memory;
pub mod packed;
pub mod partial_order;
pub mod predicate;
pub mod problem;
pub mod property;
pub mod quotient;
#[doc(hidden)]
pub mod random;
pub mod reduction;
pub mod semantics;
pub mod singles;
pub mod starvation;
mod states;
pub mod stuck;
pub mod table;
pub mod thread_names;
pub mod unfold;
pub mod verdict;
pub mod views;
pub mod waiting;

use std::sync::Arc;

pub use bag::{Bag, OMEGA, UNCOUNTABLE};
pub use config::Config;

/// The value of the shared variables. Only the model can decode it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shared(pub u64);

/// The state of one thread: its program counter and local variables, or the place of a token.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Local(pub u64);

/// The statement or net transition that a step came from. Models use it to find its source; engines
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
    /// What the threads in `take` become.
    pub put: Bag,
    /// Threads that the step creates. Unlike those in `put`, they do not appear if the thread bound
    /// is reached.
    pub spawn: Bag,
    /// The effect on all other threads.
    pub others: Bystanders,
    /// The statement or transition that the step came from.
    pub edge: Edge,
    /// Distinguishes steps of one edge that are equal but for their effect on bystanders; only the
    /// model reads it.
    pub choice: u64,
}

impl Step {
    /// Returns whether the step increases the number of threads.
    pub fn creates(&self) -> bool {
        u64::from(self.put.size()) + u64::from(self.spawn.size()) > u64::from(self.take.size())
    }
}

/// The effect of a step on the threads that it does not take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Bystanders {
    /// They stay where they are.
    Stay,
    /// Each has one of the fates that [`Transfers::bystander`] lists, independently of the others.
    Transfer,
    /// If threads wait ([`Transfers::woken`]) for the condition that the step signals
    /// ([`Transfers::wakes`]), exactly one of them is woken; otherwise none changes.
    WakeOne,
}

/// A thread's location, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Line in the input, from 1.
    pub line: u32,
    /// Column in the input, from 1.
    pub column: u32,
    /// The statement at this location.
    pub text: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// The enclosing function, with its callers where calls were inlined: `main`, `main > f`.
    pub function: String,
    /// The line of the call in each of these callers, if known.
    pub calls: Vec<u32>,
    /// The location in the C file that the program was made from.
    pub origin: Option<String>,
}

/// A variable that a step read or wrote, for people.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Accessed {
    /// The name of the variable.
    pub variable: String,
    /// The value that was read or written.
    pub value: String,
    /// True for a write.
    pub writes: bool,
}

/// The variables that a thread reads and writes, in its next step and later, as sets; used by
/// [`crate::partial_order`].
///
/// Bits stand for variables that several threads can access; variables may share a bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// The thread's place; thread states of the same place have the same footprint.
    pub place: u32,
    /// Variables its next step reads.
    pub reads: u64,
    /// Variables its next step writes, or whose values the step may exclude.
    pub writes: u64,
    /// Variables that the thread, or a thread it creates, may ever read, including this step.
    pub later_reads: u64,
    /// Variables that the thread, or a thread it creates, may ever write, including this step.
    pub later_writes: u64,
    /// True if the next step affects other threads only through variables. No cycle of control
    /// consists of such places alone.
    pub goes_first: bool,
}

/// Why some steps could not be listed. The listed ones are right, so runs over them count, but
/// nothing is proved.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Incomplete(pub String);

impl std::fmt::Display for Incomplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incomplete {}

impl Incomplete {
    /// For callers that only search the listed steps for one and conclude nothing from its absence.
    pub fn irrelevant(_listed: Result<(), Incomplete>) {}
}

/// Asks whether a search has to stop.
pub type StopCheck = Arc<dyn Fn() -> bool + Send + Sync>;

/// The properties of a model that soundness arguments depend on. There are no defaults, so that no
/// wrapper forgets one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traits {
    /// The reason why a thread's mere presence may block a step, if it may. Larger configurations
    /// can then do *less*, and only bounded search is exact.
    pub blocking: Option<String>,
    /// True if some step leaves more threads than it takes.
    pub spawns: bool,
}

/// A thread template, given by its steps. See the module documentation for the laws.
///
/// The first seven methods define the system and have no defaults. The others are optional
/// capabilities: without one there are fewer answers, never wrong ones.
pub trait Model: Describe + Send + Sync {
    /// Appends the steps that a thread at `l` leads in shared state `s`, in a fixed order.
    ///
    /// A step that takes several threads is led by exactly one local state of its `take`.
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Appends the steps possible in `s` that take no thread at all.
    fn post_shared(&self, s: Shared, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Returns the properties of the model that soundness arguments depend on.
    fn traits(&self) -> Traits;

    /// Returns the effects of steps on bystanders, if some step has [`Bystanders::Transfer`] or
    /// [`Bystanders::WakeOne`]: then accelerations are not exact.
    fn transfers(&self) -> Option<&dyn Transfers>;

    /// Returns the comparison of states that stand for sets; `None` if states are plain, i.e. equal
    /// or disjoint.
    fn sets(&self) -> Option<&dyn SetStates>;

    /// Returns whether a thread at `l` has ended: such a thread does not make a configuration a
    /// deadlock.
    fn has_ended(&self, l: Local) -> bool;

    /// Returns what is known about threads that wait in loops, if there may be some. A model that is
    /// made from another one hands on what that one says, or deadlocks and stuck threads that wait
    /// in loops are not seen in it.
    fn waits(&self) -> Option<&dyn waiting::Waits>;

    /// Returns the backward steps, if the model can list them.
    fn predecessors(&self) -> Option<&dyn Predecessors> {
        None
    }

    /// Returns what threads read and write, for partial-order reduction.
    fn footprints(&self) -> Option<&dyn Footprints> {
        None
    }

    /// Returns how states are stored beyond the process, for checkpoints.
    fn persist(&self) -> Option<&dyn Persist> {
        None
    }
}

/// The effects of steps on bystanders.
pub trait Transfers {
    /// Appends the possible fates of a bystander at `l` when `step` (with [`Bystanders::Transfer`])
    /// fires: its next local state, or `None` if it vanishes.
    ///
    /// A bystander without any fate blocks the step by its mere presence; see [`Traits::blocking`].
    fn bystander(&self, step: &Step, l: Local, out: &mut Vec<Option<Local>>) -> Result<(), Incomplete>;

    /// Returns where a thread at `l` goes when it is woken; `None` if it does not wait.
    fn woken(&self, l: Local) -> Option<Local>;

    /// Returns the condition that a thread at `l` waits for, if it waits; models with one condition
    /// need not override this.
    fn waits_for(&self, _l: Local) -> u32 {
        0
    }

    /// Returns the condition whose waiting threads a step with [`Bystanders::WakeOne`] wakes.
    fn wakes(&self, _step: &Step) -> u32 {
        0
    }
}

/// The steps into a state, and the previous states of bystanders.
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

    /// Appends every waiting state.
    fn waiting(&self, out: &mut Vec<Local>);

    /// Returns every step, if the model is explicit.
    fn listed(&self) -> Option<&[Step]> {
        None
    }
}

/// States that stand for sets of concrete states: cubes over the variables of a program.
pub trait SetStates {
    /// Returns whether some concrete shared state is in both sets.
    fn meets_shared(&self, a: Shared, b: Shared) -> bool;

    /// Returns whether some concrete local state is in both sets.
    fn meets_local(&self, a: Local, b: Local) -> bool;

    /// Returns whether every concrete shared state of `a` is in `b`.
    fn within_shared(&self, a: Shared, b: Shared) -> bool;

    /// Returns whether every concrete local state of `a` is in `b`.
    fn within_local(&self, a: Local, b: Local) -> bool;

    /// Returns the concrete shared states that are in both sets, if there are any.
    fn meet_shared(&self, a: Shared, b: Shared) -> Option<Shared>;

    /// Returns the concrete local states that are in both sets, if there are any.
    fn meet_local(&self, a: Local, b: Local) -> Option<Local>;

    /// Returns a class of local states: if one state is within another, both have the same class.
    /// Used to rule out comparisons quickly.
    fn local_class(&self, l: Local) -> u64;

    /// Returns a shape: of two different local states of one class and one shape, neither is within
    /// the other. Used to rule out comparisons quickly.
    fn local_shape(&self, l: Local) -> u64 {
        l.0
    }

    /// Returns the states as cubes.
    fn cubes(&self) -> &dyn cubes::Cubes;

    /// Returns whether a thread is inside an atomic section: lists of thread states omit such
    /// states.
    fn inside_atomic(&self, s: Shared) -> bool {
        self.cubes().shared_cube(s).0
    }

    /// Returns one concrete shared state of a set.
    fn sample_shared(&self, s: Shared) -> Shared {
        let (inside, masks) = self.cubes().shared_cube(s);
        self.cubes().encode_shared(inside, &cubes::sample(&masks))
    }

    /// Returns one concrete local state of a set.
    fn sample_local(&self, l: Local) -> Local {
        let (point, masks) = self.cubes().local_cube(l);
        self.cubes().encode_local(point, &cubes::sample(&masks))
    }

    /// Returns the binary logarithm of the number of concrete states that a shared and a local
    /// state stand for together.
    fn free_bits(&self, s: Shared, l: Local) -> u32 {
        let free = |masks: &[u8]| masks.iter().filter(|&&m| m == cubes::FREE).count() as u32;
        free(&self.cubes().shared_cube(s).1) + free(&self.cubes().local_cube(l).1)
    }

    /// Returns every concrete shared state of a set.
    fn members_shared(&self, s: Shared) -> Vec<Shared> {
        let (inside, masks) = self.cubes().shared_cube(s);
        cubes::members(&masks).iter().map(|m| self.cubes().encode_shared(inside, m)).collect()
    }

    /// Returns every concrete local state of a set.
    fn members_local(&self, l: Local) -> Vec<Local> {
        let (point, masks) = self.cubes().local_cube(l);
        cubes::members(&masks).iter().map(|m| self.cubes().encode_local(point, m)).collect()
    }

    /// Returns whether [`SetStates::forget`] changes some state.
    fn forgets(&self) -> bool {
        false
    }

    /// Returns the local state with every value open that no thread will ever read again. Two
    /// states that become equal can take the same steps and are equal, too, in this sense after
    /// each of them.
    fn forget(&self, l: Local) -> Local {
        l
    }

    /// Returns a part of the states that `step` starts from, each member of which can lead its
    /// thread into `to` and `put`, with a new thread in `spawn`; `None` if there is none. This
    /// narrows a run over sets to a concrete one, back to front.
    fn narrow(
        &self,
        step: &Step,
        to: Shared,
        put: Option<Local>,
        spawn: Option<Local>,
    ) -> Option<(Shared, Local)>;

    /// Returns a part of `before`, from each member of which a bystander of `step` can go to
    /// `after`.
    fn narrow_bystander(&self, step: &Step, before: Local, after: Local) -> Option<Local>;

    /// Lists steps as [`Model::post`] does, but with the values of variables that no thread will
    /// ever read again, which `post` may leave open. For people.
    fn post_in_full(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete>;

    /// Appends parts of `s` and `l` that together are all members in which a thread at `l` can lead
    /// a step or violate an assertion, whatever other threads there are.
    ///
    /// The default tries every member.
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

    /// Sets a check that later calls make if they take long. When it asks them to stop, they return
    /// an incomplete list and an error.
    fn set_stop_check(&self, check: Option<StopCheck>);

    /// Returns the model itself, for engines made for one kind of model: the symbolic engines
    /// encode programs.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// The variables that threads read and write.
pub trait Footprints {
    /// Returns the variables that a thread at `l` reads and writes, now and later.
    fn footprint(&self, l: Local) -> Footprint;

    /// Returns the variables, as in a [`Footprint`], whose values `s` fixes.
    fn constrained(&self, s: Shared) -> u64;
}

/// States as bytes that a later process can read.
pub trait Persist {
    /// Returns the meaning of the states handed out so far, where these are indices into a growing
    /// table. Empty where states need no table.
    fn export_states(&self) -> Vec<u8>;

    /// Restores the table that [`Persist::export_states`] wrote in an earlier process, so that
    /// states mean the same in this one. Returns `false` if that is not possible, e.g. because a
    /// state that this process has handed out means something else there.
    fn import_states(&self, states: &[u8]) -> bool;

    /// Encodes a shared state as bytes that mean the same in every process that has read the same
    /// input.
    fn shared_bytes(&self, s: Shared) -> Vec<u8> {
        s.0.to_le_bytes().into()
    }

    /// Decodes a shared state that another process wrote with [`Persist::shared_bytes`]; `None` if
    /// it is not one.
    fn shared_of(&self, bytes: &[u8]) -> Option<Shared> {
        bytes.try_into().ok().map(|word| Shared(u64::from_le_bytes(word)))
    }

    /// Encodes a local state as bytes that mean the same in every process that has read the same
    /// input.
    fn local_bytes(&self, l: Local) -> Vec<u8> {
        l.0.to_le_bytes().into()
    }

    /// Decodes a local state that another process wrote with [`Persist::local_bytes`]; `None` if it
    /// is not one.
    fn local_of(&self, bytes: &[u8]) -> Option<Local> {
        bytes.try_into().ok().map(|word| Local(u64::from_le_bytes(word)))
    }
}

/// Names for people.
pub trait Describe {
    /// Returns name and value of every part of a shared state: `[("lock", "1")]`.
    fn shared_values(&self, s: Shared) -> Vec<(String, String)>;

    /// Returns name and value of every part of a local state besides its place.
    fn local_values(&self, l: Local) -> Vec<(String, String)>;

    /// Returns the location of a thread in this state, if the input has lines.
    fn place(&self, l: Local) -> Option<Place>;

    /// Returns the statement or transition in the input, with its line if it has one.
    fn edge_place(&self, edge: Edge) -> Place;

    /// Returns in words (`line 12`) where control continues after this edge, if the statement has
    /// several successors.
    fn way(&self, _edge: Edge) -> Option<String> {
        None
    }

    /// Returns what a step reads and writes, in order, unless its effect on the state already shows
    /// it.
    fn accesses(&self, _step: &Step) -> Vec<Accessed> {
        Vec::new()
    }

    /// Returns in words what the last step of a run violates, unless the state afterwards already
    /// shows it.
    fn blame(&self, _step: &Step) -> Option<String> {
        None
    }

    /// Returns the bits of a shared state if [`Describe::shared_values`] shows several of them as
    /// one value; otherwise nothing.
    fn shared_bits(&self, _s: Shared) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns the bits of a local state if [`Describe::local_values`] shows several of them as one
    /// value; otherwise nothing.
    fn local_bits(&self, _l: Local) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Returns every location of a thread, including unreachable ones, if the input has lines.
    fn places(&self) -> Vec<Place> {
        Vec::new()
    }

    /// Returns a name for a shared state.
    fn shared_name(&self, s: Shared) -> String {
        join_values(&self.shared_values(s))
    }

    /// Returns a name for a local state.
    fn local_name(&self, l: Local) -> String {
        let values = join_values(&self.local_values(l));
        match self.place(l) {
            Some(p) if values.is_empty() => format!("line {}", p.line),
            Some(p) => format!("line {} {values}", p.line),
            None => values,
        }
    }
}

/// Joins values: `x=1 y=0`.
fn join_values(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns a number with its noun: `1 thread`, `2 threads`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
