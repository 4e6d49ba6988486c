//! Several processes, on loopback: same answers, the input comes from the first, and a process that
//! dies ends the run.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use throng_dev::harness::{Scratch, example, run, said, throng};

/// Hosts with ports that are free now.
pub(super) fn hosts(folder: &Scratch, count: usize) -> (String, Vec<String>) {
    let listeners: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> = listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    (folder.file_argument("hosts.txt", addresses.join("\n")), addresses)
}

/// Processes that end with the test.
pub(super) struct Processes(Vec<Option<Child>>);

impl Processes {
    /// All of them work on this command. Only the first can see the input.
    pub(super) fn start(
        folder: &Scratch,
        hosts: &str,
        which: impl Iterator<Item = usize>,
        args: &[&str],
    ) -> Processes {
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
    pub(super) fn end(&mut self, i: usize, patience: Duration) -> (Option<i32>, String, String) {
        let began = Instant::now();
        while self.child(i).try_wait().expect("it can be waited for").is_none() {
            assert!(began.elapsed() < patience, "process {i} does not end");
            sleep(Duration::from_millis(20));
        }
        said(&self.0[i].take().expect("it runs").wait_with_output().expect("it ends"))
    }

    pub(super) fn signal(&mut self, i: usize, signal: &str) {
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

pub(super) fn number(json: &str, pointer: &str) -> u64 {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|why| panic!("{why}: {json}"));
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {json}"))
}

/// Longer than anything takes, also on a busy machine.
pub(super) const LONG: Duration = Duration::from_secs(300);

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
    let mut first = throng();
    let command = ["check", "ticketlock-broken.bp", "--cluster", &hosts, "--process", "0"];
    first.current_dir(example("")).args(command).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut processes = Processes(vec![Some(first.spawn().expect("it starts"))]);
    // A connection from outside the run is ignored.
    let began = Instant::now();
    let mut stranger = loop {
        match TcpStream::connect(&addresses[0]) {
            Ok(stream) => break stream,
            Err(why) => assert!(began.elapsed() < LONG, "it does not listen: {why}"),
        }
        sleep(Duration::from_millis(20));
    };
    let _ = stranger.write_all(&[0xff; 4000]);
    let mut others = Processes::start(&folder, &hosts, 1..3, &["ticketlock-broken.bp", "--workers", "1"]);
    processes.0.append(&mut others.0);
    let (status, out, errors) = processes.end(0, LONG);
    assert_eq!(status, Some(10), "{out}{errors}");
    assert!(out.starts_with("UNSAFE  assertions  5 threads, 14 steps"), "{out}");
    for i in 1..3 {
        let (status, out, errors) = processes.end(i, LONG);
        assert_eq!((status, &*out), (Some(10), ""), "{errors}");
    }
}

/// With many threads, a search that takes long.
fn endless() -> String {
    example("rockall.bp").to_str().unwrap().to_string()
}

/// Waits until the workers have written a state: then all processes are connected and search.
pub(super) fn wait_for_state(kept: &str, processes: &mut Processes) {
    let began = Instant::now();
    while !Path::new(kept).join("throng-cluster.json").exists() {
        assert!(began.elapsed() < LONG, "nothing is written");
        let ended = processes.child(0).try_wait().expect("it can be waited for");
        assert_eq!(ended, None, "it ended before anything was written");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_process_that_dies_ends_the_run_everywhere() {
    for (victim, signal) in [(2, "-KILL"), (0, "-KILL"), (1, "-STOP")] {
        let folder = Scratch::new("cluster");
        let (hosts, addresses) = hosts(&folder, 4);
        let (file, kept) = (endless(), folder.argument("kept"));
        let args = [&*file, "--threads", "9", "--checkpoint", &kept, "--checkpoint-every", "0.05"];
        let mut processes = Processes::start(&folder, &hosts, 0..4, &args);
        wait_for_state(&kept, &mut processes);
        processes.signal(victim, signal);
        let died = Instant::now();
        for i in (0..4).filter(|&i| i != victim) {
            let (status, out, errors) = processes.end(i, LONG);
            assert_eq!(status, Some(1), "{out}{errors}");
            assert!(out.starts_with("UNKNOWN"), "{out}{errors}");
            let named = format!("process {victim} ({})", addresses[victim]);
            assert!(out.contains(&named), "{named}: {out}");
        }
        // Ten seconds, and what a busy machine adds.
        assert!(died.elapsed() < LONG, "{:?}", died.elapsed());
    }
}

#[test]
fn a_process_that_does_not_come_is_not_waited_for_long() {
    let folder = Scratch::new("cluster");
    let (hosts, _) = hosts(&folder, 3);
    let file = endless();
    let args = [&*file, "--threads", "2", "--connect-timeout", "2"];
    let mut processes = Processes::start(&folder, &hosts, 0..2, &args);
    let (status, out, _) = processes.end(0, LONG);
    assert_eq!(status, Some(1));
    assert!(out.starts_with("UNKNOWN  process 2 ") && out.contains("did not connect within 2 s"), "{out}");
    let (status, out, _) = processes.end(1, LONG);
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
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
}
