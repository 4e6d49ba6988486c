//! What can be asked about threads: exclusion of sets of labels, bounds, conditions, data races,
//! deadlocks; asked on the command line or in the program, answered by several engines, with
//! certificates that answer this question and no other. And named conditions that threads wait for.

use std::path::Path;

use throng_dev::harness::command::{run, test_file};

/// Two locks that are taken in both orders.
const PHILOSOPHERS: &str = "decl a := 0, b := 0;
void main() begin
  while * do
    if * then a := 1 constrain !a; b := 1 constrain !b;
    else b := 1 constrain !b; a := 1 constrain !a; fi
    a := 0;
    b := 0;
  od
end";

/// The same in one order.
const ORDERED: &str = "decl a := 0, b := 0;
void main() begin
  while * do
    a := 1 constrain !a; b := 1 constrain !b;
    b := 0;
    a := 0;
  od
end";

/// Readers and writers; with `both`, a writer does not wait for readers.
fn readers_writers(both: bool) -> String {
    let waits = if both { "!w" } else { "!w & readers = 0" };
    format!(
        "decl readers : 0..2 := 0; decl w := 0; decl data := 0;
void main() begin
  decl x := 0;
  while * do
    if * then
      atomic {{ assume(!w & readers < 2); readers := readers + 1; }}
      READ: x := data;
      readers := readers - 1;
    else
      atomic {{ assume({waits}); w := 1; }}
      WRITE: data := !data;
      w := 0;
    fi
  od
end"
    )
}

/// A buffer with one slot. Threads wait for what they need, and release the section while they do.
const BUFFER: &str = "decl slot := 0;
void main() begin
  while * do
    if * then
      atomic { while slot do wait(empty); od; assert(!slot); slot := 1; signal(full); }
    else
      atomic { while !slot do wait(full); od; assert(slot); slot := 0; signal(empty); }
    fi
  od
end";

fn check(name: &str, text: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let file = test_file(&format!("questions-{name}.bp"), text);
    run(&[&["check", file.to_str().unwrap(), "--timeout", "600"], options].concat())
}

/// Checks, writes a certificate, and certifies it with the same options and with none.
#[track_caller]
fn certified(name: &str, text: &str, options: &[&str], expected: i32) {
    let certificate = test_file(&format!("questions-{name}.cert"), "");
    let with = [options, &["--certificate", certificate.to_str().unwrap()]].concat();
    let (status, out, err) = check(name, text, &with);
    assert_eq!(status, Some(expected), "{name} {options:?}\n{out}{err}");
    let file = test_file(&format!("questions-{name}.bp"), text);
    let certify = |options: &[&str]| {
        run(&[&["certify", file.to_str().unwrap(), certificate.to_str().unwrap()], options].concat())
    };
    // Which engine found it is not part of the question.
    let question = options.iter().position(|o| *o == "--engine").map_or(options, |at| &options[..at]);
    let (status, out, err) = certify(question);
    assert_eq!(status, Some(0), "{name} {options:?}\n{out}{err}");
}

#[test]
fn sets_of_labels_exclude_each_other() {
    for (both, expected) in [(false, 0), (true, 10)] {
        let text = readers_writers(both);
        certified("exclusion", &text, &["--mutex", "READ,WRITE"], expected);
        certified("exclusion", &text, &["--mutex", "READ | WRITE"], 10);
        certified("exclusion", &text, &["--mutex", "WRITE", "--at-most", "READ=2"], 0);
        certified("exclusion", &text, &["--at-most", "READ=1"], 10);
        certified("exclusion", &text, &["--race", "data"], expected);
        certified("exclusion", &text, &["--never", "READ & w, WRITE"], expected);
    }
    let text = readers_writers(false);
    certified("exclusion", &text, &["--race", "readers"], 10);
    certified("exclusion", &text, &["--never", "READ & x, READ & !x"], 10);
    certified("exclusion", &text, &["--never", "READ & readers > 1"], 10);
    certified("exclusion", &text, &["--never", "line 8 & readers = 0"], 0);
}

#[test]
fn what_is_wrong_with_a_question_is_underlined() {
    let text = readers_writers(false);
    for (options, code, under) in [
        (["--mutex", "READ,WROTE"], "E606", "WROTE"),
        (["--mutex", "A,B,C"], "E614", "exclusion is between two"),
        (["--at-most", "READ"], "E614", "how many"),
        (["--never", "READ & z"], "E608", "no variable `z`"),
        (["--never", "READ &"], "E614", "condition is missing"),
        (["--race", "x"], "E608", "no shared variable `x`"),
    ] {
        let (status, out, err) = check("wrong", &text, &options);
        assert!(status == Some(2) && out.is_empty(), "{options:?}: {out}");
        assert!(err.contains(code) && err.contains(under), "{options:?}: {err}");
    }
}

#[test]
fn programs_ask_themselves() {
    let text = format!("//@ mutex READ, WRITE\n//@ initial 2\n{}", readers_writers(true));
    let (status, out, _) = check("inside", &text, &[]);
    assert_eq!(status, Some(10));
    assert!(out.contains("mutex READ, WRITE") && out.contains("2 threads at the entry of main"), "{out}");
    certified("inside", &text, &["--initial", "3"], 10);
    for (line, code) in [("//@ mutx READ", "E615"), ("//@ mutex", "E615"), ("//@ mutex NO", "E606")] {
        let (status, _, err) = check("inside", &format!("{line}\n{text}"), &[]);
        assert!(status == Some(2) && err.contains(code) && err.contains(".bp:1:"), "{line}: {err}");
    }
    let file = test_file("questions-inside.bp", &text);
    let (status, out, _) = run(&["reach", file.to_str().unwrap(), "--threads", "2"]);
    assert!(status == Some(0) && out.contains("2 threads at the entry"), "{out}");
}

#[test]
fn deadlocks_are_found_and_ruled_out() {
    certified("philosophers", PHILOSOPHERS, &["--deadlock"], 10);
    certified("philosophers", PHILOSOPHERS, &["--deadlock", "--threads", "3", "--engine", "explicit"], 10);
    certified("philosophers", PHILOSOPHERS, &["--deadlock", "--initial", "1"], 0);
    certified("philosophers", PHILOSOPHERS, &["--deadlock", "--threads", "3", "--engine", "symbolic"], 10);
    certified("ordered", ORDERED, &["--deadlock", "--threads", "3", "--engine", "symbolic"], 0);
    let (status, out, _) = check("ordered", ORDERED, &["--deadlock", "--engine", "symbolic"]);
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status == Some(1) && said.contains("only where the number of"), "{out}");
    certified("ordered", ORDERED, &["--deadlock"], 0);
    certified("ordered", ORDERED, &["--deadlock", "--threads", "3"], 0);
    // A proof is looked for also if the search gave up after so many threads.
    let (status, out, _) = check("ordered", ORDERED, &["--deadlock", "--max-threads", "1"]);
    assert_eq!(status, Some(0), "{out}");
    certified("ordered", ORDERED, &["--deadlock", "--engine", "equations"], 0);
    let (status, out, _) = check("philosophers", PHILOSOPHERS, &["--deadlock"]);
    assert!(status == Some(10) && out.starts_with("UNSAFE  deadlock  2 threads"), "{out}");
    let (status, out, _) = check("ordered", ORDERED, &["--deadlock"]);
    assert!(status == Some(0) && out.starts_with("SAFE  deadlock  for any number of threads"), "{out}");
    // A thread that ends is not a deadlock, one that waits for ever is, one at a violation is not.
    certified("ends", "void main() begin skip; end", &["--deadlock"], 0);
    certified("waits", "void main() begin wait; end", &["--deadlock"], 10);
    certified("blocks", "decl x; void main() begin decl y; assume(x & y); end", &["--deadlock"], 10);
    certified("section", "decl x := 0; void main() begin atomic { assume(x); } end", &["--deadlock"], 10);
    certified("fails", "void main() begin decl x; assert(x); end", &["--deadlock", "--initial", "1"], 10);
    let (_, out, _) = check("fails", "void main() begin assert(0); end", &["--deadlock", "--initial", "1"]);
    assert!(out.contains("SAFE    deadlock"), "{out}");
    // What cannot be decided says how far it is known.
    let unknown = "void main() begin while * do start_thread goto L; od; L: while * do skip; od end";
    let (status, out, _) =
        check("grows", unknown, &["--deadlock", "--engine", "explicit", "--max-threads", "3"]);
    assert!(status == Some(1) && out.contains("none with up to 3 threads"), "{out}");
    for engine in ["backward", "karp-miller", "symbolic"] {
        let (status, out, _) = check("ordered", ORDERED, &["--deadlock", "--engine", engine]);
        assert!(status == Some(1) && out.starts_with("UNKNOWN"), "{engine}: {out}");
    }
}

#[test]
fn the_certificate_of_one_question_is_none_of_another() {
    let certificate = test_file("questions-other.cert", "");
    let cert = certificate.to_str().unwrap();
    let (status, ..) = check("other", ORDERED, &["--deadlock", "--certificate", cert]);
    assert_eq!(status, Some(0));
    let file = test_file("questions-other.bp", ORDERED);
    let (status, out, _) = run(&["certify", file.to_str().unwrap(), cert, "--invariant", "!b | a"]);
    assert!(status == Some(10) && out.contains("nothing is said about"), "{out}");
    // The proof for one program is none for another.
    let broken = test_file("questions-other.bp", PHILOSOPHERS);
    let (status, out, _) = run(&["certify", broken.to_str().unwrap(), cert, "--deadlock"]);
    assert!(status == Some(10), "{out}");
}

#[test]
fn systems_have_deadlocks_too() {
    let lock = "shared free taken\nlocal idle try crit\ninit unbounded\nfree idle -> free try\nfree try -> taken crit\n\
                taken idle -> taken try\ntaken crit -> free idle\n";
    let stays = lock.replace("taken crit -> free idle\n", "");
    for (text, options, expected) in [
        (lock, &["--deadlock"][..], 0),
        (lock, &["--deadlock", "--threads", "3"], 0),
        (&stays, &["--deadlock"], 10),
    ] {
        let file = test_file("questions.ntts", text);
        let certificate = test_file("questions-ntts.cert", "");
        let (file, cert) = (file.to_str().unwrap(), certificate.to_str().unwrap());
        let (status, out, err) =
            run(&[&["check", file, "--certificate", cert, "--timeout", "600"], options].concat());
        assert_eq!(status, Some(expected), "{out}{err}");
        let (status, out, _) = run(&[&["certify", file, cert], options].concat());
        assert_eq!(status, Some(0), "{out}");
        let script = Path::new(throng_dev::ROOT).join("tools/certify.py");
        let second =
            std::process::Command::new("python3").arg(script).args(options).args([file, cert]).output();
        let second = second.expect("Python runs");
        assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stdout));
    }
}

#[test]
fn conditions_have_names() {
    certified("buffer", BUFFER, &[], 0);
    // One that takes and never gets anything waits for ever.
    certified("buffer", BUFFER, &["--deadlock", "--initial", "1"], 10);
    // Looking once is not enough: the slot may be full again when the thread enters the section
    // again.
    let once = BUFFER.replace("while slot do wait(empty); od", "if slot then wait(empty); fi");
    certified("buffer-once", &once, &[], 10);
    let wrong = "decl x := 0; void main() begin if * then wait(c); x := 1; else signal(d); wait(d); fi end";
    let (status, out, err) = check("names", wrong, &["--invariant", "!x"]);
    assert!(status == Some(0), "a signal for another condition wakes no thread: {out}");
    assert!(err.contains("W205") && err.contains("`c` is never signalled"), "{err}");
    certified("names", &wrong.replace("(d); wait", "(c); wait"), &["--invariant", "!x"], 10);
    certified("names", &wrong.replace("signal(d)", "broadcast(c)"), &["--invariant", "!x"], 10);
    // A function of that name is called.
    let called = "decl x := 0; void wait(y) begin x := y; end void main() begin wait(x); assert(!x); end";
    certified("called", called, &[], 0);
}

#[test]
fn a_thread_that_waits_releases_its_section() {
    let text = "decl m := 0, seen := 0;
void main() begin
  if * then atomic { m := 1; wait(c); seen := 1; }
  else atomic { assume(m); m := 0; signal(c); } fi
end";
    for engine in ["auto", "explicit", "symbolic", "backward"] {
        let options = ["--invariant", "!seen", "--engine", engine];
        let (status, out, err) = check("releases", text, &options);
        assert_eq!(status, Some(10), "{engine}: {out}{err}");
    }
    certified("releases", text, &["--invariant", "!seen"], 10);
    // It enters the section again before it goes on.
    let inside = text.replace("seen := 1;", "m := 1; m := 0; seen := 1;").replace("assume(m); ", "");
    certified("enters", &inside, &["--invariant", "!(m & seen)", "--initial", "2"], 0);
}

/// The time is up at the start. So the end of a large file, where it is wrong, is not read; a
/// small one is read as a whole.
#[test]
fn readers_obey_limits() {
    let net = |n: usize| format!("vars x y\nrules\n{}wrong", "x>=1 -> x'=x-1, y'=y+1;\n".repeat(n));
    let places = |n: usize| "<pnml><net id='n' type='ptnet'>".to_string() + &"<place id='p'/>".repeat(n);
    let inputs: [(&str, &dyn Fn(usize) -> String); 5] = [
        ("bp", &|n| format!("decl g := 0; void main() begin {} g end", "g := !g; ".repeat(n))),
        ("tts", &|n| "2 2\n".to_string() + &"0 0 -> 1 1\n".repeat(n) + "wrong\n"),
        ("ntts", &|n| "shared a\nlocal x y\n".to_string() + &"a x -> a y\n".repeat(n) + "wrong\n"),
        ("spec", &net),
        ("pnml", &places),
    ];
    for (extension, text) in inputs {
        let [small, large] = [10, 5000].map(|n| test_file(&format!("limit-{n}.{extension}"), &text(n)));
        let [small, large] = [&small, &large].map(|path| path.to_str().unwrap());
        let (status, out, err) = run(&["check", large, large, "--timeout", "0"]);
        assert_eq!(status, Some(1), "{extension}: {out}{err}");
        assert!(out.starts_with("UNKNOWN  2 files: 2 unknown\n"), "{out}");
        assert_eq!(out.matches("UNKNOWN  time limit of 0 s reached").count(), 2, "{out}");
        let (status, out, err) = run(&["check", small, small, "--timeout", "0"]);
        assert!(status == Some(2) && out.contains("2 not checked"), "{extension}: {out}{err}");
    }
}

#[test]
fn several_files_have_one_summary() {
    let safe = test_file("questions-a.bp", "void main() begin assert(1); end");
    let broken = test_file("questions-b.bp", "void main() begin assert(0); end");
    let wrong = test_file("questions-c.bp", "void main() begin");
    let [safe, broken, wrong] = [&safe, &broken, &wrong].map(|path| path.to_str().unwrap());
    let (status, out, _) = run(&["check", safe, broken, "-q"]);
    assert_eq!(status, Some(10));
    assert!(out.starts_with("UNSAFE  2 files: 1 unsafe, 1 safe\n"), "{out}");
    let (status, out, _) = run(&["check", safe, safe]);
    assert!(status == Some(0) && out.starts_with("SAFE  2 files: 2 safe\n"), "{out}");
    let (status, out, err) = run(&["check", safe, wrong]);
    assert!(status == Some(2) && out.starts_with("UNKNOWN  2 files: 1 safe, 1 not checked\n"), "{out}");
    assert!(err.contains("error[E"), "{err}");
    let (status, out, _) = run(&["check", broken, safe, "--json"]);
    assert_eq!(status, Some(10));
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&document["verdict"], &document["files"][1]["verdict"]), (&"unsafe".into(), &"safe".into()));
    let (status, ..) = run(&["check", safe, broken, "--html", "page.html"]);
    assert_eq!(status, Some(2));
}

#[test]
fn simulation_distinguishes_a_deadlock_from_the_end() {
    let ends = test_file("questions-ends.bp", "void main() begin skip; end");
    let (_, out, _) = run(&["simulate", ends.to_str().unwrap(), "--threads", "2"]);
    assert!(out.contains("all threads have ended") && !out.contains("deadlock"), "{out}");
    let waits = test_file("questions-waits.bp", "void main() begin wait; end");
    let (_, out, _) = run(&["simulate", waits.to_str().unwrap(), "--threads", "2"]);
    assert!(out.contains("no thread can move: a deadlock"), "{out}");
}

/// One thread writes `n` once, or reads it in `reading`.
fn one_writer(reading: &str) -> String {
    format!(
        "decl n : 0..3 := 0; decl a[3] : u2 := 0; decl once := 0;
bool f() begin return n < 4; end
void main() begin
  decl x := 0;
  if * then once := 1 constrain !once; n := 2;
  else {reading} fi
end"
    )
}

#[test]
fn a_race_is_about_what_the_text_reads() {
    // Whatever n is, none of these does anything else; each reads it.
    for reading in [
        "assert(n <= 3);",
        "assume(n >= 0);",
        "while n < 0 do skip; od",
        "if x then skip; elsif n > 3 then skip; fi",
        "x := n = 9;",
        "x := 1 constrain n < 4;",
        "x := a[n * 0] = 1;",
        "a[0 * n] := 1;",
        "enforce(n >= 0); x := 1;",
        "print(n);",
        "f();",
        "start_thread assume(n >= 0);",
    ] {
        certified("folded", &one_writer(reading), &["--race", "n", "--initial", "any"], 10);
    }
    // What is assigned to `_` is not read, nor are the indices in it; and the new value is not the
    // old one.
    for none in ["_ := n;", "_ := a[n * 0];", "_, x := a[n * 0] + n, 1;", "skip;"] {
        certified("folded", &one_writer(none), &["--race", "n"], 0);
    }
    certified("folded", &one_writer("x := a[1] = 1;"), &["--race", "a"], 0);
}

#[test]
fn a_wait_in_a_block_releases_the_section_whoever_began_it() {
    let text = |before: &str, begin: &str, end: &str| {
        format!(
            "decl x := 0;
void f() begin {before} W: wait(c); {} end
void main() begin goto A, B;
  A: {begin} f(); x := 1; x := 0; {end} end_thread;
  B: assert(!x); signal(c);
end",
            if before.is_empty() { "" } else { "}" }
        )
    };
    for (begin, end) in [("atomic_begin;", "atomic_end;"), ("atomic {", "}")] {
        // Two threads wait; once woken and back, each is alone in the section of its caller.
        certified("released", &text("atomic {", begin, end), &["--mutex", "W"], 10);
        certified("released", &text("atomic {", begin, end), &[], 0);
        // Written in no block of its function, it releases nothing.
        certified("released", &text("", begin, end), &["--mutex", "W"], 0);
    }
}

#[test]
fn a_race_needs_a_variable() {
    let file = test_file("questions-race.bp", ORDERED);
    let (status, _, err) = run(&["check", file.to_str().unwrap(), "--race"]);
    assert!(status == Some(2) && err.contains("--race VAR"), "{err}");
}

#[test]
fn a_program_that_asks_for_values_itself_gets_a_certificate() {
    // So many variables that states are numbers in a table, of which there is one for each way to
    // read the program.
    let many: Vec<String> = (0..70).map(|i| format!("x{i} := {}", i % 2)).collect();
    let text = format!(
        "//@ never L & a, L & a\ndecl {};\nvoid main() begin\n  decl a := *;\n  assume(!x1 | x0);\n  L: x1 := a;\nend",
        many.join(", ")
    );
    certified("asks-itself", &text, &[], 0);
}

/// A thread looks at a flag, and then waits; with `atomic`, in one step.
fn wake_up(atomic: bool) -> String {
    let (begin, end) = if atomic { ("atomic {", "}") } else { ("", "") };
    format!(
        "decl ready := 0;
void main() begin
  start_thread goto SETTER;
  {begin}
  if !ready then
    skip;
    WAIT: wait;
  fi;
  {end}
  goto DONE;
  SETTER: {begin} ready := 1;
  broadcast; {end}
  DONE: skip;
end"
    )
}

#[test]
fn a_lost_wake_up_is_a_stuck_thread() {
    for place in ["WAIT", "wait", "7", "DONE|WAIT"] {
        certified("lost", &wake_up(false), &["--stuck", place], 10);
        certified("found", &wake_up(true), &["--stuck", place], 0);
    }
    let (_, out, _) = check("lost", &wake_up(false), &["--stuck", "WAIT"]);
    assert!(out.starts_with("UNSAFE  stuck WAIT  2 threads"), "{out}");
    assert!(out.contains("violated: stuck WAIT: T1 at line 7: wait; T2 at line 13: skip; ready=1"), "{out}");
    // The fourth step, the broadcast, would have woken it.
    let (_, out, _) = check("lost", &wake_up(false), &["--stuck", "WAIT", "--json"]);
    assert!(out.contains("\"last_chance\": 4"), "{out}");
    // The others go on for ever, so that it is not a deadlock.
    let busy = wake_up(false).replace("DONE: skip;", "DONE: goto DONE;");
    certified("busy", &busy, &["--stuck", "WAIT"], 10);
    certified("busy", &busy, &["--deadlock"], 0);
}

#[test]
fn a_thread_that_only_waits_its_turn_is_not_stuck() {
    // A thread that holds the lock releases it, whatever the number of threads.
    let lock = ORDERED.replace("a := 1", "A: a := 1");
    certified("turn", &lock, &["--stuck", "A", "--threads", "3"], 0);
    certified("turn", &lock, &["--stuck", "A"], 0);
    let (_, out, _) = check("turn", &lock, &["--stuck", "A"]);
    assert!(out.starts_with("SAFE  stuck A  for any number of threads"), "{out}");
    // A statement that never waits: by views, for any number.
    certified("free", &lock.replace("    b := 0;", "    B: b := 0;"), &["--stuck", "B"], 0);
    certified("crossed", &PHILOSOPHERS.replacen("b := 1", "B: b := 1", 1), &["--stuck", "B"], 10);
    certified("turn", &lock, &["--stuck", "A", "--threads", "3", "--engine", "symbolic"], 0);
    certified("lost", &wake_up(false), &["--stuck", "WAIT", "--threads", "2", "--engine", "symbolic"], 10);
    let (status, out, _) = check("turn", &lock, &["--stuck", "A", "--engine", "backward"]);
    assert_eq!(status, Some(1), "{out}");
    assert!(out.contains("does not decide stuck threads"), "{out}");
}

#[test]
fn stuck_threads_are_asked_for_in_programs_and_refused_kindly() {
    let (status, out, _) = check("asks-stuck", &format!("//@ stuck wait\n{}", wake_up(false)), &[]);
    assert_eq!(status, Some(10), "{out}");
    let (status, _, err) = check("nowhere", &wake_up(false), &["--stuck", "WAT"]);
    assert_eq!(status, Some(2));
    assert!(err.contains("--stuck:1:1"), "{err}");
    let system = test_file("questions-stuck.tts", "1 2\n0 0 -> 0 1\n");
    let (status, _, err) = run(&["check", system.to_str().unwrap(), "--stuck", "L"]);
    assert_eq!(status, Some(2));
    assert!(err.contains("`--stuck` does not apply"), "{err}");
}
