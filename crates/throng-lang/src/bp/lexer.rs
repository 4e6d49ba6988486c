//! Text to tokens.
//!
//! The lexer returns one token at a time and keeps no list of them, so that a huge file takes no
//! more memory than its tree. Tokens are kinds and spans; the parser reads the text where the
//! spelling matters. Some keywords are contextual (`atomic`, `wait`, `print`, ...): those are plain
//! identifiers here, and only the reserved words, which can never be names, have kinds of their
//! own.
//!
//! Two constructs depend on context. `{x==1}` is one identifier, braces included, unless the word
//! `atomic` precedes it. And a comment `// file F line N function G`, as SATABS writes it before a
//! statement, is kept with its place until the parser asks for it.

use std::collections::VecDeque;

use crate::bp::ast::Origin;
use crate::source::{Diagnostic, Span};

/// Words that can never be names.
pub const RESERVED: [&str; 31] = [
    "T",
    "F",
    "true",
    "false",
    "begin",
    "end",
    "decl",
    "void",
    "bool",
    "goto",
    "if",
    "then",
    "else",
    "elsif",
    "fi",
    "while",
    "do",
    "od",
    "skip",
    "assume",
    "assert",
    "return",
    "constrain",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "schoose",
    "enforce",
    "abortif",
    "_",
];

/// Words that are keywords where they are expected, and names elsewhere.
pub const CONTEXTUAL: [&str; 14] = [
    "atomic",
    "wait",
    "signal",
    "broadcast",
    "dead",
    "print",
    "sync",
    "dfs",
    "thread_local",
    "call",
    "const",
    "enum",
    "for",
    "in",
];

/// The kinds of tokens. Synonyms (`&` and `&&`, `T` and `true`) are one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "each variant is the word or sign `Tok::symbol` gives")]
pub enum Tok {
    Ident,
    Underscore,
    Int,
    True,
    False,
    Begin,
    End,
    Decl,
    Void,
    Bool,
    Goto,
    If,
    Then,
    Else,
    Elsif,
    Fi,
    While,
    Do,
    Od,
    Skip,
    Assume,
    Assert,
    Return,
    Constrain,
    StartThread,
    EndThread,
    AtomicBegin,
    AtomicEnd,
    Schoose,
    Enforce,
    Abortif,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Less,
    Greater,
    Colon,
    Becomes,
    Semi,
    Comma,
    Not,
    And,
    Or,
    Xor,
    Equal,
    Unequal,
    Implies,
    Iff,
    Question,
    Star,
    Plus,
    Minus,
    DotDot,
    At,
    AtMost,
    AtLeast,
    Prime,
    /// Characters that start no token; the lexer has already reported them.
    Junk,
    Eof,
}

impl Tok {
    /// Returns the name of this kind in messages.
    pub fn symbol(self) -> &'static str {
        use Tok::*;
        match self {
            Ident => "a name",
            Underscore => "`_`",
            Int => "a number",
            True => "`T`",
            False => "`F`",
            Begin => "`begin`",
            End => "`end`",
            Decl => "`decl`",
            Void => "`void`",
            Bool => "`bool`",
            Goto => "`goto`",
            If => "`if`",
            Then => "`then`",
            Else => "`else`",
            Elsif => "`elsif`",
            Fi => "`fi`",
            While => "`while`",
            Do => "`do`",
            Od => "`od`",
            Skip => "`skip`",
            Assume => "`assume`",
            Assert => "`assert`",
            Return => "`return`",
            Constrain => "`constrain`",
            StartThread => "`start_thread`",
            EndThread => "`end_thread`",
            AtomicBegin => "`atomic_begin`",
            AtomicEnd => "`atomic_end`",
            Schoose => "`schoose`",
            Enforce => "`enforce`",
            Abortif => "`abortif`",
            LParen => "`(`",
            RParen => "`)`",
            LBrace => "`{`",
            RBrace => "`}`",
            LBracket => "`[`",
            RBracket => "`]`",
            Less => "`<`",
            Greater => "`>`",
            Colon => "`:`",
            Becomes => "`:=`",
            Semi => "`;`",
            Comma => "`,`",
            Not => "`!`",
            And => "`&`",
            Or => "`|`",
            Xor => "`^`",
            Equal => "`=`",
            Unequal => "`!=`",
            Implies => "`=>`",
            Iff => "`<=>`",
            Question => "`?`",
            Star => "`*`",
            Plus => "`+`",
            Minus => "`-`",
            DotDot => "`..`",
            At => "`@`",
            AtMost => "`<=`",
            AtLeast => "`>=`",
            Prime => "`'`",
            Junk => "unknown characters",
            Eof => "the end of the file",
        }
    }

    /// Returns whether this is a reserved word, which can never be a name.
    pub fn is_reserved(self) -> bool {
        word(self.symbol().trim_matches('`')) != Tok::Ident
    }
}

/// A kind and its span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its kind.
    pub tok: Tok,
    /// Its span.
    pub span: Span,
}

/// Reads tokens from a text of less than 4 GiB.
pub struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// True if the last token was the word `atomic`, or the name after `enum`: then `{` opens a
    /// block, not a name.
    before_block: bool,
    /// True if the last token was the word `enum`.
    after_enum: bool,
    /// No braced name starts before this place: otherwise `{{{{…` would be scanned to its end at
    /// every brace.
    no_braced_name_before: usize,
    /// Diagnostics about characters, in text order.
    pub diagnostics: Vec<Diagnostic>,
    /// Locations named by comments and the places of these comments, in text order.
    pub origins: VecDeque<(u32, Origin)>,
}

impl<'t> Lexer<'t> {
    /// Creates a lexer at the beginning of the text; a byte-order mark is skipped.
    pub fn new(text: &'t str) -> Lexer<'t> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer {
            text,
            at,
            before_block: false,
            after_enum: false,
            no_braced_name_before: 0,
            diagnostics: Vec::new(),
            origins: VecDeque::new(),
        }
    }

    /// Drops the rest of the text: every further token is [`Tok::Eof`].
    pub fn stop(&mut self) {
        self.at = self.text.len();
    }

    /// Returns the next token; at the end always [`Tok::Eof`].
    pub fn token(&mut self) -> Token {
        self.blanks_and_comments();
        let start = self.at;
        let tok = self.scan();
        let span = Span::new(start, self.at);
        let word = if tok == Tok::Ident { self.text.get(span.range()) } else { None };
        self.before_block = word == Some("atomic") || (word.is_some() && self.after_enum);
        self.after_enum = word == Some("enum");
        Token { tok, span }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn blanks_and_comments(&mut self) {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b), _) if is_blank(b) => self.at += 1,
                (Some(b'/'), Some(b'/')) => self.line_comment(),
                (Some(b'/'), Some(b'*')) => self.block_comment(),
                _ => return,
            }
        }
    }

    fn line_comment(&mut self) {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let comment = self.text.get(start..self.at).unwrap_or_default();
        self.origins.extend(origin(comment).map(|origin| (start as u32, origin)));
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let inner = self.text.get(start + 2..).unwrap_or_default();
        match inner.find("*/") {
            Some(length) => self.at = start + 2 + length + 2,
            None => {
                self.stop();
                let error = Diagnostic::error("E102", Span::new(start, start + 2), "a comment is not closed");
                self.diagnostics.push(error.label("no `*/` follows").hint("comments do not nest"));
            }
        }
    }

    fn scan(&mut self) -> Tok {
        let Some(first) = self.byte(0) else { return Tok::Eof };
        if is_name_start(first) {
            return self.name();
        }
        if first.is_ascii_digit() {
            self.at += self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
            return Tok::Int;
        }
        if first == b'{' && self.braced_name() {
            return Tok::Ident;
        }
        match sign(self.rest()) {
            Some((tok, length)) => {
                self.at += length;
                tok
            }
            None => self.junk(),
        }
    }

    fn name(&mut self) -> Tok {
        let start = self.at;
        while let Some(b) = self.byte(0) {
            let joins = matches!(b, b'-' | b'.') && self.byte(1).is_some_and(is_word_byte);
            if !(joins || is_word_byte(b) || matches!(b, b'$' | b'#')) {
                break;
            }
            self.at += 1;
        }
        word(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Skips a braced name such as `{x==1}`; returns whether there was one.
    fn braced_name(&mut self) -> bool {
        if self.before_block || self.at < self.no_braced_name_before {
            return false;
        }
        let inner = self.rest().get(1..).unwrap_or_default();
        let length = inner.iter().take_while(|&&b| b.is_ascii_graphic() && b != b'}').count();
        let closed = inner.get(length) == Some(&b'}');
        if closed && length > 0 {
            self.at += length + 2;
            return true;
        }
        if !closed {
            self.no_braced_name_before = self.at + 1 + length;
        }
        false
    }

    /// Reports a run of characters that start no token, in one diagnostic.
    fn junk(&mut self) -> Tok {
        let start = self.at;
        self.at += 1;
        while is_junk(self.rest()) {
            self.at += 1;
        }
        let run = self.text.get(start..self.at).unwrap_or_default();
        let shown: String = run.chars().take(12).flat_map(char::escape_debug).collect();
        let plural = if run.chars().nth(1).is_some() { "s" } else { "" };
        let message = format!("unknown character{plural} `{shown}`");
        let error =
            Diagnostic::error("E101", Span::new(start, self.at), message).label("not part of the language");
        self.diagnostics.push(match junk_hint(run) {
            Some(hint) => error.hint(hint),
            None => error,
        });
        Tok::Junk
    }
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

fn is_name_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b == b'$'
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Returns whether the text continues with a character that starts no token, blank or comment.
fn is_junk(rest: &[u8]) -> bool {
    match rest {
        [] | [b'/', b'/' | b'*', ..] => false,
        [b, ..] => !is_blank(*b) && !is_name_start(*b) && !b.is_ascii_digit() && sign(rest).is_none(),
    }
}

fn junk_hint(run: &str) -> Option<&'static str> {
    if !run.is_ascii() {
        return Some("only comments may hold characters outside ASCII");
    }
    match run.bytes().next()? {
        b'%' | b'/' => Some("there are `+`, `-` and `*`, but no division"),
        b'#' => Some("`#` is allowed inside a name only; a comment starts with `//`"),
        _ => None,
    }
}

/// Returns the kind of a word.
fn word(text: &str) -> Tok {
    match text {
        "_" => Tok::Underscore,
        "T" | "true" => Tok::True,
        "F" | "false" => Tok::False,
        "begin" => Tok::Begin,
        "end" => Tok::End,
        "decl" => Tok::Decl,
        "void" => Tok::Void,
        "bool" => Tok::Bool,
        "goto" => Tok::Goto,
        "if" => Tok::If,
        "then" => Tok::Then,
        "else" => Tok::Else,
        "elsif" => Tok::Elsif,
        "fi" => Tok::Fi,
        "while" => Tok::While,
        "do" => Tok::Do,
        "od" => Tok::Od,
        "skip" => Tok::Skip,
        "assume" => Tok::Assume,
        "assert" => Tok::Assert,
        "return" => Tok::Return,
        "constrain" => Tok::Constrain,
        "start_thread" => Tok::StartThread,
        "end_thread" => Tok::EndThread,
        "atomic_begin" => Tok::AtomicBegin,
        "atomic_end" => Tok::AtomicEnd,
        "schoose" => Tok::Schoose,
        "enforce" => Tok::Enforce,
        "abortif" => Tok::Abortif,
        _ => Tok::Ident,
    }
}

/// Returns the longest sign at the start of `rest` and its length.
fn sign(rest: &[u8]) -> Option<(Tok, usize)> {
    Some(match rest {
        [b'<', b'=', b'>', ..] => (Tok::Iff, 3),
        [b':', b'=', ..] => (Tok::Becomes, 2),
        [b'&', b'&', ..] => (Tok::And, 2),
        [b'|', b'|', ..] => (Tok::Or, 2),
        [b'=', b'=', ..] => (Tok::Equal, 2),
        [b'!', b'=', ..] | [b'<', b'>', ..] => (Tok::Unequal, 2),
        [b'=', b'>', ..] | [b'-', b'>', ..] => (Tok::Implies, 2),
        [b'<', b'=', ..] => (Tok::AtMost, 2),
        [b'>', b'=', ..] => (Tok::AtLeast, 2),
        [b'.', b'.', ..] => (Tok::DotDot, 2),
        [b'+', ..] => (Tok::Plus, 1),
        [b'-', ..] => (Tok::Minus, 1),
        [b'(', ..] => (Tok::LParen, 1),
        [b')', ..] => (Tok::RParen, 1),
        [b'{', ..] => (Tok::LBrace, 1),
        [b'}', ..] => (Tok::RBrace, 1),
        [b'[', ..] => (Tok::LBracket, 1),
        [b']', ..] => (Tok::RBracket, 1),
        [b'<', ..] => (Tok::Less, 1),
        [b'>', ..] => (Tok::Greater, 1),
        [b':', ..] => (Tok::Colon, 1),
        [b';', ..] => (Tok::Semi, 1),
        [b',', ..] => (Tok::Comma, 1),
        [b'!' | b'~', ..] => (Tok::Not, 1),
        [b'&', ..] => (Tok::And, 1),
        [b'|', ..] => (Tok::Or, 1),
        [b'^', ..] => (Tok::Xor, 1),
        [b'=', ..] => (Tok::Equal, 1),
        [b'?', ..] => (Tok::Question, 1),
        [b'*', ..] => (Tok::Star, 1),
        [b'\'', ..] => (Tok::Prime, 1),
        [b'@', ..] => (Tok::At, 1),
        _ => return None,
    })
}

/// Reads `// file F line N [column C] [function G]`. The file name may contain blanks, even ` line
/// `.
fn origin(comment: &str) -> Option<Origin> {
    let text = comment.strip_prefix("//")?.trim().strip_prefix("file ")?;
    text.match_indices(" line ").take(8).find_map(|(at, separator)| {
        let file = text.get(..at)?.trim();
        let (line, function) = line_and_function(text.get(at + separator.len()..)?)?;
        (!file.is_empty()).then(|| Origin { file: file.to_string(), line, function })
    })
}

/// Reads `N [column C] [function G]`.
fn line_and_function(text: &str) -> Option<(u32, Option<String>)> {
    let (number, rest) = split_number(text.trim())?;
    let rest = match rest.strip_prefix("column ") {
        Some(rest) => split_number(rest.trim_start())?.1,
        None => rest,
    };
    let function = match rest {
        "" => None,
        _ => Some(rest.strip_prefix("function ")?.trim().to_string()),
    };
    Some((number, function.filter(|f| !f.is_empty())))
}

/// Splits a text into a number and what follows it after blanks.
fn split_number(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    Some((number.parse().ok()?, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> (Vec<(Tok, &str)>, Vec<Diagnostic>) {
        let mut lexer = Lexer::new(text);
        let mut found = Vec::new();
        loop {
            let token = lexer.token();
            if token.tok == Tok::Eof {
                return (found, lexer.diagnostics);
            }
            found.push((token.tok, text.get(token.span.range()).expect("spans lie on characters")));
        }
    }

    fn words(text: &str) -> Vec<&str> {
        let (tokens, errors) = lex(text);
        assert!(errors.is_empty(), "{errors:?}");
        tokens.into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn names_hold_dollars_hashes_and_joined_dashes_and_dots() {
        assert_eq!(words("$main c$$f a#1 a-b a.b b$"), ["$main", "c$$f", "a#1", "a-b", "a.b", "b$"]);
    }

    #[test]
    fn the_reserved_words_are_those_that_are_no_names() {
        for word in RESERVED {
            assert_ne!(super::word(word), Tok::Ident, "{word}");
        }
        for word in CONTEXTUAL {
            assert_eq!(super::word(word), Tok::Ident, "{word}");
        }
        // The list has as many words as `word` knows: every arm of its match is a list of string
        // literals.
        let source = include_str!("lexer.rs");
        let body = source.split("fn word(text: &str) -> Tok {").nth(1).expect("it exists");
        let body = body.split("_ => Tok::Ident").next().expect("its end");
        assert_eq!(body.matches('"').count() / 2, RESERVED.len());
    }

    #[test]
    fn a_dash_before_an_arrow_head_is_an_implication() {
        assert_eq!(words("a->b"), ["a", "->", "b"]);
    }

    #[test]
    fn a_braced_name_is_one_name_unless_atomic_stands_before_it() {
        assert_eq!(words("{x==1}:=1"), ["{x==1}", ":=", "1"]);
        assert_eq!(words("atomic {x:=1;}"), ["atomic", "{", "x", ":=", "1", ";", "}"]);
        assert_eq!(words("{ x }{}"), ["{", "x", "}", "{", "}"]);
    }

    #[test]
    fn every_blank_separates_and_comments_vanish() {
        assert_eq!(
            words("a\r\nb\x0bc\x0cd\te // é\u{fffd}\n//\n/* * // */f//"),
            ["a", "b", "c", "d", "e", "f"]
        );
    }

    #[test]
    fn the_longest_sign_counts() {
        let signs = ["<=>", ":=", "&&", "||", "==", "!=", "<>", "=>", "->", "<", "=", "'", "~", "!"];
        assert_eq!(words(&signs.join(" ")), signs);
        assert_eq!(words("<=>=>=="), ["<=>", "=>", "=="]);
    }

    #[test]
    fn a_run_of_junk_is_one_error() {
        let (tokens, errors) = lex("a ``é\\ b % c");
        assert_eq!(tokens.len(), 5);
        assert_eq!(errors.len(), 2);
        assert_eq!(errors[0].code, "E101");
        assert_eq!(errors[0].message, "unknown characters ```é\\\\`");
    }

    #[test]
    fn an_open_comment_is_an_error() {
        let (tokens, errors) = lex("a /* b");
        assert_eq!((tokens.len(), errors[0].code), (1, "E102"));
    }

    #[test]
    fn a_number_of_any_length_is_one_token() {
        let long = "9".repeat(1000);
        assert_eq!(words(&long), [long.as_str()]);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(words("\u{feff}decl"), ["decl"]);
    }

    #[test]
    fn comments_of_satabs_name_origins() {
        let of = |s: &str| origin(s).map(|o| (o.file, o.line, o.function));
        let f = Some("c::f".to_string());
        assert_eq!(of("// file a b.c line 7"), Some(("a b.c".into(), 7, None)));
        assert_eq!(of("// file /a.c line 7 column 3 function c::f\r"), Some(("/a.c".into(), 7, f.clone())));
        assert_eq!(of("//file x line y line 12 function c::f"), Some(("x line y".into(), 12, f)));
        for odd in
            ["// file", "// file x", "// file x line", "// file x line 99999999999", "// file x line 3 y"]
        {
            assert_eq!(of(odd), None, "{odd}");
        }
    }

    #[test]
    fn many_open_braces_are_read_in_linear_time() {
        let text = "{".repeat(1 << 20);
        assert_eq!(lex(&text).0.len(), 1 << 20);
    }
}
