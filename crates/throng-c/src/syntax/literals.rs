//! What numbers, names and strings stand for, as they are written.

use super::ast::*;

/// Returns a text without the ends of lines that a backslash takes out.
pub(super) fn without_splices(text: &str) -> String {
    text.replace("\\\r\n", "").replace("\\\n", "")
}

/// Returns a name, with universal characters replaced by what they stand for.
pub(super) fn name(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_string();
    }
    let text = without_splices(text);
    let mut parts = text.split('\\');
    let mut name = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = if part.starts_with('u') { 4 } else { 8 };
        let (code, rest) = part.split_at_checked(1 + digits).unwrap_or((part, ""));
        let value = code.get(1..).and_then(|c| u32::from_str_radix(c, 16).ok());
        name.push(value.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
        name.push_str(rest);
    }
    name
}

/// Returns a string or character as the tree has it: a raw string with escapes in place of what
/// it has between its brackets.
pub(super) fn quoted(text: &str) -> String {
    let Some(quote) = text.find(['"', '\'']) else { return text.to_string() };
    match text[..quote].strip_suffix('R') {
        Some(prefix) => format!("{prefix}\"{}\"", escaped(raw_content(&text[quote..]))),
        None if text.contains("\\\n") || text.contains("\\\r\n") => without_splices(text),
        None => text.to_string(),
    }
}

/// Returns what stands in `"x(…)x"`.
fn raw_content(text: &str) -> &str {
    let open = text.find('(').map_or(0, |n| n + 1);
    let close = text.rfind(')').unwrap_or(text.len());
    text.get(open..close).unwrap_or_default()
}

fn escaped(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    for c in content.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Returns the constant that a number is, or what is wrong with it.
pub(super) fn number(text: &str) -> Result<Constant, &'static str> {
    let text = text.replace('\'', "");
    let lower = text.to_ascii_lowercase();
    let is_float = match lower.strip_prefix("0x") {
        Some(hex) => hex.contains(['.', 'p']),
        None => lower.contains('.') || lower.contains('e') && !lower.starts_with("0b"),
    };
    if is_float { float(&text) } else { integer(&lower) }
}

fn integer(text: &str) -> Result<Constant, &'static str> {
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x', ..] => (16, &text[2..]),
        [b'0', b'b', ..] => (2, &text[2..]),
        [b'0', b'o', ..] => (8, &text[2..]),
        [b'0', ..] => (8, text),
        _ => (10, text),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if suffix.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("this number has a digit that its base does not have");
    }
    if digits.is_empty() {
        return Err("this is not a number");
    }
    let value = u128::from_str_radix(digits, radix).map_err(|_| "this number is too large")?;
    let (unsigned, size, imaginary) =
        integer_suffix(suffix).ok_or("the suffix of this number is not known")?;
    Ok(Constant::Integer(Integer { value, decimal: radix == 10, unsigned, size, imaginary }))
}

fn integer_suffix(suffix: &str) -> Option<(bool, IntegerSize, bool)> {
    let imaginary = suffix.contains(['i', 'j']);
    let real = suffix.replacen(['i', 'j'], "", 1);
    let unsigned = real.contains('u');
    // An `u` stands before or behind the size.
    let size = match real.strip_prefix('u').or(real.strip_suffix('u')).unwrap_or(&real) {
        "" => IntegerSize::Int,
        "l" => IntegerSize::Long,
        "ll" => IntegerSize::LongLong,
        "wb" => IntegerSize::BitInt,
        _ => return None,
    };
    Some((unsigned, size, imaginary))
}

fn float(text: &str) -> Result<Constant, &'static str> {
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let end = float_end(text, hex).ok_or("this is not a number")?;
    let (number, suffix) = text.split_at(end);
    let suffix = suffix.to_ascii_lowercase();
    // An `i` or `j` on either side of another suffix.
    let real = suffix.trim_matches(['i', 'j']);
    let format = match real {
        "" => FloatFormat::Double,
        "f" => FloatFormat::Float,
        "l" => FloatFormat::LongDouble,
        "q" | "w" | "df" | "dd" | "dl" | "d" | "bf16" | "f16" | "f32" | "f64" | "f128" | "f32x" | "f64x"
        | "f128x" | "k" | "r" | "hk" | "hr" | "lk" | "lr" | "uk" | "ur" => FloatFormat::Other(real.into()),
        _ => return Err("the suffix of this number is not known"),
    };
    Ok(Constant::Float(Float { number: number.into(), format, imaginary: real.len() < suffix.len() }))
}

/// Returns where the digits, the point and the exponent of a number end.
fn float_end(text: &str, hex: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_digit = |b: &u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let digits = |from: usize| bytes[from..].iter().take_while(|b| is_digit(b)).count();
    let mut at = if hex { 2 } else { 0 };
    let before = digits(at);
    at += before;
    let mut after = 0;
    if bytes.get(at) == Some(&b'.') {
        after = digits(at + 1);
        at += 1 + after;
    }
    if before + after == 0 {
        return None;
    }
    let marks = if hex { [b'p', b'P'] } else { [b'e', b'E'] };
    if !bytes.get(at).is_some_and(|b| marks.contains(b)) {
        return (!hex).then_some(at);
    }
    at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let exponent = bytes[at.min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    (exponent > 0).then_some(at + exponent)
}
