//! `throng check`

use std::sync::Arc;
use std::time::Instant;

use super::console::{Console, Failure, stop_on_interrupt};
use super::{CheckArgs, EngineName};
use crate::check;
use crate::concrete::concretise;
use crate::engine::explicit::Explicit;
use crate::engine::plain::Plain;
use crate::engine::symbolic::Symbolic;
use crate::engine::{Answer, Engine};
use crate::limits::memory_in_use;
use crate::problem::{Problem, Target};
use crate::report::{Report, Word, json, text};
use crate::verdict::{Certificate, Verdict};

pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = args.search.limits();
    stop_on_interrupt(&limits);
    let loaded = console.load(&args.input.file, &args.input.reading())?;
    let problem = console.pose(&args.question.question(), &loaded, &args.input.file)?;
    let engine = engine(args);
    let mut answer = engine.run(&problem, &limits, console);
    if !args.no_check {
        believe(&problem, &answer)?;
    }
    choose_values(&problem, &mut answer);
    let report = Report {
        file: &loaded.source.name,
        problem: &problem,
        unit: loaded.format.unit(),
        engine: engine.name(),
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
        EngineName::Explicit => Box::new(Explicit {
            jobs: args.search.jobs as usize,
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
            por: !args.search.no_por,
            ..Explicit::default()
        }),
        EngineName::Symbolic => Box::new(Symbolic {
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
            por: !args.search.no_por,
            ..Symbolic::default()
        }),
        EngineName::Plain => Box::new(Plain { por: !args.search.no_por }),
    }
}

/// Checks all evidence; a verdict that does not stand is never printed.
fn believe(problem: &Problem, answer: &Answer) -> Result<(), Failure> {
    for (target, verdict) in obligations(problem, answer) {
        check::check(problem, &target, verdict).map_err(|flaw| {
            Failure::Other(format!(
                "internal error: the evidence for target `{}` does not stand: {flaw}\nThis is a bug in throng, \
                 not in your input. Please report it with the command you ran, the input file and the version \
                 ({}).",
                target.name,
                env!("CARGO_PKG_VERSION")
            ))
        })?;
    }
    Ok(())
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

/// What to check. Targets that share a certificate are checked against it together: going through a large set
/// once is enough.
fn obligations<'a>(problem: &Problem, answer: &'a Answer) -> Vec<(Target, &'a Verdict)> {
    let mut found: Vec<(Target, &Verdict)> = Vec::new();
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
        match found.iter_mut().find(|(_, other)| same_certificate(verdict, other)) {
            Some((joint, _)) => {
                joint.name.push_str(&format!(", {}", target.name));
                joint.configs.extend_from_slice(&target.configs);
            }
            None => found.push((target.clone(), verdict)),
        }
    }
    found
}

fn same_certificate(a: &Verdict, b: &Verdict) -> bool {
    match (a, b) {
        (Verdict::Safe(Certificate::Closed(a)), Verdict::Safe(Certificate::Closed(b)))
        | (Verdict::Safe(Certificate::Reduced(a)), Verdict::Safe(Certificate::Reduced(b))) => {
            Arc::ptr_eq(a, b)
        }
        (Verdict::Safe(Certificate::Products(a)), Verdict::Safe(Certificate::Products(b))) => {
            Arc::ptr_eq(a, b)
        }
        _ => false,
    }
}
