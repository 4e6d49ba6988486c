//! Throng proves that concurrent programs are safe **for any number of threads**, or shows the
//! execution that breaks them.
//!
//! ```
//! # std::env::set_current_dir("../..").unwrap();
//! let outcome = throng::verify("examples/spinlock.bp")?;
//! assert!(outcome.is_safe());
//! let outcome = throng::verify("examples/spinlock-broken.bp")?;
//! assert_eq!(outcome.trace().map(|run| run.threads()), Some(2));
//! println!("{outcome}"); // which thread did what on which line, and which values changed
//! # Ok::<(), throng::Error>(())
//! ```
//!
#![cfg_attr(
    feature = "c",
    doc = r#"
With the feature `c`, programs in C are inputs like all others:

```
# std::env::set_current_dir("../..").unwrap();
use throng::{Engine, Input, Job, Limits};

let input = Input::open("examples/c/spinlock.c")?;
let job = Job::new(&input).entry("worker").certifiable();
let outcome = job.check(Engine::Auto, &Limits::none())?;
assert!(outcome.is_safe(), "{outcome}");
let mut certificate = Vec::new();
outcome.certificate(job.prepare()?, &mut certificate).expect("a proof")?;
assert!(job.certify_file(&certificate, &Limits::none()).is_ok());

let input = Input::open("examples/c/spinlock-broken.c")?;
let outcome = Job::new(&input).entry("worker").check(Engine::Auto, &Limits::none())?;
let replay = outcome.replay().expect("a run")?; // a C program that takes the steps of the run
assert!(replay.text.contains("main"));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"#
)]
//!
//! # What you need to know
//!
//! | name | what for |
//! | --- | --- |
//! | [`verify()`] | a file in, an [`Outcome`] out, with defaults |
//! | [`Input`] | a program, a thread-transition system or a net, from a file or a text |
//! | [`Job`] | a question about an input: where to start, what must not happen, for how many threads; then [`Job::check`], [`Job::reach`], [`Job::cutoff`], [`Job::certify`] |
//! | [`Engine`], [`Settings`] | the engines by name, and how they search |
//! | [`Outcome`] | a verdict per target with its evidence, statistics; renders itself as text, JSON and SARIF, and with the feature `page` as a web page |
//! | [`Limits`] | time, memory, and a handle that stops a search from elsewhere |
//! | [`template::Template`], [`template::System`] | one thread of a system as a Rust type of yours, verified for any number of them |
//! | [`model::Model`] | write an exploration algorithm of your own against it; it runs on every input |
//!
//! `examples/` in the repository has a program for each of the last three.
//!
//! # The theory on one page
//!
//! **Threads.** All threads run the same code. They *share* some finite memory, the shared state s;
//! each has a *local state* l: where it is, and the values of its own variables. Both are finite.
//! What is not finite is the number of threads, so "try all sizes" never ends.
//!
//! **Counting.** Threads have no names that the code could see. A configuration ⟨s | l₁, …, lₙ⟩ is
//! therefore one shared state and a *multiset* of local states, that is, a counter for each local
//! state ([`model::Config`]). A step takes some threads, puts others back and changes the shared
//! state ([`model::Step`]); on counters this is subtraction and addition, as in a Petri net. A
//! `broadcast` moves all bystanders at once; a `signal` moves one.
//!
//! **Covering.** One configuration *covers* another if it has the same shared state and at least as
//! many threads everywhere. What must not happen is always of the form "some configuration that
//! covers this one": an assertion fails in *some* thread; *two* threads are in the critical
//! section. The others do not matter.
//!
//! **Why any number is decidable.** Two facts. *Monotonicity*: a larger configuration can do
//! whatever a smaller one can, and ends up at least as large; a bystander never blocks a
//! step. *Dickson's lemma*: in every infinite sequence of multisets over a finite set, some element
//! covers an earlier one. So the configurations from which the target can be covered form a set
//! that is closed upwards, and such a set has finitely many minimal elements. Start with the
//! target, add minimal predecessors, keep what is minimal; by Dickson's lemma this ends, and the
//! question is whether an initial configuration covers one of them. (Abdulla, Čerāns, Jonsson, Tsay
//! 1996; Finkel and Schnoebelen 2001.) Systems that test for the absence of threads are not
//! monotone; they say so ([`model::Traits::blocking`]), and only bounded search takes them.
//!
//! **Just in time.** A program with 30 local variables has 2³⁰ local states, and most are never
//! met. No table of steps is made first: an engine asks the model for the steps from or into a
//! state, and the model executes the statement there, forward or backward (Liu and Wahl, *IJIT*,
//! 2017). A program's state stands for a *set* of values as long as a variable has not been read.
//!
//! **Engines** ([`Engine`]).
//!
//! | engine | what it does | what it decides |
//! | --- | --- | --- |
//! | [`Engine::Explicit`] | forward, breadth first, for one thread, two, three, … | questions with a bound; finds the run with the fewest threads |
//! | `Engine::Symbolic` (feature `symbolic`) | the same with decision diagrams | likewise, where there are very many configurations |
//! | [`Engine::KarpMiller`] | forward with ω for "any number": the coverability set | any number of threads, without broadcasts |
//! | [`Engine::Backward`] | the search above | any number of threads, broadcasts and signals included |
//! | [`Engine::Views`] | which pairs of threads can occur together | proves much, quickly; cannot refute |
//! | [`Engine::Reachability`] | walks, the state equation and exhaustive search of a net | formulas about single markings |
//! | [`Engine::Auto`] | several of them in turns or side by side; the default | whatever one of them does |
//!
//! **Evidence.** No verdict without it, and a small checker that calls no engine looks at it first
//! ([`check`]). UNSAFE comes with a run that is replayed. SAFE comes with a certificate
//! ([`model::verdict::Certificate`]): a set that is closed under steps (or under predecessors),
//! with all initial configurations on one side and all bad ones on the other.
//!
//! # Layers
//!
//! ```text
//! .bp text ─► lang::bp ─────────────────┐
//! .tts .ntts .spec .pnml ─► Table ──────┼─► Model ─► engine ─► verdict + evidence ─► check ─► report
//! your own Rust type ─► template ───────┘
//! ```
//!
//! Readers ([`lang`]) know nothing about engines, engines nothing about input languages, the
//! checker nothing about either. [`Question`] turns what a user asks into a
//! [`model::problem::Problem`]; [`Job`] puts the parts together.

#[cfg(feature = "code")]
mod code;
mod covering;
mod error;
pub mod findings;
mod input;
mod job;
mod outcome;
// Hidden: for the other crates of this project; it may change at any time.
#[doc(hidden)]
pub mod report;
#[cfg(feature = "rust")]
pub mod rust;
mod switches;
pub mod template;
mod undecided;
mod vacuity;

/// The checker: what accepts or rejects evidence, and certificates as files. All of it is the crate
/// `throng-check`.
pub mod check {
    #[doc(inline)]
    pub use throng_check::Checked;
    #[doc(inline)]
    pub use throng_check::certificate::Document;
    #[doc(inline)]
    pub use throng_check::certificate::write::{Origin, document, write};
    #[doc(inline)]
    pub use throng_check::certify::{
        Asked, Certified, CertifiedAnswer, CertifiedCutoff, Fault, certify, read,
    };
    #[doc(inline)]
    pub use throng_check::rules::cutoff::{CutoffProof, check_cutoff};
    #[doc(inline)]
    pub use throng_check::rules::{Flaw, check, check_all, check_within};
}

/// Readers and writers: what an input is after reading, and messages about it. All of it is the
/// crate `throng-lang`.
pub mod lang {
    #[doc(inline)]
    pub use throng_lang::load::{Loaded, Rejected};
    #[doc(inline)]
    pub use throng_lang::source::{Diagnostic, Severity, Source, Span, render};
    #[doc(inline)]
    pub use throng_lang::system::System;
    #[doc(inline)]
    pub use throng_lang::vocabulary::Vocabulary;
    #[doc(inline)]
    pub use throng_lang::write::{Companion, Format as WriteFormat, Refusal, Written, write};
}

/// Engines: what answers a problem, and how to write one. All of it is the crate `throng-engine`.
pub mod engine {
    #[doc(inline)]
    pub use throng_engine::{Algorithm, Answer, Attempt, Progress, Silent, Statistics, Watch};
}

/// What engines and algorithms of your own work on: configurations, steps, models, problems,
/// verdicts. All of it is the crate `throng-model`.
pub mod model {
    #[doc(inline)]
    pub use throng_model::{
        Bag, Bystanders, Config, Describe, Edge, Footprint, Footprints, Incomplete, Local, Model, OMEGA,
        Persist, Place, Predecessors, SetStates, Shared, Step, Traits, Transfers, UNCOUNTABLE, limits,
        predicate, problem, semantics, table, verdict,
    };
}

#[cfg(feature = "c")]
pub use code::{Compiling, Replay, WeakestOrder, WitnessOf};
pub use error::Error;
pub use input::Input;
pub use job::slices::is_about_orders;
pub use job::{CutoffMethod, Job, Moments, Prepared, Property, Start, verify};
pub use outcome::{MemoryModel, Outcome, Phases, Remark, Status, Written};
pub use report::cutoff::CutoffOutcome;
pub use report::reach::ReachOutcome;
pub use report::refines::{RefinesOutcome, RefinesVerdict};
pub use report::text::Options as TextOptions;
#[cfg(feature = "c")]
pub use throng_c::flags::split as split_flags;
#[cfg(feature = "c")]
pub use throng_c::{Flags, Library, Selection, SourceFile};
pub use throng_engine::cutoff::{Closed, Cutoff, Level, ThreadState};
pub use throng_engine::{Answer, Engine, Progress, Settings, Statistics, Watch};
pub use throng_lang::load::{Format, Reading};
pub use throng_lang::mutant::Mutant;
pub use throng_lang::question::{CodeQuestion, Question, SourceDiagnostic};
pub use throng_model::assumption::Assumption;
pub use throng_model::limits::Limits;
pub use throng_model::problem::Bound;
pub use undecided::{Look, PROVER, Possible, Stretch};

/// Panics unless a [`template::System`] or an [`Outcome`] is safe; the message of the panic is the
/// report, with the run that violates a property.
///
/// ```
/// # fn main() -> Result<(), throng::Error> {
/// let text = "decl lock := 0; void main() begin lock := 1 constrain !lock; assert(lock); lock := 0; end";
/// let input = throng::Input::from_text(text, throng::Format::Bp)?;
/// throng::assert_safe!(throng::Job::new(&input).check(throng::Engine::Auto, &throng::Limits::none())?);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! assert_safe {
    ($system:expr $(,)?) => {
        $system.assert_safe()
    };
}
