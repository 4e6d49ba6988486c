//! Rust as an input: what `rustc` makes of a file, or `cargo` of a package, as LLVM IR.
//!
//! ```text
//! .rs ─ rustc ─► LLVM IR, nothing optimised ─► which functions are modelled ([`whole`])
//!  └─── rustc, with passes of ours, these functions kept whole ─► LLVM IR ─► throng-llvm
//! ```
//!
//! The passes ([`passes`]) inline and turn variables in memory into registers, and do nothing else:
//! the ordinary ones may drop a second read of a variable, move a store out of a branch, or take
//! for granted that a line is never reached, and with it the mistake that was to be found.
//!
//! The compiler's messages are part of an error as they are.

pub mod emission;
pub mod file;
pub mod package;
pub mod passes;
mod process;
mod shared;
pub mod toolchain;
pub mod whole;

pub use emission::{Emission, Module};
pub use file::Options;
pub use package::{Package, Target};
pub use toolchain::Toolchain;
