//! Explicit systems: every file of the corpus is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use throng::lang::source::Diagnostic;
use throng::lang::system::System;
use throng::lang::{configuration, spec, tts};

/// The corpus: `THRONG_CORPUS`, or beside the project.
fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("THRONG_CORPUS").map_or_else(beside, PathBuf::from);
    let found = folder.is_dir().then_some(folder);
    if found.is_none() {
        eprintln!("skipped: no corpus");
    }
    found
}

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

#[test]
fn every_system_of_the_corpus_is_read() {
    let Some(corpus) = corpus() else { return };
    let (mut systems, mut properties) = (Vec::new(), Vec::new());
    files(&corpus, "tts", &mut systems);
    files(&corpus, "spec", &mut systems);
    files(&corpus, "prop", &mut properties);
    let mut slowest = (Duration::ZERO, PathBuf::new());
    for path in &systems {
        let start = Instant::now();
        let (system, findings) = read(path);
        slowest = slowest.max((start.elapsed(), path.clone()));
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
        // One property asks for a local state that its system does not have; the corpus asks nothing about it.
        if path.ends_with("bfc/ticket_red_overappr3.prop") {
            assert_eq!(findings.iter().map(|d| d.code).collect::<Vec<_>>(), ["E652"]);
            continue;
        }
        assert!(findings.is_empty() && !targets.is_empty(), "{}: {findings:?}", path.display());
    }
    eprintln!("read {} systems and {} properties", systems.len(), properties.len());
    eprintln!("slowest: {} in {:?}", slowest.1.display(), slowest.0);
}
