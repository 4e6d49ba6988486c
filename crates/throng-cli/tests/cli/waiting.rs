//! Threads that wait for ever: what is asked, what a run says, and what certificates are worth.

use throng_dev::harness::command::{Scratch, example, run};

const LOCK: &str = "decl x := 0; void main() begin decl t := 1; while t do t, x := x, 1; od x := 0; end";

/// Returns the exit status of a call about a program.
fn asks(file: &str, rest: &[&str]) -> Option<i32> {
    run(&[&["check", file, "--quiet"], rest].concat()).0
}

#[test]
fn a_spin_lock_that_is_not_given_back_is_a_deadlock() {
    let scratch = Scratch::new("waiting");
    let held = scratch.file_argument("held.bp", LOCK.replace("x := 0; end", "end"));
    let lock = scratch.file_argument("lock.bp", LOCK);
    assert_eq!(asks(&held, &["--deadlock"]), Some(10));
    assert_eq!(asks(&held, &["--stuck", "any", "--threads", "2"]), Some(10));
    assert_eq!(asks(&lock, &["--deadlock"]), Some(0), "for any number of threads");
    assert_eq!(asks(&lock, &["--stuck", "any", "--threads", "2"]), Some(0));
    let explicit = ["--engine", "explicit", "--max-threads", "3"];
    let (status, said, _) = run(&[&["check", &lock, "--stuck", "any"], &explicit[..]].concat());
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("none with up to 3 threads"), "{said}");
}

#[test]
fn a_certificate_is_about_the_loops_of_its_program() {
    let scratch = Scratch::new("waiting-certificates");
    let (lock, certificate) = (scratch.file_argument("lock.bp", LOCK), scratch.argument("lock.cert"));
    let question = ["--stuck", "any", "--threads", "2"];
    assert_eq!(asks(&lock, &[&question[..], &["--certificate", &certificate]].concat()), Some(0));
    let certifies =
        |file: &str| run(&[&["certify", file, &certificate], &question[..]].concat()).0 == Some(0);
    assert!(certifies(&lock));
    // The lock is not given back; it is only looked at; it is taken from the start.
    for (from, to) in [("x := 0; end", "end"), ("t, x := x, 1", "t := x"), ("decl x := 0", "decl x := 1")] {
        let broken = LOCK.replace(from, to);
        assert_ne!(broken, LOCK);
        assert!(!certifies(&scratch.file_argument("broken.bp", &broken)), "{broken}");
    }
}

#[test]
fn a_lasso_says_what_is_repeated_and_who_stays() {
    let file = example("c/fairness-broken.c");
    let (status, said, _) = run(&["check", file.to_str().unwrap(), "--starvation", "acquire"]);
    assert_eq!(status, Some(10), "{said}");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("stays there while steps") && flat.contains("are repeated for ever"), "{said}");
    let (_, json, _) = run(&["check", file.to_str().unwrap(), "--starvation", "acquire", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(document.to_string().contains("\"repeats_from\":"), "{json}");
}
