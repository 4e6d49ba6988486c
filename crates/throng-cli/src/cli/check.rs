//! `throng check`

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::CheckArgs;
use super::certify;
use super::checkpoint::Checkpoint;
use super::console::{Console, Failure, Known, LastWords};
use super::files::{self, Kind};
use super::{replay, witness};
#[cfg(feature = "cluster")]
use throng::Engine;
use throng::findings::Baseline;
use throng::report::{json, text};
use throng::{Job, Outcome, Prepared, Settings};
use throng_lang::bp::lint::lint;
use throng_lang::load::{Input, Loaded};
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
    if !args.more.is_empty() && !is_one_program(args) {
        return super::several::run(args, console);
    }
    let limits = args.search.limits()?;
    checkpoint(args).into_iter().for_each(|path| console.will_keep_in(path));
    console.begin(&limits, last_words(args));
    check(args, console, &limits, true, &mut |text| console.print(text))
}

/// Returns whether further files are parts of the same program, as for a compiler.
fn is_one_program(args: &CheckArgs) -> bool {
    let is_c_file = |path: &PathBuf| path.extension().is_some_and(|e| e == "c" || e == "i");
    args.input.project.is_some() || args.input.is_c() && args.more.iter().all(is_c_file)
}

/// Checks one input; after the `last` one the process ends.
pub(super) fn check(
    args: &CheckArgs,
    console: &Console,
    limits: &Limits,
    last: bool,
    print: Print<'_>,
) -> Result<u8, Failure> {
    refuse_for_the_language(args)?;
    let began = Instant::now();
    let question = args.input.asking(args.question.question());
    let reading = question.reading(args.input.reading());
    let input = match console.open_within(&args.input, &args.more, reading, limits)? {
        Ok(input) => input,
        Err(why) => {
            print(&last_words(args)(&why, "still reading the input"))?;
            console.part();
            return Ok(1);
        }
    };
    let keep = |outcome: &Outcome| console.keep_known(known(args, outcome, console));
    let mut job = Job::new(&input).question(question).settings(settings(args)).watch(console);
    if last {
        job = job.so_far(&keep);
    }
    if args.no_check {
        job = job.unchecked();
    }
    if args.strict {
        job = job.strict();
    }
    if args.certificate.is_some() {
        job = job.certifiable();
    }
    if args.fail_on.is_some() {
        job = job.fail_on_possible();
    }
    if let Some(path) = &args.baseline {
        job = job.baseline(baseline(path)?);
    }
    let prepared = console.prepare(&job, Job::prepare)?.clone();
    if let Some(loaded) = prepared.loaded().filter(|_| args.lint) {
        warn_of_statements(loaded, console)?;
    }
    claim(args)?;
    let bound = prepared.problem.bound;
    let endless = bound == Bound::Any && args.search.timeout.is_none() && args.max_threads.is_none();
    if endless && io::stderr().is_terminal() {
        console.note("note: searching with 1, 2, 3, … threads; Ctrl-C stops and shows what was established");
    }
    let (mut outcome, search) = match prepared.loaded() {
        None => (job.check(args.search.engine, limits)?, Searched::default()),
        Some(loaded) => search(args, &job, &prepared, loaded, console, limits)?,
    };
    console.has_answer();
    outcome.time = began.elapsed();
    console.warn(&outcome.vacuous);
    console.remark(&outcome.remarks);
    console.checkpoint().map_or(Ok(()), |kept| kept.refusal())?;
    let certificate = match &args.certificate {
        Some(path) => certify::save(path, &job, &prepared, &outcome, console, !args.no_check),
        None => Ok(None),
    };
    // The verdict is checked without it: hours of searching are not lost because a disk is full.
    let (certificate, unwritten) = Failure::unwritten(certificate)?;
    outcome.certificate = certificate;
    write(args, &outcome, console, print, unwritten)?;
    search.end(args, &outcome, console);
    if last {
        // Releasing a large input piece by piece takes as long as parsing it; the system takes it
        // back at once.
        std::mem::forget(prepared);
    }
    Ok(outcome.exit_code())
}

/// Refuses options that say nothing about an input of this kind.
fn refuse_for_the_language(args: &CheckArgs) -> Result<(), Failure> {
    let (is_c, is_code) = (args.input.is_c(), args.input.is_code());
    let given = |option: &Option<PathBuf>| option.is_some();
    let others = "Boolean programs, systems and nets";
    let for_others = [
        ("--checkpoint", given(&args.checkpoint), others),
        ("--reuse", given(&args.reuse), others),
        (
            "--strict",
            args.strict,
            "others: for source languages, `throng mutate` shows what a proof depends on",
        ),
        ("--lint", args.lint, "Boolean programs"),
    ];
    let for_c = [
        ("--replay", given(&args.replay), "C"),
        ("--replay-run", args.replay_run, "C"),
        ("--witness", given(&args.witness), "C"),
        ("--fail-on", args.fail_on.is_some(), "C"),
        ("--baseline", given(&args.baseline), "C"),
        ("--write-baseline", given(&args.write_baseline), "C"),
    ];
    let refused = for_others.iter().filter(|_| is_code).chain(for_c.iter().filter(|_| !is_c));
    if let Some((option, _, what)) = { refused }.find(|(_, given, _)| *given) {
        return Err(Failure::Other(format!("`{option}` is for {what}")));
    }
    let about_races = for_c.iter().skip(3).find(|(_, given, _)| *given);
    match about_races.filter(|_| args.question.race.is_empty() && args.question.property.is_none()) {
        Some((option, ..)) => Err(Failure::Other(format!("`{option}` is about races: add `--race`"))),
        None => Ok(()),
    }
}

/// Warns of statements that may be several steps in the program that is modelled.
fn warn_of_statements(loaded: &Loaded, console: &Console) -> Result<(), Failure> {
    let Input::Program(program) = &loaded.input else {
        return Err(Failure::Other("`--lint` is for Boolean programs".into()));
    };
    let source = &loaded.source;
    let found = lint(program.program(), source);
    let found = found.into_iter().map(|diagnostic| SourceDiagnostic { source: source.clone(), diagnostic });
    console.warn(&found.collect::<Vec<_>>());
    Ok(())
}

/// Makes sure that every output may be written.
fn claim(args: &CheckArgs) -> Result<(), Failure> {
    args.reuse.iter().for_each(|path| files::was_read(path));
    let checkpoint = checkpoint(args).cloned();
    let outputs = [
        (&args.html, Kind::Report),
        (&args.sarif, Kind::Report),
        (&args.certificate, Kind::Report),
        (&args.witness, Kind::Report),
        (&args.litmus, Kind::Report),
        (&args.write_baseline, Kind::Report),
        (&args.replay, Kind::Own),
        (&checkpoint, Kind::Own),
    ];
    files::claim(outputs.into_iter().filter_map(|(path, kind)| Some((path.as_ref()?, kind))), args.force)
}

/// Writes the litmus test of an execution, or says that there is none.
fn litmus(path: &Path, outcome: &Outcome, console: &Console) -> Result<(), Failure> {
    let why = match &outcome.litmus {
        Some(Ok(text)) => return files::replace(path, text),
        Some(Err(why)) => why,
        None => "there is no execution that only weak memory orders allow",
    };
    console.note(&format!("note: no litmus test was written: {why}"));
    Ok(())
}

/// What a search kept outside of the process.
#[derive(Default)]
struct Searched {
    #[cfg(feature = "cluster")]
    parts: Option<Arc<super::cluster::PartFolder>>,
}

impl Searched {
    /// Says what is kept for another call, and removes it if everything is answered.
    fn end(&self, args: &CheckArgs, outcome: &Outcome, console: &Console) {
        let open = outcome.answer.verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_)));
        let unanswered = open && !(args.stop_at_first && outcome.is_unsafe());
        #[cfg(feature = "cluster")]
        self.parts.iter().filter_map(|parts| parts.end(unanswered)).for_each(|how| console.note(&how));
        if let Some(kept) = console.checkpoint() {
            kept.end(unanswered).into_iter().for_each(|how| console.note(&how));
        }
    }
}

/// Searches a model, in the ways that options ask for.
fn search(
    args: &CheckArgs,
    job: &Job<'_>,
    prepared: &Prepared,
    loaded: &Loaded,
    console: &Console,
    limits: &Limits,
) -> Result<(Outcome, Searched), Failure> {
    let problem = &prepared.problem;
    let searched = Searched {
        #[cfg(feature = "cluster")]
        parts: match args.search.engine {
            Engine::Distributed => super::cluster::parts(args, loaded, problem)?,
            _ => None,
        },
    };
    let mut engine = job.engine(args.search.engine);
    #[cfg(feature = "cluster")]
    if args.search.engine == Engine::Distributed {
        super::cluster::refuse(args)?;
        let earlier = searched.parts.iter().filter_map(|parts| parts.earlier());
        earlier.for_each(|what| console.note(&format!("note: {what}")));
        engine = super::cluster::engine(args, searched.parts.clone());
    }
    if let Some(path) = checkpoint(args) {
        let checkpoint = Checkpoint::open(path, args, loaded, problem)?;
        checkpoint.earlier().into_iter().for_each(|what| console.note(&format!("note: {what}")));
        console.keep_in(checkpoint);
    }
    if let Some(path) = &args.reuse {
        engine = Box::new(certify::reusing(path, loaded, engine)?);
    }
    Ok((job.check_by(&*engine, limits)?, searched))
}

/// Writes the report and everything else that was asked for; what fails does not take the others
/// along.
fn write(
    args: &CheckArgs,
    outcome: &Outcome,
    console: &Console,
    print: Print<'_>,
    unwritten: Option<Failure>,
) -> Result<(), Failure> {
    let printed = print(&report(args, outcome, console));
    let html = args.html.as_ref().map(|path| files::replace(path, &outcome.html()));
    let sarif = args.sarif.as_ref().map(|path| files::replace(path, &outcome.sarif()));
    let replay = (args.replay.is_some() || args.replay_run)
        .then(|| replay::write(args.replay.as_deref(), args.replay_run, outcome, console));
    let witness = args.witness.as_ref().map(|path| witness::write(path, args.input.file(), outcome, console));
    let known = args.write_baseline.as_ref().map(|path| write_baseline(path, outcome));
    let litmus = args.litmus.as_ref().map(|path| litmus(path, outcome, console));
    let written = [Some(printed), unwritten.map(Err), html, sarif, known, replay, witness, litmus];
    written.into_iter().flatten().try_for_each(|written| written)
}

/// Returns the report as it goes to standard output.
fn report(args: &CheckArgs, outcome: &Outcome, console: &Console) -> String {
    let options = text::Options {
        colour: console.colour,
        quiet: console.output.quiet,
        verbose: console.output.verbose,
    };
    if args.json { outcome.json() } else { outcome.text(options) }
}

/// Returns what is written if the search does not end: an outcome so far.
fn known(args: &CheckArgs, outcome: &Outcome, console: &Console) -> Known {
    let html = args.html.as_ref().map(|path| (path.clone(), outcome.html()));
    let sarif = args.sarif.as_ref().map(|path| (path.clone(), outcome.sarif()));
    let findings = outcome.findings.as_ref().map(|f| throng::findings::write_baseline(f, outcome.file()));
    let baseline = args.write_baseline.clone().zip(findings);
    Known {
        text: report(args, outcome, console),
        status: outcome.exit_code(),
        files: html.into_iter().chain(sarif).chain(baseline).collect(),
    }
}

/// Reads what is known of races.
fn baseline(path: &Path) -> Result<Baseline, Failure> {
    files::was_read(path);
    let wrong = |why: String| Failure::Other(format!("--baseline: {}: {why}", path.display()));
    let bytes = fs::read(path).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => wrong(format!("{why}; `--write-baseline` writes one")),
        _ => wrong(why.to_string()),
    })?;
    Baseline::read(&bytes).map_err(wrong)
}

/// Writes what is known of races.
fn write_baseline(path: &Path, outcome: &Outcome) -> Result<(), Failure> {
    match &outcome.findings {
        Some(findings) => files::replace(path, &throng::findings::write_baseline(findings, outcome.file())),
        None => Err(Failure::Unwritten(format!("{}: nothing is known of races", path.display()))),
    }
}

/// The file for the state of the search. Workers keep their parts in a folder, which is not written
/// over.
fn checkpoint(args: &CheckArgs) -> Option<&PathBuf> {
    args.checkpoint.as_ref().filter(|_| args.search.engine.name() != "distributed")
}

/// What is printed if a search that was asked to stop does not come to an end soon, or reading the
/// input does not.
pub(super) fn last_words(args: &CheckArgs) -> LastWords {
    let (file, json) = (args.input.file().display().to_string(), args.json);
    Arc::new(move |why, doing| match json {
        true => json::stopped(&file, why, doing),
        false => format!("UNKNOWN  {why}; {doing}\nfile:    {file}\n"),
    })
}

/// How the engine searches.
pub(super) fn settings(args: &CheckArgs) -> Settings {
    let mut settings = args.search.settings();
    settings.max_threads = args.max_threads;
    settings.stop_at_first = args.stop_at_first;
    settings.quotient = !args.no_quotient;
    settings
}
