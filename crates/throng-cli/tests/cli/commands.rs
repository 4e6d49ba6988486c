//! The binary as a user meets it: what it prints, where, and with which exit status.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use throng_dev::harness::{Scratch, throng};

/// What a run left behind.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Exit status and first word on standard output.
    #[track_caller]
    fn says(&self, status: i32, word: &str) -> &Ran {
        let first = self.out.split_whitespace().next().unwrap_or_default();
        assert_eq!((self.status, first), (status, word), "out:\n{}\nerr:\n{}", self.out, self.err);
        self
    }

    /// All of these stand on standard output.
    #[track_caller]
    fn shows(&self, parts: &[&str]) -> &Ran {
        for part in parts {
            assert!(self.out.contains(part), "`{part}` is missing in\n{}\nerr:\n{}", self.out, self.err);
        }
        self
    }

    /// Exit status 2, nothing on standard output, all of these on standard error, and no panic.
    #[track_caller]
    fn refuses(&self, parts: &[&str]) -> &Ran {
        assert_eq!((self.status, self.out.as_str()), (2, ""), "err:\n{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is missing in\n{}", self.err);
        }
        assert!(!self.err.contains("panicked") && !self.err.contains("internal error"), "{}", self.err);
        self
    }
}

fn run(args: &[&str]) -> Ran {
    Ran::of(throng().args(args).stdin(Stdio::null()).output().unwrap())
}

fn run_fed(args: &[&str], input: &[u8]) -> Ran {
    let mut child = throng()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may refuse before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::of(child.wait_with_output().unwrap())
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

const LOCK: &str = "2 2\n0 0 -> 1 1  # acquire\n1 1 -> 0 0  # release\n";
const NO_LOCK: &str = "2 2\n0 0 -> 0 1\n0 1 -> 0 0\n";
/// A spawner in 0, workers in 1; one worker wins and sends all others to 3.
const WINNER: &str = "3 4\n0 0 +> 1 1\n1 0 -> 0 0\n0 1 -> 2 2  1 ~> 3\n";

#[test]
fn a_bounded_lock_is_safe() {
    let dir = Scratch::new("cli");
    let file = dir.file("lock.tts", LOCK);
    dir.file("lock.prop", "1|1,1\n");
    let ran = run(&["check", name(&file), "--threads", "3", "--engine", "explicit"]);
    ran.says(0, "SAFE").shows(&["1|1,1", "at most 3", "initial: 0/0", "threads: at most 3", "explicit"]);
    assert_eq!(ran.err, "");
}

#[test]
fn a_missing_lock_is_unsafe_and_the_trace_names_threads_and_lines() {
    let dir = Scratch::new("cli");
    let file = dir.file("nolock.tts", NO_LOCK);
    let ran = run(&["check", name(&file), "--target", "0|1,1"]);
    ran.says(10, "UNSAFE").shows(&[
        "2 threads, 2 steps",
        "initial: 0/0",
        "threads: any number",
        "T1",
        "T2",
        "2: 0 0 -> 0 1",
        "T1: 0 -> 1",
        "violated: 0|1,1: T1 is in 1; T2 is in 1",
    ]);
    assert!(ran.out.lines().all(|l| l.chars().count() <= 80), "{}", ran.out);
}

#[test]
fn a_hunt_that_gives_up_is_unknown_and_says_how_far_it_came() {
    let dir = Scratch::new("cli");
    let file = dir.file("lock.tts", LOCK);
    let ran = run(&["check", name(&file), "--target", "1|1,1", "--engine", "explicit", "--max-threads", "4"]);
    ran.says(1, "UNKNOWN").shows(&["no violation with up to 4 threads"]);
    let ran = run(&["check", name(&file), "--target", "1|1,1", "--engine", "explicit", "--timeout", "0.2"]);
    ran.says(1, "UNKNOWN").shows(&["time limit of 0.2 s"]);
}

#[test]
fn several_targets_get_a_line_each_after_the_overall_verdict() {
    let dir = Scratch::new("cli");
    let file = dir.file("winner.tts", WINNER);
    dir.file("winner.prop", "2|2,3\n2|1\n# a comment\n2|2,2\n");
    let ran = run(&["check", name(&file), "--initial", "0|0", "--threads", "4"]);
    ran.says(10, "UNSAFE").shows(&["initial: 0|0", "Trace for 2|2,3: 3 threads", "T3: 1 -> 3"]);
    let lines: Vec<Vec<&str>> =
        ran.out.lines().take(4).map(|l| l.split_whitespace().take(2).collect()).collect();
    assert_eq!(lines[0], ["UNSAFE", "1"]);
    assert_eq!(lines[1..], [["UNSAFE", "2|2,3"], ["SAFE", "2|1"], ["SAFE", "2|2,2"]]);
    let quiet = run(&["check", name(&file), "--initial", "0|0", "--threads", "4", "-q"]);
    quiet.says(10, "UNSAFE");
    assert_eq!(quiet.out.lines().count(), 4);
}

#[test]
fn json_is_one_document_with_everything_in_it() {
    let dir = Scratch::new("cli");
    let file = dir.file("winner.tts", WINNER);
    let ran = run(&[
        "check",
        name(&file),
        "--initial",
        "0|0",
        "--threads",
        "4",
        "--target",
        "2|1",
        "--target",
        "2|2,3",
        "--engine",
        "explicit",
        "--json",
    ]);
    assert_eq!(ran.status, 10);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["verdict"], "unsafe");
    assert!(json["engine"].as_str().unwrap().contains("explicit"));
    assert_eq!(json["threads"], 4);
    assert!(json["initial"].as_str().unwrap().starts_with("0|0"));
    assert_eq!(json["targets"][0]["verdict"], "safe");
    assert_eq!(json["targets"][0]["checked"], true);
    assert_eq!(json["targets"][0]["trace"], Value::Null);
    assert_eq!(json["targets"][1]["name"], "2|2,3");
    assert_eq!(json["targets"][1]["threads"], 3);
    assert_eq!(json["trace"], json["targets"][1]["trace"]);
    let steps = json["trace"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    let last = &steps[4];
    assert_eq!(last["line"], 4);
    assert_eq!(last["shared_before"]["shared"], "0");
    assert_eq!(last["shared_after"]["shared"], "2");
    for key in ["thread", "column", "statement", "origin", "changes", "participants"] {
        assert!(last.get(key).is_some(), "{key}");
    }
    for key in ["configurations", "steps", "seconds", "memory"] {
        assert!(json["statistics"][key].is_number(), "{key}");
    }
    let order: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(order[..5], ["schema", "tool", "version", "command", "file"]);

    let file = dir.file("lock.tts", LOCK);
    let ran = run(&[
        "check",
        name(&file),
        "--target",
        "1|1,1",
        "--engine",
        "explicit",
        "--max-threads",
        "2",
        "--json",
    ]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.status, &json["verdict"], &json["threads"]), (1, &Value::from("unknown"), &Value::Null));
    assert_eq!(json["targets"][0]["checked"], false);
    assert!(json["targets"][0]["reason"].as_str().unwrap().contains("2 threads"));
}

#[test]
fn unchecked_verdicts_say_so() {
    let dir = Scratch::new("cli");
    let file = dir.file("nolock.tts", NO_LOCK);
    run(&["check", name(&file), "--target", "0|1,1", "--no-check", "--engine", "explicit"])
        .says(10, "UNSAFE")
        .shows(&["unchecked"]);
}

#[test]
fn standard_input_is_read_when_its_format_is_named() {
    run_fed(&["check", "-", "--from", "tts", "--target", "0|1,1"], NO_LOCK.as_bytes()).says(10, "UNSAFE");
    run_fed(&["check", "-", "--target", "0|1,1"], NO_LOCK.as_bytes()).refuses(&["E703", "--from"]);
}

#[test]
fn files_that_are_no_input_are_refused() {
    let dir = Scratch::new("cli");
    let missing = dir.0.join("missing.bp");
    run(&["check", name(&missing)]).refuses(&["E701", "no such file", "missing.bp"]);
    run(&["check", name(&dir.0)]).refuses(&["E702", "directory"]);
    fs::create_dir(dir.0.join("dir.tts")).unwrap();
    run(&["check", name(&dir.0.join("dir.tts"))]).refuses(&["E702"]);
    run(&["check", name(&dir.file("a.txt", "x"))]).refuses(&["E703", ".txt", ".spec"]);
    run(&["check", name(&dir.file("noextension", "x"))]).refuses(&["E703"]);
    for extension in ["bp", "nbp", "tts", "ttd", "ntts", "spec", "pnml"] {
        let empty = dir.file(&format!("empty.{extension}"), "");
        run(&["check", name(&empty)]).refuses(&["E704", "empty"]);
        let junk: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let junk = dir.file(&format!("junk.{extension}"), junk);
        run(&["check", name(&junk)]).refuses(&["E706", "binary"]);
        let open = dir.file(&format!("open.{extension}"), "(".repeat(5 << 20));
        let ran = run(&["check", name(&open), "--timeout", "600"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""));
        assert!(ran.err.len() < 20_000 && !ran.err.contains("internal"), "{extension}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Scratch::new("cli");
    let file = dir.file("secret.tts", LOCK);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_err() {
        run(&["check", name(&file)]).refuses(&["E701", "not allowed"]);
    }
}

#[test]
fn wrong_numbers_are_underlined() {
    let dir = Scratch::new("cli");
    let file = dir.file("range.tts", "2 2\n0 0 -> 1 7\n");
    run(&["check", name(&file), "--target", "0|0"]).refuses(&["range.tts:2:10", "out of range", "^"]);
    let file = dir.file("huge.tts", "2 2\n0 0 -> 1 99999999999999999999999\n");
    run(&["check", name(&file), "--target", "0|0"]).refuses(&["huge.tts:2:10", "^"]);
    let file = dir.file("lock.tts", LOCK);
    run(&["check", name(&file), "--target", "0|5"]).refuses(&["--target:1:3", "out of range"]);
    run(&["check", name(&file), "--target", "0|99999999999999999999"]).refuses(&["64 bits"]);
    run(&["check", name(&file), "--target", "0|0", "--initial", "nonsense"]).refuses(&["--initial:1:1"]);
    let prop = dir.file("wrong.prop", "1|1\n1|x\n");
    run(&["check", name(&file), "--prop", name(&prop)]).refuses(&["wrong.prop:2:3"]);
    run(&["check", name(&file), "--prop", name(&dir.0.join("missing.prop"))]).refuses(&["E701"]);
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let dir = Scratch::new("cli");
    let file = dir.file("lock.tts", LOCK);
    let file = name(&file);
    run(&["check", file]).refuses(&["E601", "nothing to check", "--target"]);
    run(&["check", file, "--target", "0|0", "--mutex", "L"]).refuses(&[
        "E602",
        "--mutex",
        "thread-transition",
    ]);
    run(&["check", file, "--target", "0|0", "--error-label", "L"]).refuses(&["E602"]);
    run(&["check", file, "--target", "0|0", "--invariant", "x"]).refuses(&["E602"]);
    run(&["check", file, "--target", "0|0", "--threads", "0"]).refuses(&["E604"]);
    let ran = run(&["check", file, "--target", "0|0", "--threads", "2", "--initial", "0|0,0,0"]);
    ran.refuses(&["E605", "3 threads"]);
    run(&["check", file, "--target", "0|0", "--threads", "-3"]).refuses(&[]);
    run(&["check", file, "--target", "0|0", "--threads", "99999999999999999999"]).refuses(&[]);
    run(&["check", file, "--target", "0|0", "--timeout", "soon"]).refuses(&["soon"]);
    run(&["check", file, "--no-such-option"]).refuses(&["--no-such-option"]);
    run(&["check", file, "--engine", "magic"]).refuses(&["magic", "explicit"]);
    run(&["reach", file, "--engine", "views"]).refuses(&["karp-miller"]);
    run(&["check"]).refuses(&[]);
    run(&["no-such-command"]).refuses(&[]);
    run(&["check", file, "--target", "0|0", "--mutex", "L", "--json"]).refuses(&["E602"]);
}

#[test]
fn thread_states_and_cutoffs_are_found_for_any_number_of_threads() {
    let dir = Scratch::new("cli");
    let program = "decl lock := 0;
void main() begin
  lock := 1 constrain !lock;
  lock := 0;
  assume(0);
  skip;
end";
    let file = dir.file("lock.bp", program);
    let ran = run(&["reach", name(&file)]);
    assert_eq!(ran.status, 0);
    ran.shows(&["threads: any number", "lock=1 | line 3", "not reached by any thread", "line 6: skip"]);
    for method in ["exact", "dynamic"] {
        let ran = run(&["cutoff", name(&file), "--method", method]);
        assert_eq!(ran.status, 0);
        ran.shows(&["cutoff 2: 2 threads"]);
    }
    let ran = run(&["cutoff", name(&file), "--json"]);
    assert!(ran.out.contains("\"cutoff\": 2"), "{}", ran.out);
}

/// Where karp-miller does not take the model, the number of threads grows, and `backward` proves
/// that no more can appear.
#[test]
fn thread_states_and_cutoffs_are_found_with_signals_broadcasts_and_passive_variables() {
    let dir = Scratch::new("cli");
    let programs = [
        (
            "decl x := 0;\nvoid main() begin\n  if * then\n    wait;\n    x := 1;\n  else\n    signal;\n  fi;\n  skip;\nend",
            4,
            12,
        ),
        (
            "decl x := 0;\nvoid main() begin\n  if * then\n    wait;\n    x := 1;\n  else\n    broadcast;\n  fi;\n  skip;\nend",
            3,
            12,
        ),
        ("decl x := 0;\nvoid main() begin\n  decl m := 0;\n  x, m$ := 1, 1;\n  skip;\nend", 2, 6),
    ];
    for (text, cutoff, states) in programs {
        let file = dir.file("moving.bp", text);
        let headline = format!("cutoff {cutoff}: ");
        for more in [&[][..], &["--engine", "backward"], &["--method", "dynamic"]] {
            let ran = run(&[&["cutoff", name(&file)], more].concat());
            assert_eq!(ran.status, 0, "{text}\n{}{}", ran.out, ran.err);
            ran.shows(&[&headline, &format!("{states} thread states"), "checked"]);
        }
        for more in [&[][..], &["--engine", "backward"]] {
            let ran = run(&[&["reach", name(&file)], more].concat());
            assert_eq!(ran.status, 0, "{text}\n{}{}", ran.out, ran.err);
            ran.shows(&[&format!("{states} thread states can be reached")]);
        }
        run(&["cutoff", name(&file), "--method", "exact"]).shows(&["UNKNOWN"]);
        let bounded = run(&["reach", name(&file), "--threads", &cutoff.to_string()]);
        bounded.shows(&[&format!("{states} thread states can be reached")]);
        let fewer = run(&["reach", name(&file), "--threads", &(cutoff - 1).to_string()]);
        assert!(!fewer.out.contains(&format!("{states} thread states")), "{}", fewer.out);
    }
}

#[test]
fn options_that_make_no_difference_to_thread_states_are_refused() {
    let dir = Scratch::new("cli");
    let file = dir.file("skip.bp", "void main() begin skip; end");
    for command in ["cutoff", "reach"] {
        for more in [&["--no-por"][..], &["--engine", "equations"], &["--engine", "guided"]] {
            let ran = run(&[&[command, name(&file)], more].concat());
            assert_eq!(ran.status, 2, "{command} {more:?}: {}{}", ran.out, ran.err);
        }
    }
    for more in [
        &["--engine", "symbolic"][..],
        &["--engine", "views"],
        &["--engine", "backward", "--method", "exact"],
    ] {
        assert_eq!(run(&[&["cutoff", name(&file)], more].concat()).status, 2, "{more:?}");
    }
}

#[test]
fn statements_inside_atomic_sections_are_not_called_dead() {
    let dir = Scratch::new("cli");
    let text = "decl x := 0, y := 0;\nvoid main() begin\n  atomic {\n    x := 1;\n    y := 1;\n  }\n  assume(0);\n  x := 0;\nend";
    let file = dir.file("atomic.bp", text);
    for more in
        [&[][..], &["--threads", "2"], &["--engine", "backward"], &["--threads", "2", "--engine", "symbolic"]]
    {
        let ran = run(&[&["reach", name(&file)], more].concat());
        assert_eq!(ran.status, 0, "{}{}", ran.out, ran.err);
        ran.shows(&["not reached by any thread", "line 8: x := 0"]);
        assert!(!ran.out.contains("line 4: x := 1 (in") && !ran.out.contains("line 5: y"), "{}", ran.out);
    }
    let ran = run(&["reach", name(&file), "--json"]);
    let dead = ran.out.split("\"unreached\"").nth(1).expect("a list");
    assert_eq!(dead.matches("\"statement\"").count(), 1, "{}", ran.out);
}

#[test]
fn a_statement_with_too_many_cases_proves_nothing() {
    let dir = Scratch::new("cli");
    let names: Vec<String> = (0..40).map(|i| format!("x{i}")).collect();
    let (list, xor) = (names.join(", "), names.join(" ^ "));
    let text = format!("decl {list};\nvoid main() begin\n  assume({xor});\n  assert(x0 | !x0);\nend\n");
    let file = dir.file("xor.bp", &text);
    for more in [&[][..], &["--no-check"]] {
        let ran = run(&[&["check", name(&file), "--engine", "views", "--timeout", "600"], more].concat());
        ran.says(1, "UNKNOWN").shows(&["line 3", "too many cases"]);
    }
    let ran = run(&["translate", name(&file), "--to", "tts", "--timeout", "600"]);
    assert_ne!(ran.status, 0, "nothing incomplete is written");
    assert_eq!(ran.out, "");
}

#[test]
fn every_command_has_help() {
    let ran = run(&["--help"]);
    assert_eq!(ran.status, 0);
    for command in ["check", "reach", "translate", "simulate"] {
        let ran = run(&[command, "--help"]);
        assert_eq!(ran.status, 0);
        assert!(ran.out.contains("--from"), "{}", ran.out);
    }
    assert_eq!(run(&["--version"]).status, 0);
}

#[test]
fn reach_lists_thread_states() {
    let dir = Scratch::new("cli");
    let file = dir.file("winner.tts", WINNER);
    let ran = run(&["reach", name(&file), "--initial", "0|0", "--threads", "3"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.shows(&["7 thread states", "0|0", "0|1", "1|0", "1|1", "2|0", "2|2", "2|3"]);
    let ran = run(&["reach", name(&file), "--initial", "0|0", "--threads", "3", "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["thread_states"].as_array().unwrap().len(), 7);
    assert_eq!((&json["complete"], &json["threads"]), (&Value::from(true), &Value::from(3)));
}

/// The child sets s only if its copy of p is 1, so the parent cannot have p = 0 then, although it
/// never reads p again.
#[test]
fn reach_lists_no_thread_state_that_is_not_reachable() {
    let dir = Scratch::new("cli");
    let text = "decl s := 0; void main(p) begin start_thread if p then s := 1; fi; skip; end";
    let file = dir.file("copy.bp", text);
    let ran = run(&["reach", name(&file), "--initial", "1", "--threads", "2", "--json"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let listed = json["thread_states"].as_array().unwrap();
    let with_s: Vec<&Value> = listed.iter().filter(|t| t["shared"]["s"] == "1").collect();
    assert!(!with_s.is_empty(), "{listed:?}");
    assert!(with_s.iter().all(|t| t["locals"]["p"] == "1"), "{with_s:?}");
}

#[test]
fn a_translated_file_gives_the_same_verdict() {
    let dir = Scratch::new("cli");
    let race = dir.file("race.bp", RACE);
    let nolock = dir.file("nolock.tts", NO_LOCK);
    dir.file("nolock.prop", "0|1,1\n");
    for (from, stem) in [(&race, "race"), (&nolock, "nolock")] {
        for to in ["bp", "tts", "ntts", "spec", "pnml"] {
            let out = dir.0.join(format!("{stem}-{to}.{to}"));
            let ran = run(&["translate", name(from), "--to", to, "-o", name(&out)]);
            assert_eq!((ran.status, ran.out.as_str()), (0, ""), "{stem} to {to}: {}", ran.err);
            run(&["check", name(&out)]).says(10, "UNSAFE");
        }
        let dot = run(&["translate", name(from), "--to", "dot"]);
        assert_eq!(dot.status, 0);
        assert!(dot.out.starts_with("digraph"));
    }
    let lock = dir.file("lock.tts", LOCK);
    let out = dir.0.join("lock.ntts");
    let ran = run(&["translate", name(&lock), "--to", "ntts", "--target", "1|1,1", "-o", name(&out)]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    run(&["check", name(&out), "--threads", "4"]).says(0, "SAFE");
}

#[test]
fn what_a_format_cannot_say_is_refused() {
    let dir = Scratch::new("cli");
    let signal = dir.file("signal.bp", "void main() begin signal; wait; assert(0); end");
    run(&["translate", name(&signal), "--to", "tts"]).refuses(&["signal"]);
    let lock = dir.file("lock.tts", LOCK);
    run(&["translate", name(&lock), "--to", "c"]).refuses(&["c", "pnml"]);
    run(&["translate", name(&lock), "--to", "spec", "--threads", "3"]).refuses(&["--threads"]);
    let nowhere = dir.0.join("no/such/dir.spec");
    run(&["translate", name(&lock), "--to", "spec", "-o", name(&nowhere)]).refuses(&["cannot write"]);
}

#[test]
fn a_closed_pipe_is_no_reason_to_panic() {
    let dir = Scratch::new("cli");
    let file = dir.file("nolock.tts", NO_LOCK);
    let mut child = throng()
        .args(["simulate", name(&file), "--steps", "100000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
}

#[test]
fn progress_is_for_terminals_unless_asked_for() {
    let dir = Scratch::new("cli");
    let file = dir.file("lock.tts", LOCK);
    let args = ["check", name(&file), "--target", "1|1,1", "--engine", "explicit", "--timeout"];
    let silent = run(&[&args[..], &["1.5"]].concat());
    assert_eq!(silent.err, "");
    // A slow machine gets more time until there is something to show.
    let show = |seconds| run(&[&args[..], &[seconds, "--progress", "always"]].concat());
    let mut shown = ["2.5", "25", "100"].into_iter().map(show);
    let shown = shown.find(|ran| ran.err.contains("explicit")).expect("progress");
    let line = shown.err.lines().next().unwrap_or_default();
    for part in [
        "progress: ",
        " s, explicit, ",
        " threads: ",
        " configurations, ",
        " to explore, ",
        "/s, ",
        " s left",
    ] {
        assert!(line.contains(part), "{part} is missing in {line}");
    }
    assert!(
        shown.err.lines().all(|l| l.starts_with("progress: ")) && !shown.err.contains('\x1b'),
        "{}",
        shown.err
    );
    shown.says(1, "UNKNOWN");
    let never = run(&[&args[..], &["1.5", "--progress", "never", "-v"]].concat());
    assert!(!never.err.contains("progress: "), "{}", never.err);
}

/// Without escape sequences.
fn uncoloured(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    out + rest
}

#[test]
fn every_report_fits_80_columns_with_and_without_colour() {
    let examples = Path::new(throng_dev::ROOT).join("examples");
    let mut inputs: Vec<PathBuf> = fs::read_dir(examples).unwrap().map(|e| e.unwrap().path()).collect();
    inputs.retain(|p| p.extension().is_some_and(|e| e != "rs" && e != "prop") && !p.ends_with("rockall.bp"));
    for path in inputs {
        for more in [&[][..], &["-v"], &["--engine", "explicit", "--max-threads", "1"]] {
            let run = |colour| {
                let args = ["check", name(&path), "--jobs", "1", "--timeout", "600", "--color", colour];
                run(&[&args[..], more].concat()).out
            };
            let (plain, coloured) = (run("never"), run("always"));
            let wide = plain.lines().filter(|l| !l.starts_with("file:")).find(|l| l.chars().count() > 80);
            assert_eq!(wide, None, "{}\n{plain}", path.display());
            assert!(coloured.contains('\x1b'));
            let timeless = |text: &str| {
                text.lines()
                    .filter(|l| !l.contains(" ms") && !l.contains(" MiB"))
                    .map(str::to_string)
                    .collect::<Vec<_>>()
            };
            assert_eq!(timeless(&uncoloured(&coloured)), timeless(&plain), "{}", path.display());
        }
    }
}

#[test]
fn a_trace_has_a_column_for_each_thread() {
    let example = |name: &str| format!("{}/examples/{name}", throng_dev::ROOT);
    let two = run(&["check", &example("spinlock-broken.bp"), "--engine", "explicit"]);
    two.shows(&[
        "      T1                                   T2\n",
        "\n 1-2  10: while *; 11: assume(!lock)       │\n",
        "\n      │                                      lock: 0 -> 1\n",
    ]);
    let five = run(&["check", &example("ticketlock-broken.bp"), "--engine", "explicit"]);
    five.shows(&["      T1  T2  T3  T4  T5\n", "\n   1  ●   │   │   │   │   14: while * → line 15\n"]);
    let born = run(&["check", &example("producer-broken.bp"), "--engine", "explicit"]);
    born.shows(&[
        "\n 1-2  9: while *; 10: assume(!slot)\n",
        "   3  11: start_thread goto WORKER         ○\n",
    ]);
}

#[test]
fn a_random_walk_is_reproducible() {
    let dir = Scratch::new("cli");
    let file = dir.file("nolock.tts", NO_LOCK);
    let walk = |seed: &str| {
        run(&[
            "simulate",
            name(&file),
            "--seed",
            seed,
            "--steps",
            "15",
            "--threads",
            "2",
            "--target",
            "0|1,1",
        ])
    };
    let ran = walk("3");
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.shows(&["initial: 0/0", "starts with 2 threads", "   15  ", "0|1,1 is violated here"]);
    assert_eq!(ran.out, walk("3").out);
    assert_ne!(ran.out, walk("4").out);
}

#[test]
fn a_person_can_walk_by_hand() {
    let dir = Scratch::new("cli");
    let file = dir.file("lock.tts", LOCK);
    let args = ["simulate", name(&file), "--interactive", "--threads", "2"];
    let ran = run_fed(&args, b"1\nb\nr\n?\nx\nq\n");
    assert_eq!(ran.status, 0, "{}", ran.err);
    ran.shows(&[
        "after 0 steps",
        "after 1 step",
        "can move",
        "1)",
        "T1: 0 -> 1",
        "go back one step",
        "not one of",
    ]);
    assert_eq!(run_fed(&args, b"").status, 0, "the end of the input is a way to quit");
}

#[test]
fn colours_are_used_when_asked_for() {
    let dir = Scratch::new("cli");
    let file = dir.file("nolock.tts", NO_LOCK);
    let args = ["check", name(&file), "--target", "0|1,1", "--color"];
    let with = |choice| run(&[&args[..], &[choice]].concat()).out;
    assert!(with("always").starts_with("\u{1b}["));
    assert!(with("never").starts_with("UNSAFE"));
    assert!(with("auto").starts_with("UNSAFE"), "a pipe is not a terminal");
}

/// A lock that is tested and set in two steps.
const RACE: &str = "\
decl lock := 0, inside := 0;

void acquire()
begin
  assume(!lock);
  lock := 1;
end

void main()
begin
  acquire();
  // file lock.c line 12 function work
  assert(!inside);
  inside := 1;
  C: skip;
  inside := 0;
  lock := 0;
end
";

#[test]
fn a_program_s_trace_shows_lines_functions_changes_and_c_locations() {
    let dir = Scratch::new("cli");
    let file = dir.file("race.bp", RACE);
    let ran = run(&["check", name(&file)]);
    ran.says(10, "UNSAFE").shows(&[
        "assertions  2 threads, ",
        "initial: any number of threads at the entry of main",
        "5 in main > acquire:",
        "assume(!lock)",
        "lock: 0 -> 1",
        "from lock.c:12",
        "violated: assertions: T",
        "at line 13: assert(!inside); lock=1 inside=1",
    ]);
    let json: Value = serde_json::from_str(&run(&["check", name(&file), "--json"]).out).unwrap();
    let steps = json["trace"]["steps"].as_array().unwrap();
    let set = steps.iter().find(|s| s["statement"] == "inside := 1").unwrap();
    assert_eq!((&set["line"], &set["column"]), (&Value::from(14), &Value::from(3)));
    assert_eq!((&set["shared_before"]["inside"], &set["shared_after"]["inside"]), (&"0".into(), &"1".into()));
    assert_eq!(set["changes"][0]["variable"], "inside");
    let origins = steps.iter().filter(|s| s["origin"].as_str().is_some_and(|o| o.contains("lock.c")));
    assert!(origins.count() > 0);
    let once = run(&["check", name(&file), "--initial", "1"]);
    once.says(0, "SAFE").shows(&["initial: 1 thread at the entry of main"]);
}

#[test]
fn a_program_can_be_asked_several_things() {
    let dir = Scratch::new("cli");
    let file = dir.file("race.bp", RACE);
    let file = name(&file);
    let asked = ["--mutex", "C", "--error-label", "C", "--invariant", "lock | !inside"];
    let ran = run(&[&["check", file, "-q", "--threads", "3"], &asked[..]].concat());
    ran.says(10, "UNSAFE").shows(&["assertions", "mutex C", "error label C", "invariant lock | !inside"]);
    assert_eq!(ran.out.lines().count(), 5);
    run(&["check", file, "--mutex", "D"]).refuses(&["E606", "--mutex:1:1", "`D`"]);
    run(&["check", file, "--error-label", "D"]).refuses(&["E606"]);
    run(&["check", file, "--invariant", "lock & insid"]).refuses(&["--invariant:1:8", "insid"]);
    run(&["check", file, "--invariant", "lock &"]).refuses(&["--invariant:1:"]);
    run(&["check", file, "--target", "0|0"]).refuses(&["E611", "--target", "0"]);
    run(&["check", file, "--prop", "x.prop"]).refuses(&["E602", "--prop"]);
    run(&["check", file, "--initial", "0"]).refuses(&["E603"]);
    run(&["check", file, "--initial", "some"]).refuses(&["E603", "any"]);
    run(&["check", file, "--initial", "3", "--threads", "2"]).refuses(&["E605"]);
    let nothing = dir.file("nothing.bp", "void main() begin skip; end");
    let ran = run(&["check", name(&nothing), "--threads", "2"]);
    ran.says(0, "SAFE");
    assert!(ran.err.contains("W601") && ran.err.contains("--mutex"), "{}", ran.err);
}

#[test]
fn a_program_that_spawns_starts_with_one_thread() {
    let dir = Scratch::new("cli");
    let text = "decl x := 0;
void main() begin
  start_thread goto CHILD;
  assert(!x);
  goto END;
  CHILD: x := 1;
  END: skip;
end";
    let file = dir.file("spawn.bp", text);
    let ran = run(&["check", name(&file)]);
    ran.says(10, "UNSAFE").shows(&[
        "initial: 1 thread at the entry of main",
        "T2 starts at line 6",
        "2 threads",
    ]);
    run(&["check", name(&file), "--threads", "1"]).says(0, "SAFE");
}

#[test]
fn wrong_programs_are_refused_with_line_column_and_hint() {
    let dir = Scratch::new("cli");
    let file =
        dir.file("wrong.bp", "decl x;\nvoid main() begin\n  x := x';\n  y := 99999999999999999999;\nend\n");
    let ran = run(&["check", name(&file)]);
    ran.refuses(&["wrong.bp:3:9", "write `'x`", "wrong.bp:4:8", "^"]);
    assert_eq!(ran.err.matches("error[").count(), 2, "{}", ran.err);
}

#[test]
fn waiting_threads_are_woken() {
    let dir = Scratch::new("cli");
    let text = "decl go := 0, done := 0;
void main() begin
  if * then
    wait;
    done := 1;
  else
    assume(go = 0);
    go := 1;
    signal;
    assert(!done);
  fi;
end";
    let file = dir.file("signal.bp", text);
    let ran = run(&["check", name(&file)]);
    ran.says(10, "UNSAFE").shows(&["is woken and goes on at line 5"]);
}

#[test]
fn a_net_is_checked_by_tokens() {
    let dir = Scratch::new("cli");
    let net = "vars a b rules a >= 1 -> a' = a-1, b' = b+1; init a >= 1, b = 0 target b >= 3";
    let file = dir.file("net.spec", net);
    run(&["check", name(&file)]).says(10, "UNSAFE").shows(&["3 steps"]);
    run(&["check", name(&file)]).shows(&["3 tokens, 3 steps"]);
    run(&["check", name(&file), "--threads", "2"]).says(0, "SAFE").shows(&["at most 2 initial tokens"]);
    run(&["check", name(&file), "--threads", "3"]).says(10, "UNSAFE");
    assert_eq!(run(&["simulate", name(&file), "--threads", "2"]).status, 0);
}

/// Also where control never gets to the statement.
#[test]
fn a_program_that_contains_a_start_thread_starts_with_one_thread() {
    let dir = Scratch::new("cli");
    for (called, text, initial) in [
        ("start.bp", "start_thread main();", "1 thread at the entry of main"),
        ("async.bp", "while * do if * then ASYNC_1: skip; fi; od;", "1 thread at the entry of main"),
        ("none.bp", "skip;", "any number of threads at the entry of main"),
    ] {
        let text = format!("decl g := 0; void main() begin g := !g; assert(g); return; {text} end");
        let alone = initial.starts_with('1');
        let file = dir.file(called, text);
        let (status, word) = if alone { (0, "SAFE") } else { (10, "UNSAFE") };
        run(&["check", name(&file)]).says(status, word).shows(&[initial]);
    }
}

/// A contest's property file with one property that can be asked and one that cannot: the answer
/// must not look like an answer to both.
#[test]
fn a_property_that_is_left_out_is_unknown() {
    let dir = Scratch::new("cli");
    let net = "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'>
        <place id='a'><initialMarking><text>1</text></initialMarking></place><transition id='t'/>
        <arc id='1' source='a' target='t'/></page></net></pnml>";
    let at = |which: &str, left: &str, right: &str| {
        format!(
            "<property><id>{which}</id><formula><all-paths><globally><integer-le>{left}{right}</integer-le>
            </globally></all-paths></formula></property>"
        )
    };
    let (one, a) =
        ("<integer-constant>1</integer-constant>", "<tokens-count><place>a</place></tokens-count>");
    let file = dir.file("net.pnml", net);
    let most = at("most", a, one);
    // What holds after every step is not a question about what can be reached.
    let least = at("least", one, a).replace("globally", "next");
    dir.file("net.xml", format!("<property-set>{most}{least}</property-set>"));
    let ran = run(&["check", name(&file)]);
    ran.says(1, "UNKNOWN").shows(&[
        "SAFE    most",
        "UNKNOWN least",
        "left out: it is of the form all-paths/next",
    ]);
    assert!(ran.err.contains("W608"), "{}", ran.err);
    let quiet = run(&["check", name(&file), "-q"]);
    quiet.says(1, "UNKNOWN");
    assert!(!quiet.out.contains("no violation"), "nothing is known about it:\n{}", quiet.out);
    run(&["check", name(&file), "--json"]).shows(&["\"cause\": \"left-out\"", "\"verdict\": \"unknown\""]);
    dir.file("net.xml", format!("<property-set>{most}</property-set>"));
    run(&["check", name(&file)]).says(0, "SAFE");
    let system = dir.file("system.tts", "2 2\n0 0 -> 1 1\n");
    run(&["check", name(&system), "--prop", name(&dir.0.join("net.xml"))]).refuses(&["E610", "Petri nets"]);
}

#[test]
fn a_rule_with_an_upper_bound_is_not_fireable_with_more() {
    let dir = Scratch::new("cli");
    let net =
        dir.file("net.spec", "vars x y rules x >= 1, y = 0 -> x' = x - 1; init x = 1, y = 1 target x >= 5");
    let properties = dir.file(
        "net.xml",
        "<property-set><property><id>fire</id><formula><exists-path><finally><is-fireable>
        <transition>x &gt;= 1, y = 0 -&gt; x' = x - 1;</transition></is-fireable></finally></exists-path></formula></property></property-set>",
    );
    let ran = run(&["check", name(&net), "--prop", name(&properties)]);
    assert!(ran.status == 2 && ran.err.contains("few tokens"), "{}{}", ran.out, ran.err);
}
