//! `throng bench` as a user meets it: what it runs, keeps, compares, and with which exit status it
//! ends.

#![allow(clippy::print_stderr)] // what was skipped

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use throng_dev::harness::{Scratch, program, said, throng};

/// Two programs with what to expect, in a folder of their own.
struct Folder(Scratch);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Scratch::new(&format!("bench-{name}"));
        let path = &folder.0;
        fs::create_dir_all(path.join("in/locks")).unwrap();
        let examples = Path::new(throng_dev::ROOT).join("examples");
        for file in ["spinlock.bp", "spinlock-broken.bp"] {
            fs::copy(examples.join(file), path.join("in/locks").join(file)).unwrap();
        }
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        self.0.file(name, text)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.0.join(name)).unwrap_or_default()
    }

    /// Exit status, standard output, standard error.
    fn bench(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = throng();
        command.current_dir(&self.0.0).arg("bench").args(arguments).args(["--timeout", "600"]);
        let (status, out, err) = said(&command.output().unwrap());
        (status.unwrap_or(-1), out, err)
    }

    fn lines(&self, out: &str) -> Vec<serde_json::Value> {
        let text = self.read(&format!("{out}/runs.jsonl"));
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }
}

#[test]
fn a_folder_is_run_with_several_tools_and_everything_is_written() {
    let folder = Folder::new("folder");
    let tools = ["--engine", "auto", "--tool", "two=--engine explicit --threads 2 --no-por"];
    let (status, out, err) = folder.bench(&[&["in", "--jobs", "2"], &tools[..]].concat());
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("| auto | 2 | 2 | 1 | 1 | 0 |"), "{out}");
    assert!(out.contains("| in/locks | 2 of 2 | 2 of 2 |"), "{out}");
    let runs = folder.lines("throng-bench");
    assert_eq!(runs.len(), 4);
    for run in &runs {
        assert!(run["cpu"].as_f64().unwrap() > 0.0 && run["peak"].as_f64().unwrap() > 1.0, "{run}");
        let bound = if run["tool"] == "two" { serde_json::json!(2) } else { serde_json::Value::Null };
        assert_eq!(run["threads"], bound, "options win");
    }
    for file in ["runs.csv", "summary.md", "index.html", "cactus.svg", "time-auto-vs-two.svg"] {
        assert!(!folder.read(&format!("throng-bench/{file}")).is_empty(), "{file}");
    }
    assert_eq!(folder.read("throng-bench/summary.md"), out);
    assert_eq!(folder.read("throng-bench/runs.csv").lines().count(), 5);
    assert_eq!(folder.read("throng-bench/index.html").matches("<svg").count(), 3);
}

#[test]
fn a_second_call_goes_on_where_the_first_was_stopped() {
    let folder = Folder::new("resume");
    assert_eq!(folder.bench(&["in", "--engine", "auto", "--only", "broken"]).0, 0);
    let first = folder.read("throng-bench/runs.jsonl");
    folder.file("throng-bench/runs.jsonl", &format!("{first}{{\"file\":\"half a li"));
    let (status, _, err) = folder.bench(&["in", "--engine", "auto", "-v"]);
    assert_eq!(status, 0, "{err}");
    let second = folder.read("throng-bench/runs.jsonl");
    assert!(second.starts_with(&first) && folder.lines("throng-bench").len() == 2, "{second}");
    assert!(err.contains("[2/2]") && !err.contains("[1/2] auto"), "only one run was made: {err}");
    folder.bench(&["in", "--engine", "auto"]);
    assert_eq!(folder.read("throng-bench/runs.jsonl"), second, "nothing was left to do");
    folder.bench(&["in", "--engine", "auto", "--fresh", "--only", "spinlock.bp"]);
    assert_eq!(folder.lines("throng-bench").len(), 1);
}

#[test]
fn a_verdict_against_the_expected_one_is_reported_and_ends_with_10() {
    let folder = Folder::new("wrong");
    folder.file(
        "in/MANIFEST.csv",
        "path,kind,property,initial,expected,source\nlocks/spinlock.bp,bp,assertions,any,unsafe,\n",
    );
    let (status, out, _) = folder.bench(&["in"]);
    assert_eq!(status, 10, "{out}");
    assert!(out.contains("locks/spinlock.bp: expected unsafe; auto says safe"), "{out}");
    assert!(folder.read("throng-bench/index.html").contains("class='bad'"));
}

#[test]
fn manifests_say_what_to_ask() {
    let folder = Folder::new("manifest");
    let rows = "path,kind,property,initial,expected,source\n\
                locks/spinlock-broken.bp,bp,assertions,any of at most 1,safe,\"one, alone\"\n\
                locks/spinlock-broken.bp,bp,assertions,any of at most 2,unsafe,\n\
                locks/spinlock-broken.bp,bp,label CRITICAL,1,unsafe,\n";
    let manifest = folder.file("in/list.csv", rows);
    let (status, out, err) = folder.bench(&[&manifest.display().to_string(), "--engine", "explicit"]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("| explicit | 3 | 3 | 1 | 2 | 0 |"), "{out}{err}");
    let (status, out, _) = folder.bench(&[
        &manifest.display().to_string(),
        "--engine",
        "explicit",
        "--threads",
        "3,4",
        "--out",
        "b",
    ]);
    assert_eq!(status, 0, "{out}");
    assert_eq!(folder.lines("b").len(), 4, "the first two rows are the same question now");
}

#[test]
fn another_tool_runs_beside_ours() {
    let folder = Folder::new("foreign");
    let script = "case $1 in *broken*) echo BUG; exit 3;; *) echo fine;; esac";
    folder.file("other.sh", script);
    let tools = "[[tool]]\nname = 'ours'\noptions = '--engine auto'\n\
                 [[tool]]\nname = 'other'\ncommand = ['sh', 'other.sh', '{file}', ['-n', '{threads}']]\nsafe = 'fine'\nunsafe = 3\n\
                 [[tool]]\nname = 'cutoff'\ncommand = ['{throng}', 'cutoff', '--json', '{file}']\nfinished = 0\nvalue = '/cutoff'\n\
                 [[tool]]\nname = 'nets only'\ncommand = ['false']\nkinds = ['spec']\nsafe = 0\n";
    folder.file("tools.toml", tools);
    let (status, out, err) = folder.bench(&["in", "--tools", "tools.toml"]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("| other | 2 | 2 | 1 | 1 | 0 |"), "{out}");
    assert!(!out.contains("nets only"), "{out}");
    let cutoffs = folder.lines("throng-bench").into_iter().filter(|r| r["value"].is_number()).count();
    assert_eq!(cutoffs, 2);
    assert!(folder.read("throng-bench/values-cutoff.svg").contains("<svg"));
}

/// A benchmark that is killed stops its runs, and the processes that these have started.
#[cfg(target_os = "linux")]
#[test]
fn a_benchmark_that_is_killed_leaves_nothing_running() {
    let folder = Folder::new("killed");
    folder.file("slow.sh", "sleep 1000 & echo $$ $! > pids; mv pids started; wait");
    folder.file("tools.toml", "[[tool]]\nname = 'slow'\ncommand = ['sh', 'slow.sh']\nsafe = 0\n");
    let mut command = throng();
    command.current_dir(&folder.0.0).args(["bench", "in", "--tools", "tools.toml", "--only", "broken"]);
    let mut bench = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| !folder.read("started").is_empty());
    bench.kill().unwrap();
    bench.wait().unwrap();
    for process in folder.read("started").split_whitespace() {
        let status = || fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        // One that has ended may stay in the table until its parent asks how.
        wait_until(|| status().is_empty() || status().contains("State:\tZ"));
    }
}

fn wait_until(done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(200), "it does not happen");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn regressions_beyond_noise_end_with_1() {
    let folder = Folder::new("regression");
    folder.bench(&["in", "--engine", "auto", "--out", "old"]);
    let (status, out, _) = folder.bench(&["in", "--engine", "auto", "--out", "new", "--compare", "old"]);
    assert_eq!(status, 0, "the same twice: {out}");
    assert!(out.contains("| auto | 2 |"), "{out}");
    // Formerly there was an answer to a question that now gets none.
    let solved = folder
        .read("old/runs.jsonl")
        .replace("\"auto\"", "\"views\"")
        .replace("--engine auto", "--engine views");
    folder.file("old/runs.jsonl", &solved);
    let (status, out, err) =
        folder.bench(&["in", "--engine", "views", "--out", "views", "--compare", "old/runs.jsonl"]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("**no longer solved**: views, in/locks/spinlock-broken.bp"), "{out}");
    assert!(err.contains("run again"), "{err}");
    let tries = folder.lines("views").iter().filter(|r| r["file"] == "in/locks/spinlock-broken.bp").count();
    assert_eq!(tries, 3, "what seems worse is run twice more");
}

#[test]
fn growing_bounds_stop_where_a_tool_gives_up() {
    let folder = Folder::new("growing");
    let never =
        "decl a;\nvoid main() begin\n  decl x, y;\n  L: x, y := *, *; a := x; x := a & y; goto L;\nend\n";
    folder.file("in/big.bp", never);
    let grow = [
        "in/",
        "--only",
        "big",
        "--engine",
        "explicit",
        "--threads",
        "2,300,400",
        "--give-up",
        "--memory",
        "30",
    ];
    let (status, out, err) = folder.bench(&grow);
    assert_eq!(status, 0, "{out}{err}");
    let results: Vec<String> = folder.lines("throng-bench").iter().map(|r| r["result"].to_string()).collect();
    assert_eq!(results, ["\"safe\"", "\"memory\"", "\"skipped\""]);
}

#[test]
fn wrong_calls_end_with_2_and_say_why() {
    let folder = Folder::new("calls");
    folder.file("bad.toml", "[[tool]]\nname = 'x'\n");
    folder.file("in/bad.csv", "path,kind\na.bp,bp\n");
    folder.file("in/odd.csv", "path,property,initial,expected\na.bp,assertions,1,perhaps\n");
    fs::create_dir_all(folder.0.0.join("empty")).unwrap();
    let calls: [(&[&str], &str); 10] = [
        (&["nowhere"], "nowhere"),
        (&["empty"], "nothing to run"),
        (&["in", "--only", "xyz"], "no instance has such a name"),
        (&["in/bad.csv"], "property"),
        (&["in/odd.csv"], "perhaps"),
        (&["in", "--tool", "x"], "NAME=OPTIONS"),
        (&["in", "--tool", "x=--engin auto"], "--engin"),
        (&["in", "--tools", "bad.toml"], "either `options`"),
        (&["in", "--engine", "auto", "--tool", "auto=-q"], "two tools"),
        (&["in", "--compare", "nowhere"], "nowhere"),
    ];
    for (arguments, why) in calls {
        let (status, out, err) = folder.bench(arguments);
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(why), "{arguments:?}: {err}");
    }
    let (status, _, err) = folder.bench(&["in", "--pair", "auto,other"]);
    assert!(status == 2 && err.contains("--pair"), "{err}");
}

/// The BenchExec module, where Python and BenchExec are there (`pip install benchexec`; PYTHONPATH
/// is respected).
#[test]
fn the_benchexec_module_passes_its_tests() {
    let root = Path::new(throng_dev::ROOT);
    let mut python = Command::new("python3");
    python
        .current_dir(root.join("tools/benchexec"))
        .arg("test_throng.py")
        .arg(program())
        .arg(root.join("examples"));
    match python.output() {
        Err(why) => eprintln!("skipped: no python3: {why}"),
        Ok(done) => {
            let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
            assert!(done.status.success(), "{out}{err}");
            eprintln!("{}", if out.contains("skipped") { out } else { err });
        }
    }
}
