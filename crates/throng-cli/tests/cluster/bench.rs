//! `throng bench` over several processes: the same results, inputs come from the first process, and
//! a process that dies loses nothing.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use throng_dev::harness::{Scratch, example, said, throng};

use super::processes::{LONG, hosts};

fn runs(folder: &Scratch, out: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.0.join(out).join("runs.jsonl")).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn results_are_those_of_one_process() {
    let folder = Scratch::new("cluster-bench");
    let inputs = folder.0.join("in");
    fs::create_dir_all(&inputs).unwrap();
    for name in ["spinlock.bp", "spinlock-broken.bp", "winner.tts", "ticketlock.bp", "ticketlock-broken.bp"] {
        fs::copy(example(name), inputs.join(name)).unwrap();
    }
    let bench = |prefix: &[&str], out: &str| {
        let mut command = throng();
        command.current_dir(&folder.0).args(prefix);
        command.args(["bench", "in", "--timeout", "60", "--jobs", "2", "--out", out]);
        let (status, printed, errors) = said(&command.output().unwrap());
        assert_eq!(status, Some(0), "{printed}{errors}");
        let mut found: Vec<[Value; 4]> = runs(&folder, out)
            .iter()
            .map(|run| ["file", "hash", "result", "status"].map(|key| run[key].clone()))
            .collect();
        found.sort_by_key(|run| run[0].to_string());
        found
    };
    let alone = bench(&[], "alone");
    assert_eq!(alone.len(), 5);
    assert_eq!(bench(&["cluster", "run", "-n", "3", "--"], "together"), alone);
}

/// A process that is ended with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_that_dies_loses_nothing() {
    let folder = Scratch::new("cluster-bench-dies");
    let (hosts, _) = hosts(&folder, 2);
    let (first, second) = (folder.0.join("first"), folder.0.join("second"));
    fs::create_dir_all(first.join("in")).unwrap();
    fs::create_dir_all(&second).unwrap();
    for i in 0..10 {
        fs::write(first.join(format!("in/{i}.tts")), "2 2\n0 0 -> 1 1\n").unwrap();
    }
    // Each run says where it was made. The first process waits in every run, the second one in that
    // of 7.tts.
    let script = "echo $1 >> made; while [ -e hold ]; do sleep 0.02; done; \
        case $1 in */7.tts) while [ -e wait ]; do sleep 0.02; done;; esac; grep -q '0 0' $1";
    let tools = format!(
        "[[tool]]\nname = \"t\"\ncommand = [\"sh\", \"-c\", \"{script}\", \"t\", \"{{file}}\"]\nsafe = 0\n"
    );
    let tools = folder.file_argument("tools.toml", tools);
    fs::write(first.join("hold"), "").unwrap();
    fs::write(second.join("wait"), "").unwrap();
    let start = |process: &str, cwd| {
        let mut command = throng();
        command.current_dir(cwd).args(["bench", "in", "--tools", &tools, "--timeout", "300"]);
        command.args(["--cluster", &hosts, "--process", process]);
        Ended(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    };
    let made = |cwd: &Path| fs::read_to_string(cwd.join("made")).unwrap_or_default();
    let began = Instant::now();
    let wait_until = |done: &mut dyn FnMut() -> bool| {
        while !done() {
            assert!(began.elapsed() < LONG, "first: {}, second: {}", made(&first), made(&second));
            sleep(Duration::from_millis(20));
        }
    };
    let mut one = start("0", &first);
    wait_until(&mut || !made(&first).is_empty());
    let mut two = start("1", &second);
    wait_until(&mut || made(&second).contains("7.tts"));
    two.0.kill().expect("it is killed");
    two.0.wait().expect("it ends");
    fs::remove_file(second.join("wait")).unwrap();
    fs::remove_file(first.join("hold")).unwrap();
    wait_until(&mut || one.0.try_wait().expect("it can be waited for").is_some());
    let found = runs(&folder, "first/throng-bench");
    assert_eq!(found.len(), 10, "{found:?}");
    assert!(found.iter().all(|run| run["result"] == "safe"), "{found:?}");
    // 0, and after the second one died 7, 8, 9.
    assert_eq!(made(&first).lines().count(), 4, "{}", made(&first));
    assert_eq!(made(&second).lines().count(), 7, "{}", made(&second));
}
