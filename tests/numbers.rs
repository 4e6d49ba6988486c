//! Very large numbers: weights and markings up to the limit, sums beyond it. Nobody lays tokens out one by one, nobody takes a sum that was cut
//! off for the truth, and limits are kept.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const ENGINES: [&str; 7] = ["auto", "explicit", "karp-miller", "backward", "views", "equations", "guided"];

fn file(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("throng-numbers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path
}

/// What each engine says about a net, in one word; in time and without much memory.
fn said(name: &str, net: &str) -> Vec<(&'static str, String)> {
    let path = file(name, net);
    let ask = |engine: &'static str| {
        let began = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        let options = ["--engine", engine, "--timeout", "5", "--memory", "1000"];
        let output = command.arg("check").arg(&path).args(options).output().expect("it runs");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(matches!(output.status.code(), Some(0 | 1 | 10)), "{name} {engine}: {out}{err}");
        assert!(began.elapsed() < Duration::from_secs(15), "{name} {engine}: {out}");
        (engine, out.split_whitespace().next().unwrap_or_default().to_string())
    };
    ENGINES.into_iter().map(ask).collect()
}

#[test]
fn weights_of_a_billion_are_counted() {
    let net = "vars a x y rules
        a >= 1 -> a' = a - 1, x' = x + 1073741824;
        x >= 1073741824 -> x' = x - 1073741824, y' = y + 1;
        init a = 5, x = 0, y = 0 target y >= 5";
    for (engine, answer) in said("weights.spec", net) {
        let finds = ["auto", "explicit", "backward", "equations"].contains(&engine);
        assert_eq!(answer, if finds { "UNSAFE" } else { "UNKNOWN" }, "{engine}");
    }
    let start = "vars a b c d x rules
        a >= 30000000, b >= 30000000, c >= 300, d >= 300 -> a' = a - 300, x' = x + 1;
        init a >= 0, b >= 0, c >= 0, d >= 0, x = 0 target x >= 3";
    for (engine, answer) in said("start.spec", start) {
        let finds = ["auto", "karp-miller", "backward", "guided"].contains(&engine);
        assert_eq!(answer, if finds { "UNSAFE" } else { "UNKNOWN" }, "{engine}");
    }
    let target = "vars a x rules a >= 1 -> a' = a - 1, x' = x + 1;
        init a = 1000000000, x = 1 target x >= 2, a >= 900000000";
    for (engine, answer) in said("target.spec", target) {
        assert_eq!(answer, if engine == "views" { "UNKNOWN" } else { "UNSAFE" }, "{engine}");
    }
}

/// All tokens have to be there at once, which is too many to count; so nobody knows, but nobody may say SAFE.
#[test]
fn a_sum_that_was_cut_off_proves_nothing() {
    for leave in ["p >= 1", "p >= 1, a = 0"] {
        let net = format!(
            "vars p q a x y rules
            p >= 1, a >= 1 -> a' = a - 1, x' = x + 1073741824;
            {leave} -> p' = p - 1, q' = q + 1;
            q >= 1, x >= 1073741824 -> x' = x - 1073741824, y' = y + 1;
            init p = 1, q = 0, a = 5, x = 0, y = 0 target y >= 5"
        );
        for (engine, answer) in said("sum.spec", &net) {
            assert_eq!(answer, "UNKNOWN", "{engine}");
        }
    }
}

#[test]
fn inputs_that_cannot_be_counted_are_refused() {
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        let output = command.arg("check").arg(file(&format!("too-{name}"), text)).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {err}");
        assert!(err.contains("E707") && err.contains("too many to count"), "{name}: {err}");
    }
}
