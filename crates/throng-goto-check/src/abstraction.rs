//! Predicate abstraction: what a certificate of a proof says, and its check.
//!
//! ```text
//! goto program ─► edges (a guard and a parallel assignment each) ─► facts about predicates ─► Boolean program
//! ```
//!
//! Threads run the same code, so a predicate over shared variables and variables of one thread has
//! one truth value per thread. A step that writes a shared variable changes these for every
//! bystander (`b$`). Donaldson, Kaiser, Kroening, Wahl: *Symmetry-aware predicate abstraction for
//! shared-variable concurrent programs*, CAV 2011.
//!
//! What is not abstracted (allocated memory, addresses that may be anything) leads into a failure
//! of the abstract program, so that a proof shows that it does not happen.
//!
//! The prover (`throng-abstract`) shares the graph, the list of obligations and the function that
//! builds the Boolean program. It has no part in the check: facts are proved again by an encoder of
//! its own ([`encoder`]), and the Boolean program's certificate by `throng-check`.

pub mod boolean;
mod bounds;
pub mod certificate;
pub mod copies;
mod counting;
pub mod cube;
pub mod elements;
pub mod encoder;
pub mod facts;
pub mod graph;
pub mod heap;
pub mod predicate;
pub mod program;
pub mod regions;
pub mod simplify;
pub mod tallies;
pub mod variables;
