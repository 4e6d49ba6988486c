//! What tests of several modules share: the laws of a model, random problems, and a naive search to
//! compare with.

pub mod by_hand;
pub mod fuzz;
pub mod harness;
pub mod integers;
pub mod interpreter;
mod laws;
mod naive;
pub mod programs;
mod random;
pub mod reader_contract;
mod rng;
pub mod states;

pub use laws::laws;
pub use naive::naive;
pub use random::{Knobs, Signals, random_configs, random_problem, random_table};
pub use rng::Rng;

/// The root of the repository, where `examples/`, `docs/` and `tools/` are.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
