//! Races of whole programs, as a user asks about them: answers per object, baselines, questions
//! about a variable or a line.

use std::fs;

use serde_json::Value;
use throng_dev::harness::{Scratch, example, has_compiler, run};

const HEAD: &str = "typedef unsigned long pthread_t; typedef union { int a[10]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
pthread_mutex_t m; pthread_t t, u; int counted, raced, limit;
";

/// `raced` is written without a lock.
const BROKEN: &str = "void *work(void *p) {
  pthread_mutex_lock(&m); counted++; pthread_mutex_unlock(&m);
  raced = 1;
  return 0; }
int main(void) {
  limit = 3;
  pthread_create(&t, 0, work, 0); pthread_create(&u, 0, work, 0);
  return 0; }
";

/// Two threads never come to `raced` at the same time, but that depends on values.
const POSSIBLE: &str = "int __VERIFIER_nondet_int(void);
void *work(void *p) {
  int n = 3 * __VERIFIER_nondet_int();
  if (n * n == 2) { raced = 1; }
  return 0; }
int main(void) {
  pthread_create(&t, 0, work, 0); pthread_create(&u, 0, work, 0);
  return 0; }
";

struct Ran {
    status: Option<i32>,
    out: String,
    err: String,
}

/// Runs `throng check FILE --race MORE`.
fn race(file: &str, more: &[&str]) -> Ran {
    let (status, out, err) = run(&[&["check", file, "--race"], more].concat());
    Ran { status, out, err }
}

fn statuses(json: &str) -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(json).expect("a document");
    let objects = document["races"]["objects"].as_array().expect("objects");
    let of = |o: &Value, key: &str| o[key].as_str().unwrap_or_default().to_string();
    objects.iter().map(|o| (of(o, "name"), of(o, "status"))).collect()
}

#[test]
fn each_object_has_an_answer() {
    let dir = Scratch::new("races-objects");
    let file = dir.file_argument("a.i", format!("{HEAD}{BROKEN}"));
    let ran = race(&file, &["--json"]);
    assert_eq!(ran.status, Some(10), "{}", ran.out);
    let found = statuses(&ran.out);
    for (name, status) in [("raced", "possible-race"), ("counted", "protected")] {
        assert!(found.contains(&(name.into(), status.into())), "{name}: {found:?}");
    }
    let text = race(&file, &[]).out;
    let head = text.find("Possible races").expect("a list");
    assert!(text[head..].contains("confirmed by the run") && text[head..].contains("raced"), "{text}");
    assert!(text.contains("counted: protected by m"), "{text}");
}

#[test]
fn a_question_may_be_about_a_variable_or_a_line() {
    let dir = Scratch::new("races-narrow");
    let file = dir.file_argument("a.i", format!("{HEAD}{BROKEN}"));
    // The head has four lines.
    for (about, status) in [("counted", 0), ("raced", 10), ("a.i:7", 10), ("a.i:6", 0)] {
        let ran = race(&file, &[about, "--quiet"]);
        assert_eq!(ran.status, Some(status), "{about}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(&format!("race {about}")), "{}", ran.out);
    }
    for about in ["nothing", "a.i:1", "b.i:7"] {
        let ran = race(&file, &[about]);
        assert!(
            ran.status == Some(2) && ran.err.contains("E602") && ran.out.is_empty(),
            "{about}: {}",
            ran.err
        );
    }
}

#[test]
fn a_baseline_accepts_what_is_known_and_nothing_else() {
    let dir = Scratch::new("races-baseline");
    let file = dir.file_argument("a.i", format!("{HEAD}{BROKEN}"));
    let known = dir.argument("known.json");
    assert_eq!(race(&file, &["--write-baseline", &known, "--quiet"]).status, Some(10));
    let with = |text: &str, more: &[&str]| {
        let file = dir.file_argument("a.i", text);
        race(&file, &[&["--baseline", &known, "--quiet"], more].concat())
    };
    let ran = with(&format!("{HEAD}{BROKEN}"), &[]);
    assert!(ran.status == Some(0) && ran.out.starts_with("UNSAFE  race"), "{}", ran.out);
    let moved = format!("{HEAD}\n\n/* more */\n{BROKEN}");
    assert_eq!(with(&moved, &[]).status, Some(0), "lines were inserted");
    let new = format!("{HEAD}{}", BROKEN.replace("raced = 1;", "raced = 1; limit = 2;"));
    let ran = with(&new, &[]);
    assert!(ran.status == Some(10) && ran.out.starts_with("UNSAFE"), "{}", ran.out);
    // A baseline is read and not written over; neither is the program.
    let before = fs::read(&known).expect("a baseline");
    assert_eq!(with(&new, &["--write-baseline", &known]).status, Some(2));
    assert_eq!(race(&file, &["--write-baseline", &file]).status, Some(2));
    assert_eq!(fs::read(&known).expect("a baseline"), before);
    let other = dir.file_argument("other.json", "{}");
    assert_eq!(race(&file, &["--baseline", &other]).status, Some(2));
}

#[test]
fn what_is_possible_fails_only_where_that_is_asked_for() {
    let dir = Scratch::new("races-possible");
    let file = dir.file_argument("a.i", format!("{HEAD}{POSSIBLE}"));
    let ran = race(&file, &["--quiet"]);
    assert!(ran.status == Some(1) && ran.out.starts_with("UNKNOWN  race  1 possible race"), "{}", ran.out);
    assert_eq!(race(&file, &["--quiet", "--fail-on", "possible"]).status, Some(10));
    let known = dir.argument("known.json");
    assert_eq!(race(&file, &["--quiet", "--write-baseline", &known]).status, Some(1));
    let accepted = race(&file, &["--quiet", "--baseline", &known, "--fail-on", "possible"]);
    assert!(accepted.status == Some(0) && accepted.out.starts_with("UNKNOWN"), "{}", accepted.out);
}

/// A thread reads its own number where `pthread_create` stores it.
const NUMBER: &str = "pthread_t other; long seen;
void *work(void *p) { seen = (long)other; return 0; }
int main(void) { pthread_create(&other, 0, work, 0); pthread_join(other, 0); return (int)seen; }
";

#[test]
fn the_number_of_a_thread_may_be_stored_late() {
    let dir = Scratch::new("races-number");
    let file = dir.file_argument("a.i", format!("{HEAD}{NUMBER}"));
    let ran = race(&file, &[]);
    let said = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ran.status == Some(10) && said.contains("may store the number of a thread after"), "{said}");
    let other = dir.file_argument("b.i", format!("{HEAD}{BROKEN}"));
    assert!(!race(&other, &[]).out.contains("may store the number"));
}

/// Where the pointer points is not known.
const OPEN: &str = "struct s { int field; } one; struct s *get(void);
void *work(void *p) { return (void *)(long)one.field; }
int main(void) { pthread_create(&t, 0, work, 0); get()->field = 10; return 0; }
";

#[test]
fn what_is_not_known_is_no_answer_unless_a_baseline_accepts_it() {
    let dir = Scratch::new("races-open");
    let file = dir.file_argument("a.i", format!("{HEAD}{OPEN}"));
    let ran = race(&file, &["--quiet"]);
    assert!(ran.status == Some(1) && ran.out.starts_with("UNKNOWN  race"), "{}", ran.out);
    assert!(!ran.out.contains("baseline"), "{}", ran.out);
    assert_eq!(race(&file, &["--quiet", "--fail-on", "possible"]).status, Some(10));
    let known = dir.argument("known.json");
    assert_eq!(race(&file, &["--quiet", "--write-baseline", &known]).status, Some(1));
    assert_eq!(race(&file, &["--quiet", "--baseline", &known]).status, Some(0));
}

/// `stop` is declared `volatile`, and `data` is not.
const VOLATILE: &str = "volatile int stop; int data;
void *work(void *p) { while (!stop) { } return 0; }
int main(void) { pthread_create(&t, 0, work, 0); stop = 1; return 0; }
";

#[test]
fn volatile_is_atomic_where_that_is_said() {
    let dir = Scratch::new("races-volatile");
    let file = dir.file_argument("a.i", format!("{HEAD}{VOLATILE}"));
    assert_eq!(race(&file, &["--quiet"]).status, Some(10));
    let ran = race(&file, &["--volatile-atomic"]);
    assert!(ran.status == Some(0) && ran.out.contains("`volatile` are atomic"), "{}", ran.out);
    assert!(!ran.out.contains("C guarantees"), "{}", ran.out);
    let plain =
        VOLATILE.replace("stop = 1;", "stop = 1; data = 1;").replace("{ } return", "{ } data = 2; return");
    let file = dir.file_argument("b.i", format!("{HEAD}{plain}"));
    assert_eq!(race(&file, &["--volatile-atomic", "--quiet"]).status, Some(10), "`data` still races");
}

#[test]
fn options_about_races_are_refused_where_no_race_is_asked_about() {
    let dir = Scratch::new("races-refused");
    let file = dir.file_argument("a.i", format!("{HEAD}{BROKEN}"));
    for option in [&["--fail-on", "possible"][..], &["--write-baseline", "x.json"]] {
        let ran = run(&[&["check", &file], option].concat());
        assert_eq!(ran.0, Some(2), "{option:?}");
        let spin = example("spinlock.bp").display().to_string();
        let ran = run(&[&["check", &spin, "--race", "lock"], option].concat());
        assert_eq!(ran.0, Some(2), "{option:?}");
    }
}

#[test]
fn a_program_of_several_files_is_proved_and_its_broken_version_refuted() {
    if !has_compiler() {
        return;
    }
    for (stats, word, status) in [("stats", "SAFE", 0), ("stats-broken", "UNSAFE", 10)] {
        let file = |name: &str| example(&format!("c/crawler/{name}.c")).display().to_string();
        let files = ["main", "queue", stats].map(file);
        let named: Vec<&str> = files.iter().map(String::as_str).collect();
        let (found, out, err) = run(&[&["check"][..], &named, &["--race", "--quiet"]].concat());
        assert_eq!(found, Some(status), "{stats}: {out}{err}");
        assert!(out.starts_with(word), "{stats}: {out}");
    }
}
