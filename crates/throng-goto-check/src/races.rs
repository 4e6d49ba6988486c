//! Race freedom of whole programs, for any number of threads: what a static analysis found out about
//! a goto program, and what that shows.
//!
//! ```text
//! throng-static ── solves ──► Facts ──► check: is every constraint of the program satisfied?
//!                                          │
//!                                          └──► Findings: per object, who protects it, or which
//!                                               two accesses may race
//! ```
//!
//! Of deadlocks, facts show in which order threads wait ([`waits`]).
//!
//! Facts are a post-fixpoint. [`check`] goes through the program once and solves nothing; findings
//! are computed from checked facts only. Trusted are the inclusion constraints ([`inclusion`]), what
//! an instruction does to what is known ([`transfer`]), and when two accesses cannot be a race
//! ([`pairs`]), which the search shares with the checker as far as it needs them.
//!
//! A program is taken to access memory only where an object is, and to wait for threads only that
//! it has created: what follows a violation of that is not known.

pub mod accesses;
pub mod arrivals;
mod asked;
mod cells;
pub mod crowds;
pub mod facts;
pub mod findings;
pub mod inclusion;
mod locks;
mod naming;
pub mod pairs;
pub mod patterns;
pub mod points;
pub mod threads;
pub mod transfer;
mod verify;
pub mod waits;

pub use self::asked::narrowed;
pub use self::facts::Facts;
pub use self::findings::Findings;
pub use self::verify::{accesses, check, escaping, order_of_waits};

use throng_check::Checked;
use throng_goto::Program;

/// Checks facts like [`check`], and returns besides what they show that they were checked.
pub fn check_facts(program: &Program, facts: &Facts) -> Result<(Findings, Checked), String> {
    Ok((check(program, facts)?, Checked::of_source()))
}

/// Checks facts about deadlocks like [`order_of_waits`], and returns besides that they were checked.
pub fn check_waits(program: &Program, facts: &Facts) -> Result<(waits::Ordered, Checked), String> {
    Ok((order_of_waits(program, facts)?, Checked::of_source()))
}
