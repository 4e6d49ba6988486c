//! From a file to text that the parser reads: the preprocessor, and the way back from a position in
//! that text to the user's file and line.

mod compiler;
mod headers;
mod prepared;

pub(crate) use compiler::preprocess;
pub use compiler::{Options, SourceFile, is_preprocessed};
pub use prepared::{Prepared, Unit};
