//! The results: all runs as CSV, ratios as Markdown, pictures as SVG.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use super::Run;
use super::scatter;

/// Both versions of one question.
pub(super) type Pair<'a> = (&'a Run, &'a Run);

/// Writes all files into `folder` and returns the summary.
pub(super) fn write(folder: &Path, runs: &[Run], timeout: f64, memory: u64) -> io::Result<String> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("runs.csv"), csv(runs))?;
    let mut engines: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|r| r.version == "jit") {
        if !engines.contains(&run.engine.as_str()) {
            engines.push(&run.engine);
        }
    }
    let by_engine: Vec<(&str, Vec<Pair>)> = engines.iter().map(|&e| (e, pairs(runs, e))).collect();
    let summary = summary(&by_engine, timeout, memory);
    fs::write(folder.join("summary.md"), &summary)?;
    fs::write(folder.join("scatter.svg"), scatter::draw(&by_engine, timeout))?;
    Ok(summary)
}

fn csv(runs: &[Run]) -> String {
    let mut text =
        "program,expected,engine,version,result,seconds,unfolding,peak_mib,configurations\n".to_string();
    for r in runs {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{:.5},{:.5},{:.1},{}",
            r.program,
            r.expected,
            r.engine,
            r.version,
            r.result,
            r.seconds,
            r.unfolding,
            r.mebibytes,
            r.configurations
        );
    }
    text
}

/// The pairs of an engine that it takes at all.
fn pairs<'a>(runs: &'a [Run], engine: &str) -> Vec<Pair<'a>> {
    let of = |version: &'static str| runs.iter().filter(move |r| r.engine == engine && r.version == version);
    of("jit").zip(of("table")).filter(|(jit, _)| jit.result != "refused").collect()
}

fn summary(by_engine: &[(&str, Vec<Pair>)], timeout: f64, memory: u64) -> String {
    let mut text = format!(
        "Limits: {timeout} s, {memory} MiB per run. Ratios are unfolded / just in time, over programs that both finish; \
         above 1 just in time is better.\n\n\
         | engine | programs | both finish | only jit | only unfolded | neither | time: median | geometric mean | largest | \
         smallest | memory: median | largest | of which unfolding |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for (engine, pairs) in by_engine {
        let count = |jit: bool, table: bool| {
            pairs.iter().filter(|p| (p.0.finished(), p.1.finished()) == (jit, table)).count()
        };
        let both: Vec<&Pair> = pairs.iter().filter(|p| p.0.finished() && p.1.finished()).collect();
        let times = sorted(both.iter().map(|p| p.1.seconds / p.0.seconds.max(1e-6)));
        let sizes = sorted(both.iter().map(|p| p.1.mebibytes / p.0.mebibytes.max(0.1)));
        let unfolding = both.iter().fold(0.0, |sum, p| sum + p.1.unfolding);
        let whole = both.iter().fold(0.0, |sum, p| sum + p.1.seconds);
        let mean = times.iter().map(|t| t.ln()).sum::<f64>() / times.len().max(1) as f64;
        let _ = writeln!(
            text,
            "| {engine} | {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.1} | {:.0} % |",
            pairs.len(),
            both.len(),
            count(true, false),
            count(false, true),
            count(false, false),
            middle(&times),
            mean.exp(),
            times.last().unwrap_or(&1.0),
            times.first().unwrap_or(&1.0),
            middle(&sizes),
            sizes.last().unwrap_or(&1.0),
            100.0 * unfolding / whole.max(1e-9)
        );
    }
    text + &long_runs(by_engine) + &thirty(by_engine) + &verdicts(by_engine)
}

/// Ratios where they say something: runs of a few milliseconds are mostly noise.
fn long_runs(by_engine: &[(&str, Vec<Pair>)]) -> String {
    let mut text = "\nOnly programs where the slower version takes at least 0.1 s:\n\n\
                    | engine | programs | time: median | total jit | total unfolded |\n| --- | --- | --- | --- | --- |\n"
        .to_string();
    for (engine, pairs) in by_engine {
        let finished = pairs.iter().filter(|p| p.0.finished() && p.1.finished());
        let long: Vec<&Pair> = finished.filter(|p| p.0.seconds.max(p.1.seconds) >= 0.1).collect();
        let times = sorted(long.iter().map(|p| p.1.seconds / p.0.seconds.max(1e-6)));
        let total = |of: fn(&Pair) -> f64| long.iter().fold(0.0, |sum, p| sum + of(p));
        let _ = writeln!(
            text,
            "| {engine} | {} | {:.2} | {:.1} s | {:.1} s |",
            long.len(),
            middle(&times),
            total(|p| p.0.seconds),
            total(|p| p.1.seconds)
        );
    }
    text
}

/// The programs that cannot be unfolded.
fn thirty(by_engine: &[(&str, Vec<Pair>)]) -> String {
    let mut text = "\nThirty local variables:\n\n| program | engine | just in time | unfolded first |\n| --- | --- | --- | --- |\n"
        .to_string();
    let tell = |r: &Run| format!("{}, {:.3} s, {:.0} MiB", r.result, r.seconds, r.mebibytes);
    for (engine, pairs) in by_engine {
        for (jit, table) in pairs.iter().filter(|p| p.0.program.starts_with("bench/")) {
            let _ = writeln!(text, "| {} | {engine} | {} | {} |", jit.program, tell(jit), tell(table));
        }
    }
    text
}

/// Whether the versions agree with each other and with what is expected.
fn verdicts(by_engine: &[(&str, Vec<Pair>)]) -> String {
    let mut text = "\n| engine | safe | unsafe | versions disagree | not as expected |\n| --- | --- | --- | --- | --- |\n"
        .to_string();
    let decided = |r: &Run| matches!(r.result.as_str(), "safe" | "unsafe");
    let list = |odd: Vec<&str>| if odd.is_empty() { "none".to_string() } else { odd.join(", ") };
    for (engine, pairs) in by_engine {
        let split = pairs.iter().filter(|p| decided(p.0) && decided(p.1) && p.0.result != p.1.result);
        let odd = pairs
            .iter()
            .filter(|p| decided(p.0) && decided_word(&p.0.expected) && p.0.result != p.0.expected);
        let says = |word: &str| pairs.iter().filter(|p| p.0.result == word).count();
        let _ = writeln!(
            text,
            "| {engine} | {} | {} | {} | {} |",
            says("safe"),
            says("unsafe"),
            list(split.map(|p| p.0.program.as_str()).collect()),
            list(odd.map(|p| p.0.program.as_str()).collect())
        );
    }
    text
}

fn decided_word(word: &str) -> bool {
    matches!(word, "safe" | "unsafe")
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(1.0)
}
