//! Certificates: every engine's evidence, written to a file and read again, stands before the
//! checker, which executes programs with an interpreter of its own; and what is written fits the
//! schema.
//!
//! `THRONG_RANDOM=5000 THRONG_SEED=7 cargo test --release -p throng-cli --test evidence certify:: -- --nocapture`
//! certifies that many random programs.

use throng_dev::harness as common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use common::certificates::{answers, effort, engines, examples, judge, number, problem, second, written};
use common::{Scratch, run};
use throng_check::certificate::Property;
use throng_check::certificate::write::{Origin, cutoff_document, write};
use throng_check::certify::interpreter::Interpreter;
use throng_check::certify::{Asked, Fault, certify, read};
use throng_dev::{self, laws, naive, programs, random_problem, random_table};
use throng_engine::Silent;
use throng_engine::backward::Backward;
use throng_engine::cutoff::{Method, cutoff, runs};
use throng_lang::load::{Format, Input, Loaded, Reading, load};
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_lang::system::{Kind, System};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

fn schema() -> jsonschema::Validator {
    let path = Path::new(throng_dev::ROOT).join("docs/schemas/certificate.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema is there");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
}

fn fits(schema: &jsonschema::Validator, bytes: &[u8], name: &str) {
    let value = serde_json::from_slice(bytes).expect("JSON");
    if let Err(why) = schema.validate(&value) {
        panic!("{name}: {why} at {}", why.instance_path());
    }
}

/// Certifies whatever the engines answer; returns how many certificates there were.
fn all_engines(
    loaded: &Loaded,
    reading: &Reading,
    problem: &Problem,
    schema: &jsonschema::Validator,
) -> usize {
    let mut count = 0;
    for engine in engines(problem) {
        let verdicts = answers(&*engine, problem);
        if verdicts.iter().all(|v| matches!(v, Verdict::Unknown(_))) {
            continue;
        }
        let bytes = written(loaded, reading, problem, &verdicts);
        let name = format!("{} by {}", loaded.source.name, engine.name());
        fits(schema, &bytes, &name);
        let text = &loaded.source.text;
        match judge(loaded, &bytes) {
            Ok(_) => count += 1,
            Err(fault) => panic!("{name}: {fault}\n{text}\n{}", String::from_utf8_lossy(&bytes)),
        }
    }
    count
}

#[test]
fn every_example_has_a_certificate_from_every_engine_that_answers() {
    let schema = schema();
    let mut count = 0;
    for path in examples() {
        // Half a million views: the command line has it in another test.
        if path.ends_with("rockall.bp") {
            continue;
        }
        for threads in [None, Some(2)] {
            let reading = Reading::default();
            let loaded = load(&path, &reading).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
            let question = Question { threads, ..Question::default() };
            count += all_engines(&loaded, &reading, &problem(&loaded, &path, &question), &schema);
        }
    }
    assert!(count > 100, "{count}");
}

/// A program with every construct of the language that one can ask about.
const CONSTRUCTS: &str = "
decl g, h; decl thread_local t := 0;
bool f(a) begin decl c; c := a & *; return c | !a; end
void child() begin t := 1; g := 1 constrain !g | 'g; signal; end
void main() begin
  decl x, y;
  x, y := *, x;
  enforce (x | !x);
  x := f(y);
  start_thread child();
  if (schoose[x, y]) then atomic { g := 0; h := g; } fi
  atomic_begin; h := 1; atomic_end;
  x$, y := x$, 1;
  L: while (*) do start_thread goto W; broadcast; od
  assert (t | !t);
  end_thread;
  W: wait; M: skip;
end";

#[test]
fn all_kinds_of_questions_about_a_program() {
    let schema = schema();
    let mut count = 0;
    for no_slot_reuse in [false, true] {
        let reading = Reading { keep_ended: no_slot_reuse, ..Reading::default() };
        let source = Source::new("constructs", CONSTRUCTS);
        let loaded = throng_lang::load::read(source, Format::Bp, &reading)
            .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        for (initial, threads) in [(None, Some(2)), (Some("any"), Some(2)), (None, None)] {
            let question = Question {
                initial: initial.map(str::to_string),
                threads,
                error_labels: vec!["M".into()],
                mutex: vec!["L".into()],
                invariants: vec!["g | h | !g".into(), "!g".into()],
                ..Question::default()
            };
            let problem = problem(&loaded, Path::new(""), &question);
            count += all_engines(&loaded, &reading, &problem, &schema);
        }
    }
    assert!(count >= 12, "{count}");
}

/// Pairs are needed here (two threads never meet at C), and the interpreter splits bystanders where
/// it reads `a$`: the pairs that it then has are not in the set, but larger ones are.
#[test]
fn views_hold_what_the_interpreter_splits() {
    let text = "decl lock := 0; decl t := 0;
        void main() begin
          decl a := 1;
          L: lock := 1 constrain !lock; C: skip; lock := 0;
          a$, a := *, t;
          t, _ := a, 0 constrain (* | a$);
          goto L;
        end";
    let source = Source::new("split", text);
    let loaded = throng_lang::load::read(source, Format::Bp, &Reading::default())
        .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let question = Question { mutex: vec!["C".into()], initial: Some("any".into()), ..Question::default() };
    let problem = problem(&loaded, Path::new(""), &question);
    assert!(all_engines(&loaded, &Reading::default(), &problem, &schema()) >= 4);
}

/// Two states that views know hold the state that the interpreter splits off, one of them within
/// the other: the smaller one is meant.
#[test]
fn views_hold_more_than_one_state_around_what_the_interpreter_splits() {
    let text = "decl thread_local w := *;
        void main() begin
          decl a;
          enforce (* | 0 | a$);
          L: w := (false ^ a) constrain w$ & (a$ ^ ('w$ => 'a) ^ (a => a));
          w$ := w;
        end";
    let source = Source::new("around", text);
    let loaded = throng_lang::load::read(source, Format::Bp, &Reading::default())
        .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let question = Question { initial: Some("2".into()), ..Question::default() };
    let problem = problem(&loaded, Path::new(""), &question);
    assert!(all_engines(&loaded, &Reading::default(), &problem, &schema()) >= 4);
}

/// The interpreter leaves a bystander's variable open that the engine knows: no state of the views
/// holds all of it, but one holds each half.
#[test]
fn views_hold_in_halves_what_the_interpreter_leaves_whole() {
    for text in [
        "bool main(p) begin decl a := *; atomic { } if (p ? p$ : a$) then fi; end",
        "void main() begin decl a := *; decl b := *;
           a := 1 constrain (a ? 'a$ : 'b$);
           b, b$ := b, a$ constrain (b ^ 1);
         end",
    ] {
        let source = Source::new("halves", text);
        let loaded = throng_lang::load::read(source, Format::Bp, &Reading::default())
            .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let question = Question { initial: Some("any".into()), ..Question::default() };
        let problem = problem(&loaded, Path::new(""), &question);
        assert!(all_engines(&loaded, &Reading::default(), &problem, &schema()) >= 3, "{text}");
    }
}

/// The engine knows `f` with open parameters only, the interpreter knows what was passed; and `s`
/// is open, 0 or 1. The vector counts these three shared states differently: the call is taken for
/// one that leaves `s` as it is.
#[test]
fn vectors_count_what_a_step_is_taken_for() {
    let text = "decl s := 0;
        dfs void main() begin
          if s then ASYNC_0: assert 0; fi;
          _, s := call f(0, s);
        end
        bool<2> f(p, q) begin end";
    let source = Source::new("taken", text);
    let loaded = throng_lang::load::read(source, Format::Bp, &Reading::default())
        .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let question =
        Question { mutex: vec!["ASYNC_0".into()], initial: Some("2".into()), ..Question::default() };
    let problem = problem(&loaded, Path::new(""), &question);
    assert!(all_engines(&loaded, &Reading::default(), &problem, &schema()) >= 4);
}

/// Two bystanders whose fates overlap, one of them anything, the other one known: who is who
/// matters for the rest of the run.
#[test]
fn threads_keep_what_is_known_about_them() {
    let scratch = Scratch::new("overlap");
    let text = "void main(p) begin decl a := 0; decl b := 1; p, p$ := 0, !0; if 0 then fi; ASYNC_3: _ := true constrain a$; a, a$ := 0, 0; L3: b$ := 0; end";
    let (file, certificate) = (scratch.file("overlap.bp", text), scratch.0.join("overlap.json"));
    let (file, certificate) = (file.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let ask = ["--initial", "2", "--mutex", "L3", "--threads", "4", "--engine", "explicit", "--no-por"];
    let (status, out, err) = run(&[&["check", file, "--certificate", certificate], &ask[..]].concat());
    assert!(status == Some(10) && out.contains("certified in"), "{out}{err}");
}

/// What people call a target says nothing about what it asks: not to engines, not to the rules, not
/// in a certificate.
#[test]
fn names_of_targets_mean_nothing() {
    let text = "3 3\n0 0 -> 0 1\n0 1 -> 1 2\n1|2\n1|1,2\n2|0\n";
    let (path, reading) = (Path::new("named.tts"), Reading::default());
    let loaded = throng_lang::load::read(Source::new("named.tts", text), Format::Tts, &reading)
        .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    for name in ["deadlock", "stuck L", "assertions", "mutex L"] {
        let mut named = problem(&loaded, path, &Question::default());
        named.targets.iter_mut().for_each(|target| target.name = name.into());
        let mut count = 0;
        for engine in engines(&named) {
            let verdicts = answers(&*engine, &named);
            if verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_))) {
                continue;
            }
            for (target, verdict) in named.targets.iter().zip(&verdicts) {
                assert_eq!(matches!(verdict, Verdict::Safe(_)), target.configs[0].shared.0 == 2);
                throng_check::rules::check(&named, target, verdict).unwrap_or_else(|flaw| panic!("{flaw}"));
            }
            let bytes = written(&loaded, &reading, &named, &verdicts);
            let document = read(&bytes).unwrap_or_else(|fault| panic!("{fault}"));
            assert!(document.targets.iter().all(|t| matches!(t.property, Property::Covers(_))));
            for asked in [
                Asked::Own(&loaded),
                Asked::Check(Origin { loaded: &loaded, reading: &reading, problem: &named }),
            ] {
                let found =
                    certify(&asked, &document, &Limits::none()).unwrap_or_else(|fault| panic!("{fault}"));
                assert_eq!(found.answers.len(), 3);
            }
            count += 1;
        }
        assert!(count > 2, "{name}: {count}");
    }
}

/// What `equations` proves while it looks for a run can be written, too: nothing that partial
/// orders left out.
#[test]
fn what_is_proved_on_the_way_has_a_certificate() {
    let scratch = Scratch::new("on-the-way");
    let text = "decl s := 0; decl t := *; void main() begin t := *; assert t; s := t; abortif ((t => F) != 1); L: skip; end";
    let (file, certificate) = (scratch.file("way.bp", text), scratch.0.join("way.json"));
    let (file, certificate) = (file.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let ask = ["--initial", "2", "--error-label", "L", "--mutex", "L", "--engine", "equations"];
    let (status, out, err) = run(&[&["check", file, "--certificate", certificate], &ask[..]].concat());
    assert!(status == Some(10) && out.contains("certified in"), "{out}{err}");
}

/// The checker's interpreter as the model of a problem.
fn interpreted(problem: &Problem, text: &str, keep_ended: bool) -> Problem {
    let model = Arc::new(Interpreter::new(text, keep_ended, false).expect("accepted"));
    let any = problem.initial.iter().any(|i| !i.any.is_empty());
    let count = problem.initial.iter().map(|i| i.threads.size()).max();
    let initial = vec![model.initial(if any { None } else { count })];
    let targets = problem.targets.iter().map(|t| {
        let property = t.property.as_deref().expect("programs are asked about properties");
        t.with_configs(model.bad(property).expect("asked before"))
    });
    let targets = targets.collect();
    Problem { initial, targets, model, initial_text: String::new(), bound: problem.bound }
}

#[test]
#[allow(clippy::print_stdout)]
fn random_programs_have_certificates() {
    let (count, seed) = (number("THRONG_RANDOM", 60), number("THRONG_SEED", 1));
    let schema = schema();
    let (mut certificates, mut tested) = (0, 0);
    for i in 0..count {
        let mut rng = throng_dev::Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(i));
        let knobs = programs::Knobs::random(&mut rng);
        let text = programs::program(&mut rng, &knobs);
        let reading = Reading { keep_ended: rng.one_in(4), ..Reading::default() };
        let loaded =
            throng_lang::load::read(Source::new(format!("random {i}"), text.clone()), Format::Bp, &reading)
                .unwrap_or_else(|r| panic!("{text}\n{:?}", r.diagnostics));
        let label = text.split_whitespace().find_map(|w| w.strip_suffix(':')).filter(|w| !w.is_empty());
        let question = Question {
            threads: (!rng.one_in(3)).then_some(2),
            initial: rng.one_in(2).then(|| "any".into()),
            error_labels: label.map(str::to_string).into_iter().collect(),
            ..Question::default()
        };
        let Ok(posed) = question.pose(&loaded, Path::new("")) else { continue };
        certificates += all_engines(&loaded, &reading, &posed.problem, &schema);
        // The interpreter against the engines' model, and against the laws of models.
        let own = interpreted(&posed.problem, &text, reading.keep_ended);
        if own.bound == Bound::Threads(2) {
            let explicit = throng_engine::explicit::Explicit { por: false, ..Default::default() };
            let truth = answers(&explicit, &posed.problem);
            let said = answers(&explicit, &own);
            for (a, b) in truth.iter().zip(&said) {
                use Verdict::{Safe, Unsafe};
                let differ = matches!((a, b), (Safe(_), Unsafe(_)) | (Unsafe(_), Safe(_)));
                assert!(!differ, "{text}\n{a:?}\n{b:?}");
            }
        }
        let configs: Vec<_> = own.initial.iter().flat_map(|f| (0..=2).flat_map(|n| f.of_size(n))).collect();
        let mut more = Vec::new();
        for c in &configs {
            throng_model::semantics::successors(&*own.model, c, None, &mut more).expect("few threads");
        }
        let mut all = configs;
        all.extend(more.into_iter().map(|m| m.1).take(12));
        tested += laws(&*own.model, &all).unwrap_or_else(|why| panic!("{text}\n{why}"));
    }
    println!("{count} programs from seed {seed}: {certificates} certificates, {tested} instances of laws");
    assert!(certificates as u64 > count);
}

/// A random table as an input.
fn as_input(table: throng_dev::Signals) -> Loaded {
    let system = System {
        table: Arc::new(table.table),
        initial: Vec::new(),
        initial_text: String::new(),
        targets: Vec::new(),
        kind: Kind::Tts,
        complements: Vec::new(),
        meanings: Vec::new(),
    };
    let source = Arc::new(Source::new("random", "random"));
    Loaded { source, format: Format::Tts, input: Input::System(system), warnings: Vec::new() }
}

#[test]
fn random_systems_have_certificates() {
    let schema = schema();
    let mut certificates = 0;
    for seed in 0..number("THRONG_RANDOM", 150) {
        let mut rng = throng_dev::Rng::new(seed);
        let knobs = throng_dev::Knobs::default();
        let table = random_table(&mut rng, &knobs);
        let loaded = as_input(throng_dev::Signals { table, signals: Vec::new(), waiting: Vec::new() });
        let Input::System(system) = &loaded.input else { unreachable!("just made") };
        let bound = if rng.chance(50) { Bound::Threads(3) } else { Bound::Any };
        let asked = random_problem(&mut rng, &knobs, system.table.clone(), bound);
        for engine in engines(&asked) {
            let verdicts = answers(&*engine, &asked);
            let bytes = written(&loaded, &Reading::default(), &asked, &verdicts);
            fits(&schema, &bytes, engine.name());
            let document = read(&bytes).unwrap_or_else(|f| panic!("{f}"));
            match certify(&Asked::Own(&loaded), &document, &Limits::none()) {
                Ok(certified) => certificates += certified.answers.len(),
                Err(fault) if document.targets.is_empty() => {
                    assert!(fault.to_string().contains("answers nothing"))
                }
                Err(fault) => panic!("seed {seed}, {}: {fault}", engine.name()),
            }
        }
        if bound == Bound::Threads(3) {
            assert_eq!(naive(&asked, 3).len(), asked.targets.len());
        }
    }
    assert!(certificates > 400, "{certificates}");
}

#[test]
fn a_certificate_of_something_else_is_invalid() {
    let folder = Path::new(throng_dev::ROOT).join("examples");
    let load = |name: &str| {
        load(&folder.join(name), &Reading::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics))
    };
    let (safe, broken) = (load("spinlock.bp"), load("spinlock-broken.bp"));
    let problem = problem(&safe, Path::new(""), &Question::default());
    let verdicts = answers(&throng_engine::views::Views::default(), &problem);
    let bytes = written(&safe, &Reading::default(), &problem, &verdicts);
    let certified = judge(&safe, &bytes).unwrap_or_else(|f| panic!("{f}"));
    assert!(certified.notes.is_empty());
    assert_eq!(certified.answers.len(), 1);
    assert!(matches!(judge(&broken, &bytes), Err(Fault::Invalid(_))));
    assert!(matches!(judge(&load("mutex.ntts"), &bytes), Err(Fault::Invalid(_))));
    // Comments, layout and line numbers do not matter, but there is a warning.
    let text = format!("// new\n\n{}", safe.source.text.replace("  ", "    "));
    let source = Source::new("edited", text);
    let edited = throng_lang::load::read(source, Format::Bp, &Reading::default())
        .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let certified = judge(&edited, &bytes).unwrap_or_else(|f| panic!("{f}"));
    assert!(certified.notes[0].contains("has changed"));
}

#[test]
fn what_is_no_certificate_is_unreadable() {
    for text in
        ["", "{}", "[]", "nonsense", "{\"format\":\"throng-certificate\",\"version\":2}", "\u{0}\u{1}"]
    {
        assert!(matches!(read(text.as_bytes()), Err(Fault::Unreadable(_))), "{text}");
    }
}

// ── the command ──

const LOCK: &str =
    "decl l := 0;\nvoid main() begin while * do l := 1 constrain !l; C: assert l; l := 0; od end\n";

#[test]
fn a_certificate_is_written_checked_and_reused() {
    let scratch = Scratch::new("old");
    let (program, certificate) = (scratch.file("lock.bp", LOCK), scratch.0.join("lock.json"));
    let (program, certificate) = (program.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let (status, out, _) = run(&["check", program, "--mutex", "C", "--certificate", certificate]);
    assert_eq!(status, Some(0), "{out}");
    assert!(out.contains("proof:") && out.contains("certified in"), "{out}");
    let (status, out, _) = run(&["certify", program, certificate, "--mutex", "C"]);
    assert!(status == Some(0) && out.starts_with("VALID  "), "{out}");
    assert!(out.contains("SAFE   mutex C  by ") && out.contains("initial: any number of threads"), "{out}");
    // Only comments and names that do not occur in the certificate have changed.
    scratch.file("lock.bp", format!("// again\n{}", LOCK.replace("C: ", "C:\n  ")));
    let (status, out, _) = run(&["check", program, "--mutex", "C", "--reuse", certificate]);
    assert!(status == Some(0) && out.contains("engine:  reuse"), "{out}");
    // The lock is gone: the old evidence does not hold, and a search finds out why.
    scratch.file("lock.bp", LOCK.replace(" constrain !l", ""));
    let (status, out, _) = run(&["certify", program, certificate]);
    assert!(status == Some(10) && out.starts_with("INVALID  target `"), "{out}");
    let (status, out, _) = run(&["check", program, "--mutex", "C", "--reuse", certificate]);
    assert!(status == Some(10) && out.starts_with("UNSAFE") && !out.contains("reuse"), "{out}");
}

#[test]
fn exit_status_two_is_for_what_cannot_be_read() {
    let scratch = Scratch::new("unreadable");
    let program = scratch.file("lock.bp", LOCK);
    let program = program.to_str().expect("UTF-8");
    for text in ["", "{}", "\u{0}", "{\"format\":\"throng-certificate\",\"version\":1}"] {
        let certificate = scratch.file("bad.json", text);
        let (status, out, err) = run(&["certify", program, certificate.to_str().expect("UTF-8")]);
        assert!(
            status == Some(2) && out.is_empty() && err.contains("bad.json: this is not a certificate"),
            "{err}"
        );
        let (status, ..) = run(&["check", program, "--reuse", certificate.to_str().expect("UTF-8")]);
        assert_eq!(status, Some(2));
    }
    assert_eq!(run(&["certify", program, "no/such/file"]).0, Some(2));
    assert_eq!(run(&["certify", "no/such/file.bp", "no/such/file"]).0, Some(2));
    // Nothing is left of a certificate that could not be written.
    let (status, _, err) = run(&["check", program, "--certificate", "/no/such/folder/x.json"]);
    assert!(status == Some(2) && err.contains("cannot write"), "{err}");
}

#[test]
fn verdicts_that_were_not_checked_are_marked() {
    let scratch = Scratch::new("no-files");
    let program = scratch.file("lock.bp", LOCK);
    let program = program.to_str().expect("UTF-8");
    let (_, out, _) = run(&["check", program, "--no-check", "--engine", "views"]);
    assert!(out.starts_with("SAFE") && out.contains("(unchecked)"), "{out}");
    // The default engine checks to choose among answers, whether asked to or not.
    let (_, out, _) = run(&["check", program, "--no-check"]);
    assert!(out.starts_with("SAFE") && !out.contains("unchecked"), "{out}");
}

/// A certificate, changed and written again.
fn changed(scratch: &Scratch, certificate: &str, change: impl Fn(&mut serde_json::Value)) -> String {
    let text = std::fs::read_to_string(certificate).expect("written");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    change(&mut value);
    scratch.file("changed.json", value.to_string()).to_str().expect("UTF-8").to_string()
}

/// The assertion fails. A certificate of something that always holds, with another name, must not
/// say otherwise.
#[test]
fn a_certificate_cannot_name_what_it_proves() {
    let scratch = Scratch::new("renamed");
    let program = scratch.file("race.bp", "decl g := 0; void main() begin g := 1; assert !g; end");
    let certificate = scratch.0.join("race.json");
    let (program, certificate) = (program.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let asked = ["--invariant", "g |\n!g"];
    let (status, out, err) = run(&[&["check", program, "--certificate", certificate], &asked[..]].concat());
    assert_eq!(status, Some(10), "{out}{err}");
    let renamed = changed(&scratch, certificate, |doc| {
        let mut targets = doc["targets"].as_array().expect("a list").clone();
        targets.retain(|t| t["verdict"] == "safe");
        targets.iter_mut().for_each(|t| t["name"] = "assertions".into());
        doc["targets"] = targets.into();
        doc["undecided"] = serde_json::json!(["\u{1b}[2K\rVALID"]);
        doc["input"]["name"] = "\u{1b}[2K\rVALID".into();
        doc["input"]["hash"] = "".into();
    });
    let (status, out, err) = run(&["certify", program, &renamed]);
    assert_eq!(status, Some(10), "{out}{err}");
    assert_eq!(out, "INVALID  answers another question: nothing is said about target `assertions`\n");
    let (status, out, err) = run(&["certify", program, &renamed, "--its-own-question"]);
    assert!(status == Some(0) && out.contains("SAFE   invariant g |\\u{a}!g  by "), "{out}{err}");
    assert!(!out.contains("assertions") && !out.contains("VALID\n"), "{out}");
    assert!(out.chars().all(|c| c == '\n' || !c.is_control()), "{out:?}");
    let (status, out, err) = run(&["certify", program, &renamed, "--its-own-question", "--json"]);
    let read: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(status == Some(0) && read["its_own_question"] == true, "{out}{err}");
    assert_eq!(read["targets"][0]["property"], serde_json::json!({"invariant": "g |\n!g"}));
    // Asked for, it is an answer, and so is that to the same question in other words; the assertion
    // is reached all the same.
    for invariant in ["g |\n!g", "!g | g"] {
        let (status, out, err) = run(&["certify", program, certificate, "--invariant", invariant]);
        assert!(status == Some(0) && out.contains("\nUNSAFE assertions  by "), "{out}{err}");
        assert!(!out.contains("not asked"), "{out}");
    }
    let (status, out, err) = run(&["certify", program, certificate]);
    assert!(status == Some(0) && out.contains("(not asked)"), "{out}{err}");
    // What is quoted in messages is printable, too.
    let strange = changed(&scratch, certificate, |doc| doc["\u{1b}[2K"] = 1.into());
    let (status, out, err) = run(&["certify", program, &strange]);
    assert!(
        status == Some(2) && out.is_empty() && err.contains("\\u{1b}") && !err.contains('\u{1b}'),
        "{err:?}"
    );
    let empty = changed(&scratch, certificate, |doc| doc["targets"] = serde_json::json!([]));
    for own in [&["--its-own-question"][..], &[]] {
        let (status, out, err) = run(&[&["certify", program, &empty], own].concat());
        assert!(status == Some(10) && out.starts_with("INVALID  it answers nothing"), "{out}{err}");
    }
}

/// A file and the question of its certificate, the file and the question that it is shown to, and
/// why that is another one.
type Shown<'a> = (&'a str, &'a [&'a str], &'a str, &'a [&'a str], &'a str);

/// Whatever differs from the question of the file and the options: start, bound, targets, how the
/// input is read, or all of it.
#[test]
fn an_answer_to_another_question_is_invalid() {
    let scratch = Scratch::new("another-question");
    let net = |rest: &str| format!("vars x y rules x >= 1 -> x' = x - 1, y' = y + 1; {rest}");
    let program = "decl g := 0; void main() begin A: g := 1; B: g := 0; end";
    let lock = "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n1|1,1\n";
    let path = |name: &str, text: &str| scratch.file(name, text).to_str().expect("UTF-8").to_string();
    let empty = path("empty.spec", &net("init x = 0, y = 0 target y >= 1"));
    let full = path("full.spec", &net("init x = 1, y = 0 target y >= 1"));
    let open = path("open.spec", &net("init y = 0 target y >= 1"));
    let lock = path("lock.tts", lock);
    let program = path("program.bp", program);
    let label = ["--error-label", "A", "--threads", "2"];
    let cases: Vec<Shown> = vec![
        (&empty, &[], &full, &[], "it starts with `0|`, the question with `x = 1, y = 0`"),
        (&full, &[], &empty, &[], "it starts with `0|x`, the question with `x = 0, y = 0`"),
        (&open, &[], &open, &["--init-free"], "it starts with `0|`"),
        (&empty, &["--target", "|y,y"], &empty, &[], "nothing is said about target `y >= 1`"),
        (&lock, &["--initial", "1|1"], &lock, &[], "it starts with `1|1`, the question with `0/0"),
        (
            &lock,
            &["--threads", "1"],
            &lock,
            &[],
            "its number of threads is at most 1, that of the question any number",
        ),
        (
            &lock,
            &[],
            &lock,
            &["--threads", "3"],
            "its number of threads is any number, that of the question at most 3",
        ),
        (&lock, &["--target", "0|1"], &lock, &[], "nothing is said about target `1|1,1`"),
        (
            &program,
            &["--mutex", "A"],
            &program,
            &["--error-label", "A"],
            "nothing is said about target `error label A`",
        ),
        (&program, &["--initial", "1"], &program, &[], "it starts with `1 thread at the entry of main`"),
        (
            &program,
            &label,
            &program,
            &["--error-label", "A", "--threads", "2", "--no-slot-reuse"],
            "a thread that has ended",
        ),
    ];
    let certificate = scratch.0.join("certificate.json");
    let certificate = certificate.to_str().expect("UTF-8");
    for (of, asked, shown, options, why) in cases {
        let check = [&["check", of, "-q", "--certificate", certificate], asked].concat();
        let (status, out, err) = run(&check);
        assert!(matches!(status, Some(0 | 10)), "{check:?}: {out}{err}");
        let (status, out, err) = run(&[&["certify", of, certificate], asked].concat());
        assert_eq!(status, Some(0), "{check:?}: {out}{err}");
        let (status, out, err) = run(&[&["certify", shown, certificate], options].concat());
        let said = out.strip_prefix("INVALID  answers another question: ");
        assert!(
            status == Some(10) && said.is_some_and(|s| s.contains(why)),
            "{check:?}, {options:?}: {out}{err}"
        );
        let (_, out, err) = run(&["certify", of, certificate, "--its-own-question"]);
        let first = out.lines().next().unwrap_or_default();
        assert_eq!(first, format!("VALID  {of}  for the certificate's own question"), "{out}{err}");
        assert!(out.contains("\nquestion: stated by the certificate; "), "{out}");
    }
    // Very many targets are compared at once.
    let many: String = (1..20_000).map(|i| format!("0|0,{i}\n")).collect();
    let many = path("many.tts", &format!("1 20000\n{many}"));
    run(&["check", &many, "-q", "--engine", "views", "--certificate", certificate]);
    assert_eq!(run(&["certify", &many, certificate, "--timeout", "600"]).0, Some(0));
    // Without a bound, nothing depends on who has ended; and a wrong question is refused.
    run(&["check", &program, "-q", "--certificate", certificate]);
    assert_eq!(run(&["certify", &program, certificate, "--no-slot-reuse"]).0, Some(0));
    assert_eq!(run(&["certify", &program, certificate, "--target", "0|1"]).0, Some(2));
    assert_eq!(run(&["certify", &program, certificate, "--its-own-question", "--threads", "2"]).0, Some(2));
    // A part of an answer.
    let two = path("two.tts", "2 3\n0 0 -> 1 1\n1 1 -> 0 0\n1|1,1\n0|2\n");
    run(&["check", &two, "-q", "--certificate", certificate]);
    let part = changed(&scratch, certificate, |doc| _ = doc["targets"].as_array_mut().expect("a list").pop());
    let (status, out, _) = run(&["certify", &two, &part]);
    assert!(status == Some(10) && out.contains("nothing is said about target `0|2`"), "{out}");
    // Where one target is reached, the others do not matter for the verdict.
    let both = path("both.tts", "2 3\n0 0 -> 1 1\n1 1 -> 0 0\n1|1\n0|2\n");
    run(&["check", &both, "-q", "--certificate", certificate]);
    let part = changed(&scratch, certificate, |doc| _ = doc["targets"].as_array_mut().expect("a list").pop());
    let (status, out, _) = run(&["certify", &both, &part]);
    assert!(status == Some(0) && out.contains("UNSAFE 1|1  by"), "{out}");
}

/// A certificate of a cutoff answers what `cutoff` asks, and not what `check` does.
#[test]
fn a_cutoff_answers_the_question_of_cutoff() {
    let scratch = Scratch::new("cutoff-question");
    let system = scratch.file("lock.tts", "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n1|1,1\n");
    let certificate = scratch.0.join("cutoff.json");
    let (system, certificate) = (system.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let (status, out, err) = run(&["cutoff", system, "--certificate", certificate]);
    assert_eq!(status, Some(0), "{out}{err}");
    let questions: [(&[&str], Option<i32>, &str); 5] = [
        (&[], Some(0), "VALID"),
        (&["--initial", "0/0"], Some(0), "VALID"),
        (&["--initial", "1|1"], Some(10), "INVALID  answers another question: it starts with"),
        (&["--threads", "2"], Some(10), "INVALID  answers another question: its number of threads"),
        (&["--target", "1|1,1"], Some(10), "INVALID  answers another question: nothing is said about target"),
    ];
    for (question, expected, said) in questions {
        let (status, out, err) = run(&[&["certify", system, certificate], question].concat());
        assert!(status == expected && out.starts_with(said), "{question:?}: {out}{err}");
        let second_says = second(&[&[system, certificate], question].concat());
        let word = if expected == Some(0) { "  VALID" } else { "  INVALID answers another question" };
        assert!(second_says.is_none_or(|second_says| second_says.contains(word)), "{question:?}");
    }
}

/// Five threads are not needed for a state that no thread reaches.
#[test]
#[allow(clippy::print_stdout)] // what was skipped
fn what_needs_so_many_threads_must_be_reached() {
    let scratch = Scratch::new("needed");
    let (system, certificate) = (scratch.file("one.tts", "1 2\n"), scratch.0.join("one.json"));
    let (system, name) = (system.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let (status, out, err) = run(&["cutoff", system, "--initial", "0/0", "--certificate", name]);
    assert!(status == Some(0) && out.starts_with("cutoff 1:"), "{out}{err}");
    let text = std::fs::read_to_string(&certificate).expect("written");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["states"]["local"] = serde_json::json!(["0", "1"]);
    value["cutoff"]["threads"] = 5.into();
    let few: Vec<serde_json::Value> = (1..5).map(|n| serde_json::json!([0, [[0, n]]])).collect();
    let few = [vec![serde_json::json!([0, []])], few].concat();
    value["cutoff"]["needed"] = serde_json::json!({"state": [0, 1], "configurations": few});
    std::fs::write(&certificate, value.to_string()).expect("written");
    let (status, out, err) = run(&["certify", system, name]);
    assert!(status == Some(10) && out.contains("not among those reached"), "{out}{err}");
    match second(&[system, name]) {
        None => println!("skipped: python3 cannot be run"),
        Some(says) => assert!(says.contains("INVALID the needed state is not reached"), "{says}"),
    }
}

/// The interpreter gives up on a statement with too many cases, and then nothing is known about
/// what fewer threads reach.
#[test]
fn what_the_interpreter_gives_up_on_is_not_ruled_out() {
    let scratch = Scratch::new("gave-up");
    let bits: Vec<String> = (1..=16).map(|i| format!("b{i}")).collect();
    let all = bits.join(" ^ ");
    let variables: String = bits.iter().map(|b| format!("decl {b} := 0; ")).collect();
    let text = format!(
        "decl a := 1; {variables} void main() begin if ((a ^ {all}) & !({all})) then LT: skip; fi; end"
    );
    let program = scratch.file("cases.bp", &text);
    let zero: serde_json::Map<_, _> = bits.iter().map(|b| (b.clone(), 0.into())).collect();
    let mut known = zero;
    known.insert("a".into(), 1.into());
    let at = |place: &str| serde_json::json!({"at": place, "values": {}});
    let certificate = serde_json::json!({
        "format": "throng-certificate", "version": 1, "tool": "throng",
        "input": {"name": "cases.bp", "kind": "bp", "hash": ""},
        "problem": {"initial": {"main": "any"}, "bound": "any", "slot_reuse": true, "init_free": false},
        "states": {"shared": [{"values": known}, {"values": {}}],
            "local": [at("main:+0"), at("main:LT"), at("main:LT+1")]},
        "targets": [],
        "evidence": [{"downward": {"configurations": [[0, [[0, "any"], [1, "any"], [2, "any"]]]]}}],
        "cutoff": {
            "threads": 2, "rest": 0, "except": [], "reachable": [[0, 0, 0], [0, 1, 1], [0, 2, 2]],
            "runs": [[null, null, [0, [[0, 1]]]], [0, 0, [0, [[1, 1]]]], [1, 1, [0, [[2, 1]]]]],
            // Not so: one thread reaches LT. But with all variables open, the condition has too
            // many cases.
            "needed": {"state": [0, 1], "configurations": [[1, []], [1, [[0, 1]]], [1, [[2, 1]]]]}
        }
    });
    let certificate = scratch.file("cases.json", certificate.to_string());
    let (program, certificate) = (program.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
    let (status, out, err) = run(&["certify", program, certificate]);
    assert!(status == Some(1) && out.contains("too many cases"), "{out}{err}");
}

/// Certificates that ask for billions of steps: INVALID, which is said before the limit is reached.
#[test]
fn absurd_certificates_are_invalid_and_not_too_much_work() {
    let scratch = Scratch::new("absurd");
    let certificate = |kind: &str, initial: serde_json::Value, bound: serde_json::Value| {
        serde_json::json!({
            "format": "throng-certificate", "version": 1, "tool": "throng",
            "input": {"name": "", "kind": kind, "hash": ""},
            "problem": {"initial": initial, "bound": bound, "slot_reuse": true, "init_free": false},
            "states": {"shared": [], "local": []}, "targets": [], "evidence": [],
        })
    };
    let mut many = certificate("bp", serde_json::json!({"main": 4_000_000_000_u32}), "any".into());
    many["states"] = serde_json::json!({
        "shared": [{"values": {"x": 0}}],
        "local": [{"at": "main:+0", "values": {"main:y": 0}}, {"at": "main:+0", "values": {}}]});
    many["targets"] =
        serde_json::json!([{"name": "t", "property": "assertions", "verdict": "safe", "evidence": 0}]);
    many["evidence"] = serde_json::json!([{"closed": {"configurations": [[0, [[0, 1]]]]}}]);
    let family =
        serde_json::json!({"families": [{"shared": 0, "threads": [[0, 2_147_483_647_u32]], "any": [0]}]});
    let mut open = certificate("spec", family, serde_json::json!({"tokens": u32::MAX}));
    open["states"] = serde_json::json!({"shared": ["0"], "local": ["a", "b"]});
    open["targets"] = serde_json::json!([{"name": "t", "property": {"covers": [[0, [[1, 5]]]]}, "verdict": "safe", "evidence": 0}]);
    open["evidence"] = serde_json::json!([{"closed": {"configurations": [[0, [[0, 2_147_483_647_u32]]]]}}]);
    let chain = 20_000;
    let family = serde_json::json!({"families": [{"shared": 0, "threads": [], "any": [0]}]});
    let mut long = certificate("tts", family, "any".into());
    long["states"] = serde_json::json!({"shared": ["0", (chain - 1).to_string()], "local": ["0", "1"]});
    long["targets"] = serde_json::json!([{"name": "t", "property": {"covers": [[1, [[1, 1]]]]}, "verdict": "safe", "evidence": 0}]);
    let views = serde_json::json!([[0, [0], null], [1, [0], null]]);
    long["evidence"] = serde_json::json!([{"through": {"kept": [0, 1], "merged": [],
        "proof": {"invariants": {"views": views, "vectors": [], "basis": []}}}}]);
    // Two ways from each state to the next.
    let steps: String = (1..chain).map(|i| format!("{0} 0 -> {i} 0\n{0} 1 -> {i} 1\n", i - 1)).collect();
    for (name, input, certificate) in [
        (
            "many.bp",
            "decl x := 0; void main() begin decl y; y := *; if y then x := 1; fi; assert(x | !y); end".into(),
            many,
        ),
        (
            "open.spec",
            "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 1, b = 0 target b >= 5".into(),
            open,
        ),
        ("long.tts", format!("{chain} 2\n{steps}"), long),
    ] {
        let certificate = scratch.file(&format!("{name}.json"), certificate.to_string());
        let input = scratch.file(name, &input);
        let (input, certificate) = (input.to_str().expect("UTF-8"), certificate.to_str().expect("UTF-8"));
        let (status, out, err) =
            run(&["certify", "--its-own-question", input, certificate, "--timeout", "600"]);
        assert_eq!(
            (status, out.split_whitespace().next()),
            (Some(10), Some("INVALID")),
            "{name}: {out}{err}"
        );
    }
}

type Damage<'a> = &'a dyn Fn(&mut serde_json::Value);

#[test]
fn cutoffs_have_certificates() {
    let (schema, scratch) = (schema(), Scratch::new("cutoffs"));
    let mut count = 0;
    for name in [
        "cutoff.bp",
        "rwlock.bp",
        "spinlock.bp",
        "producer.bp",
        "mutex.ntts",
        "winner.tts",
        "philosophers.spec",
    ] {
        let path = Path::new(throng_dev::ROOT).join("examples").join(name);
        let path = path.to_str().expect("UTF-8");
        for method in ["exact", "dynamic"] {
            let certificate = scratch.0.join(format!("{name}-{method}.json"));
            let written = certificate.to_str().expect("UTF-8");
            let args = ["cutoff", path, "--method", method, "--timeout", "20", "--certificate", written];
            let (status, out, err) = run(&args);
            if status != Some(0) {
                assert!(method == "exact" && out.starts_with("UNKNOWN"), "{name} {method}: {out}{err}");
                continue;
            }
            count += 1;
            let bytes = std::fs::read(&certificate).expect("written");
            fits(&schema, &bytes, name);
            let (status, certified, err) = run(&["certify", path, written]);
            assert_eq!(status, Some(0), "{name} {method}: {certified}{err}");
            let cutoff = out.split([' ', ':']).nth(1).expect("a number").to_string();
            assert!(
                certified.contains(&format!("CUTOFF {cutoff}: ")) && certified.contains("; fewer do not"),
                "{out}{certified}"
            );
            // Fewer threads, a state less, and another start prove nothing.
            let damage: [(&str, Damage); 3] = [
                ("threads", &|doc| {
                    doc["cutoff"]["threads"] = (cutoff.parse::<u32>().expect("a number") - 1).into()
                }),
                ("reachable", &|doc| _ = doc["cutoff"]["reachable"].as_array_mut().expect("a list").pop()),
                ("runs", &|doc| doc["cutoff"]["runs"].as_array_mut().expect("a list").truncate(1)),
            ];
            for (what, change) in damage {
                let mut doc = serde_json::from_slice(&bytes).expect("JSON");
                change(&mut doc);
                let changed = scratch.file("changed.json", doc.to_string());
                let (status, told, _) = run(&["certify", path, changed.to_str().expect("UTF-8")]);
                assert_eq!(status, Some(10), "{name} {method} {what}: {told}");
            }
        }
    }
    assert!(count >= 10, "{count}");
}

/// Both ways to find a cutoff; whether it was found, and then its certificate stands.
fn cutoff_stands(loaded: &Loaded, reading: &Reading, asked: &Problem, dynamic: bool) -> Option<Vec<u8>> {
    let karp_miller = throng_engine::karp_miller::KarpMiller::default();
    let limits = effort();
    let store = throng_engine::facts::FactStore::default();
    let method = match (dynamic, asked.model.moves_bystanders()) {
        (false, _) => Method::Exact(&karp_miller),
        (true, false) => Method::Dynamic(&karp_miller, &store),
        (true, true) => Method::Dynamic(&Backward, &store),
    };
    let found = cutoff(asked, &method, 1, &limits, &Silent).ok()?;
    let proof = runs::proof(asked, &found, &limits).ok()?;
    throng_check::rules::cutoff::check_cutoff(asked, &proof, &limits)
        .unwrap_or_else(|flaw| panic!("{flaw}\n{}", loaded.source.text));
    let document = cutoff_document(&Origin { loaded, reading, problem: asked }, &proof).expect("a document");
    let mut bytes = Vec::new();
    write(&document, &mut bytes).expect("memory takes everything");
    let text = &loaded.source.text;
    let told = judge(loaded, &bytes).unwrap_or_else(|fault| {
        panic!("dynamic: {dynamic}: {fault}\n{text}\n{}", String::from_utf8_lossy(&bytes))
    });
    assert_eq!(told.cutoff.expect("a cutoff").threads, found.threads);
    Some(bytes)
}

#[test]
#[allow(clippy::print_stdout)]
fn random_cutoffs_have_certificates() {
    let (count, seed) = (number("THRONG_RANDOM", 60), number("THRONG_SEED", 1));
    let (schema, scratch) = (schema(), Scratch::new("random-cutoffs"));
    let mut found = [0; 2];
    let mut python = Command::new("python3");
    python.arg(Path::new(throng_dev::ROOT).join("tools/certify.py"));
    let mut asked = 0;
    for i in 0..count {
        let mut rng = throng_dev::Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(i));
        let knobs = programs::Knobs::random(&mut rng);
        let text = programs::program(&mut rng, &knobs);
        let reading = Reading { exact_copies: true, ..Reading::default() };
        let loaded = throng_lang::load::read(Source::new("random", text), Format::Bp, &reading)
            .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let question = Question {
            may_lack_target: true,
            initial: rng.one_in(2).then(|| "any".into()),
            ..Question::default()
        };
        let program = problem(&loaded, Path::new(""), &question);
        let mut rng = throng_dev::Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(i));
        let text = small_system(&mut rng);
        let system =
            throng_lang::load::read(Source::new("system", text.clone()), Format::Tts, &Reading::default())
                .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let question = Question { may_lack_target: true, ..Question::default() };
        let systems = problem(&system, Path::new(""), &question);
        for dynamic in [false, true] {
            found[0] += usize::from(cutoff_stands(&loaded, &reading, &program, dynamic).is_some());
            let Some(bytes) = cutoff_stands(&system, &Reading::default(), &systems, dynamic) else {
                continue;
            };
            found[1] += 1;
            fits(&schema, &bytes, "a cutoff");
            if asked < 100 {
                python.arg(scratch.file(&format!("{i}.tts"), &text));
                python.arg(scratch.file(&format!("{i}-{dynamic}.json"), &bytes));
                asked += 1;
            }
        }
    }
    println!("{count} programs and systems from seed {seed}, two methods: {found:?} certificates of cutoffs");
    assert!(found.iter().all(|&n| n as u64 > count / 2), "{found:?}");
    match python.output() {
        Err(why) => println!("skipped: python3 cannot be run ({why})"),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout);
            assert_eq!(told.lines().filter(|l| l.ends_with("  VALID")).count(), asked, "{told}");
        }
    }
}

#[test]
fn cutoffs_of_programs_whose_words_overlap_have_certificates() {
    // With s read, `w` and `s` are known together; words with s open overlap those. And a variable
    // that a constraint reads without effect stays open for one model, and is split by the other.
    let read = "decl s; void main() begin decl w := 1; while w do w := s; od end";
    let split = "decl s; void main() begin decl a; s := s constrain schoose['a, 0]; skip; end";
    for text in [read, split] {
        let reading = Reading { exact_copies: true, ..Reading::default() };
        let loaded = throng_lang::load::read(Source::new("overlap", text), Format::Bp, &reading)
            .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let question = Question { may_lack_target: true, initial: Some("any".into()), ..Question::default() };
        let asked = problem(&loaded, Path::new(""), &question);
        for dynamic in [false, true] {
            assert!(cutoff_stands(&loaded, &reading, &asked, dynamic).is_some(), "{text}");
        }
    }
}

/// A random system as text.
fn small_system(rng: &mut throng_dev::Rng) -> String {
    let (shared, local) = (1 + rng.below(3), 2 + rng.below(4));
    let mut text = format!("{shared} {local}\n");
    for _ in 0..3 + rng.below(7) {
        let (s, l, t, m) = (rng.below(shared), rng.below(local), rng.below(shared), rng.below(local));
        let arrow = if rng.chance(15) { "+>" } else { "->" };
        text += &format!("{s} {l} {arrow} {t} {m}");
        if arrow == "->" && rng.chance(15) {
            text += &format!(" {} ~> {}", rng.below(local), rng.below(local));
        }
        text.push('\n');
    }
    text
}

#[test]
fn evidence_shrinks_and_still_stands() {
    // Single threads show that no thread reaches 2; pairs are needed to show that 1 is never
    // shared.
    let single = "2 3\n0 0 -> 0 1\n";
    let lock = "2 3\n0 0 -> 1 1\n1 1 -> 0 0\n";
    for (text, target, expected) in [(single, "0|2", true), (lock, "1|1,1", false)] {
        let loaded = throng_lang::load::read(Source::new("small", text), Format::Tts, &Reading::default())
            .unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let question = Question { targets: vec![target.into()], ..Question::default() };
        let asked = problem(&loaded, Path::new(""), &question);
        let verdicts = answers(&throng_engine::views::Views::default(), &asked);
        let smaller = throng_check::certificate::shrink(&asked, &verdicts, &Limits::none());
        let [Verdict::Safe(throng_model::verdict::Certificate::Views(views))] = &smaller[..] else {
            panic!("{smaller:?}");
        };
        assert_eq!(views.are_single(), expected, "{target}");
        let bytes = written(&loaded, &Reading::default(), &asked, &smaller);
        judge(&loaded, &bytes).unwrap_or_else(|f| panic!("{f}"));
    }
}
