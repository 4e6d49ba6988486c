//! Just in time against unfolded first: the case study of IJIT (section 5), by one command.
//!
//! `cargo bench --bench three_versions -- --out bench/results/DATE`; `bench/README.md` explains the options and the results.
//!
//! Every measurement is a process of its own (this program calls itself), so that peak memory is that of one run and a run that is stuck
//! can be ended. Times are those of the search; for the unfolded version, of the unfolding and the search. Reading the
//! file is the same for both and left out.

#![allow(clippy::print_stdout)]

mod programs;
mod report;
mod scatter;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use programs::{Program, programs};
use throng::engine::backward::Backward;
use throng::engine::explicit::Explicit;
use throng::engine::karp_miller::KarpMiller;
use throng::engine::views::Views;
use throng::engine::{Answer, Engine, Silent, Statistics};
use throng::limits::{Limits, memory_in_use};
use throng::problem::{Problem, Target};
use throng::report::Word;
use throng::unfold::unfold;
use throng::verdict::{Certificate, Unknown, Verdict};
use throng::{Question, Verification};

/// An algorithm: its name, the thread bound that it is asked about, and how to run it. Add a line to measure another.
type Entry = (&'static str, Option<u32>, fn(&Problem, &Limits) -> Answer);

const ENGINES: &[Entry] = &[
    ("explicit", Some(3), |problem, limits| {
        Explicit { stop_at_first: true, ..Explicit::default() }.run(problem, limits, &Silent)
    }),
    ("karp-miller", None, |problem, limits| KarpMiller::default().run(problem, limits, &Silent)),
    ("karp-miller-full", None, coverability),
    ("backward", None, |problem, limits| Backward.run(problem, limits, &Silent)),
    ("views", None, |problem, limits| Views::default().run(problem, limits, &Silent)),
];

/// The whole coverability set, whatever the targets (the paper's AKM); then the verdicts are read off.
fn coverability(problem: &Problem, limits: &Limits) -> Answer {
    match KarpMiller::default().coverability(problem, limits, &Silent) {
        Ok(found) => {
            let verdict =
                |target: &Target| match found.maximal.iter().any(|c| target.is_hit(c, &*problem.model)) {
                    true => Verdict::Unknown(Unknown::Inconclusive("covered".into())),
                    false => Verdict::Safe(Certificate::Downward(found.maximal.clone())),
                };
            Answer::new(problem.targets.iter().map(verdict).collect(), found.statistics.clone())
        }
        Err(why) => Answer::new(vec![Verdict::Unknown(why); problem.targets.len()], Statistics::default()),
    }
}

/// The ways to give the model to the engine.
const VERSIONS: [&str; 2] = ["jit", "table"];

/// What one run came to.
#[derive(Clone, Debug)]
struct Run {
    program: String,
    expected: String,
    engine: String,
    version: String,
    /// `safe`, `unsafe`, `time`, `memory`, `refused` or `undecided`.
    result: String,
    seconds: f64,
    /// The part of them that unfolding took.
    unfolding: f64,
    mebibytes: f64,
    configurations: u64,
}

impl Run {
    /// Whether the engine came to the end of its work. (Where unfolding gives up by itself, the engine has not even begun.)
    fn finished(&self) -> bool {
        matches!(self.result.as_str(), "safe" | "unsafe" | "undecided")
    }
}

/// What was asked for on the command line.
struct Options {
    timeout: f64,
    memory: u64,
    out: PathBuf,
    only: Option<String>,
    engines: Vec<String>,
}

impl Options {
    fn read() -> Options {
        let arguments: Vec<String> = std::env::args().collect();
        let value = |name: &str| {
            let at = arguments.iter().position(|a| a == name)?;
            arguments.get(at + 1).cloned()
        };
        let names =
            value("--engines").unwrap_or_else(|| "explicit,karp-miller,karp-miller-full,backward".into());
        Options {
            timeout: value("--timeout").and_then(|t| t.parse().ok()).unwrap_or(10.0),
            memory: value("--memory").and_then(|m| m.parse().ok()).unwrap_or(4096),
            out: value("--out").unwrap_or_else(|| "target/three_versions".into()).into(),
            only: value("--only"),
            engines: names.split(',').map(str::to_string).collect(),
        }
    }
}

fn main() {
    if std::env::var_os("THRONG_ONE_RUN").is_some() {
        return one_run();
    }
    let options = Options::read();
    let mut runs = Vec::new();
    for program in programs() {
        if options.only.as_ref().is_some_and(|only| !program.name.contains(only.as_str())) {
            continue;
        }
        for (engine, ..) in ENGINES.iter().filter(|e| options.engines.iter().any(|name| name == e.0)) {
            let pair = VERSIONS.map(|version| measure(&program, engine, version, &options));
            println!(
                "{:<60} {engine:<9} jit {:>9.4} s {:<9} table {:>9.4} s {}",
                program.name, pair[0].seconds, pair[0].result, pair[1].seconds, pair[1].result
            );
            runs.extend(pair);
        }
    }
    match report::write(&options.out, &runs, options.timeout, options.memory) {
        Ok(summary) => println!("\n{summary}\nwritten to {}", options.out.display()),
        Err(why) => println!("cannot write to {}: {why}", options.out.display()),
    }
}

/// Runs a child for one measurement.
fn measure(program: &Program, engine: &str, version: &str, options: &Options) -> Run {
    let itself = std::env::current_exe().expect("this program has a path");
    let child = Command::new(itself)
        .env("THRONG_ONE_RUN", "1")
        .args([engine, version, &options.timeout.to_string(), &options.memory.to_string()])
        .args([&program.path.display().to_string(), &program.initial, &program.label])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process can be started");
    let told = wait(child, Duration::from_secs_f64(options.timeout * 1.5 + 5.0));
    let mut fields = told.split_whitespace();
    let result = fields.next().unwrap_or("time").to_string();
    let mut number = || fields.next().and_then(|n| n.parse::<f64>().ok());
    Run {
        program: program.name.clone(),
        expected: program.expected.clone(),
        engine: engine.into(),
        version: version.into(),
        result,
        seconds: number().unwrap_or(options.timeout),
        unfolding: number().unwrap_or(0.0),
        mebibytes: number().unwrap_or(options.memory as f64),
        configurations: number().unwrap_or(0.0) as u64,
    }
}

/// What a child says; nothing if it has to be ended.
fn wait(mut child: Child, most: Duration) -> String {
    let began = Instant::now();
    while began.elapsed() < most {
        if !matches!(child.try_wait(), Ok(None)) {
            break;
        }
        sleep(Duration::from_millis(2));
    }
    if matches!(child.try_wait(), Ok(None)) {
        let _ = child.kill();
    }
    child.wait_with_output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default()
}

/// The child: answers one question and prints `result seconds unfolding peak configurations`.
fn one_run() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, version, timeout, memory, path, initial, label] = &arguments[..] else {
        panic!("seven arguments")
    };
    let &(_, threads, run) = ENGINES.iter().find(|e| e.0 == engine).expect("an engine of the list");
    let question = Question {
        initial: Some(initial.clone()).filter(|i| !i.is_empty()),
        threads,
        error_labels: Some(label.clone()).filter(|l| !l.is_empty()).into_iter().collect(),
        ..Question::default()
    };
    let Ok(asked) = Verification::of_file(path, &question) else { return println!("refused 0 0 0 0") };
    let timeout = Duration::from_secs_f64(timeout.parse().expect("seconds"));
    let limits = Limits::none().timeout(timeout).memory(memory.parse::<u64>().expect("MiB") << 20);
    let began = Instant::now();
    let unfolded = match version.as_str() {
        "table" => as_table(asked.problem(), &limits),
        _ => Ok(asked.problem().clone()),
    };
    let unfolding = began.elapsed().as_secs_f64();
    let answer = unfolded.map(|problem| run(&problem, &limits));
    let seconds = began.elapsed().as_secs_f64();
    let configurations = answer.as_ref().map_or(0, |a| a.statistics.configurations);
    let unfolding = if version == "table" { unfolding } else { 0.0 };
    println!("{} {seconds} {unfolding} {} {configurations}", word(&answer), peak());
}

/// The same problem with its model written out.
fn as_table(problem: &Problem, limits: &Limits) -> Result<Problem, Unknown> {
    let table = unfold(problem, limits)?;
    Ok(Problem {
        model: Arc::new(table.table),
        initial: table.initial,
        targets: table.targets,
        initial_text: table.initial_text,
        bound: problem.bound,
    })
}

fn word(answer: &Result<Answer, Unknown>) -> &'static str {
    let why = match answer {
        Ok(answer) => match Word::overall(&answer.verdicts) {
            Word::Unknown => answer.verdicts.iter().find_map(|v| match v {
                Verdict::Unknown(why) => Some(why),
                _ => None,
            }),
            word => return word.lower(),
        },
        Err(why) => Some(why),
    };
    match why {
        Some(Unknown::Time(_)) => "time",
        Some(Unknown::Memory(_)) => "memory",
        Some(Unknown::NotForThisModel(_)) => "refused",
        Some(Unknown::Inconclusive(why)) if why == "covered" => "unsafe",
        _ => "undecided",
    }
}

/// The most memory that this process has had, in MiB; what it has now, where the system does not say.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
    kibibytes.and_then(|k| k.parse::<f64>().ok()).map_or(memory_in_use() as f64 / 1048576.0, |k| k / 1024.0)
}
