//! The interpreter against the compiled program: the same schedule, forced by a turnstile, gives
//! the same values after every step; and runs into violations, replayed, end in them. Needs a C
//! compiler, and passes over what there is no compiler for.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use throng_c::replay::{Ends, write};
use throng_c::{Flags, Loaded, Options, SourceFile, load};
use throng_goto::run::Run;
use throng_model::random::Random;

use crate::search::{Found, search};

/// How a program ended: by `abort`, with a status, or not in time.
#[derive(PartialEq, Eq, Debug)]
enum Ended {
    Aborted,
    Status(i32, String),
    Hangs,
    NotCompiled(String),
}

pub fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        println!("ignored: there is no C compiler");
    }
    found.is_ok()
}

pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("throng-compiled-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn compile_and_run(folder: &Path, text: &str) -> Ended {
    let (source, program) = (folder.join("replay.c"), folder.join("replay"));
    std::fs::write(&source, text).unwrap();
    let compiled = Command::new("cc")
        .args(["-pthread", "-w", "-ffp-contract=off", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-lm")
        .output()
        .unwrap();
    if !compiled.status.success() {
        return Ended::NotCompiled(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let mut child = Command::new(&program).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begun.elapsed() > Duration::from_secs(200) => {
                child.kill().unwrap();
                child.wait().unwrap();
                return Ended::Hangs;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let said = child.wait_with_output().unwrap();
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal() {
        Some(6) => Ended::Aborted,
        _ => {
            let said = [said.stdout, said.stderr].concat();
            Ended::Status(status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
        }
    }
}

fn load_text(folder: &Path, text: &str, options: &Options) -> Loaded {
    let path = folder.join("program.c");
    std::fs::write(&path, text).unwrap();
    load(&path, options).unwrap_or_else(|why| panic!("{text}\nrefused: {:?}", why.diagnostics))
}

const VARIABLES: [&str; 9] = ["x", "y", "b", "u", "l", "s.p", "s.q", "a[1]", "(*p)"];
const NUMBERS: [&str; 4] = ["d", "e", "w.d", "w.e[1]"];

fn expression(r: &mut Random, depth: usize) -> String {
    if depth == 0 || r.below(3) == 0 {
        return match r.below(4) {
            0 => r.below(7).to_string(),
            1 => r.pick(&["i", "j"]).into(),
            2 => format!("a[{} & 3]", r.pick(&["i", "j", "x", "u"])),
            _ => r.pick(&VARIABLES).into(),
        };
    }
    let (a, b) = (expression(r, depth - 1), expression(r, depth - 1));
    let op = r.pick(&["+", "-", "*", "&", "|", "^", "<", "<=", "==", "!=", "&&", "||"]);
    match r.below(8) {
        0 => format!("(({a}) ? ({b}) : {})", r.below(5)),
        1 => format!("(short)({a})"),
        2 => format!("(!({a}) + ~({b}))"),
        _ => format!("({a} {op} {b})"),
    }
}

fn statement(r: &mut Random, depth: usize) -> String {
    let v = r.pick(&VARIABLES);
    let n = r.pick(&NUMBERS);
    match r.below(15) {
        0 | 1 => format!("{v} = {};", expression(r, 2)),
        12 => format!(
            "{n} {} {} * 0.3f + {};",
            r.pick(&["=", "+=", "-=", "/="]),
            r.pick(&NUMBERS),
            expression(r, 1)
        ),
        13 => format!("if ({n} < {}) {{ {n}++; }} else {{ x = {n} == d; d = -{n}; }}", expression(r, 1)),
        2 => format!("{v}{};", r.pick(&["++", "--"])),
        3 => format!("{v} {} {};", r.pick(&["+=", "-=", "^=", "|="]), expression(r, 1)),
        4 => format!("i = {};", expression(r, 2)),
        5 => format!("j = {v}++ + --z;"),
        6 => format!("a[{} & 3] = {};", r.pick(&["i", "y"]), expression(r, 1)),
        7 if depth > 0 => {
            format!(
                "if ({}) {{ {} }} else {{ {} }}",
                expression(r, 2),
                statement(r, depth - 1),
                statement(r, depth - 1)
            )
        }
        8 if depth > 0 => {
            format!("for (int k = 0; k < 2; k++) {{ {} }}", statement(r, depth - 1))
        }
        9 => format!("pthread_mutex_lock(&m); {} pthread_mutex_unlock(&m);", statement(r, 0)),
        10 => format!("at{};", r.pick(&["++", " += 3", " = x"])),
        11 => r
            .pick(&[
                "__sync_fetch_and_add(&x, 2);",
                "i = __sync_bool_compare_and_swap(&x, j, i);",
                "atomic_fetch_add(&at, 1);",
                "__VERIFIER_atomic_begin(); x++; y = x; __VERIFIER_atomic_end();",
            ])
            .into(),
        _ => format!("{v} = f({}, {});", expression(r, 1), expression(r, 1)),
    }
}

/// A program with two or three threads that compute with variables of several types.
fn program(seed: u64) -> String {
    let r = &mut Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdatomic.h>\nvoid __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
         int x = 1, y; signed char b = 3; unsigned u = 7; long l; short z; struct { int p; unsigned char q; } s; int a[4] = { 4, 3, 2, 1 };\n\
         double d = 0.1; float e = 2.5f; struct { double d; float e[2]; } w = { 1e300, { 3 } }; int *p = &y; _Atomic int at; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         int f(int c, unsigned d) { if (c > 2) return c - d; x = c; return x + y; }\n",
    );
    let threads = 1 + r.below(2);
    for t in 0..threads {
        let body: Vec<String> = (0..3 + r.below(3)).map(|_| statement(r, 1)).collect();
        _ = writeln!(text, "void *t{t}(void *v) {{ int i = 0, j = {t}; {} return 0; }}", body.join(" "));
    }
    text.push_str("int main(void) { int i = 1, j = 2; pthread_t h[2];");
    for t in 0..threads {
        _ = write!(text, " pthread_create(&h[{t}], 0, t{t}, 0);");
    }
    for _ in 0..3 {
        _ = write!(text, " {}", statement(r, 1));
    }
    for t in 0..threads {
        _ = write!(text, " pthread_join(h[{t}], 0);");
    }
    text.push_str(" x = x + 1; return 0; }\n");
    text
}

#[test]
fn random_programs_do_the_same_when_compiled() {
    if !has_compiler() {
        return;
    }
    let count = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(8u64);
    let schedules = std::env::var("SCHEDULES").ok().and_then(|n| n.parse().ok()).unwrap_or(2u64);
    let folder = folder("random");
    let mut steps = 0;
    for seed in 0..count {
        let text = program(seed);
        let loaded = load_text(&folder, &text, &Options::default());
        for schedule in 0..schedules {
            let mut random = Random::new(seed * 1000 + schedule + 17);
            let run = Run::random(&loaded.query.program, 400, |n| random.below(n));
            steps += run.moves.len();
            let replay = write(&loaded, &run, Ends::AfterTheLastStep).unwrap();
            let ended = compile_and_run(&folder, &replay);
            assert_eq!(
                ended,
                Ended::Status(0, String::new()),
                "program {seed}, schedule {schedule}:\n{text}"
            );
        }
    }
    println!("{count} programs, {} schedules, {steps} steps compared", count * schedules);
    std::fs::remove_dir_all(folder).unwrap();
}

/// What a run into a violation does when it is compiled.
fn replayed(folder: &Path, loaded: &Loaded, threads: u32, time: Duration) -> Option<Ended> {
    let model = loaded.query.model();
    let problem = loaded.query.problem_of(model.clone());
    for threads in 1..=threads {
        if let Found::Unsafe(_, trace) = search(&problem, threads, 2_000_000, time) {
            let run = Run::of(&model, &trace).expect("threads can be told apart");
            return Some(compile_and_run(folder, &write(loaded, &run, Ends::Aborts).unwrap()));
        }
    }
    None
}

#[test]
fn runs_into_violations_end_in_them_when_compiled() {
    if !has_compiler() {
        return;
    }
    let folder = folder("small");
    let two = "int main() { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, f, 0); pthread_join(s, 0); \
               pthread_join(t, 0); assert(x == 2); return 0; }";
    let head = "#include <pthread.h>\n#include <assert.h>\n#include <stdlib.h>\n#include <semaphore.h>\nint __VERIFIER_nondet_int(void); int x;";
    let cases = [
        format!("{head} void *f(void *p) {{ x++; return 0; }} {two}"),
        format!("{head} void *f(void *p) {{ int y = x; x = y + 1; return 0; }} {two}"),
        format!(
            "{head} struct {{ int n; }} *q; void *f(void *p) {{ q->n = q->n + 1; x = q->n; return 0; }} {}",
            two.replace("pthread_t s, t;", "pthread_t s, t; q = malloc(4); q->n = 0;")
        ),
        format!(
            "{head} sem_t e; void *f(void *p) {{ sem_wait(&e); x += 1; sem_post(&e); return 0; }} {}",
            two.replace("pthread_t s, t;", "pthread_t s, t; sem_init(&e, 0, 2);")
        ),
        // A variable of `main`, and a parameter, that other threads see: they get their first
        // values in a step.
        format!(
            "{head} int *q; void *f(void *p) {{ int y = *q; *q = y + 1; x = *q; return 0; }} {}",
            two.replace("pthread_t s, t;", "pthread_t s, t; int e = 0; q = &e;")
        ),
        format!(
            "{head} int *q; void *f(void *p) {{ int y = *q; *q = y + 1; x = *q; return 0; }} {} int main() {{ go(3, 0); return 0; }}",
            two.replace("int main()", "void go(int n, int e)")
                .replace("pthread_t s, t;", "pthread_t s, t; q = &e;")
                .replace("return 0;", "")
        ),
        // An input, an uninitialised variable, and a wait that wakes up for no reason.
        format!(
            "{head} int main() {{ int n = __VERIFIER_nondet_int(), k; if (n > 7) assert(n != 41); if (k == 5) assert(n != 3); return 0; }}"
        ),
        format!(
            "{head} pthread_mutex_t m; pthread_cond_t c; void *f(void *p) {{ pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); x = 7; \
                 pthread_mutex_unlock(&m); return 0; }} {two}"
        ),
        // An input that is stored where other threads see it; threads that a label starts.
        format!(
            "{head} void *f(void *p) {{ assert(x != 41); return 0; }} int main() {{ pthread_t t; pthread_create(&t, 0, f, 0); \
             x = __VERIFIER_nondet_int(); pthread_join(t, 0); return 0; }}"
        ),
        // The number of arguments of `main`.
        format!(
            "{head} int main(int argc, char *argv[]) {{ if (argc != 1) exit(1); assert(x == 1); return 0; }}"
        ),
        // Arrays whose size is only known at run time: of threads, and one that other threads write
        // to.
        format!(
            "{head} int n = 2, *q; void *f(void *p) {{ int y = q[1]; q[1] = y + 1; x = q[1]; return 0; }} int main() {{ \
             pthread_t t[n]; int a[n], i; a[1] = 0; q = a; for (i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0); \
             for (i = 0; i < n; i++) pthread_join(t[i], 0); assert(x == 2); return 0; }}"
        ),
        format!(
            "{head} void f(int n) {{ x = n; }} int main() {{ __CPROVER_ASYNC_1: f(1); while (1) {{ __CPROVER_ASYNC_2: f(2); assert(x != 2); }} }}"
        ),
        // Floating point: shared by threads, and as inputs.
        format!(
            "{head} double d = 0.1; void *f(void *p) {{ d = d + 0.2; return 0; }} {}",
            two.replace("x == 2", "d == 0.1 + 0.2 + 0.2")
        ),
        format!(
            "{head} double __VERIFIER_nondet_double(void); float __VERIFIER_nondet_float(void); int main() {{ \
             double a = __VERIFIER_nondet_double(); float b = __VERIFIER_nondet_float(), c; \
             if (a == 0.5 && b > 2.5f) assert(c != -1.0f); return 0; }}"
        ),
        // What a function means that the program defines, or that only the compiler knows.
        format!(
            "{head} void __assert_fail(const char *a, const char *f, unsigned l, const char *g) {{ x = 1; }} int main() {{ \
             int n = __VERIFIER_nondet_int(); if (n == 1) __builtin_trap(); assert(__builtin_constant_p(3) != 1 || n != 5); return 0; }}"
        ),
    ];
    let library = format!(
        "#include <stdio.h>\n{head} char b[8]; int *q; void *f(void *p) {{ int y = q[1]; q[1] = y + 1; x = q[1]; return 0; }} {}",
        two.replace(
            "pthread_t s, t;",
            "pthread_t s, t; q = malloc(4); q = realloc(q, 8); sprintf(b, \"%d\", 37); q[1] = b[1] - '7';"
        )
    );
    for text in cases.iter().chain([&library]) {
        let loaded = load_text(&folder, text, &Options::default());
        let ended = replayed(&folder, &loaded, 3, Duration::from_secs(60));
        assert_eq!(ended, Some(Ended::Aborted), "{text}");
    }
    // Questions other than assertions.
    let mut options = Options::default();
    options.question.race = true;
    let loaded = load_text(&folder, &cases[0], &options);
    assert_eq!(replayed(&folder, &loaded, 3, Duration::from_secs(60)), Some(Ended::Aborted));
    let mut options = Options::default();
    options.question.entries = vec!["enter".into()];
    options.question.exclusive = vec!["critical".into()];
    let text = "int locked; void critical(void) { } void enter(void) { while (locked) { } locked = 1; critical(); locked = 0; }";
    let loaded = load_text(&folder, text, &options);
    assert_eq!(replayed(&folder, &loaded, 2, Duration::from_secs(60)), Some(Ended::Aborted));
    std::fs::remove_dir_all(folder).unwrap();
}

fn asking_for_races() -> Options {
    let mut options = Options::default();
    options.question.race = true;
    options
}

/// Structures are copied part by part, and a thread may come by the place of an access without
/// being seen before it is.
#[test]
fn copies_and_unseen_accesses_are_replayed() {
    if !has_compiler() {
        return;
    }
    let folder = folder("copies");
    let head = "#include <pthread.h>\n#include <assert.h>\n#include <string.h>\nstruct pair { int p; long q; } a = { 1, 2 }, b; int n; char text[4];";
    let two =
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); g(); pthread_join(t, 0); return 0; }";
    let with = |f: &str, g: &str| {
        format!("{head} void *f(void *v) {{ {f} return 0; }} void g(void) {{ {g} }} {two}")
    };
    let write = "a = (struct pair){ 5, 6 };";
    // Half of the copy is old, half of it new.
    let torn = "assert(!(c.p == 1 && c.q == 6));";
    let cases = [
        with(write, &format!("struct pair c = a; {torn}")),
        with(write, &format!("struct pair c; c = a; {torn}")),
        with(write, &format!("struct pair *q = &a, c; int k = n; c = k ? b : *q; {torn}")),
        with(
            "b = a; n = 1;",
            "a.p = 9; a.q = 9; int k = n; struct pair c = b; assert(!(k && c.p == 1 && c.q == 9));",
        ),
        format!(
            "{head} struct pair get(void) {{ return a; }} void *f(void *v) {{ {write} return 0; }} void g(void) {{ struct pair c = get(); {torn} }} {two}"
        ),
        // The helper writes a variable of the thread first, then one that others see.
        format!(
            "{head} void add(int *x) {{ *x = *x + 1; }} void *f(void *v) {{ int own = 0; add(&own); add(&n); return 0; }} \
             void g(void) {{ int own = 3; add(&own); add(&own); add(&n); assert(n != 1 || own != 5); }} {two}"
        ),
        with(
            "strcpy(text, \"ab\");",
            "char first = text[0], second = text[1]; assert(!(first == 0 && second == 'b'));",
        ),
        with("memset(text, 7, 4);", "assert(text[3] != 7);"),
        // What is written to a bit-field between the two steps of writing its neighbour is lost.
        format!(
            "{head} struct {{ int a : 4, b : 4; char c; }} z; void *f(void *v) {{ z.a = 1; return 0; }} int main(void) {{ \
             pthread_t t; pthread_create(&t, 0, f, 0); z.b = 2; pthread_join(t, 0); assert(z.a == 1 && z.b == 2); return 0; }}"
        ),
        // Its parts get their values one after the other, and then others learn its address.
        format!(
            "{head} int *known; void *f(void *v) {{ int *k = known; if (k) n = k[1]; return 0; }} \
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); int list[2] = {{ 3, 4 }}; known = list; \
             list[1] = 8; assert(n != 8); return 0; }}"
        ),
    ];
    for text in &cases {
        let loaded = load_text(&folder, text, &Options::default());
        let ended = replayed(&folder, &loaded, 3, Duration::from_secs(60));
        assert_eq!(ended, Some(Ended::Aborted), "{text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A race is seen in front of both accesses, wherever they are, and unseen accesses come
/// before.
#[test]
fn races_are_replayed_wherever_the_accesses_are() {
    if !has_compiler() {
        return;
    }
    let folder = folder("races");
    let head = "#include <pthread.h>\n#include <stdatomic.h>\nvoid __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); \
                int __VERIFIER_nondet_int(void); struct pair { int p, q; } s, u; struct bits { int a : 4, b : 5; char c : 6; } w; int x, y; _Atomic int at; pthread_mutex_t m; pthread_cond_t c;";
    let program = |f: &str, g: &str| {
        format!(
            "{head} void *f(void *v) {{ {f} return 0; }} void *g(void *v) {{ {g} return 0; }} int main(void) {{ pthread_t t, k; \
             pthread_create(&t, 0, f, 0); pthread_create(&k, 0, g, 0); pthread_detach(t); pthread_join(k, 0); return 0; }}"
        )
    };
    let section = |body: &str| format!("__VERIFIER_atomic_begin(); {body} __VERIFIER_atomic_end();");
    let wait = "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);";
    let cases = [
        program("pthread_t me = pthread_self(); pthread_detach(me); x = 1;", "x = 2;"),
        program(&section("y = 1; x = 1;"), "int k = x;"),
        program(&section("for (int i = 0; i < 3; i++) { y = i; } x++;"), "x = 1;"),
        program(
            &format!("{wait} x = 1;"),
            "pthread_mutex_lock(&m); x = 2; pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
        ),
        program("s = u;", "u.q = 1;"),
        program("w.a = 1;", "x = w.c;"),
        program("w.b++;", "struct bits k = w; x = k.a;"),
        program("struct pair l = s; x = l.q;", "s = (struct pair){ 1, 2 };"),
        program("int own = 0, *q = &own; for (int i = 0; i < 2; i++) { *q = i; q = &x; }", "x = 1;"),
        program("if (__VERIFIER_nondet_int() == 77) x = 1;", "x = 2;"),
        program("atomic_fetch_add(&at, 1);", "*(int *)&at = 3;"),
        // Who writes the word of a lock lets two threads in.
        program(
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
            "*(int *)&m = 0; pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
        ),
    ];
    for text in &cases {
        let loaded = load_text(&folder, text, &asking_for_races());
        let ended = replayed(&folder, &loaded, 3, Duration::from_secs(60));
        assert_eq!(ended, Some(Ended::Aborted), "{text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Threads that have ended leave room for others.
#[test]
fn runs_with_hundreds_of_threads_are_replayed() {
    if !has_compiler() {
        return;
    }
    let folder = folder("many");
    let text = "#include <pthread.h>\n#include <assert.h>\nunsigned char x; void *f(void *v) { x++; return 0; } int main(void) { \
                for (int i = 0; i < 400; i++) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(x != 0); } return 0; }";
    let loaded = load_text(&folder, text, &Options::default());
    assert_eq!(replayed(&folder, &loaded, 2, Duration::from_secs(60)), Some(Ended::Aborted));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn replays_call_main_with_the_arguments_of_the_run() {
    if !has_compiler() {
        return;
    }
    let folder = folder("arguments");
    let text = "#include <assert.h>\n#include <string.h>\nint main(int argc, char **argv) {\n  if (argc == 2 && \
                strcmp(argv[1], \"ok\") == 0) assert(argv[2]);\n  if (argc == 3) assert(argv[1][0] != '-' || argv[2][1]);\n  \
                return 0; }";
    for text in [text.to_string(), text.replace("argc == 2", "argc == 4")] {
        let loaded = load_text(&folder, &text, &Options::default());
        assert_eq!(replayed(&folder, &loaded, 1, Duration::from_secs(60)), Some(Ended::Aborted), "{text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// What other threads see of a structure that is passed by value, the replay cannot wait for: it
/// says so.
#[test]
fn what_cannot_be_replayed_is_refused() {
    if !has_compiler() {
        return;
    }
    let folder = folder("refused");
    let text = "#include <pthread.h>\n#include <assert.h>\nstruct pair { int p, q; } a;\nint sum(struct pair c) {\n  return c.p + c.q;\n}\n\
                void *f(void *v) { a.p = 1; a.q = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(sum(a) != 1); return 0; }";
    let loaded = load_text(&folder, text, &Options::default());
    let (model, threads) = (loaded.query.model(), 2);
    let problem = loaded.query.problem_of(model.clone());
    let Found::Unsafe(_, trace) = search(&problem, threads, 100_000, Duration::from_secs(60)) else {
        panic!("there is a run")
    };
    let why = write(&loaded, &Run::of(&model, &trace).unwrap(), Ends::Aborts).unwrap_err();
    assert!(why.starts_with("line 4: ") && why.contains("int sum(struct pair c)"), "{why}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A statement of a program whose runs are replayed: structures, atomics, locks, conditions,
/// arrays, pointers to what is private or shared.
fn shared_statement(r: &mut Random) -> String {
    let k = r.below(4);
    match r.below(16) {
        13 => format!("w.{} {}= {k};", r.pick(&["a", "b"]), r.pick(&["", "+", "-", "^"])),
        14 => r
            .pick(&[
                "x = w.a + w.b;",
                "w.b = w.a;",
                "y = w.b--;",
                "i = ++w.a;",
                "{ struct bits k = w; y = k.a; }",
            ])
            .into(),
        0 => format!("s = (struct pair){{ {k}, {} }};", r.below(4)),
        1 => r.pick(&["s = u;", "u = s;", "l = s;", "s = l;", "l = x ? s : u;", "*q = u;", "l = *q;"]).into(),
        2 => "{ struct pair k = s; l.p = k.q; }".into(),
        3 => format!("s.{} = {k};", r.pick(&["p", "q"])),
        4 => format!("a[{} & 3] = a[{k}] + 1;", r.pick(&["x", "i", "l.p"])),
        5 => r
            .pick(&["atomic_fetch_add(&at, 1);", "at = 2;", "i = at;", "i = atomic_exchange(&at, 3);"])
            .into(),
        6 => format!("pthread_mutex_lock(&m); x = x + {k}; i = y; pthread_mutex_unlock(&m);"),
        7 => "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); x++; pthread_mutex_unlock(&m);".into(),
        8 => r.pick(&["pthread_cond_signal(&c);", "pthread_cond_broadcast(&c);"]).into(),
        9 => "__VERIFIER_atomic_begin(); y++; s.p = y; __VERIFIER_atomic_end();".into(),
        10 => r.pick(&["add(&i);", "add(&x);", "add(&l.q);", "add(&s.q);", "add(&a[1]);"]).into(),
        11 => "if (__VERIFIER_nondet_bool()) y = 2; else i++;".into(),
        12 => format!("if (i > {k}) x = i; else y += {k};"),
        _ => {
            format!("{} = {};", r.pick(&["x", "y", "i"]), r.pick(&["x", "y + 1", "i", "l.p", "s.q", "a[2]"]))
        }
    }
}

/// A program with two more threads, one of them detached, that may fail its assertions.
fn failing_program(seed: u64) -> String {
    let r = &mut Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95) + 7);
    let mut text = String::from(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\nvoid __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
         _Bool __VERIFIER_nondet_bool(void); struct bits { unsigned a : 3; int b : 6, c : 12; char d; } w = { 1, 2 }; struct pair { int p; short q; } s = { 1, 2 }, u, *q = &u; int x, y = 1, a[4]; _Atomic int at;\n\
         pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; void add(int *to) { *to = *to + 1; }\n",
    );
    let body = |r: &mut Random, count: usize| -> String {
        let statements: Vec<String> = (0..count).map(|_| shared_statement(r)).collect();
        statements.join(" ").replace("add(&l.q)", "add(&l.p)").replace("add(&s.q)", "add(&s.p)")
    };
    for t in 0..2 {
        let own = body(r, 2);
        _ = writeln!(
            text,
            "void *t{t}(void *v) {{ int i = {t}; struct pair l = {{ 0, {t} }}; {own} return 0; }}"
        );
    }
    let (own, value) = (body(r, 2), r.below(3));
    let checked = r.pick(&["x", "y", "at", "s.p", "s.q", "l.p", "a[1]", "i"]);
    _ = writeln!(
        text,
        "int main(void) {{ pthread_t h, d; int i = 2; struct pair l = {{ 3, 3 }}; pthread_create(&h, 0, t0, 0); pthread_create(&d, 0, t1, 0); \
         pthread_detach(d); {own} pthread_join(h, 0); assert({checked} != {value}); return 0; }}"
    );
    text
}

#[test]
fn runs_of_random_programs_end_in_the_violation_when_compiled() {
    if !has_compiler() {
        return;
    }
    let count = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(12u64);
    let folder = folder("failing");
    let mut tried = 0;
    for seed in 0..count {
        let text = failing_program(seed);
        for options in [Options::default(), asking_for_races()] {
            let loaded = load_text(&folder, &text, &options);
            // A program that is safe, or takes long, says nothing here.
            let (model, threads) = (loaded.query.model(), 3);
            let problem = loaded.query.problem_of(model.clone());
            if let Found::Unsafe(_, trace) = search(&problem, threads, 30_000, Duration::from_secs(600)) {
                let run = Run::of(&model, &trace).expect("threads can be told apart");
                let ended = compile_and_run(&folder, &write(&loaded, &run, Ends::Aborts).unwrap());
                assert_eq!(ended, Ended::Aborted, "program {seed}, race {}:\n{text}", options.question.race);
                tried += 1;
            }
        }
    }
    println!("{tried} runs of {count} programs replayed");
    assert!(tried > 0, "no program fails");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
#[ignore = "takes minutes and needs the corpus: run by name"]
fn unsafe_programs_of_the_corpus_fail_when_replayed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus2");
    let Ok(manifest) = std::fs::read_to_string(root.join("MANIFEST.csv")) else {
        println!("ignored: there is no corpus");
        return;
    };
    let only = std::env::var("ONLY").unwrap_or_default();
    let seconds = std::env::var("SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    let folder = folder("corpus");
    let (mut found, mut failed, mut wrong) = (0, 0, Vec::new());
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() < 6 || fields[1] != "c" || fields[3] != "unsafe" || !fields[0].contains(&only) {
            continue;
        }
        let path = root.join(fields[0]);
        let mut options = Options::default();
        options.question.race = fields[2] == "no-data-race";
        let (flags, files): (Vec<&str>, Vec<&str>) =
            fields[5].split_whitespace().partition(|word| word.starts_with('-'));
        options.flags = Flags::read(flags).expect("the corpus has flags that are known");
        let more = files.iter().map(|file| path.with_file_name(file));
        options.more = more.map(|path| SourceFile { path, flags: options.flags.clone() }).collect();
        let Ok(loaded) = load(&path, &options) else { continue };
        let Some(ended) = replayed(&folder, &loaded, 4, Duration::from_secs(seconds)) else {
            println!("not found: {}", fields[0]);
            continue;
        };
        found += 1;
        match ended {
            Ended::Aborted => failed += 1,
            ended => {
                let text = format!("{ended:?}");
                println!("{}: {}", fields[0], &text[..text.len().min(600)]);
                wrong.push(fields[0].to_string());
            }
        }
    }
    println!("{found} runs found, {failed} replays fail as they should");
    std::fs::remove_dir_all(folder).unwrap();
    assert!(wrong.is_empty(), "replays that do not end in the violation: {wrong:?}");
}
