//! What the parser says: what was expected, which header declares a type, and few errors that only
//! follow from others.

use super::errors;

#[test]
fn errors_name_what_was_expected() {
    let cases = [
        ("int x = ;", "1: unexpected `;` | expected an expression"),
        ("int f(void) { return 1 }", "1: `;` is missing before `}` | expected `;`"),
        ("int x\nint y;", "1: `;` is missing before `int` | expected `;`"),
        ("int a[3;", "1: unexpected `;` | expected `]`"),
        ("void f(void) { g(1; }", "1: unexpected `;` | expected `,` or `)`"),
        ("void f(void) { if x; }", "1: unexpected `x` | expected `(`"),
        ("void f(void) { s.; }", "1: unexpected `;` | expected the name of a member"),
        ("void f(void) { goto ; }", "1: unexpected `;` | expected a label"),
        ("void f(void) { else; }", "1: this `else` has no `if`"),
        ("}", "1: this `}` closes nothing"),
        ("struct S { int a; }\nint x;", "1: `;` is missing before `int` | expected `;`"),
        ("typedef int T; enum E { A }\nT x;", "1: `;` is missing before `T` | expected `;`"),
        ("int x = 089;", "1: this number has a digit that its base does not have"),
        ("int x = 1lul;", "1: the suffix of this number is not known"),
        ("char c = '';", "1: there is nothing between the quotes"),
        ("char *s = \"a;", "1: this string is not closed"),
        ("/* a", "1: this comment is not closed"),
        (
            "#include <stdio.h>",
            "1: `#include` is for the preprocessor, which has not run | give the file as \
                                `.c`, or what `cc -E` makes of it as `.i`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(text).first().map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn an_unknown_type_names_its_header() {
    let cases = [
        ("size_t", "stddef.h"),
        ("pthread_t", "pthread.h"),
        ("pthread_mutex_t", "pthread.h"),
        ("uint32_t", "stdint.h"),
        ("FILE", "stdio.h"),
        ("sem_t", "semaphore.h"),
        ("thrd_t", "threads.h"),
        ("atomic_int", "stdatomic.h"),
        ("va_list", "stdarg.h"),
        ("time_t", "time.h"),
        ("ssize_t", "sys/types.h"),
        ("jmp_buf", "setjmp.h"),
        ("sigset_t", "signal.h"),
    ];
    for (name, header) in cases {
        let expected = format!("1: unknown type name `{name}` | add `#include <{header}>`");
        for text in
            [format!("{name} x;"), format!("void f({name} *x);"), format!("struct S {{ {name} x; }};")]
        {
            assert_eq!(errors(&text), [expected.as_str()], "{text}");
        }
        // It is unknown only once.
        assert_eq!(errors(&format!("{name} x; {name} y; void f({name} z) {{ {name} w; }}")).len(), 1);
    }
    assert_eq!(errors("itn x;"), ["1: unknown type name `itn` | did you mean `int`?"]);
    assert_eq!(errors("void f(void) { retrun 1; }")[0].split(" | ").last(), Some("did you mean `return`?"));
    let macros = errors("int f(void) { return va_arg(ap, int); }");
    assert!(macros[0].ends_with("add `#include <stdarg.h>`"), "{macros:?}");
}

#[test]
fn one_run_shows_several_errors() {
    let text = "int a = ;\nint b;\nint f(void) {\n  int c = );\n  if (a {\n    b = 1;\n  }\n  return c +;\n}\n\
                foo d;\nint g(void) { return 0 }\nint last;\n";
    let lines: Vec<String> =
        errors(text).iter().map(|e| e.split(':').next().unwrap_or_default().into()).collect();
    assert_eq!(lines, ["1", "4", "5", "8", "10", "11"], "{:#?}", errors(text));
}

#[test]
fn one_mistake_is_one_error() {
    let body = "int g(int x) {\n  int y = x * 2;\n  while (y > 0) { y--; }\n  return y;\n}\nint main(void) { return g(1); }\n";
    for broken in [
        "int f(void) { return (1; }",
        "int f(void) { int x = 1 int y = 2; return x + y; }",
        "int f(int x) { if (x) { return 1; }",
        "int f(void) { for (int i = 0; i < 3, i++) { } return 0; }",
        "int f(void) { return 0; } }",
        "struct S { int a int b; };",
        "struct S { int a; }",
        "foo_t f(bar_t *x) { return 0; }",
        "int f(int x, ) { return x; }",
        "int f(int x { return x; }",
        "enum E { A B };",
        "int x[] = { 1, 2, ; int y;",
        "int f(void) { switch (1) { case : break; } return 0; }",
        "int f(void) { x = = 1; return 0; }",
        "static static_int x;",
        "int f(void) { do { } while 1; return 0; }",
    ] {
        let found = errors(&format!("{broken}\n{body}"));
        let unknown = found.iter().filter(|e| e.contains("unknown type name")).count();
        assert!((1..=1.max(unknown)).contains(&found.len()), "{broken}: {found:#?}");
    }
}

#[test]
fn cplusplus_is_recognised() {
    for text in
        ["class A { };", "namespace n { int x; }", "template <typename T> T f(T x);", "int x; std::vector v;"]
    {
        let found = errors(text);
        assert!(found[0].ends_with("this looks like C++, which is not read"), "{text}: {found:?}");
    }
}
