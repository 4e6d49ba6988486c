//! Throng proves or refutes safety of concurrent programs for any number of threads.

pub mod bdd;
pub mod check;
pub mod cli;
pub mod concrete;
pub mod engine;
pub mod lang;
pub mod limits;
pub mod model;
pub mod problem;
pub mod question;
pub mod reduction;
pub mod report;
pub mod simulate;
pub mod testing;
pub mod threads;
pub mod unfold;
pub mod verdict;
