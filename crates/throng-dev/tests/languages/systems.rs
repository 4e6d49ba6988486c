//! Explicit systems: every file of the corpus is read, and no text makes a reader panic.

#![allow(clippy::print_stderr)] // with THRONG_SHOW, what readers say

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use throng_dev::harness::{own_corpus, public_corpus};
use throng_lang::source::Diagnostic;
use throng_lang::system::System;
use throng_lang::{configuration, ntts, pnml, spec, tts};
use throng_model::problem::Target;
use throng_model::table::{Names, Table};
use throng_model::{Config, semantics};

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if entry.is_dir() {
            files(&entry, extension, found);
        } else if entry.extension().is_some_and(|e| e == extension) {
            found.push(entry);
        }
    }
    found.sort();
}

fn read(path: &Path) -> (Option<System>, Vec<Diagnostic>) {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    match path.extension().and_then(|e| e.to_str()) {
        Some("spec") => spec::read(&text, spec::Options::default()),
        _ => tts::read(&text),
    }
}

/// How many systems and property files were read.
fn read_all(corpus: &Path) -> (usize, usize) {
    let (mut systems, mut properties) = (Vec::new(), Vec::new());
    files(corpus, "tts", &mut systems);
    files(corpus, "spec", &mut systems);
    files(corpus, "prop", &mut properties);
    for path in &systems {
        let (system, findings) = read(path);
        // One net assigns a variable twice in a rule; its suite has no verdict for it either.
        if path.ends_with("Javaprograms/queuedbusyflag.spec") {
            let errors: Vec<&str> = findings.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
            assert_eq!(errors, ["E407"]);
            continue;
        }
        assert!(system.is_some(), "{}: {findings:?}", path.display());
        if path.extension().is_some_and(|e| e == "tts") {
            assert_eq!(findings, [], "{}", path.display());
        }
        if std::env::var_os("THRONG_SHOW").is_some() {
            findings.iter().for_each(|d| eprintln!("{}: {} {}", path.display(), d.code, d.message));
        }
    }
    for path in &properties {
        let (system, _) = read(&path.with_extension("tts"));
        let table = system.unwrap().table;
        let text = fs::read_to_string(path).unwrap();
        let (targets, findings) = configuration::read_prop(&text, table.shared(), table.locals());
        // One property asks for a local state that its system does not have: it is not reached.
        if path.ends_with("bfc/ticket_red_overappr3.prop") {
            assert_eq!(findings.iter().map(|d| d.code).collect::<Vec<_>>(), ["W611"]);
            continue;
        }
        assert!(findings.is_empty() && !targets.is_empty(), "{}: {findings:?}", path.display());
    }
    (systems.len(), properties.len())
}

#[test]
fn every_system_of_the_own_corpus_is_read() {
    assert_eq!(read_all(&own_corpus()), (7, 4));
}

#[test]
#[cfg_attr(not(public_corpus), ignore = "needs the public corpus")]
fn every_system_of_the_public_corpus_is_read() {
    let (systems, properties) = read_all(&public_corpus());
    assert!(systems > 100 && properties > 50, "{systems} systems, {properties} property files");
}

#[test]
fn declared_states_cost_nothing() {
    let (system, _) = tts::read("9000000000000000000 9000000000000000000\n8999999999999999999 0 -> 0 1\n");
    assert_eq!(system.unwrap().table.steps().len(), 1);
}

/// Reads a text with every reader; only the absence of panics counts.
fn read_with_all(text: &str) {
    let _ = tts::read(text);
    let _ = ntts::read(text);
    let _ = spec::read(text, spec::Options::default());
    let (net, _) = pnml::read(text);
    let names = Names::Numbers(3);
    let _ = configuration::read_prop(text, &names, &names);
    let table = net.map_or_else(|| Table::new(Names::Numbers(1), names), |net| (*net.table).clone());
    let _ = pnml::read_properties(text, &table);
}

#[test]
fn no_text_makes_a_reader_panic() {
    let samples = [
        "3 4\n0 0 +> 1 1 # é\n1 0 -> 0 0 1 ~> 2\n2|2,3\n",
        "shared a b\nlocal c d\ninit a|c/d\ntarget b|d\n* c -> * d\na c ~> b d\n",
        "vars x y rules x>=1, y in [0,2] -> x'=x+y-1, y'=0; init x=1, y>=0 target x=0 y>=2 invariants x=1, y=1",
        "<pnml><net id='n'><place id='p'><initialMarking><text>1</text></initialMarking></place>\
         <transition id='t'/><arc source='p' target='t'/></net></pnml>",
        "<property-set><property><id>i</id><formula><exists-path><finally><integer-le><integer-constant>1\
         </integer-constant><tokens-count><place>p</place></tokens-count></integer-le></finally></exists-path></formula></property></property-set>",
    ];
    let mut numbers = throng_model::random::Random::new(1);
    let mut random = |n: usize| numbers.below(n);
    for sample in samples {
        for end in (0..=sample.len()).filter(|&i| sample.is_char_boundary(i)) {
            read_with_all(&sample[..end]);
        }
        for _ in 0..3000 {
            let mut bytes = sample.as_bytes().to_vec();
            for _ in 0..1 + random(4) {
                let at = random(bytes.len());
                match random(4) {
                    0 => drop(bytes.drain(at..bytes.len().min(at + 1 + random(8)))),
                    1 => bytes.insert(at, b"0x>='#|/~+-<&;\xff\n ["[random(18)]),
                    2 => bytes[at] = random(256) as u8,
                    _ => {
                        let copied = bytes[at..bytes.len().min(at + random(30))].to_vec();
                        bytes.splice(at..at, copied);
                    }
                }
            }
            read_with_all(&String::from_utf8_lossy(&bytes));
        }
    }
    read_with_all(&"<a>".repeat(50_000));
    read_with_all(&"x'".repeat(50_000));
    read_with_all(&format!("1 1\n0|{}", "0,".repeat(50_000)));
}

/// Returns whether `target` is covered by some configuration that at most `steps` steps of at most
/// `threads` threads lead to.
fn bounded(system: &System, target: &str, threads: u32, steps: usize) -> bool {
    let table = &system.table;
    let target = configuration::parse_target(target, table.shared(), table.locals()).unwrap();
    reaches(system, &target, threads, steps)
}

fn reaches(system: &System, target: &Target, threads: u32, steps: usize) -> bool {
    let table = &system.table;
    let mut seen: HashSet<Config> = HashSet::new();
    let mut now: Vec<Config> =
        (0..=threads).flat_map(|n| system.initial.iter().flat_map(move |i| i.of_size(n))).collect();
    let mut out = Vec::new();
    for _ in 0..=steps {
        now.retain(|c| seen.insert(c.clone()));
        for config in &now {
            semantics::successors(&**table, config, Some(threads), &mut out).expect("few threads");
        }
        now = out.drain(..).map(|(_, c)| c).collect();
    }
    seen.iter().any(|c| target.is_hit(c, &**table))
}

#[test]
fn the_worked_example_has_the_answers_of_the_reference() {
    let (system, findings) = tts::read("3 4\n0 0 +> 1 1\n1 0 -> 0 0\n0 1 -> 2 2  1 ~> 3\n");
    assert_eq!(findings, []);
    let mut system = system.unwrap();
    for initial in ["single", "unbounded"] {
        system.initial =
            vec![configuration::parse_config(initial, system.table.shared(), system.table.locals()).unwrap()];
        assert!(bounded(&system, "2|2,3", 4, 12));
        assert!(!bounded(&system, "2|1", 4, 12));
        assert!(!bounded(&system, "2|2,2", 4, 12));
    }
}

#[test]
fn exact_targets_of_nets_are_found_by_bounded_search() {
    let text = "vars x y rules x>=1 -> x'=x-1, y'=y+1; init x=2, y=0 target x=1, y>=1 x=0, y=1";
    let (system, findings) = spec::read(text, spec::Options::default());
    assert_eq!(findings, []);
    let system = system.unwrap();
    let reached = |target: &Target| reaches(&system, target, 9, 9);
    assert!(reached(&system.targets[0]), "x=1, y=1 is reached");
    assert!(!reached(&system.targets[1]), "x=0 comes with y=2");
}
