//! C for any number of threads, by predicate abstraction.
//!
//! ```text
//! goto program ─► edges (a guard and a parallel assignment each) ─► facts about predicates ─► Boolean program ─► engines
//!                       ▲                                                                                          │
//!                       └────────────── predicates ◄── weakest preconditions ◄── a run that no values follow ◄─────┘
//! ```
//!
//! Threads run the same code, so a predicate over shared variables and variables of one thread has
//! one truth value per thread. A step that writes a shared variable changes these for every
//! bystander (`b$`). Donaldson, Kaiser, Kroening, Wahl: *Symmetry-aware predicate abstraction for
//! shared-variable concurrent programs*, CAV 2011.
//!
//! What is not abstracted (allocated memory, addresses that may be anything) leads into a failure
//! of the abstract program, so that a proof shows that it does not happen.

pub mod abstraction;
pub mod blast;
pub mod boolean;
pub mod certificate;
pub mod copies;
mod counting;
pub mod edges;
mod elements;
pub mod exclusion;
pub mod facts;
mod guesses;
pub mod offered;
pub mod predicates;
pub mod prove;
mod recheck;
pub mod refine;
pub mod render;
pub mod sat;
pub mod simplify;
#[cfg(test)]
mod testing;
pub mod transitions;
mod trial;
pub mod variables;
