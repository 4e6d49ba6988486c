//! `throng cutoff`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::certify::save_document;
use super::console::{Console, Failure};
use super::files::{self, Kind};
use super::{CutoffArgs, CutoffMethod, EngineName, SearchArgs};
use throng::engine::Engine;
use throng::engine::backward::Pruned;
use throng::engine::cutoff::{Method, cutoff, runs};
use throng::engine::facts::FactStore;
use throng::engine::karp_miller::KarpMiller;
use throng::report::cutoff::{Found, stopped};
use throng::verify::Error;
use throng_check::certificate::write::{Origin, cutoff_document};
use throng_check::rules::Flaw;
use throng_check::rules::cutoff::{CutoffProof, check_cutoff};
use throng_lang::load::Reading;
use throng_lang::question::Question;
use throng_model::problem::Problem;

pub(super) fn run(args: &CutoffArgs, console: &Console) -> Result<u8, Failure> {
    let began = Instant::now();
    refuse_what_does_nothing(&args.search)?;
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
    files::claim(args.certificate.iter().map(|path| (path, Kind::Report)), args.force)?;
    let shelf = Arc::new(FactStore::default());
    let prover = prover(args.search.engine, &problem, &shelf).ok_or_else(|| {
        refused("a cutoff is found by the engines `karp-miller` and `backward`, which is helped by views")
    })?;
    let karp_miller = KarpMiller::default();
    let is_exact = args.search.engine == EngineName::KarpMiller
        || args.search.engine == EngineName::Auto && !needs_prover(&problem);
    let method = match args.method {
        Some(CutoffMethod::Exact) if args.search.engine == EngineName::Backward => {
            return Err(refused("`--method exact` is for the engine `karp-miller`"));
        }
        Some(CutoffMethod::Exact) => Method::Exact(&karp_miller),
        None if is_exact => Method::Exact(&karp_miller),
        Some(CutoffMethod::Dynamic) | None => Method::Dynamic(&*prover, &shelf),
    };
    let jobs = args.search.jobs as usize;
    let found = cutoff(&problem, &method, jobs, &limits, console);
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

/// Whether `karp-miller` does not take the model.
pub(super) fn needs_prover(problem: &Problem) -> bool {
    problem.model.moves_bystanders() || problem.model.blocking().is_some()
}

/// The engine that decides whether a thread state can be reached by any number of threads, if this one can.
pub(super) fn prover(
    engine: EngineName,
    problem: &Problem,
    shelf: &Arc<FactStore>,
) -> Option<Box<dyn Engine>> {
    let shelf = shelf.clone();
    match engine {
        EngineName::Backward => Some(Box::new(Pruned { shelf })),
        EngineName::Auto if needs_prover(problem) => Some(Box::new(Pruned { shelf })),
        EngineName::Auto | EngineName::KarpMiller => Some(Box::new(KarpMiller::default())),
        _ => None,
    }
}

/// Lists of thread states are found without partial orders, and always by counting.
pub(super) fn refuse_what_does_nothing(search: &SearchArgs) -> Result<(), Failure> {
    let of = |option: &str| {
        refused(&format!("`{option}` makes no difference here: thread states are listed without it"))
    };
    match search {
        SearchArgs { no_por: true, .. } => Err(of("--no-por")),
        SearchArgs { no_counting: true, .. } => Err(of("--no-counting")),
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
