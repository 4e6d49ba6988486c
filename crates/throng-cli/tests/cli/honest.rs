//! What is said is true: also about targets without a verdict, about runs that could not be
//! checked, and after a limit was hit.

use std::path::PathBuf;

use throng::{Engine, Format, Input, Job, Limits, Reading, Settings, Status};
use throng_dev::harness::{said, test_file, throng};
use throng_lang::source::Source;

fn file(name: &str, text: &str) -> PathBuf {
    test_file(&format!("honest-{name}"), text)
}

/// Exit status, standard output and error of `throng COMMAND FILE OPTIONS`.
fn ask(command: &str, path: &PathBuf, options: &[&str]) -> (Option<i32>, String, String) {
    said(&throng().arg(command).arg(path).args(options).output().expect("it runs"))
}

/// A step with more outcomes than a checker looks at makes the proof for one target uncheckable;
/// the run into the other stands.
#[test]
fn what_cannot_be_checked_does_not_take_other_verdicts_along() {
    let fates: String = (4..16).map(|l| format!(" 0 ~> {l}")).collect();
    let path = file("fates.tts", &format!("3 16\n0 0 -> 1 1\n0 0 -> 0 3{fates}\n"));
    let options = ["--threads", "9", "--target", "1|", "--target", "2|", "--engine", "explicit", "-q"];
    let (status, out, err) = ask("check", &path, &options);
    assert_eq!(status, Some(10), "{out}{err}");
    assert!(out.contains("UNSAFE  1|  1 thread, 1 step"), "{out}");
}

/// A statement with too many cases: nothing is known about any number of threads.
#[test]
fn a_model_that_gave_up_rules_nothing_out() {
    let names: Vec<String> = (0..40).map(|i| format!("s{i}")).collect();
    let (sum, all) = (names.join(" ^ "), names[..39].join(" & "));
    let text =
        format!("decl {}; void main() begin decl l; l := {sum}; assert(!(l & {all})); end", names.join(", "));
    let path = file("cases.bp", &text);
    for options in [
        &["--engine", "explicit", "--threads", "2"][..],
        &["--engine", "explicit", "--max-threads", "2"],
        &["--threads", "2"],
    ] {
        let (status, out, _) = ask("check", &path, &[options, &["--json", "--timeout", "600"]].concat());
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status, Some(1), "{options:?}: {out}");
        assert!(out.contains("too many cases") && !out.contains("no violation"), "{options:?}: {out}");
        assert!(!out.contains("\"complete_up_to\": 2"), "{options:?}: {out}");
    }
}

/// A verdict about the second of two open targets was taken for one about the first.
#[test]
fn an_engine_answers_about_the_target_it_was_asked_for() {
    let text =
        "3 6\n0 0 -> 1 1\n1 0 -> 2 1\n2 1 -> 0 0 1 ~> 0\n0 0 -> 0 2\n0 2 -> 0 3\n0 3 -> 0 4\n0 4 -> 0 5\n
        0|5,5,5,5,5,5,5,5,5,5,5,5\n2|1,1,1\n";
    let (status, out, err) = ask("check", &file("two-open.tts", text), &["--jobs", "1", "-q"]);
    assert_eq!(status, Some(10), "{out}{err}");
    assert!(out.contains("12 threads, 48 steps") && out.contains("SAFE    2|1,1,1"), "{out}");
}

/// Each unchecked line says so, also beside targets that are open.
#[test]
fn unchecked_verdicts_are_marked_one_by_one() {
    let path = file("marks.tts", "2 3\n0 0 -> 0 1\n0 1 -> 0 2\n");
    let options = ["--engine", "explicit", "--max-threads", "1", "--target", "0|1", "--target", "0|2,2"];
    let (_, out, _) = ask("check", &path, &[&options[..], &["--no-check", "-q"]].concat());
    let line =
        |word: &str| out.lines().find(|l| l.starts_with(word) && l.contains("0|")).unwrap_or("").to_string();
    assert!(line("UNSAFE").ends_with("(unchecked)") && !line("UNKNOWN").contains("unchecked"), "{out}");
}

/// A property file beside the input counts, but a warning says that the input disagrees.
#[test]
fn a_property_file_that_hides_targets_is_warned_about() {
    let path = file("hides.tts", "2 2\n0 0 -> 1 1\n1|1\n");
    let beside = path.with_extension("prop");
    std::fs::write(&beside, "0|1\n").expect("written");
    let (status, out, err) = ask("check", &path, &[]);
    assert!(status == Some(0) && out.contains("0|1") && err.contains("W609"), "{out}{err}");
    let (status, out, err) = ask("check", &path, &["--target", "1|1"]);
    assert!(status == Some(10) && !err.contains("W609"), "{out}{err}");
    let (_, _, err) = ask("translate", &path, &["--to", "tts", "-o", path.to_str().expect("UTF-8")]);
    assert!(!err.is_empty(), "it is not written over itself");
    let other = path.with_file_name("honest-hides.ntts");
    let (status, _, err) = ask("translate", &path, &["--to", "ntts", "-o", other.to_str().expect("UTF-8")]);
    assert!(status == Some(0) && err.contains("honest-hides.prop is there"), "{err}");
    std::fs::remove_file(&beside).expect("removed");
}

/// A program without an assertion is safe in every format.
#[test]
fn nothing_to_check_stays_nothing_when_translated() {
    let path = file("nothing.bp", "decl x := 0; void main() begin x := 1; end");
    for format in ["tts", "ntts", "spec", "pnml"] {
        let out = path.with_extension(format);
        let (status, _, err) = ask("translate", &path, &["--to", format, "-o", out.to_str().expect("UTF-8")]);
        assert_eq!(status, Some(0), "{format}: {err}");
        let (status, answer, err) = ask("check", &out, &["-q"]);
        assert_eq!(status, Some(0), "{format}: {answer}{err}");
    }
}

/// Families of initial configurations that do not fit the bound are left out, with a warning; no
/// run starts in one.
#[test]
fn initial_configurations_beyond_the_bound_are_left_out() {
    let text = "shared s\nlocal a b\ninit s | a\ninit s | a, a, a\ntarget s | b, b, b\ns a -> s b\n";
    let path = file("families.ntts", text);
    let (status, out, err) = ask("check", &path, &["--threads", "2"]);
    assert!(status == Some(0) && err.contains("W605"), "{out}{err}");
    for seed in 0..8 {
        let options = ["--threads", "2", "--seed", &seed.to_string(), "--steps", "3"];
        let (status, out, err) = ask("simulate", &path, &options);
        assert!(status == Some(0) && !out.contains("3 threads"), "{out}{err}");
    }
}

/// One output that cannot be written does not take the others along, and none may be the
/// checkpoint.
#[test]
fn outputs_do_not_take_each_other_along() {
    let path = file("outputs.tts", "2 2\n0 0 -> 1 1\n1|1\n");
    let html = path.with_extension("html");
    let _ = std::fs::remove_file(&html);
    let html_name = html.to_str().expect("UTF-8");
    if cfg!(target_os = "linux") {
        let (status, _, err) = ask("check", &path, &["--certificate", "/dev/full", "--html", html_name]);
        assert!(status == Some(2) && html.is_file(), "{err}");
    }
    let options = ["--engine", "explicit", "--checkpoint", html_name, "--html", html_name];
    let (status, _, err) = ask("check", &path, &options);
    assert_eq!(status, Some(2), "{err}");
}

/// A run to a target with an upper bound ends where it holds, with the tokens of the net;
/// `explicit` answers what more tokens cannot undo.
#[test]
fn targets_with_upper_bounds_are_reached_exactly() {
    let rules = "a>=1 -> a'=a-1, a1'=a1+1; a1>=1 -> a1'=a1-1, a2'=a2+1; a2>=1 -> a2'=a2-1, b'=b+1, d'=d+1;
        a>=1 -> a'=a-1, e'=e+3; e>=3 -> e'=e-3, b'=b+1;";
    let start = "init a=1, a1=0, a2=0, b=0, c=0, d=0, e=0";
    for (target, explicit) in [("b>=1, c=0", 1), ("b>=1, d=0, e>=1", 1), ("b>=1", 10)] {
        let path = file("mark.spec", &format!("vars a a1 a2 b c d e rules {rules} {start} target {target}"));
        let (status, out, err) = ask("check", &path, &["--engine", "explicit"]);
        assert_eq!(status, Some(explicit), "{out}{err}");
        let (status, out, err) = ask("check", &path, &[]);
        let reached = target != "b>=1, d=0, e>=1";
        assert_eq!(status, Some(if reached { 10 } else { 0 }), "{target}: {out}{err}");
    }
}

/// Runs come with whether fewer threads were ruled out. Karp-Miller's run has more than needed
/// here.
#[test]
fn a_run_says_whether_it_has_the_fewest_threads() {
    let example = PathBuf::from(throng_dev::ROOT).join("examples/ticketlock-broken.bp");
    let names: Vec<String> = (0..40).map(|i| format!("s{i}")).collect();
    let (sum, all) = (names.join(" ^ "), names[..39].join(" & "));
    let race = "l := a; assert(!(l ^ a)); a := !a;";
    let declared = names.join(", ");
    let cases = format!(
        "decl a, {declared}; void main() begin decl l; if (*) then l := {sum}; assert(!(l & {all})); else {race} fi; end"
    );
    let (race, cases) = (
        file("race.bp", &format!("decl a; void main() begin decl l; {race} end")),
        file("race-cases.bp", &cases),
    );
    // A run of one thread into a target of one thread cannot be better, whichever engine found it.
    let alone = file("alone.bp", "void main() begin assert(0); end");
    for (path, options, fewest) in [
        (&example, &["--engine", "karp-miller"][..], false),
        (&example, &["--engine", "explicit"], true),
        (&example, &["--engine", "symbolic"], true),
        (&example, &["--jobs", "1"], true),
        (&race, &["--engine", "explicit"], true),
        (&race, &["--engine", "backward"], false),
        (&cases, &["--engine", "explicit"], false),
        (&alone, &["--engine", "karp-miller"], true),
    ] {
        let (status, out, err) = ask("check", path, options);
        assert_eq!(status, Some(10), "{path:?} {options:?}: {out}{err}");
        let admits = out.contains("perhaps with more threads than needed");
        assert_eq!(admits, !fewest, "{path:?} {options:?}: {out}");
        let (_, json, _) = ask("check", path, &[options, &["--json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&json).expect("a report");
        assert_eq!(report["targets"][0]["fewest"], fewest, "{path:?} {options:?}");
    }
}

/// `--error-label L` is `assert(0)` in front of L, and no thread reaches it. Every engine that
/// proves says so, and the certificate stands.
#[test]
fn a_label_that_control_cannot_reach_is_safe() {
    let text = "void main() begin skip; return; E: skip; end void unused() begin M: skip; end";
    let path = file("unreachable.bp", text);
    let certificate = path.with_extension("json");
    // One thread: `explicit` and `symbolic` come to an end. `guided` never proves.
    for engine in ["auto", "explicit", "symbolic", "karp-miller", "backward", "views", "equations"] {
        let asked = ["--error-label", "E", "--mutex", "M", "--initial", "1"];
        let file = certificate.to_str().expect("a name");
        let found = ["--engine", engine, "--certificate", file];
        let (status, out, err) = ask("check", &path, &[&asked[..], &found].concat());
        assert_eq!(status, Some(0), "{engine}: {out}{err}");
        assert_eq!(err.matches("W610").count(), 2, "{engine}: {err}");
        let (status, out, err) = ask("certify", &path, &[&[file], &asked[..]].concat());
        assert_eq!(status, Some(0), "{engine}: {out}{err}");
    }
    let (status, _, err) = ask("check", &path, &["--error-label", "G"]);
    assert!(status == Some(2) && err.contains("E606") && err.contains("its labels: E, M"), "{err}");
}

/// Two threads break this; one alone does not.
const RACE: &str = "decl g := 0; void main() begin g := !g; g := !g; assert(!g); end";

/// `--initial 1`, and nothing starts a thread: a proof is about one thread, wherever it is shown.
#[test]
fn a_fixed_number_of_threads_is_said() {
    let race = file("fixed.bp", RACE);
    let (page, log) = (race.with_extension("html"), race.with_extension("sarif"));
    let shown = ["--html", page.to_str().expect("a name"), "--sarif", log.to_str().expect("a name")];
    let (status, out, err) = ask("check", &race, &[&["--initial", "1"][..], &shown].concat());
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.starts_with("SAFE  assertions  with 1 thread\n"), "{out}");
    assert!(out.contains("\nthreads: 1; no step adds any\n"), "{out}");
    for written in [&page, &log] {
        let text = std::fs::read_to_string(written).expect("written");
        assert!(text.contains("with 1 thread") && !text.contains("for any number"), "{}", written.display());
    }
    let (_, out, _) = ask("check", &race, &["--initial", "1", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(document["scope"], "with 1 thread");
    assert_eq!(document["threads"], 1);
    // A bound does not make it more than one.
    let (_, out, _) = ask("check", &race, &["--initial", "1", "--threads", "4", "-q"]);
    assert_eq!(out, "SAFE  assertions  with 1 thread\n");
    let certificate = race.with_extension("json");
    let certificate = certificate.to_str().expect("a name");
    let (status, ..) = ask("check", &race, &["--initial", "1", "--certificate", certificate]);
    assert_eq!(status, Some(0));
    let mut certify = throng();
    let output = certify.arg("certify").arg(&race).arg(certificate).args(["--initial", "1"]).output();
    let mut out = output.expect("it runs").stdout;
    if out.is_empty() {
        out = ask("certify", &race, &[certificate]).1.into_bytes();
    }
    assert!(!String::from_utf8_lossy(&out).contains("any number"), "{}", String::from_utf8_lossy(&out));
}

#[test]
fn fixed_numbers_in_systems_and_nets_are_said_and_others_are_not() {
    let says = |name: &str, text: &str, options: &[&str], wanted: &str| {
        let (status, out, err) = ask("check", &file(name, text), &[options, &["-q"]].concat());
        assert_eq!(status, Some(0), "{name}: {out}{err}");
        assert!(out.starts_with(&format!("SAFE  {wanted}\n")), "{name}: {out}");
    };
    let lock = "2 3\n0 0 -> 1 1\n1 1 -> 0 2\n";
    says("fixed.tts", lock, &["--initial", "0|0,0", "--target", "1|1,1"], "1|1,1  with exactly 2 threads");
    says("fixed.tts", lock, &["--initial", "0/0", "--target", "1|1,1"], "1|1,1  for any number of threads");
    let spawns = "2 3\n0 0 -> 1 1\n1 1 -> 0 2\n0 0 +> 0 2\n";
    let options = ["--initial", "0|0,0", "--target", "1|1,1"];
    says("spawns.tts", spawns, &options, "1|1,1  for any number of threads");
    let start = "decl g := 0; void main() begin assert(!g); start_thread goto L; L: skip; end";
    says("starts.bp", start, &[], "assertions  for any number of threads");
    let net = |rule: &str| {
        format!("vars\n a b c\nrules\n a >= 1 -> {rule};\ninit\n a = 2, b = 0, c = 0\ntarget\n c >= 1\n")
    };
    let (status, out, err) = ask("check", &file("fixed.spec", &net("a' = a-1, b' = b+1")), &["-q"]);
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.ends_with("with exactly 2 tokens\n"), "{out}");
    let (_, out, _) = ask("check", &file("grows.spec", &net("b' = b+1")), &["-q"]);
    assert!(out.ends_with("for any number of tokens\n"), "{out}");
}

/// What took part in a search that decided nothing, with the time of all its shares: the table adds
/// up to the search.
#[test]
fn the_table_of_an_unknown_adds_up() {
    // Threads count themselves with twelve bits: pairs do not rule a full count out, and thousands
    // of threads reach it.
    let bits: Vec<String> = (0..12).map(|i| format!("c{i}")).collect();
    let next: Vec<String> = (1..12).map(|i| format!("c{i} ^ ({})", bits[..i].join(" & "))).collect();
    let crowd = format!(
        "decl {} := 0, g := 0; void main() begin atomic_begin; {} := !c0, {}; assert(!({})); atomic_end; {} end",
        bits.join(" := 0, "),
        bits.join(", "),
        next.join(", "),
        bits.join(" & "),
        "g := !g; ".repeat(40)
    );
    let source = Source::new("adds.bp", crowd);
    let input = Input::from_source(source, Format::Bp, Reading::default()).expect("a program");
    // Work is counted, not time: every engine gets as far on every machine.
    let limits = Limits::none().work(1 << 22);
    let mut settings = Settings::default();
    settings.jobs = 1;
    let outcome = Job::new(&input).settings(settings).check(Engine::Auto, &limits).expect("an outcome");
    assert_eq!(outcome.status(), Status::Unknown, "{}", outcome.json());
    let document: serde_json::Value = serde_json::from_str(&outcome.json()).expect("JSON");
    let attempts = document["attempts"].as_array().expect("a list");
    let mut names: Vec<&str> = attempts.iter().filter_map(|a| a["engine"].as_str()).collect();
    let seconds: f64 = attempts.iter().filter_map(|a| a["seconds"].as_f64()).sum();
    let searching = document["statistics"]["phases"]["searching"].as_f64().expect("a number");
    assert!(
        seconds > 0.5 * searching && seconds < 1.1 * searching,
        "{seconds} of {searching}: {attempts:#?}"
    );
    // Nothing was decided, so all of it was in vain.
    assert!(attempts.iter().all(|a| a["decided"] == 0), "{attempts:#?}");
    let thrown_away = document["statistics"]["thrown_away"].as_f64().expect("a number");
    assert!((thrown_away - seconds).abs() < 1e-6, "{thrown_away} of {seconds}");
    for name in ["explicit", "karp-miller", "views"] {
        let found = attempts.iter().find(|a| a["engine"] == name).expect("it took part");
        assert!(found["statistics"]["configurations"].as_u64() > Some(100), "{found:#}");
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
    assert_eq!(outcome.html().matches("\"engine\":\"views\"").count(), 1);
}
