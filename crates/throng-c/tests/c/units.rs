//! Programs of several files: each has a scope of its own.

use std::time::Duration;

use throng_c::replay::{Ends, write};
use throng_c::{Flags, Loaded, Options, SourceFile, load};
use throng_goto::run::Run;

use crate::compiled::{folder, has_compiler};
use crate::search::{Found, search};

const HEAD: &str = "void assert(int); typedef unsigned long pthread_t; typedef struct { int w[10]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n";

/// Reads files `a.c`, `b.c`, …, or says why they are refused.
fn loaded(name: &str, texts: &[&str], options: &Options) -> Result<Loaded, String> {
    let folder = folder(&format!("units-{name}"));
    let mut paths = Vec::new();
    for (text, letter) in texts.iter().zip("abc".chars()) {
        let path = folder.join(format!("{letter}.c"));
        std::fs::write(&path, format!("{HEAD}{text}\n")).unwrap();
        paths.push(path);
    }
    let more = paths[1..].iter().map(|path| SourceFile { path: path.clone(), flags: options.flags.clone() });
    let options = Options { more: more.collect(), ..options.clone() };
    let loaded = load(&paths[0], &options).map_err(|why| {
        let said: Vec<&str> = why.diagnostics.iter().map(|d| d.message.as_str()).collect();
        said.join("; ")
    });
    std::fs::remove_dir_all(folder).unwrap();
    loaded
}

fn found(name: &str, texts: &[&str], options: &Options) -> Found {
    let loaded = loaded(name, texts, options).unwrap_or_else(|why| panic!("{texts:?}: {why}"));
    search(&loaded.query.problem(), 3, 100_000, Duration::from_secs(60))
}

#[test]
fn internal_names_of_two_files_are_different() {
    if !has_compiler() {
        return;
    }
    let safe = [
        [
            "static int x = 1; void set(int); int main() { set(5); assert(x == 1); }",
            "static int x = 2; void set(int v) { x = v; }",
        ],
        [
            "int get(void); static int f() { return 1; } int main() { assert(f() == 1 && get() == 2); }",
            "static int f() { return 2; } int get(void) { return f(); }",
        ],
        [
            "int get(void); struct s { int a; }; int main() { assert(sizeof(struct s) == 4 && get() == 8); }",
            "struct s { long a; }; int get(void) { return sizeof(struct s); }",
        ],
        [
            "int get(void); enum { K = 3 }; typedef int t; int main() { assert(K == 3 && get() == 12); }",
            "enum { K = 4 }; typedef long t; int get(void) { return K + sizeof(t); }",
        ],
        [
            "int (*get(void))(int); static int f(int v) { return v; } int main() { assert(get()(3) == 6 && f(3) == 3); }",
            "static int f(int v) { return v * 2; } int (*get(void))(int) { return f; }",
        ],
        // A library function that one file has for itself.
        [
            "int get(void); int main() { assert(get() == 7); }",
            "static void assert_(int c) { } static int abs(int v) { return 7; } int get(void) { return abs(-1); }",
        ],
        [
            "int get(void); int main() { int n = 0; assert(get() == 1); get(); assert(get() == 3); }",
            "int get(void) { static int n; return ++n; }",
        ],
    ];
    for texts in &safe {
        let found = found("internal", texts, &Options::default());
        assert!(matches!(found, Found::Safe(_)), "{texts:?}: {found:?}");
    }
    let unsafe_ = ["static int x = 1; void set(int); int main() { set(5); assert(x == 5); }", safe[0][1]];
    assert!(matches!(found("internal", &unsafe_, &Options::default()), Found::Unsafe(..)));
}

#[test]
fn two_locks_of_one_name_do_not_hide_a_race() {
    if !has_compiler() {
        return;
    }
    let body = "{ pthread_mutex_lock(&lock); x++; pthread_mutex_unlock(&lock); return 0; }";
    let main = "int main() { pthread_t t; pthread_create(&t, 0, f, 0); g(0); return 0; }";
    let mut options = Options::default();
    options.question.race = true;
    let ask = |class: &str| {
        let first =
            format!("{class} pthread_mutex_t lock; int x; void *g(void *); void *f(void *p) {body} {main}");
        let second = format!("{class} pthread_mutex_t lock; extern int x; void *g(void *p) {body}");
        found("locks", &[&first, &second], &options)
    };
    assert!(matches!(ask("static"), Found::Unsafe(..)));
    assert!(matches!(ask(""), Found::Safe(_)));
}

#[test]
fn external_names_of_two_files_are_one() {
    if !has_compiler() {
        return;
    }
    let safe = [
        [
            "int x; void set(void); int main() { set(); assert(x == 4); }",
            "extern int x; void set(void) { x = 4; }",
        ],
        [
            "int x; int get(void); int main() { x = 4; assert(get() == 4); }",
            "int x; int get(void) { return x; }",
        ],
        ["extern int a[]; int main() { assert(a[1] == 2); }", "int a[] = { 1, 2, 3 };"],
        ["extern int x; int main() { assert(x == 3); }", "int x = 3;"],
        ["int main() { extern int x; assert(x == 3); }", "int x = 3;"],
        [
            "struct s { int a; struct s *n; int (*f)(struct s *); }; struct s make(int); int main() { struct s v = make(3); assert(v.a == 3); }",
            "struct s { int a; struct s *n; int (*f)(struct s *); }; struct s make(int v) { struct s r = { v, 0, 0 }; return r; }",
        ],
        [
            "inline int f(int v) { return v + 1; } int get(void); int main() { assert(f(1) + get() == 4); }",
            "inline int f(int v) { return v + 1; } int get(void) { return f(1); }",
        ],
    ];
    for texts in &safe {
        let found = found("external", texts, &Options::default());
        assert!(matches!(found, Found::Safe(_)), "{texts:?}: {found:?}");
    }
}

#[test]
fn files_that_do_not_fit_together_are_refused() {
    if !has_compiler() {
        return;
    }
    let main = "int main() { return 0; }";
    let cases = [
        [&format!("int f() {{ return 1; }} {main}"), "int f() { return 2; }", "`f` is defined twice"],
        [main, main, "`main` is defined twice"],
        [&format!("int x = 1; {main}"), "int x = 1;", "`x` is defined twice"],
        [&format!("extern int x; {main}"), "long x;", "`x` is declared with two types"],
        [&format!("int f(int); {main}"), "int f(long v) { return v; }", "`f` is declared with two types"],
        [
            &format!("struct s {{ int a; }}; extern struct s x; {main}"),
            "struct s { long a; } x;",
            "two types",
        ],
        [&format!("extern int x; {main}"), "int x(void) { return 1; }", "something else"],
        [&format!("inline int f() {{ return 1; }} {main}"), "int f() { return 2; }", "`inline`"],
        [main, "\nint x = ;", "b.c:5: unexpected `;`"],
        [
            "int g(); int main() { return g(); }",
            "static int f()\n{ return y; } int g() { return f(); }",
            "b.c:5: `y` is not declared",
        ],
    ];
    for [a, b, message] in cases {
        let said = loaded("refused", &[a, b], &Options::default()).err().unwrap_or_default();
        assert!(said.contains(message), "{a}\n{b}\n{said}");
    }
}

#[test]
fn a_variable_that_no_file_defines_is_external() {
    if !has_compiler() {
        return;
    }
    let loaded = |text: &str| loaded("undefined", &[text], &Options::default()).unwrap();
    let external = |text: &str| {
        let program = loaded(text).query.program;
        program.objects.iter().filter(|o| o.external).map(|o| o.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(external("extern int x; int main() { assert(x == 0); return 0; }"), ["x"]);
    assert!(external("extern int x; int x; int main() { assert(x == 0); return 0; }").is_empty());
}

#[test]
fn threads_may_start_in_a_function_of_one_file_and_replays_of_several_are_refused() {
    if !has_compiler() {
        return;
    }
    let mut options = Options::default();
    options.question.entries = vec!["worker".into()];
    let texts = ["int x;", "extern int x; static void worker(void) { x++; assert(x < 3); }"];
    let loaded = loaded("entry", &texts, &options).unwrap();
    assert!(loaded.query.program.templates.iter().any(|t| t.name.ends_with("b.c:worker")));
    let why = write(&loaded, &Run::default(), Ends::Aborts).expect_err("a replay is one file");
    assert!(why.contains("several files"), "{why}");
}

/// Programs of two or three files in which no assertion fails.
const JOINED: &[&[&str]] = &[
    // Arrays whose size another file says.
    &[
        "extern int a[]; int get(void); int main() { a[2] = 4; assert(get() == 4); }",
        "int a[3];",
        "extern int a[3]; int get(void) { return a[2] + (sizeof a == 12 ? 0 : 1); }",
    ],
    // Definitions without a value join, in three files.
    &[
        "int x; int main() { void f(void); f(); assert(x == 5); }",
        "int x; int x; int x = 3;",
        "int x; void f(void) { x += 2; }",
    ],
    // A variable of a file, though another one has an external one of this name.
    &[
        "static int x; int get(void); int main() { x = 1; assert(get() == 4 && x == 1); }",
        "int x = 4; int get(void) { return x; }",
    ],
    // `extern` in a block means what the name means outside, if that is known there.
    &[
        "static int x = 5; int main() { { extern int x; assert(x == 5); } { extern int y; assert(y == 7); } }",
        "int x = 6, y = 7;",
    ],
    &["int main() { int f(int); assert(f(1) == 2); }", "int f(int v) { return v + 1; }"],
    // A function is internal by its first declaration.
    &[
        "static int f(void); int get(void); int main() { assert(f() == 1 && get() == 2); } int f(void) { return 1; }",
        "int f(void) { return 2; } int get(void) { return f(); }",
    ],
    &[
        "static inline int f(void) { return 1; } int get(void); int main() { assert(f() == 1 && get() == 2); }",
        "static inline int f(void) { return 2; } int get(void) { return f(); }",
    ],
    // Types: one may be incomplete, spelled in another way, or an enumeration.
    &[
        "struct s; struct s *make(void); int get(struct s *); int main() { assert(get(make()) == 3); }",
        "struct s { int a; } v = { 3 }; struct s *make(void) { return &v; } int get(struct s *p) { return p->a; }",
    ],
    &[
        "enum e { A, B }; extern enum e x; extern unsigned int y; int main() { assert(x == B && y == 2); }",
        "typedef unsigned u; u x = 1, y = 2;",
    ],
    &[
        "extern const int x; int f(const char *); int main() { assert(x == 3 && f(\"a\") == 97); }",
        "const int x = 3; int f(const char *p) { return *p; }",
    ],
    // What each file has for itself.
    &[
        "typedef int t; enum { K = 1 }; struct p { t a; }; static struct p v = { K }; int get(void); int main() { assert(v.a == 1 && get() == 20); }",
        "typedef struct { long a, b; } t; enum { K = 4 }; struct p { t a; }; static struct p v = { { K } }; int get(void) { return v.a.a + sizeof v; }",
    ],
    &[
        "int next(void), other(void); int main() { next(); next(); other(); assert(next() == 3 && other() == 2); }",
        "int next(void) { static int n; return ++n; }",
        "int other(void) { static int n; return ++n; }",
    ],
    // Functions of other files by their address.
    &[
        "extern int (*table[2])(int); int main() { assert(table[0](3) == 4 && table[1](3) == 2); }",
        "static int f(int v) { return v + 1; } int g(int); int (*table[2])(int) = { f, g };",
        "static int f(int v) { return v - 1; } int g(int v) { return f(v); }",
    ],
];

#[test]
fn names_join_as_a_linker_joins_them() {
    if !has_compiler() {
        return;
    }
    let mut failed = Vec::new();
    for texts in JOINED {
        match loaded("joined", texts, &Options::default()) {
            Err(why) => failed.push(format!("{texts:#?}\nis refused: {why}")),
            Ok(loaded) => match search(&loaded.query.problem(), 3, 100_000, Duration::from_secs(60)) {
                Found::Safe(_) => {}
                other => failed.push(format!("{texts:#?}\n{other:?}")),
            },
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn what_does_not_join_is_refused() {
    if !has_compiler() {
        return;
    }
    let main = "int main() { return 0; }";
    let cases: &[(&[&str], &str)] = &[
        (&["extern int a[2]; int main() { return a[0]; }", "int a[3];"], "`a` is declared with two types"),
        (&["int main() { extern long x; return x; }", "int x;"], "`x` is declared with two types"),
        (
            &["int main() { long f(int); return f(1); }", "int f(int v) { return v; }"],
            "`f` is declared with two types",
        ),
        (
            &[
                "struct s { int a; }; int f(struct s *); int main() { return f(0); }",
                "struct s { long a; }; int f(struct s *p) { return 0; }",
            ],
            "`f` is declared with two types",
        ),
        (&["extern int x; int main() { return x; }", "_Thread_local int x;"], "storage classes"),
        (&["int x; int main() { return x; }", "int x = 1;", "int x = 2;"], "`x` is defined twice"),
        (
            &[
                "enum { x }; int f(void); int main() { return f(); }",
                "int f(void) { return 0; }",
                "long f(void);",
            ],
            "two types",
        ),
        (&[main, "int x; static int x;"], "storage classes"),
        (&[main, "struct s { int a; }; struct s { int a; };"], "s"),
    ];
    let mut failed = Vec::new();
    for (texts, message) in cases {
        let said = loaded("unjoined", texts, &Options::default()).err().unwrap_or_default();
        if !said.contains(message) {
            failed.push(format!("{texts:#?}\nnot {message:?}: {said:?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn files_have_flags_of_their_own() {
    if !has_compiler() {
        return;
    }
    let folder = folder("units-flags");
    let file = |name: &str, text: &str, flags: &[&str]| {
        let path = folder.join(name);
        std::fs::write(&path, format!("{HEAD}{text}\n")).unwrap();
        SourceFile { path, flags: Flags::read(flags).unwrap() }
    };
    let first = file("a.c", "int get(void); int main() { assert(N == 1 && get() == 2); }", &["-DN=1"]);
    let second = file("b.c", "int get(void) { return N; }", &["-DN=2"]);
    let mut options =
        Options { flags: first.flags.clone(), more: vec![second.clone()], ..Options::default() };
    let query = load(&first.path, &options).unwrap().query;
    assert!(matches!(search(&query.problem(), 1, 1000, Duration::from_secs(60)), Found::Safe(_)));
    options.more[0].flags = Flags::read(["-m32", "-DN=2"]).unwrap();
    let why = load(&first.path, &options).err().expect("one file has 32 bits");
    std::fs::remove_dir_all(folder).unwrap();
    assert!(why.diagnostics[0].message.contains("b.c` is compiled with `-m32`"), "{why:?}");
}
