//! Programs of several files: each has a scope of its own.

use std::time::Duration;

use throng_c::replay::{Ends, write};
use throng_c::{Loaded, Options, load};
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
    let options = Options { more: paths[1..].to_vec(), ..options.clone() };
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
