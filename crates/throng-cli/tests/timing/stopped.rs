//! Interrupted and killed at some moment: the program ends soon and says what it knows, and no file
//! is left half written. These tests sleep, because the moment is what they vary.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use throng_dev::Rng;
use throng_dev::harness::large::{crowd, wide};
use throng_dev::harness::{Scratch, said, throng};

use crate::{BUSY, alone};

const LOCK: &str = "2 2\n0 0 -> 1 1  # acquire\n1 1 -> 0 0  # release\n";
const RACE: &str = "decl g := 0; void main() begin g := !g; g := !g; assert(!g); end";

/// Starts the program, lets it work, sends a signal, and expects it to end soon. On a busy machine
/// the signal may come before the handler is installed; then the process is killed, and the test
/// tries again with a longer pause.
fn signalled(signal: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let once = |pause: u64| {
        let mut child = throng()
            .args(args)
            .stdin(Stdio::piped()) // never written to
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(pause));
        let began = Instant::now();
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let open = child.stdin.take();
        let ran = said(&child.wait_with_output().unwrap());
        drop(open);
        (ran, began.elapsed())
    };
    let (ran, took) = [2000, 6000, 20_000].into_iter().map(once).find(|(ran, _)| ran.0.is_some()).unwrap();
    assert!(took < Duration::from_secs(1) * BUSY, "{took:?}");
    ran
}

#[test]
fn an_interrupt_gives_unknown_with_what_was_established() {
    let _alone = alone();
    let dir = Scratch::new("signals");
    let file = dir.file_argument("lock.tts", LOCK);
    let args = ["check", &file, "--target", "1|1,1", "--engine", "explicit"];
    for signal in ["-INT", "-TERM"] {
        let (status, out, err) = signalled(signal, &args);
        assert!(status == Some(1) && out.starts_with("UNKNOWN"), "{status:?} {out}{err}");
        for part in ["stopped on request", "no violation with up to", "next:"] {
            assert!(out.contains(part), "{part}: {out}");
        }
    }
    let (status, out, _) = signalled("-INT", &[&args[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &json["verdict"]), (Some(1), &Value::from("unknown")));
}

/// It waits for its input, and nothing in it looks at limits.
#[test]
fn an_interrupt_ends_what_does_not_listen() {
    let _alone = alone();
    let (status, out, err) = signalled("-INT", &["check", "-", "--from", "bp"]);
    assert!(status == Some(1) && out.starts_with("UNKNOWN"), "{status:?} {out}{err}");
    assert!(out.contains("stopped on request; still reading the input"), "{out}");
    let (status, out, _) = signalled("-INT", &["check", "-", "--from", "bp", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &json["verdict"]), (Some(1), &Value::from("unknown")));
}

/// One that is killed while it writes leaves the old file.
#[test]
fn an_old_file_stays_until_the_new_one_is_complete() {
    let _alone = alone();
    let dir = Scratch::new("killed");
    let race = dir.file_argument("race.bp", RACE);
    let html = dir.file_argument("a.html", "old");
    for pause in [0, 1, 2, 4, 8, 16, 32] {
        let mut child = throng()
            .args(["check", &race, "--html", &html])
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        thread::sleep(Duration::from_millis(pause));
        child.kill().expect("mine");
        child.wait().expect("it ends");
        let text = fs::read_to_string(&html).expect("there");
        assert!(text == "old" || text.trim_end().ends_with("</html>"), "half a page: {} bytes", text.len());
    }
}

fn check_command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = throng();
    command.arg("check").arg(program).args(arguments).arg("--jobs").arg("1");
    command
}

fn stderr(output: &Output) -> String {
    said(output).2
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}{}", stderr(output)))
}

/// What must be the same, killed or not.
fn answer(output: &Output) -> Vec<Value> {
    let mut document = json(output);
    let targets = document["targets"].take();
    let each = targets.as_array().into_iter().flatten();
    let mut same: Vec<_> =
        each.map(|t| serde_json::json!([t["verdict"], t["threads"], t["steps"]])).collect();
    same.push(document["statistics"]["configurations"].take());
    same.push(document["statistics"]["steps"].take());
    same
}

/// Kills a search again and again, each time a little later, until it comes to its end.
fn survives_killing(name: &str, program: &str, arguments: &[&str]) {
    let scratch = Scratch::new("killed");
    let (program, kept) = (scratch.file("input.bp", program), scratch.0.join("checkpoint"));
    let mut all = arguments.to_vec();
    all.push("--json");
    let whole = check_command(&program, &all).output().expect("it runs");
    let path = kept.to_string_lossy().into_owned();
    all.extend(["--checkpoint", &path, "--checkpoint-every", "0.02"]);
    // A file, because the program would block on a full pipe.
    let said_to = scratch.0.join("out");
    let (mut rng, mut resumed, mut patience) = (Rng::new(7), 0, 40);
    loop {
        let out = fs::File::create(&said_to).expect("the folder for tests can be written to");
        let mut command = check_command(&program, &all);
        let mut child = command.stdout(out).stderr(Stdio::piped()).spawn().expect("it starts");
        thread::sleep(Duration::from_millis(patience + rng.below(patience)));
        child.kill().expect("it can be killed");
        let mut output = child.wait_with_output().expect("it ends");
        resumed += usize::from(stderr(&output).contains("resuming from"));
        if output.status.code().is_some() {
            output.stdout = fs::read(&said_to).expect("readable");
            assert_eq!(answer(&output), answer(&whole), "{name}");
            assert_eq!(output.status.code(), whole.status.code());
            break;
        }
        patience += patience / 4;
        assert!(patience < 120_000, "{name}: it does not come further");
    }
    assert!(resumed > 0, "{name}: it never resumed");
    assert!(!kept.exists(), "{name}: with the answer, the checkpoint goes");
}

#[test]
fn a_killed_search_goes_on() {
    let _alone = alone();
    survives_killing("explicit", &crowd(40), &["--engine", "explicit", "--threads", "4", "--no-check"]);
    let wide = wide(8, "assert(!s39 | s39);");
    survives_killing("wide", &wide, &["--engine", "explicit", "--threads", "1", "--no-check"]);
    survives_killing("karp-miller", &wide, &["--engine", "karp-miller", "--initial", "1", "--no-check"]);
}
