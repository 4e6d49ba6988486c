//! What is written in another format gives the same verdict when it is read back.
//!
//! Verdicts are for any number of threads, and two ways find them: a naive backward search, which
//! is exact for tables of steps, and hunting with a few threads, which also replays its runs.
//! Thread counts are not compared: a translation may need a helper.
//!
//! `THRONG_THOROUGH=1` takes minutes: larger systems go through all pairs of formats, too, and
//! there are more random ones.

use throng_dev::harness::inputs;
use throng_model::Predecessors;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use inputs::{examples, extension, hunt, loaded, pose};
use throng_dev::fuzz::oracles;
use throng_dev::harness::{Scratch, run};
use throng_dev::{Knobs, Rng, programs, random_problem, random_table};
use throng_lang::bp::printer;
use throng_lang::load::{self, Input, Loaded, Reading};
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_lang::system::{Kind, System, notation};
use throng_lang::write::{Format, Refusal, Written, write};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::{Config, Model, semantics};

const FORMATS: [Format; 5] = [Format::Bp, Format::Tts, Format::Ntts, Format::Spec, Format::Pnml];

/// Returns whether to take minutes: all pairs of formats for large systems too, and more random
/// ones.
fn thorough() -> bool {
    std::env::var_os("THRONG_THOROUGH").is_some()
}

/// Returns whether some target can be covered with any number of threads: backward search, as
/// simple as it gets. `None` if that becomes large.
fn coverable(system: &System) -> Option<bool> {
    let model = &*system.table;
    if model.traits().blocking.is_some() {
        return None;
    }
    let mut basis: Vec<Config> = Vec::new();
    let mut queue: Vec<Config> = system.targets.iter().flat_map(|t| t.configs.clone()).collect();
    while let Some(config) = queue.pop() {
        if basis.iter().any(|b| config.covers(b)) {
            continue;
        }
        if system.initial.iter().any(|i| i.omega().covers(&config)) {
            return Some(true);
        }
        basis.retain(|b| !b.covers(&config));
        let mut steps = Vec::new();
        model.pre_shared(config.shared, &mut steps).unwrap();
        for &(l, _) in config.threads.entries() {
            model.pre(config.shared, l, &mut steps).unwrap();
        }
        for step in &steps {
            semantics::unfire(model, &config, step, &mut queue).expect("few threads");
        }
        basis.push(config);
        if basis.len() > if thorough() { 1_500 } else { 300 } || queue.len() > 50_000 {
            return None;
        }
    }
    Some(false)
}

/// The problem as a table of steps; `Err` says why there is none.
fn as_system(loaded: &Loaded, problem: &Problem) -> Result<System, String> {
    oracles::as_system(loaded, problem, &Limits::none().timeout(Duration::from_secs(600)))
}

/// Reads what was written and poses what it asks.
fn reread(written: &Written, format: Format) -> (Loaded, Problem) {
    oracles::reread(written, format).unwrap_or_else(|why| panic!("{why}"))
}

/// What was compared.
#[derive(Default, Debug)]
struct Tally {
    /// Exact verdicts that agree.
    exact: usize,
    /// Hunts that agree.
    hunts: usize,
    /// Translations that the format cannot express.
    refused: usize,
}

/// A question, its answer for any number of threads, and whether a few threads are enough to see
/// it.
struct Known<'a> {
    name: &'a str,
    violated: bool,
    seen: bool,
    /// How many threads to hunt with.
    most: u32,
}

impl Tally {
    /// Writes, reads back, compares; the system that was read back, if there is one.
    fn compare(&mut self, system: &System, format: Format, known: &Known<'_>) -> Option<System> {
        let written = match write(system, format) {
            Ok(written) => written,
            Err(Refusal(why)) => {
                assert!(!why.is_empty());
                self.refused += 1;
                return None;
            }
        };
        if written.text.len() > 200_000 {
            return None;
        }
        let (loaded, problem) = reread(&written, format);
        let complain = |what: &str| -> ! {
            panic!("{} to {format:?}: {what}, but violated: {}\n{}", known.name, known.violated, written.text)
        };
        let again = match as_system(&loaded, &problem) {
            Ok(again) => again,
            // Bits can make a large table of a small one, and the machine may be busy.
            Err(why) if why.contains("time limit") => return None,
            Err(why) => complain(&why),
        };
        match coverable(&again) {
            Some(found) if found != known.violated => complain("the verdict changes"),
            Some(_) => self.exact += 1,
            None => {}
        }
        let work = if thorough() { 1 << 19 } else { 1 << 16 };
        if let Ok(found) = hunt(&problem, known.most, work) {
            let found = found.iter().any(Option::is_some);
            if found && !known.violated {
                complain("a violation is found");
            }
            self.hunts += usize::from(found || !known.seen);
        }
        Some(again)
    }

    /// To every format, and from there to every format again.
    fn compare_all(&mut self, system: &System, known: &Known<'_>) {
        for first in FORMATS {
            let Some(again) = self.compare(system, first, known) else { continue };
            for second in FORMATS {
                if again.table.steps().len() < if thorough() { 400 } else { 60 } {
                    let name = format!("{} to {first:?}", known.name);
                    self.compare(&again, second, &Known { name: &name, ..*known });
                }
            }
        }
        assert!(write(system, Format::Dot).is_ok_and(|w| w.text.starts_with("digraph")));
    }
}

#[test]
fn every_example_keeps_its_verdict_through_every_pair_of_formats() {
    let mut tally = Tally::default();
    let mut without_table = Vec::new();
    for path in examples().iter().filter(|p| extension(p) != "prop") {
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        let (loaded, problem) = (loaded(path), pose(path, None));
        let system = match as_system(&loaded, &problem) {
            Ok(system) => system,
            Err(why) => {
                assert!(why.contains("signal"), "{name}: {why}");
                without_table.push(name.to_string());
                continue;
            }
        };
        if name == "rockall.bp" {
            continue; // too large to hunt through with five threads
        }
        let found = hunt(&problem, 5, 1 << 26).expect("work enough");
        let seen = found.iter().any(Option::is_some);
        let violated = coverable(&system).unwrap_or(seen);
        assert_eq!(violated, seen, "{name}");
        assert_eq!(
            violated,
            name.contains("broken") || ["winner.tts", "cutoff.bp"].contains(&name),
            "{name}"
        );
        tally.compare_all(&system, &Known { name, violated, seen, most: 4 });
    }
    without_table.sort();
    assert_eq!(without_table, ["buffer-broken.bp", "buffer.bp"]);
    assert!(tally.exact > 100 && tally.hunts > 50 && tally.refused > 0, "{tally:?}");
}

/// A program that is written as a program is the same program.
#[test]
fn programs_print_as_themselves() {
    for path in examples().iter().filter(|p| extension(p) == "bp") {
        let Input::Program(program) = loaded(path).input else { panic!("a program") };
        let printed = Written {
            text: printer::print(program.tree()),
            companion: None,
            initial: None,
            start_must_be_given: false,
            notes: Vec::new(),
        };
        let (_, again) = reread(&printed, Format::Bp);
        let hunted = |p: &Problem| hunt(p, 3, 1 << 26).expect("work enough");
        let threads = |p: &Problem| -> Vec<_> {
            hunted(p).iter().map(|t| t.as_ref().map(|t| (t.threads(), t.steps.len()))).collect()
        };
        assert_eq!(threads(&again), threads(&pose(path, None)), "{}", path.display());
    }
}

#[test]
fn random_tables_keep_their_verdict() {
    let mut rng = Rng::new(5);
    let mut tally = Tally::default();
    let mut violations = 0;
    for round in 0..if thorough() { 300 } else { 40 } {
        let knobs = Knobs { block: 0, ..Knobs::default() };
        let table = Arc::new(random_table(&mut rng, &knobs));
        let problem = random_problem(&mut rng, &knobs, table.clone(), Bound::Any);
        // A file has one initial family and this test one target.
        let initial = problem.initial[..1].to_vec();
        let system = System {
            initial_text: notation(&initial[0], table.shared(), table.locals()),
            initial,
            targets: problem.targets[..1].to_vec(),
            table,
            kind: Kind::Tts,
            complements: Vec::new(),
            meanings: Vec::new(),
        };
        let Some(violated) = coverable(&system) else { continue };
        violations += u32::from(violated);
        let seen = hunt(&system.problem(Bound::Any), 4, 1 << 19);
        let seen = seen.is_ok_and(|found| found.iter().any(Option::is_some));
        assert!(violated || !seen, "round {round}");
        let name = format!("round {round}");
        let known = Known { name: &name, violated, seen, most: 4 };
        let first = FORMATS[round % FORMATS.len()];
        for format in FORMATS {
            let again = tally.compare(&system, format, &known);
            if let Some(again) = again.filter(|a| format == first && a.table.steps().len() < 300) {
                let second = FORMATS[rng.below(5) as usize];
                tally.compare(&again, second, &known);
            }
        }
    }
    assert!(tally.exact > 60 && violations > 10, "{tally:?}, {violations} violations");
}

#[test]
fn random_programs_keep_their_verdict() {
    let mut tally = Tally::default();
    let mut violations = 0;
    for seed in 0..if thorough() { 300 } else { 60 } {
        let mut dice = Rng::new(7_000 + seed);
        let knobs = programs::Knobs {
            blocking: false,
            wake: seed % 5 == 0,
            asserts: true,
            ..programs::Knobs::random(&mut dice)
        };
        let text = programs::program(&mut dice, &knobs);
        let loaded = load::read(Source::new("random", text.clone()), load::Format::Bp, &Reading::default());
        let loaded = loaded.expect("a valid program");
        let question = Question::default();
        let posed = question.pose(&loaded, Path::new("random")).expect("assertions");
        let Ok(system) = as_system(&loaded, &posed.problem) else { continue };
        if system.table.steps().len() > if thorough() { 400 } else { 120 } {
            continue;
        }
        let seen = hunt(&posed.problem, 3, 1 << 19);
        let seen = seen.is_ok_and(|found| found.iter().any(Option::is_some));
        let Some(violated) = coverable(&system) else { continue };
        assert!(violated || !seen, "seed {seed}: written out, the program is safe\n{text}");
        violations += u32::from(violated);
        let name = format!("seed {seed}\n{text}");
        let known = Known { name: &name, violated, seen, most: 4 };
        for format in FORMATS {
            let again = tally.compare(&system, format, &known);
            // bp -> tts -> bp and the like.
            if let Some(again) = again.filter(|a| a.table.steps().len() < 200) {
                tally.compare(&again, FORMATS[dice.index(5)], &known);
            }
        }
    }
    assert!(tally.exact > 60 && violations > 5, "{tally:?}, {violations} violations");
}

// ── the command ──

/// Exit status and standard error.
fn translates(args: &[&str]) -> (i32, String) {
    let (status, _, err) = run(args);
    (status.unwrap_or(-1), err)
}

#[test]
fn the_command_translates_and_refuses() {
    let dir = Scratch::new("translate");
    let example = |name: &str| format!("{}/examples/{name}", throng_dev::ROOT);
    for (name, violated) in [
        ("spinlock-broken.bp", true),
        ("spinlock.bp", false),
        ("mutex-broken.ntts", true),
        ("mutex.ntts", false),
        ("philosophers.spec", false),
    ] {
        for to in ["bp", "tts", "ntts", "spec", "pnml"] {
            let out = dir.0.join(format!("{name}-{to}.{to}"));
            let out = out.to_str().expect("text");
            let (status, err) = translates(&["translate", &example(name), "--to", to, "-o", out]);
            assert_eq!(status, 0, "{name} to {to}: {err}");
            let said = err.lines().find_map(|l| l.split_once("--initial '")).map(|(_, rest)| rest);
            let initial = said.and_then(|rest| rest.split('\'').next()).map(str::to_string);
            let mut args = vec!["check", out, "--max-threads", "4", "--timeout", "600"];
            args.extend(initial.iter().flat_map(|i| ["--initial", i]));
            let (status, err) = translates(&args);
            // Safe, or given up after four threads.
            let expected: &[i32] = if violated { &[10] } else { &[0, 1] };
            assert!(expected.contains(&status), "{name} as {to}: {status} {err}");
        }
        let (status, err) = translates(&["translate", &example(name), "--to", "dot"]);
        assert_eq!((status, err.as_str()), (0, ""), "{name} to dot");
    }
    for (name, to, why) in [
        ("buffer.bp", "tts", "a signal wakes exactly one waiting thread"),
        ("buffer.bp", "ntts", "a signal wakes exactly one waiting thread"),
        ("buffer.bp", "spec", "a signal wakes exactly one waiting thread"),
        ("buffer.bp", "pnml", "a signal wakes exactly one waiting thread"),
        ("winner.tts", "pnml", "moves"),
        ("barrier.bp", "pnml", ""),
    ] {
        let (status, err) = translates(&["translate", &example(name), "--to", to]);
        assert_eq!(status, 2, "{name} to {to}: {err}");
        assert!(err.contains(why) && err.starts_with("error"), "{name} to {to}: {err}");
    }
    assert_eq!(
        translates(&["translate", &example("buffer.bp"), "--to", "bp"]).0,
        0,
        "it is a program already"
    );
}
