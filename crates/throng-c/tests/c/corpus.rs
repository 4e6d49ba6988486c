//! The public C programs beside the project, if they are there: how many are read, and what a
//! bounded search finds in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use throng_c::{Flags, Options, SourceFile, load};

use crate::search::{Found, search};

struct Row {
    path: PathBuf,
    folder: String,
    property: String,
    expected: String,
    options: Options,
}

/// The C programs of the corpus, or nothing if it is absent.
fn rows() -> Vec<Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus2");
    let Ok(manifest) = std::fs::read_to_string(root.join("MANIFEST.csv")) else {
        println!("ignored: there is no corpus");
        return Vec::new();
    };
    let mut rows = Vec::new();
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() < 6 || fields[1] != "c" {
            continue;
        }
        let path = root.join(fields[0]);
        let mut options = Options::default();
        let (flags, files): (Vec<&str>, Vec<&str>) =
            fields[5].split_whitespace().partition(|word| word.starts_with('-'));
        // Two of the options are questions, not flags of the compiler.
        let (asked, flags): (Vec<&str>, Vec<&str>) =
            flags.into_iter().partition(|flag| ["--whole-statements", "--no-spurious"].contains(flag));
        options.question.whole_statements = asked.contains(&"--whole-statements");
        options.question.no_spurious = asked.contains(&"--no-spurious");
        options.flags = Flags::read(flags).expect("the corpus has flags that are known");
        let more = files.iter().map(|file| path.with_file_name(file));
        options.more = more.map(|path| SourceFile { path, flags: options.flags.clone() }).collect();
        let folder = fields[0].split('/').nth(2).unwrap_or_default().to_string();
        let (property, expected) = (fields[2].to_string(), fields[3].to_string());
        rows.push(Row { path, folder, property, expected, options });
    }
    rows
}

#[test]
fn programs_are_read_or_refused_with_a_reason() {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for row in rows() {
        let begun = Instant::now();
        let result = load(&row.path, &row.options);
        let took = begun.elapsed();
        if took > Duration::from_secs(1) {
            println!("slow: {} {took:?}", row.path.display());
        }
        let count = counts.entry(row.folder.clone()).or_default();
        match result {
            Ok(_) => count.0 += 1,
            Err(why) => {
                count.1 += 1;
                assert!(!why.diagnostics.is_empty());
                let name = row.path.display().to_string();
                let name = name.rsplit("corpus2/").next().unwrap_or_default().to_string();
                for d in &why.diagnostics {
                    let line = d.span.map_or(0, |s| why.source.position(s.start as usize).0);
                    println!("refused: {name}:{line}: {} {}", d.code, d.message);
                    assert_ne!(d.code, "E809", "the reader panicked");
                }
            }
        }
    }
    for (folder, (read, refused)) in &counts {
        println!("{folder}: {read} read, {refused} refused");
    }
}

#[test]
#[ignore = "takes minutes: run by name"]
fn no_wrong_verdict_in_a_bounded_search() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let seconds = std::env::var("SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(5);
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for row in rows().into_iter().filter(|r| r.property != "no-data-race") {
        let name = row.path.display().to_string();
        let name = name.rsplit("corpus2/").next().unwrap_or_default().to_string();
        if !name.contains(&only) {
            continue;
        }
        let Ok(loaded) = load(&row.path, &row.options) else { continue };
        let mut said = String::from("unknown");
        for threads in 2..=5 {
            let begun = Instant::now();
            let found = search(&loaded.query.problem(), threads, 3_000_000, Duration::from_secs(seconds));
            let text = match &found {
                Found::Unsafe(n, _) => format!("UNSAFE {n}"),
                Found::Safe(n) => format!("no violation {n}"),
                Found::Incomplete(why) => format!("incomplete {why}"),
                Found::Unfinished(n) => format!("unfinished {n}"),
            };
            println!("{name} [{}] {threads} threads: {text} {:.1?}", row.expected, begun.elapsed());
            match found {
                Found::Unsafe(..) => {
                    said = "unsafe".into();
                    break;
                }
                Found::Safe(_) => said = format!("no violation with {threads}"),
                Found::Incomplete(_) => said = "incomplete".into(),
                Found::Unfinished(_) => {
                    said = "unfinished".into();
                    break;
                }
            }
        }
        if said == "unsafe" && row.expected == "safe" {
            wrong.push(name);
        }
        *counts.entry((row.expected, said)).or_default() += 1;
    }
    for ((expected, said), n) in &counts {
        println!("expected {expected}, found {said}: {n}");
    }
    assert!(wrong.is_empty(), "UNSAFE on programs expected safe: {wrong:?}");
}
