//! Corrupted certificates: the checker rejects those that no longer prove their claim, and for each
//! that it accepts, others agree.
//!
//! Certificates of examples and of random systems and programs are changed in one place: an element
//! dropped, a count changed, steps swapped, a state renamed, the question or the verdict changed,
//! the input exchanged, and so on. Whatever is still accepted must (1) be true: a naive search,
//! asked the question that the mutant states, finds nothing else; and (2) be accepted by a second
//! checker: for systems and nets `tools/certify.py` and, where it is built, the proved checker,
//! which must agree about *every* mutant; for programs the same rules over the engines' compiled
//! model instead of the checker's interpreter.
//!
//! `THRONG_MUTANTS=200 cargo test --release -p throng-dev --test engines mutations:: -- --nocapture`
//! makes that many mutants of each certificate.

use throng_dev::harness as common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::certificates::{answers, effort, engines, judge, problem, proved, written};
use proptest::prelude::*;
use serde_json::{Value, json};
use throng_check::certificate::names::{LocalName, SharedName};
use throng_check::certificate::write::{Origin, cutoff_document, write};
use throng_check::certificate::{Claim, Count, Document, Most, Property, Start};
use throng_check::certify::{Fault, read, translate};
use throng_check::rules::check_all;
use throng_dev::{Rng, naive, programs};
use throng_engine::Silent;
use throng_engine::backward::Backward;
use throng_engine::cutoff::{Cutoff, Method, cutoff, runs};
use throng_engine::karp_miller::KarpMiller;
use throng_engine::reachability::Reachability;
use throng_lang::load::{Format, Loaded, Reading};
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

/// Threads that the naive search may use.
const FEW: u32 = 3;

/// An input and a certificate for it.
struct Case {
    name: String,
    loaded: Loaded,
    bytes: Vec<u8>,
}

fn input(name: &str, text: &str, format: Format) -> Loaded {
    throng_lang::load::read(Source::new(name, text), format, &Reading::default())
        .unwrap_or_else(|r| panic!("{text}\n{:?}", r.diagnostics))
}

/// A random system as text.
fn random_system(rng: &mut Rng) -> String {
    let (shared, local) = (2 + rng.below(2), 3 + rng.below(2));
    let mut text = format!("{shared} {local}\n");
    for _ in 0..4 + rng.below(6) {
        let (s, l, t, m) = (rng.below(shared), rng.below(local), rng.below(shared), rng.below(local));
        let arrow = if rng.chance(15) { "+>" } else { "->" };
        text += &format!("{s} {l} {arrow} {t} {m}");
        if arrow == "->" && rng.chance(20) {
            text += &format!(" {} ~> {}", rng.below(local), rng.below(local));
        }
        text.push('\n');
    }
    for _ in 0..2 {
        text += &format!("{}|{},{}\n", rng.below(shared), rng.below(local), rng.below(local));
    }
    text
}

const NET: &str = "vars a b c\nrules\na >= 1 -> a' = a-1, b' = b+1;\nb >= 2 -> b' = b-2, c' = c+1;\nc >= 1 -> c' = 0, a' = a+c;\ninit a = 1, b = 0, c = 0\ntarget c >= 1\nb >= 1";

/// Two workers and a lock; a thread that has finished never works again. Conditions on numbers, some
/// of which can be reached.
const CONTEST_NET: &str = "<pnml><net>
<place id='idle'><initialMarking><text>2</text></initialMarking></place><place id='busy'/><place id='done'/>
<place id='lock'><initialMarking><text>1</text></initialMarking></place>
<transition id='begin'/><transition id='end'/><transition id='finish'/>
<arc source='idle' target='begin'/><arc source='lock' target='begin'/><arc source='begin' target='busy'/>
<arc source='busy' target='end'/><arc source='end' target='idle'/><arc source='end' target='lock'/>
<arc source='idle' target='finish'/><arc source='finish' target='done'/></net></pnml>";
const FORMULAS: [&str; 5] = [
    // At most one is busy, as the lock and its holder are one.
    "<all-paths><globally><integer-le><tokens-count><place>busy</place></tokens-count><integer-constant>1</integer-constant></integer-le></globally></all-paths>",
    "<all-paths><globally><integer-eq><tokens-count><place>busy</place><place>lock</place></tokens-count><integer-constant>1</integer-constant></integer-eq></globally></all-paths>",
    // All finish, and then nothing can move; not while one is busy.
    "<exists-path><finally><deadlock/></finally></exists-path>",
    "<exists-path><finally><conjunction><deadlock/><integer-lt><tokens-count><place>done</place></tokens-count><integer-constant>2</integer-constant></integer-lt></conjunction></finally></exists-path>",
    "<exists-path><finally><conjunction><negation><is-fireable><transition>begin</transition></is-fireable></negation><integer-gt><tokens-count><place>idle</place></tokens-count><tokens-count><place>busy</place></tokens-count></integer-gt></conjunction></finally></exists-path>",
];

/// Answers about conditions.
fn conditions(folder: &Path) -> Vec<Case> {
    let mut found = Vec::new();
    let load = || input("net", CONTEST_NET, Format::Pnml);
    for (i, formula) in FORMULAS.iter().enumerate() {
        let path = folder.join(format!("formula{i}.xml"));
        let text = format!(
            "<property-set><property><id>f{i}</id><formula>{formula}</formula></property></property-set>"
        );
        std::fs::write(&path, text).expect("written");
        let asked = problem(&load(), Path::new(""), &Question { prop: Some(path), ..Question::default() });
        let verdicts = answers(&Reachability::default(), &asked);
        assert!(verdicts.iter().all(|v| v.evidence().is_some()), "{formula}: {verdicts:?}");
        let bytes = written(&load(), &Reading::default(), &asked, &verdicts);
        // Nothing that this one is about is lost if those that have finished are not counted; the
        // proof may say so itself.
        let mut doc: Value = serde_json::from_slice(&bytes).expect("JSON");
        if i == 1 && doc["evidence"][0].get("through").is_none() {
            let places = doc["states"]["local"].as_array_mut().expect("places");
            places.retain(|place| place != "done");
            places.push(json!("done"));
            let done = places.len() - 1;
            let proof = doc["evidence"][0].take();
            doc["evidence"][0] =
                json!({ "through": { "kept": [0], "merged": [[null, [done]]], "proof": proof } });
            let bytes = serde_json::to_vec(&doc).expect("JSON");
            found.push(Case { name: format!("formula {i}, quotient"), loaded: load(), bytes });
        }
        found.push(Case { name: format!("formula {i}"), loaded: load(), bytes });
    }
    found
}

/// The cutoff of a problem, if it is found soon.
fn found_cutoff(asked: &Problem) -> Option<Cutoff> {
    let karp_miller = KarpMiller::default();
    let exact = Method::Exact(&karp_miller);
    let store = throng_engine::facts::FactStore::default();
    let method = if asked.model.moves_bystanders() { Method::Dynamic(&Backward, &store) } else { exact };
    cutoff(asked, &method, 1, &effort(), &Silent).ok()
}

/// Cutoffs of examples and random systems.
fn cutoffs() -> Vec<Case> {
    let folder = Path::new(throng_dev::ROOT).join("examples");
    let reading = Reading { exact_copies: true, ..Reading::default() };
    let mut inputs: Vec<Loaded> =
        ["mutex.ntts", "winner.tts", "philosophers.spec", "cutoff.bp", "spinlock.bp"]
            .iter()
            .map(|name| {
                throng_lang::load::load(&folder.join(name), &reading)
                    .unwrap_or_else(|r| panic!("{:?}", r.diagnostics))
            })
            .collect();
    for seed in 100..112 {
        inputs.push(input("system", &random_system(&mut Rng::new(seed)), Format::Tts));
    }
    let question = Question { may_lack_target: true, ..Question::default() };
    let mut found = Vec::new();
    for loaded in inputs {
        let asked = problem(&loaded, Path::new(""), &question);
        let Some(known) = found_cutoff(&asked) else { continue };
        let proof = runs::proof(&asked, &known, &Limits::none()).expect("small");
        let origin = Origin { loaded: &loaded, reading: &reading, problem: &asked };
        let mut bytes = Vec::new();
        write(&cutoff_document(&origin, &proof).expect("a document"), &mut bytes).expect("memory");
        found.push(Case { name: format!("cutoff of {}", loaded.source.name), loaded, bytes });
    }
    assert!(found.len() > 8);
    found
}

/// Returns whether a search contradicts what a certificate says about a cutoff; `None` if it cannot
/// be asked.
fn cutoff_contradicted(problem: &Problem, document: &Document) -> Option<bool> {
    let claim = document.cutoff.as_ref()?;
    let truth = found_cutoff(problem)?;
    Some(claim.threads < truth.threads || claim.needed.is_some() && claim.threads != truth.threads)
}

fn cases(scratch: &Path) -> Vec<Case> {
    let mut found = conditions(scratch);
    let mut add = |name: &str, loaded: &dyn Fn() -> Loaded, path: &Path, question: &Question| {
        let asked = problem(&loaded(), path, question);
        for engine in engines(&asked) {
            // The others, by themselves, do not know deadlocks.
            if question.deadlock && engine.name() != "auto" {
                continue;
            }
            let input = loaded();
            let verdicts = answers(&*engine, &asked);
            if verdicts.iter().all(|v| matches!(v, Verdict::Unknown(_))) {
                continue;
            }
            let large = |v: &Verdict| v.evidence().is_some_and(|e| e.1 > 3000);
            if verdicts.iter().any(large) {
                continue;
            }
            // The question was put to another reading of the same text.
            let bytes = written(&input, &Reading::default(), &asked, &verdicts);
            found.push(Case { name: format!("{name} by {}", engine.name()), loaded: input, bytes });
        }
    };
    let folder = Path::new(throng_dev::ROOT).join("examples");
    for name in [
        "mutex.ntts",
        "mutex-broken.ntts",
        "winner.tts",
        "philosophers.spec",
        "spinlock.bp",
        "spinlock-broken.bp",
        "rwlock.bp",
        "producer.bp",
        "cutoff.bp",
    ] {
        let path = folder.join(name);
        let load = || {
            throng_lang::load::load(&path, &Reading::default())
                .unwrap_or_else(|r| panic!("{:?}", r.diagnostics))
        };
        for threads in [None, Some(2)] {
            add(name, &load, &path, &Question { threads, ..Question::default() });
            if !name.ends_with(".bp") {
                add(name, &load, &path, &Question { threads, deadlock: true, ..Question::default() });
            }
        }
    }
    add("net", &|| input("net", NET, Format::Spec), Path::new(""), &Question::default());
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let text = random_system(&mut rng);
        add(
            &format!("system {seed}"),
            &|| input("system", &text, Format::Tts),
            Path::new(""),
            &Question {
                threads: (seed % 3 == 0).then_some(3),
                deadlock: seed % 2 == 0,
                ..Question::default()
            },
        );
    }
    for seed in 0..6 {
        let mut rng = Rng::new(seed);
        let knobs = programs::Knobs::random(&mut rng);
        let text = programs::program(&mut rng, &knobs);
        let two = Question { threads: Some(2), ..Question::default() };
        add(&format!("program {seed}"), &|| input("program", &text, Format::Bp), Path::new(""), &two);
    }
    found.extend(cutoffs());
    found
}

// ── mutants ──

/// Paths to all values that satisfy a test.
fn paths(value: &Value, test: &dyn Fn(&str, &Value) -> bool) -> Vec<String> {
    fn go(at: &str, value: &Value, test: &dyn Fn(&str, &Value) -> bool, found: &mut Vec<String>) {
        if test(at, value) {
            found.push(at.to_string());
        }
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, v)| go(&format!("{at}/{i}"), v, test, found));
            }
            Value::Object(map) => map.iter().for_each(|(k, v)| {
                go(&format!("{at}/{}", k.replace('~', "~0").replace('/', "~1")), v, test, found);
            }),
            _ => {}
        }
    }
    let mut found = Vec::new();
    go("", value, test, &mut found);
    found
}

fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> Option<&'a T> {
    from.get(rng.below(from.len() as u64) as usize)
}

/// Applies one mutation and returns what was done; `None` if it does not apply.
fn mutate(doc: &mut Value, rng: &mut Rng) -> Option<&'static str> {
    let lists = |doc: &Value, least: usize| {
        let there = |at: &str, v: &Value| {
            (at.starts_with("/evidence")
                || at.starts_with("/cutoff")
                || at.starts_with("/states")
                || at.starts_with("/problem/initial/families"))
                && v.as_array().is_some_and(|a| a.len() >= least)
        };
        paths(doc, &there)
    };
    let numbers = |doc: &Value| {
        paths(doc, &|at, v| at.matches('/').count() > 1 && !at.starts_with("/version") && v.is_u64())
    };
    let kinds = if doc.get("cutoff").is_some() { 8 } else { 14 };
    Some(match rng.below(kinds) {
        0 | 1 => {
            let at = pick(rng, &lists(doc, 1))?.clone();
            let items = doc.pointer_mut(&at)?.as_array_mut()?;
            let i = rng.below(items.len() as u64) as usize;
            items.remove(i);
            "an element dropped"
        }
        2 => {
            let at = pick(rng, &lists(doc, 2))?.clone();
            let items = doc.pointer_mut(&at)?.as_array_mut()?;
            let (i, j) = (rng.below(items.len() as u64) as usize, rng.below(items.len() as u64) as usize);
            if items[i] == items[j] {
                return None;
            }
            items.swap(i, j);
            "two elements swapped"
        }
        3 => {
            let at = pick(rng, &lists(doc, 1))?.clone();
            let items = doc.pointer_mut(&at)?.as_array_mut()?;
            let i = rng.below(items.len() as u64) as usize;
            let twice = items[i].clone();
            items.insert(i, twice);
            "an element doubled"
        }
        4..=6 => {
            let at = pick(rng, &numbers(doc))?.clone();
            let value = doc.pointer_mut(&at)?;
            let n = value.as_u64()?;
            *value = match rng.below(6) {
                0 => json!("any"),
                1 => json!(u32::MAX),
                2 => json!(n.saturating_sub(1)),
                3 => json!(rng.below(4)),
                _ => json!(n + 1),
            };
            "a number changed"
        }
        7 => {
            let at = pick(rng, &paths(doc, &|at, v| at.starts_with("/states") && v.is_string()))?.clone();
            let others = paths(doc, &|at, v| at.starts_with("/states") && v.is_string());
            let other = doc.pointer(pick(rng, &others)?)?.clone();
            let value = doc.pointer_mut(&at)?;
            if *value == other {
                return None;
            }
            *value = other;
            "a state renamed"
        }
        8 => {
            let objects =
                paths(doc, &|at, v| at.ends_with("/values") && v.as_object().is_some_and(|o| !o.is_empty()));
            let values = doc.pointer_mut(pick(rng, &objects)?)?.as_object_mut()?;
            let key = values.keys().next()?.clone();
            values.remove(&key);
            "a value forgotten"
        }
        9 => {
            let at = pick(rng, &paths(doc, &|at, _| at.ends_with("/verdict")))?.clone();
            let value = doc.pointer_mut(&at)?;
            *value = json!(if value == "safe" { "unsafe" } else { "safe" });
            "the verdict flipped"
        }
        10 => {
            let value = doc.pointer_mut("/problem/bound")?;
            *value = match rng.below(3) {
                0 => json!("any"),
                1 => json!({ "threads": 1 + rng.below(4) }),
                _ => json!({ "tokens": rng.below(4) }),
            };
            "another bound"
        }
        11 => {
            let flag = ["/problem/slot_reuse", "/problem/init_free"][rng.below(2) as usize];
            let value = doc.pointer_mut(flag)?;
            *value = json!(!value.as_bool()?);
            "another reading"
        }
        12 => {
            let evidence = doc.pointer_mut("/evidence")?.as_array_mut()?;
            let i = rng.below(evidence.len() as u64) as usize;
            let body = evidence[i].as_object()?.values().next()?.clone();
            let kind = ["closed", "downward", "invariants", "trace"][rng.below(4) as usize];
            // A set of configurations stays one; a basis may become a closed set, and so on.
            let set = ["configurations", "basis"].iter().find_map(|key| body.get(key)).cloned();
            let inner = match (kind, set) {
                ("trace", _) | (_, None) => body,
                ("invariants", Some(set)) => json!({ "views": null, "vectors": [], "basis": set }),
                (_, Some(set)) => json!({ "configurations": set }),
            };
            evidence[i] = json!({ kind: inner });
            "another kind of evidence"
        }
        _ => {
            let value = doc.pointer_mut("/problem/initial")?;
            if let Some(main) = value.get_mut("main") {
                *main = if rng.chance(50) { json!("any") } else { json!(1 + rng.below(3)) };
            } else {
                let families = value.get_mut("families")?.as_array_mut()?;
                let family = families.first_mut()?;
                family["any"] = if rng.chance(50) { json!([]) } else { json!([rng.below(3)]) };
            }
            "another start"
        }
    })
}

// ── judges ──

/// The question that a certificate states, put as a user would; `None` where the command line has
/// no words for it.
fn question(document: &Document) -> Option<Question> {
    let mut question = Question {
        may_lack_target: document.cutoff.is_some(),
        threads: match document.problem.bound {
            Most::Any => None,
            Most::Threads(n) | Most::Tokens(n) => Some(n),
        },
        ..Question::default()
    };
    let shared = |i: u32| match document.states.shared.get(i as usize)? {
        SharedName::Name(name) => Some(name.clone()),
        SharedName::Values(_) => None,
    };
    let local = |i: u32| match document.states.local.get(i as usize)? {
        LocalName::Name(name) => Some(name.clone()),
        LocalName::Values(_) => None,
    };
    let listed = |threads: Vec<(u32, u32)>| -> Option<String> {
        let each = threads.into_iter().flat_map(|(l, n)| (0..n.min(9)).map(move |_| l));
        Some(each.map(local).collect::<Option<Vec<_>>>()?.join(","))
    };
    match &document.problem.initial {
        Start::Main(Count::Any(_)) => question.initial = Some("any".into()),
        Start::Main(Count::Exactly(n)) => question.initial = Some(n.to_string()),
        Start::Families(families) => {
            let [family] = &families[..] else { return None };
            let mut text = format!("{}|{}", shared(family.shared)?, listed(family.threads.clone())?);
            if !family.any.is_empty() {
                text += &format!(
                    "/{}",
                    family.any.iter().map(|&l| local(l)).collect::<Option<Vec<_>>>()?.join(",")
                );
            }
            question.initial = Some(text);
        }
    }
    for target in &document.targets {
        match &target.property {
            Property::Assertions => {}
            Property::ErrorLabel(l) => question.error_labels.push(l.clone()),
            Property::Mutex(l) => question.mutex.push(l.clone()),
            Property::AtMost(l) => question.at_most.push(l.clone()),
            Property::Never(t) => question.never.push(t.clone()),
            Property::Race(v) => question.races.push(v.clone()),
            Property::Deadlock => question.deadlock = true,
            Property::Stuck(place) => question.stuck.push(place.clone()),
            Property::Starvation(place) => question.starvation.push(place.clone()),
            // No question of the command line says it.
            Property::Satisfies(_) => return None,
            Property::Invariant(e) => question.invariants.push(e.clone()),
            Property::State(s) => question.targets.push(s.clone()),
            Property::Covers(configs) => {
                let [(s, threads)] = &configs[..] else { return None };
                let finite = threads.iter().map(|&(l, n)| match n {
                    Count::Exactly(n) => Some((l, n)),
                    Count::Any(_) => None,
                });
                question.targets.push(format!("{}|{}", shared(*s)?, listed(finite.collect::<Option<_>>()?)?));
            }
        }
    }
    Some(question)
}

/// The problem that a certificate states, over the engines' model.
fn stated(loaded: &Loaded, document: &Document) -> Option<(Loaded, Problem)> {
    let exact_copies = document.cutoff.is_some();
    let reading = Reading { exact_copies, ..throng_check::certify::reading(document, Some(loaded.format)) };
    let source = Source::new("again", loaded.source.text.clone());
    let again = throng_lang::load::read(source, loaded.format, &reading).ok()?;
    let problem = question(document)?.pose(&again, Path::new("")).ok()?.problem;
    (document.cutoff.is_some() || problem.targets.len() == document.targets.len()).then_some((again, problem))
}

/// Returns whether a naive search with few threads contradicts what a certificate says; `None` if
/// it cannot be asked.
fn contradicted(problem: &Problem, document: &Document) -> Option<bool> {
    let most = match problem.bound {
        Bound::Threads(n) => n.min(FEW),
        Bound::Any => FEW,
        Bound::Tokens(_) => return None,
    };
    let found = naive(problem, most);
    let claimed = document.targets.iter().zip(&problem.targets).zip(found);
    // The search knows what covers a configuration.
    let covering = claimed.filter(|((_, asked), _)| !asked.is_about_all_threads());
    Some(covering.into_iter().any(|((target, _), found)| match target.verdict {
        Claim::Safe => found.is_some(),
        // More threads may be needed.
        Claim::Unsafe => found.is_none() && problem.bound == Bound::Threads(most),
    }))
}

/// Returns whether the same rules over the compiled model accept the evidence.
fn stands_compiled(loaded: &Loaded, problem: &Problem, document: &Document) -> bool {
    let verdicts = translate(loaded, document, problem);
    let all: Option<Vec<(usize, &Verdict)>> =
        verdicts.iter().enumerate().map(|(i, v)| v.as_ref().map(|v| (i, v))).collect();
    all.is_some_and(|all| check_all(problem, &all, &Limits::none()).is_ok())
}

/// A mutant of a system, for the second and the proved checker.
struct ForOthers {
    input: PathBuf,
    certificate: PathBuf,
    accepted: bool,
    readable: bool,
    what: String,
}

/// Asks the second checker about all of them; how many it could not read. `None` if there is no
/// Python.
fn python(asked: &[ForOthers]) -> Option<usize> {
    let script = Path::new(throng_dev::ROOT).join("tools/certify.py");
    let mut skipped = 0;
    for chunk in asked.chunks(200) {
        let mut command = Command::new("python3");
        command.arg(&script).arg("--its-own-question");
        chunk.iter().for_each(|m| _ = command.arg(&m.input).arg(&m.certificate));
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), chunk.len(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        for (mutant, line) in chunk.iter().zip(lines) {
            let said = line.split_once("  ").map_or(line, |l| l.1);
            if said.starts_with("SKIPPED") {
                skipped += 1;
                continue;
            }
            assert_eq!(said.starts_with("VALID"), mutant.accepted, "{}: {line}", mutant.what);
            assert_eq!(!said.starts_with("UNREADABLE"), mutant.readable, "{}: {line}", mutant.what);
        }
    }
    Some(skipped)
}

/// Asks the proved checker about all of them; how many are about inputs that it does not read, and
/// how many it could not finish. `None` if it is not built.
fn proved_checker(asked: &[ForOthers]) -> Option<(usize, usize)> {
    let (mut skipped, mut unfinished) = (0, 0);
    for mutant in asked {
        let (input, certificate) = (mutant.input.to_str()?, mutant.certificate.to_str()?);
        let (status, told) = proved(&["--its-own-question", input, certificate])?;
        let expected = if mutant.accepted { 0 } else { 10 };
        if told.contains("not covered by this checker") {
            skipped += 1;
            continue;
        }
        if status == Some(1) {
            unfinished += 1;
            continue;
        }
        assert_eq!(status, Some(if mutant.readable { expected } else { 2 }), "{}: {told}", mutant.what);
    }
    assert!(
        unfinished * 100 <= asked.len(),
        "the proved checker did not finish {unfinished} of {}",
        asked.len()
    );
    Some((skipped, unfinished))
}

#[test]
#[allow(clippy::print_stdout)]
fn mutants_are_rejected_or_still_prove_their_claim() {
    let each: u64 = std::env::var("THRONG_MUTANTS").ok().and_then(|v| v.parse().ok()).unwrap_or(20);
    let scratch = common::Scratch::new("mutants");
    let folder = &scratch.0;
    let (mut made, mut accepted, mut unreadable, mut searched) = (0, 0, 0, 0);
    let mut by_kind: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut for_others = Vec::new();
    let cases = cases(folder);
    for (number, case) in cases.iter().enumerate() {
        let original: Value = serde_json::from_slice(&case.bytes).expect("JSON");
        judge(&case.loaded, &case.bytes).unwrap_or_else(|f| panic!("{}: {f}", case.name));
        let is_system = case.loaded.format != Format::Bp;
        let path = folder.join(format!("{number}.{}", case.loaded.format));
        if is_system {
            std::fs::write(&path, &case.loaded.source.text).expect("written");
        }
        let mut rng = Rng::new(number as u64);
        for k in 0..each {
            let mut doc = original.clone();
            let Some(kind) = mutate(&mut doc, &mut rng) else { continue };
            if doc == original {
                continue;
            }
            let bytes = serde_json::to_vec(&doc).expect("JSON");
            let verdict = judge(&case.loaded, &bytes);
            let what = format!("{} ({kind}): {verdict:?}\n{}\n{doc}", case.name, case.loaded.source.text);
            made += 1;
            by_kind.entry(kind).or_default().0 += 1;
            let is_accepted = verdict.is_ok();
            let readable = !matches!(verdict, Err(Fault::Unreadable(_)));
            unreadable += u32::from(!readable);
            assert!(!matches!(verdict, Err(Fault::Limit(_))), "{what}");
            if is_accepted {
                accepted += 1;
                by_kind.entry(kind).or_default().1 += 1;
                let document = read(&bytes).expect("accepted");
                if let Some((again, problem)) = stated(&case.loaded, &document) {
                    let wrong = match document.cutoff {
                        Some(_) => cutoff_contradicted(&problem, &document),
                        None => contradicted(&problem, &document),
                    };
                    if let Some(wrong) = wrong {
                        searched += 1;
                        assert!(!wrong, "accepted, but not true: {what}");
                    }
                    assert!(
                        is_system
                            || document.cutoff.is_some()
                            || stands_compiled(&again, &problem, &document),
                        "only one checker accepts: {what}"
                    );
                }
            }
            if is_system {
                let certificate = folder.join(format!("{number}-{k}.json"));
                std::fs::write(&certificate, &bytes).expect("written");
                let accepted = is_accepted;
                for_others.push(ForOthers { input: path.clone(), certificate, accepted, readable, what });
            }
        }
        // The certificate of another input.
        let other = &cases[(number + 1) % cases.len()];
        if other.loaded.source.text != case.loaded.source.text && judge(&other.loaded, &case.bytes).is_ok() {
            let document = read(&case.bytes).expect("accepted");
            let (_, problem) = stated(&other.loaded, &document).expect("a question");
            let wrong = contradicted(&problem, &document).filter(|_| document.cutoff.is_none());
            assert_ne!(wrong, Some(true), "{} on {}", case.name, other.name);
        }
    }
    let asked = for_others.len();
    let agreed = match python(&for_others) {
        Some(skipped) => {
            format!("the second checker agrees about {} of {asked} (skipped {skipped})", asked - skipped)
        }
        None => "no python3: the second checker was not asked".into(),
    };
    let agreed = match proved_checker(&for_others) {
        Some((skipped, unfinished)) => format!(
            "{agreed}; the proved checker about {} (skipped {skipped}, unfinished {unfinished})",
            asked - skipped - unfinished
        ),
        None => format!("{agreed}; the proved checker is not built"),
    };
    println!(
        "{} certificates, {made} mutants: {} rejected ({unreadable} unreadable), {accepted} accepted",
        cases.len(),
        made - accepted
    );
    println!("of the accepted, {searched} confirmed by a naive search; {agreed}");
    for (kind, (all, accepted)) in by_kind {
        println!("  {kind}: {all}, accepted {accepted}");
    }
    assert!(made > 20 * cases.len() / 2 && accepted > 0 && accepted * 2 < made);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let loaded = input("system", "2 2\n0 0 -> 1 1\n1|1,1\n", Format::Tts);
        prop_assert!(judge(&loaded, &bytes).is_err());
    }

    #[test]
    fn damaged_certificates_are_read_or_refused(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6)) {
        let loaded = input("program", "decl g := 0; void main() begin g := 1 constrain !g; assert g; end", Format::Bp);
        let asked = problem(&loaded, Path::new(""), &Question { threads: Some(2), ..Question::default() });
        let explicit = throng_engine::explicit::Explicit { por: false, ..Default::default() };
        let mut bytes = written(&loaded, &Reading::default(), &asked, &answers(&explicit, &asked));
        for (index, byte, how) in edits {
            let i = index.index(bytes.len());
            match how {
                0 => bytes[i] = byte,
                1 if bytes.len() > 1 => _ = bytes.remove(i),
                _ => bytes.truncate(i.max(1)),
            }
        }
        // Whatever it says, it says something.
        let _ = judge(&loaded, &bytes);
    }
}
