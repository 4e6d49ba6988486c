//! `throng translate`

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::console::{Console, Failure, complain};
use super::files::{self, Kind};
use super::{Language, TranslateArgs};
use throng::{Job, Prepared};
use throng_lang::bp::lower::{lower, plain::plain};
use throng_lang::bp::printer;
use throng_lang::load::{Input, Loaded, Reading};
use throng_lang::question::Question;
use throng_lang::system::System;
use throng_lang::write::flow::flow;
use throng_lang::write::{Format, Written, write};
use throng_model::Local;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::singles::Singles;
use throng_model::unfold::unfold;
use throng_model::verdict::Unknown;

pub(super) fn run(args: &TranslateArgs, console: &Console) -> Result<u8, Failure> {
    if args.question.start.threads.is_some() {
        let why = "`throng translate` writes the system for any number of threads: drop `--threads` here and give it \
                   to `throng check`";
        return Err(Failure::Other(why.into()));
    }
    if args.plain && args.to != Language::Bp {
        return Err(Failure::Other("`--plain` is for `--to bp`; other formats have no variables".into()));
    }
    if args.net && args.to != Language::Dot {
        return Err(Failure::Other("`--net` is for `--to dot`".into()));
    }
    let limits = super::limits(args.timeout, args.memory);
    console.begin(
        &limits,
        Arc::new(|why, _| {
            complain(&format!("UNKNOWN  {why}"));
            String::new()
        }),
    );
    let question = Question { may_lack_target: true, ..args.input.asking(args.question.question()) };
    let reading = Reading { goals: true, ..question.reading(args.input.reading()) };
    let input = console.open(&args.input, reading)?;
    let job = Job::new(&input).question(question.clone());
    let prepared = console.prepare(&job, Job::prepare)?;
    let Some(loaded) = input.loaded() else { return code(args, console, prepared, &limits) };
    if args.to == Language::Goto {
        return Err(Failure::Other("`--to goto` is for C".into()));
    }
    let mut problem = prepared.problem.clone();
    if problem.targets.iter().any(Target::is_about_all_threads) && args.to != Language::Bp {
        console.note(
            "note: no format can ask for deadlocks or stuck threads; ask again with --deadlock or --stuck",
        );
        problem.targets.retain(|target| !target.is_about_all_threads());
    }
    let problem = &problem;
    let output = args.output_file.as_ref().filter(|path| *path != Path::new("-"));
    files::claim(output.map(|path| (path, Kind::Own)), args.force)?;
    let written = match (&loaded.input, args.to) {
        (Input::Program(program), Language::Bp) => {
            if !(question.error_labels.is_empty()
                && question.mutex.is_empty()
                && question.at_most.is_empty()
                && question.never.is_empty()
                && question.races.is_empty()
                && !question.deadlock
                && question.stuck.is_empty()
                && question.starvation.is_empty()
                && question.invariants.is_empty()
                && question.targets.is_empty())
            {
                console.note("note: the program is written as it is; ask for labels and invariants again");
            }
            let text = match args.plain && program.tree().extended {
                true => printer::print(&plain(lower(program.tree()).0.tree)),
                false => printer::print(program.tree()),
            };
            return save(args, console, &text, None).map(|()| 0);
        }
        (Input::Program(program), Language::Dot) if !args.net => {
            let reached = reached(problem, &limits);
            if reached.is_none() {
                console.note("note: too many thread states to say which statements are never reached");
            }
            console.has_answer();
            return save(args, console, &flow(program.program(), reached.as_ref()), None).map(|()| 0);
        }
        _ => {
            let system = match as_system(loaded, problem, |p| unfold(p, &limits).map(System::from)) {
                Ok(system) => system,
                Err(Unknown::NotForThisModel(why)) => return Err(Failure::Other(why)),
                Err(why) => {
                    console.note(&format!("UNKNOWN  {why}"));
                    return Ok(1);
                }
            };
            write(&system, args.to.format()).map_err(|why| Failure::Other(why.to_string()))?
        }
    };
    console.has_answer();
    if let Some(initial) = written.initial.as_ref().filter(|_| written.start_must_be_given) {
        console.note(&format!("note: the initial configuration must be given: --initial '{initial}'"));
    }
    for note in &written.notes {
        console.note(&format!("note: {note}"));
    }
    save(args, console, &written.text, Some(&written)).map(|()| 0)
}

/// Translates a program in a source language.
fn code(
    args: &TranslateArgs,
    console: &Console,
    prepared: &Prepared,
    limits: &Limits,
) -> Result<u8, Failure> {
    console.assume(prepared);
    let text = match args.to {
        Language::Goto => prepared.goto(),
        Language::Dot if args.net => None,
        Language::Dot => prepared.flow(),
        Language::Bp if args.plain => None,
        Language::Bp => prepared.abstraction(limits, &mut |round| console.note(round)).transpose()?,
        _ => None,
    };
    let why =
        "C can be translated with `--to goto`, `--to bp` and `--to dot` only, without `--net` and `--plain`";
    let text = text.ok_or_else(|| Failure::Other(why.into()))?;
    console.has_answer();
    save(args, console, &text, None).map(|()| 0)
}

/// Line and column of every statement that a thread may reach, unless there are very many thread
/// states. The others are never reached.
fn reached(problem: &Problem, limits: &Limits) -> Option<BTreeSet<(u32, u32)>> {
    const MOST: usize = 200_000;
    let model = &*problem.model;
    let singles = Singles::of(model, &problem.initial, MOST, limits).ok()?.ok()?;
    let locals: BTreeSet<Local> = singles.shared().flat_map(|s| singles.at(s)).collect();
    Some(locals.into_iter().filter_map(|l| model.place(l)).map(|p| (p.line, p.column)).collect())
}

/// The problem as a system that is written out; `unfold` writes out a program.
fn as_system(
    loaded: &Loaded,
    problem: &Problem,
    unfold: impl FnOnce(&Problem) -> Result<System, Unknown>,
) -> Result<System, Unknown> {
    match &loaded.input {
        Input::Program(_) => unfold(problem),
        Input::System(system) => Ok(System {
            initial: problem.initial.clone(),
            initial_text: problem.initial_text.clone(),
            targets: problem.targets.clone(),
            ..system.clone()
        }),
    }
}

/// Writes the file, and the file that goes with it.
fn save(
    args: &TranslateArgs,
    console: &Console,
    text: &str,
    written: Option<&Written>,
) -> Result<(), Failure> {
    let companion = written.and_then(|w| w.companion.as_ref());
    let Some(path) = args.output_file.as_ref().filter(|path| *path != Path::new("-")) else {
        if let Some(companion) = companion {
            console.note(&format!(
                "note: the targets go into a second file (.{}); `-o FILE` writes both",
                companion.extension
            ));
        }
        return console.print(text);
    };
    let beside = companion.map(|companion| path.with_extension(companion.extension));
    let both = [(path, Kind::Own)].into_iter();
    files::claim(both.chain(beside.as_ref().map(|beside| (beside, Kind::Properties))), args.force)?;
    files::replace(path, text)?;
    let hides = path.with_extension("prop");
    if matches!(args.to, Language::Tts | Language::Ntts) && hides.is_file() {
        console.note(&format!(
            "note: {} is there: `throng check` asks for its targets, not for those of the new file",
            hides.display()
        ));
    }
    if let (Some(companion), Some(beside)) = (companion, beside) {
        files::replace(&beside, &marked(&companion.text))?;
        console.note(&format!("note: the targets are in {}", beside.display()));
    }
    Ok(())
}

/// Properties with a comment that says where they come from, behind the line that must be the
/// first.
fn marked(properties: &str) -> String {
    let (first, rest) = properties.split_once('\n').unwrap_or((properties, ""));
    format!("{first}\n{}{rest}", files::PROPERTIES_MARK)
}

impl Language {
    fn format(self) -> Format {
        match self {
            Language::Bp => Format::Bp,
            Language::Tts => Format::Tts,
            Language::Ntts => Format::Ntts,
            Language::Spec => Format::Spec,
            Language::Pnml => Format::Pnml,
            Language::Dot | Language::Goto => Format::Dot,
        }
    }
}
