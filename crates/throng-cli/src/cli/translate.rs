//! `throng translate`

use std::sync::Arc;

use super::console::{Console, Failure, complain};
use super::{Language, TranslateArgs, files};
use throng_lang::bp::printer;
use throng_lang::load::{Input, Loaded};
use throng_lang::question::Question;
use throng_lang::system::System;
use throng_lang::write::{Format, Written, write};
use throng_model::problem::Problem;
use throng_model::unfold::unfold;
use throng_model::verdict::Unknown;

pub(super) fn run(args: &TranslateArgs, console: &Console) -> Result<u8, Failure> {
    if args.question.start.threads.is_some() {
        let why = "`throng translate` writes the system for any number of threads: drop `--threads` here and give it \
                   to `throng check`";
        return Err(Failure::Other(why.into()));
    }
    let limits = super::limits(args.timeout, args.memory);
    console.begin(
        &limits,
        Arc::new(|why| {
            complain(&format!("UNKNOWN  {why}"));
            String::new()
        }),
    );
    let loaded = console.load(&args.input.file, &args.input.reading())?;
    let question = Question { may_lack_target: true, ..args.question.question() };
    let problem = console.pose(&question, &loaded, &args.input.file)?.problem;
    let written = match (&loaded.input, args.to) {
        (Input::Program(program), Language::Bp) => {
            if !(question.error_labels.is_empty()
                && question.mutex.is_empty()
                && question.invariants.is_empty())
            {
                console.note("note: the program is written as it is; ask for labels and invariants again");
            }
            return save(args, console, &printer::print(program.tree()), None).map(|()| 0);
        }
        _ => {
            let system = match as_system(&loaded, &problem, |p| unfold(p, &limits).map(System::from)) {
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
    for note in &written.notes {
        console.note(&format!("note: {note}"));
    }
    save(args, console, &written.text, Some(&written)).map(|()| 0)
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
    let Some(path) = &args.output_file else {
        if let Some(companion) = companion {
            console.note(&format!(
                "note: the targets go into a second file (.{}); `-o FILE` writes both",
                companion.extension
            ));
        }
        return console.print(text);
    };
    files::replace(path, text)?;
    let hides = path.with_extension("prop");
    if matches!(args.to, Language::Tts | Language::Ntts) && hides.is_file() {
        console.note(&format!(
            "note: {} is there: `throng check` asks for its targets, not for those of the new file",
            hides.display()
        ));
    }
    if let Some(companion) = companion {
        let beside = path.with_extension(companion.extension);
        files::replace(&beside, &companion.text)?;
        console.note(&format!("note: the targets are in {}", beside.display()));
    }
    Ok(())
}

impl Language {
    fn format(self) -> Format {
        match self {
            Language::Bp => Format::Bp,
            Language::Tts => Format::Tts,
            Language::Ntts => Format::Ntts,
            Language::Spec => Format::Spec,
            Language::Pnml => Format::Pnml,
            Language::Dot => Format::Dot,
        }
    }
}
