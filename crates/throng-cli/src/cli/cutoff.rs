//! `throng cutoff`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::certify::save_document;
use super::console::{Console, Failure};
use super::files::{self, Kind};
use super::vocabulary::OPTIONS;
use super::{CutoffArgs, MethodName, SearchArgs};
use throng::report::cutoff::stopped;
use throng::{Engine, Job, Question};
use throng_check::certificate::write::{Origin, cutoff_document};
use throng_check::rules::cutoff::CutoffProof;
use throng_lang::load::Reading;

pub(super) fn run(args: &CutoffArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    refuse_what_does_nothing(&args.search)?;
    let limits = args.search.limits()?;
    let (file, json) = (args.input.file().display().to_string(), args.json);
    console.begin(
        &limits,
        Arc::new(move |why, doing| match json {
            true => stopped(&file, why),
            false => format!("UNKNOWN  {why}; {doing}\n"),
        }),
    );
    let reading = Reading { exact_copies: true, ..args.input.reading() };
    if args.certificate.is_some() && args.input.is_code() {
        return Err(refused("`--certificate` of a cutoff is not for source languages"));
    }
    let input = console.open(&args.input, reading)?;
    let question = Question { initial: args.initial.clone(), vocabulary: &OPTIONS, ..Question::default() };
    let question = args.input.asking(question);
    let mut job = Job::new(&input).question(question).settings(args.search.settings()).watch(console);
    if args.no_check {
        job = job.unchecked();
    }
    let prepared = console.prepare(&job, Job::prepare_listing)?;
    console.assume(prepared);
    let outputs = args.certificate.iter().chain(&args.html);
    files::claim(outputs.map(|path| (path, Kind::Report)), args.force)?;
    if args.method == Some(MethodName::Exact) && args.search.engine == Engine::Backward {
        return Err(refused("`--method exact` is for the engine `karp-miller`"));
    }
    let mut found = job.cutoff(args.search.engine, args.method.map(Into::into), &limits)?;
    console.has_answer();
    let mut unwritten = None;
    if let (Ok(_), Some(path), Some(origin)) = (&found.cutoff, &args.certificate, prepared.origin()) {
        let proof = found.proof(&limits).map_err(|why| Failure::Unwritten(format!("no certificate: {why}")));
        let written = proof.and_then(|proof| save(&proof, &origin, path, !args.no_check));
        ((), unwritten) = Failure::unwritten(written)?;
    }
    found.time = began.elapsed();
    console.print(&if args.json { found.json() } else { found.text() })?;
    args.html.as_ref().map_or(Ok(()), |path| files::replace(path, &found.html()))?;
    unwritten.map_or(Ok(()), Err)?;
    Ok(if found.cutoff.is_ok() { 0 } else { 1 })
}

/// Lists of thread states are found without partial orders.
pub(super) fn refuse_what_does_nothing(search: &SearchArgs) -> Result<(), Failure> {
    let of = |option: &str| {
        refused(&format!("`{option}` makes no difference here: thread states are listed without it"))
    };
    match search {
        SearchArgs { no_por: true, .. } => Err(of("--no-por")),
        _ => Ok(()),
    }
}

fn refused(why: &str) -> Failure {
    Failure::Other(why.into())
}

fn save(proof: &CutoffProof, origin: &Origin<'_>, path: &Path, check: bool) -> Result<(), Failure> {
    let failed = |why: String| Failure::Other(format!("no certificate: {why}"));
    let document = cutoff_document(origin, proof).map_err(failed)?;
    save_document(path, origin, &document, check).map(|_| ())
}
