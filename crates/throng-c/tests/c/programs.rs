//! Small C programs: what is read, what is refused and where, and what a search finds.

use std::path::Path;
use std::time::Duration;

use throng_c::{Loaded, Options, read};
use throng_goto::interpreter::Interpreter;
use throng_goto::step::After;
use throng_lang::load::Rejected;
use throng_lang::source::{Source, render};
use throng_model::random::Random;

use crate::search::{Found, search};

const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int w[10]; } pthread_mutex_t; typedef struct { int w[12]; } pthread_cond_t;\n\
typedef struct { int w[8]; } sem_t; typedef struct { int w[8]; } pthread_barrier_t; typedef struct { int w[14]; } pthread_rwlock_t; typedef int pthread_once_t;\n\
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **); void assert(int); void *malloc(unsigned long);\n";

fn parse(text: &str) -> Result<Loaded, Rejected> {
    let raw = format!("{PRELUDE}{text}");
    read(Source::new("a.i", raw.clone()), raw, &Options::default())
}

pub(crate) fn program(text: &str) -> Loaded {
    parse(text).unwrap_or_else(|why| {
        let shown: Vec<String> = why.diagnostics.iter().map(|d| render(d, &why.source, false)).collect();
        panic!("refused:\n{}", shown.join("\n"))
    })
}

fn found(text: &str, threads: u32) -> Found {
    search(&program(text).query.problem(), threads, 1_000_000, Duration::from_secs(60))
}

#[track_caller]
fn is_unsafe(text: &str, threads: u32) {
    let found = found(text, threads);
    assert!(matches!(found, Found::Unsafe(..)), "{found:?}");
}

#[track_caller]
fn is_safe(text: &str, threads: u32) {
    let found = found(text, threads);
    assert!(matches!(found, Found::Safe(_)), "{found:?}");
}

const TWO: &str = "int main() { pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0); \
    pthread_join(a, 0); pthread_join(b, 0); assert(x == 2); return 0; }";

#[test]
fn an_increment_is_a_read_and_a_write() {
    is_unsafe(&format!("int x; void *f(void *p) {{ x++; return 0; }} {TWO}"), 3);
    is_safe(&format!("_Atomic int x; void *f(void *p) {{ x++; return 0; }} {TWO}"), 3);
    is_safe(&format!("int x; void *f(void *p) {{ __sync_fetch_and_add(&x, 1); return 0; }} {TWO}"), 3);
    is_safe(&format!("int x; void *f(void *p) {{ __atomic_add_fetch(&x, 1, 5); return 0; }} {TWO}"), 3);
    let section = "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();";
    is_safe(&format!("int x; void *f(void *p) {{ {section} return 0; }} {TWO}"), 3);
    is_safe(
        &format!(
            "int x; void __VERIFIER_atomic_up() {{ x++; return; }} void *f(void *p) {{ __VERIFIER_atomic_up(); return 0; }} {TWO}"
        ),
        3,
    );
    let swap = "int o; do { o = x; } while (!__sync_bool_compare_and_swap(&x, o, o + 1));";
    is_safe(&format!("int x; void *f(void *p) {{ {swap} return 0; }} {TWO}"), 3);
}

#[test]
fn locks_exclude() {
    let with = |declared: &str, enter: &str, leave: &str, first: &str| {
        let main = TWO.replace("{ pthread_t a, b;", &format!("{{ pthread_t a, b; {first}"));
        format!("int x; {declared} void *f(void *p) {{ {enter} x++; {leave} return 0; }} {main}")
    };
    is_safe(&with("pthread_mutex_t m;", "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);", ""), 3);
    is_safe(&with("sem_t s;", "sem_wait(&s);", "sem_post(&s);", "sem_init(&s, 0, 1);"), 3);
    is_unsafe(&with("sem_t s;", "sem_wait(&s);", "sem_post(&s);", "sem_init(&s, 0, 2);"), 3);
    is_safe(&with("pthread_rwlock_t l;", "pthread_rwlock_wrlock(&l);", "pthread_rwlock_unlock(&l);", ""), 3);
    is_unsafe(
        &with("pthread_rwlock_t l;", "pthread_rwlock_rdlock(&l);", "pthread_rwlock_unlock(&l);", ""),
        3,
    );
    // A wait gives the lock away.
    let wait = "pthread_mutex_lock(&m); int y = x; pthread_cond_wait(&c, &m); x = y; ";
    is_unsafe(&with("pthread_mutex_t m; pthread_cond_t c;", wait, "pthread_mutex_unlock(&m);", ""), 3);
}

#[test]
fn recursive_mutexes_count() {
    let text = "typedef struct { int k; } attr_t; void pthread_mutexattr_settype(attr_t *, int); pthread_mutex_t m; int x; \
        void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); return 0; }";
    let kind = |k: u32| {
        TWO.replace(
            "{ pthread_t a, b;",
            &format!(
                "{{ pthread_t a, b; attr_t t; pthread_mutexattr_settype(&t, {k}); pthread_mutex_init(&m, &t);"
            ),
        )
    };
    is_safe(&format!("{text} {}", kind(1)), 3);
    let reached = |k: u32| format!("{text} {}", kind(k).replace("assert(x == 2)", "assert(0)"));
    is_unsafe(&reached(1), 3);
    // A normal mutex is not locked twice.
    is_safe(&reached(0), 3);
}

#[test]
fn barriers_and_once() {
    let meet = "pthread_barrier_t b; int x; void *f(void *p) { __sync_fetch_and_add(&x, 1); pthread_barrier_wait(&b); assert(x == 2); return 0; }";
    let main = |n: u32| {
        TWO.replace("{ pthread_t a, b;", &format!("{{ pthread_t a, c; pthread_barrier_init(&b, 0, {n});"))
            .replace("&b, 0, f", "&c, 0, f")
            .replace("join(b", "join(c")
    };
    is_safe(&format!("{meet} {}", main(2)), 3);
    is_unsafe(&format!("{meet} {}", main(1)), 3);
    let once = "pthread_once_t o; int x; void up() { x++; } void *f(void *p) { pthread_once(&o, up); assert(x == 1); return 0; }";
    is_safe(&format!("{once} {}", TWO.replace("x == 2", "x == 1")), 3);
    let once = once.replace("void *f(", "void *g = up; void *f(").replace("(&o, up)", "(&o, g)");
    is_safe(&format!("{once} {}", TWO.replace("x == 2", "x == 1")), 3);
}

#[test]
fn threads_without_bound_and_private_variables() {
    let text = "_Thread_local int t; int x; void *f(void *p) { t++; assert(t == 1); __sync_fetch_and_or(&x, 1); assert(x == 1); return 0; } \
        int main() { pthread_t h; while (1) pthread_create(&h, 0, f, 0); }";
    is_safe(text, 4);
    is_unsafe(&text.replace("_Thread_local ", ""), 4);
}

#[test]
fn pointers_structures_arrays_and_allocation() {
    let text = "struct s { int a; struct s *next; char c[4]; }; struct s g = { 7, &g, \"hi\" }; int v[3] = { [1] = 5 }; \
        int sum(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; } \
        int main() { struct s *p = malloc(sizeof(struct s)); *p = g; p->a += 1; assert(g.a == 7 && p->a == 8 && p->next->c[1] == 'i'); \
        assert(sizeof(struct s) == 24 && sum(v, 3) == 5); int (*q)(int *, int) = sum; assert(q(&v[1], 1) == 5); \
        switch (p->a) { case 7: assert(0); case 8: break; default: assert(0); } return 0; }";
    is_safe(text, 1);
    is_unsafe(&text.replace("== 8 &&", "== 9 &&"), 1);
}

#[test]
fn a_thread_sees_what_main_passes_by_address() {
    let text = "void *f(void *p) { *(int *)p = 3; return p; } \
        int main() { int n = 1; pthread_t t; void *r; pthread_create(&t, 0, f, &n); pthread_join(t, &r); assert(n == 3 && r == &n); return 0; }";
    is_safe(text, 2);
    is_unsafe(&text.replace("pthread_join(t, &r);", "r = &n;"), 2);
}

#[test]
fn inputs_are_tried_by_value_and_then_nothing_is_proved() {
    let text = "int __VERIFIER_nondet_int(void); int main() { int n = __VERIFIER_nondet_int(); assert(n != 41); return 0; }";
    is_unsafe(text, 1);
    let never = text.replace("n != 41", "n * 2 != 41");
    assert!(matches!(found(&never, 1), Found::Incomplete(_)));
    // Both answers to a question about an input are tried: that is everything.
    let both = "int __VERIFIER_nondet_int(void); int main() { int k = 0; while (__VERIFIER_nondet_int()) { k = 1 - k; } assert(k < 2); return 0; }";
    is_safe(both, 1);
    // So are, where an input is only compared, values on either side of each constant.
    let compared = "int __VERIFIER_nondet_int(void); int x; int main() { int n = __VERIFIER_nondet_int(); switch (n) { case 3: x = 1; break; \
        case 70: x = 2; break; default: if (n > 1000 && n <= 1001) x = 3; else x = 4; } assert(x > 0 && x < BOUND); return 0; }";
    is_safe(&compared.replace("BOUND", "5"), 1);
    is_unsafe(&compared.replace("BOUND", "4"), 1);
    is_unsafe(&compared.replace("x < BOUND", "x != 3"), 1);
    // Each of a few values that are left is tried, where it is computed with.
    let few = "int __VERIFIER_nondet_int(void); int a[10]; int main() { int i = __VERIFIER_nondet_int(); \
        if (i < 0 || i >= 10) return 0; a[i] = i * i; assert(a[i] != NEVER); return 0; }";
    is_safe(&few.replace("NEVER", "50"), 1);
    is_unsafe(&few.replace("NEVER", "36"), 1);
    let assumed = "long __VERIFIER_nondet_long(void); int main() { long n = __VERIFIER_nondet_long(); \
        int few = n >= 100 && n < 105; if (!few) return 0; assert(n % 5 == n - LEAST); return 0; }";
    is_safe(&assumed.replace("LEAST", "100"), 1);
    is_unsafe(&assumed.replace("LEAST", "101"), 1);
    // Not where many are computed with.
    let sum = "int __VERIFIER_nondet_int(void); int main() { int n = __VERIFIER_nondet_int(); if (n > 5) assert(n + 7 != 100); return 0; }";
    assert!(!matches!(found(sum, 1), Found::Safe(_)));
}

#[test]
fn a_thread_without_a_result_and_a_variable_defined_elsewhere() {
    let text = "int x; void *f(void *p) { __sync_fetch_and_add(&x, 1); } ";
    is_safe(&format!("{text} {TWO}"), 3);
    is_unsafe("extern int e; int main() { assert(e == 0); return 0; }", 1);
    is_safe("extern int e; int e; int main() { assert(e == 0); return 0; }", 1);
}

#[test]
fn a_thread_that_waits_for_ever_has_done_what_it_did() {
    let text = "int x; void *f(void *p) { x = 1; __VERIFIER_assume(0); return 0; } \
        int main() { pthread_t t; pthread_create(&t, 0, f, 0); assert(x == 0); return 0; }";
    is_unsafe(text, 2);
}

#[test]
fn mistakes_are_refused_with_their_position() {
    for (text, code, message) in [
        ("int main() { return y; }", "E804", "`y` is not declared"),
        ("int main() { goto L; }", "E804", "there is no label `L`"),
        ("int main( { }", "E802", "unexpected `{`"),
        ("int x;", "E804", "there is no function `main`"),
        ("#pragma strange\nint main() { return 0; }", "E803", "`#pragma strange`"),
        ("__int128 main() { return 0; }", "E803", "`__int128` (of `main`)"),
    ] {
        let why = parse(text).err().unwrap_or_else(|| panic!("{text} is not refused"));
        let first = &why.diagnostics[0];
        assert_eq!(first.code, code, "{text}: {}", first.message);
        assert!(first.message.contains(message), "{text}: {}", first.message);
        if let Some(span) = first.span {
            assert!(span.start as usize >= PRELUDE.len(), "{text}: points into the prelude");
        }
    }
    let several = parse("int main() { y = 1; z = 2; return 0; }").err().map_or(0, |w| w.diagnostics.len());
    assert_eq!(several, 2);
    let several =
        parse("int main() { int x = ; return 0; }\nint f( { }").err().map_or(0, |w| w.diagnostics.len());
    assert_eq!(several, 2);
}

/// The square root of a negative number sets `errno`, and other functions may set it.
#[test]
fn functions_of_numbers_may_set_errno() {
    let text = |body: &str| {
        format!(
            "extern int *__errno_location(void); double sqrt(double); double log(double); void reach_error(void); \
             int main(void) {{ double x = 4; {body} if (*__errno_location() != 0) reach_error(); return 0; }}"
        )
    };
    let reaches = |body: &str| {
        let raw = text(body);
        let loaded = read(Source::new("a.i", raw.clone()), raw, &Options::default());
        let loaded = loaded.unwrap_or_else(|_| panic!("{body}"));
        let model = loaded.query.model();
        let problem = loaded.query.problem_of(model);
        // What the library writes there is open.
        !matches!(search(&problem, 1, 10_000, Duration::from_secs(60)), Found::Safe(_))
    };
    assert!(reaches("x = sqrt(-x);") && reaches("x = log(x);"));
    assert!(!reaches("x = sqrt(x);"));
}

#[test]
fn what_is_not_modelled_leaves_a_program_open_where_a_run_comes_to_it() {
    const SIZE: &str = "an array whose size is not constant";
    for (text, construct) in [
        (
            "struct in { long double _Complex d; } v; int main() { x = 2;\nv.d = v.d + 1; return 0; }",
            "_Complex",
        ),
        ("int main() { int n = 3; x = 2;\nstruct { int a[n]; } s; return 0; }", SIZE),
        ("int main() { int n = 3; x = 2;\nint a[n] = {}; return 0; }", SIZE),
        ("int main() { x = 2;\n__asm__(\"cpuid\"); return 0; }", "inline assembly"),
        ("int main() { x = 2;\n__asm__(\"nop\" : \"=r\"(x)); return 0; }", "inline assembly"),
        ("int f(__int128 v) { return 1; } int main() { x = 2;\nreturn f(3); }", "`__int128` (of `f`)"),
        ("int main() { x = 2;\n__int128 v = 3, w = 4; w = v; return 0; }", "`__int128`"),
        (
            "int main() { x = 2;\nif (1 + __builtin_strange(x)) { L: x = 3; goto L; } return 0; }",
            "`__builtin_strange`",
        ),
        (
            "int main() { x = 2;\nwhile (__builtin_strange(x)) { if (x) break; continue; } return 0; }",
            "`__builtin_strange`",
        ),
        (
            "int main() { x = 2;\nswitch (__builtin_strange(x)) { case 1: x = 3; break; default: x = 4; } return 0; }",
            "`__builtin_strange`",
        ),
        ("int main() { x = 2;\nfor (__int128 i = 0; i < 3; i++) x = 4; return 0; }", "`__int128`"),
        ("int main() { x = 2;\nL: goto *(&&L + 1); }", "not the address of a label"),
        (
            "int main() { x = 2;\nint f(int v) { return v + x; } int (*p)(int) = f; for (int y = 0; y < 1; y++) { int g(void) { return y; } int (*q)(void) = g; } return p(3); }",
            "a pointer to a function inside a function",
        ),
        (
            "int main() { x = 2;\nenum e { A = (int)(1 ? __builtin_strange(3) : 0) } v = A; return v; }",
            "`__builtin_strange`",
        ),
    ] {
        let text = format!("int x; {text}");
        match found(&text, 2) {
            Found::Incomplete(why) => {
                assert!(why.contains(construct) && why.contains("line 5"), "{text}: {why}");
            }
            found => panic!("{text}: {found:?}"),
        }
        // What comes before is followed.
        is_unsafe(&text.replacen("x = 2;", "x = 2; assert(x != 2);", 1), 2);
        // No run comes there.
        is_safe(&text.replacen("x = 2;", "return 0;", 1), 2);
    }
}

/// A quotient of complex numbers is not known, nor a product that is infinite or no number.
#[test]
fn values_of_some_complex_numbers_are_left_open() {
    let text = |body: &str| {
        format!("double big = 1e308; int main() {{ _Complex double z = 1 + 2i, w; {body} return 0; }}")
    };
    for body in [
        "w = z / z; assert(w == 1);",
        "w = 1 / z; assert(w != 0);",
        "z = big * 10 + 1i * big; w = z * z * z; assert(__real__ w != 0);",
    ] {
        let found = found(&text(body), 1);
        assert!(!matches!(found, Found::Safe(_)), "{body}: {found:?}");
    }
    is_safe(&text("w = z / 2; assert(w == 0.5 + 1i);"), 1);
    is_safe(&text("w = z * z; assert(w == -3 + 4i);"), 1);
    is_unsafe(&text("w = z * z; assert(w != -3 + 4i);"), 1);
}

#[test]
fn functions_that_run_before_and_after_main_run() {
    let text = "int x; __attribute__((constructor)) static void begin(void) { x = 1; } \
        __attribute__((destructor)) static void end(void) { assert(x != 3); } \
        void exit(int); void _exit(int); int main() { assert(x == 1); x = LAST; HOW; }";
    let with = |last: &str, how: &str| text.replace("LAST", last).replace("HOW", how);
    is_safe(&with("2", "return 0"), 1);
    is_unsafe(&with("3", "return 0"), 1);
    is_unsafe(&with("3", "exit(0)"), 1);
    is_safe(&with("3", "_exit(0)"), 1);
}

#[test]
fn a_function_that_does_not_return_is_not_passed() {
    let text = "void stop(int) __attribute__((noreturn)); int x; int main() { if (x == 0) stop(1); assert(x); return 0; }";
    is_safe(text, 1);
    assert!(!matches!(found(&text.replace(" __attribute__((noreturn))", ""), 1), Found::Safe(_)));
}

#[test]
fn nonsense_is_refused_without_a_panic() {
    let seed = "int x; struct s { int a : 3; }; int main() { int a[2] = { 1, 2 }; if (x) { L: x++; } return a[0] ? x : ({ 3; }); } \"\\x\" 'c' ?: # 1 \"f\"";
    let mut random = Random::new(12345);
    let mut next = |n: usize| random.below(n);
    for _ in 0..300 {
        let mut bytes = seed.as_bytes().to_vec();
        for _ in 0..1 + next(8) {
            let (i, j) = (next(bytes.len()), next(bytes.len()));
            match next(3) {
                0 => bytes[i] = bytes[j],
                1 => {
                    bytes.remove(i);
                }
                _ => bytes.insert(i, b"(){};*&\xe9\"'"[next(10)]),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Err(why) = read(Source::new("a.i", text.clone()), text.clone(), &Options::default()) {
            assert!(why.diagnostics.iter().all(|d| d.code != "E809"), "{text}");
            why.diagnostics.iter().for_each(|d| assert!(!render(d, &why.source, false).is_empty()));
        }
    }
}

/// Facts about integers, as one program: compiled and run by the C compiler, and by the
/// interpreter.
#[test]
fn integers_are_those_of_the_compiler() {
    let text = "extern void abort(void);\nstatic int checks;\n#define assert(c) do { checks++; if (!(c)) abort(); } while (0)\n\
        int main(void) { unsigned u = 0; u--; assert(u == 4294967295u && u > -2); unsigned char c = 300; assert(c == 44); signed char s = 200; assert(s == -56);\n\
        assert((c << 8) == 11264); assert(-7 / 2 == -3 && -7 % 2 == -1); assert((unsigned)-7 / 2 == 2147483644u); assert(-1 < 0u == 0); assert(-1L < 0u);\n\
        assert((-8 >> 1) == -4 && (4294967288u >> 1) == 2147483644u); long l = 1L << 40; int i = (int)(l + 5); assert(i == 5); assert((short)70000 == 4464);\n\
        _Bool b = 256; assert(b == 1); assert(~0 == -1 && !5 == 0); assert(sizeof(long) == 8 && sizeof('a') == 4 && sizeof(\"abc\") == 4); assert('\\x41' == 65 && '\\n' == 10 && '\\101' == 'A');\n\
        int k = 3; assert(k++ + k == 7 || 1); k = 3; assert((k += 2, k) == 5); int a[4] = {1, 2}; int *p = a + 1; assert(*p == 2 && p[-1] == 1 && a[3] == 0 && &a[3] - p == 2);\n\
        union { int i; unsigned char c[4]; } w; w.i = 0x01020304; assert(w.c[0] == 4 && w.c[3] == 1); struct { char c; long l; short h; } t; assert(sizeof t == 24);\n\
        enum { A, B = 5, C }; assert(C == 6); unsigned short h = 65535; h++; assert(h == 0); assert((0 ? 1 : 2u) - 3 > 0); assert(010 == 8 && 0xffffffff > 0 && 2147483648 > 0);\n\
        return checks > 20 ? 0 : 1; }\n";
    let dir = std::env::temp_dir().join(format!("throng-c-test-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("integers.c");
    std::fs::write(&file, text).unwrap();
    let compiled =
        std::process::Command::new("cc").arg("-w").arg("-o").arg(dir.join("integers")).arg(&file).status();
    if compiled.is_ok_and(|s| s.success()) {
        assert!(
            std::process::Command::new(dir.join("integers")).status().unwrap().success(),
            "the compiled program disagrees"
        );
        let loaded = throng_c::load(Path::new(&file), &Options::default())
            .unwrap_or_else(|w| panic!("{:?}", w.diagnostics));
        let mut run = Interpreter::new(&loaded.query.program);
        run.run(10_000, |_| 0);
        assert_eq!(run.ended, Some(After::Halted));
        let checks = loaded.query.program.objects.iter().find(|o| o.name == "checks").unwrap();
        let written = text.matches("assert(").count() - 1;
        assert_eq!(usize::from(run.memory.fixed[checks.base]), written, "it ended early");
    } else {
        println!("ignored: there is no C compiler");
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn no_text_makes_the_reader_panic() {
    let programs = [
        format!("{PRELUDE}int x; void *f(void *p) {{ x++; return 0; }} {TWO}"),
        "struct s { int a[2]; char c; } g = { { 1, 2 }, 'x' }; int main() { struct s l = g; for (int i = 0; i < 2; i++) l.a[i] += g.c; return l.a[1] ?: 3; }".into(),
    ];
    let pieces = [
        "(", ")", "{", "}", ";", "*", "&", "x", "int", "=", "[", "]", "0", "sizeof", "\"", "'", "if", "#",
        ",", "struct s", "\u{e9}", "?", ":",
    ];
    let mut random = Random::new(1);
    let mut below = |n: usize| random.below(n);
    let mut accepted = 0;
    for _ in 0..400 {
        let mut text = programs[below(programs.len())].clone();
        for _ in 0..1 + below(4) {
            let at = below(text.len());
            let end = (at + below(6)).min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, pieces[below(pieces.len())]);
            }
        }
        match read(Source::new("a.i", text.clone()), text.clone(), &Options::default()) {
            Ok(_) => accepted += 1,
            Err(why) => assert!(why.diagnostics.iter().all(|d| d.code != "E809"), "panics on:\n{text}"),
        }
    }
    assert!(accepted > 0, "some are still programs");
}

#[test]
fn templates_that_one_thread_runs_at_most() {
    let text = "typedef unsigned long pthread_t;
        int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
        void *grandchild(void *p) { return 0; }
        void *child(void *p) { pthread_t t; pthread_create(&t, 0, grandchild, 0); return 0; }
        void *twice(void *p) { return 0; }
        void *often(void *p) { return 0; }
        int main(void) {
          pthread_t t;
          pthread_create(&t, 0, child, 0);
          pthread_create(&t, 0, twice, 0);
          pthread_create(&t, 0, twice, 0);
          while (1) pthread_create(&t, 0, often, 0);
        }";
    let read = read(Source::new("a.i", text), text.into(), &Options::default());
    let program = read.map_err(|r| r.diagnostics).unwrap().query.program;
    let once: Vec<(&str, bool)> =
        (0..program.templates.len()).map(|t| (&*program.templates[t].name, program.runs_once(t))).collect();
    for (name, expected) in
        [("main", true), ("child", true), ("grandchild", true), ("twice", false), ("often", false)]
    {
        assert!(once.contains(&(name, expected)), "{name}: {once:?}");
    }
}

const STRINGS: &str = "typedef unsigned long size_t; void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t); \
    void *memmove(void *, const void *, size_t); int memcmp(const void *, const void *, size_t); size_t strlen(const char *); \
    int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t); char *strchr(const char *, int); \
    char *strcpy(char *, const char *); char *strcat(char *, const char *); int abs(int);";

#[test]
fn functions_on_bytes_and_texts_are_computed() {
    let text = format!(
        "{STRINGS} struct pair {{ int a, b; }} p = {{ 1, 2 }}, q; int from[4] = {{ 1, 2, 3, 4 }}, to[4]; char t[16] = \"tree\", u[16]; \
        int main() {{ memcpy(&q, &p, sizeof p); assert(q.a == 1 && q.b == 2); memcpy(to, from, sizeof from); assert(to[3] == 4); \
        memmove(from + 1, from, 3 * sizeof from[0]); assert(from[0] == 1 && from[1] == 1 && from[3] == 3); \
        assert(memcmp(to, from, sizeof to) > 0 && memcmp(to, from, 4) == 0); \
        assert(strlen(t) == 4 && strcmp(t, \"tree\") == 0 && strcmp(\"ant\", \"bee\") < 0 && strncmp(\"anti\", \"antler\", 3) == 0); \
        strcpy(u, t); strcat(u, \"s\"); assert(strlen(u) == 5 && strchr(u, 'e') == u + 2 && strchr(u, 'x') == 0); \
        memset(to, 0, sizeof to); memset(u, 'x', 2); assert(to[1] == 0 && u[1] == 'x' && u[2] == 'e' && abs(-3) == 3); return 0; }}"
    );
    is_safe(&text, 1);
    is_unsafe(&text.replace("strlen(u) == 5", "strlen(u) == 4"), 1);
    // Bytes without a value are copied, and nothing is known of a run that reads the copy.
    let padded = format!(
        "{STRINGS} struct s {{ int a; char c; }}; int main() {{ struct s x, y, z; y.a = 1; \
        memcpy(&x, &y, sizeof x); z = x; assert(z.a == 1); return 0; }}"
    );
    is_safe(&padded, 1);
    is_unsafe(&padded.replace("z.a == 1", "z.a == 2"), 1);
    assert!(matches!(found(&padded.replace("z.a == 1", "z.c == 2"), 1), Found::Incomplete(_)));
}

#[test]
fn a_call_of_the_library_is_many_steps() {
    // The first byte is read before the last: only a call in several steps shows the new one and
    // then the old one.
    let torn = format!(
        "{STRINGS} _Atomic char c[3]; void *f(void *p) {{ memset((void *)c, 7, 3); return 0; }} \
        int main() {{ pthread_t t; pthread_create(&t, 0, f, 0); int first = c[0], last = c[2]; assert(first <= last); return 0; }}"
    );
    is_unsafe(&torn, 2);
    is_safe(
        &torn.replace(
            "memset((void *)c, 7, 3)",
            "__VERIFIER_atomic_begin(); memset((void *)c, 7, 3); __VERIFIER_atomic_end()",
        ),
        2,
    );
}

/// Bytes of an address are no better known to other threads than the address.
#[test]
fn a_private_address_is_not_copied_to_other_threads_byte_by_byte() {
    let text = format!(
        "{STRINGS} char shared[8]; void *f(void *p) {{ int mine = 1; int *at = &mine; memcpy(shared, (char *)&at, 8); return 0; }} \
        int main() {{ pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
    );
    let found = found(&text, 2);
    assert!(!matches!(found, Found::Safe(_)), "{found:?}");
}

#[test]
fn no_thread_is_called_0() {
    let text = "pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); pthread_t none, other; \
        void *f(void *p) { other = pthread_self(); return 0; } \
        int main() { pthread_t t; assert(pthread_self() != 0 && !pthread_equal(none, pthread_self())); \
        pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(t != 0 && pthread_equal(t, other) && other != pthread_self()); return 0; }";
    is_safe(text, 2);
    is_unsafe(&text.replace("other != pthread_self()", "other == pthread_self()"), 2);
}

#[test]
fn an_atomic_structure_is_copied_at_once() {
    let text = "struct pair { int a, b; }; _Atomic struct pair now; \
        void *f(void *p) { struct pair n = { 1, 1 }; now = n; return 0; } \
        int main() { pthread_t t; pthread_create(&t, 0, f, 0); struct pair l = now; assert(l.a == l.b); return 0; }";
    is_safe(text, 2);
    is_unsafe(&text.replace("_Atomic ", ""), 2);
    is_unsafe(&text.replace("l.a == l.b", "l.a == 0"), 2);
    assert!(matches!(found(&text.replace("now = n", "now.a = 1"), 2), Found::Incomplete(_)));
}

/// A thread that has not left a round yet is not lost when the next two are over.
#[test]
fn a_barrier_is_left_however_many_rounds_there_are() {
    let text = "pthread_barrier_t b; int left; void *f(void *p) { pthread_barrier_wait(&b); __sync_fetch_and_add(&left, 1); return 0; } \
        int main() { pthread_t t[4]; pthread_barrier_init(&b, 0, 2); for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0); \
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0); assert(left == 4); return 0; }";
    is_safe(text, 5);
    is_unsafe(&text.replace("left == 4", "left == 3"), 5);
}

/// A function that only passes bytes on does not ask what values those have that were never
/// written.
#[test]
fn padding_is_written_to_a_file_without_a_choice() {
    is_safe(
        "long write(int, const void *, unsigned long); struct s { char c; int i; }; \
        int main() { struct s x; x.c = 1; x.i = 2; write(1, &x, sizeof x); assert(x.i == 2); return 0; }",
        1,
    );
}

#[test]
fn results_of_known_functions_are_in_their_range() {
    let text = "int rand(void); int getchar(void); \
        int main() { assert(rand() >= 0); int c = getchar(); assert(c >= -1); assert(c < 256); return 0; }";
    assert!(!matches!(found(text, 1), Found::Unsafe(..)));
    is_unsafe(&text.replace("c < 256", "c < 255"), 1);
}

/// Loops that count to a constant create so many threads; what depends on memory, or never ends,
/// has no bound.
#[test]
fn created_threads_are_counted() {
    let most = |body: &str| {
        let text = format!(
            "void *g(void *v) {{ return 0; }} void *f(void *v) {{ pthread_t t; pthread_create(&t, 0, g, 0); return 0; }} int n = 3;\n\
             int main(int argc) {{ pthread_t t; int i = 0, j; {body} return 0; }}"
        );
        program(&text).query.program.most_threads()
    };
    let one = "pthread_create(&t, 0, g, 0);";
    assert_eq!(most(""), Some(1));
    assert_eq!(most(&format!("{one} if (n) {{ {one} {one} }} else {one}")), Some(4));
    assert_eq!(most(&format!("for (; i < 20; i++) {one}")), Some(21));
    assert_eq!(most(&format!("for (; i < 3; i++) for (j = 0; j <= i; j++) {one}")), Some(7));
    assert_eq!(most("for (; i < 5; i++) pthread_create(&t, 0, f, 0);"), Some(11));
    assert_eq!(most(&format!("while (i < 5) {{ i++; if (n) continue; {one} }}")), Some(6));
    assert_eq!(most(&format!("for (; i < n; i++) {one}")), None);
    assert_eq!(most(&format!("while (n) {one}")), None);
    assert_eq!(most(&format!("while (n) {{ }} {one}")), Some(2));
    assert_eq!(most(&format!("for (; i >= 0; i++) {one}")), None);
}

/// Functions that the library has in C call others, which a program may declare with other types.
#[test]
fn functions_of_the_library_may_be_declared_with_other_types() {
    let text = "typedef unsigned int size_t; extern void *malloc(size_t size); extern size_t strlen(char const *s); \
        extern char *strdup(char const *s); void reach_error(void); \
        int main(void) { char *p = strdup(\"ab\"), *q = malloc(4U); *q = 1; \
        if (p && (strlen(p) != 2U || p[1] != 'b')) reach_error(); return 0; }";
    let loaded = read(Source::new("a.i", text), text.to_string(), &Options::default());
    let loaded = loaded.unwrap_or_else(|why| panic!("{:?}", why.diagnostics));
    let found = search(&loaded.query.problem(), 1, 10_000, Duration::from_secs(60));
    assert!(!matches!(found, Found::Unsafe(..)), "{found:?}");
}
