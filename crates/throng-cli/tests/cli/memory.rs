//! Memory errors of C programs: found whatever is asked, named as such; and correct uses of
//! pointers are not called errors.

use std::fs;

use throng_dev::harness::{Scratch, throng};

const HEAD: &str = "typedef unsigned long pthread_t; typedef unsigned long size_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
void *malloc(size_t); void free(void *); void reach_error(void);
int __VERIFIER_nondet_int(void); _Bool __VERIFIER_nondet_bool(void); void __VERIFIER_assume(int);
";

/// Programs that make a memory error in some run.
const ERRORS: [(&str, &str); 20] = [
    ("null", "int *p; int main(void) { return *p; }"),
    ("field of null", "struct s { int a, b; } *p; int main(void) { return p->b; }"),
    ("behind an array", "int a[3], b; int main(void) { for (int i = 0; i <= 3; i++) a[i] = 1; return b; }"),
    ("before an array", "int b, a[3]; int main(void) { int *p = a - 1; *p = 1; return b; }"),
    (
        "a local array and its neighbour",
        "void f(int n) { int a[2], b[2]; b[0] = 0; a[n] = 1; if (b[0]) reach_error(); } int main(void) { f(2); return 0; }",
    ),
    (
        "far away",
        "int a[4], b, c; int main(void) { long i = 1l << 30; a[i] = 5; if (c) reach_error(); return 0; }",
    ),
    (
        "a local variable of a function that returned",
        "int *f(void) { int x = 3; return &x; } int main(void) { int *p = f(); if (*p != 3) reach_error(); return 0; }",
    ),
    (
        "a local variable of a block",
        "int main(void) { int *p; { int x = 3; p = &x; } { int y = 4; (void) &y; } if (*p != 3) reach_error(); return 0; }",
    ),
    (
        "a local variable of the round before",
        "int main(void) { int *p = 0, s = 0; for (int i = 0; i < 2; i++) { int x = i; if (p) s += *p; p = &x; } return s; }",
    ),
    (
        "a block that is left by break",
        "int main(void) { int *p; while (1) { int x = 3; p = &x; break; } return *p; }",
    ),
    (
        "a block that is left by goto",
        "int main(void) { int *p; { int x = 3; p = &x; goto out; } out: return *p; }",
    ),
    (
        "a local variable that another thread uses",
        "pthread_t t; void *w(void *p) { return (void *) (long) *(int *) p; }
         void start(void) { int x = 5; pthread_create(&t, 0, w, &x); }
         int main(void) { start(); pthread_join(t, 0); return 0; }",
    ),
    (
        "used after free, though the memory is used again",
        "int main(void) { int *p = malloc(4); free(p); int *q = malloc(4); *q = 1; *p = 2; return *q; }",
    ),
    (
        "freed by another thread",
        "pthread_t t; int *p; void *w(void *a) { int *q = p; free(q); int *r = malloc(4); *r = 1; return 0; }
         int main(void) { p = malloc(4); *p = 0; pthread_create(&t, 0, w, 0); *p = 1; return 0; }",
    ),
    (
        "a block without braces",
        "int main(void) { int *p = 0; if (__VERIFIER_nondet_bool()) p = &(int) { 4 }; else p = &(int) { 5 }; return *p; }",
    ),
    ("a block that is an expression", "int main(void) { int *p = ({ int x = 3; &x; }); return *p; }"),
    (
        "a pointer that is not aligned",
        "struct __attribute__((packed)) s { int a; int *p; } x; int main(void) { x.p = malloc(4); free(x.p); int *q = malloc(4); *q = 1; return *x.p; }",
    ),
    ("a string literal is written", "int main(void) { char *s = \"abc\"; s[0] = 'x'; return 0; }"),
    (
        "in front of a declaration, and used later",
        "int main(void) { int *p = 0; for (int i = 0; i < 2; i++) switch (i) { int v; case 0: p = &v; break; default: *p = 1; } return 0; }",
    ),
    ("freed twice", "int main(void) { int *p = malloc(4); int *q = p; free(p); free(q); return 0; }"),
];

/// Programs that make none, and whose assertion holds.
const CORRECT: [(&str, &str); 15] = [
    ("a pointer down the stack", "void f(int *p) { *p = 1; } int main(void) { int x; f(&x); if (x != 1) reach_error(); return 0; }"),
    (
        "backwards through an array",
        "int a[3]; int main(void) { int n = 0; for (int *p = a + 2; p >= a; p--) n += 1 + *p; if (n != 3) reach_error(); return 0; }",
    ),
    (
        "a structure is returned",
        "struct s { int a, b; }; struct s f(int n) { struct s x = { n, 2 }; return x; }
         int main(void) { struct s y = f(1), z = f(3); if (y.a + y.b + z.a != 6) reach_error(); return 0; }",
    ),
    (
        "a structure is the value of a block",
        "struct s { int a, b; }; int main(void) { struct s y = ({ struct s x; x.a = 1; x.b = 2; x; }); if (y.b != 2) reach_error(); return 0; }",
    ),
    (
        "variables of a loop",
        "int main(void) { int n = 0; for (int i = 0; i < 4; i++) { int x = i; int *p = &x; if (i == 2) continue; n += *p; } if (n != 4) reach_error(); return 0; }",
    ),
    (
        "allocated in a loop",
        "int main(void) { for (int i = 0; i < 5; i++) { int *p = malloc(4); *p = i; if (*p != i) reach_error(); free(p); } return 0; }",
    ),
    (
        "in front of the first label of a switch",
        "int main(void) { int n = __VERIFIER_nondet_bool(); switch (n) { int x; case 0: x = 4; n = x; int *p = &x; n = *p; } if (n != 4 && n != 1) reach_error(); return 0; }",
    ),
    (
        "a pointer to a variable of main",
        "pthread_t t; void *w(void *p) { *(int *) p = 1; return 0; }
         int main(void) { int x = 0; pthread_create(&t, 0, w, &x); pthread_join(t, 0); if (x != 1) reach_error(); return 0; }",
    ),
    (
        "one thread after the other, each with a variable of its round",
        "pthread_t t; void *w(void *p) { *(int *) p += 1; return 0; }
         int main(void) { for (int i = 0; i < 2; i++) { int x = i; pthread_create(&t, 0, w, &x); pthread_join(t, 0); if (x != i + 1) reach_error(); } return 0; }",
    ),
    (
        "handed over and freed",
        "pthread_t t; void *w(void *p) { int n = *(int *) p; free(p); if (n != 7) reach_error(); return 0; }
         int main(void) { int *p = malloc(4); *p = 7; pthread_create(&t, 0, w, p); pthread_join(t, 0); return 0; }",
    ),
    (
        "a switch that enters its block again",
        "void set(int *p, int v) { *p = v; } int main(void) { for (int i = 0; i < 2; i++) switch (i) { int v; default: set(&v, i); if (v != i) reach_error(); } return 0; }",
    ),
    (
        "text and large numbers are not addresses",
        "char t[8]; struct { int id, when; } e; long n; void *w(void *p) { return (void *) 0x5555555555555555; } pthread_t h;
         int main(void) { for (int i = 0; i < 7; i++) t[i] = 'K' + i; e.when = 1700000000; n = 0x7000000000000001; void *r;
         pthread_create(&h, 0, w, 0); pthread_join(h, &r); if (r != (void *) 0x5555555555555555 || t[6] != 'Q' || n % 2 != 1) reach_error(); return 0; }",
    ),
    (
        "a structure that points into itself, while others run",
        "struct s { int a; int *p; }; void *w(void *x) { return 0; } pthread_t t;
         int main(void) { pthread_create(&t, 0, w, 0); for (int i = 0; i < 2; i++) { struct s s; s.p = &s.a; *s.p = i; if (s.a != i) reach_error(); } return 0; }",
    ),
    (
        "a union is copied as it is",
        "union u { int i; _Bool b; }; int main(void) { union u a, c; a.i = 2; c = a; if (c.i != 2) reach_error(); return 0; }",
    ),
    ("the end of an array", "int a[3]; int main(void) { int *e = &a[3], n = 0; for (int *p = a; p != e; p++) n++; if (n != 3) reach_error(); return 0; }"),
];

fn said(name: &str, text: &str, options: &[&str]) -> String {
    let scratch = Scratch::new("c-memory");
    let path = scratch.0.join(format!("{}.i", name.replace(' ', "-")));
    fs::write(&path, format!("{HEAD}{text}\n")).unwrap();
    let ran = throng().arg("check").arg(path).args(options).output().unwrap();
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn memory_errors_are_found_whatever_is_asked() {
    for (name, text) in ERRORS {
        for options in [&[][..], &["--memory-safety"], &["--race"], &["--deadlock"], &["--jobs", "1"]] {
            let out = said(name, text, options);
            assert!(out.starts_with("UNSAFE"), "{name} {options:?}: {out}");
            let raced = options == ["--race"] && out.starts_with("UNSAFE  race");
            assert!(raced || out.contains("UNSAFE  memory-safety"), "{name} {options:?}: {out}");
        }
    }
}

#[test]
fn correct_uses_of_pointers_are_not_errors() {
    for (name, text) in CORRECT {
        for options in [&[][..], &["--memory-safety"], &["--memory-safety", "--assertions"]] {
            let out = said(name, text, options);
            assert!(out.starts_with("SAFE"), "{name} {options:?}: {out}");
        }
    }
}

/// What a pointer is as a number, and which of two objects comes first, C leaves open.
#[test]
fn addresses_are_not_numbers() {
    let programs = [
        "int x, y; int main(void) { if ((unsigned long) &x >= (unsigned long) &y) reach_error(); return 0; }",
        "int x, y; int main(void) { int *p = &x, *q = &y; if (p > q) reach_error(); return 0; }",
        "int x; int main(void) { if ((unsigned long) &x < 4096) reach_error(); return 0; }",
        "union { char *p; int h[2]; } u; char c; int main(void) { u.p = &c; if (u.h[0]) reach_error(); return 0; }",
        "int *p; int x; int main(void) { p = &x; if (*(long *) &p % 4096) reach_error(); return 0; }",
        "int main(void) { int *p = malloc(4); free(p); int *q = malloc(4); if (p == q) reach_error(); return 0; }",
    ];
    for text in programs {
        let out = said("numbers", text, &[]);
        assert!(!out.starts_with("SAFE"), "{text}: {out}");
    }
    // A variable that was entered past its declaration has no value.
    let open = "int main(void) { for (int i = 0; i < 2; i++) switch (i) { int y; case 0: y = 1; break; case 1: if (y != 1) reach_error(); } return 0; }";
    assert!(said("open", open, &[]).starts_with("UNSAFE"));
    let small = "void *w(void *p) { if ((long) p != 7) reach_error(); return 0; } pthread_t t;
                 int main(void) { pthread_create(&t, 0, w, (void *) 7l); return 0; }";
    assert!(said("small", small, &[]).starts_with("SAFE"));
}

/// A property file asks for one thing only.
#[test]
fn a_property_file_asks_for_nothing_else() {
    let scratch = Scratch::new("c-memory-property");
    let property = scratch.0.join("p.prp");
    fs::write(&property, "CHECK( init(main()), LTL(G ! call(reach_error())) )\n").unwrap();
    let out = said("null", ERRORS[0].1, &["--property", property.to_str().unwrap()]);
    assert!(out.starts_with("UNKNOWN"), "{out}");
}

/// What a proof takes for granted is looked at before it is said.
#[test]
fn an_assumption_that_is_refuted_is_not_made() {
    let text = "typedef struct { int a[10]; } pthread_mutex_t; pthread_mutex_t m; pthread_t t; int a[4], n;
        int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
        void *w(void *p) { pthread_mutex_lock(&m); a[n++] = 1; pthread_mutex_unlock(&m); return 0; }
        int main(void) { for (int i = 0; i < 5; i++) pthread_create(&t, 0, w, 0); return 0; }";
    for options in [&["--race"][..], &["--deadlock"], &[], &["--jobs", "1"]] {
        let out = said("refuted", text, options);
        assert!(out.starts_with("UNSAFE") && out.contains("memory-safety"), "{options:?}: {out}");
    }
    let inside = text.replace("i < 5", "i < 4");
    let out = said("inside", &inside, &["--race"]);
    assert!(out.starts_with("SAFE") && out.contains("the program makes no memory error"), "{out}");
}
