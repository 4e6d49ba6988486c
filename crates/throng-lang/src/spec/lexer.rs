//! Tokens of a `.spec` file. Newlines and `#` comments are only separators.

use crate::source::{Diagnostic, Span};
use crate::system::Findings;

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Name,
    Number,
    /// `vars`, `rules`, `init`, `target`, `invariants`
    Section,
    /// One of `-> >= = ' , ; + - [ ]`
    Symbol(&'static str),
    End,
}

const SYMBOLS: [&str; 10] = ["->", ">=", "=", "'", ",", ";", "+", "-", "[", "]"];
pub(super) const SECTIONS: [&str; 5] = ["vars", "rules", "init", "target", "invariants"];

/// Returns all tokens with their spans; the last is [`Token::End`].
pub(super) fn tokens(text: &str, findings: &mut Findings) -> Vec<(Token, Span)> {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(text.len() / 3);
    let mut at = 0;
    while at < bytes.len() && !findings.full() {
        let start = at;
        let while_ = |at: usize, good: fn(&u8) -> bool| {
            at + bytes[at..].iter().position(|b| !good(b)).unwrap_or(bytes.len() - at)
        };
        let token = match bytes[at] {
            b if b.is_ascii_whitespace() || b == 0x0b => {
                at += 1;
                continue;
            }
            b'#' => {
                at = while_(at, |&b| b != b'\n');
                continue;
            }
            b if b.is_ascii_alphabetic() || b == b'_' => {
                // Tools that make nets call places `cell.3.full` or by Java classes,
                // `util.Map$Entry[]`.
                at = while_(at, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'));
                while bytes[at..].starts_with(b"[]") {
                    at += 2;
                }
                if SECTIONS.contains(&&text[start..at]) { Token::Section } else { Token::Name }
            }
            b'0'..=b'9' => {
                at = while_(at, u8::is_ascii_digit);
                Token::Number
            }
            _ => match SYMBOLS.iter().find(|s| bytes[at..].starts_with(s.as_bytes())) {
                Some(symbol) => {
                    at += symbol.len();
                    Token::Symbol(symbol)
                }
                None => {
                    let c = text[at..].chars().next().unwrap_or(' ');
                    at += c.len_utf8();
                    let span = Span::new(start, at);
                    findings.push(Diagnostic::error("E401", span, format!("`{c}` has no meaning in a net")));
                    continue;
                }
            },
        };
        found.push((token, Span::new(start, at)));
    }
    found.push((Token::End, Span::new(text.len(), text.len())));
    found
}
