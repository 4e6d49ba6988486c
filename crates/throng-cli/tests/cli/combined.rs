//! Several questions about a C program in one call are answered as each is alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use throng_dev::harness::{Scratch, throng};
use throng_model::random::Random;

const HEAD: &str = "typedef unsigned long pthread_t; typedef struct { int a[10]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
void reach_error(void); _Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t m, n; int x, y = 2147483000, z;
";

/// What threads do. Each violates something in some runs, or lets others come to it.
const STATEMENTS: [&str; 13] = [
    "pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);",
    "x = x + 1;",
    "y = y + 500;",
    "if (x == 2) reach_error();",
    "if (z) reach_error();",
    "pthread_mutex_lock(&m); z = z + 1; pthread_mutex_unlock(&m);",
    "pthread_mutex_unlock(&n);",
    "z = 1;",
    "if (__VERIFIER_nondet_bool()) y = y + 100;",
    "if (y < 0) x = 2;",
    "pthread_mutex_lock(&m); x = x + 1; pthread_mutex_unlock(&m);",
    "if (x > 1) y = y + 600;",
    "pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);",
];

fn program(seed: u64) -> String {
    let mut random = Random::new(seed * 2 + 1);
    let mut body = |label: bool| {
        let mut text = String::new();
        let (at, count) = (random.below(3), 3);
        for k in 0..count {
            if label && k == at {
                text.push_str("L: ;\n");
            }
            text.push_str(STATEMENTS[random.below(STATEMENTS.len())]);
            text.push('\n');
        }
        text
    };
    let (thread, main) = (body(true), body(false));
    let second = if random.below(2) == 0 { "pthread_create(&t, 0, w, 0);" } else { "" };
    format!(
        "{HEAD}void *w(void *a) {{\n{thread}return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); {second}\n{main}return 0; }}\n"
    )
}

/// The verdict of each target.
fn verdicts(path: &Path, options: &[&str]) -> BTreeMap<String, String> {
    let ran = throng().arg("check").arg(path).args(options).arg("--json").output().unwrap();
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let targets = answer["targets"].as_array().unwrap();
    targets.iter().map(|t| (text(&t["name"]), text(&t["verdict"]))).collect()
}

const ALONE: [(&str, &[&str]); 6] = [
    ("assertions", &["--assertions"]),
    ("mutex L", &["--mutex", "L"]),
    ("race", &["--race"]),
    ("overflow", &["--overflow"]),
    ("locks", &["--locks"]),
    ("deadlock", &["--deadlock"]),
];

#[test]
fn together_as_alone() {
    let scratch = Scratch::new("c-combined");
    let mut violated = [0; ALONE.len()];
    for seed in 0..12 {
        let path = scratch.0.join(format!("{seed}.i"));
        fs::write(&path, program(seed)).unwrap();
        let all: Vec<&str> = ALONE.iter().flat_map(|q| q.1.iter().copied()).collect();
        let together = verdicts(&path, &all);
        for (n, (name, options)) in ALONE.iter().enumerate() {
            let alone = verdicts(&path, options);
            // A program without assertions has no such target beside others.
            let Some(found) = together.get(*name) else {
                assert_eq!(*name, "assertions");
                continue;
            };
            assert_eq!(alone.get(*name), Some(found), "{name}: {}", program(seed));
            violated[n] += usize::from(found == "unsafe");
        }
    }
    // The programs are not all alike.
    assert!(violated.iter().filter(|&&n| n > 0 && n < 12).count() >= 3, "{violated:?}");
}

/// A violation of one hides nothing of the other.
#[test]
fn a_violation_does_not_end_the_search_for_another() {
    let scratch = Scratch::new("c-hidden");
    let path = scratch.0.join("hidden.i");
    let text = format!(
        "{HEAD}void *w(void *a) {{ L: z = 1; y = y + 1000; pthread_mutex_unlock(&m); return 0; }}
int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); pthread_create(&t, 0, w, 0);
if (z) reach_error(); return 0; }}\n"
    );
    fs::write(&path, text).unwrap();
    let combinations: [&[&str]; 3] =
        [&["--mutex", "L"], &["--overflow", "--assertions"], &["--locks", "--assertions"]];
    for options in combinations {
        let found = verdicts(&path, options);
        assert!(found.len() == 2 && found.values().all(|v| v == "unsafe"), "{options:?}: {found:?}");
    }
}
