//! Boolean programs: text to tree to control-flow graph to model.

pub mod ast;
pub mod lexer;
pub mod parser;
pub mod printer;
pub mod spans;
pub mod pending;

pub use pending::{Jit, Options, read};
