//! Memory orders of C: the examples as they stand, and with one order weakened.

use std::process::Output;

use throng_dev::harness::{Scratch, has_compiler, throng};

fn out(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

fn err(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// The examples, whether any number of threads start in `worker`, and the flag that weakens one
/// order.
const EXAMPLES: [(&str, bool, &str); 15] = [
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
