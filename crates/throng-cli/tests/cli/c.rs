//! C programs: the examples answer as their first lines say, runs are replayed, and every command
//! takes C.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use throng_dev::harness::{Scratch, has_compiler, throng};

fn root() -> PathBuf {
    PathBuf::from(throng_dev::ROOT)
}

fn run(args: &[&str]) -> Output {
    throng().current_dir(root()).args(args).output().unwrap()
}

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

fn err(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// The command of an example's first line, and what it says.
fn examples() -> Vec<(Vec<String>, String)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(root().join("examples/c")).unwrap().map(|e| e.unwrap().path()).collect();
    // A program of several files has a folder of its own.
    files.retain(|path| path.is_file());
    files.sort();
    let first = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let line = text.lines().next().unwrap().strip_prefix("// throng ").unwrap();
        let (command, verdict) = line.split_once(" : ").unwrap();
        (command.split(' ').map(str::to_string).collect(), verdict.to_string())
    };
    files.iter().map(first).collect()
}

/// What a function of the library takes for a lock is one, whatever type the caller's pointer has;
/// and locks that know their owner are not released by others.
#[test]
fn locks_through_pointers_of_any_type() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-any-pointer");
    let recursive = "pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);";
    let checking = recursive.replace("RECURSIVE", "ERRORCHECK");
    let programs = [
        (
            "recursive.c",
            format!(
                "static void take(void *l) {{ pthread_mutex_lock(l); }}
                 int main(void) {{ {recursive} pthread_mutex_init(&q, &a); take(&q); take(&q); assert(0); return 0; }}"
            ),
            &[][..],
        ),
        (
            "checking.c",
            format!("int main(void) {{ {checking} pthread_mutex_init(&q, &a); if (pthread_mutex_unlock(&q)) assert(0); return 0; }}"),
            &[],
        ),
        (
            "sleeping.c",
            "pthread_cond_t c = PTHREAD_COND_INITIALIZER; pthread_t t;
             static void sleep_on(void *c) { pthread_cond_wait(c, &q); }
             void *w(void *p) { pthread_mutex_lock(&q); sleep_on(&c); pthread_mutex_unlock(&q); return 0; }
             int main(void) { pthread_create(&t, 0, w, 0); pthread_create(&t, 0, w, 0); pthread_exit(0); }"
                .to_string(),
            &["--deadlock"],
        ),
    ];
    for (name, text, options) in programs {
        let path = scratch.0.join(name);
        fs::write(
            &path,
            format!(
                "#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\npthread_mutex_t q;\n{text}\n"
            ),
        )
        .unwrap();
        let ran = run(&[&["check", path.to_str().unwrap(), "--timeout", "600"], options].concat());
        assert_eq!(ran.status.code(), Some(10), "{name}: {}{}", out(&ran), err(&ran));
    }
}

/// A hunt with few threads at a time does not let `pthread_create` do nothing once there are so
/// many.
#[test]
fn threads_are_created_however_few_are_looked_at() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-few-threads");
    let path = scratch.0.join("many.c");
    let text = "#include <assert.h>\n#include <pthread.h>\npthread_t th; unsigned char x;
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
void *w(void *p) { if (x >= 1) return 0; __VERIFIER_atomic_begin(); x = x + 1; __VERIFIER_atomic_end(); return 0; }
int main(void) { unsigned char i; for (i = 0;; i++) { if (i < 100) pthread_create(&th, 0, w, 0); assert(x <= i + 1); } }
";
    fs::write(&path, text).unwrap();
    let ran = run(&["check", path.to_str().unwrap(), "--timeout", "600"]);
    // A run takes hundreds of steps; without an answer in time, it is UNKNOWN. What must not be is
    // a run that does not stand.
    assert!(matches!(ran.status.code(), Some(10 | 1)), "{}{}", out(&ran), err(&ran));
    assert!(!err(&ran).contains("internal error"), "{}", err(&ran));
}

#[test]
fn examples_answer_as_their_first_lines_say() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-examples");
    let replay = scratch.0.join("bug.c");
    let mut broken = 0;
    for (command, verdict) in examples() {
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args.extend(["--timeout", "600", "--replay", replay.to_str().unwrap(), "--replay-run"]);
        let ran = run(&args);
        let (said, noted) = (out(&ran), err(&ran));
        assert_eq!(said.split_whitespace().next(), Some(&*verdict), "{command:?}\n{said}{noted}");
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("assumes: ") && words.contains("sequential consistency"), "{said}");
        if verdict == "UNSAFE" {
            assert_eq!(ran.status.code(), Some(10));
            assert!(noted.contains("SIGABRT"), "{command:?}: the replay does not fail\n{noted}");
            broken += 1;
        } else {
            assert_eq!(ran.status.code(), Some(0));
            assert!(noted.contains("no replay was written"), "{noted}");
        }
    }
    let broken_ones = examples().iter().filter(|(command, _)| command[1].contains("-broken")).count();
    assert!(broken >= 18 && broken == broken_ones, "{broken} of {broken_ones} are UNSAFE");
}

#[test]
fn properties_other_than_assertions() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-properties");
    let file = scratch.0.join("a.c");
    let name = file.to_str().unwrap();
    let check = |text: &str, more: &[&str]| {
        fs::write(&file, text).unwrap();
        let ran = run(&[&["check", name, "--timeout", "600"], more].concat());
        (out(&ran).lines().next().unwrap_or_default().to_string(), err(&ran))
    };
    let two = "int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); pthread_join(s, 0); pthread_join(t, 0); return 0; }";
    let locks = |f: &str, g: &str| {
        format!(
            "#include <pthread.h>\npthread_mutex_t a, b; pthread_cond_t c; int x; void *f(void *p) {{ {f} return 0; }} void *g(void *p) {{ {g} return 0; }} {two}"
        )
    };
    let lock = |l: &str| format!("pthread_mutex_lock(&{l});");
    let unlock = |l: &str| format!("pthread_mutex_unlock(&{l});");
    let nest = |l: &str, m: &str| [lock(l), lock(m), unlock(m), unlock(l)].concat();
    let inverted = locks(&nest("a", "b"), &nest("b", "a"));
    assert!(check(&inverted, &["--deadlock"]).0.starts_with("UNSAFE  deadlock"));
    let ordered = locks(&nest("a", "b"), &nest("a", "b"));
    assert!(check(&ordered, &["--deadlock"]).0.starts_with("SAFE  deadlock"));
    // A signal that comes before the wait is lost, and nothing else wakes the thread.
    let lost = locks(
        &[lock("a"), "pthread_cond_wait(&c, &a);".into(), unlock("a")].concat(),
        "pthread_cond_signal(&c);",
    );
    assert!(check(&lost, &["--deadlock"]).0.starts_with("UNSAFE  deadlock"));
    let guarded = locks(
        &[lock("a"), "while (!x) pthread_cond_wait(&c, &a);".into(), unlock("a")].concat(),
        &[lock("a"), "x = 1; pthread_cond_signal(&c);".into(), unlock("a")].concat(),
    );
    assert!(check(&guarded, &["--deadlock"]).0.starts_with("SAFE  deadlock"));
    // Races.
    assert!(check(&locks("x = 1;", "x = 1;"), &["--race"]).0.starts_with("UNSAFE  race"));
    assert!(check(&locks("int y = x;", "int y = x;"), &["--race"]).0.starts_with("SAFE  race"));
    assert!(check(&locks("x = 1;", "__atomic_load_n(&x, 5);"), &["--race"]).0.starts_with("UNSAFE  race"));
    let held = [lock("a"), "x++;".into(), unlock("a")].concat();
    assert!(check(&locks(&held, &held), &["--race"]).0.starts_with("SAFE  race"));
    // Locks.
    let (said, noted) = check(&locks(&unlock("a"), ""), &[]);
    assert!(
        said.starts_with("SAFE") && noted.contains("warning: line 2: a lock is released"),
        "{said}\n{noted}"
    );
    assert!(check(&locks(&unlock("a"), ""), &["--locks"]).0.starts_with("UNSAFE  locks"));
    assert!(
        check(&locks(&lock("a"), "pthread_mutex_destroy(&a);"), &["--locks"]).0.starts_with("UNSAFE  locks")
    );
    assert!(check(&inverted, &["--locks"]).0.starts_with("SAFE  locks"));
    // Overflow.
    let count = |from: &str| format!("int main(void) {{ int n = {from}; n = n + 1; return n; }}");
    assert!(check(&count("2147483647"), &["--overflow"]).0.starts_with("UNSAFE  overflow"));
    assert!(check(&count("2147483646"), &["--overflow"]).0.starts_with("SAFE  overflow"));
    assert!(
        check("int x; int main(void) { return 3 / x; }", &["--overflow"]).0.starts_with("UNSAFE  overflow")
    );
    // Nothing is asked.
    assert!(check("int main(void) { return 0; }", &[]).1.contains("nothing is asserted"));
    // Labels and functions.
    let text = "int l; void in(void) { } void w(void) { while (l) { } l = 1; HERE: in(); l = 0; }";
    for more in [["--mutex", "HERE"], ["--mutex", "in"], ["--error-label", "HERE"]] {
        let (said, noted) = check(text, &[&["--entry", "w"], &more[..]].concat());
        assert!(said.starts_with("UNSAFE"), "{more:?}: {said}{noted}");
    }
    let (said, noted) = check(text, &["--entry", "w", "--mutex", "THERE"]);
    assert!(said.is_empty() && noted.contains("no label and no function `THERE`"), "{noted}");
}

/// Deadlocks, overflows and misused locks: the compiled program sees them, too.
#[test]
fn every_kind_of_failure_is_replayed() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-replays");
    let (file, replay) = (scratch.0.join("a.c"), scratch.0.join("bug.c"));
    let head = "#include <pthread.h>\n#include <semaphore.h>\npthread_mutex_t a, b; pthread_cond_t c; pthread_rwlock_t w; pthread_barrier_t r; sem_t s; int x = 2147483646; struct q { int n; long v; } q;\n";
    let two = "int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0); pthread_join(s, 0); pthread_join(t, 0); return 0; }";
    let functions = |f: &str, g: &str| {
        format!("{head}void *f(void *p) {{ {f} return 0; }} void *g(void *p) {{ {g} return 0; }} {two}")
    };
    let nest = |l: &str, m: &str| {
        format!(
            "pthread_mutex_lock(&{l}); pthread_mutex_lock(&{m}); pthread_mutex_unlock(&{m}); pthread_mutex_unlock(&{l});"
        )
    };
    let add = "int y = x; y = y + 1; x = y;";
    let cases = [
        ("--deadlock", functions(&nest("a", "b"), &nest("b", "a")), "waits for a lock that is held"),
        (
            "--deadlock",
            functions("pthread_mutex_lock(&a); pthread_mutex_lock(&a);", ""),
            "waits for a lock that is held",
        ),
        (
            "--deadlock",
            functions("pthread_mutex_lock(&a); pthread_cond_wait(&c, &a);", "pthread_cond_signal(&c);"),
            "waits for a signal",
        ),
        (
            "--deadlock",
            functions("sem_wait(&s);", "sem_wait(&s); sem_post(&s);"),
            "waits for a semaphore that is 0",
        ),
        (
            "--deadlock",
            functions("pthread_rwlock_rdlock(&w); pthread_rwlock_wrlock(&w);", ""),
            "waits for a lock that is held",
        ),
        (
            "--deadlock",
            functions("pthread_barrier_init(&r, 0, 3); pthread_barrier_wait(&r);", ""),
            "waits at a barrier",
        ),
        // Structures are copied in parts, and the consumer is told once for two.
        (
            "--deadlock",
            functions(
                "for (int i = 0; i < 2; i++) { pthread_mutex_lock(&a); while (q.n == 0) pthread_cond_wait(&c, &a); struct q k = q; k.n--; q = k; pthread_mutex_unlock(&a); }",
                "pthread_mutex_lock(&a); q = (struct q){ 1, 7 }; pthread_mutex_unlock(&a); pthread_cond_signal(&c);",
            ),
            "waits for a signal",
        ),
        ("--race", functions("pthread_detach(pthread_self()); x = 1;", "x = 2;"), "data race"),
        ("--overflow", functions(add, add), "a signed integer overflows"),
        ("--overflow", functions("x++; x += 1;", ""), "a signed integer overflows"),
        ("--overflow", functions("x = -2147483647 - 1; x = -x;", ""), "a signed integer overflows"),
        ("--overflow", functions("int y = x - 2147483646; x = 7 / y;", ""), "a divisor is zero"),
        ("--overflow", functions("unsigned u = 1; u = u << (x - 2147483614);", ""), "a shift is too far"),
        (
            "--locks",
            functions("x = 0;", "if (x) pthread_mutex_lock(&a); pthread_mutex_unlock(&a);"),
            "a lock is released that the thread does not hold",
        ),
        (
            "--locks",
            functions("pthread_rwlock_unlock(&w);", ""),
            "a lock is released that the thread does not hold",
        ),
        (
            "--locks",
            functions("pthread_mutex_lock(&a);", "pthread_mutex_destroy(&a);"),
            "a mutex is destroyed while it is held",
        ),
    ];
    for (option, text, says) in cases {
        fs::write(&file, &text).unwrap();
        let ran = run(&[
            "check",
            file.to_str().unwrap(),
            option,
            "--replay",
            replay.to_str().unwrap(),
            "--replay-run",
            "--timeout",
            "600",
        ]);
        let noted = err(&ran);
        assert_eq!(ran.status.code(), Some(10), "{text}\n{}{noted}", out(&ran));
        assert!(noted.contains("SIGABRT") && noted.contains(says), "{option} {text}\n{noted}");
        assert!(noted.contains("replay:  reproduced: "), "{noted}");
    }
}

/// A replay that was not run reproduces nothing, nor does one that ends in something else; one that
/// cannot be written is refused. The verdict is the same.
#[cfg(unix)]
#[test]
fn replays_are_said_to_reproduce_what_they_did_reproduce() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new("c-replay-words");
    let text = "void __assert_fail(const char *, const char *, unsigned, const char *); int x; \
                int main(void) { if (x == 0) __assert_fail(\"x\", \"a\", 1, \"main\"); return 0; }";
    let file = scratch.file_argument("a.i", text);
    let replay = scratch.0.join("bug.c");
    // A compiler whose programs do nothing, and one that fails.
    let compiler = |name: &str, script: &str| {
        let path = scratch.0.join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let idle = compiler("idle", "#!/bin/sh\nprintf '#!/bin/sh\\nexit 0\\n' > \"$4\"; chmod +x \"$4\"\n");
    let fails = compiler("fails", "#!/bin/sh\nexit 1\n");
    let check = |file: &str, compiler: &PathBuf, more: &[&str]| {
        let args = ["check", file, "--replay", replay.to_str().unwrap(), "--force"];
        let ran = throng().env("CC", compiler).args(args).args(more).output().unwrap();
        assert_eq!(ran.status.code(), Some(10), "{}{}", out(&ran), err(&ran));
        err(&ran)
    };
    let noted = check(&file, &idle, &[]);
    assert!(noted.contains("which was not run") && !noted.contains("reproduce"), "{noted}");
    let noted = check(&file, &idle, &["--replay-run"]);
    assert!(
        noted.contains("NOT reproduced: compiled and run, the program ended with exit status: 0"),
        "{noted}"
    );
    let noted = check(&file, &fails, &["--replay-run"]);
    assert!(noted.contains("NOT reproduced: ") && noted.contains("ended with exit status: 1"), "{noted}");
    let text = format!(
        "struct pair {{ int p, q; }} a;\nint sum(struct pair c) {{ return c.p + c.q; }} void f(void) {{ a.p = 1; a.q = 1; if (sum(a) == 3) a.p = 2; {}",
        "if (sum(a) == 2) __assert_fail(\"sum\", \"a\", 1, \"f\"); }"
    );
    let head = "void __assert_fail(const char *, const char *, unsigned, const char *);";
    let by_value = scratch.file_argument("b.i", format!("{head} {text}"));
    let noted = check(&by_value, &idle, &["--entry", "f", "--replay-run"]);
    assert!(noted.contains("no replay was written: line 2: a replay cannot wait"), "{noted}");
}

/// The reports about a program: text, document, log, and the data of the page.
fn reports(name: &str, text: &str, args: &[&str]) -> (String, Value, Value, Value) {
    let scratch = Scratch::new(name);
    let file = scratch.file_argument("a.c", text);
    let (page, log) = (scratch.0.join("p.html"), scratch.0.join("l.sarif"));
    let files = ["--html", page.to_str().unwrap(), "--sarif", log.to_str().unwrap(), "--timeout", "60"];
    let ran = run(&[&["check", &file][..], args, &files].concat());
    let json = run(&[&["check", &file, "--json"][..], args].concat());
    let page = fs::read_to_string(page).unwrap();
    let data = page.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    let log = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    (
        out(&ran) + &err(&ran),
        serde_json::from_slice(&json.stdout).unwrap(),
        log,
        serde_json::from_str(data).unwrap(),
    )
}

/// What stands at the top of the page under a name.
fn fact<'a>(page: &'a Value, name: &str) -> &'a str {
    let facts = page["facts"].as_array().unwrap();
    facts.iter().find(|f| f[0] == name).map_or("", |f| f[1].as_str().unwrap())
}

/// A program that creates twenty threads has no more, and every report says so; and which proofs
/// have certificates.
#[test]
fn reports_count_the_threads_that_a_program_creates() {
    if !has_compiler() {
        return;
    }
    let text = "#include <pthread.h>\npthread_mutex_t m; int x; void *w(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }\n\
                int main(void) { pthread_t t; for (int i = 0; i < 20; i++) pthread_create(&t, 0, w, 0); return 0; }\n";
    let scratch = Scratch::new("c-twenty-certificate");
    let certificate = scratch.0.join("x.cert");
    let (said, json, log, page) =
        reports("c-twenty", text, &["--race", "--certificate", certificate.to_str().unwrap(), "--force"]);
    let scope = "for all threads that are created, at most 21 at a time";
    assert!(said.starts_with(&format!("SAFE  race  {scope}")) && !said.contains("any number"), "{said}");
    assert!(said.contains("x.cert") && !said.contains("no certificate was written"), "{said}");
    assert_eq!((&json["threads"], &json["scope"]), (&21.into(), &scope.into()));
    let threads = "at most 21 at a time: the first one and those that the program creates";
    assert_eq!(log["runs"][0]["properties"]["threads"], threads);
    assert_eq!(fact(&page, "threads"), threads);
    // What is assumed.
    let assumed = json["assumptions"].as_array().unwrap();
    assert!(assumed[0].as_str().unwrap().contains("which C guarantees"), "{assumed:?}");
    assert_eq!(log["runs"][0]["properties"]["assumptions"], json["assumptions"]);
    let words: Vec<&str> = assumed.iter().map(|a| a.as_str().unwrap()).collect();
    assert_eq!(fact(&page, "assumes"), words.join("; "));
    // A program that has no races with two threads may have some with three.
    let (said, ..) = reports("c-twenty-two", text, &["--race", "--threads", "2"]);
    assert!(said.starts_with("SAFE") && !said.contains("which C guarantees"), "{said}");
    // Without a bound.
    let (said, json, ..) = reports("c-endless", &text.replace("i < 20", "i >= 0"), &["--race"]);
    assert!(said.starts_with("SAFE  race  for any number of threads"), "{said}");
    assert_eq!(json["threads"], Value::Null);
}

/// A run says who violates what, where, and with how many threads at a time and in all; addresses
/// and variables have names.
#[test]
fn reports_say_who_violates_what() {
    if !has_compiler() {
        return;
    }
    let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\nstruct box { int a, b; } first, box; int *p, *h, x;\n\
                int helper(int key) {\n  x = key;\n  return x + key;\n}\n\
                void *f(void *v) {\n  int key = x; if (p == h) key = 9;\n  x = helper(key + 10) + key;\n  return 0;\n}\n\
                int main(void) {\n  pthread_t t;\n  first.a = 5;\n  p = &box.b;\n  h = malloc(8);\n\
                  for (int i = 0; i < 2; i++) {\n    pthread_create(&t, 0, f, 0);\n    pthread_join(t, 0);\n  }\n  assert(x ==\n         3);\n  return 0;\n}\n";
    let (said, json, log, page) = reports("c-blame", text, &[]);
    assert!(said.contains("UNSAFE  assertions  2 threads at a time (3 in all), "), "{said}");
    assert!(said.contains("Trace for assertions: 2 threads at a time (3 in all), "), "{said}");
    let target = &json["targets"][0];
    assert_eq!((&target["threads"], &target["threads_in_all"]), (&2.into(), &3.into()));
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("violated: assertions: T1 at ") && flat.contains("a.c:23: assert(x =="), "{said}");
    assert!(flat.contains("the assertion `x == 3` fails"), "{said}");
    assert!(!said.contains("property"), "{said}");
    let culprit = &target["trace"]["violation"]["threads"][0];
    assert_eq!((&culprit["thread"], &culprit["line"]), (&1.into(), &23.into()), "{culprit}");
    let message = log["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(message.contains("T1 at ") && message.contains("the assertion `x == 3` fails"), "{message}");
    let shown = &page["targets"][0]["run"];
    assert_eq!(shown["violation"][0]["does"], "the assertion `x == 3` fails");
    // The last step changes no variable, and memory that is allocated gets a place of its own.
    let last = shown["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["s"], Value::Null, "{last}");
    let variables = shown["variables"].as_array().unwrap();
    assert!(variables.contains(&"allocated[0]".into()), "{variables:?}");
    assert_eq!(variables.len(), shown["shared"].as_array().unwrap().len());
    for part in ["p: 0 -> &box.b", "h: 0 -> &allocated[0]"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    // Two variables of one name at the same time.
    for part in ["helper::key", "f::key"] {
        assert!(serde_json::to_string(&json).unwrap().contains(part), "{part}\n{said}");
    }
}

/// Both threads of a race, and what each is about to do.
#[test]
fn reports_name_both_threads_of_a_race() {
    if !has_compiler() {
        return;
    }
    let text = "#include <pthread.h>\nint x;\nvoid *f(void *v) {\n  x = 1;\n  return 0;\n}\n\
                int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, f, 0);\n  int y = x;\n  return y;\n}\n";
    let (said, json, _, page) = reports("c-racers", text, &["--race"]);
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["a.c:4: x = 1;: about to write x", "a.c:10: int y = x;: about to read x"] {
        assert!(flat.contains(part), "{part}\n{said}");
    }
    for racers in [&json["trace"]["violation"]["threads"], &page["targets"][0]["run"]["violation"]] {
        assert_eq!(racers.as_array().unwrap().len(), 2, "{racers}");
    }
}

/// What a step reads and writes, and through which calls it came there, is in every report.
#[test]
fn traces_show_values_and_call_stacks() {
    if !has_compiler() {
        return;
    }
    let text = "#include <assert.h>\n#include <pthread.h>\nint x = 5;\nint get(void) { return x; }\n\
                void set(void) {\n  int y = get();\n  x = 5;\n  x = y + 2;\n}\n\
                void *f(void *p) {\n  set();\n  return 0;\n}\n\
                int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, f, 0);\n  set();\n  pthread_join(t, 0);\n  assert(x == 9);\n  return 0;\n}\n";
    let scratch = Scratch::new("c-traces");
    let file = scratch.file_argument("a.c", text);
    let (page, log) = (scratch.0.join("p.html"), scratch.0.join("l.sarif"));
    let ran = run(&["check", &file, "--html", page.to_str().unwrap(), "--sarif", log.to_str().unwrap()]);
    let said = out(&ran);
    // A read; a write that changes nothing; the lines of both calls.
    for part in ["read x=5", "write x=5", "main:17 > set:6 > get", "f:11 > set"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    // As many threads as the run that is shown.
    let threads = said.lines().next().unwrap().split("  ").last().unwrap();
    assert!(said.contains(&format!("Trace for assertions: {threads}")), "{said}");
    let ran = run(&["check", &file, "--json"]);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let steps = document["targets"][0]["trace"]["steps"].as_array().unwrap();
    let reads = steps.iter().find(|s| s["function"] == "main > set > get").unwrap();
    assert_eq!(reads["calls"], serde_json::json!([17, 6]), "{reads}");
    let access = serde_json::json!([{ "variable": "x", "value": "5", "kind": "read" }]);
    assert_eq!(reads["accesses"], access, "{reads}");
    let log: Value = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    let flows = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let mut locations = flows.iter().flat_map(|f| f["locations"].as_array().unwrap());
    let deepest = locations.find(|l| l["stack"]["frames"].as_array().is_some_and(|f| f.len() == 3)).unwrap();
    let lines: Vec<&Value> = deepest["stack"]["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["location"]["physicalLocation"]["region"]["startLine"])
        .collect();
    assert_eq!(lines, [4, 6, 17], "{deepest}");
    assert!(deepest["location"]["message"]["text"].as_str().unwrap().contains("read x=5"), "{deepest}");
    assert!(fs::read_to_string(page).unwrap().contains("main:17 > set:6 > get"));
}

/// More than a hundred steps, and all threads have to be there before the first of them moves on.
#[test]
fn long_runs_with_many_threads_are_found() {
    if !has_compiler() {
        return;
    }
    let text = "#include <assert.h>\n#include <pthread.h>\nint a[12], n;\nvoid *f(void *p) { a[n - 1] = 1; return 0; }\n\
                int main(void) {\n  pthread_t t[12];\n  int sum = 0;\n  for (int i = 0; i < 12; i++) { n++; pthread_create(&t[i], 0, f, 0); }\n  \
                for (int i = 0; i < 12; i++) pthread_join(t[i], 0);\n  for (int i = 0; i < 12; i++) sum += a[i];\n  assert(sum == 12);\n  return 0;\n}\n";
    let scratch = Scratch::new("c-long");
    let file = scratch.file_argument("a.c", text);
    let ran = run(&["check", &file, "--timeout", "600", "--json"]);
    assert_eq!(ran.status.code(), Some(10), "{}", err(&ran));
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let trace = &document["targets"][0]["trace"];
    assert!(trace["length"].as_u64().unwrap() > 100, "{}", trace["length"]);
}

#[test]
fn assumptions_are_part_of_the_document() {
    if !has_compiler() {
        return;
    }
    let ran = run(&["check", "examples/c/refcount.c", "--json"]);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(document["assumptions"][0], "sequential consistency");
    assert!(document["scope"].as_str().unwrap().contains("at most 2"), "{document}");
    let race_free =
        run(&["check", "examples/c/spinlock.c", "--entry", "worker", "--race", "--assertions", "--json"]);
    let document: Value = serde_json::from_slice(&race_free.stdout).unwrap();
    assert!(document["assumptions"][0].as_str().unwrap().contains("without data races"), "{document}");
}

#[test]
fn other_commands_take_c() {
    if !has_compiler() {
        return;
    }
    let example = "examples/c/refcount-broken.c";
    let ran = run(&["simulate", example, "--seed", "3", "--steps", "30"]);
    assert!(ran.status.success() && out(&ran).contains("atomic_fetch_sub"), "{}{}", out(&ran), err(&ran));
    let ran = run(&["reach", example, "--threads", "2", "--timeout", "600"]);
    assert!(ran.status.success() && out(&ran).contains("freed"), "{}{}", out(&ran), err(&ran));
    let ran = run(&["translate", example, "--to", "dot"]);
    assert!(out(&ran).starts_with("digraph program {") && out(&ran).contains("atomic_load"), "{}", err(&ran));
    let ran = run(&["translate", example, "--to", "goto"]);
    assert!(out(&ran).contains("thread user(unused.0):"), "{}", out(&ran));
    // Options for C are not for other languages.
    let ran = run(&["check", "examples/spinlock.bp", "--entry", "f"]);
    assert!(ran.status.code() == Some(2) && err(&ran).contains("`--entry` is for C"), "{}", err(&ran));
    let scratch = Scratch::new("c-sarif");
    let (page, log) = (scratch.0.join("p.html"), scratch.0.join("l.sarif"));
    run(&["check", example, "--html", page.to_str().unwrap(), "--sarif", log.to_str().unwrap()]);
    let log: Value = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("refcount-broken.c"), "{place}");
    assert_eq!(place["region"]["startLine"], 13, "{place}");
    assert!(fs::read_to_string(page).unwrap().contains("refcount-broken.c"));
}

/// A run through a function that is not defined need not be one of the program; with the file that
/// defines it, there is an answer.
#[test]
fn what_is_not_defined_makes_no_run_and_may_be_in_another_file() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-parts");
    let program =
        "#include <assert.h>\nint limit(void);\nint main(void) { assert(limit() < 3); return 0; }\n";
    let main = scratch.file_argument("main.c", program);
    let alone = run(&["check", &main, "--timeout", "600"]);
    assert_eq!(alone.status.code(), Some(1), "{}{}", out(&alone), err(&alone));
    assert!(out(&alone).contains("limit") && out(&alone).contains("not defined"), "{}", out(&alone));
    for (value, status) in [("2", 0), ("3", 10)] {
        scratch.file("limit.c", format!("int limit(void) {{ return {value}; }}\n"));
        let both = run(&["check", &main, "limit.c", "--timeout", "600"]);
        assert_eq!(both.status.code(), Some(status), "{}{}", out(&both), err(&both));
    }
}

/// What is not defined may write any variable, so no line is said to be out of reach.
#[test]
fn what_is_reached_is_not_known_if_something_is_not_defined() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-reach-undefined");
    let program = |refill: &str| {
        format!(
            "int stock;\n{refill}\nint main(void) {{\n  refill();\n  if (stock == 1)\n    stock = 2;\n  return 0;\n}}\n"
        )
    };
    let file = scratch.file_argument("open.c", program("void refill(void);"));
    for command in ["reach", "cutoff"] {
        let ran = run(&[command, &file, "--timeout", "600"]);
        assert!(ran.status.code() == Some(1) && out(&ran).starts_with("UNKNOWN"), "{}", out(&ran));
        let named = out(&ran).contains("not defined: refill");
        assert!(named && !out(&ran).contains("not reached"), "{}", out(&ran));
    }
    let page = scratch.argument("page.html");
    let ran = run(&["reach", &file, "--json", "--html", &page]);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((&document["complete"], &document["unreached"]), (&false.into(), &Value::Array(Vec::new())));
    assert!(fs::read_to_string(page).unwrap().contains("not defined: refill"));
    let closed = scratch.file_argument("closed.c", program("void refill(void) {}"));
    let ran = run(&["reach", &closed, "--timeout", "600"]);
    assert!(ran.status.success() && out(&ran).contains("can be reached"), "{}{}", out(&ran), err(&ran));
}

#[test]
fn deadlocks_beside_assertions_are_each_answered() {
    if !has_compiler() {
        return;
    }
    let ran =
        run(&["check", "examples/c/refcount-broken.c", "--deadlock", "--assertions", "--timeout", "600"]);
    assert_eq!(ran.status.code(), Some(10), "{}{}", out(&ran), err(&ran));
    assert!(out(&ran).contains("UNSAFE  assertions"), "{}", out(&ran));
    assert!(out(&ran).contains("SAFE    deadlock"), "{}", out(&ran));
}

/// Headers of the system may have what is refused, as long as the program does not use it.
#[test]
fn headers_of_the_system_are_read_whatever_is_in_them() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-headers");
    let file = scratch.0.join("a.c");
    let headers = [
        "assert",
        "complex",
        "ctype",
        "errno",
        "fcntl",
        "inttypes",
        "limits",
        "math",
        "pthread",
        "sched",
        "semaphore",
        "setjmp",
        "signal",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "string",
        "sys/epoll",
        "sys/socket",
        "sys/stat",
        "sys/time",
        "sys/types",
        "sys/wait",
        "time",
        "unistd",
        "wchar",
    ];
    let includes: String = headers.iter().map(|h| format!("#include <{h}.h>\n")).collect();
    let head = format!("#define _GNU_SOURCE\n{includes}");
    let ask = |text: &str| {
        fs::write(&file, format!("{head}{text}")).unwrap();
        run(&["check", file.to_str().unwrap(), "--quiet"])
    };
    let ran = ask("int main(void) { assert(sizeof(pthread_mutex_t) == 40); return 0; }\n");
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let ran = ask("int main(void) { assert(sizeof(max_align_t) == 32); return 0; }\n");
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
}

/// A variable that no file defines has any value: a run that depends on it need not be one.
#[test]
fn a_variable_that_no_file_defines_makes_no_run() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-extern");
    let (main, other) = (scratch.0.join("main.c"), scratch.0.join("other.c"));
    fs::write(
        &main,
        "#include <assert.h>\nextern int limit;\nint main(void) { assert(limit == 3); return 0; }\n",
    )
    .unwrap();
    fs::write(&other, "static int main_limit = 4;\nint limit = 3;\n").unwrap();
    let ran = run(&["check", main.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(1), "{}", out(&ran));
    assert!(out(&ran).starts_with("UNKNOWN") && out(&ran).contains("`limit`"), "{}", out(&ran));
    let ran = run(&["check", main.to_str().unwrap(), other.to_str().unwrap()]);
    assert_eq!(ran.status.code(), Some(0), "{}", out(&ran));
}

/// The format that is said counts, not how the name ends: a compiler leaves nothing of a file whose
/// ending it does not know.
#[test]
fn c_under_another_name_is_read() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-named");
    let path =
        scratch.file("lock.txt", fs::read_to_string(root().join("examples/c/spinlock-broken.c")).unwrap());
    let ran = run(&["check", path.to_str().unwrap(), "--from", "c", "--entry", "worker"]);
    assert!(ran.status.code() == Some(10) && out(&ran).starts_with("UNSAFE"), "{}{}", out(&ran), err(&ran));
}
