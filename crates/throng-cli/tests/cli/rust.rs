//! Rust: files, packages, and what the standard library's functions are taken for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use throng_dev::harness::{Scratch, throng};

/// The limit of time, for machines that are busy; no answer here needs it.
const LIMITS: [&str; 2] = ["--timeout", "120"];

fn check_in(folder: &Path, args: &[&str]) -> Output {
    let command = [&["check"], args, &LIMITS[..]].concat();
    throng().current_dir(folder).args(command).output().unwrap()
}

fn check(args: &[&str]) -> (String, Option<i32>) {
    let ran = check_in(&PathBuf::from(throng_dev::ROOT), args);
    (String::from_utf8_lossy(&ran.stdout).into_owned(), ran.status.code())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn correct_examples_are_proved_and_broken_ones_fail_where_they_are_broken() {
    let any = "SAFE  assertions  for any number of threads";
    let examples: [(&str, &[&str], &str, &str); 5] = [
        ("spin_lock", &["--entry", "worker"], any, "two threads are inside"),
        (
            "ticket_lock",
            &["--entry", "worker", "--threads", "3"],
            "SAFE  assertions  for at most 3 threads",
            "two threads are inside",
        ),
        ("ring", &["--one", "producer,consumer", "--memory-model", "sc"], "SAFE", "is lost, or comes twice"),
        ("once", &["--entry", "worker"], any, "a value that is ready"),
        (
            "bounded_queue",
            &["--entry", "producer,consumer", "--memory-model", "sc"],
            any,
            "attempt to subtract with overflow",
        ),
    ];
    for (name, options, proved, why) in examples {
        let file = |kind: &str| format!("examples/rust/{name}{kind}.rs");
        let (text, status) = check(&[&[file("").as_str()], options].concat());
        assert!(first_line(&text).starts_with(proved) && status == Some(0), "{name}: {text}");
        assert!(text.contains("compiled by rustc"), "{text}");
        let (text, status) = check(&[&[file("-broken").as_str()], options].concat());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("UNSAFE  assertions") && status == Some(10), "{name}: {text}");
        assert!(words.contains(why), "{name}: {text}");
    }
}

/// Threads that are started, joined and scoped; values that they return; locks in `Arc`.
const THREADS: &str = r#"
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0u8));
    let own = total.clone();
    let seven = thread::spawn(move || {
        *own.lock().unwrap() += 1;
        7u64
    });
    assert!(seven.join().unwrap() == 7);
    thread::scope(|scope| {
        scope.spawn(|| *total.lock().unwrap() += 1);
    });
    assert!(*total.lock().unwrap() == EXPECTED, "the total is another one");
}
"#;

#[test]
fn threads_are_started_and_joined_as_they_are_in_rust() {
    let scratch = Scratch::new("rust-threads");
    for (expected, word) in [("2", "SAFE"), ("3", "UNSAFE")] {
        let path = scratch.file("threads.rs", THREADS.replace("EXPECTED", expected));
        let (text, _) = check(&[path.to_str().unwrap(), "--memory-model", "sc"]);
        assert!(text.starts_with(&format!("{word}  assertions")), "{expected}: {text}");
    }
}

/// What a thread is called with is not known, but it is one value: two copies of it are equal.
const PAIR: &str = r#"
use std::sync::Mutex;

static PAIR: Mutex<(u32, u32)> = Mutex::new((0, 0));

pub fn worker(n: u32) {
    let mut pair = PAIR.lock().unwrap();
    assert!(pair.0 == pair.1);
    pair.0 = n;
    pair.1 = n EXTRA;
}
"#;

#[test]
fn an_argument_of_a_thread_has_one_value() {
    let scratch = Scratch::new("rust-argument");
    let options = ["--entry", "worker", "--memory-model", "sc", "--engine", "explicit", "--threads", "2"];
    for (extra, is_unsafe) in [("", false), ("^ 1", true)] {
        let path = scratch.file("pair.rs", PAIR.replace("EXTRA", extra));
        let (text, _) = check(&[&[path.to_str().unwrap()], &options[..]].concat());
        assert_eq!(text.starts_with("UNSAFE"), is_unsafe, "{text}");
    }
}

/// Locks of the standard library: what they rule out, and what they do not. The last one of each
/// kind sees the word of the lock.
const LOCKS: &str = r#"
use std::sync::{Mutex, RwLock};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static SHARDS: [Mutex<[u32; 2]>; 2] = [Mutex::new([0; 2]), Mutex::new([0; 2])];
static SHARED: RwLock<(u32, u32)> = RwLock::new((0, 0));
static INSIDE: AtomicU32 = AtomicU32::new(0);

fn in_order(n: u32) {
    let mut first = SHARDS[0].lock().unwrap();
    let mut second = SHARDS[1].lock().unwrap();
    assert!(first[0] == second[1]);
    first[0] = n;
    second[1] = n;
}

fn one_alone(n: u32) {
    SHARDS[0].lock().unwrap()[0] = n;
}

fn writer() {
    let mut pair = SHARED.write().unwrap();
    pair.0 = 1 - pair.0;
    pair.1 = 1 - pair.1;
}

fn reader() {
    let pair = SHARED.read().unwrap();
    assert!(pair.0 == pair.1);
}

fn only_reader() {
    let _pair = SHARED.read().unwrap();
    assert!(INSIDE.fetch_add(1, SeqCst) == 0);
    INSIDE.fetch_sub(1, SeqCst);
}

fn tries() {
    if let Ok(mut shard) = SHARDS[0].try_lock() {
        shard[0] += 1;
        assert!(shard[0] == 1);
        shard[0] -= 1;
    }
}

fn never_fails() {
    assert!(SHARDS[0].try_lock().is_ok());
}

fn tries_to_read() {
    if let Ok(pair) = SHARED.try_read() {
        assert!(pair.0 == pair.1);
    }
}

fn never_fails_to_read() {
    assert!(SHARED.try_read().is_ok());
}
"#;

#[test]
fn locks_of_the_standard_library_rule_out_what_they_do() {
    let scratch = Scratch::new("rust-locks");
    let path = scratch.file("locks.rs", LOCKS);
    let cases = [
        ("in_order", "SAFE"),
        ("in_order,one_alone", "UNSAFE"),
        ("writer,reader", "SAFE"),
        ("only_reader", "UNSAFE"),
        ("tries", "SAFE"),
        ("never_fails", "UNSAFE"),
        ("writer,tries_to_read", "SAFE"),
        ("reader,tries_to_read", "SAFE"),
        ("writer,never_fails_to_read", "UNSAFE"),
        ("reader,never_fails_to_read", "SAFE"),
    ];
    for (entries, word) in cases {
        // The search for other executions does not go through all values of an argument.
        let models = if entries.starts_with("in_order") { &["sc"][..] } else { &["sc", "c11"] };
        for model in models {
            let bound: &[&str] = if entries.contains("read") { &["--threads", "2"] } else { &[] };
            let options = ["--entry", entries, "--memory-model", model];
            let (text, _) = check(&[&[path.to_str().unwrap()], &options[..], bound].concat());
            assert!(text.starts_with(&format!("{word}  assertions")), "{entries} {model}: {text}");
        }
    }
}

/// What std shares with the programs that use it: code of `Vec` that it has compiled itself.
const SHARED_CODE: &str = r#"
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0u32));
    let mut all = Vec::new();
    for n in 1..3u32 {
        let own = total.clone();
        all.push(thread::spawn(move || *own.lock().unwrap() += n));
    }
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(*total.lock().unwrap(), EXPECTED);
}
"#;

#[test]
fn vectors_of_threads_are_joined() {
    let scratch = Scratch::new("rust-vectors");
    for (expected, word) in [("3", "SAFE"), ("4", "UNSAFE")] {
        let path = scratch.file("vectors.rs", SHARED_CODE.replace("EXPECTED", expected));
        let (text, _) = check(&[path.to_str().unwrap(), "--memory-model", "sc"]);
        assert!(text.starts_with(&format!("{word}  assertions")), "{expected}: {text}");
    }
}

#[test]
fn what_is_not_modelled_is_refused_by_name_and_line() {
    let scratch = Scratch::new("rust-refused");
    let text = "fn main() {\n    let id = std::thread::current().id();\n    drop(id);\n}\n";
    let path = scratch.file("id.rs", text);
    let ran = check_in(Path::new("."), &[path.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("E852") && said.contains("id.rs:2"), "{said}");
}

#[test]
fn a_compiler_that_is_missing_or_refuses_the_program_is_exit_status_2() {
    let scratch = Scratch::new("rust-errors");
    let path = scratch.file("x.rs", "fn worker() { let x: u32 = \"one\"; }\n");
    let ran = check_in(Path::new("."), &[path.to_str().unwrap(), "--entry", "worker"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(2) && said.contains("error[E0308]: mismatched types"), "{said}");
    let missing =
        throng().args(["check", path.to_str().unwrap()]).env("RUSTC", "no-such-rustc").output().unwrap();
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(missing.status.code() == Some(2) && said.contains("E841"), "{said}");
}

#[test]
fn standard_input_is_rust_if_said_and_finds_modules_beside_it() {
    let scratch = Scratch::new("rust-stdin");
    scratch.file("other.rs", "pub fn two() -> u32 { 2 }\n");
    let text = scratch.file("text", "mod other;\npub fn worker() { assert_eq!(other::two(), 3); }\n");
    let ran = throng()
        .args(["check", "-", "--from", "rs", "--entry", "worker", "--quiet"])
        .current_dir(&scratch.0)
        .stdin(fs::File::open(text).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("UNSAFE  assertions"), "{said}");
}

#[test]
fn functions_of_tests_of_a_package_are_entries() {
    let scratch = Scratch::new("rust-package");
    fs::create_dir_all(scratch.0.join("src")).unwrap();
    scratch.file("Cargo.toml", "[package]\nname = \"locks\"\nedition = \"2021\"\n[workspace]\n");
    let lock =
        fs::read_to_string(PathBuf::from(throng_dev::ROOT).join("examples/rust/spin_lock.rs")).unwrap();
    let tests = "\n#[cfg(test)]\nmod tests {\n    fn inside() {\n        super::worker();\n    }\n}\n";
    scratch.file("src/lib.rs", &(lock + tests));
    for _ in 0..2 {
        let ran = check_in(&scratch.0, &["--cargo", "--entry", "tests::inside"]);
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(text.starts_with("SAFE  assertions  for any number of threads"), "{text}{said}");
    }
    // `cargo throng` is the same, found by cargo beside other commands.
    let beside = Path::new(env!("CARGO_BIN_EXE_cargo-throng")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(beside).chain(std::env::split_paths(&path));
    let ran = std::process::Command::new(env!("CARGO"))
        .args(["throng", "check", "--entry", "tests::inside"])
        .args(LIMITS)
        .current_dir(&scratch.0)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.starts_with("SAFE  assertions  for any number of threads"), "{text}{ran:?}");
    // A package needs no file before the certificate.
    let question = ["--cargo", "--entry", "tests::inside"];
    check_in(&scratch.0, &[&question[..], &["--certificate", "lock.json"]].concat());
    let certify = [&["certify", "lock.json"], &question[..]].concat();
    let ran = throng().current_dir(&scratch.0).args(certify).output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("VALID"), "{ran:?}");
}

/// A counter that is read and written in one step, and a swap that one thread makes.
const CLAIM: &str = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
static TAKEN: AtomicU32 = AtomicU32::new(0);
fn claimer() {
    if TAKEN.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
        assert!(TAKEN.swap(2, SeqCst) == 1);
    }
}
";

#[test]
fn mutants_say_what_a_proof_depends_on() {
    let scratch = Scratch::new("rust-mutants");
    let path = scratch.file("claim.rs", CLAIM);
    let args = ["mutate", path.to_str().unwrap(), "--entry", "claimer", "--memory-model", "sc", "--json"];
    let ran = throng().args(args).args(LIMITS).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let rows = document["mutants"].as_array().unwrap().iter().map(|m| {
        let text = |name: &str| m[name].as_str().unwrap_or_default().to_string();
        (text("change"), m["lines"][0].as_u64().unwrap(), text("verdict"))
    });
    let split = |line, verdict: &str| ("atomic operation split".to_string(), line, verdict.to_string());
    assert_eq!(rows.collect::<Vec<_>>(), [split(4, "UNSAFE"), split(5, "SAFE")], "{document:#}");
}
