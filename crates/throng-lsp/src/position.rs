//! Positions in a text as in the protocol: lines from 0, and columns in UTF-16 units.

use serde_json::{Value, json};
use throng_lang::source::Span;

/// A text with the starts of its lines.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    starts: Vec<usize>,
}

impl Text {
    /// Indexes the lines of a text.
    pub fn new(text: String) -> Text {
        let ends = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Text { text, starts }
    }

    /// Returns a line without its end, counted from 0; empty if there is no such line.
    pub fn line(&self, line: usize) -> &str {
        let Some(&start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Returns the start of every line, in bytes.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Returns the position of a byte.
    pub fn position(&self, byte: usize) -> Value {
        let byte = self.text.floor_char_boundary(byte.min(self.text.len()));
        let line = self.starts.partition_point(|&s| s <= byte) - 1;
        let character: usize = self.text[self.starts[line]..byte].chars().map(char::len_utf16).sum();
        json!({ "line": line, "character": character })
    }

    /// Returns the range of a span.
    pub fn range(&self, span: Span) -> Value {
        json!({ "start": self.position(span.start as usize), "end": self.position(span.end as usize) })
    }

    /// Returns the range from a column to the end of the line; both are counted from 1, the column
    /// in characters.
    pub fn rest_of_line(&self, line: u32, column: u32) -> Value {
        let line = (line as usize).saturating_sub(1);
        let text = self.line(line);
        let units = |text: &str| text.chars().map(char::len_utf16).sum::<usize>();
        let before: usize = text.chars().take((column as usize).saturating_sub(1)).map(char::len_utf16).sum();
        let end = units(text.trim_end()).max(before);
        json!({
            "start": { "line": line, "character": before },
            "end": { "line": line, "character": end },
        })
    }

    /// Returns the byte at a position; the end of the line or text if the position is beyond it.
    pub fn byte(&self, position: &Value) -> Option<usize> {
        let line = position.get("line")?.as_u64()?;
        let character = position.get("character")?.as_u64()?;
        let line = usize::try_from(line).ok()?;
        let Some(&start) = self.starts.get(line) else { return Some(self.text.len()) };
        let mut units = 0;
        for (i, c) in self.line(line).char_indices() {
            if units >= character {
                return Some(start + i);
            }
            units += c.len_utf16() as u64;
        }
        Some(start + self.line(line).len())
    }

    /// Replaces a range, or everything, as in `textDocument/didChange`; returns `None`, and changes
    /// nothing, if the range is invalid.
    pub fn change(&mut self, change: &Value) -> Option<()> {
        let new = change.get("text")?.as_str()?;
        let (start, end) = match change.get("range").filter(|range| !range.is_null()) {
            None => (0, self.text.len()),
            Some(range) => (self.byte(range.get("start")?)?, self.byte(range.get("end")?)?),
        };
        if start > end {
            return None;
        }
        let mut text = std::mem::take(&mut self.text);
        text.replace_range(start..end, new);
        *self = Text::new(text);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u64, character: u64) -> Value {
        json!({ "line": line, "character": character })
    }

    #[test]
    fn columns_are_utf16() {
        let text = Text::new("// é𝄞x\r\nb\n".into());
        assert_eq!(text.byte(&at(0, 6)), Some(9), "𝄞 is two units");
        assert_eq!(text.position(9), at(0, 6));
        assert_eq!(text.byte(&at(0, 99)), Some(10), "before the line's end");
        assert_eq!(text.byte(&at(1, 0)), Some(12));
        assert_eq!(text.byte(&at(9, 0)), Some(14));
        assert_eq!(text.rest_of_line(1, 5), json!({ "start": at(0, 4), "end": at(0, 7) }));
    }

    #[test]
    fn edits_replace_ranges() {
        let mut text = Text::new("ab\ncd".into());
        let edit =
            |a: Value, b: Value, text: &str| json!({ "range": { "start": a, "end": b }, "text": text });
        text.change(&edit(at(0, 1), at(1, 1), "x\ny")).expect("applies");
        assert_eq!(text.text, "ax\nyd");
        assert_eq!(text.position(3), at(1, 0));
        assert!(text.change(&edit(at(1, 1), at(0, 0), "")).is_none());
        assert_eq!(text.text, "ax\nyd");
        text.change(&json!({ "text": "new" })).expect("applies");
        assert_eq!(text.text, "new");
    }
}
