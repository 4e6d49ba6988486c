//! Memory orders of C: the examples as they stand, and with one order weakened.

use std::process::Output;

use serde_json::Value;
use throng_dev::harness::{Scratch, has_compiler, throng};

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

fn err(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// The examples, whether any number of threads start in `worker`, and the flag that weakens one
/// order.
const EXAMPLES: [(&str, bool, &str); 17] = [
    ("cas-lock", true, "-DORDER=memory_order_relaxed"),
    ("coherence", false, "-DSECOND=y"),
    ("dekker", false, "-DORDER=memory_order_acq_rel"),
    ("flag-lock", true, "-DORDER=memory_order_relaxed"),
    ("handover", false, "-DORDER=memory_order_relaxed"),
    ("join", false, "-DJOIN=0"),
    ("message", false, "-DORDER=memory_order_relaxed"),
    ("message-fence", false, "-DORDER=memory_order_relaxed"),
    ("once", true, "-DORDER=memory_order_relaxed"),
    ("publish-pointer", false, "-DORDER=memory_order_relaxed"),
    ("refcount", false, "-DORDER=memory_order_relaxed"),
    ("relay", false, "-DORDER=memory_order_relaxed"),
    ("seqlock", false, "-DORDER=memory_order_relaxed"),
    ("sequence", false, "-DORDER=memory_order_relaxed"),
    ("spinlock", true, "-DORDER=memory_order_relaxed"),
    ("store-buffer", false, "-DORDER=memory_order_release"),
    ("ttas", true, "-DORDER=memory_order_relaxed"),
];

fn ask(name: &str, replicated: bool, options: &[&str]) -> Output {
    let mut call = throng();
    call.current_dir(throng_dev::ROOT);
    call.arg("check").arg(format!("examples/c/orders/{name}.c")).args(options);
    if replicated {
        call.args(["--entry", "worker"]);
    }
    call.output().unwrap()
}

#[test]
fn every_weakened_order_is_noticed() {
    if !has_compiler() {
        return;
    }
    for (name, replicated, weakened) in EXAMPLES {
        let right = ask(name, replicated, &[]);
        assert_eq!(right.status.code(), Some(0), "{name}: {}", out(&right));
        let wrong = ask(name, replicated, &[weakened]);
        assert_eq!(wrong.status.code(), Some(10), "{name}: {}", out(&wrong));
        let sc = ask(name, replicated, &[weakened, "--memory-model", "sc"]);
        // What is broken by an order alone is not under sequential consistency.
        assert_eq!(sc.status.code(), Some(0), "{name}: {}", out(&sc));
    }
}

#[test]
fn an_execution_says_where_old_values_come_from() {
    if !has_compiler() {
        return;
    }
    let ran = ask("store-buffer", false, &["-DORDER=memory_order_release"]);
    let text: String = out(&ran).replace(['│', '\n'], " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("from the start, although line"), "{}", out(&ran));
    assert!(text.contains("memory: the memory model of C11: the execution is consistent"), "{text}");
}

#[test]
fn the_weakest_orders_are_found() {
    if !has_compiler() {
        return;
    }
    let orders = |name: &str, more: &[&str]| {
        let mut call = throng();
        call.current_dir(throng_dev::ROOT).args(["orders", "--json"]);
        call.arg(format!("examples/c/orders/{name}.c")).args(more);
        let ran = call.output().unwrap();
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let of = |key: &str| -> Vec<String> {
            let all = document["operations"].as_array().unwrap();
            all.iter().map(|o| o[key].as_str().unwrap().to_string()).collect()
        };
        (ran.status.code(), of("kind"), of("alone"), of("together"))
    };
    let (status, kinds, alone, together) = orders("dekker", &[]);
    assert_eq!((status, &*kinds.join(" ")), (Some(0), "store fence load"));
    assert_eq!((&*alone.join(" "), alone), ("relaxed seq_cst relaxed", together));
    // What is stronger than need be is found to be.
    let (_, _, alone, together) = orders("spinlock", &["--entry", "worker", "-DORDER=memory_order_seq_cst"]);
    assert_eq!((&*alone.join(" "), alone), ("acquire release", together));
    assert_eq!(orders("join", &["-DJOIN=0"]).0, Some(1));
}

#[test]
fn without_a_proof_by_abstraction_certificates_are_of_sequential_consistency() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-orders-certificate");
    let file = scratch.0.join("proof.cert");
    let path = file.to_str().unwrap();
    // What a thread knows by a join is left to the search of real values.
    assert_eq!(ask("join", false, &["--certificate", path]).status.code(), Some(0));
    let mut certify = throng();
    certify.current_dir(throng_dev::ROOT).args(["certify", "examples/c/orders/join.c", path]);
    let said = certify.output().unwrap();
    assert!(out(&said).starts_with("VALID") && out(&said).contains("under sequential consistency"));
    std::fs::remove_file(&file).unwrap();
    let race = ask("message", false, &["--race", "--certificate", path]);
    assert!(race.status.code() == Some(0) && !file.exists(), "{}{}", out(&race), err(&race));
    assert!(err(&race).contains("no certificate"), "{}", err(&race));
}

/// Asks for a certificate of a program with any number of threads, changes it, and asks for its
/// check.
fn certified(name: &str, options: &[&str], change: fn(&mut Value)) -> (Option<i32>, String) {
    let scratch = Scratch::new(&format!("c-orders-robust-{name}"));
    let file = scratch.0.join("proof.json");
    let path = file.to_str().unwrap();
    let ran = ask(name, true, &["--certificate", path]);
    assert_eq!(ran.status.code(), Some(0), "{}{}", out(&ran), err(&ran));
    let mut document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    change(&mut document);
    std::fs::write(&file, document.to_string()).unwrap();
    let mut call = throng();
    call.current_dir(throng_dev::ROOT).args(["certify", &format!("examples/c/orders/{name}.c"), path]);
    let said = call.args(["--entry", "worker"]).args(options).output().unwrap();
    (said.status.code(), out(&said))
}

#[test]
fn robustness_for_any_number_of_threads_has_a_certificate() {
    if !has_compiler() {
        return;
    }
    for name in ["spinlock", "ttas", "flag-lock"] {
        let (status, said) = certified(name, &[], |_| {});
        assert_eq!(status, Some(0), "{name}: {said}");
        assert!(!said.contains("sequential consistency"), "{name}: {said}");
    }
    // A slice is missing; another program; the proof of one slice stands for another.
    let (status, said) = certified("spinlock", &[], |d| {
        d["proofs"][1]["slices"].as_array_mut().unwrap().pop();
    });
    assert_eq!(status, Some(10), "{said}");
    let (status, said) = certified("ttas", &["-DORDER=memory_order_relaxed"], |_| {});
    assert_eq!(status, Some(10), "{said}");
    let (status, said) = certified("flag-lock", &[], |d| {
        let all = d["proofs"][1]["slices"].as_array_mut().unwrap();
        let other = all[0]["proof"].clone();
        all[1]["proof"] = other;
    });
    assert_eq!(status, Some(10), "{said}");
    // Without the proof about orders, it is one of sequential consistency.
    let (status, said) = certified("spinlock", &[], |d| {
        d["proofs"].as_array_mut().unwrap().pop();
    });
    assert!(status == Some(0) && said.contains("under sequential consistency"), "{said}");
}

/// Two atomic numbers side by side in one structure.
const TICKETS: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct { atomic_int next, owner; } lock;
int inside;
void *worker(void *unused) {
  int ticket = atomic_fetch_add_explicit(&lock.next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock.owner, memory_order_acquire) != ticket) {
  }
  inside = inside + 1;
  atomic_store_explicit(&lock.owner, ticket + 1, ORDER);
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(inside == 2);
}
";

#[test]
fn atomic_numbers_may_be_neighbours() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-orders-neighbours");
    let file = scratch.0.join("tickets.c");
    std::fs::write(&file, TICKETS).unwrap();
    for (order, status) in [("-DORDER=memory_order_release", 0), ("-DORDER=memory_order_relaxed", 10)] {
        let ran = throng().arg("check").arg(&file).arg(order).output().unwrap();
        assert_eq!(ran.status.code(), Some(status), "{}", out(&ran));
    }
}

/// Threads meet at a barrier, and hand over by a semaphore; a flag beside them is relaxed.
const MEETING: &str = "#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
pthread_barrier_t both;
sem_t full;
atomic_int flag;
int mine, yours, item;
void *other(void *unused) {
  mine = 1;
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  MEET;
  assert(yours == 1);
  item = 5;
  POST;
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_barrier_init(&both, 0, 2);
  sem_init(&full, 0, 0);
  pthread_create(&a, 0, other, 0);
  yours = 1;
  MEET;
  assert(mine == 1);
  TAKE;
  assert(item == 5);
}
";

#[test]
fn barriers_and_semaphores_synchronise() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-orders-meeting");
    let file = scratch.0.join("meeting.c");
    std::fs::write(&file, MEETING).unwrap();
    let (meet, post, take) =
        ("-DMEET=pthread_barrier_wait(&both)", "-DPOST=sem_post(&full)", "-DTAKE=sem_wait(&full)");
    let spin = "-DTAKE=while(atomic_load_explicit(&flag,memory_order_relaxed)!=2)";
    let set = "-DPOST=atomic_store_explicit(&flag,2,memory_order_relaxed)";
    for (options, status) in [([meet, post, take], 0), ([meet, set, spin], 10)] {
        let ran = throng().arg("check").arg(&file).args(options).output().unwrap();
        assert_eq!(ran.status.code(), Some(status), "{}", out(&ran));
    }
}

/// An index is taken by trying again; whether it was out of date when it was read first does not
/// matter.
const RETRY: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int next;
int place[2];
void *worker(void *unused) {
  int n = atomic_load_explicit(&next, memory_order_relaxed);
  while (!atomic_compare_exchange_strong_explicit(&next, &n, n + 1, ORDER, memory_order_relaxed)) {
  }
  if (n > 0) assert(place[n - 1] == n);
  return 0;
}
int main(void) {
  pthread_t a, b;
  place[0] = 1;
  place[1] = 2;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
";

#[test]
fn what_is_read_in_vain_does_not_matter() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-orders-retry");
    let file = scratch.0.join("retry.c");
    std::fs::write(&file, RETRY).unwrap();
    let ran = throng().arg("check").arg(&file).arg("-DORDER=memory_order_acq_rel").output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", out(&ran));
}

/// Writes the certificate of a Boolean program, changes it, and asks for its check.
fn certified_program(name: &str, change: fn(&mut Value)) -> (Option<i32>, String) {
    let scratch = Scratch::new(&format!("bp-orders-{name}"));
    let file = scratch.0.join("proof.json");
    let path = file.to_str().unwrap();
    let input = format!("examples/memory/{name}.bp");
    let mut check = throng();
    check.current_dir(throng_dev::ROOT).args(["check", &input, "--certificate", path]);
    let ran = check.output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}{}", out(&ran), err(&ran));
    let mut document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    change(&mut document);
    std::fs::write(&file, document.to_string()).unwrap();
    let mut call = throng();
    call.current_dir(throng_dev::ROOT).args(["certify", &input, path]);
    let said = call.output().unwrap();
    (said.status.code(), out(&said) + &err(&said))
}

#[test]
fn robustness_of_boolean_programs_has_a_certificate() {
    for name in ["message", "spinlock", "message-fences"] {
        let (status, said) = certified_program(name, |_| {});
        assert!(status == Some(0) && !said.contains("sequential consistency"), "{name}: {said}");
    }
    let (status, said) = certified_program("message", |d| {
        d["slices"].as_array_mut().unwrap().pop();
    });
    assert!(status == Some(10) && said.contains("is missing"), "{said}");
    // The certificate under sequential consistency proves no slice, nor does one with less in it.
    let (status, said) = certified_program("message", |d| {
        let other = d["sequential"].clone();
        d["slices"].as_array_mut().unwrap().iter_mut().for_each(|s| s["proof"] = other.clone());
    });
    assert_ne!(status, Some(0), "{said}");
    let (status, said) = certified_program("spinlock", |d| {
        d["slices"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|s| s["proof"]["evidence"] = Value::Array(vec![]));
    });
    assert_ne!(status, Some(0), "{said}");
    let (status, said) = certified_program("spinlock", |d| {
        d["version"] = Value::from(2);
    });
    assert_eq!(status, Some(2), "{said}");
}

#[test]
fn replays_and_witnesses_are_of_sequential_consistency() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("c-orders-replay");
    let file = scratch.0.join("replay.c");
    let path = file.to_str().unwrap();
    let ran = ask("store-buffer", false, &["-DORDER=memory_order_release", "--replay", path]);
    assert_eq!(ran.status.code(), Some(10), "{}", out(&ran));
    assert!(!file.exists() && err(&ran).contains("not one of sequential consistency"), "{}", err(&ran));
}

/// Waits for a flag in a loop with the marks of other verifiers.
const MARKED: &str = "#include <HEADER>
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
int data, passes;
static void *other(void *unused) {
    data = 1;
    atomic_store_explicit(&flag, 1, ORDER);
    return 0;
}
int main(void) {
    pthread_t t;
    int seen;
    pthread_create(&t, 0, other, 0);
    __VERIFIER_loop_begin();
    do {
        __VERIFIER_spin_start();
        seen = atomic_load_explicit(&flag, memory_order_acquire);
        __VERIFIER_spin_end(passes = seen);
    } while (!seen);
    assert(data == 1 && passes == 1);
    return 0;
}
";

#[test]
fn headers_of_other_verifiers_are_found_last() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("verifiers");
    for header in ["genmc.h", "dat3m.h"] {
        let file = scratch.file("marked.c", MARKED.replace("HEADER", header).as_bytes());
        let check = |more: &[&str]| throng().arg("check").arg(&file).args(more).output().unwrap();
        let right = check(&["-DORDER=memory_order_release"]);
        assert_eq!(right.status.code(), Some(0), "{}{}", out(&right), err(&right));
        let wrong = check(&["-DORDER=memory_order_relaxed"]);
        assert_eq!(wrong.status.code(), Some(10), "{}{}", out(&wrong), err(&wrong));
    }
    // The user's own header wins.
    scratch.file("genmc.h", b"#define ORDER memory_order_release\n");
    let file = scratch.file("own.c", MARKED.replace("HEADER", "genmc.h").as_bytes());
    let own = throng().arg("check").arg(&file).arg("-I").arg(file.parent().unwrap()).output().unwrap();
    assert_eq!(own.status.code(), Some(0), "{}{}", out(&own), err(&own));
}

#[test]
fn what_a_semaphore_protects_is_no_race() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("semaphores");
    let text = "#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
atomic_int hits;
int data;
sem_t ready;
static void *writer(void *unused) {
    data = 1;
    atomic_fetch_add_explicit(&hits, 1, memory_order_relaxed);
    AFTER
    return 0;
}
int main(void) {
    pthread_t t;
    sem_init(&ready, 0, 0);
    pthread_create(&t, 0, writer, 0);
    BEFORE
    assert(data == 1);
    return 0;
}
";
    let cases = [("sem_post(&ready);", "sem_wait(&ready);", false), ("sem_post(&ready);", "", true)];
    for (after, before, races) in cases {
        let text = text.replace("AFTER", after).replace("BEFORE", before);
        let ran = throng().arg("check").arg(scratch.file("semaphore.c", text)).output().unwrap();
        assert_eq!(ran.status.code() == Some(10), races, "{}", out(&ran));
    }
}

/// A thread that reads `x` in some way and then writes `y`, with an order.
const READ_THEN_WRITE: &str = "#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y;
static void *other(void *unused) {
    READ
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    atomic_store_explicit(&x, atomic_load_explicit(&y, memory_order_acquire), memory_order_release);
    return 0;
}
";

#[test]
fn load_buffering_is_named_where_it_matters() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("buffering");
    let load = "atomic_load_explicit(&x, memory_order_relaxed)";
    let cases = [
        (format!("(void){load};"), true),
        (format!("if ({load}) {{ atomic_store(&x, 2); }}"), true),
        (format!("while (!{load}) {{ atomic_store_explicit(&y, 2, memory_order_relaxed); }}"), true),
        ("atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);".to_string(), true),
        ("(void)atomic_load_explicit(&x, memory_order_acquire);".to_string(), false),
        (format!("(void){load}; atomic_thread_fence(memory_order_acquire);"), false),
        ("while (!__atomic_load_n(&x, __ATOMIC_RELAXED)) { }".to_string(), false),
        (String::new(), false),
    ];
    for (read, assumed) in cases {
        let file = scratch.file("buffering.c", READ_THEN_WRITE.replace("READ", &read).as_bytes());
        let ran = throng().arg("check").arg(&file).output().unwrap();
        let text = out(&ran).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("SAFE"), "{read}: {text}");
        assert_eq!(text.contains("C11 without load buffering"), assumed, "{read}: {text}");
    }
}

#[test]
fn executions_of_c_become_litmus_tests() {
    if !has_compiler() {
        return;
    }
    let scratch = Scratch::new("litmus");
    let file = scratch.argument("sb.litmus");
    let ran = ask("store-buffer", false, &["-DORDER=memory_order_release", "--litmus", &file]);
    assert_eq!(ran.status.code(), Some(10), "{}", err(&ran));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("C execution\n\n{ "), "{text}");
    for line in [
        "atomic_store_explicit(x, 1, memory_order_release);",
        "atomic_store_explicit(y, 1, memory_order_seq_cst);",
        "[x] = 0; [y] = 0;",
        "exists (",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let violated = out(&ran).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(violated.contains("from the start (line"), "{violated}");
}
