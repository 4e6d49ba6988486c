//! Functions: what is handed over, variable arguments, pointers to functions, recursion; and that
//! functions in place of their calls mean the same.

use std::time::Duration;

use crate::programs::program;
use crate::search::{Found, search};
use throng_goto::program::Instr;

fn found(text: &str, threads: u32) -> Found {
    search(&program(text).query.problem(), threads, 1_000_000, Duration::from_secs(60))
}

#[track_caller]
fn holds(text: &str) {
    let found = found(text, 3);
    assert!(matches!(found, Found::Safe(_)), "{text}: {found:?}");
}

#[track_caller]
fn fails(text: &str) {
    let found = found(text, 3);
    assert!(matches!(found, Found::Unsafe(..)), "{text}: {found:?}");
}

#[track_caller]
fn is_open(text: &str) {
    let found = found(text, 3);
    assert!(matches!(found, Found::Incomplete(_)), "{text}: {found:?}");
}

#[test]
fn a_function_may_call_itself() {
    let text = "int f(int n) { return n ? n * f(n - 1) : 1; } int main() { assert(f(5) == 120); return 0; }";
    holds(text);
    fails(&text.replace("120", "121"));
    let text = "int odd(int n); int even(int n) { return n ? odd(n - 1) : 1; } int odd(int n) { return n ? even(n - 1) : 0; } \
        int main() { assert(even(6) && !even(7)); return 0; }";
    holds(text);
    // Every call has variables of its own.
    let text = "int sum(int *p, int n) { int x = n; if (n == 0) return *p; int y = sum(&x, n - 1); return x == n ? y + *p : 100; } \
        int main() { int x = 7; assert(sum(&x, 3) == 13); return 0; }";
    holds(text);
    fails(&text.replace("== 13", "!= 13"));
}

#[test]
fn recursion_without_an_end_is_cut_and_nothing_is_proved() {
    is_open("int f(int n) { return f(n) + 1; } int main() { f(3); assert(0); return 0; }");
    is_open(
        "void *f(void *p) { f(p); return 0; } int main() { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }",
    );
    fails("int f(int n) { if (n > 50) assert(0); return f(n + 1) + 1; } int main() { f(3); return 0; }");
}

#[test]
fn threads_recur_beside_one_another() {
    let text = "int x; pthread_mutex_t m; int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *); \
        void up(int n) { if (n) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); up(n - 1); } } \
        void *f(void *p) { up(2); return 0; } \
        int main() { pthread_t a; pthread_create(&a, 0, f, 0); up(2); pthread_join(a, 0); assert(x == 4); return 0; }";
    holds(text);
    fails(&text.replace("pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);", "x++;"));
}

#[test]
fn structures_are_handed_over_and_returned() {
    let text = "struct s { int a, b[3]; }; struct s turn(struct s v) { int t = v.a; v.a = v.b[2]; v.b[2] = t; return v; } \
        int main() { struct s x = { 1, { 2, 3, 4 } }, y = turn(x); assert(x.a == 1 && x.b[2] == 4 && y.a == 4 && y.b[2] == 1); \
        assert(turn(turn(x)).a == 1); struct s (*f)(struct s) = turn; x = f(x); assert(x.a == 4); return 0; }";
    holds(text);
    fails(&text.replace("y.a == 4", "y.a == 1"));
    // What a later argument changes is not what was handed over.
    let text = "struct s { int a; } g; int change() { g.a = 5; return 1; } int sum(struct s v, int n) { return v.a + n; } \
        int main() { assert(sum(g, change()) == 1); return 0; }";
    holds(text);
}

#[test]
fn arguments_without_a_name_are_read_in_order() {
    let expand = |text: &str| text.replace("va_", "__builtin_va_");
    let text = expand(
        "int next(va_list l) { return va_arg(l, int); } \
        long sum(int n, ...) { va_list l, again; long s = 0; va_start(l, n); va_copy(again, l); \
            for (int i = 0; i < n; i++) s += next(l) + 10 * va_arg(again, int); va_end(l); return s; } \
        char *last(const char *p, ...) { va_list l; va_start(l, p); long a = va_arg(l, long); char c = va_arg(l, int); \
            char *q = va_arg(l, char *); return a == 1L << 40 && c == 'x' ? q : 0; } \
        int main() { char t; short two = 2; long (*f)(int, ...) = sum; assert(sum(3, 1, two, 3) == 66 && f(1, 4) == 44); \
            assert(sum(0) == 0 && last(\"\", 1L << 40, 'x', &t) == &t); return 0; }",
    );
    holds(&text);
    fails(&text.replace("== 66", "!= 66"));
    // Behind the last one there is nothing.
    let beyond = text.replace("sum(0) == 0", "sum(2, 1) == 0");
    let found = found(&beyond, 1);
    assert!(!matches!(found, Found::Safe(_)), "{found:?}");
}

#[test]
fn a_pointer_calls_what_it_points_to_and_nothing_else() {
    let text = "int one(void) { return 1; } int two(void) { return 2; } int (*table[])(void) = { one, two }; int n; \
        int main() { assert(table[n]() + table[1 - n]() == 3); return 0; }";
    holds(text);
    fails(&text.replace("== 3", "== 4"));
    // Other arguments than the function takes, and what is not a function.
    is_open(
        "int f(long a, long b) { return 1; } int (*p)(int) = (int (*)(int))f; int main() { p(1); return 0; }",
    );
    is_open("int (*p)(int); int main() { p = (int (*)(int))5; p(1); return 0; }");
    let text = "int f(int n, int (*g)(int)) { return n ? g(n - 1) : 7; } int h(int n) { return f(n, h); } \
        int main() { assert(f(4, h) == 7); return 0; }";
    holds(text);
}

#[test]
fn a_function_without_all_its_arguments_is_open_where_it_is_called() {
    is_open("int f(); int main() { f(1); return 0; } int f(int a, int b) { return a; }");
    holds("int f(); int main() { if (0) f(1); return 0; } int f(int a, int b) { return a; }");
}

#[test]
fn code_that_nothing_reaches_is_not_written() {
    let text = "int g(void) { return 1; } int unused(void) { return g() + undefined_function(); } int main() { return 0; }";
    let loaded = program(text);
    assert_eq!(loaded.query.program.templates.len(), 1);
    assert!(loaded.query.undefined().next().is_none());
}

#[test]
fn a_program_that_does_not_fit_in_place_of_its_calls_keeps_them() {
    // Each function calls the next one twice: in place of the calls there are 2^20 copies.
    let mut text = String::from("int f0(void) { return 1; }\n");
    for n in 1..=20 {
        text += &format!("int f{n}(void) {{ return f{}() + f{}(); }}\n", n - 1, n - 1);
    }
    text += "int x; int main() { if (x) f20(); assert(f3() == 8); return 0; }";
    let loaded = program(&text);
    assert!(!loaded.query.program.is_flat());
    let why = loaded.query.program.not_flat().unwrap_or_default();
    assert!(why.contains("too long"), "{why}");
    holds(&text);
    fails(&text.replace("== 8", "== 9"));
}

#[test]
fn arguments_that_are_constant_are_constants_in_place_of_the_call() {
    let text = "pthread_mutex_t m; int pthread_mutex_lock(pthread_mutex_t *); void lock(pthread_mutex_t *p) { pthread_mutex_lock(p); } \
        int main() { lock(&m); return 0; }";
    let loaded = program(text);
    let code = loaded.query.program.templates.iter().flat_map(|t| &t.code);
    let acquired: Vec<_> = code.filter(|i| matches!(i, Instr::Acquire(_))).collect();
    assert!(matches!(acquired[..], [Instr::Acquire(throng_goto::program::Expr::Const(_))]), "{acquired:?}");
}

#[test]
fn once_calls_what_a_pointer_points_to() {
    let text = "int pthread_once(pthread_once_t *, void (*)(void)); pthread_once_t once; int x; void init(void) { x++; } void (*f)(void) = init; \
        void *g(void *p) { pthread_once(&once, f); return 0; } \
        int main() { pthread_t t; pthread_create(&t, 0, g, 0); pthread_once(&once, f); assert(x == 1); return 0; }";
    holds(text);
}
