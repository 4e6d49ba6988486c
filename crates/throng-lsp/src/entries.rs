//! Functions of a program in C or Rust that any number of threads could call, for code lenses.
//!
//! They are found by words and brackets alone, at once and in texts that do not compile: whether a
//! function can be an entry is decided by a check.

use std::ops::Range;

/// Maximum number of functions that are offered.
const MOST: usize = 100;

/// Returns names and positions of the functions that can be called without values of the caller's:
/// in C without parameters or with one that is `void *`, in Rust without parameters and result.
pub fn entries(text: &str, is_rust: bool) -> Vec<(&str, Range<usize>)> {
    let words = words(text, is_rust);
    let at = |i: usize| words.get(i).map_or("", |range| &text[range.clone()]);
    let (mut found, mut depth) = (Vec::new(), 0usize);
    for (i, word) in words.iter().enumerate() {
        match at(i) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            name if found.len() < MOST && name != "main" && is_name(name) => {
                let declared = if is_rust { i > 0 && at(i - 1) == "fn" } else { depth == 0 && i > 0 };
                let starts = declared && at(i + 1) == "(" && (!is_rust || !is_test(&at, i));
                if starts && parameters(&at, i + 2, is_rust).is_some_and(|body| at(body) == "{") {
                    found.push((name, word.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns whether there is a function `main`.
pub fn has_main(text: &str, is_rust: bool) -> bool {
    let words = words(text, is_rust);
    let is = |i: usize, word: &str| words.get(i).is_some_and(|range| &text[range.clone()] == word);
    (1..words.len()).any(|i| is(i, "main") && is(i + 1, "(") && (!is_rust || is(i - 1, "fn")))
}

/// Returns the index behind the parameters, if a thread can be started without any values.
fn parameters<'a>(at: &impl Fn(usize) -> &'a str, first: usize, is_rust: bool) -> Option<usize> {
    match (at(first), at(first + 1), at(first + 2), at(first + 3)) {
        (")", ..) => Some(first + 1),
        ("void", ")", ..) if !is_rust => Some(first + 2),
        ("void", "*", ")", _) if !is_rust => Some(first + 3),
        ("void", "*", name, ")") if !is_rust && is_name(name) => Some(first + 4),
        _ => None,
    }
}

/// Returns whether the function with its name here is a test: the test harness calls it once.
fn is_test<'a>(at: &impl Fn(usize) -> &'a str, name: usize) -> bool {
    let mut i = name - 1;
    while i > 0 && ["pub", "unsafe", "extern", "async", "const"].contains(&at(i - 1)) {
        i -= 1;
    }
    i >= 4 && (at(i - 4), at(i - 3), at(i - 2), at(i - 1)) == ("#", "[", "test", "]")
}

fn is_name(word: &str) -> bool {
    const KEYWORDS: [&str; 8] = ["if", "while", "for", "switch", "sizeof", "return", "match", "loop"];
    let first = word.chars().next();
    first.is_some_and(|c| c.is_alphabetic() || c == '_') && !KEYWORDS.contains(&word)
}

/// Returns words and single characters, without comments, texts and, in C, directives.
fn words(text: &str, is_rust: bool) -> Vec<Range<usize>> {
    let (bytes, mut found, mut i) = (text.as_bytes(), Vec::new(), 0);
    while i < bytes.len() {
        let rest = &bytes[i..];
        let length = match rest {
            [b'/', b'/', ..] => line(rest, false),
            [b'/', b'*', ..] => behind(rest, b"*/", 2),
            [b'#', ..] if !is_rust && starts_line(&bytes[..i]) => line(rest, true),
            [b'"', ..] => quoted(rest, b'"'),
            // A lifetime has no second quotation mark near by.
            [b'\'', b'\\', ..] | [b'\'', _, b'\'', ..] => quoted(rest, b'\''),
            [c, ..] if c.is_ascii_alphanumeric() || *c == b'_' || !c.is_ascii() => {
                let is_word = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_' || !c.is_ascii();
                let length = rest.iter().take_while(|c| is_word(c)).count();
                found.push(i..i + length);
                length
            }
            [c, ..] => {
                if !c.is_ascii_whitespace() {
                    found.push(i..i + 1);
                }
                1
            }
            [] => 1,
        };
        i += length;
    }
    found
}

fn starts_line(before: &[u8]) -> bool {
    before.iter().rev().take_while(|c| **c != b'\n').all(u8::is_ascii_whitespace)
}

/// Returns the length of a line, which goes on behind a backslash at its end if `continued`.
fn line(rest: &[u8], continued: bool) -> usize {
    let ends = |i: &usize| rest[*i] == b'\n' && !(continued && *i > 0 && rest[*i - 1] == b'\\');
    (0..rest.len()).find(ends).unwrap_or(rest.len())
}

/// Returns the length up to the end of `what`, searched from `from`.
fn behind(rest: &[u8], what: &[u8], from: usize) -> usize {
    let at = rest[from.min(rest.len())..].windows(what.len()).position(|w| w == what);
    at.map_or(rest.len(), |at| from + at + what.len())
}

fn quoted(rest: &[u8], mark: u8) -> usize {
    let mut i = 1;
    while i < rest.len() && rest[i] != mark {
        i += if rest[i] == b'\\' { 2 } else { 1 };
    }
    (i + 1).min(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, is_rust: bool) -> Vec<&str> {
        let found = entries(text, is_rust);
        found.iter().for_each(|(name, at)| assert_eq!(&text[at.clone()], *name));
        found.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn functions_of_c_that_threads_can_begin_in() {
        let text = "#define f(x) \\\n  void g(void) {\nint lock; // void no(void) {\nvoid worker(void) {\n  while (lock) { call(); }\n}\n\
                    static void *user(void *unused) { return \"}\"; }\nint add(int a) { return a; }\nvoid declared(void);\n\
                    int main(void) { char c = '{'; }\nvoid last() {}";
        assert_eq!(names(text, false), ["worker", "user", "last"]);
    }

    #[test]
    fn functions_of_rust_that_threads_can_begin_in() {
        let text = "fn main() {}\nmod tests {\n  use super::*;\n  fn worker() { let c = '{'; let s: &'static str = \"}\"; }\n  #[test]\n  fn it_holds() {}\n\
                    pub fn made() -> u32 { 0 }\n  unsafe fn raw() {}\n  fn with(x: u8) {}\n}\nimpl<'a> A<'a> { fn new() -> Self { A } }";
        assert_eq!(names(text, true), ["worker", "raw"]);
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        for text in
            ["\"", "'", "/*", "#", "void f(", "'\\", "\"\\", "fn", "fn é() {", "/", "'é'", "void é(void){"]
        {
            for i in 0..=text.len() {
                if text.is_char_boundary(i) {
                    entries(&text[i..], true);
                    entries(&text[..i], false);
                }
            }
        }
    }
}
