//! The errors of one run, and what they say.

use super::SyntaxError;
use super::ast::Span;
use super::parser::{Failed, Parser};
use super::token::Kind;

/// The most errors that one run shows.
const MOST: usize = 20;

/// The errors found so far.
#[derive(Default)]
pub(super) struct Errors {
    list: Vec<SyntaxError>,
    stopped: bool,
}

impl Errors {
    pub(super) fn add(&mut self, error: SyntaxError) {
        let known = self.list.iter().any(|e| e.span.start == error.span.start);
        if !known && self.list.len() < MOST {
            self.list.push(error);
        }
    }

    /// Adds a hint to the last error if it has none.
    pub(super) fn suggest(&mut self, hint: String) {
        if let Some(last) = self.list.last_mut() {
            last.hint.get_or_insert(hint);
        }
    }

    /// Adds an error behind which it makes no sense to go on.
    pub(super) fn fatal(&mut self, error: SyntaxError) {
        self.add(error);
        self.stopped = true;
    }

    /// Returns whether nothing more is to be read.
    pub(super) fn is_full(&self) -> bool {
        self.stopped || self.list.len() >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the errors in the order of the text.
    pub(super) fn sorted(mut self) -> Vec<SyntaxError> {
        self.list.sort_by_key(|e| e.span.start);
        self.list
    }
}

impl Parser<'_> {
    /// Reports that something else was expected than the next token.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        let message = match self.kind() {
            Kind::End => "unexpected end of the text".to_string(),
            _ => format!("unexpected {}", self.found()),
        };
        let hint = self.hint();
        self.report(SyntaxError { label: Some(format!("expected {expected}")), hint, ..self.here(&message) })
    }

    /// Reports an error about the next token.
    pub(super) fn refuse(&mut self, message: &str, hint: Option<&str>) -> Failed {
        let error = self.here(message);
        self.report(SyntaxError { hint: hint.map(str::to_string), ..error })
    }

    /// Reports that a sign is missing behind the last token.
    pub(super) fn missing(&mut self, kind: Kind) -> Failed {
        let sign = kind.symbol();
        let before = if self.kind() == Kind::End { "the end of the text".into() } else { self.found() };
        let end = self.last_end();
        let error = SyntaxError::new(Span::new(end, end), format!("{sign} is missing before {before}"));
        let hint = self.hint();
        self.report(SyntaxError { label: Some(format!("expected {sign}")), hint, ..error })
    }

    pub(super) fn report(&mut self, error: SyntaxError) -> Failed {
        if !self.quiet {
            self.errors.add(error);
        }
        Failed
    }

    fn here(&self, message: &str) -> SyntaxError {
        SyntaxError::new(self.token_span(self.at), message)
    }

    /// Returns the next token as messages quote it.
    fn found(&self) -> String {
        const LONGEST: usize = 40;
        let text = self.spelling(self.at);
        let line = text.lines().next().unwrap_or_default();
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("`{}…`", &line[..end]),
            None => format!("`{line}`"),
        }
    }
}
