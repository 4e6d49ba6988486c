//! Throng proves or refutes safety of concurrent programs for any number of threads.

pub mod lang;
