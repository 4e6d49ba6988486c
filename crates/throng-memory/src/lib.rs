//! Memory orders of C11.
//!
//! Two ways to the same question. The axioms ([`axioms`]) say which executions are possible, and a
//! search ([`search`]) goes through all of a small [`program`]; [`explore`] does so without meeting
//! one twice. The [`rules`] of a monitor, in
//! [`slices`], find out from runs under sequential consistency alone whether there are others.

pub mod axioms;
pub mod explain;
pub mod explore;
pub mod graph;
pub mod herd;
pub mod litmus;
pub mod order;
pub mod program;
pub mod relation;
pub mod rules;
pub mod search;
pub mod slices;

pub use order::Order;
