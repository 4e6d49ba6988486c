//! Formulas of the model-checking contest: what they say, and both checkers about their evidence.

use throng_dev::harness as common;

use common::certificates::second;
use common::{Scratch, run};
use serde_json::Value;

/// Two clients share a lock; `done` can be left only together.
const NET: &str = "<pnml><net type='http://www.pnml.org/version-2009/grammar/ptnet'>
    <place id='idle'><initialMarking><text>2</text></initialMarking></place>
    <place id='lock'><initialMarking><text>1</text></initialMarking></place>
    <place id='in'/><place id='done'/>
    <transition id='enter'/><transition id='leave'/><transition id='again'/>
    <arc source='idle' target='enter'/><arc source='lock' target='enter'/><arc source='enter' target='in'/>
    <arc source='in' target='leave'/><arc source='leave' target='lock'/><arc source='leave' target='done'/>
    <arc source='done' target='again'><inscription><text>2</text></inscription></arc>
    <arc source='again' target='idle'><inscription><text>2</text></inscription></arc>
    </net></pnml>";

fn le(a: &str, b: &str) -> String {
    format!("<integer-le>{a}{b}</integer-le>")
}

fn tokens(place: &str) -> String {
    format!("<tokens-count><place>{place}</place></tokens-count>")
}

fn ef(f: &str) -> String {
    format!("<exists-path><finally>{f}</finally></exists-path>")
}

fn ag(f: &str) -> String {
    format!("<all-paths><globally>{f}</globally></all-paths>")
}

/// Formulas and what they are: true, false, or a bound.
fn formulas() -> Vec<(String, Value)> {
    let n = |n: i32| format!("<integer-constant>{n}</integer-constant>");
    let not = |f: &str| format!("<negation>{f}</negation>");
    let and = |a: &str, b: &str| format!("<conjunction>{a}{b}</conjunction>");
    let fires = |t: &str| format!("<is-fireable><transition>{t}</transition></is-fireable>");
    let bound = |places: &[&str]| {
        let places: String = places.iter().map(|p| format!("<place>{p}</place>")).collect();
        format!("<place-bound>{places}</place-bound>")
    };
    vec![
        (ag(&le(&tokens("in"), &tokens("idle"))), false.into()),
        (ag(&le(&tokens("in"), &n(1))), true.into()),
        (ef(&and(&le(&tokens("lock"), &n(0)), &le(&tokens("in"), &n(0)))), false.into()),
        (ef(&and(&le(&tokens("idle"), &n(0)), &le(&tokens("in"), &n(0)))), true.into()),
        (ag(&not(&and(&fires("enter"), &fires("leave")))), true.into()),
        (ef(&and(&not(&fires("enter")), &not(&fires("leave")))), true.into()),
        (ef("<deadlock/>"), false.into()),
        (bound(&["idle"]), 2.into()),
        (bound(&["lock", "in"]), 1.into()),
        (bound(&["done", "idle", "in", "lock"]), 3.into()),
        (bound(&[]), 0.into()),
    ]
}

#[test]
fn formulas_and_bounds_are_answered_and_certified() {
    let scratch = Scratch::new("formulas");
    let (net, certificate) = (scratch.file_argument("lock.pnml", NET), scratch.argument("c.json"));
    let certificate = certificate.as_str();
    for engine in ["auto", "reachability"] {
        for (i, (formula, expected)) in formulas().iter().enumerate() {
            let text = format!(
                "<property-set><property><id>f</id><formula>{formula}</formula></property></property-set>"
            );
            let properties = scratch.file_argument("f.xml", &text);
            let question = [net.as_str(), "--prop", &properties];
            let options =
                ["--json", "--engine", engine, "--timeout", "600", "--certificate", certificate, "--force"];
            let (status, out, err) = run(&[&["check"], &question[..], &options[..]].concat());
            assert!(matches!(status, Some(0 | 10)), "{i}: {out}{err}");
            let told: Value = serde_json::from_str(&out).expect("JSON");
            let target = &told["targets"][0];
            let said = if expected.is_boolean() { &target["holds"] } else { &target["bound"] };
            assert_eq!((&target["name"], said), (&"f".into(), expected), "{i}: {formula}");
            let (status, out, _) = run(&["certify", question[0], certificate, "--prop", &properties]);
            assert_eq!(status, Some(0), "{i}: {out}");
            if let Some(said) = second(&["--prop", &properties, question[0], certificate]) {
                assert!(said.contains("  VALID"), "{i}: {said}");
            }
            // An answer to another formula is none to this one.
            let other = text.replace("<place>in<", "<place>done<").replace("enter", "again");
            if other != text {
                let (status, out, _) = run(&[
                    "certify",
                    question[0],
                    certificate,
                    "--prop",
                    &scratch.file_argument("g.xml", &other),
                ]);
                assert_eq!(status, Some(10), "{i}: {out}");
            }
        }
    }
}

#[test]
fn exact_targets_of_nets_are_formulas() {
    let scratch = Scratch::new("exact");
    let certificate = scratch.argument("c.json");
    let certificate = certificate.as_str();
    for (target, status) in
        [("a.b=1, c=1", 10), ("a.b=1, c=0", 0), ("a.b in [0,1], c>=2", 10), ("c in [3,9]", 0)]
    {
        let net = format!(
            "vars a.b c[] rules adotb>=1 -> adotb'=adotb-1, cleftbracketrightbracket'=cleftbracketrightbracket+1; \
             init a.b=2, c[]=0 target {}",
            target.replace('c', "c[]")
        );
        let net = scratch.file_argument("net.spec", &net);
        let (said, out, err) = run(&["check", &net, "--certificate", certificate, "--force"]);
        assert_eq!(said, Some(status), "{target}: {out}{err}");
        let (said, out, _) = run(&["certify", &net, certificate]);
        assert_eq!(said, Some(0), "{target}: {out}");
        if let Some(said) = second(&[&net, certificate]) {
            assert!(said.contains("  VALID"), "{target}: {said}");
        }
    }
}

/// That a sum reaches its largest value is an answer, no violation: SAFE and status 0, once all
/// bounds are known; also beside a formula.
#[test]
fn upper_bounds_are_no_violations() {
    let scratch = Scratch::new("upper-bounds");
    let net = scratch.file_argument("net.pnml", NET);
    let place = |p: &str| format!("<place-bound><place>{p}</place></place-bound>");
    let file = |formulas: &[String]| {
        let each = formulas.iter().enumerate();
        let each = each.map(|(i, f)| format!("<property><id>f{i}</id><formula>{f}</formula></property>"));
        format!("<property-set>{}</property-set>", each.collect::<String>())
    };
    let check = |formulas: &[String]| {
        let formulas = scratch.file_argument("net.xml", file(formulas));
        run(&["check", &net, "--prop", &formulas, "--jobs", "1"])
    };
    let (status, out, err) = check(&[place("idle"), place("in")]);
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.starts_with("SAFE  2 of 2 targets cannot be reached"), "{out}");
    assert!(out.contains("REACHED f0 reaches 2") && out.contains("the bound is 2"), "{out}");
    assert!(!out.contains("violated"), "{out}");
    let none = "<integer-constant>0</integer-constant>";
    let (status, out, err) = check(&[place("idle"), ag(&le(&tokens("in"), none))]);
    assert_eq!(status, Some(10), "{out}{err}");
    assert!(out.starts_with("UNSAFE  1 of 2 targets can be reached"), "{out}");
}

/// What is decided about a net is reported, also where a sum has no largest value.
#[test]
fn a_sum_without_a_largest_value_takes_no_other_answer_along() {
    let scratch = Scratch::new("unbounded");
    let net = "<pnml><net id=\"n\" type=\"ptnet\">
        <place id=\"well\"><initialMarking><text>1</text></initialMarking></place><place id=\"pond\"/>
        <place id=\"cup\"/><transition id=\"flow\"/><transition id=\"dip\"/>
        <arc id=\"a\" source=\"well\" target=\"flow\"/><arc id=\"b\" source=\"flow\" target=\"well\"/>
        <arc id=\"c\" source=\"flow\" target=\"pond\"/><arc id=\"d\" source=\"well\" target=\"dip\"/>
        <arc id=\"e\" source=\"dip\" target=\"cup\"/></net></pnml>";
    let net = scratch.file_argument("net.pnml", net);
    let bound = |id: &str| {
        let formula = format!("<place-bound><place>{id}</place></place-bound>");
        format!("<property><id>{id}</id><formula>{formula}</formula></property>")
    };
    let none = "<integer-constant>0</integer-constant>";
    let dry =
        format!("<property><id>dry</id><formula>{}</formula></property>", ag(&le(&tokens("cup"), none)));
    let formulas = format!("<property-set>{}{dry}{}</property-set>", bound("pond"), bound("cup"));
    let formulas = scratch.file_argument("net.xml", &formulas);
    let (status, out, err) = run(&["check", &net, "--prop", &formulas, "--jobs", "1"]);
    assert_eq!(status, Some(10), "{out}{err}");
    let line = |words: &[&str]| out.lines().any(|l| words.iter().all(|w| l.contains(w)));
    assert!(line(&["UNSAFE", "dry"]) && line(&["SAFE", "cup", "the bound is 1"]), "{out}");
    assert!(line(&["UNKNOWN", "pond", "it has no largest value"]), "{out}");
}
