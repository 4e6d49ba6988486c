//! The second checker, `tools/certify.py`, reads the same inputs as the first and says the same of what engines find about systems and nets. Without Python the tests
//! say that they were skipped.
//!
//! `THRONG_RANDOM=2500 cargo test --test second_checker -- --nocapture` asks it about that many random inputs.

use throng_dev::harness as common;

use std::path::Path;
use std::process::Command;

use common::certificates::{
    PATIENCE, Scratch, answers, engines, examples, number, problem, second, throng, written,
};
use throng_lang::load::Format;
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
            let certificate = scratch.0.join(format!("{count}.json"));
            let name = certificate.to_str().expect("UTF-8");
            let path = path.to_str().expect("UTF-8");
            throng(&["check", path, "--engine", engine, "--timeout", "5", "--certificate", name]);
            if certificate.exists() {
                command.arg(path).arg(&certificate);
                count += 1;
            }
        }
    }
    assert!(count > 8, "{count}");
    match command.output() {
        Err(why) => println!("skipped: python3 cannot be run ({why})"),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout);
            assert_eq!(told.lines().filter(|l| l.ends_with("  VALID")).count(), count, "{told}");
        }
    }
}

/// Systems and nets as the fuzzer makes them; what the second checker does not read it skips.
#[test]
#[allow(clippy::print_stdout)]
fn the_second_checker_accepts_answers_about_random_inputs() {
    let scratch = Scratch::new("second-random");
    let mut command = Command::new("python3");
    command.arg(Path::new(throng_dev::ROOT).join("tools/certify.py"));
    let mut count = 0;
    for seed in 0..number("THRONG_RANDOM", 150) {
        let case = throng_dev::fuzz::generate(seed, 4);
        if case.format() == Format::Bp {
            continue;
        }
        let loaded =
            throng_lang::load::read(Source::new("case", case.text()), case.format(), &case.reading())
                .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let asked = problem(&loaded, Path::new(""), &case.question());
        let input = scratch.file(&format!("{seed}.{}", case.format()), &case.text());
        for engine in engines(&asked) {
            let verdicts = answers(&*engine, &asked, PATIENCE);
            if verdicts.iter().any(|v| !matches!(v, Verdict::Unknown(_))) {
                let bytes = written(&loaded, &case.reading(), &asked, &verdicts);
                let name = format!("{seed}-{}.json", engine.name());
                command.arg(&input).arg(scratch.file(&name, &String::from_utf8_lossy(&bytes)));
                count += 1;
            }
        }
    }
    match command.output() {
        Err(why) => println!("skipped: python3 cannot be run ({why})"),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout);
            let valid = told.lines().filter(|l| l.ends_with("  VALID")).count();
            let skipped = told.lines().filter(|l| l.contains("  SKIPPED ")).count();
            println!("{count} certificates: {valid} valid, {skipped} skipped");
            assert!(valid + skipped == count && valid > count / 2, "{told}");
        }
    }
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
        ("zero.spec", zero, infinite, 2, "INVALID a count is 0 or too large"),
    ] {
        let (input, certificate) =
            (scratch.file(name, input), scratch.file(&format!("{name}.json"), &certificate));
        let (input, certificate) = (input.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
        let (status, out, err) = throng(&["certify", input, certificate]);
        assert_eq!(status, Some(first), "{name}: {out}{err}");
        match second(input, certificate) {
            None => println!("skipped: python3 cannot be run"),
            Some(told) => assert!(told.contains(then), "{name}: {told}"),
        }
    }
}

/// What `tools/certify.py` used to leave out, or to take for something else: both checkers accept what is right, and refuse a proof about less.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn the_second_checker_reads_unusual_lines() {
    let scratch = Scratch::new("second-lines");
    let less = scratch.file("less.tts", "2 2\n1|1");
    let proof = scratch.0.join("less.json");
    throng(&["check", "-q", less.to_str().expect("UTF-8"), "--certificate", proof.to_str().expect("UTF-8")]);
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
            throng(&["check", "-q", input, "--target", target, "--certificate", certificate]);
        assert!(matches!(status, Some(0 | 10)), "{name}: {out}{err}");
        let (status, out, err) = throng(&["certify", input, certificate]);
        assert_eq!(status, Some(0), "{name}: {out}{err}");
        match second(input, certificate) {
            None => println!("skipped: python3 cannot be run"),
            Some(told) => assert!(told.contains("  VALID"), "{name}: {told}"),
        }
        if name == "header.tts" {
            // A name that is no name of a state, though it means the same number.
            let text = std::fs::read_to_string(&proof).expect("a certificate").replace("\"1\"", "\"01\"");
            let forged = scratch.file("forged.json", &text);
            let told = second(less.to_str().expect("UTF-8"), forged.to_str().expect("UTF-8"));
            assert!(told.is_none_or(|told| told.contains("INVALID")), "{text}");
        }
        if ["header.tts", "feed.tts"].contains(&name) {
            let told = second(input, proof.to_str().expect("UTF-8"));
            assert!(told.is_none_or(|told| told.contains("INVALID")), "{name}");
        }
    }
}
