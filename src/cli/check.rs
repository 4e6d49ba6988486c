//! `throng check`

use std::io::{self, IsTerminal};
use std::time::Instant;

use super::console::{Console, Failure, stop_on_interrupt};
use super::{CheckArgs, EngineName};
use crate::check;
use crate::concrete::concretise;
use crate::engine::auto::Auto;
use crate::engine::backward::Backward;
use crate::engine::explicit::Explicit;
use crate::engine::views::Views;
use crate::engine::{Answer, Engine};
use crate::limits::memory_in_use;
use crate::problem::{Bound, Problem};
use crate::report::{Report, Word, json, text};
use crate::verdict::Verdict;

pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = args.search.limits();
    stop_on_interrupt(&limits);
    let loaded = console.load(&args.input.file, &args.input.reading())?;
    let problem = console.pose(&args.question.question(), &loaded, &args.input.file)?;
    let endless = problem.bound == Bound::Any && args.search.timeout.is_none() && args.max_threads.is_none();
    if endless && io::stderr().is_terminal() {
        console.note("note: searching with 1, 2, 3, … threads; Ctrl-C stops and shows what was established");
    }
    let engine = engine(args);
    let mut answer = engine.run(&problem, &limits, console);
    if let Some(flaw) = &answer.flaw {
        return Err(internal(flaw));
    }
    if !args.no_check && !answer.checked {
        believe(&problem, &answer)?;
    }
    choose_values(&problem, &mut answer);
    let report = Report {
        file: &loaded.source.name,
        problem: &problem,
        unit: loaded.format.unit(),
        engine: &answered_by(engine.name(), &answer),
        answer: &answer,
        checked: !args.no_check,
        time: began.elapsed(),
        memory: memory_in_use(),
    };
    let options = text::Options {
        colour: console.colour,
        quiet: console.output.quiet,
        verbose: console.output.verbose,
    };
    console.print(&if args.json { json::write(&report) } else { text::write(&report, options) })?;
    Ok(Word::overall(&answer.verdicts).status())
}

/// The engine that was asked for, set up as asked.
fn engine(args: &CheckArgs) -> Box<dyn Engine> {
    match args.search.engine {
        EngineName::Auto => Box::new(Auto {
            jobs: args.search.jobs as usize,
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
        }),
        EngineName::Explicit => Box::new(Explicit {
            jobs: args.search.jobs as usize,
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
        }),
        EngineName::Backward => Box::new(Backward),
        EngineName::Views => Box::new(Views),
    }
}

/// Checks all evidence; a verdict that does not stand is never printed.
fn believe(problem: &Problem, answer: &Answer) -> Result<(), Failure> {
    let verdicts: Vec<(usize, &Verdict)> = answer.verdicts.iter().enumerate().collect();
    check::check_all(problem, &verdicts).map_err(|(target, flaw)| {
        internal(&format!("the evidence for target `{target}` does not stand: {flaw}"))
    })
}

/// Evidence that does not stand is never a verdict.
fn internal(what: &str) -> Failure {
    Failure::Other(format!(
        "internal error: {what}\nThis is a bug in throng, not in your input. Please report it with the command you \
         ran, the input file and the version ({}).",
        env!("CARGO_PKG_VERSION")
    ))
}

/// Who answered.
fn answered_by(engine: &str, answer: &Answer) -> String {
    let mut names: Vec<&str> = answer.by.iter().flatten().copied().collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { engine.to_string() } else { names.join(", ") }
}

/// People want to see values, not sets of them.
fn choose_values(problem: &Problem, answer: &mut Answer) {
    for (target, verdict) in problem.targets.iter().zip(&mut answer.verdicts) {
        if let Verdict::Unsafe(trace) = verdict
            && let Some(concrete) = concretise(&*problem.model, target, trace, problem.bound.threads())
        {
            *trace = concrete;
        }
    }
}
