//! `throng mutate`: what a proof depends on, and what it does not.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use throng_dev::harness::{Scratch, has_compiler, throng};

fn run(args: &[&str]) -> Output {
    throng().current_dir(PathBuf::from(throng_dev::ROOT)).args(args).output().unwrap()
}

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// The document of a call, and its exit status.
fn document(args: &[&str]) -> (Value, Option<i32>) {
    let ran = run(&[&["mutate", "--json"], args].concat());
    let text = out(&ran);
    let document = serde_json::from_str(&text)
        .unwrap_or_else(|why| panic!("{why}: {text}{}", String::from_utf8_lossy(&ran.stderr)));
    (document, ran.status.code())
}

/// (change, lines, verdict) of each mutant.
fn rows(document: &Value) -> Vec<(String, Vec<u64>, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let lines = |v: &Value| v.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let mutants = document["mutants"].as_array().unwrap();
    mutants.iter().map(|m| (text(&m["change"]), lines(&m["lines"]), text(&m["verdict"]))).collect()
}

#[test]
fn the_proof_of_a_counter_depends_on_its_lock_and_its_assertion() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("mutate-counter");
    let folder = scratch.0.join("replays");
    let args =
        ["examples/c/counter.c", "--timeout", "600", "--replay", folder.to_str().unwrap(), "--replay-run"];
    let (document, status) = document(&args);
    assert_eq!(status, Some(0), "{document:#}");
    assert_eq!(document["original"]["verdict"], "SAFE");
    let unsafe_ = |change: &str, lines: &[u64]| (change.to_string(), lines.to_vec(), "UNSAFE".to_string());
    let expected = [unsafe_("lock disabled", &[11, 13, 18]), unsafe_("assertion negated", &[19])];
    assert_eq!(rows(&document), expected);
    for (n, mutant) in document["mutants"].as_array().unwrap().iter().enumerate() {
        let said = mutant["replay"].as_str().unwrap();
        assert!(said.contains("SIGABRT"), "{said}");
        assert!(folder.join(format!("{}.c", n + 1)).is_file());
        assert_eq!(mutant["report"]["verdict"], "unsafe", "{mutant:#}");
    }
}

#[test]
fn atomic_operations_are_split_and_locks_that_do_nothing_are_named() {
    if !has_compiler() {
        return;
    }
    let (document, status) = document(&["examples/c/spinlock.c", "--entry", "worker", "--timeout", "600"]);
    let split: Vec<_> = rows(&document).into_iter().filter(|r| r.0 == "atomic operation split").collect();
    assert!(split.len() == 1 && split[0].2 == "UNSAFE", "{document:#}");
    assert_eq!(status, Some(0));
    let scratch = Scratch::new("mutate-needless");
    let file = scratch.0.join("a.c");
    let text = "#include <assert.h>\n#include <pthread.h>\nint x;\npthread_mutex_t m, n;\nvoid *f(void *p) {\n  pthread_mutex_lock(&n);\n  \
                pthread_mutex_lock(&m);\n  x++;\n  assert(x == 1);\n  x--;\n  pthread_mutex_unlock(&m);\n  pthread_mutex_unlock(&n);\n  return 0;\n}\n\
                int main(void) {\n  pthread_t s, t;\n  pthread_create(&s, 0, f, 0);\n  pthread_create(&t, 0, f, 0);\n  return 0;\n}\n";
    fs::write(&file, text).unwrap();
    let ran = run(&["mutate", file.to_str().unwrap(), "--timeout", "600"]);
    let said = out(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.starts_with("1 of 3 changes make it UNSAFE\n"), "{said}");
    assert!(said.contains("the proof does not depend on line 6,12: lock disabled: &n\n"), "{said}");
    assert!(said.contains("the proof does not depend on line 7,11: lock disabled: &m\n"), "{said}");
}

#[test]
fn an_assertion_function_asserts_where_it_is_called() {
    let scratch = Scratch::new("mutate-functions");
    let file = scratch.0.join("a.i");
    let text = "void reach_error(void) { }\nint x;\nvoid check(int holds) {\n  if (!holds) { ERROR: { reach_error(); } }\n}\n\
                void never(void) { check(0); }\n\
                int main(void) {\n  check(x == 0);\n  x = 1;\n  check(x == 1);\n  if (x == 2) goto bad;\n  return 0;\nbad: reach_error();\n  return 1;\n}\n";
    fs::write(&file, text).unwrap();
    let (document, status) = document(&[file.to_str().unwrap(), "--timeout", "600"]);
    let found: Vec<(Vec<u64>, String)> = rows(&document).into_iter().map(|r| (r.1, r.2)).collect();
    let expected = [vec![8], vec![10], vec![11]].map(|lines| (lines, "UNSAFE".to_string()));
    assert_eq!(found, expected, "{document:#}");
    assert_eq!(status, Some(0));
}

#[test]
fn boolean_programs_have_mutants_too() {
    let (document, status) = document(&["examples/spinlock.bp", "--timeout", "600"]);
    let found: Vec<(String, String)> = rows(&document).into_iter().map(|r| (r.0, r.2)).collect();
    let expected = ["condition dropped", "assertion negated"].map(|c| (c.to_string(), "UNSAFE".to_string()));
    assert_eq!(found, expected, "{document:#}");
    assert_eq!((status, &document["depends_on_all"]), (Some(0), &Value::Bool(true)));
    // A program that is UNSAFE itself has no proof that could depend on anything.
    let ran = run(&["mutate", "examples/spinlock-broken.bp", "--timeout", "600"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(out(&ran).starts_with("nothing was changed: the program itself is UNSAFE\n"), "{}", out(&ran));
    // Nothing can be decided in no time.
    let ran = run(&["mutate", "examples/spinlock.bp", "--timeout", "0"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        out(&ran).contains("0 of 2 changes make it UNSAFE, but it was not proved itself"),
        "{}",
        out(&ran)
    );
    for bad in [
        &["mutate", "examples/winner.tts"][..],
        &["mutate", "nowhere.bp"],
        &["mutate", "examples/spinlock.bp", "--replay", "x"],
    ] {
        assert_eq!(run(bad).status.code(), Some(2), "{bad:?}");
    }
}
