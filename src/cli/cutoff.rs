//! `throng cutoff`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::certify::save_document;
use super::console::{Console, Failure};
use super::{CutoffArgs, CutoffMethod};
use crate::certificate::write::{CutoffFound, Origin, cutoff_document};
use crate::engine::backward::Backward;
use crate::engine::cutoff::{Closed, Cutoff, Method, cutoff, runs};
use crate::engine::karp_miller::KarpMiller;
use crate::lang::load::Reading;
use crate::limits::Limits;
use crate::model::{Bag, Config};
use crate::question::Question;
use crate::report::cutoff::Found;
use crate::verdict::{Certificate, Unknown, Views};

pub(super) fn run(args: &CutoffArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    let limits = args.search.limits();
    console.begin(&limits, "UNKNOWN  stopped on request\n".into());
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

/// Writes the certificate of a cutoff: a run to every thread state, why there are no others, and why fewer threads do not suffice.
fn save(found: &Cutoff, origin: &Origin<'_>, path: &Path, limits: &Limits) -> Result<(), Failure> {
    let failed = |why: Unknown| Failure::Other(format!("no certificate: {why}"));
    let (runs, reachable) = runs::runs(origin.problem, found, limits).map_err(failed)?;
    let (rest, except) = match &found.closed {
        Closed::Downward(set) => (Certificate::Downward(set.clone()), Vec::new()),
        Closed::Each(list) => {
            let states = found.reachable.iter().copied().chain(list.iter().map(|e| e.0));
            let set = states.map(|(s, l)| Config::new(s, Bag::one(l))).collect();
            (Certificate::Views(Arc::new(Views { k: 1, set })), list.clone())
        }
    };
    let last = found.levels.last().and_then(|level| level.witness).filter(|_| found.threads > 0);
    let fewer = match last {
        Some(_) => runs::all(origin.problem, found.threads - 1, limits).map_err(failed)?,
        None => Vec::new(),
    };
    let document = cutoff_document(
        origin,
        &CutoffFound {
            threads: found.threads,
            runs: &runs,
            reachable: &reachable,
            rest: &rest,
            except: &except,
            needed: last.map(|state| (state, &fewer[..])),
        },
    );
    let document = document.map_err(|why| Failure::Other(format!("no certificate: {why}")))?;
    save_document(path, origin, &document, true).map(|_| ())
}
