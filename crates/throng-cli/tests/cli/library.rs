//! C: what is known about functions of the library, about functions and variables that are not
//! defined, and about memory orders.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use throng_dev::harness::{Scratch, has_compiler, throng};

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
                    #include <string.h>\n#include <time.h>\n#include <unistd.h>\n";

fn check(scratch: &Scratch, name: &str, text: &str, options: &[&str]) -> Output {
    let file = scratch.file_argument(name, format!("{HEAD}{text}\n"));
    let root = PathBuf::from(throng_dev::ROOT);
    throng().current_dir(root).args(["check", &file, "--timeout", "60"]).args(options).output().unwrap()
}

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// The first word and the status; what stands in the answer.
#[track_caller]
fn answers(ran: &Output, word: &str, status: i32, parts: &[&str]) {
    let text = out(ran);
    let shown = format!("{text}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(text.split_whitespace().next(), Some(word), "{shown}");
    assert_eq!(ran.status.code(), Some(status), "{shown}");
    let tight = text.split_whitespace().collect::<Vec<_>>().join(" ");
    parts.iter().for_each(|part| assert!(tight.contains(part), "no `{part}` in\n{shown}"));
}

#[test]
fn library_calls_race_for_what_they_access() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-library-races");
    let calls = [
        ("memset", "memset(text, 0, 4)"),
        ("memcpy", "memcpy(copy, text, 4)"),
        ("strlen", "strlen(text)"),
        ("strcmp", "strcmp(text, copy)"),
        ("printf", "printf(\"%d %s\\n\", 1, text)"),
        ("puts", "puts(text)"),
        ("fputs", "fputs(text, stderr)"),
        ("fwrite", "fwrite(text, 2, 2, stdout)"),
        ("sscanf", "int n; sscanf(text, \"%d\", &n)"),
        ("scanf", "scanf(\"%d\", &number)"),
    ];
    for (name, call) in calls {
        let text = format!(
            "char text[8] = \"12\", copy[8]; int number;\n\
             void *f(void *p) {{ text[0] = '3'; number = 1; return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); {call}; pthread_join(t, 0); return 0; }}"
        );
        let file = format!("{name}.c");
        answers(&check(&scratch, &file, &text, &["--race"]), "UNSAFE", 10, &["race"]);
        let after =
            text.replace(&format!("{call}; pthread_join(t, 0);"), &format!("pthread_join(t, 0); {call};"));
        assert_ne!(check(&scratch, &file, &after, &["--race"]).status.code(), Some(10), "{name}");
    }
    // No more of a text is read than the format says.
    let short = "char text[4] = \"abc\";\nvoid *f(void *p) { text[2] = 'x'; return 0; }\n\
                 int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); printf(\"%.2s\", text); return 0; }";
    answers(&check(&scratch, "short.c", short, &["--race"]), "SAFE", 0, &[]);
    let freed = "int *p;\nvoid *f(void *q) { *p = 1; return 0; }\n\
                 int main(void) { pthread_t t; p = malloc(sizeof *p); pthread_create(&t, 0, f, 0); free(p); return 0; }";
    answers(
        &check(&scratch, "freed.c", freed, &["--race"]),
        "UNSAFE",
        10,
        &["race", "memory can be allocated"],
    );
}

#[test]
fn library_calls_are_replayed() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-library-replay");
    let programs = [
        (
            "torn",
            "_Atomic unsigned char c[3];\nvoid *f(void *p) { memset((void *)c, 7, sizeof c); return 0; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int a = c[0], b = c[2]; assert(a <= b); return 0; }",
            &[][..],
        ),
        (
            "printed",
            "char text[8] = \"12\";\nvoid *f(void *p) { text[1] = '3'; return 0; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); printf(\"%s\", text); return 0; }",
            &["--race"],
        ),
        (
            "handles",
            "pthread_t me;\nvoid *f(void *p) { me = pthread_self(); return 0; }\n\
             int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(me != t); return 0; }",
            &[],
        ),
    ];
    for (name, text, options) in programs {
        let replay = scratch.0.join(format!("{name}-replay.c"));
        let extra = ["--replay", replay.to_str().unwrap(), "--replay-run"];
        let ran = check(&scratch, &format!("{name}.c"), text, &[options, &extra].concat());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("SIGABRT"), "{name}: {}{said}", out(&ran));
    }
}

/// A function that is not defined may do anything, whichever method proves.
#[test]
fn nothing_is_proved_through_what_is_not_defined() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-undefined-proofs");
    let programs = [
        // Real values.
        (
            "values.c",
            "extern void visit(void (*)(int)); int n;\nstatic void hit(int i) { n = i; }\nint main(void) { visit(hit); assert(n == 0); return 0; }",
            &[][..],
            "visit",
        ),
        (
            "exit.c",
            "int n;\nstatic void bye(int status, void *p) { assert(n == 1); }\nint main(void) { on_exit(bye, 0); return 0; }",
            &[],
            "on_exit",
        ),
        (
            "caught.c",
            "#include <signal.h>\nint n;\nstatic void by(int s) { n = s; }\nint main(void) { signal(SIGINT, by); assert(n == 0); return 0; }",
            &[],
            "signal",
        ),
        (
            "sizes.c",
            "#include <sys/ioctl.h>\nint main(void) { int n = 0; ioctl(0, FIONREAD, &n); assert(n == 0); return 0; }",
            &[],
            "ioctl",
        ),
        // Abstraction.
        (
            "counter.c",
            "extern void log_it(int); int v; pthread_mutex_t m;\n\
             void *f(void *p) { pthread_mutex_lock(&m); int b = v; v = b + 1; assert(v == b + 1); pthread_mutex_unlock(&m); log_it(1); return 0; }\n\
             int main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }",
            &[],
            "log_it",
        ),
        // Locksets.
        (
            "locks.c",
            "extern void log_it(int); int v; pthread_mutex_t m;\n\
             void *f(void *p) { pthread_mutex_lock(&m); v++; pthread_mutex_unlock(&m); log_it(1); return 0; }\n\
             int main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }",
            &["--race"],
            "log_it",
        ),
        // The order of locks.
        (
            "order.c",
            "extern void log_it(int); pthread_mutex_t m, n;\n\
             void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); log_it(1); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }\n\
             int main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }",
            &["--deadlock"],
            "log_it",
        ),
    ];
    for (name, text, options, function) in programs {
        let certificate = scratch.0.join(format!("{name}.cert"));
        let extra = ["--certificate", certificate.to_str().unwrap(), "--timeout", "20"];
        let ran = check(&scratch, name, text, &[options, &extra[..2]].concat());
        answers(&ran, "UNKNOWN", 1, &[function, "not defined"]);
        assert!(!out(&ran).contains("no violation with"), "{}", out(&ran));
        assert!(!certificate.exists(), "{name}");
    }
}

/// The place at which the answer was lost is named, and each reason is said once.
#[test]
fn an_answer_that_is_missing_says_where_to_look() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-look");
    let text = "int __VERIFIER_nondet_int(void); int x[4];\n\
                int main(void) {\n  int n = __VERIFIER_nondet_int();\n  assert(n * n + x[n & 3] != 17);\n}";
    let ran = check(&scratch, "square.c", text, &[]);
    let why = "`n` has more values than those that were tried";
    answers(&ran, "UNKNOWN", 1, &[why]);
    let said = out(&ran);
    let (head, rest) = said.split_once("\n\n").expect("two parts");
    assert!(head.contains(why) && !rest.contains("why:") && !rest.contains("the same"), "{said}");
    let look = ["look at:", "in `main`", "assert(n * n + x[n & 3] != 17);", "a small range", "tried:"];
    look.iter().for_each(|part| assert!(rest.contains(part), "{part}: {said}"));
    assert!(!rest.contains("lists no predecessors") && !rest.contains("--threads 2"), "{said}");
    let ran = check(&scratch, "square.c", text, &["--json"]);
    let document: Value = serde_json::from_str(&out(&ran)).unwrap();
    let look = &document["look"][0];
    assert_eq!((&look["function"], &look["why"]), (&Value::from("main"), &Value::from(why)));
}

/// The part of a run before the call is one of the program.
#[test]
fn a_run_that_calls_nothing_undefined_counts() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-undefined-runs");
    let before = "extern void later(void); int x;\nint main(void) { assert(x == 1); later(); return 0; }";
    answers(&check(&scratch, "before.c", before, &[]), "UNSAFE", 10, &[]);
    let after = "extern void first(void); int x;\nint main(void) { first(); assert(x == 1); return 0; }";
    let doubted = check(&scratch, "after.c", after, &[]);
    answers(&doubted, "UNKNOWN", 1, &["a run was found", "`first` is called"]);
    let shown =
        ["POSSIBLE run into assertions", "uncertain: `first` is called", "the assertion `x == 1` fails"];
    let unwrapped = out(&doubted).split_whitespace().collect::<Vec<_>>().join(" ");
    shown.iter().for_each(|part| assert!(unwrapped.contains(part), "{part}: {}", out(&doubted)));
    let document: Value =
        serde_json::from_str(&out(&check(&scratch, "after.c", after, &["--json"]))).unwrap();
    let possible = &document["possible"][0];
    assert_eq!(possible["uncertain"][0], "`first` is called, which is not defined");
    assert_eq!(possible["trace"]["violation"]["target"], "assertions");
    let race = "extern void first(void); int x;\nvoid *f(void *p) { first(); x = 1; return 0; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; return 0; }";
    answers(&check(&scratch, "race.c", race, &["--race"]), "UNKNOWN", 1, &["`first` is called"]);
    let stuck = "extern void first(void); pthread_mutex_t m;\n\
                 int main(void) { pthread_mutex_lock(&m); first(); pthread_mutex_lock(&m); return 0; }";
    answers(&check(&scratch, "stuck.c", stuck, &["--deadlock"]), "UNKNOWN", 1, &["`first` is called"]);
}

#[test]
fn values_that_are_not_known_make_no_run() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-doubts");
    let printed = "int main(void) { int n = printf(\"tree\\n\"); assert(n == 5); return 0; }";
    answers(
        &check(&scratch, "printed.c", printed, &[]),
        "UNKNOWN",
        1,
        &["depends on the result of `printf`"],
    );
    // What is written through a pointer is any value; a proof covers it.
    let timed = "int main(void) { time_t t = 0; time(&t); assert(t == 0); return 0; }";
    answers(
        &check(&scratch, "timed.c", timed, &[]),
        "UNKNOWN",
        1,
        &["what a function of the library wrote, is read"],
    );
    let stamped = "int v; pthread_mutex_t m;\nvoid *f(void *p) { struct timespec s; clock_gettime(CLOCK_REALTIME, &s); nanosleep(&s, 0);\n\
                   pthread_mutex_lock(&m); v++; pthread_mutex_unlock(&m); return 0; }\n\
                   int main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }";
    answers(&check(&scratch, "stamped.c", stamped, &["--race"]), "SAFE", 0, &["for any number of threads"]);
    let waits = "int x;\nint main(void) { pause(); assert(x == 1); return 0; }";
    answers(
        &check(&scratch, "waits.c", waits, &[]),
        "UNKNOWN",
        1,
        &["`pause` is called, which need not return"],
    );
    let unused = "int x;\nint main(void) { printf(\"tree\\n\"); assert(x == 1); return 0; }";
    answers(&check(&scratch, "unused.c", unused, &[]), "UNSAFE", 10, &[]);
    let elsewhere = "extern int level; extern int other;\nint main(void) { assert(level < 3); return 0; }";
    let said = &["depends on the value of `level`, which is not defined"];
    answers(&check(&scratch, "elsewhere.c", elsewhere, &[]), "UNKNOWN", 1, said);
    let remainder = "int main(void) { int r = rand() % 3; assert(r >= 0); return 0; }";
    assert_ne!(check(&scratch, "remainder.c", remainder, &[]).status.code(), Some(10));
    let length = "int main(void) { assert(strlen(\"tree\") == 4 && strcmp(\"a\", \"a\") == 0); return 0; }";
    answers(&check(&scratch, "length.c", length, &[]), "SAFE", 0, &["return -1, 0 or 1"]);
}

#[test]
fn a_thread_may_leave_a_barrier_late() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-barrier");
    let text = "pthread_barrier_t b;\nvoid *f(void *p) { pthread_barrier_wait(&b); return 0; }\n\
                int main(void) { pthread_t t[4]; pthread_barrier_init(&b, 0, 2); for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);\n\
                for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }";
    answers(&check(&scratch, "even.c", text, &["--deadlock"]), "SAFE", 0, &["threads can be created"]);
    answers(&check(&scratch, "odd.c", &text.replace("< 4", "< 3"), &["--deadlock"]), "UNSAFE", 10, &[]);
}

const PUBLISH: &str = "int data; atomic_int flag;\n\
    void *f(void *p) { data = 5; atomic_store_explicit(&flag, 1, ORDER); return 0; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); if (atomic_load_explicit(&flag, ORDER)) assert(data == 5); return 0; }";

#[test]
fn memory_orders_mean_what_c_says() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-orders");
    let publish = |store: &str, load: &str| PUBLISH.replacen("ORDER", store, 1).replace("ORDER", load);
    let relaxed = publish("memory_order_relaxed", "memory_order_relaxed");
    let first_line = |ran: &Output| out(ran).lines().next().unwrap_or_default().to_string();
    let (words, weak) = ("under sequential consistency", "under the memory model of C11");
    // Both sides have to do their part.
    for (store, load, status) in [
        ("memory_order_release", "memory_order_acquire", 0),
        ("memory_order_seq_cst", "memory_order_acquire", 0),
        ("memory_order_relaxed", "memory_order_acquire", 10),
        ("memory_order_release", "memory_order_relaxed", 10),
        ("memory_order_relaxed", "memory_order_relaxed", 10),
    ] {
        for options in [&[][..], &["--race"]] {
            let ran = check(&scratch, "publish.c", &publish(store, load), options);
            assert_eq!(ran.status.code(), Some(status), "{store} {load}: {}", out(&ran));
            let said = if status == 0 { weak } else { "neither happens before the other" };
            assert!(out(&ran).replace("\n          ", " ").contains(said), "{}", out(&ran));
        }
    }
    // Asked for, it is the model; where all orders are strong, it goes without saying.
    let sc = check(&scratch, "sc.c", &relaxed, &["--memory-model", "sc"]);
    answers(&sc, "SAFE", 0, &[words]);
    assert!(first_line(&sc).contains(words), "{}", out(&sc));
    answers(&check(&scratch, "sc.c", &relaxed, &["--memory-model", "sc", "--race"]), "SAFE", 0, &[words]);
    let strong = publish("memory_order_seq_cst", "memory_order_seq_cst");
    let plain = check(&scratch, "strong.c", &strong, &[]);
    answers(&plain, "SAFE", 0, &[]);
    assert!(!first_line(&plain).contains(words) && !out(&plain).contains(weak), "{}", out(&plain));
    answers(&check(&scratch, "strong.c", &strong, &["--memory-model", "c11"]), "SAFE", 0, &[weak]);
    let json = |text: &str| {
        let ran = check(&scratch, "json.c", text, &["--json"]);
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()["memory_model"].clone()
    };
    assert_eq!((json(&relaxed), json(&strong)), (Value::from("c11"), Value::Null));
    // A race is one under every model.
    let racy = relaxed.replace("if (atomic_load_explicit(&flag, memory_order_relaxed))", "");
    answers(&check(&scratch, "racy.c", &racy, &["--race"]), "UNSAFE", 10, &[]);
}

#[test]
fn fences_and_locks_of_the_compiler_have_orders() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-fences");
    let words = "under the memory model of C11";
    let limited = |body: &str| {
        let text =
            format!("atomic_int x; int l;\nint main(void) {{ {body}; x = 1; assert(x == 1); return 0; }}");
        let ran = check(&scratch, "fence.c", &text, &[]);
        answers(&ran, "SAFE", 0, &[]);
        out(&ran).contains(words)
    };
    assert!(!limited("__sync_synchronize()"));
    assert!(!limited("atomic_thread_fence(memory_order_seq_cst)"));
    assert!(!limited("atomic_signal_fence(memory_order_acquire)"));
    assert!(limited("atomic_thread_fence(memory_order_acquire)"));
    assert!(limited("__sync_lock_release(&l)"));
    let order = "pthread_mutex_t m; atomic_int x;\nvoid *f(void *p) { pthread_mutex_lock(&m); atomic_store_explicit(&x, 1, memory_order_relaxed); pthread_mutex_unlock(&m); return 0; }\n\
                 int main(void) { pthread_t t; while (1) pthread_create(&t, 0, f, 0); }";
    let certificate = scratch.0.join("order.cert");
    let path = certificate.to_str().unwrap();
    let words = "under sequential consistency";
    answers(&check(&scratch, "order.c", order, &["--deadlock", "--certificate", path]), "SAFE", 0, &[words]);
    let file = scratch.0.join("order.c");
    let checked = throng().arg("certify").arg(&file).args([path, "--deadlock"]).output().unwrap();
    answers(&checked, "VALID", 0, &[words]);
    // The same certificate is none about a program that calls what is not defined.
    let text = fs::read_to_string(&file).unwrap().replace("void *f(", "extern void g(void); void *f(");
    fs::write(&file, text.replace("{ pthread_mutex_lock(&m);", "{ g(); pthread_mutex_lock(&m);")).unwrap();
    let checked = throng().arg("certify").arg(&file).args([path, "--deadlock"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(10), "{}", out(&checked));
}

/// Rows of users make functions known, in all commands; mistakes have a place.
#[test]
fn users_describe_functions() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-own-rows");
    let text = "int log_event(const char *, int); void my_lock(pthread_mutex_t *); char text[4]; pthread_mutex_t m; int v;\n\
                void *f(void *p) { my_lock(&m); v++; pthread_mutex_unlock(&m); return 0; }\n\
                int main(void) { pthread_t t; while (1) { pthread_create(&t, 0, f, 0); log_event(text, 1); } }";
    let unknown = check(&scratch, "own.c", text, &["--race"]);
    let row = "[log_event] # int log_event(char *, int)";
    answers(&unknown, "UNKNOWN", 1, &["not defined", "--library", row, "arguments = [\"text\", \"value\"]"]);
    let rows = "[log_event]\narguments = [\"text\", \"value\"]\n\n[my_lock]\nlike = \"pthread_mutex_lock\"\n";
    let file = scratch.file_argument("own.toml", rows);
    let certificate = scratch.0.join("own.cert");
    let path = certificate.to_str().unwrap();
    let known = check(&scratch, "own.c", text, &["--race", "--library", &file, "--certificate", path]);
    answers(&known, "SAFE", 0, &["for any number of threads"]);
    let certify = |options: &[&str]| {
        let program = scratch.0.join("own.c");
        throng().arg("certify").arg(&program).args([path, "--race"]).args(options).output().unwrap()
    };
    answers(&certify(&["--library", &file]), "VALID", 0, &[]);
    assert_ne!(certify(&[]).status.code(), Some(0));
    // What a row says is read can race.
    let racy = text.replace("v++;", "v++; text[0] = 'x';");
    answers(&check(&scratch, "racy.c", &racy, &["--race", "--library", &file]), "UNSAFE", 10, &["race"]);
    for (rows, place) in [
        ("[log_event]\narguments = [\"eats\"]\n", ":2:"),
        ("[log_event]\n\n[strlen]\nreturns = \"0..\"\n", ":3:2"),
        ("[f]\nreturns = \"0\"\n", ":1:2"),
    ] {
        let file = scratch.file_argument("wrong.toml", rows);
        let ran = check(&scratch, "own.c", text, &["--library", &file]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && said.contains("E812") && said.contains(place), "{said}");
    }
}

/// What rows say is accessed can race, and what they do not say is not.
#[test]
fn rows_access_what_they_say() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-rows");
    let head = "#include <fcntl.h>\n#include <sys/stat.h>\n#include <unistd.h>\n";
    for (name, call, races) in [
        ("open", "open(text, 0)", true),
        ("write", "write(1, text, 2)", true),
        ("write-none", "write(1, text, 0)", false),
        ("read", "read(0, text, 2)", true),
        ("fgets", "fgets(text, 4, stdin)", true),
        ("strdup", "strdup(text)", true),
        ("strncpy", "strncpy(copy, text, 3)", true),
        ("strncpy-none", "strncpy(copy, text, 0)", false),
        ("stat", "struct stat s; stat(text, &s)", true),
        ("close", "close(number)", true),
        ("isatty", "isatty(1)", false),
        ("setenv", "setenv(\"A\", text, 1)", true),
    ] {
        let text = format!(
            "{head}char text[8] = \"12\", copy[8]; int number;\n\
             void *f(void *p) {{ text[0] = '3'; number = 1; return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, f, 0); {call}; pthread_join(t, 0); return 0; }}"
        );
        let ran = check(&scratch, &format!("{name}.c"), &text, &["--race"]);
        let (word, status) = if races { ("UNSAFE", 10) } else { ("SAFE", 0) };
        answers(&ran, word, status, &[]);
    }
}

#[test]
fn threads_of_c11_are_threads() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-threads-h");
    let text = "#include <threads.h>\nmtx_t m; cnd_t c; once_flag once = ONCE_FLAG_INIT; int v, ready, begun;\n\
                static void begin(void) { begun++; }\n\
                static int f(void *p) { call_once(&once, begin); mtx_lock(&m); v++; ready = 1; cnd_signal(&c); mtx_unlock(&m); return 7; }\n\
                int main(void) { thrd_t a, b; int r; mtx_init(&m, mtx_plain); cnd_init(&c); thrd_create(&a, f, 0); thrd_create(&b, f, 0);\n\
                mtx_lock(&m); while (!ready) cnd_wait(&c, &m); mtx_unlock(&m); thrd_join(a, &r); thrd_join(b, 0);\n\
                assert(v == 2 && r == 7 && begun == 1); return 0; }";
    answers(&check(&scratch, "plain.c", text, &[]), "SAFE", 0, &[]);
    answers(&check(&scratch, "raced.c", text, &["--race"]), "SAFE", 0, &[]);
    let wrong = text.replace("mtx_lock(&m); v++;", "v++; mtx_lock(&m);");
    answers(&check(&scratch, "wrong.c", &wrong, &["--race"]), "UNSAFE", 10, &["race"]);
    let twice = "#include <threads.h>\nmtx_t m;\nint main(void) { mtx_init(&m, KIND); mtx_lock(&m); mtx_lock(&m); return 0; }";
    let recursive = twice.replace("KIND", "mtx_plain | mtx_recursive");
    answers(
        &check(&scratch, "twice.c", &twice.replace("KIND", "mtx_plain"), &["--deadlock"]),
        "UNSAFE",
        10,
        &[],
    );
    answers(&check(&scratch, "again.c", &recursive, &["--deadlock"]), "SAFE", 0, &[]);
    // A wait that takes too long ends.
    let late = twice.replace("KIND", "mtx_timed").replace(
        "mtx_lock(&m); return 0;",
        "struct timespec t = {0, 0}; assert(mtx_timedlock(&m, &t) == thrd_timedout); return 0;",
    );
    answers(&check(&scratch, "late.c", &late, &[]), "SAFE", 0, &[]);
    let replay = scratch.0.join("replay.c");
    let failing = text.replace("r == 7", "r == 8");
    let ran = check(&scratch, "failing.c", &failing, &["--replay", replay.to_str().unwrap(), "--replay-run"]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("SIGABRT"), "{}{said}", out(&ran));
}
