//! The manners of SV-COMP: property files, data models, witnesses. All inputs are preprocessed, so
//! that no compiler is needed.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use throng_dev::harness::{Scratch, throng};

/// A race for `x`, an overflow of `x`, and an error that needs another thread and an input.
const PROGRAM: &str = "typedef unsigned long pthread_t;
int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
int __VERIFIER_nondet_int(void);
void reach_error(void) { }
int x = 2147483647;
void *f(void *p) {
  x = 1;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  int n = __VERIFIER_nondet_int();
  x = x + 1;
  if (x == 2 && n == 41)
    reach_error();
  return 0;
}
";

struct Folder(Scratch);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Folder(Scratch::new(name));
        let property = |name: &str, text: &str| {
            folder.write(name, &format!("CHECK( init(main()), LTL({text}) )\n\n"));
        };
        property("unreach-call.prp", "G ! call(reach_error())");
        property("no-data-race.prp", "G ! data-race");
        property("no-overflow.prp", "G ! overflow");
        property("termination.prp", "F end");
        folder
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn run(&self, args: &[&str]) -> Output {
        throng().current_dir(&self.0.0).args(args).output().unwrap()
    }

    /// The first words, and the exit status.
    fn said(&self, args: &[&str]) -> (String, Option<i32>) {
        let ran = self.run(args);
        let text =
            format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        (text, ran.status.code())
    }
}

#[test]
fn property_files_say_what_is_asked() {
    let folder = Folder::new("svcomp-properties");
    folder.write("a.i", PROGRAM);
    for (file, word) in
        [("unreach-call", "assertions"), ("no-data-race", "race"), ("no-overflow", "overflow")]
    {
        let (said, status) =
            folder.said(&["check", "a.i", "--timeout", "600", "--property", &format!("{file}.prp")]);
        assert!(said.starts_with(&format!("UNSAFE  {word}  ")), "{file}: {said}");
        assert_eq!(status, Some(10));
    }
    let (said, status) = folder.said(&["check", "a.i", "--property", "termination.prp"]);
    assert!(status == Some(2) && said.contains("the property `termination` is not supported"), "{said}");
    for bad in [
        "nonsense",
        "CHECK( init(start()), LTL(G ! overflow) )",
        "CHECK( init(main()), LTL(G ! call(a b)) )",
        "",
    ] {
        folder.write("bad.prp", bad);
        assert_eq!(folder.said(&["check", "a.i", "--property", "bad.prp"]).1, Some(2), "{bad}");
    }
    let (said, status) = folder.said(&["check", "a.i", "--race", "--property", "no-overflow.prp"]);
    assert!(status == Some(2) && said.contains("cannot be used with"), "{said}");
    // Only the function that is named counts.
    folder.write("b.i", "void __assert_fail(void); void reach_error(void) { } int main(void) { __assert_fail(); reach_error(); return 0; }");
    assert_eq!(folder.said(&["check", "b.i", "--timeout", "600"]).1, Some(10));
    assert_eq!(
        folder.said(&["check", "b.i", "--timeout", "600", "--property", "unreach-call.prp"]).1,
        Some(0)
    );
}

#[test]
fn long_has_four_or_eight_bytes() {
    let folder = Folder::new("svcomp-models");
    let program = "void reach_error(void) { } int main(void) {
  unsigned long big = 4294967295UL;
  big = big + 1;
  if (big != 0 || sizeof(long) != 4 || sizeof(sizeof(int)) != 4 || sizeof(1L) != 4 || sizeof(1LL) != 8) reach_error();
  return 0;
}";
    folder.write("a.i", program);
    assert_eq!(folder.said(&["check", "a.i", "--timeout", "600", "--lp64"]).1, Some(10));
    let (said, status) = folder.said(&["check", "a.i", "--timeout", "600", "--ilp32"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("pointers take 8 bytes"), "{said}");
    // An address is not a number of 32 bits; a number that was made a pointer is.
    let escape = "int x; void reach_error(void) { } int main(void) { long n = (long)&x; if (n == 0) reach_error(); return 0; }";
    folder.write("b.i", escape);
    let (said, status) = folder.said(&["check", "b.i", "--timeout", "600", "--ilp32"]);
    assert!(status == Some(1) && said.contains("an address is used as a number"), "{said}");
    let number = escape.replace("(long)&x", "(long)(void *)7");
    folder.write("c.i", &number);
    assert_eq!(folder.said(&["check", "c.i", "--timeout", "600", "--ilp32"]).1, Some(0));
    assert_eq!(folder.said(&["check", "c.i", "--ilp32", "--lp64"]).1, Some(2));
}

#[test]
fn violation_witnesses_lead_to_the_violation() {
    let folder = Folder::new("svcomp-witness");
    folder.write("a.i", PROGRAM);
    for property in ["unreach-call.prp", "no-data-race.prp", "no-overflow.prp"] {
        let ask = ["--property", property];
        let check = [&["check", "a.i", "--timeout", "600", "--witness", "w.yml"], &ask[..]].concat();
        assert_eq!(folder.said(&check).1, Some(10));
        let text = fs::read_to_string(folder.0.0.join("w.yml")).unwrap();
        let certify = [&["certify", "a.i", "w.yml"], &ask[..]].concat();
        let (said, status) = folder.said(&certify);
        assert!(status == Some(0) && said.starts_with("VALID"), "{said}\n{text}");
        // Another line, another thread, another value: no run goes there.
        let target = text.rfind("line: ").unwrap();
        let moved = format!("{}line: 1{}", &text[..target], &text[target + 6..]);
        let other = text.replace("thread_id: 1", "thread_id: 5").replace("thread_id: 0", "thread_id: 5");
        for broken in [moved, other] {
            folder.write("w.yml", &broken);
            assert_eq!(folder.said(&certify).1, Some(10), "{broken}");
        }
        if property == "unreach-call.prp" {
            assert!(text.contains("\\\\result == 41"), "{text}");
            folder.write("w.yml", &text.replace("== 41", "== 40"));
            assert_eq!(folder.said(&certify).1, Some(10));
            // About another program.
            folder.write("w.yml", &text);
            folder.write("a.i", &PROGRAM.replace("== 41", "== 42"));
            let (said, status) = folder.said(&certify);
            assert!(status == Some(10) && said.contains("the hash differs"), "{said}");
            folder.write("a.i", PROGRAM);
        }
    }
    folder.write("w.yml", "- entry_type: {x}");
    assert_eq!(folder.said(&["certify", "a.i", "w.yml"]).1, Some(2));
}

#[test]
fn correctness_witnesses_are_written() {
    let folder = Folder::new("svcomp-correct");
    folder.write("a.i", "void reach_error(void) { } int main(void) { return 0; }");
    let args = ["check", "a.i", "--timeout", "600", "--witness", "w.yml", "--property", "unreach-call.prp"];
    assert_eq!(folder.said(&args).1, Some(0));
    let text = fs::read_to_string(folder.0.0.join("w.yml")).unwrap();
    assert!(text.starts_with("- entry_type: invariant_set\n") && text.ends_with("  content: []\n"), "{text}");
    assert!(
        text.contains("specification: \"CHECK( init(main()), LTL(G ! call(reach_error())) )\""),
        "{text}"
    );
    let (said, status) = folder.said(&["certify", "a.i", "w.yml"]);
    assert!(status == Some(2) && said.contains("correctness witness"), "{said}");
    assert_eq!(folder.said(&["check", "a.i", "--deadlock", "--witness", "other.yml"]).1, Some(0));
    assert!(!folder.0.0.join("other.yml").exists());
}

/// A lock that a test and a change in one step take.
const LOCKED: &str = "typedef unsigned long pthread_t;
int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);
void reach_error(void) { }
int lock, x;
void *f(void *p) {
  __VERIFIER_atomic_begin(); __VERIFIER_assume(lock == 0); lock = 1; __VERIFIER_atomic_end();
  x = x + 1;
  if (x != 1) {
    reach_error();
  }
  x = x - 1;
  lock = 0;
  return 0;
}
int main(void) {
  pthread_t t;
  while (1) {
    pthread_create(&t, 0, f, 0);
  }
}
";

/// Each location invariant holds whenever a search with three threads comes to its line, and it
/// comes there.
#[test]
fn location_invariants_hold_before_their_lines() {
    let folder = Folder::new("svcomp-invariants");
    folder.write("a.i", LOCKED);
    let args = ["check", "a.i", "--timeout", "600", "--witness", "w.yml", "--property", "unreach-call.prp"];
    assert_eq!(folder.said(&args).1, Some(0));
    let text = fs::read_to_string(folder.0.0.join("w.yml")).unwrap();
    let field = |part: &str, name: &str| {
        let rest = &part[part.find(name).unwrap() + name.len()..];
        rest.lines().next().unwrap().trim().trim_matches('"').to_string()
    };
    let invariants: Vec<(usize, String)> = (text.split("- invariant:").skip(1))
        .map(|part| (field(part, "line:").parse().unwrap(), field(part, "value:")))
        .collect();
    assert!(invariants.iter().any(|(line, _)| *line == 10), "{text}");
    for (line, holds) in invariants {
        for (condition, status) in [(format!("!({holds})"), 0), (holds.clone(), 10)] {
            let check = format!(
                "__VERIFIER_atomic_begin(); if ({condition}) reach_error(); __VERIFIER_atomic_end(); "
            );
            let mut lines: Vec<String> =
                LOCKED.replace("    reach_error();\n", "\n").lines().map(str::to_string).collect();
            lines[line - 1].insert_str(0, &check);
            folder.write("b.i", &lines.join("\n"));
            let args =
                ["check", "b.i", "--timeout", "600", "--threads", "3", "--property", "unreach-call.prp"];
            assert_eq!(folder.said(&args).1, Some(status), "line {line}: {condition}");
        }
    }
}
