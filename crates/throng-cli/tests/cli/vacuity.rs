//! A proof that says less than it seems to is warned about; what a proof says about lines can be
//! read; runs are easy to follow.

use serde_json::Value;
use throng_dev::harness::{Scratch, run};

fn json(args: &[&str]) -> Value {
    let (_, out, err) = run(&[args, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}: {out}{err}"))
}

fn codes(report: &Value) -> Vec<(String, u64)> {
    let warnings = report["warnings"].as_array().unwrap().iter();
    warnings.map(|w| (w["code"].as_str().unwrap().to_string(), w["line"].as_u64().unwrap())).collect()
}

const VACUOUS: &str =
    "decl x := 0, y := 0;\nvoid main() begin\n  y := 1;\n  assert(y);\n  assume(x);\n  assert(x);\nend\n";

#[test]
fn an_assertion_that_no_thread_reaches_is_warned_about_by_every_engine() {
    let scratch = Scratch::new("vacuity");
    let path = scratch.0.join("vacuous.bp");
    std::fs::write(&path, VACUOUS).unwrap();
    let name = path.to_str().unwrap();
    for engine in ["auto", "views", "backward", "karp-miller", "equations"] {
        let report = json(&["check", name, "--engine", engine, "--quiet", "--strict"]);
        assert_eq!(report["verdict"], "safe", "{engine}");
        assert_eq!(codes(&report), [("W621".into(), 5), ("W620".into(), 6)], "{engine}");
    }
    for engine in ["explicit", "symbolic"] {
        let report = json(&["check", name, "--engine", engine, "--threads", "2", "--strict"]);
        assert_eq!(codes(&report).len(), 2, "{engine}");
        assert!(report["warnings"][0]["message"].as_str().unwrap().contains("with at most 2 threads"));
    }
    let (status, out, err) = run(&["check", name]);
    assert!(status == Some(0) && err.contains("W620") && err.contains("W621"), "{out}{err}");
    let (status, out, err) = run(&["check", name, "--quiet", "--strict"]);
    assert!(status == Some(1) && out.starts_with("SAFE") && err.is_empty(), "{out}{err}");
}

#[test]
fn what_is_reached_and_what_is_meant_to_stop_is_not() {
    let scratch = Scratch::new("vacuity-none");
    for (name, text, options) in [
        (
            "reached.bp",
            "decl x := 0;\nvoid main() begin\n x := 1 constrain !x; assert(x); assume(0);\nend\n",
            vec![],
        ),
        // Only a second thread gets to the assertion.
        ("second.bp", "decl x := 0;\nvoid main() begin\n if x then assert(x); fi; x := 1;\nend\n", vec![]),
        (
            "label.bp",
            "decl x := 0;\nvoid main() begin\n x := 1 constrain !x; L: skip; x := 0;\nend\n",
            vec!["--mutex", "L"],
        ),
        // To start a thread waits for nothing, whatever the thread then does.
        (
            "started.bp",
            "decl x := 0;\nvoid main() begin\n decl l := 1;\n atomic {\n start_thread l := 0 constrain l;\n }\n assert(!x);\nend\n",
            vec!["--engine", "views"],
        ),
        (
            "async.bp",
            "decl x := 0;\nvoid main() begin\n decl l := 1;\n ASYNC_1: l := 0 constrain l;\n assert(!x);\nend\n",
            vec!["--engine", "views"],
        ),
    ] {
        let path = scratch.0.join(name);
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let (status, out, err) = run(&[&["check", path, "--strict"][..], &options].concat());
        assert!(status == Some(0) && err.is_empty(), "{name}: {out}{err}");
    }
    let path = scratch.0.join("second.bp");
    // A search with partial orders leaves moments out, and its proof does not say which; a proof by
    // views is about any number of threads.
    let one =
        ["check", path.to_str().unwrap(), "--strict", "--threads", "1", "--no-por", "--engine", "explicit"];
    let (status, out, err) = run(&one);
    assert!(status == Some(1) && err.contains("W620"), "with one thread it is vacuous: {out}{err}");
}

#[test]
fn a_proof_says_what_holds_at_each_line() {
    let example = format!("{}/examples/spinlock.bp", throng_dev::ROOT);
    let report = json(&["check", &example, "--engine", "views", "--mutex", "CRITICAL"]);
    let text = std::fs::read_to_string(&example).unwrap();
    let critical = 1 + text.lines().position(|l| l.contains("CRITICAL:")).unwrap() as u64;
    let facts = report["facts"].as_array().unwrap().iter().find(|f| f["line"] == critical).unwrap();
    let facts: Vec<&str> = facts["facts"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    assert!(facts.contains(&"lock = 1"), "{facts:?}");
    assert!(facts.iter().any(|f| f.starts_with("no other thread is at line")), "{facts:?}");
    let unsafe_one = json(&["check", &example.replace(".bp", "-broken.bp")]);
    assert_eq!(unsafe_one["facts"].as_array().map(Vec::len), Some(0));
}

/// `f` is called by a function that has a parameter, and by one that has none.
#[test]
fn a_proof_says_nothing_about_a_caller_that_is_not_there() {
    let scratch = Scratch::new("vacuity-caller");
    let text = "decl y := 0;
void main() begin
  f();
  g(1);
end
void g(p) begin
  f();
  assert(p);
end
void f() begin
  y := 1 constrain !y;
  y := 0;
end
";
    let program = scratch.file_argument("caller.bp", text);
    let report = json(&["check", &program, "--engine", "views"]);
    let facts = report["facts"].as_array().unwrap().iter();
    let said: Vec<(u64, String)> =
        facts.map(|f| (f["line"].as_u64().unwrap(), f["facts"].to_string())).collect();
    let of = |line: u64| said.iter().filter(move |(at, _)| *at == line);
    assert!(of(8).any(|(_, facts)| facts.contains("p = 1")), "{said:?}");
    assert!(of(12).any(|(_, facts)| facts.contains("y = 1")), "{said:?}");
    assert!((10..=13).flat_map(of).all(|(_, facts)| !facts.contains('p')), "{said:?}");
}

#[test]
fn runs_switch_between_threads_as_rarely_as_possible() {
    for (name, most) in [
        ("spinlock-broken.bp", 2),
        ("ticketlock-broken.bp", 4),
        ("buffer-broken.bp", 2),
        ("modelling/seqlock-broken.bp", 2),
        ("modelling/peterson-broken.bp", 2),
    ] {
        let example = format!("{}/examples/{name}", throng_dev::ROOT);
        for engine in ["explicit", "symbolic"] {
            let report = json(&["check", &example, "--engine", engine]);
            let steps = report["trace"]["steps"].as_array().unwrap();
            let actors: Vec<u64> = steps.iter().map(|s| s["thread"].as_u64().unwrap()).collect();
            let switches = actors.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(switches <= most, "{name}, {engine}: {actors:?}");
        }
    }
}

#[test]
fn targets_are_asked_about_numbers_and_bits_are_in_the_document() {
    let example = format!("{}/examples/ticketlock-broken.bp", throng_dev::ROOT);
    let report = json(&["check", &example, "--target", "next=3 serving=1 |"]);
    let found =
        report["targets"].as_array().unwrap().iter().find(|t| t["name"] == "state next=3 serving=1 |");
    assert_eq!(found.unwrap()["verdict"], "unsafe", "{report}");
    let trace = &found.unwrap()["trace"];
    let last = trace["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["shared_after"]["next"], &last["shared_after"]["serving"]), (&"3".into(), &"1".into()));
    assert!(last["shared_bits"].as_object().unwrap().len() > last["shared_after"].as_object().unwrap().len());
    let (status, _, err) = run(&["check", &example, "--target", "next=4 |"]);
    assert!(status == Some(2) && err.contains("its values are 0..3"), "{err}");
    let (status, _, err) = run(&["check", &example, "--target", "nxet=1 |"]);
    assert!(status == Some(2) && err.contains("did you mean `next`?"), "{err}");
    let (status, _, err) = run(&["check", &example, "--mutex", "CRITCAL"]);
    assert!(status == Some(2) && err.contains("did you mean `CRITICAL`?"), "{err}");
}

#[test]
fn labels_of_every_question_are_looked_at_and_sarif_has_the_exit_status() {
    let scratch = Scratch::new("vacuity-labels");
    let path = scratch.0.join("labels.bp");
    let text =
        "decl x := 0;\nvoid main() begin\n A: x := 1 constrain !x;\n goto A;\n B: skip;\n C: x := 0;\nend\n";
    std::fs::write(&path, text.replace("goto A;", "goto A; assume(0);")).unwrap();
    let path = path.to_str().unwrap();
    for options in [["--mutex", "A, B|C"], ["--at-most", "B = 1"], ["--never", "B & x"], ["--stuck", "C"]] {
        let sarif = scratch.0.join("log.sarif");
        let with = ["check", path, "--strict", "--sarif", sarif.to_str().unwrap(), "--force"];
        let (status, out, err) = run(&[&with[..], &options].concat());
        assert!(
            status == Some(1) && out.starts_with("SAFE") && err.contains("W622"),
            "{options:?}: {out}{err}"
        );
        let log: Value = serde_json::from_str(&std::fs::read_to_string(&sarif).unwrap()).unwrap();
        assert_eq!(log["runs"][0]["invocations"][0]["exitCode"], 1, "{options:?}");
        assert_eq!(
            log["runs"][0]["results"][0]["ruleId"],
            options[0].trim_start_matches("--"),
            "{options:?}"
        );
    }
}
