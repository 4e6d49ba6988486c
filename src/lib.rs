//! Throng proves or refutes safety of concurrent programs for any number of threads.

pub mod check;
pub mod engine;
pub mod lang;
pub mod limits;
pub mod model;
pub mod problem;
pub mod testing;
pub mod verdict;
