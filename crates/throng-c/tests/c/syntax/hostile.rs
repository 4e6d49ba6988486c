//! Any text at all: it is parsed or refused, with messages that point into it. Nothing panics, the
//! stack is enough, and what is long takes time in its length.

use throng_c::{Options, read, syntax};
use throng_lang::source::Source;

use super::{parse, print};

/// How long rows are: with time in their square, a test would not end.
const LONG: usize = 100_000;

/// The stack of a program; that of the reader is larger.
fn on_a_stack(work: impl FnOnce() + Send + 'static) {
    let worker = std::thread::Builder::new().stack_size(8 << 20).spawn(work).expect("a thread");
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Returns a text with many beginnings, something in the middle, and as many ends.
fn nested(before: &str, opening: &str, middle: &str, closing: &str, after: &str) -> String {
    format!("{before}{}{middle}{}{after}", opening.repeat(LONG), closing.repeat(LONG))
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    on_a_stack(|| {
        let cases = [
            ("int x = ", "(", "1", ")", ";"),
            ("int x = ", "(", "", "", ""),
            ("int x = ", "!", "1", "", ";"),
            ("int x = ", "- ", "1", "", ";"),
            ("int x = ", "(int)", "1", "", ";"),
            ("int x = ", "sizeof ", "1", "", ";"),
            ("int x = ", "__extension__ ", "1", "", ";"),
            ("int x = ", "1 ? ", "1", " : 2", ";"),
            ("int x = ", "({", "1;", "});", ""),
            ("int x = ", "(int){", "1", "}", ";"),
            ("int x = ", "_Generic(1, int: ", "1", ")", ";"),
            ("int x[] = ", "{", "", "}", ";"),
            ("int x", "[", "", "]", ";"),
            ("int x", "[1]", "", "", ";"),
            ("int ", "*", "x", "", ";"),
            ("int ", "(", "x", ")", ";"),
            ("int ", "(*", "x", ")()", ";"),
            ("int x", "(int (*)", "", "", ""),
            ("", "struct {", "int x;", "} a;", ""),
            ("", "struct A {", "", "", ""),
            ("", "typeof(", "int", ")", " x;"),
            ("", "_Atomic(", "int", ")", " x;"),
            ("", "_Alignas(", "8", ")", " int x;"),
            ("int x ", "__attribute__((", "", "", ";"),
            ("void f(int x) { ", "x = ", "1; }", "", ""),
            ("void f(int x) { ", "if (x) ", "; }", "", ""),
            ("void f(int x) { ", "while (x) ", "; }", "", ""),
            ("void f(int x) { ", "do ", "; }", "", ""),
            ("void f(void) ", "{", "", "}", ""),
            ("void f(void) ", "{", "", "", ""),
            ("", "([{", "", "", ""),
        ];
        for (before, opening, middle, closing, after) in cases {
            let errors = parse(&nested(before, opening, middle, closing, after)).expect_err(opening);
            assert!(errors.iter().any(|e| e.message.contains("nested")), "{opening}: {errors:?}");
        }
    });
}

#[test]
fn what_is_long_is_read() {
    on_a_stack(|| {
        let number = |from: usize, text: &str| -> String {
            (from..from + LONG).map(|i| text.replace('@', &i.to_string())).collect()
        };
        let rows = [
            format!("void f(int x) {{ {} ; }}", "if (x) x = 1; else ".repeat(LONG)),
            format!("void f(int x) {{ {} ; }}", number(0, "l@: ")),
            format!("void f(int x) {{ switch (x) {{ {} ; }} }}", number(0, "case @: ")),
            format!("void f(int x) {{ {} }}", "x++;".repeat(LONG)),
            format!("void f(int x) {{ {} }}", "{ ; }".repeat(LONG)),
            format!("void f(void) {{ {} }}", number(0, "int a@;")),
            format!("int x = {} 1;", "1 + ".repeat(LONG)),
            format!("int x = {} 1;", "1 ? 2 : ".repeat(LONG)),
            format!("void f(int x) {{ {} x; }}", "x, ".repeat(LONG)),
            format!("void f(int x) {{ x{}; }}", "[0]".repeat(LONG)),
            format!("void f(int x) {{ x{}; }}", ".a".repeat(LONG)),
            format!("void f(int x) {{ x{}; }}", "()".repeat(LONG)),
            format!("void f(int x) {{ x{}; }}", "++".repeat(LONG)),
            format!("void f({} int);", "int, ".repeat(LONG)),
            format!("int x[] = {{ {} }};", "1, ".repeat(LONG)),
            format!("enum {{ {} }};", number(0, "e@,")),
            format!("char *s = {};", "\"a\" ".repeat(LONG)),
            format!("int x {};", "__attribute__((unused)) ".repeat(LONG)),
            format!("{} int x;", "const ".repeat(LONG)),
            number(0, "typedef int t@; t@ v@;\n"),
            number(0, "# @ \"f@.h\"\nint v@;\n"),
            "#pragma pack(push, 1)\n".repeat(LONG),
        ];
        for text in rows {
            let read = parse(&text);
            assert!(read.is_ok(), "{:?}: {}", read.err(), &text[..60]);
        }
    });
}

#[test]
fn a_run_shows_at_most_twenty_errors() {
    for text in
        ["}", "foo bar baz; ", "'", ")", "int x = ; ", "@", "else ", "/*", "\u{201c}", "struct ", "(\n"]
    {
        let errors = parse(&text.repeat(LONG)).expect_err(text);
        assert!((1..=20).contains(&errors.len()), "{text}: {}", errors.len());
    }
}

/// A generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// How many texts are tried: the given number, or `THRONG_RANDOM`.
fn count(otherwise: usize) -> usize {
    std::env::var("THRONG_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// Bytes and words that mutations put in.
const WORDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "*",
    "&",
    "=",
    "...",
    "->",
    "\"",
    "'",
    "\\",
    "#",
    "\n",
    "//",
    "/*",
    "int",
    "typedef",
    "struct",
    "enum",
    "static",
    "if",
    "else",
    "while",
    "case",
    "default:",
    "return",
    "goto",
    "sizeof",
    "_Generic(",
    "__attribute__((",
    "[[",
    "]]",
    "_Alignas(",
    "typeof(",
    "asm(",
    "({",
    "})",
    "0x",
    "1'0",
    "u8\"",
    "R\"(",
    "\u{e9}",
    "\u{feff}",
    "\0",
    "x",
    "T",
    "# 3 \"a.h\"\n",
    "#pragma pack(",
    "_Atomic(",
    "bool",
    "nullptr",
    "1e",
    ".5",
    "'ab'",
    "99999999999999999999999999999999999999999",
    "%:",
    "<:",
    "?",
    ":",
];

fn seeds() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("examples are there").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|p| p.extension().is_some_and(|e| e == "c"));
    let bare = |p: &std::path::PathBuf| {
        let text = std::fs::read_to_string(p).expect("readable");
        let lines: Vec<&str> = text.lines().filter(|l| !l.trim_start().starts_with("#include")).collect();
        format!("typedef unsigned long pthread_t, pthread_mutex_t;\n{}\n", lines.join("\n"))
    };
    texts.map(bare).chain(super::reads::texts()).collect()
}

/// Returns a text in which some bytes, or some pieces between blanks and signs, are others.
fn mutated(seed: &str, numbers: &mut Numbers) -> String {
    let mut bytes = seed.as_bytes().to_vec();
    for _ in 0..1 + numbers.below(4) {
        let at = numbers.below(bytes.len());
        let length = numbers.below(12).min(bytes.len() - at);
        match numbers.below(6) {
            0 => bytes[at] = numbers.below(256) as u8,
            1 => _ = bytes.drain(at..at + length),
            2 => {
                let piece = bytes[at..at + length].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => bytes.truncate(at.max(1)),
            _ => {
                let word = WORDS[numbers.below(WORDS.len())].as_bytes();
                bytes.splice(at..at, word.iter().copied());
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses a text: errors point into it, and a tree is printed as text that is the same tree.
fn parse_any(text: &str) {
    match syntax::parse(text, 0..text.len()) {
        Ok(tree) => {
            let printed = print(&tree);
            match parse(&printed) {
                // What is refused later, because a type is its argument, has no arguments in the tree.
                _ if printed.contains("<__") => {}
                Ok(again) => assert_eq!(print(&again), printed, "{text}"),
                Err(e) => panic!("{e:#?}\n{text}\n{printed}"),
            }
        }
        Err(errors) => {
            assert!((1..=20).contains(&errors.len()), "{text}");
            for e in errors {
                let inside = text.get(e.span.start..e.span.end).is_some();
                assert!(inside && !e.message.is_empty(), "{e:?}\n{text}");
            }
        }
    }
}

#[test]
fn mutated_programs_are_parsed_or_refused() {
    on_a_stack(|| {
        let seeds = seeds();
        let mut numbers = Numbers(0x5eed);
        for n in 0..count(3_000) {
            parse_any(&mutated(&seeds[n % seeds.len()], &mut numbers));
        }
    });
}

#[test]
fn words_in_any_order_are_parsed_or_refused() {
    on_a_stack(|| {
        let mut numbers = Numbers(0xc0ffee);
        for _ in 0..count(3_000) {
            let count = 1 + numbers.below(30);
            let words: Vec<&str> = (0..count).map(|_| WORDS[numbers.below(WORDS.len())]).collect();
            parse_any(&words.join([" ", "", "\n"][numbers.below(3)]));
        }
    });
}

#[test]
fn mutated_programs_are_read_or_refused() {
    let seeds = seeds();
    let mut numbers = Numbers(0xbeef);
    for n in 0..count(400) {
        let text = mutated(&seeds[n % seeds.len()], &mut numbers);
        let read = read(Source::new("a.i", text.clone()), text.clone(), &Options::default());
        for d in read.err().map(|e| e.diagnostics).unwrap_or_default() {
            assert_ne!(d.code, "E809", "the reader panicked on\n{text}");
            assert!(d.span.is_none_or(|s| text.get(s.range()).is_some()), "{d:?}\n{text}");
        }
    }
}
