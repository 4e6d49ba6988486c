//! What tests of several modules share: the laws of a model, random problems, and a naive search to compare with.

pub mod interpreter;
mod laws;
mod naive;
pub mod probe;
pub mod programs;
mod random;

pub use laws::laws;
pub use naive::naive;
pub use random::{Knobs, Rng, Signals, random_configs, random_problem, random_table};
