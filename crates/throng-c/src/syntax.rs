//! C as text: the parser, and the tree that it makes.

pub mod ast;
