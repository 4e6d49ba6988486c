//! The text for the parser: tokens that it does not know are replaced, or leave marks.

use std::ops::Range;

use throng_lang::source::Diagnostic;

use super::{DEEPEST, PRELUDE, Prepared, SAME, balanced, digraph, is_keyword, is_label, is_operand, listed};
use super::{marks, whole_or_at};
use crate::constructs;

/// A pass over the raw text.
struct Pass<'p, 'r> {
    out: &'p mut Prepared,
    raw: &'r str,
    /// The next byte.
    i: usize,
    /// The text up to here is written.
    copied: usize,
    /// How many brackets are open.
    depth: usize,
    /// The last two tokens, to recognise labels and `?:`.
    last: &'r str,
    before: &'r str,
    line_start: bool,
}

impl Prepared {
    /// Appends a passage of the raw text, rewritten.
    pub(super) fn rewrite(&mut self, raw: &str, range: Range<usize>) -> Result<(), Diagnostic> {
        self.emit(range.start, PRELUDE);
        let (raw, start) = (&raw[..range.end], range.start);
        let (last, before) = (";", ";");
        let mut pass =
            Pass { out: self, raw, i: start, copied: start, depth: 0, last, before, line_start: true };
        while pass.i < raw.len() {
            let start = pass.i;
            if pass.token()? {
                pass.line_start = false;
                pass.before = pass.last;
                pass.last = raw.get(start..pass.i.max(start)).unwrap_or(";");
            }
        }
        let copied = pass.copied;
        self.emit(copied, &raw[copied..]);
        Ok(())
    }
}

impl Pass<'_, '_> {
    /// Writes something in place of a passage.
    fn put(&mut self, from: usize, to: usize, with: &str) {
        self.out.emit(self.copied, &self.raw[self.copied..from]);
        self.out.emit(from, with);
        self.copied = to;
        self.out.back.push((self.out.text.len(), to));
    }

    /// Writes something in place of a passage, and goes on behind it.
    fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.put(from, to, with);
        self.i = to;
    }

    /// Passes the next token, or what is none: then the result is false.
    fn token(&mut self) -> Result<bool, Diagnostic> {
        let (raw, bytes, start) = (self.raw, self.raw.as_bytes(), self.i);
        let (c, next) = (bytes[start], bytes.get(start + 1));
        let line_end = || raw[start..].find('\n').map_or(raw.len(), |n| start + n);
        match c {
            b'\n' => {
                self.line_start = true;
                self.i += 1;
                return Ok(false);
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                self.i += 1;
                return Ok(false);
            }
            b'#' if self.line_start => {
                self.replace(start, line_end(), "");
                self.out.directive(raw, start, &raw[start..self.i])?;
                return Ok(false);
            }
            b'/' if next == Some(&b'*') => {
                let end = raw[start + 2..].find("*/").map_or(raw.len(), |n| start + n + 4);
                self.replace(start, end, " ");
                return Ok(false);
            }
            b'/' if next == Some(&b'/') => {
                self.replace(start, line_end(), " ");
                return Ok(false);
            }
            b'[' if next == Some(&b'[') => {
                self.replace(start, marks::double_bracketed(raw, start), " ");
                self.out.attributes(raw, start, &raw[start..self.i])?;
                return Ok(false);
            }
            b'"' | b'\'' => self.i = quoted(raw, start),
            b'<' | b':' | b'%' if let Some(bracket) = digraph(&bytes[start..]) => {
                self.replace(start, start + 2, bracket);
                let opens = matches!(bracket, "[" | "{");
                self.depth = if opens { self.depth + 1 } else { self.depth.saturating_sub(1) };
            }
            b'(' | b'[' | b'{' => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    let span = self.out.span(raw, start, start + 1);
                    return Err(whole_or_at("E802", span, "nested too deeply"));
                }
                self.i += 1;
            }
            b')' | b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                self.i += 1;
            }
            b':' => return Ok(self.colon()),
            _ if is_letter(c) => return self.word(),
            _ if c.is_ascii_digit() => {
                self.i = end_of(raw, start, |b| b.is_ascii_alphanumeric() || b == b'.');
            }
            _ if c.is_ascii() => self.i += 1,
            _ => {
                let end = raw[start..].chars().next().map_or(start + 1, |c| start + c.len_utf8());
                let span = self.out.span(raw, start, end);
                return Err(whole_or_at("E802", span, "unexpected character"));
            }
        }
        Ok(true)
    }

    /// `?:` gets a middle, and a label a statement, so that a declaration may follow.
    fn colon(&mut self) -> bool {
        let start = self.i;
        self.i += 1;
        if self.last == "?" {
            self.put(start, start, SAME);
        } else if matches!(self.before, ";" | "{" | "}") && is_label(self.last) {
            self.put(self.i, self.i, ";");
            self.line_start = false;
            (self.before, self.last) = (";", ";");
            return false;
        }
        true
    }

    fn word(&mut self) -> Result<bool, Diagnostic> {
        let (raw, start) = (self.raw, self.i);
        let end = end_of(raw, start, |b| is_letter(b) || b.is_ascii_digit());
        self.i = end;
        let outside = self.depth == 0 && matches!(self.last, ";" | "}");
        match &raw[start..end] {
            "__thread" => self.replace(start, end, "_Thread_local"),
            "__attribute__" | "__attribute" => {
                self.replace(start, balanced(raw, end), " ");
                self.out.attributes(raw, start, &raw[end..self.i])?;
                return Ok(false);
            }
            "asm" | "__asm__" | "__asm" if self.depth == 0 || is_operand(self.last) => {
                if matches!(self.last, ";" | "}") {
                    return self.out.refused(raw, start, "assembly outside functions").map(|()| false);
                }
                self.replace(start, balanced(raw, end), " ");
                let label: String = raw[end..self.i].split('"').skip(1).step_by(2).collect();
                self.out.mark("asm", &label, format!("the name `{label}` in assembly"));
                return Ok(false);
            }
            word if let Some(with) = listed(constructs::REFUSED_TYPES, word) => {
                self.replace(start, end, with);
                self.out.mark(word, "", format!("`{word}`"));
            }
            word if let Some(with) = listed(constructs::REFUSED_TYPES_WITH_BRACKETS, word) => {
                self.replace(start, balanced(raw, end), with);
                self.out.mark(word, "", format!("`{word}`"));
                return Ok(false);
            }
            word if constructs::REFUSED_WORDS.contains(&word) => {
                return self.out.refused(raw, start, &format!("`{word}`")).map(|()| false);
            }
            // A function without a type returns `int`.
            word if outside && !is_keyword(word) && raw[end..].trim_start().starts_with('(') => {
                self.put(start, start, "int ");
            }
            _ => {}
        }
        Ok(true)
    }
}

fn is_letter(b: u8) -> bool {
    b.is_ascii_alphabetic() || matches!(b, b'_' | b'$')
}

/// Returns the first position from which on a byte does not belong to the token.
fn end_of(raw: &str, start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    raw.as_bytes()[start..].iter().position(|&b| !belongs(b)).map_or(raw.len(), |n| start + n)
}

/// Returns the end of a string literal or a character, which may lack its end.
fn quoted(raw: &str, start: usize) -> usize {
    let (bytes, mut i) = (raw.as_bytes(), start + 1);
    while i < bytes.len() && bytes[i] != bytes[start] && bytes[i] != b'\n' {
        i += if bytes[i] == b'\\' { 2 } else { 1 };
    }
    i = (i + 1).min(bytes.len());
    while !raw.is_char_boundary(i) {
        i += 1;
    }
    i
}
