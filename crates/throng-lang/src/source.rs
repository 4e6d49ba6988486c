//! Source text, spans, and diagnostics that point into it.
//!
//! Readers never print: they return [`Diagnostic`]s, and [`render`] turns one into text with the
//! file, line, column and the passage underlined. A reader recovers from an error as well as it
//! can, so that one run shows several.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A named text. Offsets in spans are bytes into `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in messages: a path, or `<stdin>`.
    pub name: String,
    /// The text itself. Bytes that are not UTF-8 were replaced when it was read (comments may hold
    /// anything).
    pub text: String,
}

impl Source {
    /// Creates a source from a name and its text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// Returns line and column of a byte offset, both counted from 1; the column counts characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// The start of every line, for fast look-up of many positions in one text.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// Offsets of bytes that do not begin a character.
    inner: Vec<u32>,
}

impl LineIndex {
    /// Indexes the lines of a text.
    pub fn new(text: &str) -> LineIndex {
        let newlines = text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        let is_inner = |&(_, b): &(usize, u8)| b & 0xc0 == 0x80;
        let inner = text.bytes().enumerate().filter(is_inner).map(|(i, _)| i as u32);
        // Nearly every input is ASCII, which is cheap to check.
        LineIndex { starts, inner: if text.is_ascii() { Vec::new() } else { inner.collect() } }
    }

    /// Returns line and column of a byte offset, both from 1; the column counts characters.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|&s| s <= offset);
        let start = self.starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let inner_before = |at: u32| self.inner.partition_point(|&i| i < at) as u32;
        (line as u32, offset - start - (inner_before(offset) - inner_before(start)) + 1)
    }
}

/// A range of bytes of one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span of the bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Returns the span from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    /// Returns the span as a range of indices.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input is accepted, but is probably not what the user meant.
    Warning,
}

/// A message about a place in the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable code, such as `E101`. E1xx program syntax, E2xx program meaning, E3xx
    /// thread-transition systems, E4xx nets, E5xx PNML and properties, E6xx the question asked
    /// (targets, initial configuration), E7xx files, E8xx C; warnings have W and the same hundreds.
    pub code: &'static str,
    /// The error, in one sentence without a full stop.
    pub message: String,
    /// The place; `None` if the message is about the whole input.
    pub span: Option<Span>,
    /// The text under the underlined passage, e.g. "expected `;`".
    pub label: String,
    /// A suggestion.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Creates an error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: brief(message.into()),
            span: Some(span),
            label: String::new(),
            hint: None,
        }
    }

    /// Creates a warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Creates an error about the input as a whole.
    pub fn whole(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span: None, ..Diagnostic::error(code, Span::default(), message) }
    }

    /// Adds the message under the underlined text.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = brief(label.into());
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(brief(hint.into()));
        self
    }

    /// Returns the diagnostic with its span moved by `by` bytes, for a text that begins that much
    /// earlier.
    pub fn moved(mut self, by: u32) -> Diagnostic {
        self.span = self.span.map(|s| Span { start: s.start + by, end: s.end + by });
        self
    }

    /// Returns whether the diagnostic is an error, so that the input must be refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Cuts a text at 500 bytes: messages quote names from the input, which may be megabytes long.
fn brief(mut text: String) -> String {
    const LONGEST: usize = 500;
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

/// Renders a diagnostic as text: `error[E101]: message`, then file, line, column, the line with the
/// passage underlined, the hint.
pub fn render(diagnostic: &Diagnostic, source: &Source, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let mut groups = Vec::new();
    let excerpt = diagnostic.span.map(|span| excerpt(&source.text, span));
    let main = match &excerpt {
        Some((text, line, range)) => {
            let annotation = AnnotationKind::Primary
                .span(range.clone())
                .label((!diagnostic.label.is_empty()).then_some(diagnostic.label.as_str()));
            let snippet = Snippet::source(text.as_str())
                .line_start(*line)
                .path(source.name.as_str())
                .annotation(annotation);
            Group::with_title(title).element(snippet)
        }
        None => Group::with_title(title).element(annotate_snippets::Origin::path(source.name.as_str())),
    };
    groups.push(main);
    if let Some(hint) = &diagnostic.hint {
        groups.push(Group::with_title(Level::HELP.secondary_title(hint.as_str())));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.render(&groups);
    match diagnostic.span {
        Some(span) => with_true_column(text, source, span),
        None => text,
    }
}

/// Corrects the column in a rendered message: the renderer counts from the start of the excerpt,
/// which is not the start of a long line.
fn with_true_column(rendered: String, source: &Source, span: Span) -> String {
    let (line, column) = source.position(span.start as usize);
    let (text, _, range) = excerpt(&source.text, span);
    let shown = text[..range.start].chars().count() + 1;
    if shown == column {
        return rendered;
    }
    let place = |column: usize| format!("{}:{line}:{column}", source.name);
    rendered.replacen(&place(shown), &place(column), 1)
}

/// Returns the lines around a span (a huge line is cut), the number of the first, and the span
/// inside the excerpt.
///
/// Rendering the excerpt instead of the whole text keeps a message about a 100 MB file cheap.
fn excerpt(text: &str, span: Span) -> (String, usize, Range<usize>) {
    const WIDEST: usize = 200;
    let start = text.floor_char_boundary((span.start as usize).min(text.len()));
    let end = text.ceil_char_boundary((span.end as usize).clamp(start, text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let line = text[..line_start].bytes().filter(|&b| b == b'\n').count() + 1;
    let from = text.floor_char_boundary(line_start.max(start.saturating_sub(WIDEST)));
    let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    let until = text.ceil_char_boundary(line_end.min(start + WIDEST));
    let end = end.clamp(start, until);
    (text[from..until].to_string(), line, start - from..end - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_columns_from_one() {
        let source = Source::new("x", "ab\ncd\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(4), (2, 2));
        assert_eq!(source.position(99), (3, 1));
        assert_eq!(LineIndex::new(&source.text).position(4), (2, 2));
    }

    #[test]
    fn a_message_shows_file_line_column_text_and_hint() {
        let source = Source::new("lock.bp", "decl x;\nvoid main() begin x' := 1; end\n");
        let d = Diagnostic::error("E101", Span::new(27, 28), "unexpected `'`")
            .label("expected `:=`")
            .hint("write `'x`");
        let text = render(&d, &source, false);
        for part in
            ["error[E101]: unexpected `'`", "lock.bp:2:20", "x' := 1", "^ expected `:=`", "write `'x`"]
        {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn a_message_about_a_huge_name_stays_small() {
        let name = "é".repeat(1 << 20);
        let d = Diagnostic::error("E201", Span::new(0, 1), format!("`{name}` is not declared"))
            .label(&name)
            .hint(&name);
        assert!(d.message.starts_with("`éé") && d.message.ends_with('…'));
        assert!(render(&d, &Source::new("x", name), false).len() < 5000);
    }

    #[test]
    fn a_message_about_a_huge_line_stays_small() {
        let source = Source::new("x", "(".repeat(1 << 20));
        let d = Diagnostic::error("E102", Span::new(5000, 5001), "nested too deeply");
        let text = render(&d, &source, false);
        assert!(text.len() < 2000 && text.contains("x:1:5001"), "{text}");
    }
}
