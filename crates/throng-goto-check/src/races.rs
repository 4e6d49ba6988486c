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
//! Facts are a post-fixpoint: [`points`] says where addresses may be. The checkers here go through
//! the program once and solve nothing; findings are computed from checked facts only.

pub mod findings;
pub mod points;
