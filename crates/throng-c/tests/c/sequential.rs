//! Programs of one thread: the interpreter against the compiler, for random programs and for a
//! table of the constructs of C.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use throng_c::{Options, constructs, read};
use throng_goto::interpreter::Interpreter;
use throng_goto::step::{After, step};
use throng_lang::source::Source;

use crate::compiled::{folder, has_compiler};
use crate::generated;
use crate::table::{ROWS, Row};

/// Returns whether `NAME` returns a value by the interpreter, or why the program is refused.
fn returns(text: &str, name: &str, value: u64) -> Result<bool, String> {
    let main =
        format!("void reach_error(void); int main(void) {{ if ({name}() != {value}ul) reach_error(); }}");
    let raw = format!("{text}\n{main}\n");
    let loaded = read(Source::new("a.i", raw.clone()), raw, &Options::default()).map_err(|why| {
        let said: Vec<&str> = why.diagnostics.iter().map(|d| d.message.as_str()).collect();
        said.join("; ")
    })?;
    let mut run = Interpreter::new(&loaded.query.program);
    run.run(100_000, |_| 0);
    match (&run.ended, &run.threads[0]) {
        (Some(After::Halted), _) => Ok(true),
        (Some(_), _) => Ok(false),
        (None, None) => Err("does not end".into()),
        (None, Some(t)) => {
            Err(format!("does not end: {:?}", step(&loaded.query.program, &run.memory, t).missing))
        }
    }
}

/// What the functions `NAME_0`, `NAME_1`, … of as many files return when they are compiled.
fn compiled(folder: &Path, name: &str, texts: &[String]) -> Vec<u64> {
    let mut main = String::from("#include <stdio.h>\n");
    let mut body = String::new();
    let mut command = Command::new("cc");
    command
        .args(["-w", "-fwrapv", "-ffp-contract=off", "-std=gnu17", "-o", "all", "main.c"])
        .current_dir(folder);
    for (n, text) in texts.iter().enumerate() {
        _ = writeln!(main, "unsigned long {name}_{n}(void);");
        _ = writeln!(body, "  printf(\"%lu\\n\", {name}_{n}());");
        let file = format!("p{n}.c");
        std::fs::write(folder.join(&file), text).unwrap();
        command.arg(file);
    }
    std::fs::write(folder.join("main.c"), format!("{main}int main(void) {{\n{body}}}\n")).unwrap();
    let done = command.args(["-latomic", "-lm"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = Command::new(folder.join("all")).output().unwrap();
    assert!(said.status.success(), "the compiled programs fail: {:?}", said.status);
    String::from_utf8(said.stdout).unwrap().lines().map(|l| l.parse().unwrap()).collect()
}

#[test]
fn random_programs_of_one_thread_compute_what_the_compiler_says() {
    compare_with_the_compiler("sequential", generated::program);
}

#[test]
fn random_programs_compute_with_floating_point_as_compiled() {
    compare_with_the_compiler("floating", generated::floating);
}

/// Compares random programs, by their seeds and the name of their function, with what the compiler
/// makes of them.
fn compare_with_the_compiler(name: &str, program: fn(u64, &str) -> String) {
    if !has_compiler() {
        return;
    }
    let count = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200usize);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0u64);
    let folder = folder(name);
    let texts: Vec<String> = (0..count).map(|n| program(first + n as u64, &format!("program_{n}"))).collect();
    let expected = compiled(&folder, "program", &texts);
    let (mut wrong, mut open) = (Vec::new(), 0);
    for (n, text) in texts.iter().enumerate() {
        let found = returns(text, &format!("program_{n}"), expected[n]);
        if found.as_ref().is_err_and(|why| why.contains("the address of a private variable")) {
            // A large number may be an address.
            open += 1;
        } else if found != Ok(true) {
            println!("seed {}: {found:?}, not {}\n{text}", first + n as u64, expected[n]);
            wrong.push(first + n as u64);
        }
    }
    println!("{count} programs compared, {open} left open");
    assert!(wrong.is_empty(), "computed wrongly, by seed: {wrong:?}");
    assert!(open <= count / 20 + 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn each_construct_is_computed_as_compiled_or_refused_by_name() {
    let named = |text: &str, n: usize| text.replace("test(void)", &format!("row_{n}(void)"));
    let mut read: Vec<(&str, String)> = Vec::new();
    let mut wrong = Vec::new();
    for row in ROWS {
        match *row {
            Row::Read(name, text) => read.push((name, named(text, read.len()))),
            Row::Refused(name, text, message) => match returns(text, "test", 0) {
                Err(why) if why.contains(message) => {}
                found => wrong.push(format!("{name}: {found:?}")),
            },
        }
    }
    if has_compiler() {
        let folder = folder("rows");
        let texts: Vec<String> = read.iter().map(|(_, text)| text.clone()).collect();
        for (n, expected) in compiled(&folder, "row", &texts).into_iter().enumerate() {
            let found = returns(&texts[n], &format!("row_{n}"), expected);
            if found != Ok(true) {
                wrong.push(format!("{}: {found:?}, not {expected}", read[n].0));
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Attributes may be written with underscores around them, in both notations.
fn spellings(name: &str) -> [String; 3] {
    [format!("__attribute__(({name}))"), format!("__attribute__((__{name}__))"), format!("[[gnu::{name}]]")]
}

#[test]
fn each_attribute_has_no_effect_or_is_refused() {
    let program = |attribute: &str| {
        format!(
            "{attribute} static int x = 3; {attribute} static int f(void) {{ return x; }} long test(void) {{ return f(); }}"
        )
    };
    for spelling in constructs::ATTRIBUTES_WITHOUT_EFFECT.iter().flat_map(|a| spellings(a)) {
        assert_eq!(returns(&program(&spelling), "test", 3), Ok(true), "{spelling}");
    }
    for name in [constructs::ATTRIBUTES_REFUSED, &["never_heard_of"]].into_iter().flatten() {
        for spelling in spellings(name) {
            let on_function = format!(
                "static int x = 3; {spelling} static int f(void) {{ return x; }} long test(void) {{ return f(); }}"
            );
            let on_variable = format!("{spelling} static int x = 3; long test(void) {{ return x; }}");
            for text in [on_function, on_variable] {
                let why = returns(&text, "test", 3).expect_err(&text);
                assert!(why.contains(&format!("the attribute `{name}`")), "{text}: {why}");
            }
        }
        let unused = format!("__attribute__(({name})) extern int y; {}", program(""));
        assert_eq!(returns(&unused, "test", 3), Ok(true), "{name}, which is not used");
    }
    // What is understood in other places.
    for (name, places) in constructs::ATTRIBUTES_UNDERSTOOD {
        let text =
            format!("long test(void) {{ int x = 3; int *__attribute__(({name})) p = &x; return *p; }}");
        match returns(&text, "test", 3) {
            Ok(done) => assert!(done && places.contains(&constructs::On::Other), "{name}"),
            Err(why) => assert!(why.contains(&format!("the attribute `{name}`")), "{name}: {why}"),
        }
    }
}

#[test]
fn each_pragma_and_word_has_no_effect_or_is_refused() {
    for pragma in constructs::PRAGMAS_WITHOUT_EFFECT {
        let text = format!("\n#pragma {pragma}\nlong test(void) {{ return 3; }}");
        assert_eq!(returns(&text, "test", 3), Ok(true), "{pragma}");
    }
    for (word, name) in REFUSED_TYPES {
        let text = format!("static {word} x; long test(void) {{ return sizeof x; }}");
        let why = returns(&text, "test", 0).expect_err(word);
        assert!(why.contains(&format!("`{name}`")), "{word}: {why}");
    }
    for (text, word) in REFUSED_EXPRESSIONS {
        let text = format!("static int x; long test(void) {{ return sizeof({text}); }}");
        let why = returns(&text, "test", 0).expect_err(word);
        assert!(why.contains(word), "{text}: {why}");
    }
}

/// Types that compilers have and that are not modelled.
const REFUSED_TYPES: &[(&str, &str)] = &[
    ("__int128", "__int128"),
    ("unsigned __int128", "__int128"),
    ("__uint128_t", "__int128"),
    ("_Complex long double", "_Complex long double"),
    ("long double __complex__", "_Complex long double"),
    ("_Float16", "_Float16"),
    ("__bf16", "__bf16"),
    ("__ibm128", "__ibm128"),
    ("_Decimal32", "_Decimal32"),
    ("_Decimal64", "_Decimal64"),
    ("_Decimal128", "_Decimal128"),
    ("_BitInt(7)", "_BitInt"),
    ("__seg_fs int", "__seg_fs"),
    ("int __seg_gs *", "__seg_gs"),
];

/// Expressions that compilers have and that are not modelled.
const REFUSED_EXPRESSIONS: &[(&str, &str)] = &[
    ("__builtin_convertvector(x, int)", "`__builtin_convertvector`"),
    ("1.5iL", "`_Complex long double`"),
    ("2.5df", "suffix `df`"),
    ("3wb", "`_BitInt`"),
];
