//! Certificates as files: a question, its answers, and the evidence, in JSON; `docs/formats.md`
//! defines each kind.
//!
//! The layout is defined once, here, for both directions: writing borrows large sets
//! ([`mod@write`]), reading owns them. States are listed once, by name ([`names`]), and referred to
//! by their index in that list, so a certificate does not depend on how any version of the tool
//! numbers states.

mod compiled;
mod complete;
pub mod names;
pub mod refinement;
mod shrink;
pub mod write;

pub use self::compiled::{Namer, ProgramNames};
pub use self::shrink::shrink;

use serde::{Deserialize, Serialize};

use self::names::{LocalName, SharedName};
use throng_lang::property::{self, Property as Asks};
use throng_lang::source::Diagnostic;
use throng_model::problem::{Target, What};

/// The name of the format, in every certificate.
pub const FORMAT: &str = "throng-certificate";
/// Version of the layout and of its meaning; earlier ones can be read as well.
pub const VERSION: u32 = 2;

/// A whole certificate. `C` is a set of configurations: owned when read, borrowed when written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document<C = Vec<Configuration>> {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote it; informative only.
    pub tool: String,
    /// A description of the input; informative only: the checker reads the input itself.
    pub input: Input,
    /// The question.
    pub problem: Asked,
    /// Every state that occurs, by name.
    pub states: States,
    /// The answers.
    pub targets: Vec<Answered>,
    /// Targets without an answer; informative only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// The evidence for the answers.
    pub evidence: Vec<Evidence<C>>,
    /// The claim about a cutoff, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<CutoffClaim>,
}

/// The input that was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its format: `bp`, `tts`, `ntts`, `spec`, `pnml`.
    pub kind: String,
    /// FNV-1a hash of its text, 64 bits in hexadecimal.
    pub hash: String,
}

/// The question besides its targets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The initial configurations.
    pub initial: Start,
    /// The bound on threads.
    pub bound: Most,
    /// Programs: true if a thread that has ended frees its slot under a thread bound.
    pub slot_reuse: bool,
    /// Nets: true if a variable that `init` does not mention may start with any number of tokens.
    pub init_free: bool,
}

/// The initial configurations of a system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// A program: this many threads at the entry of `main`.
    Main(Count),
    /// A system: the union of these families.
    Families(Vec<Family>),
}

/// A family of initial configurations.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The shared state.
    pub shared: u32,
    /// Exactly these threads,
    pub threads: Vec<(u32, u32)>,
    /// and any number in each of these states.
    pub any: Vec<u32>,
}

/// A thread bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Most {
    /// No bound.
    Any,
    /// At most this many threads at any time.
    Threads(u32),
    /// At most this many initial tokens for each open count.
    Tokens(u32),
}

/// The states in a certificate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct States {
    /// Shared states.
    pub shared: Vec<SharedName>,
    /// Local states.
    pub local: Vec<LocalName>,
}

/// One answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answered {
    /// The name of the target.
    pub name: String,
    /// The property that must not be reached.
    pub property: Property,
    /// The verdict about it.
    pub verdict: Claim,
    /// Index of its evidence.
    pub evidence: u32,
}

/// A property that must not be reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// A program's assertion is violated.
    Assertions,
    /// A thread is about to execute the statement with this label.
    ErrorLabel(String),
    /// Two threads are at these labels, see [`property::mutex`], no thread is inside an atomic
    /// section.
    Mutex(String),
    /// More threads are at these labels than allowed, see [`property::at_most`], no thread is
    /// inside an atomic section.
    AtMost(String),
    /// Threads are there with conditions, see [`property::never`], no other thread is inside an
    /// atomic section.
    Never(String),
    /// Two threads are about to access this shared variable, one of them to write it, no thread is
    /// inside an atomic section.
    Race(String),
    /// This expression over the shared variables is false, no thread is inside an atomic section.
    Invariant(String),
    /// Threads are in these states, see [`throng_lang::bp::thread_state`], no other thread is
    /// inside an atomic section.
    State(String),
    /// No thread can move, and some thread has not ended.
    Deadlock,
    /// A thread is at one of these places, see [`property::stuck`], and can never move again.
    Stuck(String),
    /// A thread is at one of these places, see [`property::starvation`], and a fair scheduler lets
    /// it stay there for ever.
    Starvation(String),
    /// Some configuration covers one of these.
    Covers(Vec<Configuration>),
    /// Some configuration of a net satisfies this.
    Satisfies(Condition),
}

/// A condition on a configuration, see [`throng_model::predicate::Predicate`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The weighted sum of the numbers of threads in these local states is at least this.
    AtLeast(Vec<(u32, i64)>, i64),
    /// No step is enabled.
    Dead,
    /// Some step is enabled.
    Live,
    /// All of these.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
}

impl Property {
    /// Returns the property of a target of a program, or of one about deadlocks; certificates
    /// cannot express others.
    pub fn of(target: &Target) -> Option<Property> {
        if target.what == What::Deadlock {
            return Some(Property::Deadlock);
        }
        Some(match target.property.as_deref()? {
            Asks::Assertions => Property::Assertions,
            Asks::ErrorLabel(label) => Property::ErrorLabel(label.clone()),
            Asks::Mutex(of) => Property::Mutex(of.wording()),
            Asks::AtMost(of) => Property::AtMost(of.wording()),
            Asks::Never(of) => Property::Never(of.wording()),
            Asks::Stuck(of) => Property::Stuck(of.wording()),
            Asks::Race(name) => Property::Race(name.clone()?),
            Asks::Invariant(text) => Property::Invariant(text.clone()),
            Asks::State(text) => Property::State(text.clone()),
            Asks::Deadlock => Property::Deadlock,
            Asks::Starvation(of) => Property::Starvation(of.wording()),
            Asks::MemorySafety => return None,
        })
    }

    /// Returns the property of a program; `None` if it is about states instead.
    pub fn read(&self) -> Result<Option<Asks>, Diagnostic> {
        Ok(Some(match self {
            Property::Assertions => Asks::Assertions,
            Property::ErrorLabel(label) => Asks::ErrorLabel(label.clone()),
            Property::Mutex(text) => property::mutex(text)?,
            Property::AtMost(text) => property::at_most(text)?,
            Property::Never(text) => property::never(text)?,
            Property::Stuck(text) => property::stuck(text)?,
            Property::Starvation(text) => property::starvation(text)?,
            Property::Race(name) => Asks::Race(Some(name.clone())),
            Property::Invariant(text) => Asks::Invariant(text.clone()),
            Property::State(text) => Asks::State(text.clone()),
            Property::Deadlock => Asks::Deadlock,
            Property::Covers(_) | Property::Satisfies(_) => return Ok(None),
        }))
    }
}

/// A verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// The property is not reachable.
    Safe,
    /// The property is reachable.
    Unsafe,
}

/// A shared state, and the number of threads in each local state; states are given by index.
pub type Configuration = (u32, Vec<(u32, Count)>);

/// Views: a shared state, local states a and local states b. Each alone, and each a with each b,
/// can occur; null: b is a.
pub type Block = (u32, Vec<u32>, Option<Vec<u32>>);

/// A number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// Exactly this number.
    Exactly(u32),
    /// Any number.
    Any(Omega),
}

/// Any number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Omega {
    /// `"any"`
    Any,
}

impl Count {
    /// `"any"`
    pub const ANY: Count = Count::Any(Omega::Any);
}

/// The evidence for an answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Evidence<C = Vec<Configuration>> {
    /// A run into the target.
    Trace {
        /// The initial configuration.
        start: Configuration,
        /// The steps.
        steps: Vec<Taken>,
    },
    /// Every reachable configuration within the bound.
    Closed {
        /// The set.
        configurations: C,
    },
    /// ω-configurations that cover all reachable configurations.
    Downward {
        /// The set.
        configurations: C,
    },
    /// Views and vectors as invariants of the reachable configurations, and a basis of those that
    /// may reach the target and that the invariants do not rule out.
    Invariants {
        /// Shared states with at most two threads that can occur together, as blocks; null if there
        /// are no views.
        views: Option<Vec<Block>>,
        /// Linear functions that no possible step increases.
        vectors: Vec<Weights>,
        /// Minimal configurations that may reach the target and are not ruled out; empty if the
        /// whole target is ruled out.
        basis: C,
        /// For starvation, sums that no step increases that may be taken again and again.
        #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
        ranks: Vec<Rank>,
        /// Cases of runs with a vector for each; a tree, each node followed by its parts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        trees: Vec<Vec<Branch>>,
    },
    /// A proof that every case of the target contradicts the state equation.
    Refutation {
        /// Sets of local states that are never empty.
        traps: Vec<Vec<u32>>,
        /// A tree of cases, each followed by its parts.
        cases: Vec<Case>,
    },
    /// Evidence about the quotient of the model.
    #[serde(rename = "through")]
    Quotient {
        /// The shared states that are not skipped.
        kept: Vec<u32>,
        /// Classes of merged local states, with their representatives; null: threads there are
        /// removed.
        merged: Vec<(Option<u32>, Vec<u32>)>,
        /// The evidence.
        proof: Box<Evidence<C>>,
    },
    /// Evidence about a net after structural reductions.
    Reduced {
        /// Places that are not reduced, among them those of the target.
        visible: Vec<u32>,
        /// The reductions, in order.
        reductions: Vec<Reduction>,
        /// The evidence.
        proof: Box<Evidence<C>>,
    },
    /// Evidence about localised models of a program.
    Localised {
        /// The parts; the first one whose places include those of a target configuration rules it
        /// out.
        parts: Vec<LocalPart<C>>,
    },
}

/// A structural reduction of a net.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// Removes transitions that cannot fire, and parts that do not matter.
    Prune,
    /// Removes a place.
    Drop(u32),
    /// Delays the transitions into a place until its token is needed.
    Pre(u32),
    /// Fires the transitions out of a place immediately.
    Post(u32),
}

/// Evidence about one localised model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalPart<C = Vec<Configuration>> {
    /// A shared state in which exactly the variables that are kept have a value.
    pub kept: u32,
    /// Classes of places: the representative, with no values, and the members, in which exactly the
    /// variables that are kept have a value.
    pub classes: Vec<(u32, Vec<u32>)>,
    /// It rules out target configurations whose threads are all at these places.
    pub at: Vec<u32>,
    /// The evidence.
    pub proof: Evidence<C>,
}

/// One case of a refutation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Case {
    /// One case for each part of this open disjunction.
    Split(u32),
    /// A sum that no step increases is at least this combination of comparisons and traps, whose
    /// bound exceeds its value at the start.
    Linear {
        /// The sum.
        weights: Vec<(u32, i64)>,
        /// Comparisons by index, and their factors.
        comparisons: Vec<(u32, i64)>,
        /// Traps by index, and their factors.
        traps: Vec<(u32, i64)>,
    },
}

/// A node of a tree of cases.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Branch {
    /// One case for the runs that are never in one of these shared states, and one for those that
    /// enter them.
    Split(Vec<u32>),
    /// A linear function that no step of such a run increases.
    Leaf {
        /// Its coefficients for shared states.
        shared: Vec<(u32, i64)>,
        /// Its coefficients for local states.
        local: Vec<(u32, i64)>,
        /// For each set that is entered, from the root on: by how much each step into it decreases
        /// the function.
        drops: Vec<i64>,
    },
}

/// The coefficients of states in a linear function; those of other states are 0.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Shared states.
    pub shared: Vec<(u32, i64)>,
    /// Local states, never negative.
    pub local: Vec<(u32, i64)>,
}

/// The coefficients in a sum over a shared state with the thread that stays at its place, and the
/// other threads; those of other states are 0.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// Shared states with the local state of the thread that stays.
    pub nodes: Vec<(u32, u32, i64)>,
    /// Local states of other threads, never negative.
    pub local: Vec<(u32, i64)>,
}

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The local state of the thread that leads it; null if it takes no thread.
    pub by: Option<u32>,
    /// A description of the step; informative only.
    pub does: String,
    /// The configuration afterwards.
    pub after: Configuration,
}

/// A claim about a cutoff.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutoffClaim {
    /// The number of threads with which every reachable thread state is reached.
    pub threads: u32,
    /// Runs as a forest: the index of the previous configuration (null at the start), the thread
    /// that leads the step, the configuration.
    pub runs: Vec<(Option<u32>, Option<u32>, Configuration)>,
    /// Every reachable thread state (shared, local) with the index in `runs` of a configuration
    /// that has it.
    pub reachable: Vec<(u32, u32, u32)>,
    /// Index of evidence that is a downward set or views, which contain every reachable thread
    /// state.
    pub rest: u32,
    /// Thread states (shared, local) that `rest` contains but that are not reachable, with the
    /// index of the evidence for that.
    pub except: Vec<(u32, u32, u32)>,
    /// The proof that fewer threads do not suffice.
    pub needed: Option<Needed>,
}

/// A thread state that fewer threads do not reach.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needed {
    /// Shared and local state.
    pub state: (u32, u32),
    /// All configurations that fewer threads reach.
    pub configurations: Vec<Configuration>,
}

/// Returns the FNV-1a hash of a text, 64 bits.
pub fn hash(text: &str) -> String {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of the format are those of docs/formats.md, regardless of the names of types.
    #[test]
    fn evidence_about_a_quotient_keeps_its_key() {
        let text = r#"{"through":{"kept":[0],"merged":[[null,[1]]],"proof":{"downward":{"configurations":[[0,[[2,"any"]]]]}}}}"#;
        let evidence: Evidence = serde_json::from_str(text).expect("the documented form");
        assert!(matches!(evidence, Evidence::Quotient { .. }));
        assert_eq!(serde_json::to_string(&evidence).expect("JSON"), text);
    }
}
