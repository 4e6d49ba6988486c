//! Characters and strings as they are written.

use crate::syntax::ast::Span;

use super::{Result, unsupported, wrong};
use throng_goto::program::{INT, Int};

/// The characters of text or of a character constant, by what stands before its quote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `char`
    Plain,
    /// `u8`: `char`
    Utf8,
    /// `u`: `char16_t`
    Utf16,
    /// `U`: `char32_t`
    Utf32,
    /// `L`: `wchar_t`
    Wide,
}

impl Kind {
    /// Returns the type of a character.
    pub(super) fn unit(self) -> Int {
        match self {
            Kind::Plain | Kind::Utf8 => Int::new(1, true),
            Kind::Utf16 => Int::new(2, false),
            Kind::Utf32 => Int::new(4, false),
            Kind::Wide => Int::new(4, true),
        }
    }

    fn of(text: &str) -> Kind {
        match text {
            _ if text.starts_with("u8") => Kind::Utf8,
            _ if text.starts_with('u') => Kind::Utf16,
            _ if text.starts_with('U') => Kind::Utf32,
            _ if text.starts_with('L') => Kind::Wide,
            _ => Kind::Plain,
        }
    }

    /// Appends a character.
    fn encode(self, c: char, out: &mut Vec<u32>) {
        match self {
            Kind::Plain | Kind::Utf8 => out.extend(c.to_string().bytes().map(u32::from)),
            Kind::Utf16 => out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|&unit| u32::from(unit))),
            Kind::Utf32 | Kind::Wide => out.push(c.into()),
        }
    }
}

/// Returns what characters a string that is written in parts has: one part says it for all.
pub(super) fn kind_of(parts: &[String]) -> Kind {
    parts.iter().map(|part| Kind::of(part)).find(|kind| *kind != Kind::Plain).unwrap_or(Kind::Plain)
}

/// Returns the characters of a string that is written in parts, without the zero at its end.
pub(super) fn string_units(parts: &[String], span: Span) -> Result<Vec<u32>> {
    let kind = kind_of(parts);
    let mut units = Vec::new();
    for part in parts {
        if !matches!(Kind::of(part), Kind::Plain) && Kind::of(part) != kind {
            return wrong(span, "strings of different characters stand next to each other");
        }
        let quote = part.find('"').unwrap_or(0);
        let Some(inner) = part[quote..].strip_prefix('"').and_then(|p| p.strip_suffix('"')) else {
            return wrong(span, "this is not a string");
        };
        unescape(inner, kind, &mut units, span)?;
    }
    Ok(units)
}

/// Returns the bytes of a string of type `char`, without the zero at its end.
pub(super) fn string_bytes(parts: &[String], span: Span) -> Result<Vec<u8>> {
    if kind_of(parts).unit().size > 1 {
        return unsupported(span, "a string of wide characters");
    }
    Ok(string_units(parts, span)?.into_iter().map(|unit| unit as u8).collect())
}

/// Returns the value and type of a character constant. One of several characters has them as its
/// bytes.
pub(super) fn character(text: &str, span: Span) -> Result<(i64, Int)> {
    let (kind, quote) = (Kind::of(text), text.find('\'').unwrap_or(0));
    let Some(inner) = text[quote..].strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) else {
        return wrong(span, "this is not a character");
    };
    let mut units = Vec::new();
    unescape(inner, kind, &mut units, span)?;
    let int = |v: i64| Ok((v, INT));
    match (&units[..], kind) {
        ([], _) => wrong(span, "this is not a character"),
        ([unit], Kind::Plain) => int(i64::from(*unit as u8 as i8)),
        // `unsigned char` since C23, and `int` before.
        ([_], Kind::Utf8) => unsupported(span, "a character constant with `u8`"),
        ([unit], kind) => Ok((kind.unit().wrap((*unit).into()), kind.unit())),
        ([.., _, _, _, _, _], Kind::Plain) => unsupported(span, "a constant of more than four characters"),
        (units, Kind::Plain) => int(i64::from(units.iter().fold(0u32, |v, b| v << 8 | b) as i32)),
        _ => unsupported(span, "a constant of several wide characters"),
    }
}

/// Appends the characters that a text with escape sequences stands for.
fn unescape(text: &str, kind: Kind, out: &mut Vec<u32>, span: Span) -> Result<()> {
    let most = u64::MAX >> (64 - 8 * u32::from(kind.unit().size));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == char::REPLACEMENT_CHARACTER {
            return unsupported(span, "text that is not UTF-8");
        }
        if c != '\\' {
            kind.encode(c, out);
            continue;
        }
        let Some(letter) = rest.chars().next() else { return wrong(span, "this is not a string") };
        let octal = letter.is_digit(8);
        rest = if octal { rest } else { &rest[letter.len_utf8()..] };
        out.push(match letter {
            'n' => b'\n'.into(),
            't' => b'\t'.into(),
            'r' => b'\r'.into(),
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' | 'E' => 27,
            '\\' | '\'' | '"' | '?' => letter.into(),
            'x' => number(&mut rest, 16, usize::MAX, most, span)?,
            'u' | 'U' => {
                let digits = if letter == 'u' { 4 } else { 8 };
                let code = number(&mut rest, 16, digits, u32::MAX.into(), span)?;
                match char::from_u32(code) {
                    Some(c) => kind.encode(c, out),
                    None => return wrong(span, "this is not the number of a character"),
                }
                continue;
            }
            _ if octal => number(&mut rest, 8, 3, most, span)?,
            _ => return unsupported(span, format!("the escape sequence `\\{letter}`")),
        });
    }
    Ok(())
}

/// Returns the number that a text begins with, of at most `most` digits and not above a limit.
fn number(text: &mut &str, radix: u32, most: usize, limit: u64, span: Span) -> Result<u32> {
    let digits = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let (digits, rest) = text.split_at(digits);
    *text = rest;
    match u32::from_str_radix(digits, radix) {
        Ok(v) if u64::from(v) <= limit => Ok(v),
        _ => wrong(span, format!("`{digits}` is not the number of a character")),
    }
}
