//! C programs: every command gets the concrete model of one in place of an input in another
//! language.

mod abstraction;
mod deadlock;
mod hunt;
mod locksets;
mod memory;
pub(super) mod mutate;
mod parts;
mod property;
mod replay;
mod search;
mod switches;
pub(super) mod witness;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(super) use abstraction::Certification;

use super::check::{Print, settings};
use super::console::{Console, Failure};
use super::files::{self, Kind};
use super::vocabulary::OPTIONS;
use super::{CertifyArgs, CheckArgs, InputArgs, Language, QuestionArgs, TranslateArgs};
use throng::report::text;
use throng::{Engine, Job, MemoryModel, Outcome};
use throng_c::{Loaded, Options, load};
use throng_goto::model::Remarks;
use throng_goto::program::{Doubt, Start, Violation};
use throng_goto::{Concrete, Question};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::{Trace, Unknown, Verdict};

/// Whether a file is C.
pub(super) fn is_c(input: &InputArgs) -> bool {
    let extension = input.file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    input.from.is_none() && matches!(extension, "c" | "i")
}

/// Refuses options for C with inputs in other languages.
pub(super) fn refuse(input: &InputArgs, question: Option<&QuestionArgs>) -> Result<(), Failure> {
    let given = [
        ("-D", !input.define.is_empty()),
        ("-I", !input.include.is_empty()),
        ("--entry", !input.entry.is_empty()),
        ("--no-spurious", input.no_spurious),
        ("--whole-statements", input.whole_statements),
        ("--memory-model", input.memory_model.is_some()),
        ("--ilp32", input.ilp32),
        ("--lp64", input.lp64),
        ("--property", question.is_some_and(|q| q.property.is_some())),
    ];
    if question.is_some_and(|q| q.race.iter().any(String::is_empty)) {
        return Err(Failure::Other("`--race` needs a shared variable of the program: `--race VAR`".into()));
    }
    let option = given.iter().find(|(_, given)| *given).map(|(name, _)| *name);
    match option.or_else(|| question.and_then(|q| q.failures.given())) {
        Some(option) => Err(Failure::Other(format!("`{option}` is for C: files that end in .c or .i"))),
        None => Ok(()),
    }
}

/// What was read, and the model that is searched.
#[derive(Clone)]
struct Read {
    loaded: Loaded,
    model: Arc<Concrete>,
    problem: Problem,
}

fn options(input: &InputArgs) -> Options {
    let mut question = Question::default();
    question.entries = input.entry.clone();
    question.no_spurious = input.no_spurious;
    question.whole_statements = input.whole_statements;
    question.ilp32 = input.ilp32;
    question.sequential = input.memory_model.is_some();
    Options { defines: input.define.clone(), includes: input.include.clone(), question, ..Options::default() }
}

/// Whether further files are parts of the same program, as for a compiler.
pub(super) fn is_one_program(args: &CheckArgs) -> bool {
    let is_c_file = |path: &PathBuf| path.extension().is_some_and(|e| e == "c" || e == "i");
    is_c(&args.input) && args.more.iter().all(is_c_file)
}

/// Further files, where they are or beside the first.
fn parts(first: &Path, more: &[PathBuf]) -> Vec<PathBuf> {
    let there = |path: &PathBuf| match path.exists() {
        true => path.clone(),
        false => first.parent().unwrap_or(Path::new("")).join(path),
    };
    more.iter().map(there).collect()
}

fn read(input: &InputArgs, question: &QuestionArgs, more: &[PathBuf]) -> Result<Read, Failure> {
    let asked = question.question();
    let others = [&asked.targets, &asked.invariants, &asked.at_most, &asked.never, &asked.stuck];
    if asked.initial.is_some() || asked.prop.is_some() || others.iter().any(|list| !list.is_empty()) {
        let why = "--initial, --target, --prop, --invariant, --at-most, --never and --stuck are not for C: `main`, or --entry, says where threads start, and \
                   assertions, --error-label, --mutex, --race, --deadlock, --overflow, --locks and --memory-safety what must not happen";
        return Err(Failure::Other(why.into()));
    }
    let mut options = options(input);
    options.more = parts(&input.file, more);
    options.more.iter().for_each(|file| files::was_read(file));
    options.question.error_labels = asked.error_labels;
    options.question.exclusive = asked.mutex;
    let failures = &question.failures;
    if asked.races.iter().any(|variable| !variable.is_empty()) {
        let why = "`--race` is about all memory of a C program: give it without a variable, after the file";
        return Err(Failure::Other(why.into()));
    }
    options.question.race = !asked.races.is_empty();
    options.question.deadlock = asked.deadlock;
    options.question.overflow = failures.overflow;
    options.question.locks = failures.locks;
    options.question.memory_safety = failures.memory_safety;
    options.question.assertions = failures.assertions;
    if let Some(file) = &question.property {
        property::ask(file, &mut options.question)?;
    }
    if options.question.race && input.whole_statements {
        let why = "`--race` is about single accesses to memory: drop `--whole-statements`";
        return Err(Failure::Other(why.into()));
    }
    open(input, &options, asked.threads)
}

fn open(input: &InputArgs, options: &Options, threads: Option<u32>) -> Result<Read, Failure> {
    if threads == Some(0) {
        return Err(Failure::Other("a program without threads does nothing: --threads 1 or more".into()));
    }
    files::was_read(&input.file);
    let loaded = load(&input.file, options)?;
    let model = loaded.query.model();
    let mut problem = loaded.query.problem_of(model.clone());
    problem.bound = threads.map_or(Bound::Any, Bound::Threads);
    Ok(Read { loaded, model, problem })
}

/// A job about a program, for commands that ask for no property.
pub(super) fn job<'a>(
    input: &InputArgs,
    initial: Option<&str>,
    threads: Option<u32>,
    console: &Console,
) -> Result<Job<'a>, Failure> {
    if initial.is_some() {
        return Err(Failure::Other(
            "`--initial` is not for C: `main`, or `--entry`, says where threads start".into(),
        ));
    }
    let read = open(input, &options(input), threads)?;
    remark(&read, console);
    let doubt = undefined(&read).map(|names| {
        Unknown::Unsure(format!(
            "what is reached is not known of a program that calls what is not defined: {names}"
        ))
    });
    let job = Job::of(read.problem).read_from(read.loaded.query.source);
    Ok(match doubt {
        Some(why) => job.doubted(why),
        None => job,
    })
}

/// A job about a program and what is asked about it.
pub(super) fn asked<'a>(
    input: &InputArgs,
    question: &QuestionArgs,
    console: &Console,
) -> Result<Job<'a>, Failure> {
    let read = read(input, question, &[])?;
    remark(&read, console);
    Ok(Job::of(read.problem).read_from(read.loaded.query.source))
}

/// What the reader left open.
fn remark(read: &Read, console: &Console) {
    for note in &read.loaded.query.notes {
        console.note(&format!("note: {note}"));
    }
}

/// `throng check x.c`
pub(super) fn check(
    args: &CheckArgs,
    console: &Console,
    limits: &Limits,
    print: Print<'_>,
) -> Result<u8, Failure> {
    let began = Instant::now();
    let given = [args.checkpoint.is_some(), args.reuse.is_some(), args.exhaust, args.unfold];
    if given.contains(&true) {
        let why = "--checkpoint, --reuse, --exhaust and --unfold are not for C yet";
        return Err(Failure::Other(why.into()));
    }
    let read = read(&args.input, &args.question, &args.more)?;
    console.has_read();
    let reading = began.elapsed();
    let question = &read.loaded.query.question;
    let only_assertions = *question == options(&args.input).question;
    if only_assertions && !read.loaded.query.program.asserts {
        console.note(
            "warning: nothing is asserted in the code that runs, so nothing can fail: use assert(), or ask for --error-label, --mutex, \
             --race, --deadlock, --overflow, --locks or --memory-safety",
        );
    }
    let outputs = [
        (&args.html, Kind::Report),
        (&args.sarif, Kind::Report),
        (&args.certificate, Kind::Report),
        (&args.witness, Kind::Report),
        (&args.replay, Kind::Own),
    ];
    files::claim(outputs.into_iter().filter_map(|(path, kind)| Some((path.as_ref()?, kind))), args.force)?;
    let parts = parts::answer(args, read, console, limits)?;
    console.has_answer();
    let mut outcome = parts::merge(&parts);
    (outcome.time, outcome.phases.reading) = (began.elapsed(), reading);
    let misused = parts.iter().filter(|p| !p.read.loaded.query.question.locks);
    if let Some(misuse) = misused.filter_map(|p| p.remarks().misuse).next() {
        console.note(&format!("warning: {misuse}"));
    }
    let options = text::Options {
        colour: console.colour,
        quiet: console.output.quiet,
        verbose: console.output.verbose,
    };
    let printed = print(&if args.json { outcome.json() } else { outcome.text(options) });
    let html = args.html.as_ref().map(|path| files::replace(path, &outcome.html()));
    let sarif = args.sarif.as_ref().map(|path| files::replace(path, &outcome.sarif()));
    let shown = parts.iter().find(|p| p.outcome.is_unsafe()).unwrap_or(&parts[0]);
    let replay = args.replay.as_ref().map(|path| {
        let Read { loaded, model, .. } = &shown.read;
        replay::write(path, args.replay_run, loaded, model, &shown.outcome, console)
    });
    let certificate = args.certificate.as_ref().map(|path| parts::write_certificate(path, &parts, console));
    let witness =
        args.witness.as_ref().map(|path| witness::write(path, args, &shown.read, &shown.outcome, console));
    [Some(printed), html, sarif, replay, certificate, witness]
        .into_iter()
        .flatten()
        .try_for_each(|written| written)?;
    Ok(outcome.status().exit_code())
}

/// Asks the engines one question.
fn decide(
    args: &CheckArgs,
    read: &mut Read,
    console: &Console,
    limits: &Limits,
) -> Result<(Outcome, Arc<abstraction::Attempt>), Failure> {
    let mut engine = args.search.engine.build(&settings(args));
    let auto = args.search.engine == Engine::Auto;
    let starts = auto && matches!(read.loaded.query.program.start, Start::One(_));
    let hunt = starts.then(|| hunt::Hunt::new(&read.loaded.query.program, read.problem.bound));
    let abstraction = Arc::new(abstraction::Attempt::new(&read.loaded, args, console.output.verbose)?);
    if auto && abstraction.applies() {
        let (model, attempt) = (read.model.clone(), abstraction.clone());
        engine = Box::new(abstraction::WithAbstraction { hunt, then: engine, attempt, model });
    } else if let Some(hunt) = hunt {
        engine = Box::new(hunt::HuntFirst { hunt, then: engine });
    }
    match deadlock::ordered(&read.loaded).filter(|_| auto) {
        Some((order, checked)) => {
            deadlock::ask(&mut read.problem);
            engine = Box::new(deadlock::Proved(order, checked));
        }
        None if read.loaded.query.question.deadlock => {
            engine = deadlock::also(engine, &read.model, &mut read.problem, limits);
        }
        None => {}
    }
    let locksets = (args.search.engine == Engine::Auto).then(|| locksets::prove(&read.loaded)).flatten();
    if let Some(compared) = locksets {
        engine = Box::new(locksets::Proved(compared));
    }
    let mut job = Job::of(read.problem.clone())
        .vocabulary(&OPTIONS)
        .read_from(read.loaded.query.source.clone())
        .settings(settings(args))
        .watch(console);
    if args.no_check {
        job = job.unchecked();
    }
    let mut outcome = job.check_by(&*engine, limits)?;
    settle(read, &mut outcome);
    let remarks = abstraction.remarks(&outcome).unwrap_or_else(|| read.model.remarks());
    outcome.assumptions = assumptions(read, &remarks, &outcome);
    if locksets.is_some() {
        locksets::report(&mut outcome);
    }
    let by_order = deadlock::report(&mut outcome);
    memory::name(read, &mut outcome);
    if outcome.is_safe() && (locksets.is_some() || by_order || abstraction.trusts_bounds()) {
        memory::refute(args, read, &mut outcome, console, limits)?;
    }
    Ok((outcome, abstraction))
}

/// What the reader knows about an outcome and engines do not: verdicts that the program itself may
/// not bear out.
fn settle(read: &Read, outcome: &mut Outcome) {
    for (n, verdict) in outcome.answer.verdicts.iter_mut().enumerate() {
        let why = match verdict {
            Verdict::Unsafe(trace) => unsure_run(read, n, trace),
            Verdict::Safe(_) => unsure_proof(read, n),
            Verdict::Unknown(_) => None,
        };
        if let Some(why) = why {
            *verdict = Verdict::Unknown(Unknown::Unsure(why));
        }
    }
    if read.loaded.query.undefined().next().is_some() {
        // Nor is anything known about small numbers of threads.
        outcome.answer.statistics.complete_up_to = None;
    }
    let proves = outcome.answer.verdicts.iter().any(|v| matches!(v, Verdict::Safe(_)));
    outcome.memory_model = (proves && read.loaded.query.only_sequential()).then_some(MemoryModel::Sequential);
    outcome.most_threads = read.loaded.query.program.most_threads();
}

/// Why a run into target `n` need not be one of the program.
fn unsure_run(read: &Read, n: usize, trace: &Trace) -> Option<String> {
    let mut doubts = throng_goto::doubt::doubts(&read.model, trace);
    if n >= read.loaded.query.program.asked.len() {
        // What threads do up to where they wait in a deadlock is not part of the run.
        doubts.extend(read.loaded.query.undefined().map(|name| Doubt::Undefined(name.into())));
    }
    let words: Vec<String> = doubts.iter().map(Doubt::to_string).collect();
    (!words.is_empty())
        .then(|| format!("a run was found, but perhaps not one of the program: {}", words.join("; ")))
}

/// The functions that are called and not defined, if there are any.
fn undefined(read: &Read) -> Option<String> {
    let names: Vec<&str> = read.loaded.query.undefined().collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Why a proof about target `n` need not be one about the program.
fn unsure_proof(read: &Read, n: usize) -> Option<String> {
    if let Some(names) = undefined(read) {
        return Some(format!("nothing is proved about a program that calls what is not defined: {names}"));
    }
    let race = read.loaded.query.program.asked.get(n) == Some(&Violation::Race);
    (race && read.loaded.query.only_sequential()).then(|| {
        "there is no race under sequential consistency, but memory orders that are weaker than seq_cst, as this program names them, may allow one \
         (`--memory-model sc` asks about sequential consistency only)"
            .into()
    })
}

/// What the verdicts take for granted.
fn assumptions(read: &Read, remarks: &Remarks, outcome: &Outcome) -> Vec<String> {
    let mut found = read.loaded.query.assumptions(remarks);
    // Of programs that were proved to have none, whatever the number of their threads.
    let race_free = read.loaded.query.question.race
        && outcome.is_safe()
        && read.problem.bound == Bound::Any
        && !read.loaded.query.program.weak_orders;
    if race_free && let Some(first) = found.first_mut() {
        *first = "sequential consistency, which C guarantees to programs without data races".into();
    }
    found
}

/// `throng certify x.c CERT`: whether the certificate stands; `Err`: it, or the program, cannot be
/// read.
pub(super) fn certify(args: &CertifyArgs, bytes: &[u8], limits: &Limits) -> Result<Certification, Failure> {
    let read = read(&args.input, &args.question, &[])?;
    Ok(match deadlock::is_one(bytes) {
        true => deadlock::certify(&read.loaded, bytes),
        false => abstraction::certify(&read.loaded, bytes, limits),
    })
}

/// `throng translate x.c --to goto`, `--to bp` and `--to dot`
pub(super) fn translate(args: &TranslateArgs, console: &Console) -> Result<u8, Failure> {
    let read = read(&args.input, &args.question, &[])?;
    remark(&read, console);
    let text = match args.to {
        Language::Goto => read.loaded.query.program.print(),
        Language::Dot => throng_goto::dot::dot(&read.loaded.query.program),
        Language::Bp => {
            abstraction::program(&read.loaded, &super::limits(args.timeout, args.memory), console)?
        }
        _ => {
            return Err(Failure::Other(
                "C can be translated with `--to goto`, `--to bp` and `--to dot` only".into(),
            ));
        }
    };
    match args.output_file.as_ref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            files::claim([(path, Kind::Own)], args.force)?;
            files::replace(path, &text)?;
        }
        None => console.print(&text)?,
    }
    Ok(0)
}
