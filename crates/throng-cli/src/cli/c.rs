//! C programs: `throng check x.c` searches their concrete model, `throng translate x.c --to goto` prints what they mean.

use std::path::Path;
use std::time::Instant;

use super::check::{Print, settings};
use super::console::{Console, Failure};
use super::files::{self, Kind};
use super::vocabulary::OPTIONS;
use super::{CheckArgs, InputArgs, Language, QuestionArgs, TranslateArgs};
use throng::Job;
use throng::report::text;
use throng_c::{Loaded, Options, load};
use throng_lang::question::Question;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};

/// Whether a file is C.
pub(super) fn is_c(input: &InputArgs) -> bool {
    let extension = input.file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    input.from.is_none() && matches!(extension, "c" | "i")
}

fn read(input: &InputArgs, question: &QuestionArgs, console: &Console) -> Result<(Loaded, Problem), Failure> {
    let question = question.question();
    let Question { targets, mutex, at_most, never, races, invariants, .. } = &question;
    let others = [targets, mutex, at_most, never, races, invariants];
    if question.initial.is_some()
        || question.prop.is_some()
        || question.deadlock
        || others.iter().any(|list| !list.is_empty())
    {
        let why = "of C, the properties are assertions and --error-label; --initial, --target, --prop, --mutex, --at-most, --never, --race, --deadlock \
                   and --invariant are not for C yet";
        return Err(Failure::Other(why.into()));
    }
    if question.threads == Some(0) {
        return Err(Failure::Other("a program without threads does nothing: --threads 1 or more".into()));
    }
    files::was_read(&input.file);
    let options = Options {
        defines: input.define.clone(),
        includes: input.include.clone(),
        error_labels: question.error_labels,
        ..Options::default()
    };
    let loaded = load(&input.file, &options)?;
    for note in &loaded.notes {
        console.note(&format!("note: {note}"));
    }
    let mut problem = loaded.problem();
    problem.bound = question.threads.map_or(Bound::Any, Bound::Threads);
    Ok((loaded, problem))
}

/// `throng check x.c`
pub(super) fn check(
    args: &CheckArgs,
    console: &Console,
    limits: &Limits,
    print: Print<'_>,
) -> Result<u8, Failure> {
    let began = Instant::now();
    let given = [
        args.certificate.is_some(),
        args.checkpoint.is_some(),
        args.reuse.is_some(),
        args.exhaust,
        args.unfold,
    ];
    if given.contains(&true) {
        let why = "--certificate, --checkpoint, --reuse, --exhaust and --unfold are not for C yet";
        return Err(Failure::Other(why.into()));
    }
    let (loaded, problem) = read(&args.input, &args.question, console)?;
    let reading = began.elapsed();
    let outputs = [(&args.html, Kind::Report), (&args.sarif, Kind::Report)];
    files::claim(outputs.into_iter().filter_map(|(path, kind)| Some((path.as_ref()?, kind))), args.force)?;
    let mut job = Job::of(problem)
        .vocabulary(&OPTIONS)
        .read_from(loaded.source.clone())
        .settings(settings(args))
        .watch(console);
    if args.no_check {
        job = job.unchecked();
    }
    let mut outcome = job.check(args.search.engine, limits)?;
    console.has_answer();
    (outcome.time, outcome.phases.reading) = (began.elapsed(), reading);
    console.note("note: assuming sequential consistency, and that signed integers wrap");
    let options = text::Options {
        colour: console.colour,
        quiet: console.output.quiet,
        verbose: console.output.verbose,
    };
    let printed = print(&if args.json { outcome.json() } else { outcome.text(options) });
    let html = args.html.as_ref().map(|path| files::replace(path, &outcome.html()));
    let sarif = args.sarif.as_ref().map(|path| files::replace(path, &outcome.sarif()));
    [Some(printed), html, sarif].into_iter().flatten().try_for_each(|written| written)?;
    Ok(outcome.status().exit_code())
}

/// `throng translate x.c --to goto`
pub(super) fn translate(args: &TranslateArgs, console: &Console) -> Result<u8, Failure> {
    if args.to != Language::Goto {
        return Err(Failure::Other("C can be translated with `--to goto` only".into()));
    }
    let (loaded, _) = read(&args.input, &args.question, console)?;
    let text = loaded.program.print();
    match args.output_file.as_ref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            files::claim([(path, Kind::Own)], args.force)?;
            files::replace(path, &text)?;
        }
        None => console.print(&text)?,
    }
    Ok(0)
}
