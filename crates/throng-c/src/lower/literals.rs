//! Characters and strings as they are written.

use crate::syntax::ast::Span;

use super::{Result, unsupported, wrong};

/// Returns the bytes of a string that is written in parts, without the zero at its end.
pub(super) fn string_bytes(parts: &[String], span: Span) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for part in parts {
        let plain = part.strip_prefix("u8").unwrap_or(part);
        let Some(inner) = plain.strip_prefix('"').and_then(|p| p.strip_suffix('"')) else {
            return unsupported(span, "a string of wide characters");
        };
        unescape(inner, &mut bytes, span)?;
    }
    Ok(bytes)
}

/// Returns the value of a character constant. One of several characters has them as its bytes.
pub(super) fn character(text: &str, span: Span) -> Result<i64> {
    let Some(inner) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) else {
        return unsupported(span, "a wide character");
    };
    let mut bytes = Vec::new();
    unescape(inner, &mut bytes, span)?;
    match &bytes[..] {
        [] => wrong(span, "this is not a character"),
        [byte] => Ok(i64::from(*byte as i8)),
        [.., _, _, _, _, _] => unsupported(span, "a constant of more than four characters"),
        bytes => Ok(i64::from(bytes.iter().fold(0u32, |v, b| v << 8 | u32::from(*b)) as i32)),
    }
}

/// Appends the bytes that a text with escape sequences stands for.
fn unescape(text: &str, out: &mut Vec<u8>, span: Span) -> Result<()> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == char::REPLACEMENT_CHARACTER {
            return unsupported(span, "text that is not UTF-8");
        }
        if c != '\\' {
            out.extend(c.to_string().bytes());
            continue;
        }
        let Some(kind) = rest.chars().next() else { return wrong(span, "this is not a string") };
        let octal = kind.is_digit(8);
        rest = if octal { rest } else { &rest[kind.len_utf8()..] };
        out.push(match kind {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' | 'E' => 27,
            '\\' | '\'' | '"' | '?' => kind as u8,
            'x' => number(&mut rest, 16, usize::MAX, span)?,
            _ if octal => number(&mut rest, 8, 3, span)?,
            _ => return unsupported(span, format!("the escape sequence `\\{kind}`")),
        });
    }
    Ok(())
}

/// Returns the number that a text begins with, of at most `most` digits.
fn number(text: &mut &str, radix: u32, most: usize, span: Span) -> Result<u8> {
    let digits = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (digits, rest) = text.split_at(digits);
    *text = rest;
    match u8::from_str_radix(digits, radix) {
        Ok(v) => Ok(v),
        Err(_) => wrong(span, format!("`{digits}` is not the number of a character")),
    }
}
