//! The comparisons of Boom's section 7, remade: `cargo bench --bench boom -- [--seconds S] [--corpus-every K] [--out DIR]`.
//!
//! On generated families with growing numbers of threads, and on programs of the corpus where it is at hand, every engine answers the same
//! question in the same run, exhaustively: symbolic against plain symbolic, partial orders alone, counting alone, both, and
//! the explicit engine with and without reduction. Writes `boom.csv`, `boom.md` and scatter plots `*.svg`.

#![allow(clippy::print_stderr)] // how far it is

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use throng::engine::explicit::Explicit;
use throng::engine::plain::Plain;
use throng::engine::symbolic::Symbolic;
use throng::engine::{Engine, Silent};
use throng::lang::bp::{Options, read};
use throng::limits::Limits;
use throng::problem::{Bound, Problem};

const LOCK: &str = "decl lock, data;
void main() begin
  decl mine, seen;
  lock := 0; data := 0; mine := *;
  S: start_thread goto W; if * then goto S; fi;
  W: lock := 1 constrain !lock; seen := data; data := mine; assert(data = mine); lock := 0; mine := *; goto W;
end";

const BUFFER: &str = "decl full0, full1, lock;
void main() begin
  decl item;
  full0 := 0; full1 := 0; lock := 0; item := 0;
  S: start_thread goto P; start_thread goto C; if * then goto S; fi;
  P: item := *; lock := 1 constrain !lock;
     if full0 & full1 then lock := 0; goto P; fi;
     if full0 then full1 := 1; else full0 := 1; fi; lock := 0; goto P;
  C: lock := 1 constrain !lock;
     if !full0 & !full1 then lock := 0; goto C; fi;
     assert(full0 | full1); item := *;
     if full1 then full1 := 0; else full0 := 0; fi; lock := 0; goto C;
end";

const APACHE: &str = "decl requests;
void main() begin
  decl more, graceful, dead, success;
  L0: more := 1;
  L1: goto L2, L9;
  L2: assume(more); graceful, dead := *, *; goto L3, L4;
  L3: assume(graceful | dead); goto L8;
  L4: assume(!graceful & !dead); start_thread goto W;
  L5: success := *; goto L6, L7;
  L6: assume(!success); success := *; goto L1;
  L7: assume(success);
  L8: more := *; goto L1;
  L9: assume(!more); requests := *; goto L0;
  W: graceful := requests; if graceful then dead := *; requests := 0; fi;
     assert(!graceful | dead | !dead); goto W;
end";

/// One question.
struct Question {
    family: String,
    threads: u32,
    problem: Problem,
}

/// What one engine did with one question.
struct Run {
    seconds: Option<f64>,
    stored: u64,
}

const ENGINES: [&str; 6] = ["plain", "plain+por", "symbolic", "symbolic+por", "explicit", "explicit+por"];

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let number = |name: &str, otherwise: u64| value(name).and_then(|v| v.parse().ok()).unwrap_or(otherwise);
    let seconds = number("--seconds", 10);
    let out = PathBuf::from(value("--out").map_or("bench", String::as_str));
    std::fs::create_dir_all(&out)?;
    let mut rows = Vec::new();
    let families = [("lock", LOCK), ("buffer", BUFFER), ("apache", APACHE)];
    for (family, text) in families {
        let mut open = [true; ENGINES.len()];
        for threads in 1..=number("--threads", 12) as u32 {
            let question = Question { family: family.into(), threads, problem: pose(text, threads) };
            measure(question, seconds, &mut open, &mut rows);
            if open.iter().all(|o| !o) {
                break;
            }
        }
    }
    for path in corpus(number("--corpus-every", 10) as usize) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let mut open = [true; ENGINES.len()];
        for threads in 2..=4 {
            let family = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
            let question = Question { family, threads, problem: pose(&text, threads) };
            measure(question, seconds, &mut open, &mut rows);
        }
    }
    write(&out, &rows, seconds as f64)
}

fn pose(text: &str, threads: u32) -> Problem {
    let (jit, diagnostics) = read(text, &Options::default());
    let jit = Arc::new(jit.unwrap_or_else(|| panic!("{diagnostics:?}")));
    Problem {
        initial: vec![jit.initial(Some(1))],
        initial_text: "1 thread at the entry of main".into(),
        targets: jit.assertions().into_iter().collect(),
        bound: Bound::Threads(threads),
        model: jit,
    }
}

fn corpus(every: usize) -> Vec<PathBuf> {
    let named = std::env::var_os("THRONG_CORPUS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"));
    let mut found: Vec<PathBuf> = ["bp/boom", "bp/satabs"]
        .iter()
        .filter_map(|f| std::fs::read_dir(folder.join(f)).ok())
        .flatten()
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "bp"))
        .collect();
    found.sort();
    found.into_iter().step_by(every.max(1)).collect()
}

/// Runs every engine that has not given up on this family yet.
fn measure(question: Question, seconds: u64, open: &mut [bool], rows: &mut Vec<(Question, Vec<Run>)>) {
    let mut runs = Vec::new();
    for (name, open) in ENGINES.iter().zip(open) {
        let run =
            if *open { run(name, &question.problem, seconds) } else { Run { seconds: None, stored: 0 } };
        *open = run.seconds.is_some();
        runs.push(run);
    }
    let times: Vec<String> =
        runs.iter().map(|r| r.seconds.map_or("-".into(), |s| format!("{s:.3}"))).collect();
    eprintln!("{} {}: {}", question.family, question.threads, times.join(" "));
    rows.push((question, runs));
}

/// Every engine explores all there is, violations or not, and makes no evidence.
fn run(name: &str, problem: &Problem, seconds: u64) -> Run {
    let limits = Limits::none().timeout(Duration::from_secs(seconds)).memory(8 << 30);
    let por = name.ends_with("+por");
    let began = Instant::now();
    let (finished, stored) = match name.split('+').next() {
        Some("plain") => match (Plain { por }).search(problem, &limits) {
            Ok(outcome) => (Some(()), outcome.points),
            Err(_) => (None, 0),
        },
        engine => {
            let engine: Box<dyn Engine> = match engine {
                Some("symbolic") => Box::new(Symbolic { por, shortest: false, ..Symbolic::default() }),
                _ => Box::new(Explicit { por, shortest: false, ..Explicit::default() }),
            };
            // Without targets nothing is found early and nothing needs evidence, as in plain search.
            let aimless = Problem { targets: Vec::new(), ..problem.clone() };
            let answer = engine.run(&aimless, &limits, &Silent);
            let finished = answer.statistics.complete_up_to.map(Bound::Threads) == Some(problem.bound);
            (finished.then_some(()), answer.statistics.configurations)
        }
    };
    Run { seconds: finished.map(|()| began.elapsed().as_secs_f64()), stored }
}

fn write(out: &Path, rows: &[(Question, Vec<Run>)], limit: f64) -> std::io::Result<()> {
    let mut csv = String::from("family,threads,engine,seconds,stored\n");
    let mut table =
        format!("| family | threads | {} |\n|---|---|{}\n", ENGINES.join(" | "), "---|".repeat(6));
    for (question, runs) in rows {
        _ = write!(table, "| {} | {} |", question.family, question.threads);
        for (engine, run) in ENGINES.iter().zip(runs) {
            let time = run.seconds.map_or(String::new(), |s| format!("{s:.4}"));
            let (family, threads) = (&question.family, question.threads);
            _ = writeln!(csv, "{family},{threads},{engine},{time},{}", run.stored);
            _ = write!(table, " {} |", if time.is_empty() { "–" } else { &time });
        }
        table.push('\n');
    }
    let mut summary = String::new();
    for (x, y) in [(0, 2), (1, 3), (2, 3), (1, 2), (4, 5), (4, 2)] {
        let pairs: Vec<(f64, f64)> = rows
            .iter()
            .map(|(_, runs)| (runs[x].seconds, runs[y].seconds))
            .filter(|p| p.0.is_some() || p.1.is_some())
            .map(|p| (p.0.unwrap_or(limit), p.1.unwrap_or(limit)))
            .collect();
        let faster = pairs.iter().filter(|p| p.1 < p.0).count();
        let ratio: f64 =
            pairs.iter().map(|p| (p.0 / p.1.max(1e-6)).ln()).sum::<f64>() / pairs.len().max(1) as f64;
        _ = writeln!(
            summary,
            "- `{}` is faster than `{}` on {faster} of {} runs; geometric mean of the speed-up {:.2}",
            ENGINES[y],
            ENGINES[x],
            pairs.len(),
            ratio.exp()
        );
        std::fs::write(out.join(format!("{}-vs-{}.svg", ENGINES[y], ENGINES[x])), plot(x, y, &pairs, limit))?;
    }
    std::fs::write(out.join("boom.csv"), csv)?;
    std::fs::write(
        out.join("boom.md"),
        format!("# Boom's comparisons, seconds (limit {limit} s)\n\n{summary}\n{table}"),
    )
}

/// A scatter plot with logarithmic axes; points below the diagonal are wins for `y`.
fn plot(x: usize, y: usize, pairs: &[(f64, f64)], limit: f64) -> String {
    let place = |s: f64| 40.0 + 340.0 * ((s.max(1e-4).log10() + 4.0) / (limit.log10() + 4.0)).clamp(0.0, 1.0);
    let mut svg = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 400 420' font-family='sans-serif' font-size='12'>\n\
         <rect width='400' height='420' fill='white'/>\n<path d='M40 380V40M40 380H380M40 380L380 40' stroke='gray' fill='none'/>\n",
    );
    for (a, b) in pairs {
        _ = writeln!(
            svg,
            "<circle cx='{:.1}' cy='{:.1}' r='3' fill='none' stroke='navy'/>",
            place(*a),
            420.0 - place(*b)
        );
    }
    _ = write!(
        svg,
        "<text x='150' y='408'>{} (s, 10⁻⁴ to {limit})</text>\n<text x='44' y='30'>{} (s)</text>\n</svg>\n",
        ENGINES[x], ENGINES[y]
    );
    svg
}
