//! The documents that throng writes satisfy their schemas: `--json` those in docs/schemas,
//! `--sarif` the one of OASIS. For every example and every kind of verdict.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use jsonschema::{Retrieve, Uri, Validator};
use serde_json::Value;
use throng_dev::harness::{Scratch, throng};

fn root() -> PathBuf {
    PathBuf::from(throng_dev::ROOT)
}

fn schema(path: &str) -> Validator {
    // The pattern for languages in the schema of OASIS lacks its bracket; later editions have it.
    let text = fs::read_to_string(root().join(path)).unwrap();
    let text = text.replace("^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$", "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::options().with_retriever(Beside).build(&schema).unwrap()
}

/// Schemas refer to others in docs/schemas by their names.
struct Beside;

impl Retrieve for Beside {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().rsplit('/').next().unwrap_or_default();
        Ok(serde_json::from_slice(&fs::read(root().join("docs/schemas").join(name))?)?)
    }
}

fn in_root(args: &[&str]) -> Output {
    throng().current_dir(root()).args(args).output().unwrap()
}

#[track_caller]
fn satisfies(schema: &Validator, document: &Value, what: &str) {
    let flaws: Vec<String> =
        schema.iter_errors(document).take(3).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(flaws.is_empty(), "{what}: {flaws:#?}");
}

fn examples() -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| {
            p.extension()
                .is_some_and(|e| ["bp", "tts", "ntts", "spec", "pnml"].contains(&e.to_str().unwrap()))
        })
        .map(|p| format!("examples/{}", p.file_name().unwrap().to_str().unwrap()))
        .collect();
    found.sort();
    assert!(found.len() > 15);
    found
}

/// Checks both documents of one call; returns them.
fn both(args: &[&str], json: &Validator, sarif: &Validator, dir: &Path) -> (Value, Value) {
    let file = dir.join("out.sarif");
    let mut all = vec!["check", "--json", "--sarif", file.to_str().unwrap()];
    all.extend(args);
    let ran = in_root(&all);
    let what = args.join(" ");
    let document: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|why| panic!("{what}: {why}\n{}", String::from_utf8_lossy(&ran.stderr)));
    satisfies(json, &document, &what);
    let log: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    satisfies(sarif, &log, &what);
    let run = &log["runs"][0];
    assert_eq!(run["properties"]["verdict"], document["verdict"], "{what}");
    assert_eq!(run["invocations"][0]["exitCode"].as_i64(), ran.status.code().map(i64::from));
    assert_eq!(run["results"].as_array().unwrap().len(), document["targets"].as_array().unwrap().len());
    (document, log)
}

#[test]
fn every_example_and_every_verdict_satisfies_the_schemas() {
    let scratch = Scratch::new("schemas-check");
    let dir = &scratch.0;
    let (json, sarif) = (
        schema("docs/schemas/check.schema.json"),
        schema("crates/throng-cli/tests/schemas/sarif-2.1.0.json"),
    );
    for example in examples() {
        let quick = if example.contains("rockall.bp") { ["--engine", "views"] } else { ["--engine", "auto"] };
        both(&[&[example.as_str()][..], &quick].concat(), &json, &sarif, dir);
    }
    let spin = "examples/spinlock.bp";
    for more in [
        &[spin, "--threads", "2"][..],
        &[spin, "--threads", "2", "--no-por"],
        &[spin, "--threads", "2", "--engine", "symbolic"],
        &[spin, "--engine", "backward"],
        &[spin, "--engine", "karp-miller"],
        &[spin, "--engine", "views"],
        &[spin, "--no-check"],
        &[spin, "--engine", "explicit", "--max-threads", "2"],
        &[spin, "--engine", "explicit", "--timeout", "0.1"],
        &[spin, "--mutex", "CRITICAL", "--error-label", "CRITICAL", "--invariant", "!busy | lock"],
        &["examples/philosophers.spec", "--threads", "2"],
    ] {
        both(more, &json, &sarif, dir);
    }
}

#[test]
fn several_inputs_satisfy_their_schema() {
    let several = schema("docs/schemas/check-several.schema.json");
    let (safe, broken, c) = ("examples/spinlock.bp", "examples/spinlock-broken.bp", "examples/c/counter.c");
    for (files, verdict, status) in [
        ([safe, safe], "safe", 0),
        ([safe, broken], "unsafe", 10),
        ([safe, c], "safe", 0),
        ([safe, "examples/missing.bp"], "unknown", 2),
        (["examples/missing.bp", broken], "unsafe", 2),
    ] {
        let ran = in_root(&[&["check", "--json"], &files[..]].concat());
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        satisfies(&several, &document, &files.join(" "));
        assert_eq!((document["verdict"].as_str(), ran.status.code()), (Some(verdict), Some(status)));
        for (file, about) in files.iter().zip(document["files"].as_array().unwrap()) {
            assert_eq!(about["file"], *file);
            assert_eq!(about["error"].is_string(), file.contains("missing"), "{about}");
        }
    }
}

#[test]
fn reach_and_cutoff_satisfy_their_schemas() {
    let (reach, cutoff) =
        (schema("docs/schemas/reach.schema.json"), schema("docs/schemas/cutoff.schema.json"));
    for example in examples().iter().filter(|e| !e.contains("rockall")) {
        for (command, schema) in [("reach", &reach), ("cutoff", &cutoff)] {
            let ran = in_root(&[command, example, "--json", "--timeout", "2"]);
            if ran.status.code() == Some(2) {
                continue; // not every input has a cutoff
            }
            let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
            satisfies(schema, &document, &format!("{command} {example}"));
        }
    }
    let stopped = in_root(&["reach", "examples/rockall.bp", "--json", "--timeout", "0.05"]);
    satisfies(&reach, &serde_json::from_slice(&stopped.stdout).unwrap(), "stopped");
}

#[test]
fn refinement_satisfies_its_schema() {
    let refines = schema("docs/schemas/refines.schema.json");
    let machines = "examples/machines";
    let cases: [(&str, &str, &[&str], &str, i32); 5] = [
        ("lock", "lock", &[], "safe", 0),
        ("lock-broken", "lock", &[], "unsafe", 10),
        ("producer", "slot", &["--role", "producer"], "safe", 0),
        ("consumer", "slot", &["--role", "producer"], "unsafe", 10),
        ("producer-broken", "slot", &["--role", "producer"], "unsafe", 10),
    ];
    for (program, machine, more, result, status) in cases {
        let files = [format!("{machines}/{program}.bp"), format!("{machines}/{machine}.ntts")];
        let ran = in_root(&[&["refines", &files[0], &files[1], "--json"], more].concat());
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        satisfies(&refines, &document, program);
        assert_eq!(
            (document["result"].as_str(), ran.status.code()),
            (Some(result), Some(status)),
            "{document}"
        );
    }
}

#[test]
fn a_failed_assertion_points_into_the_c_file() {
    let scratch = Scratch::new("schemas-c");
    let dir = &scratch.0;
    let input = dir.join("main.bp");
    let text = "decl b := 0;\nvoid main() begin\n  // file ./src/main.c line 7 function worker\n  b := 1;\n  // file ./src/main.c line 9 function worker\n  assert(!b);\nend\n";
    fs::write(&input, text).unwrap();
    let (json, sarif) = (
        schema("docs/schemas/check.schema.json"),
        schema("crates/throng-cli/tests/schemas/sarif-2.1.0.json"),
    );
    let (document, log) = both(&[input.to_str().unwrap()], &json, &sarif, dir);
    assert_eq!(document["trace"]["violation"]["threads"][0]["origin"], "./src/main.c:9 (worker)");
    let result = &log["runs"][0]["results"][0];
    assert_eq!((result["ruleId"].as_str(), result["kind"].as_str()), (Some("assertion"), Some("fail")));
    let place = &result["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "src/main.c");
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 9);
    assert_eq!(place["logicalLocations"][0]["name"], "worker");
    assert_eq!(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 6);
    let flow = &result["codeFlows"][0]["threadFlows"][0];
    assert_eq!(flow["id"], "T1");
    assert_eq!(flow["locations"][0]["executionOrder"], 1);
    assert_eq!(flow["locations"][0]["location"]["physicalLocation"]["region"]["startLine"], 7);
    assert_eq!(flow["locations"][0]["state"]["b"]["text"], "1");
}

#[test]
fn mutate_satisfies_its_schema() {
    let mutate = schema("docs/schemas/mutate.schema.json");
    for (file, timeout) in [("spinlock.bp", "600"), ("spinlock-broken.bp", "600"), ("ticketlock.bp", "0")] {
        let ran = in_root(&["mutate", "--json", &format!("examples/{file}"), "--timeout", timeout]);
        satisfies(&mutate, &serde_json::from_slice(&ran.stdout).unwrap(), file);
    }
}
