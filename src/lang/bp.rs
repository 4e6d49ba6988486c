//! Boolean programs: text to tree to control-flow graph to model.

pub mod ast;
