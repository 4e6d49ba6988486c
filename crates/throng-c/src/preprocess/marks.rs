//! Constructs that the parser does not see: attributes, names in assembly, pragmas and some types.
//!
//! What has no effect is dropped. What has one leaves a mark at its place in the text, so that
//! whatever it stands on is refused where the program uses it.

use super::{Prepared, balanced, whole_or_at};
use crate::constructs::{self, Effect};
use throng_lang::source::Diagnostic;

/// A construct with an effect that is not modelled.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its offset in the text for the parser.
    pub at: usize,
    /// The name of the attribute, or the word.
    pub name: String,
    /// The argument of the attribute; the name in assembly after `asm`.
    pub argument: String,
    /// What it is, for a message.
    pub what: String,
}

impl Prepared {
    /// Returns the marks of a declaration or function, some of which may stand before it.
    pub fn marks_of_declaration(&self, start: usize, end: usize) -> &[Mark] {
        let before = self.text.get(..start).unwrap_or_default();
        self.marks_between(before.trim_end().len(), end)
    }

    /// Returns the marks of a structure or enumeration, some of which may stand behind it.
    pub fn marks_of_type(&self, start: usize, end: usize) -> &[Mark] {
        let rest = self.text.get(end..).unwrap_or_default();
        self.marks_between(start, end + (rest.len() - rest.trim_start().len()))
    }

    fn marks_between(&self, start: usize, end: usize) -> &[Mark] {
        let from = self.marks.partition_point(|m| m.at < start);
        let to = self.marks.partition_point(|m| m.at < end);
        &self.marks[from..to.max(from)]
    }

    /// Returns whether `#pragma pack` holds at an offset of the text.
    pub fn is_packed(&self, at: usize) -> bool {
        let i = self.packed.partition_point(|p| p.0 <= at);
        i > 0 && self.packed[i - 1].1
    }

    /// Puts a mark at the passage of one character that was written last.
    pub(super) fn mark(&mut self, name: &str, argument: &str, what: String) {
        let (name, argument) = (name.to_string(), argument.to_string());
        self.marks.push(Mark { at: self.text.len() - 1, name, argument, what });
    }

    /// Marks the attributes of a list that have an effect, which began at `start` of the raw text.
    pub(super) fn attributes(&mut self, raw: &str, start: usize, list: &str) -> Result<(), Diagnostic> {
        for (name, argument) in split_attributes(list) {
            let bare = constructs::bare(name);
            let what = format!("the attribute `{bare}`");
            match constructs::attribute(name, argument) {
                Effect::None => {}
                Effect::OnUse => self.mark(bare, argument, what),
                Effect::AtOnce => return self.refused(raw, start, &what),
            }
        }
        Ok(())
    }

    /// Takes note of a line that begins with `#`, at `start` of the raw text.
    pub(super) fn directive(&mut self, raw: &str, start: usize, line: &str) -> Result<(), Diagnostic> {
        let rest = line.trim_start_matches('#').trim_start();
        let Some(text) = rest.strip_prefix("pragma").map(str::trim) else { return Ok(()) };
        if let Some(arguments) = text.strip_prefix(constructs::PACK) {
            self.pack(arguments);
            return Ok(());
        }
        match constructs::pragma(text) {
            Effect::None => Ok(()),
            _ => self.refused(raw, start, &format!("`#pragma {text}`")),
        }
    }

    /// `#pragma pack` with its arguments: whether structures are packed from here on.
    fn pack(&mut self, arguments: &str) {
        let mut packed = self.packed.last().is_some_and(|p| p.1);
        let words: Vec<&str> = arguments.trim_matches(['(', ')', ' ']).split(',').map(str::trim).collect();
        match words[0] {
            "push" => {
                self.pack_stack.push(packed);
                packed |= words.len() > 1;
            }
            // Names of entries are not known here: what follows is refused.
            "pop" if words.len() > 1 => packed = true,
            "pop" => packed = self.pack_stack.pop().unwrap_or(packed),
            word => packed = !word.is_empty(),
        }
        self.packed.push((self.text.len(), packed));
    }

    /// A construct that is refused where it stands.
    pub(super) fn refused(&self, raw: &str, start: usize, what: &str) -> Result<(), Diagnostic> {
        let span = self.span(raw, start, start + 1);
        Err(whole_or_at("E803", span, format!("{what} is not supported")))
    }
}

/// Returns the names and arguments in `((a, b(c)))` or `[[a, gnu::b(c)]]`.
fn split_attributes(list: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = list.trim_start_matches(['(', '[', ' ', '\n', '\t']);
    while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if let Some(scoped) = after.strip_prefix("::") {
            rest = scoped;
            continue;
        }
        let has_arguments = after.trim_start().starts_with('(');
        let until = if has_arguments { balanced(after, 0) } else { 0 };
        found.push((name, &after[..until]));
        rest = &after[until..];
    }
    found
}

/// Returns one past the end of a list that begins with `[[`.
pub(super) fn double_bracketed(text: &str, from: usize) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (i, b) in text.bytes().enumerate().skip(from) {
        match b {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' => depth += 1,
            b']' if depth <= 1 => return i + 1,
            b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_attributes_are_split() {
        let split = split_attributes("((packed, aligned (8), __format__(printf, 1, 2)))");
        assert_eq!(split, [("packed", ""), ("aligned", " (8)"), ("__format__", "(printf, 1, 2)")]);
        assert_eq!(
            split_attributes("[[gnu::cleanup(f), nodiscard]]"),
            [("cleanup", "(f)"), ("nodiscard", "")]
        );
        assert!(split_attributes("(())").is_empty());
    }
}
