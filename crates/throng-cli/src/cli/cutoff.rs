//! `throng cutoff`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::certify::save_document;
use super::console::{Console, Failure};
use super::{CutoffArgs, CutoffMethod};
use throng::engine::backward::Backward;
use throng::engine::cutoff::{Method, cutoff, runs};
use throng::engine::karp_miller::KarpMiller;
use throng::report::cutoff::{Found, stopped};
use throng::verify::Error;
use throng_check::certificate::write::{Origin, cutoff_document};
use throng_check::rules::Flaw;
use throng_check::rules::cutoff::{CutoffProof, check_cutoff};
use throng_lang::load::Reading;
use throng_lang::question::Question;

pub(super) fn run(args: &CutoffArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = args.search.limits();
    let (file, json) = (args.input.file.display().to_string(), args.json);
    console.begin(
        &limits,
        Arc::new(move |why| if json { stopped(&file, why) } else { format!("UNKNOWN  {why}\n") }),
    );
    let reading = Reading { exact_copies: true, ..args.input.reading() };
    let loaded = console.load(&args.input.file, &reading)?;
    let initial = args.initial.clone();
    let question = Question { may_lack_target: true, initial, ..Question::default() };
    let problem = console.pose(&question, &loaded, &args.input.file)?.problem;
    let karp_miller = KarpMiller::default();
    let method = match args.method {
        CutoffMethod::Exact => Method::Exact(&karp_miller),
        CutoffMethod::Dynamic if problem.model.moves_bystanders() => Method::Dynamic(&Backward),
        CutoffMethod::Dynamic => Method::Dynamic(&karp_miller),
    };
    let found = cutoff(&problem, &method, &limits, console);
    let wanted = !args.no_check || args.certificate.is_some();
    let proof = found.as_ref().ok().filter(|_| wanted).map(|found| runs::proof(&problem, found, &limits));
    let checked = match &proof {
        Some(Ok(proof)) if !args.no_check => check_cutoff(&problem, proof, &limits),
        Some(Err(why)) if !args.no_check => Err(Flaw::Limit(why.clone())),
        _ => Ok(()),
    };
    let found = match checked {
        Ok(()) => found,
        Err(Flaw::Limit(why)) => Err(why),
        Err(flaw) => return Err(Error::Flawed(format!("the cutoff does not stand: {flaw}")).into()),
    };
    console.has_answer();
    let mut unwritten = None;
    if let (Ok(_), Some(proof), Some(path)) = (&found, proof, &args.certificate) {
        let origin = Origin { loaded: &loaded, reading: &reading, problem: &problem };
        let proof = proof.map_err(|why| Failure::Unwritten(format!("no certificate: {why}")));
        let written = proof.and_then(|proof| save(&proof, &origin, path, !args.no_check));
        ((), unwritten) = Failure::unwritten(written)?;
    }
    let report = Found {
        file: &loaded.source.name,
        problem: &problem,
        found: &found,
        checked: !args.no_check,
        seconds: began.elapsed().as_secs_f64(),
    };
    console.print(&if args.json { report.json() } else { report.text() })?;
    unwritten.map_or(Ok(()), Err)?;
    Ok(if found.is_ok() { 0 } else { 1 })
}

fn save(proof: &CutoffProof, origin: &Origin<'_>, path: &Path, check: bool) -> Result<(), Failure> {
    let failed = |why: String| Failure::Other(format!("no certificate: {why}"));
    let document = cutoff_document(origin, proof).map_err(failed)?;
    save_document(path, origin, &document, check).map(|_| ())
}
