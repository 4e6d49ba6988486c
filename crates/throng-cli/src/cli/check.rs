//! `throng check`

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::CheckArgs;
use super::certify;
use super::checkpoint::Checkpoint;
use super::console::{Console, Failure, LastWords};
use super::files::{self, Kind};
#[cfg(feature = "cluster")]
use throng::Engine;
use throng::report::{json, text};
use throng::{Job, Settings};
use throng_check::certificate::write::Origin;
use throng_lang::bp::lint::lint;
use throng_lang::load::Input;
use throng_lang::question::SourceDiagnostic;
use throng_model::limits::Limits;
use throng_model::problem::Bound;
use throng_model::verdict::Verdict;

/// Where the report of one input goes.
pub(super) type Print<'a> = &'a mut dyn FnMut(&str) -> Result<(), Failure>;

pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<u8, Failure> {
    #[cfg(feature = "cluster")]
    if let Some(hosts) = &args.cluster.hosts.cluster {
        return super::cluster::check(args, hosts, console);
    }
    if !args.more.is_empty() && !super::c::is_one_program(args) {
        return super::several::run(args, console);
    }
    let limits = args.search.limits()?;
    checkpoint(args).into_iter().for_each(|path| console.will_keep_in(path));
    console.begin(&limits, last_words(args));
    check(args, console, &limits, true, &mut |text| console.print(text))
}

/// Checks one input; after the `last` one the process ends.
pub(super) fn check(
    args: &CheckArgs,
    console: &Console,
    limits: &Limits,
    last: bool,
    print: Print<'_>,
) -> Result<u8, Failure> {
    if super::c::is_c(&args.input) {
        return super::c::check(args, console, limits, print);
    }
    super::c::refuse(&args.input, Some(&args.question))?;
    for (option, given) in [("--replay", args.replay.is_some()), ("--witness", args.witness.is_some())] {
        if given {
            return Err(Failure::Other(format!("`{option}` is for C")));
        }
    }
    let began = Instant::now();
    let question = args.question.question();
    let reading = question.reading(args.input.reading());
    let input = match console.open_within(&args.input.file, reading, limits)? {
        Ok(input) => input,
        Err(why) => {
            print(&last_words(args)(&why))?;
            console.part();
            return Ok(1);
        }
    };
    let mut job = Job::new(&input).question(question).settings(settings(args)).watch(console);
    if args.no_check {
        job = job.unchecked();
    }
    if args.strict {
        job = job.strict();
    }
    let prepared = console.prepare(&job, Job::prepare)?;
    let problem = prepared.problem.clone();
    // What the question made of the input: a program that asks for values of threads' variables is
    // read again, so that none is forgotten.
    let loaded = prepared.loaded().unwrap_or(input.loaded()).clone();
    if let (true, Input::Program(program)) = (args.lint, &loaded.input) {
        let source = &loaded.source;
        let warned = lint(program.program(), source);
        let warned =
            warned.into_iter().map(|diagnostic| SourceDiagnostic { source: source.clone(), diagnostic });
        console.warn(&warned.collect::<Vec<_>>());
    }
    args.reuse.iter().for_each(|path| files::was_read(path));
    let checkpoint = checkpoint(args).cloned();
    let outputs = [
        (&args.html, Kind::Report),
        (&args.sarif, Kind::Report),
        (&args.certificate, Kind::Report),
        (&checkpoint, Kind::Own),
    ];
    files::claim(outputs.into_iter().filter_map(|(path, kind)| Some((path.as_ref()?, kind))), args.force)?;
    let endless = problem.bound == Bound::Any && args.search.timeout.is_none() && args.max_threads.is_none();
    if endless && io::stderr().is_terminal() {
        console.note("note: searching with 1, 2, 3, … threads; Ctrl-C stops and shows what was established");
    }
    #[cfg(feature = "cluster")]
    let parts = match args.search.engine {
        Engine::Distributed => super::cluster::parts(args, &loaded, &problem)?,
        _ => None,
    };
    let mut engine = args.search.engine.build(&settings(args));
    #[cfg(feature = "cluster")]
    if args.search.engine == Engine::Distributed {
        super::cluster::refuse(args)?;
        let earlier = parts.iter().filter_map(|parts| parts.earlier());
        earlier.for_each(|what| console.note(&format!("note: {what}")));
        engine = super::cluster::engine(args, parts.clone());
    }
    if let Some(path) = &checkpoint {
        let checkpoint = Checkpoint::open(path, args, &loaded, &problem)?;
        checkpoint.earlier().into_iter().for_each(|what| console.note(&format!("note: {what}")));
        console.keep_in(checkpoint);
    }
    if let Some(path) = &args.reuse {
        engine = Box::new(certify::reusing(path, &loaded, engine)?);
    }
    let mut outcome = job.check_by(&*engine, limits)?;
    console.has_answer();
    outcome.time = began.elapsed();
    console.warn(&outcome.vacuous);
    console.checkpoint().map_or(Ok(()), |kept| kept.refusal())?;
    let certificate = match &args.certificate {
        Some(path) => {
            let reading = args.input.reading();
            let origin = Origin { loaded: &loaded, reading: &reading, problem: &outcome.problem };
            certify::save(path, &origin, &outcome.answer.verdicts, !args.no_check)
        }
        None => Ok(None),
    };
    // The verdict is checked without it: hours of searching are not lost because a disk is full.
    let (certificate, unwritten) = Failure::unwritten(certificate)?;
    outcome.certificate = certificate;
    let options = text::Options {
        colour: console.colour,
        quiet: console.output.quiet,
        verbose: console.output.verbose,
    };
    // One that fails does not take the others along.
    let printed = print(&if args.json { outcome.json() } else { outcome.text(options) });
    let html = args.html.as_ref().map(|path| files::replace(path, &outcome.html()));
    let sarif = args.sarif.as_ref().map(|path| files::replace(path, &outcome.sarif()));
    let written = [Some(printed), unwritten.map(Err), html, sarif];
    written.into_iter().flatten().try_for_each(|written| written)?;
    let open = outcome.answer.verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_)));
    let unanswered = open && !(args.stop_at_first && outcome.is_unsafe());
    #[cfg(feature = "cluster")]
    parts.iter().filter_map(|parts| parts.end(unanswered)).for_each(|how| console.note(&how));
    if let Some(kept) = console.checkpoint() {
        kept.end(unanswered).into_iter().for_each(|how| console.note(&how));
    }
    if last {
        // Releasing a large input piece by piece takes as long as parsing it; the system takes it
        // back at once.
        std::mem::forget(loaded.clone());
    }
    Ok(outcome.exit_code())
}

/// The file for the state of the search. Workers keep their parts in a folder, which is not written
/// over.
fn checkpoint(args: &CheckArgs) -> Option<&PathBuf> {
    args.checkpoint.as_ref().filter(|_| args.search.engine.name() != "distributed")
}

/// What is printed if a search that was asked to stop does not come to an end soon, or reading the
/// input does not.
pub(super) fn last_words(args: &CheckArgs) -> LastWords {
    let (file, json) = (args.input.file.display().to_string(), args.json);
    Arc::new(move |why| match json {
        true => json::stopped(&file, why),
        false => format!("UNKNOWN  {why}; how far the search came is not known\nfile:    {file}\n"),
    })
}

/// How the engine searches. A certificate cannot prove what partial-order reduction leaves out.
pub(super) fn settings(args: &CheckArgs) -> Settings {
    let mut settings = args.search.settings();
    settings.max_threads = args.max_threads;
    settings.stop_at_first = args.stop_at_first;
    settings.partial_order &= args.certificate.is_none();
    settings.quotient = !args.no_quotient;
    settings
}
