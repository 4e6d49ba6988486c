//! C programs that create threads without bound, proved by abstraction: certificates are written,
//! checked and rejected, and the abstract program is one that `throng check` answers about.

use std::fs;
use std::process::Output;

use throng_dev::harness::{Scratch, has_compiler, throng};

const COUNTER: &str = "examples/c/counter.c";

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        throng().current_dir(throng_dev::ROOT).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_proof_has_a_certificate_that_is_checked() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-certificate");
    let path = scratch.0.join("counter.cert");
    let certificate = path.to_str().unwrap();
    let (status, said, noted) = run(&["check", COUNTER, "--timeout", "600", "--certificate", certificate]);
    assert_eq!(status, Some(0), "{said}{noted}");
    assert!(said.starts_with("SAFE  assertions  for any number of threads"), "{said}");
    assert!(noted.contains("proved by predicate abstraction"), "{noted}");
    let (status, said, noted) = run(&["certify", COUNTER, certificate]);
    assert_eq!(status, Some(0), "{said}{noted}");
    assert!(said.starts_with("VALID") && said.contains("threads: any number"), "{said}");
    let (status, said, _) = run(&["certify", COUNTER, certificate, "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((status, &document["result"]), (Some(0), &"valid".into()));
    // About another program; not a certificate at all.
    let (status, said, _) = run(&["certify", "examples/c/spinlock.c", "--entry", "worker", certificate]);
    assert!(status == Some(10) && said.starts_with("INVALID"), "{said}");
    fs::write(&path, "{}").unwrap();
    let (status, said, noted) = run(&["certify", COUNTER, certificate]);
    assert!(status == Some(2) && said.is_empty(), "{said}{noted}");
}

/// A violation that a few threads show is found before any proof is tried, on one processor and
/// where any number of threads begins, too.
#[test]
fn a_look_comes_before_the_proof() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-look");
    let spin = fs::read_to_string(format!("{}/examples/c/spinlock-broken.c", throng_dev::ROOT)).unwrap();
    let one = scratch.0.join("one.c");
    fs::write(&one, spin).unwrap();
    let one = one.to_str().unwrap();
    for call in [&["check", one, "--entry", "worker"][..], &["check", "examples/c/rwspin-broken.c"]] {
        let (status, said, noted) = run(&[call, &["--jobs", "1", "-v"]].concat());
        assert_eq!(status, Some(10), "{said}{noted}");
        assert!(said.contains("engine:  explicit"), "{said}");
        assert!(!noted.contains("abstraction: round"), "{noted}");
    }
}

/// What is counted is in the certificate, and is checked.
#[test]
fn a_proof_that_counts_threads_has_a_certificate() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-tallies");
    let path = scratch.0.join("rwspin.cert");
    let (file, certificate) = ("examples/c/rwspin.c", path.to_str().unwrap());
    let (status, said, noted) = run(&["check", file, "--timeout", "600", "--certificate", certificate]);
    assert_eq!(status, Some(0), "{said}{noted}");
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(words.join(" ").contains("fewer than 16777216 threads exist at a time"), "{said}");
    assert_eq!(run(&["certify", file, certificate]).0, Some(0));
    let text = fs::read_to_string(&path).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let places = document["tallies"][0]["at"].as_array_mut().unwrap();
    assert!(places.pop().is_some());
    fs::write(&path, document.to_string()).unwrap();
    let (status, said, noted) = run(&["certify", file, certificate]);
    assert!(status == Some(10) && said.starts_with("INVALID"), "{said}{noted}");
}

/// Searches have certificates as well, whatever finds them.
#[test]
fn a_search_has_a_certificate_that_is_checked() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-search-certificate");
    let path = scratch.0.join("search.cert");
    let certificate = path.to_str().unwrap();
    let cases: [(&str, &[&str], &str, &str); 6] = [
        ("examples/c/peterson.c", &[], "explicit", "by closed"),
        ("examples/c/queue.c", &["--locks"], "explicit", "locks  by closed"),
        ("examples/c/stack.c", &["--threads", "3"], "explicit", "threads: at most 3"),
        ("examples/c/refcount.c", &["--deadlock", "--memory-safety"], "explicit", "deadlock"),
        ("examples/c/seqlock.c", &[], "karp-miller", "by downward"),
        ("examples/c/spinlock.c", &["--entry", "worker"], "views", "by views"),
    ];
    for (file, question, engine, words) in cases {
        let how = ["--engine", engine, "--force", "--certificate", certificate];
        let (status, said, noted) = run(&[&["check", file][..], &how, question].concat());
        assert_eq!(status, Some(0), "{file}: {said}{noted}");
        let (status, said, noted) = run(&[&["certify", file, certificate][..], question].concat());
        assert_eq!(status, Some(0), "{file}: {said}{noted}");
        assert!(said.starts_with("VALID") && said.contains(words), "{file}: {said}");
        // About another number of threads.
        let other = match question.contains(&"--threads") {
            true => Vec::new(),
            false => [question, &["--threads", "2"]].concat(),
        };
        let (status, said, _) = run(&[&["certify", file, certificate][..], &other].concat());
        assert!(status == Some(10) && said.starts_with("INVALID"), "{file}: {said}");
    }
}

#[test]
fn the_abstract_program_is_a_boolean_program_that_is_safe() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-abstract");
    let path = scratch.0.join("counter.bp");
    let program = path.to_str().unwrap();
    let (status, _, noted) = run(&["translate", COUNTER, "--to", "bp", "-o", program]);
    assert_eq!(status, Some(0), "{noted}");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("before < value"), "{text}");
    let (status, said, noted) = run(&["check", program, "--timeout", "600"]);
    assert_eq!(status, Some(0), "{said}{noted}");
}

/// Only the sum does not change, and no comparison of the program says so.
const SUM: &str = "#include <assert.h>
#include <pthread.h>
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
unsigned x = 0, y = 10;
void *add(void *unused) {
  //@ predicate x + y == 10
  __VERIFIER_atomic_begin();
  x = x + 1;
  y = y - 1;
  if (x == 10) assert(y == 0);
  __VERIFIER_atomic_end();
  return 0;
}
int main(void) {
  pthread_t t;
  while (1) pthread_create(&t, 0, add, 0);
}
";

/// A predicate that the file offers is used from the first round on, also with `--entry`; a wrong
/// one is refused with its place.
#[test]
fn the_file_may_offer_predicates() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-predicate");
    let sum = scratch.0.join("sum.c");
    fs::write(&sum, SUM).unwrap();
    for entry in [&[][..], &["--entry", "add"]] {
        let mut args = vec!["check", sum.to_str().unwrap(), "--timeout", "600", "-v", "--jobs", "1"];
        args.extend(entry);
        let (status, said, noted) = run(&args);
        assert_eq!(status, Some(0), "{said}{noted}");
        assert!(noted.contains("abstraction: the file offers (x + y) == 10"), "{noted}");
        assert!(noted.contains("abstraction: round 1, 1 predicate "), "{noted}");
    }
    let path = scratch.0.join("wrong.c");
    let text = fs::read_to_string(format!("{}/{COUNTER}", throng_dev::ROOT)).unwrap();
    fs::write(&path, text.replace("before < value\n", "before < values\n")).unwrap();
    let (status, said, noted) = run(&["check", path.to_str().unwrap()]);
    assert!(status == Some(2) && said.is_empty(), "{said}{noted}");
    assert!(noted.contains("E810") && noted.contains("wrong.c:16:51"), "{noted}");
}
