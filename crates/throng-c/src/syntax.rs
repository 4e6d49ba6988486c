//! C as text: the parser, and the tree that it makes.
//!
//! The parser reads C11, C17 and C23 with the extensions of GNU C behind the preprocessor. It is a
//! recursive descent over a list of tokens. Which names are types it knows from the declarations
//! that are in scope, as C demands. After an error it goes on behind the statement or declaration,
//! so that one run shows several.

#[allow(missing_docs, reason = "the names are those of the grammar of C")]
pub mod ast;
mod attributes;
mod declarations;
mod declarators;
mod directives;
mod drops;
mod errors;
mod expressions;
mod hints;
mod initializers;
mod lexer;
mod literals;
mod operators;
mod parser;
mod primary;
mod scopes;
mod specifiers;
mod statements;
mod structures;
mod token;
pub mod visit;

use std::ops::Range;

use ast::{Span, TranslationUnit};
use errors::Errors;
use parser::Parser;

/// The deepest nesting of brackets, and of what else is nested without brackets.
const DEEPEST: usize = 200;

/// Why a text is not C that the parser reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The place; empty where something is missing.
    pub span: Span,
    /// The error, in one sentence without a full stop.
    pub message: String,
    /// What was expected there.
    pub label: Option<String>,
    /// A suggestion.
    pub hint: Option<String>,
}

impl SyntaxError {
    fn new(span: Span, message: impl Into<String>) -> SyntaxError {
        SyntaxError { span, message: message.into(), label: None, hint: None }
    }
}

/// Parses a passage of a text, which is preprocessed C. Offsets in the tree and in errors are those
/// of the whole text. Errors are in the order of the text.
pub fn parse(text: &str, range: Range<usize>) -> Result<TranslationUnit, Vec<SyntaxError>> {
    let mut errors = Errors::default();
    if u32::try_from(range.end).is_err() {
        return Err(vec![SyntaxError::new(
            Span::new(range.start, range.start),
            "a text of 4 GB is not read",
        )]);
    }
    let lexed = lexer::lex(text, range, &mut errors);
    let mut parser = Parser::new(text, lexed, errors);
    let unit = parser.translation_unit();
    let errors = parser.into_errors();
    if errors.is_empty() { Ok(unit) } else { Err(errors) }
}
