//! Text to tokens.
//!
//! Tokens are kinds and places; whoever needs the spelling looks at the text. Line markers and
//! comments are passed over, pragmas are kept beside the tokens, and every opening bracket knows
//! the one that closes it.

use std::ops::Range;
use std::sync::LazyLock;

use super::ast::Span;
use super::directives::Pragmas;
use super::token::{Kind, PUNCTUATORS, Token, word};
use super::{DEEPEST, Errors, SyntaxError};

/// The tokens of a text, the last of which is [`Kind::End`], and what stands beside them.
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) pragmas: Pragmas,
}

/// Reads the tokens of a passage of a text.
pub(super) fn lex(text: &str, range: Range<usize>, errors: &mut Errors) -> Lexed {
    let tokens = Vec::with_capacity(range.len() / 4);
    let pragmas = Pragmas::default();
    let (at, end) = (range.start, range.end);
    let mut lexer = Lexer { text, bytes: &text.as_bytes()[..end], at, tokens, pragmas, errors };
    lexer.at += if text[range].starts_with('\u{feff}') { 3 } else { 0 };
    lexer.run();
    let mut lexed = Lexed { tokens: lexer.tokens, pragmas: lexer.pragmas };
    lexed.match_brackets(errors);
    lexed
}

struct Lexer<'t, 'e> {
    text: &'t str,
    /// The text up to the end of the passage.
    bytes: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
    pragmas: Pragmas,
    errors: &'e mut Errors,
}

impl Lexer<'_, '_> {
    fn run(&mut self) {
        let mut line_start = true;
        while let Some(&b) = self.bytes.get(self.at) {
            match b {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.at += 1;
                    continue;
                }
                b'#' if line_start => self.directive(1),
                b'%' if line_start && self.peek(1) == b':' => self.directive(2),
                b'/' if self.peek(1) == b'/' => self.at = self.line_end(self.at),
                b'/' if self.peek(1) == b'*' => {
                    self.comment();
                    continue;
                }
                b'\\' if splice(&self.bytes[self.at..]) > 0 => {
                    self.at += splice(&self.bytes[self.at..]);
                    continue;
                }
                _ => self.token(b),
            }
            line_start = false;
            if self.errors.is_full() {
                break;
            }
        }
        let end = self.bytes.len();
        self.push(Kind::End, end, end);
    }

    /// Returns the byte that is `n` bytes ahead, or zero at the end.
    fn peek(&self, n: usize) -> u8 {
        self.bytes.get(self.at + n).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        let (start, end) = (start as u32, end as u32);
        self.tokens.push(Token { kind, soft: false, start, end, closing: 0 });
    }

    fn error(&mut self, start: usize, end: usize, message: &str, hint: Option<&str>) {
        let hint = hint.map(str::to_string);
        self.errors.add(SyntaxError {
            span: Span::new(start, end),
            message: message.into(),
            label: None,
            hint,
        });
    }

    /// Returns the end of the line, which goes on behind a backslash.
    fn line_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.bytes.len() && self.bytes[at] != b'\n' {
            at += splice(&self.bytes[at..]).max(1);
        }
        at.min(self.bytes.len())
    }

    fn comment(&mut self) {
        let start = self.at;
        match self.text[start + 2..self.bytes.len()].find("*/") {
            Some(length) => self.at = start + length + 4,
            None => {
                self.error(start, start + 2, "this comment is not closed", None);
                self.at = self.bytes.len();
            }
        }
    }

    /// A line that begins with `#`, of which only pragmas matter behind the preprocessor.
    fn directive(&mut self, sign: usize) {
        let start = self.at;
        let end = self.line_end(start);
        self.at = end;
        let rest = self.text[start + sign..end].trim_start();
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        match name {
            "pragma" => {
                let text = rest[name.len()..].trim();
                self.pragmas.add(self.tokens.len(), text, Span::new(start, end), self.errors);
            }
            // `cc -E -dD` leaves definitions, which have been applied.
            "" | "line" | "ident" | "sccs" | "define" | "undef" => {}
            _ if name.starts_with(|c: char| c.is_ascii_digit()) => {}
            _ => {
                let message = format!("`#{name}` is for the preprocessor, which has not run");
                let hint = "give the file as `.c`, or what `cc -E` makes of it as `.i`";
                self.error(start, end, &message, Some(hint));
            }
        }
    }

    fn token(&mut self, b: u8) {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.word(),
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.quoted(self.at),
            _ if !b.is_ascii() || b == b'\\' => self.other(),
            _ => self.punctuator(b),
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.at = self.word_end(start);
        let text = &self.text[start..self.at];
        match self.peek(0) {
            b'"' if matches!(text, "u8" | "u" | "U" | "L") => return self.quoted(start),
            b'"' if matches!(text, "R" | "u8R" | "uR" | "UR" | "LR") => return self.raw(start),
            b'\'' if matches!(text, "u8" | "u" | "U" | "L") => return self.quoted(start),
            _ => {}
        }
        let (kind, soft) =
            if text.contains('\\') { word(&super::literals::without_splices(text)) } else { word(text) };
        let (start, end) = (start as u32, self.at as u32);
        self.tokens.push(Token { kind, soft, start, end, closing: 0 });
    }

    /// Returns the end of a word, with universal characters and lines that go on.
    fn word_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(&b) = self.bytes.get(at) {
            at += match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => 1,
                b'\\' => match universal(&self.bytes[at..]).max(splice(&self.bytes[at..])) {
                    0 => break,
                    length => length,
                },
                _ if b.is_ascii() => break,
                _ => match self.text[at..].chars().next() {
                    Some(c) if is_letter(c) => c.len_utf8(),
                    _ => break,
                },
            };
        }
        at.min(self.bytes.len())
    }

    /// A number of the preprocessor: what it means is found when it is used.
    fn number(&mut self) {
        let start = self.at;
        while let Some(&b) = self.bytes.get(self.at) {
            let next = self.peek(1);
            self.at += match b {
                b'e' | b'E' | b'p' | b'P' if matches!(next, b'+' | b'-') => 2,
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' => 1,
                b'\'' if next.is_ascii_alphanumeric() => 2,
                _ => break,
            };
        }
        self.push(Kind::Number, start, self.at);
    }

    /// A string or a character whose quote is next; `start` is that of its prefix.
    fn quoted(&mut self, start: usize) {
        let quote = self.peek(0);
        let mut at = self.at + 1;
        let first = at;
        let closed = loop {
            match self.bytes.get(at) {
                None | Some(b'\n') => break false,
                Some(&b) if b == quote => break true,
                Some(b'\\') if splice(&self.bytes[at..]) > 0 => at += splice(&self.bytes[at..]),
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        };
        let kind = if quote == b'"' { Kind::Text } else { Kind::Character };
        self.at = self.boundary(at + usize::from(closed));
        if !closed {
            let what = if kind == Kind::Text { "string" } else { "character" };
            self.error(start, self.at, &format!("this {what} is not closed"), None);
        } else if kind == Kind::Character && at == first {
            self.error(start, self.at, "there is nothing between the quotes", None);
        }
        self.push(kind, start, self.at);
    }

    /// Returns the next position that begins a character.
    fn boundary(&self, at: usize) -> usize {
        self.text.ceil_char_boundary(at.min(self.bytes.len())).min(self.bytes.len())
    }

    /// A raw string `R"x(…)x"`, whose quote is next.
    fn raw(&mut self, start: usize) {
        let rest = &self.text[self.at + 1..self.bytes.len()];
        let opened = rest.find('(').filter(|&n| n <= 16 && !rest[..n].contains([')', '\\', '\n', ' ', '"']));
        let end = opened.and_then(|n| {
            let close = format!("){}\"", &rest[..n]);
            rest[n..].find(&close).map(|at| n + at + close.len())
        });
        match end {
            Some(end) => self.at += 1 + end,
            None => {
                self.error(start, self.at + 1, "this string is not closed", None);
                self.at = self.line_end(self.at);
            }
        }
        self.push(Kind::Text, start, self.at);
    }

    fn punctuator(&mut self, b: u8) {
        let rest = &self.bytes[self.at..];
        match BY_FIRST_BYTE[usize::from(b)].iter().find(|(sign, _)| rest.starts_with(sign)) {
            Some(&(sign, kind)) => {
                self.push(kind, self.at, self.at + sign.len());
                self.at += sign.len();
            }
            None => self.stray(),
        }
    }

    /// A byte that is not ASCII, or a backslash: a name, a space, or nothing that belongs in C.
    fn other(&mut self) {
        let c = self.text[self.at..].chars().next().unwrap_or(' ');
        if is_letter(c) || c == '\\' && universal(&self.bytes[self.at..]) > 0 {
            self.word();
        } else if c.is_whitespace() || c == '\u{200b}' || c == '\u{feff}' {
            self.at += c.len_utf8();
        } else {
            self.stray();
        }
    }

    fn stray(&mut self) {
        let start = self.at;
        let c = self.text[start..].chars().next().unwrap_or(' ');
        // A run of the same is one error.
        while self.at < self.bytes.len() && self.text[self.at..].starts_with(c) {
            self.at += c.len_utf8();
        }
        let hint = match c {
            '“' | '”' | '„' => Some("write `\"`"),
            '‘' | '’' => Some("write `'`"),
            '–' | '—' | '−' => Some("write `-`"),
            '\u{fffd}' => Some("the file is not UTF-8 here"),
            '@' => Some("Objective-C is not read"),
            '#' => Some("a `#` begins a line, for the preprocessor"),
            _ => None,
        };
        let message = format!("unexpected character `{}`", c.escape_debug());
        self.error(start, start + c.len_utf8(), &message, hint);
    }
}

/// How a punctuator is written, and what it is.
type Punctuator = (&'static [u8], Kind);

/// Punctuators by their first bytes.
static BY_FIRST_BYTE: LazyLock<Vec<Vec<Punctuator>>> = LazyLock::new(|| {
    let mut table = vec![Vec::new(); 256];
    for (sign, kind) in PUNCTUATORS {
        table[usize::from(sign.as_bytes()[0])].push((sign.as_bytes(), *kind));
    }
    table
});

/// Returns whether a character that is not ASCII may stand in a name.
fn is_letter(c: char) -> bool {
    !c.is_ascii() && c.is_alphanumeric()
}

/// Returns the length of a backslash with the end of its line behind it, or zero.
fn splice(bytes: &[u8]) -> usize {
    match bytes {
        [b'\\', b'\n', ..] => 2,
        [b'\\', b'\r', b'\n', ..] => 3,
        _ => 0,
    }
}

/// Returns the length of a universal character such as `\u00e9`, or zero.
fn universal(bytes: &[u8]) -> usize {
    let length = match bytes {
        [b'\\', b'u', ..] => 6,
        [b'\\', b'U', ..] => 10,
        _ => return 0,
    };
    let digits = bytes.get(2..length).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit));
    if digits { length } else { 0 }
}

impl Lexed {
    /// Finds the closing bracket of every opening one. A bracket that is closed by one of another
    /// kind, further outside, has none.
    fn match_brackets(&mut self, errors: &mut Errors) {
        let last = self.tokens.len() as u32 - 1;
        let mut open: Vec<usize> = Vec::new();
        for i in 0..self.tokens.len() {
            let kind = self.tokens[i].kind;
            if kind.opens() {
                self.tokens[i].closing = last;
                open.push(i);
                if open.len() > DEEPEST {
                    let span = Span::new(self.tokens[i].start as usize, self.tokens[i].end as usize);
                    return errors.fatal(SyntaxError::new(span, "nested too deeply"));
                }
            } else if let Some(opener) = kind.opened_by()
                && let Some(depth) = self.opener(&open, opener)
            {
                self.tokens[open[depth]].closing = i as u32;
                open.truncate(depth);
            }
        }
    }

    /// Returns which open bracket a closing one closes. Parentheses do not reach out of braces.
    fn opener(&self, open: &[usize], opener: Kind) -> Option<usize> {
        let outside = |&i: &usize| {
            let kind = self.tokens[open[i]].kind;
            kind == opener || kind == Kind::LeftBrace
        };
        let found = (0..open.len()).rev().find(outside)?;
        (self.tokens[open[found]].kind == opener).then_some(found)
    }
}
