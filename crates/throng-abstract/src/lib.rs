//! Proofs of C programs for any number of threads, by predicate abstraction.
//!
//! ```text
//! goto program ─► edges (a guard and a parallel assignment each) ─► facts about predicates ─► Boolean program ─► engines
//!                       ▲                                                                                          │
//!                       └────────────── predicates ◄── weakest preconditions ◄── a run that no values follow ◄─────┘
//! ```
//!
//! This crate searches; nothing in it has to be trusted. What the search is about (the graph, what
//! has to be shown of facts, the Boolean program) and the check of what it finds are in
//! [`throng_goto_check::abstraction`].

pub mod abstraction;
mod atoms;
pub mod blast;
mod decide;
pub mod facts;
mod guarded;
mod guesses;
pub mod offered;
pub mod predicates;
pub mod prove;
pub mod readings;
pub mod refine;
pub mod sat;
mod tallies;
#[cfg(test)]
mod testing;
pub mod transitions;
mod trial;
