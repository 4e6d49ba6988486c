//! The goto program: what every source language is translated to, and what is asked about it.
//!
//! ```text
//! front end (C) ─► goto program ─► interpreter, concrete model ─► engines
//!                              └─► provers (throng-abstract) and their checkers (throng-goto-check)
//! ```
//!
//! [`step`] is the one definition of what a program does. What a front end does not understand it
//! refuses, by name and position; what the concrete model leaves out makes it incomplete, so that a
//! run still counts and nothing is proved.

pub mod dot;
pub mod doubt;
pub mod executions;
pub mod floating;
pub mod held;
pub mod interpreter;
pub mod model;
pub mod mutants;
mod places;
pub mod program;
pub mod query;
pub mod question;
pub mod robust;
pub mod run;
pub mod step;
pub mod waiting;

pub use executions::Executions;
pub use model::Concrete;
pub use program::Program;
pub use query::Query;
pub use question::Question;
pub use robust::Robust;
