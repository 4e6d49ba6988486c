//! `throng check`

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Instant;

use super::certify::{self, Reusing};
use super::checkpoint::Checkpoint;
use super::console::{Console, Failure, LastWords};
use super::files::{self, Kind};
use super::{CheckArgs, EngineName};
use throng::engine::Engine;
use throng::engine::auto::Auto;
use throng::engine::backward::Pruned;
use throng::engine::equations::Equations;
use throng::engine::exhaust::{Coverability, Exhaust, GaveUp};
use throng::engine::explicit::Explicit;
use throng::engine::guided::Guided;
use throng::engine::karp_miller::KarpMiller;
use throng::engine::on_quotient::OnQuotient;
use throng::engine::symbolic::Symbolic;
use throng::engine::views::Views;
use throng::report::{Report, json, page, sarif, text};
use throng::verify::Verification;
use throng_check::certificate::write::Origin;
use throng_lang::question::Posed;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::unfold::unfold;
use throng_model::verdict::{Unknown, Verdict};

pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<u8, Failure> {
    if super::c::is_c(&args.input) {
        return super::c::check(args, console);
    }
    let began = Instant::now();
    let limits = args.search.limits();
    console.begin(&limits, last_words(args));
    let loaded = console.load(&args.input.file, &args.question.question().reading(args.input.reading()))?;
    let Posed { problem, left_out, .. } =
        console.pose(&args.question.question(), &loaded, &args.input.file)?;
    args.reuse.iter().for_each(|path| files::was_read(path));
    let outputs = [
        (&args.html, Kind::Report),
        (&args.sarif, Kind::Report),
        (&args.certificate, Kind::Report),
        (&args.checkpoint, Kind::Own),
    ];
    files::claim(outputs.into_iter().filter_map(|(path, kind)| Some((path.as_ref()?, kind))), args.force)?;
    let endless = problem.bound == Bound::Any && args.search.timeout.is_none() && args.max_threads.is_none();
    if endless && io::stderr().is_terminal() {
        console.note("note: searching with 1, 2, 3, … threads; Ctrl-C stops and shows what was established");
    }
    let mut engine = if args.exhaust { aimless(args)? } else { engine(args) };
    let problem = match args.unfold.then(|| as_table(&problem, &limits)) {
        None => problem,
        Some(Ok(table)) => table,
        Some(Err(why)) => {
            engine = Box::new(GaveUp(why));
            problem
        }
    };
    if let Some(path) = &args.checkpoint {
        let checkpoint = Checkpoint::open(path, args, &loaded, &problem)?;
        checkpoint.earlier().into_iter().for_each(|what| console.note(&format!("note: {what}")));
        console.keep_in(checkpoint);
    }
    if let Some(path) = &args.reuse {
        engine = Box::new(Reusing::new(path, &loaded, &problem, engine)?);
    }
    let asked = Verification::of(problem).left_out(left_out).reading_took(began.elapsed());
    let asked = asked.engine(&*engine).limits(limits).watch(console);
    let outcome = if args.no_check { asked.unchecked() } else { asked }.run()?;
    console.has_answer();
    let time = began.elapsed();
    console.checkpoint().map_or(Ok(()), |kept| kept.refusal())?;
    let certificate = match &args.certificate {
        Some(path) => {
            let origin =
                Origin { loaded: &loaded, reading: &args.input.reading(), problem: &outcome.problem };
            certify::save(path, &origin, &outcome.answer.verdicts, !args.no_check)
        }
        None => Ok(None),
    };
    // The verdict is checked without it: hours of searching are not lost because a disk is full.
    let (certificate, unwritten) = Failure::unwritten(certificate)?;
    let report = Report {
        file: &loaded.source.name,
        problem: &outcome.problem,
        unit: loaded.format.unit(),
        engine: &outcome.answered_by(),
        answer: &outcome.shown(),
        checked: outcome.checked,
        checking: outcome.answer.checking,
        certificate: certificate.as_ref(),
        time,
        phases: outcome.phases,
        memory: outcome.memory,
        peak_memory: outcome.peak_memory,
    };
    let options = text::Options {
        colour: console.colour,
        quiet: console.output.quiet,
        verbose: console.output.verbose,
    };
    // One that fails does not take the others along.
    let printed =
        console.print(&if args.json { json::write(&report) } else { text::write(&report, options) });
    let input = page::Input { text: &loaded.source.text, language: &loaded.format.to_string() };
    let html = args.html.as_ref().map(|path| files::replace(path, &page::write(&report, input)));
    let sarif = args.sarif.as_ref().map(|path| files::replace(path, &sarif::write(&report)));
    let written = [Some(printed), unwritten.map(Err), html, sarif];
    written.into_iter().flatten().try_for_each(|written| written)?;
    if let Some(kept) = console.checkpoint() {
        let open = outcome.answer.verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_)));
        let unanswered = open && !(args.stop_at_first && outcome.is_unsafe());
        kept.end(unanswered).into_iter().for_each(|how| console.note(&how));
    }
    Ok(outcome.word().status())
}

/// What is said if a search that was asked to stop does not come to an end soon, or reading the input does not.
pub(super) fn last_words(args: &CheckArgs) -> LastWords {
    let (file, json) = (args.input.file.display().to_string(), args.json);
    Arc::new(move |why| match json {
        true => json::stopped(&file, why),
        false => format!("UNKNOWN  {why}; how far the search came is not known\nfile:    {file}\n"),
    })
}

/// The engine that was asked for, without a question.
fn aimless(args: &CheckArgs) -> Result<Box<dyn Engine>, Failure> {
    match args.search.engine {
        EngineName::KarpMiller => Ok(Box::new(Coverability(KarpMiller::default()))),
        EngineName::Explicit | EngineName::Symbolic => Ok(Box::new(Exhaust(engine(args)))),
        _ => Err(Failure::Other("--exhaust is for explicit, symbolic and karp-miller".into())),
    }
}

/// The same problem with its model written out.
fn as_table(problem: &Problem, limits: &Limits) -> Result<Problem, Unknown> {
    let unfolded = unfold(problem, limits)?;
    Ok(Problem {
        model: Arc::new(unfolded.table),
        initial: unfolded.initial,
        targets: unfolded.targets,
        initial_text: unfolded.initial_text,
        bound: problem.bound,
    })
}

/// Whether to leave out interleavings. What is left out would have to be believed by whoever checks a certificate.
pub(super) fn por(args: &CheckArgs) -> bool {
    !args.search.no_por && args.certificate.is_none()
}

/// The engine, on a smaller problem if there is one.
fn contracting(args: &CheckArgs, engine: impl Engine + 'static) -> Box<dyn Engine> {
    if args.no_contract { Box::new(engine) } else { Box::new(OnQuotient(engine)) }
}

/// The engine that was asked for, set up as asked.
pub(super) fn engine(args: &CheckArgs) -> Box<dyn Engine> {
    match args.search.engine {
        EngineName::Auto => Box::new(Auto {
            jobs: args.search.jobs as usize,
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
            por: por(args),
        }),
        EngineName::Explicit => Box::new(Explicit {
            jobs: args.search.jobs as usize,
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
            por: por(args),
            counting: !args.search.no_counting,
            ..Explicit::default()
        }),
        EngineName::KarpMiller => contracting(args, KarpMiller::default()),
        EngineName::Equations => contracting(args, Equations { por: por(args), ..Equations::default() }),
        EngineName::Guided => contracting(args, Guided::default()),
        EngineName::Backward => contracting(args, Pruned::default()),
        EngineName::Views => contracting(args, Views::default()),
        EngineName::Symbolic => Box::new(Symbolic {
            max_threads: args.max_threads,
            stop_at_first: args.stop_at_first,
            por: por(args),
            ..Symbolic::default()
        }),
    }
}
