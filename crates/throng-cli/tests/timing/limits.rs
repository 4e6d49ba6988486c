//! Time and memory limits, as a user meets them: a run that would need more ends with UNKNOWN in
//! time, and says how far it came.

use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use throng_dev::harness::large::{crowd, flippers};
use throng_dev::harness::{test_file, throng};

use crate::{BUSY, alone};

/// Writes a program to a file of its own.
fn file(name: &str, text: &str) -> PathBuf {
    test_file(&format!("limits-{name}.bp"), text)
}

fn check(path: &PathBuf, arguments: &[&str]) -> Output {
    throng().arg("check").arg(path).args(arguments).arg("--json").output().expect("it runs")
}

fn json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"))
}

/// A run that stopped for memory: UNKNOWN, status 1, and how many configurations it had seen.
fn stops_for_memory(name: &str, text: &str, arguments: &[&str]) {
    let path = file(name, text);
    let mut all = vec!["--memory", "64", "--jobs", "1", "--timeout", "600"];
    all.extend(arguments);
    let output = check(&path, &all);
    let document = json(&output);
    assert_eq!(output.status.code(), Some(1), "{name}: {document}");
    assert_eq!(document["verdict"], "unknown", "{name}");
    if document["targets"] == serde_json::json!([]) {
        // The search did not come to its end in time after the limit, so it is not known how far it
        // came.
        assert!(document["attempts"].to_string().contains("memory limit of 64 MiB"), "{name}: {document}");
        return;
    }
    let why = document["targets"][0]["reason"].as_str().unwrap_or_default().to_string();
    assert!(why.contains("memory limit of 64 MiB"), "{name}: {why}");
    let seen = document["statistics"]["configurations"].as_u64().unwrap_or(0);
    assert!(seen > 100, "{name}: {seen} configurations");
    // The limit is looked at now and then, and a table may have grown in between.
    let peak = document["statistics"]["peak_memory"].as_u64().unwrap_or(0) >> 20;
    assert!((32..128).contains(&peak), "{name}: {peak} MiB");
}

#[test]
fn memory_ends_an_explicit_search() {
    let _alone = alone();
    stops_for_memory("explicit", &crowd(40), &["--engine", "explicit", "--threads", "8"]);
}

#[cfg(feature = "cluster")]
#[test]
fn memory_ends_a_distributed_search() {
    let _alone = alone();
    let options = ["--engine", "distributed", "--workers", "1", "--threads", "8"];
    stops_for_memory("distributed", &crowd(40), &options);
}

#[test]
fn memory_ends_a_symbolic_search() {
    let _alone = alone();
    stops_for_memory("symbolic", &crowd(40), &["--engine", "symbolic", "--threads", "8"]);
}

#[test]
fn memory_ends_a_coverability_tree() {
    let _alone = alone();
    // One thread in very many states: labels that do not cover each other.
    stops_for_memory("karp-miller", &flippers(22), &["--engine", "karp-miller", "--initial", "1"]);
}

#[test]
fn memory_ends_the_default_search() {
    let _alone = alone();
    stops_for_memory("auto", &crowd(40), &["--threads", "8"]);
}

/// Conditions that link forty variables have too many cases to list; every engine meets them in its
/// own way.
#[test]
fn time_ends_every_engine_even_inside_a_statement() {
    let _alone = alone();
    let names: Vec<String> = (0..40).map(|i| format!("x{i}")).collect();
    let (all, xor) = (names.join(", "), names.join(" ^ "));
    let again: String = names.iter().map(|x| format!("{x} := *; ")).collect();
    let body = format!("while * do assume({xor}); {again} assert({xor} | g | !g); g := !g; od");
    let texts = [
        ("local", format!("decl g := 0; void main() begin decl {all}; {body} end")),
        ("shared", format!("decl g := 0, {all}; void main() begin {body} end")),
        ("crowd", crowd(40)),
        ("flippers", flippers(24)),
    ];
    for (name, text) in texts {
        let path = file(&format!("time-{name}"), &text);
        for engine in ["auto", "explicit", "symbolic", "karp-miller", "backward", "views"] {
            let mut arguments = vec!["--engine", engine, "--timeout", "0.5", "--memory", "4096"];
            if matches!(engine, "explicit" | "symbolic") {
                arguments.extend(["--threads", "8"]);
            }
            let began = Instant::now();
            let output = check(&path, &arguments);
            let took = began.elapsed();
            assert!(
                matches!(output.status.code(), Some(0 | 1 | 10)),
                "{name}, {engine}: {:?}",
                output.status
            );
            // Half a second late is what is promised.
            assert!(took < Duration::from_millis(500) * (1 + BUSY), "{name}, {engine}: {took:?}");
        }
    }
}

/// One statement that links sixty variables, sixty times: half a second after the limit there is an
/// answer, whatever searches.
#[test]
fn time_is_kept_within_half_a_second_inside_a_long_statement() {
    let _alone = alone();
    let names: Vec<String> = (0..60).map(|i| format!("x{i}")).collect();
    let sums: Vec<String> = (0..60).map(|i| [&names[i..], &names[..i]].concat().join(" ^ ")).collect();
    let (all, sum) = (names.join(", "), &sums[0]);
    let path = file(
        "sixty",
        &format!(
            "decl g := 0, {all}; void main() begin while * do {all} := {}; assert({sum} | g); od end",
            sums.join(", ")
        ),
    );
    for engine in [
        "auto",
        "explicit",
        "symbolic",
        "karp-miller",
        "backward",
        "views",
        "localise",
        "equations",
        "guided",
    ] {
        let began = Instant::now();
        let output = check(&path, &["--engine", engine, "--timeout", "0.7"]);
        let late = began.elapsed().saturating_sub(Duration::from_millis(700));
        assert!(matches!(output.status.code(), Some(1 | 10)), "{engine}: {:?}", output.status);
        assert!(json(&output)["verdict"].is_string(), "{engine}");
        assert!(late < Duration::from_millis(500) * BUSY, "{engine}: {late:?} late");
    }
}
