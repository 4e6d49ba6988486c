//! The second checker, `tools/certify.py`, and the proved one, `proofs/`, read the same inputs as
//! the first and say the same of what engines find about systems and nets. Without Python the tests
//! say that they were skipped; the proved checker is asked if `proofs/check` has built it.
//!
//! `THRONG_RANDOM=2500 cargo test -p throng-cli --test evidence second_checker:: -- --nocapture`
//! asks it about that many random inputs.

use throng_dev::harness as common;

use std::path::Path;
use std::process::Command;

use common::certificates::{answers, engines, examples, number, problem, proved, second, written};
use common::{Scratch, run};
use throng_lang::load::Format;
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_model::verdict::Verdict;

#[test]
#[allow(clippy::print_stdout)]
fn the_second_checker_accepts_the_examples() {
    let scratch = Scratch::new("second");
    let script = Path::new(throng_dev::ROOT).join("tools/certify.py");
    let mut command = Command::new("python3");
    command.arg(script);
    let mut count = 0;
    for path in examples().iter().filter(|p| p.extension().is_some_and(|e| e != "bp")) {
        for engine in ["auto", "views", "backward", "karp-miller", "explicit"] {
            // Without a bound, `explicit` would go on for ever about what is safe.
            let bound = if engine == "explicit" { &["--max-threads", "4"][..] } else { &[] };
            let certificate = scratch.0.join(format!("{count}.json"));
            let name = certificate.to_str().expect("UTF-8");
            let path = path.to_str().expect("UTF-8");
            let (status, ..) =
                run(&[&["check", path, "--engine", engine, "--certificate", name], bound].concat());
            // What is undecided is not an answer, though the rest has a certificate.
            if matches!(status, Some(0 | 10)) {
                command.arg(path).arg(&certificate);
                agrees(&[path, name], 0, path);
                count += 1;
            }
        }
    }
    assert!(count > 8, "{count}");
    match command.output() {
        Err(why) => println!("skipped: python3 cannot be run ({why})"),
        Ok(output) => {
            let output = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.lines().filter(|l| l.ends_with("  VALID")).count(), count, "{output}");
        }
    }
}

/// The proved checker, if it is built, ends with this status; what it does not cover, it says.
fn agrees(args: &[&str], expected: i32, what: &str) {
    if let Some((status, output)) = proved(args)
        && !(status == Some(2) && output.contains("not covered by this checker"))
    {
        assert_eq!(status, Some(expected), "{what}: the proved checker says {output}");
    }
}

/// Systems and nets as the fuzzer makes them; what the second checker does not read it skips.
#[test]
#[allow(clippy::print_stdout)]
fn the_second_checker_accepts_answers_about_random_inputs() {
    let scratch = Scratch::new("second-random");
    let (mut count, mut output) = (0, String::new());
    for seed in 0..number("THRONG_RANDOM", 150) {
        let case = throng_dev::fuzz::generate(seed, 4);
        if case.format() == Format::Bp {
            continue;
        }
        let loaded =
            throng_lang::load::read(Source::new("case", case.text()), case.format(), &case.reading())
                .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let asked = problem(&loaded, Path::new(""), &case.question());
        let input = scratch.file(&format!("{seed}.{}", case.format()), case.text());
        let input = input.to_str().expect("UTF-8");
        let mut args = options(&case.question());
        for engine in engines(&asked) {
            let verdicts = answers(&*engine, &asked);
            // An answer to a part of the question is none.
            if verdicts.iter().all(|v| !matches!(v, Verdict::Unknown(_))) {
                let bytes = written(&loaded, &case.reading(), &asked, &verdicts);
                let name = format!("{seed}-{}.json", engine.name());
                let certificate = scratch.file(&name, &bytes);
                let certificate = certificate.to_str().expect("UTF-8");
                let question = options(&case.question());
                let question: Vec<&str> = question.iter().map(String::as_str).collect();
                agrees(&[&question[..], &[input, certificate]].concat(), 0, &case.text());
                args.extend([input, certificate].map(String::from));
                count += 1;
            }
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        if args.contains(&input) {
            match second(&args) {
                None => return println!("skipped: python3 cannot be run"),
                Some(more) => output += &more,
            }
        }
    }
    let valid = output.lines().filter(|l| l.ends_with("  VALID")).count();
    let skipped = output.lines().filter(|l| l.contains("  SKIPPED ")).count();
    println!("{count} certificates: {valid} valid, {skipped} skipped");
    assert!(valid + skipped == count && valid > count / 2, "{output}");
}

/// The options of `throng check` and `throng certify` that ask a question about a system or net.
fn options(question: &Question) -> Vec<String> {
    let initial = question.initial.iter().map(|i| ["--initial".to_string(), i.clone()]);
    let threads = question.threads.iter().map(|n| ["--threads".to_string(), n.to_string()]);
    let targets = question.targets.iter().map(|t| ["--target".to_string(), t.clone()]);
    initial.chain(threads).chain(targets).flatten().collect()
}

/// Inputs that `tools/certify.py` used to read otherwise.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn the_second_checker_reads_the_same_input() {
    let scratch = Scratch::new("second-reads");
    let net = |inside: &str| {
        let kind = "http://www.pnml.org/version-2009/grammar/ptnet";
        format!("<pnml><net id='n' type='{kind}'><page id='g'>{inside}</page></net></pnml>")
    };
    let ab = "<place id='a'><initialMarking><text>1</text></initialMarking></place><place id='b'/><transition id='t'/>
        <arc id='1' source='a' target='t'/>";
    let weight = net(&format!("{ab}<arc id='2' source='t' target='b'><inscription>2</inscription></arc>"));
    let reference = net(&format!("{ab}<referencePlace id='r' ref='b'/><arc id='2' source='t' target='r'/>"));
    let zero = "vars a b rules a = 0 -> b' = b + 1; init a >= 1, b = 0 target b >= 1";
    let wanted = |n: u32| serde_json::json!([{"name": "b", "property": {"covers": [[0, [[1, n]]]]}, "verdict": "safe", "evidence": 0}]);
    let views = serde_json::json!([{"invariants": {"views": [[0, [0, 1], []]], "vectors": [], "basis": []}}]);
    let certificate = |kind: &str, n: u32| {
        serde_json::json!({
            "format": "throng-certificate", "version": 1, "tool": "throng",
            "input": {"name": "", "kind": kind, "hash": ""},
            "problem": {"initial": {"families": [{"shared": 0, "threads": [[0, 1]], "any": []}]},
                "bound": "any", "slot_reuse": true, "init_free": false},
            "states": {"shared": ["0"], "local": ["a", "b"]}, "targets": wanted(n), "evidence": views,
        })
    };
    let mut infinite = certificate("spec", 1);
    infinite["problem"]["initial"]["families"][0]["any"] = serde_json::json!([0]);
    infinite["targets"][0]["verdict"] = "unsafe".into();
    infinite["evidence"] = serde_json::json!([{"trace": {"start": [0, [[0, 12345]]], "steps": [{"by": null, "does": "", "after": [0, [[1, 1]]]}]}}]);
    let infinite = infinite.to_string().replace("12345", "1e999");
    for (name, input, certificate, first, then) in [
        ("weight.pnml", weight.as_str(), certificate("pnml", 2).to_string(), 10, "INVALID a view is missing"),
        ("reference.pnml", &reference, certificate("pnml", 1).to_string(), 10, "SKIPPED referencePlace"),
        ("zero.spec", zero, infinite, 2, "UNREADABLE this is not a certificate"),
    ] {
        let (input, certificate) =
            (scratch.file(name, input), scratch.file(&format!("{name}.json"), &certificate));
        let (input, certificate) = (input.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
        let target = if name == "weight.pnml" { "|b,b" } else { "|b" };
        let (status, out, err) = run(&["certify", input, certificate, "--target", target]);
        assert_eq!(status, Some(first), "{name}: {out}{err}");
        agrees(&[input, certificate, "--target", target], first, name);
        match second(&[input, certificate, "--target", target]) {
            None => println!("skipped: python3 cannot be run"),
            Some(output) => assert!(output.contains(then), "{name}: {output}"),
        }
    }
}

/// Whatever the evidence and the question about a program are, the second checker says that it
/// skips it.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn the_second_checker_skips_programs() {
    let scratch = Scratch::new("second-skips");
    let bp = "decl idle := 0, odd := 0; void main() begin L: odd := !odd; assert(!idle); end";
    let c = "#include <assert.h>\nint main(void) { int x = 1; assert(x == 1); return 0; }\n";
    let (localise, stuck): (&[&str], &[&str]) = (&["--engine", "localise"], &["--stuck", "L"]);
    let asked = [
        ("a.bp", bp, localise, &[][..], "\"localised\""),
        ("b.bp", bp, &[], stuck, "\"stuck\""),
        ("c.c", c, &[], &[], "throng-c-certificate"),
    ];
    for (name, text, how, question, kind) in asked {
        let (input, saved) = (scratch.file(name, text), scratch.0.join(format!("{name}.json")));
        let (input, saved) = (input.to_str().expect("UTF-8"), saved.to_str().expect("UTF-8"));
        let ran = run(&[&["check", input, "--certificate", saved], how, question].concat());
        assert_eq!(ran.0, Some(0), "{ran:?}");
        assert!(std::fs::read_to_string(saved).expect("a certificate").contains(kind), "{name}");
        match second(&[question, &[input, saved]].concat()) {
            None => println!("skipped: python3 cannot be run"),
            Some(said) => assert!(said.contains("  SKIPPED "), "{name}: {said}"),
        }
    }
}

/// What `tools/certify.py` used to leave out, or to take for something else: both checkers accept
/// what is right, and refuse a proof about less.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn the_second_checker_reads_unusual_lines() {
    let scratch = Scratch::new("second-lines");
    let less = scratch.file("less.tts", "2 2\n1|1");
    let proof = scratch.0.join("less.json");
    run(&["check", "-q", less.to_str().expect("UTF-8"), "--certificate", proof.to_str().expect("UTF-8")]);
    let kind = "http://www.pnml.org/version-2009/grammar/ptnet";
    let tool = format!(
        "<pnml><net id='n' type='{kind}'><page id='g'><place id='a'><initialMarking><text>1</text></initialMarking></place>
        <place id='b'/><transition id='t'/><arc id='1' source='a' target='t'/><arc id='2' source='t' target='b'/>
        <toolspecific tool='x' version='1'><arc id='3' source='a' target='t'/></toolspecific></page></net></pnml>"
    );
    // Places are listed in the order of the text.
    let nested = format!(
        "<pnml><net id='n' type='{kind}'><page id='g'><page id='h'><place id='b'><initialMarking><text>1</text></initialMarking></place></page>
        <place id='a'><initialMarking><text>1</text></initialMarking></place><place id='c'/><transition id='t'/>
        <arc id='1' source='a' target='t'/><arc id='2' source='b' target='t'/><arc id='3' source='t' target='c'/></page></net></pnml>"
    );
    for (name, input, target) in [
        ("header.tts", "2 2 0 0 -> 1 1\n1|1", "1|1"),
        ("feed.tts", "2 2\n0 0 ->\u{c}1 1\n1|1", "1|1"),
        ("mark.tts", "\u{feff}2 2\n00 00 -> 01 01 # x\u{2028} 0 0 -> 0 1\n1|1", "1|1"),
        ("large.tts", "1000000000 1000000000\n0 0 -> 1 1\n1|1", "1|1"),
        ("all.tts", "3 3\n0 0 -> 1 1\n1 1 -> 0 0\n0 2 ~> 2 2\n1 0 ~> 1 0\n2|2", "2|2"),
        ("comment.ntts", "shared s t # s -> t\nlocal a b\ns a -> t b", "t | b"),
        (
            "idle.spec",
            "vars x y rules x = 0 -> ; y >= 1 -> y' = y - 1; init x = 1, y = 1 target x >= 2",
            "|x,x",
        ),
        // The first in the list leads, not the first by name.
        (
            "order.spec",
            "vars x3 x22 y rules x3 >= 1, x22 >= 1 -> x3' = x3 - 1, x22' = x22 - 1, y' = y + 1; init x3 = 1, x22 = 1, y = 0 target y >= 1",
            "|y",
        ),
        ("tool.pnml", &tool, "|b"),
        ("nested.pnml", &nested, "|c"),
    ] {
        let (input, certificate) = (scratch.file(name, input), scratch.0.join(format!("{name}.json")));
        let (input, certificate) = (input.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
        let (status, out, err) =
            run(&["check", "-q", input, "--target", target, "--certificate", certificate]);
        assert!(matches!(status, Some(0 | 10)), "{name}: {out}{err}");
        let (status, out, err) = run(&["certify", input, certificate, "--target", target]);
        assert_eq!(status, Some(0), "{name}: {out}{err}");
        agrees(&[input, certificate, "--target", target], 0, name);
        match second(&[input, certificate, "--target", target]) {
            None => println!("skipped: python3 cannot be run"),
            Some(output) => assert!(output.contains("  VALID"), "{name}: {output}"),
        }
        if name == "header.tts" {
            // A name that is not the name of a state, though it means the same number.
            let text = std::fs::read_to_string(&proof).expect("a certificate").replace("\"1\"", "\"01\"");
            let forged = scratch.file("forged.json", &text);
            let output = second(&[less.to_str().expect("UTF-8"), forged.to_str().expect("UTF-8")]);
            assert!(output.is_none_or(|output| output.contains("INVALID")), "{text}");
            agrees(&[less.to_str().expect("UTF-8"), forged.to_str().expect("UTF-8")], 10, &text);
        }
        if ["header.tts", "feed.tts"].contains(&name) {
            let output = second(&[input, proof.to_str().expect("UTF-8")]);
            assert!(output.is_none_or(|output| output.contains("INVALID")), "{name}");
            agrees(&[input, proof.to_str().expect("UTF-8")], 10, name);
        }
    }
}

/// A certificate of version 1 about a system with one thread state that is never left.
fn small() -> serde_json::Value {
    serde_json::json!({
        "format": "throng-certificate", "version": 1, "tool": "throng",
        "input": {"name": "", "kind": "tts", "hash": ""},
        "problem": {"initial": {"families": [{"shared": 0, "threads": [], "any": [0]}]},
            "bound": "any", "slot_reuse": true, "init_free": false},
        "states": {"shared": ["0"], "local": ["0", "1"]},
        "targets": [{"name": "t", "property": {"covers": [[0, [[1, 1]]]]}, "verdict": "safe", "evidence": 0}],
        "evidence": [{"invariants": {"views": [[0, [0], null]], "vectors": [], "basis": []}}],
    })
}

/// Both checkers read the same layout, and neither ends in another way than with an answer. All but
/// the first and the valid ones used to be VALID for the second checker, or made it end with a
/// traceback.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn both_checkers_read_the_same_layout() {
    let scratch = Scratch::new("second-layout");
    let input = scratch.file("small.tts", "1 2\n0|1\n");
    let good = small().to_string();
    let change = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let nested = |depth: usize| {
        let proof =
            serde_json::json!({"invariants": {"views": null, "vectors": [], "basis": []}}).to_string();
        let around = |inner: String| format!(r#"{{"through":{{"kept":[],"merged":[],"proof":{inner}}}}}"#);
        let deep = (0..depth).fold(proof, |inner, _| around(inner));
        change(&small()["evidence"][0].to_string(), &deep)
    };
    let cases: Vec<(&str, String, i32)> = vec![
        ("as it is", good.clone(), 0),
        ("an unknown key", change(r#""tool":"throng""#, r#""tool":"throng","more":1"#), 2),
        ("an unknown key inside", change(r#""verdict":"safe""#, r#""verdict":"safe","more":1"#), 2),
        ("an unknown key in the evidence", change(r#""basis":[]"#, r#""basis":[],"more":[]"#), 2),
        ("a key twice", change(r#""tool":"throng""#, r#""tool":"x","tool":"throng""#), 2),
        ("a key twice inside", change(r#""verdict":"safe""#, r#""verdict":"unsafe","verdict":"safe""#), 2),
        (
            "evidence of two kinds",
            change(r#"{"invariants""#, r#"{"closed":{"configurations":[]},"invariants""#),
            2,
        ),
        ("version 1.0", change(r#""version":1"#, r#""version":1.0"#), 2),
        ("version true", change(r#""version":1"#, r#""version":true"#), 2),
        ("version 1e0", change(r#""version":1"#, r#""version":1e0"#), 2),
        ("the present version", change(r#""version":1"#, r#""version":2"#), 0),
        ("a later version", change(r#""version":1"#, r#""version":3"#), 2),
        ("no version", change(r#""version":1"#, r#""version":0"#), 2),
        ("a fraction as a count", change("[[0,[[1,1]]]]", "[[0,[[1,1.0]]]]"), 2),
        ("true as a count", change("[[0,[[1,1]]]]", "[[0,[[1,true]]]]"), 2),
        ("minus zero as a place", change(r#""evidence":0"#, r#""evidence":-0"#), 2),
        ("a negative place", change(r#""evidence":0"#, r#""evidence":-1"#), 2),
        ("a place that is not there", change(r#""evidence":0"#, r#""evidence":7"#), 10),
        ("a large number", change(r#""evidence":0"#, r#""evidence":99999999999999999999999"#), 2),
        ("not a number", change(r#""evidence":0"#, r#""evidence":NaN"#), 2),
        ("half a character", change(r#""tool":"throng""#, r#""tool":"\ud800""#), 2),
        ("no evidence", change(r#","verdict":"safe""#, ""), 2),
        ("null for a list", change(r#""vectors":[]"#, r#""vectors":null"#), 2),
        ("views left out", change(r#""views":[[0,[0],null]]"#, r#""views":null"#), 10),
        ("a number as a bound", change(r#""bound":"any""#, r#""bound":3"#), 2),
        ("a word as an object", change(r#""bound":"any""#, r#""bound":{"any":null}"#), 0),
        ("an object as a list", change(&small()["input"].to_string(), r#"["","tts",""]"#), 0),
        (
            "a state of a program",
            change(r#""local":["0","1"]"#, r#""local":["0",{"at":"","values":{}}]"#),
            10,
        ),
        ("nested", nested(3), 10),
        ("nested deeply", nested(70), 2),
        ("no target", change(&small()["targets"].to_string(), "[]"), 10),
        ("a million brackets", "[".repeat(1_000_000), 2),
        ("a million braces", r#"{"format":"#.repeat(1_000_000), 2),
        ("more after the end", format!("{good} x"), 2),
        ("nothing", String::new(), 2),
        ("a list", "[]".into(), 2),
    ];
    let input = input.to_str().expect("UTF-8");
    for (name, text, expected) in cases {
        let certificate = scratch.file("changed.json", &text);
        let Some((text, diagnostic)) = all_end_with(expected, input, &certificate, name) else { return };
        assert!(diagnostic.is_empty() && text.lines().count() == 1, "{name}: {text}{diagnostic}");
    }
}

/// All checkers end with the same status; what the one in Python prints, unless there is no Python.
#[allow(clippy::print_stdout)] // what was skipped
fn all_end_with(expected: i32, input: &str, certificate: &Path, name: &str) -> Option<(String, String)> {
    let certificate = certificate.to_str().expect("UTF-8");
    let (status, out, err) = run(&["certify", input, certificate]);
    assert_eq!(status, Some(expected), "{name}: {out}{err}");
    agrees(&[input, certificate], expected, name);
    let script = Path::new(throng_dev::ROOT).join("tools/certify.py");
    let Ok(output) = Command::new("python3").arg(&script).args([input, certificate]).output() else {
        println!("skipped: python3 cannot be run");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let diagnostic = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(expected), "{name}: {text}{diagnostic}");
    Some((text, diagnostic))
}

/// A token goes round through `x1`, which is agglomerated.
const RING: &str = "vars x0 x1 x2\nrules\nx0 >= 1 -> x0' = x0-1, x1' = x1+1;\nx1 >= 1 -> x1' = x1-1, x2' = x2+1;\n\
                    x2 >= 1 -> x2' = x2-1, x0' = x0+1;\ninit x0 = 1, x1 = 0, x2 = 0\ntarget x2 >= 2\n";

/// Both checkers apply reductions, and only where their conditions hold.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn both_checkers_reduce_nets_alike() {
    let scratch = Scratch::new("second-reduced");
    let input = scratch.file("ring.spec", RING);
    let input = input.to_str().expect("UTF-8");
    let both = serde_json::json!([[0, [[0, 1]]], [0, [[2, 1]]]]);
    let closed =
        |configurations: serde_json::Value| serde_json::json!({"closed": {"configurations": configurations}});
    let seeing = |visible: &[u32], reductions: &str, proof: serde_json::Value| {
        let reductions: serde_json::Value = serde_json::from_str(reductions).expect("JSON");
        serde_json::json!({"reduced": {"visible": visible, "reductions": reductions, "proof": proof}})
    };
    let reduced = |reductions: &str, proof: serde_json::Value| seeing(&[2], reductions, proof);
    let cases = [
        ("as it should be", reduced(r#"[{"pre": 1}]"#, closed(both.clone())), 0),
        ("pruned", reduced(r#"["prune", {"pre": 1}, "prune"]"#, closed(both.clone())), 0),
        ("more is visible", seeing(&[0, 2], r#"[{"pre": 1}]"#, closed(both.clone())), 10),
        ("what is bad is not visible", seeing(&[], r#"[{"pre": 1}]"#, closed(both.clone())), 10),
        ("not reduced", reduced("[]", closed(both.clone())), 10),
        ("a place that is seen gets tokens earlier", reduced(r#"[{"post": 1}]"#, closed(both.clone())), 10),
        ("a place that is seen loses tokens later", reduced(r#"[{"pre": 0}]"#, closed(both.clone())), 10),
        ("a place that is seen is dropped", reduced(r#"[{"drop": 2}]"#, closed(both.clone())), 10),
        ("a place that can be dropped", reduced(r#"[{"drop": 1}]"#, closed(both.clone())), 10),
        ("a place that is not there", reduced(r#"[{"pre": 9}]"#, closed(both.clone())), 10),
        ("a marking is missing", reduced(r#"[{"pre": 1}]"#, closed(serde_json::json!([[0, [[0, 1]]]]))), 10),
        ("twice", reduced("[]", reduced(r#"[{"pre": 1}]"#, closed(both.clone()))), 10),
        ("something else", reduced(r#"[{"swap": 1}]"#, closed(both)), 2),
    ];
    for (name, evidence, expected) in cases {
        let document = serde_json::json!({
            "format": "throng-certificate", "version": 2, "tool": "throng",
            "input": {"name": "", "kind": "spec", "hash": ""},
            "problem": {"initial": {"families": [{"shared": 0, "threads": [[0, 1]], "any": []}]},
                "bound": "any", "slot_reuse": true, "init_free": false},
            "states": {"shared": ["0"], "local": ["x0", "x1", "x2"]},
            "targets": [{"name": "t", "property": {"covers": [[0, [[2, 2]]]]}, "verdict": "safe", "evidence": 0}],
            "evidence": [evidence],
        });
        let certificate = scratch.file("reduced.json", document.to_string());
        if all_end_with(expected, input, &certificate, name).is_none() {
            return;
        }
    }
}

/// Certificates shown to other files and other questions: both checkers say the same.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn both_checkers_know_the_question() {
    let scratch = Scratch::new("second-question");
    let net = |rest: &str| format!("vars x y rules x >= 1 -> x' = x - 1, y' = y + 1; {rest}");
    let lock = "shared free held\nlocal out in\ninit free / out\ntarget held | in,in\nfree out -> held in\nheld in -> free out\n";
    scratch.file("beside.prop", "# one line each\n1|1,1\n");
    let files = [
        ("none.spec", net("init x = 0, y = 0 target y >= 1")),
        ("one.spec", net("init x = 1, y = 0 target y >= 1")),
        ("two.spec", net("init x = 0, y = 0 target y >= 2")),
        ("open.spec", net("init y = 0 target y >= 1")),
        ("range.spec", net("init x in [0, 1], y = 0 target y >= 2 x >= 5, y >= 0")),
        ("own.tts", "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n1|1,1\n".into()),
        ("beside.tts", "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n0|1\n".into()),
        ("lock.ntts", lock.into()),
        ("start.ntts", lock.replace("init free / out", "init held | in / out")),
    ];
    let questions: [&[&str]; 7] = [
        &[],
        &["--threads", "2"],
        &["--init-free"],
        &["--target", "|y,y"],
        &["--target", "1|1,1"],
        &["--initial", "1|1"],
        &["--initial", "single"],
    ];
    let mut certificates = Vec::new();
    let mut inputs = Vec::new();
    for (name, text) in &files {
        let input = scratch.file(name, text).to_str().expect("UTF-8").to_string();
        for (i, question) in questions.iter().enumerate() {
            let certificate = scratch.0.join(format!("{name}-{i}.json")).to_str().expect("UTF-8").to_string();
            let args = [&["check", "-q", &input, "--certificate", &certificate], *question].concat();
            if matches!(run(&args).0, Some(0 | 10)) {
                certificates.push((*name, i, certificate));
            }
        }
        inputs.push((*name, input));
    }
    assert!(certificates.len() > 30, "{}", certificates.len());
    let (mut valid, mut another) = (0, 0);
    for (about, input) in &inputs {
        for (i, question) in questions.iter().enumerate() {
            // The command line refuses an option that says nothing about an input of this kind.
            if question.contains(&"--init-free") && !about.ends_with(".spec") {
                continue;
            }
            // Those of the same file, and those of the file before with the same question.
            let near = |c: &&(&str, usize, String)| c.0 == *about || c.1 == i;
            let shown: Vec<_> = certificates.iter().filter(near).collect();
            let pairs = shown.iter().flat_map(|c| [input.as_str(), c.2.as_str()]);
            let Some(output) = second(&question.iter().copied().chain(pairs).collect::<Vec<_>>()) else {
                return println!("skipped: python3 cannot be run");
            };
            assert_eq!(output.lines().count(), shown.len(), "{output}");
            for ((of, of_question, certificate), output) in shown.into_iter().zip(output.lines()) {
                let args = [&["certify", input.as_str(), certificate], *question].concat();
                let (status, out, err) = run(&args);
                let what = format!("{of} {of_question} for {about} {i}: {out}{err}{output}");
                if (*of, *of_question) == (*about, i) {
                    assert_eq!(status, Some(0), "{what}");
                    valid += 1;
                }
                let is_another = out.contains("answers another question");
                another += usize::from(is_another);
                let word = match status {
                    Some(0) => "VALID",
                    Some(10) => "INVALID",
                    _ => "UNREADABLE",
                };
                let said = output.split_once("  ").unwrap_or_default().1;
                assert!(said.starts_with(word), "{what}");
                agrees(&args[1..], status.expect("a status"), &what);
                assert_eq!(is_another, said.contains("answers another question"), "{what}");
            }
        }
    }
    assert!(valid > 30 && another > 100, "{valid} {another}");
}
