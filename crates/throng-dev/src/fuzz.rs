//! Differential fuzzing: random inputs, the answers of all oracles, and what does not fit together.
//!
//! A [`case::Case`] is an input with a question, made from a seed (`generate`). It is a Boolean
//! program, a thread-transition system ([`threads`]) or a net ([`nets`]), and it may have been
//! built around an answer that only the generator knows ([`known`]): around an invariant, so that a
//! target is out of reach, or along a run into the target. [`compare`] asks every engine, both
//! checkers, a naive search that shares nothing with the engines but the parser of programs, and
//! the translations into every format. Whatever does not fit together is a [`compare::Failure`];
//! [`shrink`] makes its case as small as it gets. [`campaign`] does that for a million seeds.
//!
//! Nothing here reads or writes files; `throng-fuzz` does.

pub mod campaign;
pub mod case;
pub mod claim;
pub mod compare;
pub mod coverage;
mod generate;
pub mod integers;
pub mod known;
pub mod naive;
pub mod nets;
pub mod oracles;
pub mod questions;
pub mod shrink;
pub mod states;
pub mod summary;
pub mod threads;

pub use generate::generate;
