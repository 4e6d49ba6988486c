//! The programs of the chapter on modelling are answered as their first lines say, and the proofs
//! of the correct ones are not vacuous.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use throng_dev::harness::run;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(throng_dev::ROOT).join("examples/modelling");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn each_is_answered_as_its_first_line_says() {
    for path in programs() {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        let mut expected = first.strip_prefix("// expect: ").expect(first).split(", ");
        let name = path.to_str().unwrap();
        let (status, out, err) = run(&["check", name, "--json", "--strict", "--timeout", "600"]);
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{name}: {out}{err}"));
        let verdict = expected.next().unwrap();
        assert_eq!(report["verdict"], verdict, "{name}");
        assert_eq!(report["warnings"].as_array().map(Vec::len), Some(0), "{name}: {}", report["warnings"]);
        assert_eq!(status, Some(if verdict == "safe" { 0 } else { 10 }), "{name}");
        if let Some(threads) = expected.next() {
            let targets = report["targets"].as_array().unwrap();
            let target = targets.iter().find(|target| target["verdict"] == verdict).unwrap();
            assert_eq!(format!("{} threads", target["threads"]), threads, "{name}");
            assert_eq!(target["fewest"], true, "{name}");
        }
    }
}

#[test]
fn each_has_a_broken_version() {
    let names: BTreeSet<String> =
        programs().iter().map(|p| p.file_stem().unwrap().to_str().unwrap().to_string()).collect();
    assert!(names.len() >= 12, "{names:?}");
    for name in names.iter().filter(|name| !name.ends_with("-broken")) {
        assert!(names.contains(&format!("{name}-broken")), "{name}");
    }
}

#[test]
fn machines_and_programs_that_refine_them_are_answered_as_their_comments_say() {
    let folder = Path::new(throng_dev::ROOT).join("examples/machines");
    let (mut safe, mut broken) = (0, 0);
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().map(|line| line.trim_start_matches(['/', '#', ' ']));
        let expected = lines.find_map(|line| line.strip_prefix("expect: ")).expect("an expectation");
        let (status, out, err) = run(&["check", path.to_str().unwrap(), "--json", "--timeout", "600"]);
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        match expected {
            "safe" => {
                assert_eq!((status, &report["verdict"]), (Some(0), &"safe".into()), "{}", path.display());
                safe += 1;
            }
            other => {
                let threads = format!("unsafe, {} threads", report["targets"][0]["threads"]);
                assert_eq!((status, other), (Some(10), threads.as_str()), "{}", path.display());
                broken += 1;
            }
        }
    }
    assert!(safe >= 5 && broken >= 2, "{safe} {broken}");
}
