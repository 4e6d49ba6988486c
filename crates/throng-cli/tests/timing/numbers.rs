//! Very large numbers: weights and markings up to the limit, sums beyond it. Tokens are not listed
//! one by one, a sum that was cut off proves nothing, and limits are kept.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use throng_dev::harness::{run, said, test_file, throng};

use crate::{BUSY, alone};

const ENGINES: [&str; 7] = ["auto", "explicit", "karp-miller", "backward", "views", "equations", "guided"];

fn file(name: &str, text: &str) -> PathBuf {
    test_file(&format!("numbers-{name}"), text)
}

/// What each engine says about a net, in one word; in time and without much memory.
fn answers(name: &str, net: &str, seconds: &str) -> Vec<(&'static str, String)> {
    let path = file(name, net);
    let ask = &|engine: &'static str| {
        let began = Instant::now();
        let mut command = throng();
        let options = ["--engine", engine, "--timeout", seconds, "--memory", "1000"];
        let (status, out, err) =
            said(&command.arg("check").arg(&path).args(options).output().expect("it runs"));
        assert!(matches!(status, Some(0 | 1 | 10)), "{name} {engine}: {out}{err}");
        assert!(began.elapsed() < Duration::from_secs(5) * BUSY, "{name} {engine}: {out}");
        (engine, out.split_whitespace().next().unwrap_or_default().to_string())
    };
    // Two at a time: most of them use up the limit.
    let pairs = ENGINES.chunks(2).flat_map(|pair| {
        thread::scope(|scope| {
            let started: Vec<_> = pair.iter().map(|&engine| scope.spawn(move || ask(engine))).collect();
            started.into_iter().map(|one| one.join().expect("it answers")).collect::<Vec<_>>()
        })
    });
    pairs.collect()
}

#[test]
fn weights_of_a_billion_are_counted() {
    let _alone = alone();
    let net = "vars a x y rules
        a >= 1 -> a' = a - 1, x' = x + 1073741824;
        x >= 1073741824 -> x' = x - 1073741824, y' = y + 1;
        init a = 5, x = 0, y = 0 target y >= 5";
    for (engine, answer) in answers("weights.spec", net, "5") {
        let finds = ["auto", "explicit", "backward", "equations"].contains(&engine);
        assert_eq!(answer, if finds { "UNSAFE" } else { "UNKNOWN" }, "{engine}");
    }
    let start = "vars a b c d x rules
        a >= 30000000, b >= 30000000, c >= 300, d >= 300 -> a' = a - 300, x' = x + 1;
        init a >= 0, b >= 0, c >= 0, d >= 0, x = 0 target x >= 3";
    for (engine, answer) in answers("start.spec", start, "5") {
        let finds = ["auto", "karp-miller", "backward", "guided"].contains(&engine);
        assert_eq!(answer, if finds { "UNSAFE" } else { "UNKNOWN" }, "{engine}");
    }
    let target = "vars a x rules a >= 1 -> a' = a - 1, x' = x + 1;
        init a = 1000000000, x = 1 target x >= 2, a >= 900000000";
    for (engine, answer) in answers("target.spec", target, "5") {
        assert_eq!(answer, if engine == "views" { "UNKNOWN" } else { "UNSAFE" }, "{engine}");
    }
}

/// All tokens have to be there at once, which is too many to count; so the answer is UNKNOWN, and
/// must not be SAFE.
#[test]
fn a_sum_that_was_cut_off_proves_nothing() {
    let _alone = alone();
    for leave in ["p >= 1", "p >= 1, a = 0"] {
        let net = format!(
            "vars p q a x y rules
            p >= 1, a >= 1 -> a' = a - 1, x' = x + 1073741824;
            {leave} -> p' = p - 1, q' = q + 1;
            q >= 1, x >= 1073741824 -> x' = x - 1073741824, y' = y + 1;
            init p = 1, q = 0, a = 5, x = 0, y = 0 target y >= 5"
        );
        for (engine, answer) in answers("sum.spec", &net, "1") {
            assert_eq!(answer, "UNKNOWN", "{engine}");
        }
    }
}

/// Runs the program, which must end in time.
fn run_in_time(arguments: &[&str]) -> (Option<i32>, String, String) {
    let began = Instant::now();
    let ran = run(arguments);
    assert!(began.elapsed() < Duration::from_secs(5) * BUSY, "{arguments:?}");
    ran
}

/// Other commands do not take a sum that was cut off for the truth either.
#[test]
fn reach_and_simulate_do_not_count_wrongly() {
    let _alone = alone();
    let up = |i: u32| format!("k{i} >= 1 -> k{i}' = k{i} - 1, k{0}' = k{0} + 1, b' = b + 1073741824;", i + 1);
    let down = |i: u32| {
        format!(
            "m{i} >= 1, b >= 1073741824 -> m{i}' = m{i} - 1, m{0}' = m{0} + 1, b' = b - 1073741824;",
            i + 1
        )
    };
    let rules: String = (0..5).map(|i| up(i) + &down(i)).collect();
    let zero: String = (1..=5).map(|i| format!(", k{i} = 0, m{i} = 0")).collect();
    let net = format!(
        "vars b k0 k1 k2 k3 k4 k5 m0 m1 m2 m3 m4 m5 rules {rules} k5 >= 1 -> k5' = k5 - 1, m0' = m0 + 1;
        init b = 0, k0 = 1, m0 = 0{zero} target m5 >= 1"
    );
    let path = file("chain.spec", &net);
    let path = path.to_str().expect("UTF-8");
    for arguments in [vec!["reach", path], vec!["reach", path, "--threads", "3"], vec!["check", path]] {
        let (status, out, err) = run_in_time(&arguments);
        assert_eq!((status, out.split_whitespace().next()), (Some(1), Some("UNKNOWN")), "{out}{err}");
    }
    let (status, out, err) = run_in_time(&["simulate", path, "--steps", "100", "--seed", "1"]);
    assert!(status == Some(2) && err.contains("too many threads to count"), "{out}{err}");
    let open = file("open.spec", "vars a b rules a >= 9 -> b' = b + 1; init a >= 2, b = 0 target b >= 1");
    for seed in ["1", "2", "3", "4", "5"] {
        let arguments = ["simulate", open.to_str().expect("UTF-8"), "--threads", "3", "--seed", seed];
        let (_, out, _) = run_in_time(&arguments);
        assert!(out.contains("starts with 2 tokens") || out.contains("starts with 3 tokens"), "{out}");
    }
    let (_, out, _) = run_in_time(&["simulate", open.to_str().expect("UTF-8"), "--threads", "4294967295"]);
    assert!(out.contains("the walk starts with"), "{out}");
}

/// What would take billions of steps one by one is said at once, or not in time, but never later.
#[test]
fn billions_are_not_counted_one_by_one() {
    let _alone = alone();
    let pump = "vars a c b rules a >= 1 -> c' = c + 1, b' = b + 1; c >= 1, b >= 1 -> c' = c - 1, a' = a + 1;
        init a = 1, b = 0, c = 0 target b >= 1000000000";
    let drop = "vars a b c rules a >= 1 -> a' = a - 1, b' = b + 1; b >= 2 -> b' = b - 2, c' = c + 1;
        init a = 1000000000, b = 0, c = 0 target c >= 1";
    for (engine, answer) in answers("pump.spec", pump, "1") {
        assert_eq!(answer, "UNKNOWN", "{engine}");
    }
    for (engine, answer) in answers("drop.spec", drop, "5") {
        let finds = ["auto", "explicit"].contains(&engine);
        assert_eq!(answer, if finds { "UNSAFE" } else { "UNKNOWN" }, "{engine}");
    }
    let large =
        "vars a b rules a >= 1000000001, b >= 1 -> b' = b - 1; init a >= 1000000000, b = 0 target b >= 1";
    let (large, pump) = (file("large.spec", large), file("pump2.spec", pump));
    let (large, pump) = (large.to_str().expect("UTF-8"), pump.to_str().expect("UTF-8"));
    for method in ["exact", "dynamic"] {
        let (status, out, err) = run_in_time(&["cutoff", large, "--method", method, "--timeout", "5"]);
        assert!(status == Some(0) && out.starts_with("cutoff 1000000000:"), "{out}{err}");
    }
    let reach = ["reach", large, "--threads", "4000000000", "--timeout", "3", "--memory", "1000"];
    assert_eq!(run_in_time(&reach).0, Some(1));
    for to in ["tts", "ntts", "bp"] {
        let (status, _, err) = run_in_time(&["translate", pump, "--to", to]);
        assert!(status == Some(2) && err.contains("one by one"), "{err}");
    }
}

/// A run that needs 2³² tokens is not an answer, but the run into the other target is; a search
/// that was kept resumes at the step that it could not count.
#[test]
fn what_cannot_be_counted_is_left_open_and_nothing_else() {
    let _alone = alone();
    let taking = |targets: &str| {
        format!(
            "vars x y rules x >= 1073741824 -> x' = x - 1073741824, y' = y + 1; init x >= 0, y = 0 target {targets}"
        )
    };
    for (engine, answer) in answers("four.spec", &taking("y >= 4"), "2") {
        assert_eq!(answer, "UNKNOWN", "{engine}");
    }
    for (engine, answer) in answers("one-four.spec", &taking("y >= 1\ny >= 4"), "2") {
        let finds = ["auto", "karp-miller", "backward", "guided"].contains(&engine);
        assert!(!finds || answer == "UNSAFE", "{engine}: {answer}");
    }
    let net =
        "vars x w rules x >= 1 -> x' = x + 1073741824; x >= 1073741824 -> x' = x - 1073741824, w' = w + 1;
        init x = 1073741824, w = 0 target w >= 2";
    let (net, kept) = (file("kept.spec", net), file("kept.checkpoint", ""));
    std::fs::remove_file(&kept).expect("removed");
    let (net, kept) = (net.to_str().expect("UTF-8"), kept.to_str().expect("UTF-8"));
    for _ in 0..2 {
        let options = ["check", net, "--engine", "karp-miller", "--checkpoint", kept, "--no-check"];
        let (status, out, err) = run_in_time(&options);
        assert!(status == Some(1) && out.starts_with("UNKNOWN"), "{out}{err}");
    }
}

/// Many bystanders that each have a choice.
#[test]
fn a_crowd_with_choices_does_not_hang_anybody() {
    let _alone = alone();
    let leaders: String = (9..69)
        .map(|l| {
            format!("0 {l} -> 0 {l}{}\n", "  0 ~> 1  0 ~> 2  0 ~> 3  0 ~> 4  0 ~> 5  0 ~> 6  0 ~> 7  0 ~> 8")
        })
        .collect();
    let system = file("crowd.tts", &format!("2 69\n{leaders}"));
    let start: Vec<String> = std::iter::repeat_n(0, 20).chain(9..69).map(|l: u32| l.to_string()).collect();
    let (system, start) = (system.to_str().expect("UTF-8"), format!("0|{}", start.join(",")));
    for engine in ["auto", "backward"] {
        let arguments = ["check", system, "--initial", &start, "--target", "1|1,2", "--engine", engine];
        let (status, out, err) =
            run_in_time(&[&arguments[..], &["--timeout", "4", "--memory", "1000"]].concat());
        assert!(matches!(status, Some(0 | 1)), "{out}{err}");
    }
    // A run too long to check step by step is neither an answer nor a fault.
    let first = leaders.lines().next().expect("a step");
    let alone = file("leader.tts", &format!("2 69\n{first}\n"));
    let start_alone = format!("0|{}9", "0,".repeat(20));
    let arguments = ["check", alone.to_str().expect("UTF-8"), "--initial", &start_alone, "--target", "0|1,2"];
    let (status, out, err) = run_in_time(&[&arguments[..], &["--engine", "explicit"]].concat());
    assert!(status == Some(1) && out.contains("not checked"), "{out}{err}");
    let (status, out, err) = run_in_time(&["simulate", system, "--initial", &start]);
    assert!(status == Some(2) && err.contains("configurations"), "{out}{err}");
}

#[test]
fn inputs_that_cannot_be_counted_are_refused() {
    let _alone = alone();
    let guard = "y1 = 1073741824, y2 = 1073741824, y3 = 1073741824, y4 = 1073741824";
    let taken = format!(
        "vars x y1 y2 y3 y4 rules
        {guard} -> x' = x + y1 + y2 + y3 + y4, y1' = 0, y2' = 0, y3' = 0, y4' = 0;
        init x = 0, y1 >= 0, y2 >= 0, y3 >= 0, y4 >= 0 target x >= 1"
    );
    let start = "vars x y z rules x >= 1 -> y' = y + 1;
        init x = 1073741824, y = 1073741824, z = 0 target z >= 1";
    let target = "vars x y z rules x >= 1 -> y' = y + 1;
        init x = 0, y = 0, z = 0 target x >= 1073741824, y >= 1073741824";
    let arc = "<arc id='ID' source='t' target='p'><inscription><text>1073741824</text></inscription></arc>";
    let arcs = arc.replace("ID", "a") + &arc.replace("ID", "b");
    let parallel = format!(
        "<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='g'>
        <place id='p'/><transition id='t'/>{arcs}</page></net></pnml>"
    );
    for (name, text) in [
        ("taken.spec", taken.as_str()),
        ("start.spec", start),
        ("target.spec", target),
        ("parallel.pnml", &parallel),
    ] {
        let mut command = throng();
        let output = command.arg("check").arg(file(&format!("too-{name}"), text)).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {err}");
        assert!(err.contains("E707") && err.contains("too many to count"), "{name}: {err}");
    }
}
