//! Several processes, on loopback: same answers, the input comes from the first, and a process that dies ends the run.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use throng_dev::harness::{Scratch, example, run, said, throng};

/// Hosts with ports that are free now.
fn hosts(folder: &Scratch, count: usize) -> (String, Vec<String>) {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    (folder.file_argument("hosts.txt", addresses.join("\n")), addresses)
}

/// Processes that end with the test.
struct Processes(Vec<Option<Child>>);

impl Processes {
    /// All of them work on this command. Only the first can see the input.
    fn start(folder: &Scratch, hosts: &str, which: impl Iterator<Item = usize>, args: &[&str]) -> Processes {
        let start = |i: usize| {
            let mut command = throng();
            command.arg("check").args(args).args(["--cluster", hosts, "--process", &i.to_string()]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            if i > 0 {
                command.current_dir(&folder.0);
            }
            Some(command.spawn().expect("it starts"))
        };
        Processes(which.map(start).collect())
    }

    fn child(&mut self, i: usize) -> &mut Child {
        self.0[i].as_mut().expect("it runs")
    }

    /// Waits for a process, but not for longer than this.
    fn end(&mut self, i: usize, patience: Duration) -> (Option<i32>, String, String) {
        let began = Instant::now();
        while self.child(i).try_wait().expect("it can be waited for").is_none() {
            assert!(began.elapsed() < patience, "process {i} does not end");
            sleep(Duration::from_millis(20));
        }
        said(&self.0[i].take().expect("it runs").wait_with_output().expect("it ends"))
    }

    fn signal(&mut self, i: usize, signal: &str) {
        let id = self.child(i).id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill").success());
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.0.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn number(json: &str, pointer: &str) -> u64 {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|why| panic!("{why}: {json}"));
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {json}"))
}

const LONG: Duration = Duration::from_secs(100);

#[test]
fn the_same_answers_as_one_process() {
    for (name, threads, status) in [
        ("spinlock.bp", "4", 0),
        ("spinlock-broken.bp", "3", 10),
        ("buffer.bp", "3", 0),
        ("winner.tts", "4", 10),
    ] {
        let file = example(name);
        let file = file.to_str().unwrap();
        let (expected, alone, _) =
            run(&["check", file, "--threads", threads, "--engine", "explicit", "--no-por", "--json"]);
        assert_eq!(expected, Some(status), "{name}: {alone}");
        for processes in ["1", "2", "4"] {
            let args =
                ["cluster", "run", "-n", processes, "--", "check", file, "--threads", threads, "--json"];
            let (found, together, errors) = run(&args);
            assert_eq!(found, Some(status), "{name} with {processes} processes: {together}{errors}");
            if status == 0 {
                let pointer = "/statistics/configurations";
                assert_eq!(number(&together, pointer), number(&alone, pointer), "{name}");
            }
        }
    }
}

#[test]
fn only_the_first_process_has_the_input_and_prints() {
    let folder = Scratch::new("cluster");
    let (hosts, addresses) = hosts(&folder, 3);
    let examples = example("");
    let mut processes = {
        let mut first = throng();
        first.current_dir(&examples).args([
            "check",
            "ticketlock-broken.bp",
            "--cluster",
            &hosts,
            "--process",
            "0",
        ]);
        let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut others = Processes::start(&folder, &hosts, 1..3, &["ticketlock-broken.bp", "--workers", "1"]);
        let mut all = Processes(vec![Some(first)]);
        all.0.append(&mut others.0);
        all
    };
    // Whoever is not part of the run is not listened to.
    let mut stranger = TcpStream::connect(&addresses[0]);
    for _ in 0..100 {
        if stranger.is_ok() {
            break;
        }
        sleep(Duration::from_millis(20));
        stranger = TcpStream::connect(&addresses[0]);
    }
    let _ = stranger.expect("it listens").write_all(&[0xff; 4000]);
    let (status, out, errors) = processes.end(0, LONG);
    assert_eq!(status, Some(10), "{out}{errors}");
    assert!(out.starts_with("UNSAFE  assertions  5 threads, 14 steps"), "{out}");
    for i in 1..3 {
        let (status, out, errors) = processes.end(i, LONG);
        assert_eq!((status, &*out), (Some(10), ""), "{errors}");
    }
}

/// A search that takes long.
const ENDLESS: [&str; 2] = ["--threads", "9"];

fn endless() -> String {
    example("rockall.bp").to_str().unwrap().to_string()
}

#[test]
fn a_process_that_dies_ends_the_run_everywhere() {
    for (victim, signal, moment) in
        [(2, "-KILL", 1500), (0, "-KILL", 900), (1, "-STOP", 1200), (3, "-KILL", 100)]
    {
        let folder = Scratch::new("cluster");
        let (hosts, addresses) = hosts(&folder, 4);
        let file = endless();
        let mut processes = Processes::start(&folder, &hosts, 0..4, &[&[&*file], &ENDLESS[..]].concat());
        sleep(Duration::from_millis(moment));
        processes.signal(victim, signal);
        let died = Instant::now();
        for i in (0..4).filter(|&i| i != victim) {
            // Who is killed before it has connected is waited for as long as anyone who does not come.
            let (status, out, errors) = processes.end(i, LONG);
            assert_eq!(status, Some(1), "{out}{errors}");
            assert!(out.starts_with("UNKNOWN"), "{out}{errors}");
            if moment > 500 {
                assert!(died.elapsed() < Duration::from_secs(10), "{:?}", died.elapsed());
                let named = format!("process {victim} ({})", addresses[victim]);
                assert!(out.contains(&named), "{named}: {out}");
            }
        }
    }
}

#[test]
fn a_process_that_does_not_come_is_not_waited_for_long() {
    let folder = Scratch::new("cluster");
    let (hosts, _) = hosts(&folder, 3);
    let file = endless();
    let args = [&*file, "--threads", "2", "--connect-timeout", "2"];
    let mut processes = Processes::start(&folder, &hosts, 0..2, &args);
    let (status, out, _) = processes.end(0, Duration::from_secs(20));
    assert_eq!(status, Some(1));
    assert!(out.starts_with("UNKNOWN  process 2 ") && out.contains("did not connect within 2 s"), "{out}");
    let (status, out, _) = processes.end(1, Duration::from_secs(20));
    assert_eq!(status, Some(1));
    assert!(out.starts_with("UNKNOWN  process 2 "), "{out}");
}

#[test]
fn what_is_wrong_is_wrong_for_all() {
    let folder = Scratch::new("cluster");
    let wrong = folder.file_argument("wrong.bp", "decl x;; void main( begin");
    let (status, out, errors) = run(&["cluster", "run", "-n", "2", "--", "check", &wrong, "--threads", "2"]);
    assert_eq!((status, &*out), (Some(2), ""), "{errors}");
    assert!(errors.contains("error"), "{errors}");
    let file = endless();
    for args in [
        &["--cluster", "no-such-hosts", "--process", "0"][..],
        &["--engine", "distributed", "--certificate", "x.json"],
        &["--engine", "backward", "--cluster", &folder.file_argument("hosts", "localhost"), "--process", "0"],
        &["--cluster", &folder.argument("hosts"), "--process", "1"],
    ] {
        let (status, out, errors) = run(&[&["check", &*file], args].concat());
        assert_eq!((status, &*out), (Some(2), ""), "{args:?}: {errors}");
    }
    let (status, out, _) = run(&["cluster", "run", "-n", "2", "--", "reach", &file]);
    assert_eq!((status, &*out), (Some(2), ""));
}

#[test]
fn a_limit_of_one_process_is_a_limit_of_all() {
    let file = endless();
    let args = ["cluster", "run", "-n", "3", "--", "check", &file, "--threads", "9", "--timeout", "3"];
    let began = Instant::now();
    let (status, out, errors) = run(&args);
    assert_eq!(status, Some(1), "{out}{errors}");
    assert!(out.starts_with("UNKNOWN") && out.contains("time limit"), "{out}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
