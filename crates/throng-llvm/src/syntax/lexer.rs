//! Tokens of LLVM IR.

use throng_lang::source::Span;

use super::{Read, SyntaxError};

/// What a token is. Names are as they are written, without the sigil and the quotation marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'t> {
    /// A keyword, a type, a label, a name of an attribute, a number.
    Word(&'t str),
    /// `"text"`
    Text(&'t str),
    /// `c"bytes"`
    Bytes(&'t str),
    /// `%name`
    Local(&'t str),
    /// `@name`
    Global(&'t str),
    /// `!name`, `!0`, `!DILocation`
    Meta(&'t str),
    /// `#0`, `#dbg_value`
    Hash(&'t str),
    /// One of `,=()[]{}<>*:|!`
    Mark(char),
    /// The end of the text.
    End,
}

impl Token<'_> {
    /// How messages call it.
    pub fn describe(self) -> String {
        match self {
            Token::Word(w) => format!("`{w}`"),
            Token::Text(t) => format!("`\"{t}\"`"),
            Token::Bytes(_) => "a string".into(),
            Token::Local(n) => format!("`%{n}`"),
            Token::Global(n) => format!("`@{n}`"),
            Token::Meta(n) => format!("`!{n}`"),
            Token::Hash(n) => format!("`#{n}`"),
            Token::Mark(c) => format!("`{c}`"),
            Token::End => "the end of the text".into(),
        }
    }
}

/// Where in the text the next token begins. To look ahead is to copy it.
#[derive(Clone, Copy)]
pub struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// Where the last token ended.
    pub end: usize,
}

fn is_in_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'$' | b'.' | b'_') || b >= 0x80
}

impl<'t> Lexer<'t> {
    /// Begins at the start of a text.
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0, end: 0 }
    }

    /// Skips blanks and comments; returns whether a new line began.
    fn skip(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut lines = false;
        while let Some(&b) = bytes.get(self.at) {
            match b {
                b'\n' => lines = true,
                b' ' | b'\t' | b'\r' => {}
                b';' => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        lines
    }

    /// Returns whether the next token begins a line.
    pub fn begins_line(mut self) -> bool {
        self.skip() || self.at >= self.text.len()
    }

    /// Goes to the end of the line.
    pub fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.end = self.at;
    }

    /// Returns the next token and where it is.
    pub fn token(&mut self) -> Read<(Token<'t>, Span)> {
        self.skip();
        let (bytes, start) = (self.text.as_bytes(), self.at);
        let Some(&first) = bytes.get(start) else {
            self.end = start;
            return Ok((Token::End, Span::new(start, start)));
        };
        self.at += 1;
        let token = match first {
            b'"' => Token::Text(self.quoted(start)?),
            b'c' if bytes.get(self.at) == Some(&b'"') => {
                self.at += 1;
                Token::Bytes(self.quoted(start)?)
            }
            b'%' => Token::Local(self.name(start)?),
            b'@' => Token::Global(self.name(start)?),
            b'#' => Token::Hash(self.word()),
            b'!' => match self.word() {
                "" => Token::Mark('!'),
                name => Token::Meta(name),
            },
            b',' | b'=' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'*' | b':' | b'|' => {
                Token::Mark(first as char)
            }
            b if is_in_word(b) => {
                self.at = start;
                Token::Word(self.word())
            }
            _ => {
                let c = self.text[start..].chars().next().unwrap_or(' ');
                return Err(SyntaxError {
                    span: Span::new(start, start + c.len_utf8()),
                    message: format!("{c:?} is not expected here"),
                });
            }
        };
        self.end = self.at;
        Ok((token, Span::new(start, self.at)))
    }

    fn word(&mut self) -> &'t str {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += rest.iter().position(|&b| !is_in_word(b)).unwrap_or(rest.len());
        &self.text[start..self.at]
    }

    fn name(&mut self, start: usize) -> Read<&'t str> {
        if self.text.as_bytes().get(self.at) == Some(&b'"') {
            self.at += 1;
            return self.quoted(start);
        }
        match self.word() {
            "" => Err(SyntaxError {
                span: Span::new(start, self.at),
                message: "a name is expected here".into(),
            }),
            name => Ok(name),
        }
    }

    /// Reads up to the closing quotation mark.
    fn quoted(&mut self, start: usize) -> Read<&'t str> {
        let from = self.at;
        match self.text[from..].find('"') {
            Some(n) => {
                self.at = from + n + 1;
                Ok(&self.text[from..from + n])
            }
            None => Err(SyntaxError {
                span: Span::new(start, start + 1),
                message: "this string does not end".into(),
            }),
        }
    }
}

/// Returns the bytes that a string stands for: `\0A` is the byte 10.
pub fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&b| (b as char).to_digit(16));
    let (mut found, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = (bytes[at] == b'\\').then(|| Some((digit(at + 1)? * 16 + digit(at + 2)?) as u8)).flatten();
        match code {
            Some(b) => {
                found.push(b);
                at += 3;
            }
            None if bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'\\') => {
                found.push(b'\\');
                at += 2;
            }
            None => {
                found.push(bytes[at]);
                at += 1;
            }
        }
    }
    found
}
