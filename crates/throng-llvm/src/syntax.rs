//! The text of a module of LLVM IR, read into a tree that borrows from it.

pub mod lexer;
pub mod metadata;
pub mod parser;
pub mod tree;

mod instructions;
mod values;

use throng_lang::source::Span;

/// What is wrong with the text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
}

/// The result of reading a part of the text.
pub type Read<T> = Result<T, SyntaxError>;

/// Maximum depth of types, values and metadata inside of one another.
pub(crate) const DEEPEST: usize = 128;

pub use values::name_of;
