//! `throng cutoff`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::certify::save_document;
use super::console::{Console, Failure};
use super::{CutoffArgs, CutoffMethod};
use crate::certificate::write::{Origin, cutoff_document};
use crate::engine::backward::Backward;
use crate::engine::cutoff::{Cutoff, Method, cutoff, runs};
use crate::engine::karp_miller::KarpMiller;
use crate::lang::load::Reading;
use crate::limits::Limits;
use crate::question::Question;
use crate::report::cutoff::Found;
use crate::verdict::Unknown;

pub(super) fn run(args: &CutoffArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = args.search.limits();
    console.begin(&limits, Arc::new(|why| format!("UNKNOWN  {why}\n")));
    let reading = Reading { exact_copies: true, ..args.input.reading() };
    let loaded = console.load(&args.input.file, &reading)?;
    let initial = args.initial.clone();
    let question = Question { may_lack_target: true, initial, ..Question::default() };
    let problem = console.pose(&question, &loaded, &args.input.file)?;
    let karp_miller = KarpMiller::default();
    let method = match args.method {
        CutoffMethod::Exact => Method::Exact(&karp_miller),
        CutoffMethod::Dynamic if problem.model.moves_others() => Method::Dynamic(&Backward),
        CutoffMethod::Dynamic => Method::Dynamic(&karp_miller),
    };
    let found = cutoff(&problem, &method, &limits, console).and_then(|found| match problem.model.gave_up() {
        Some(why) => Err(Unknown::Inconclusive(why)),
        None => Ok(found),
    });
    let mut unwritten = None;
    if let (Ok(found), Some(path)) = (&found, &args.certificate) {
        let origin = Origin { loaded: &loaded, reading: &reading, problem: &problem };
        ((), unwritten) = Failure::unwritten(save(found, &origin, path, &limits))?;
    }
    let report = Found {
        file: &loaded.source.name,
        problem: &problem,
        found: &found,
        seconds: began.elapsed().as_secs_f64(),
    };
    console.print(&if args.json { report.json() } else { report.text() })?;
    unwritten.map_or(Ok(()), Err)?;
    Ok(if found.is_ok() { 0 } else { 1 })
}

fn save(found: &Cutoff, origin: &Origin<'_>, path: &Path, limits: &Limits) -> Result<(), Failure> {
    let failed = |why: String| Failure::Other(format!("no certificate: {why}"));
    let proof = runs::proof(origin.problem, found, limits).map_err(|why| failed(why.to_string()))?;
    let document = cutoff_document(origin, &proof).map_err(failed)?;
    save_document(path, origin, &document, true).map(|_| ())
}
