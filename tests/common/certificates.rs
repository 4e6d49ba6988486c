//! Certificates for tests: who finds an answer, what its certificate looks like, and what the checker says.

use std::path::Path;
use std::time::Duration;

use throng::certificate::write::{Origin, document, write};
use throng::certify::{Certified, Fault, certify, read, reading};
use throng::engine::auto::Auto;
use throng::engine::backward::{Backward, Pruned};
use throng::engine::equations::Equations;
use throng::engine::explicit::Explicit;
use throng::engine::karp_miller::KarpMiller;
use throng::engine::smaller::Smaller;
use throng::engine::symbolic::Symbolic;
use throng::engine::views::Views;
use throng::engine::{Engine, Silent};
use throng::lang::load::{Loaded, Reading};
use throng::limits::Limits;
use throng::problem::{Bound, Problem};
use throng::question::Question;
use throng::verdict::Verdict;

/// Everybody who answers, without partial orders, so that certificates can be written.
pub fn engines(problem: &Problem) -> Vec<Box<dyn Engine>> {
    let mut all: Vec<Box<dyn Engine>> = vec![
        Box::new(Auto { jobs: 1, por: false, ..Auto::default() }),
        Box::new(Backward),
        Box::new(Pruned::default()),
        Box::new(Smaller(Pruned::default())),
        Box::new(Views::default()),
        Box::new(Equations::default()),
        Box::new(Smaller(Equations::default())),
        Box::new(KarpMiller::default()),
    ];
    if problem.bound != Bound::Any {
        all.push(Box::new(Explicit { por: false, ..Explicit::default() }));
        all.push(Box::new(Symbolic { por: false, ..Symbolic::default() }));
    }
    all
}

/// The answers of an engine that is given this long.
pub fn answers(engine: &dyn Engine, problem: &Problem, patience: Duration) -> Vec<Verdict> {
    let mut verdicts = engine.run(problem, &Limits::none().timeout(patience), &Silent).verdicts;
    if let Some(why) = problem.model.gave_up() {
        verdicts.fill(Verdict::Unknown(throng::verdict::Unknown::Inconclusive(why)));
    }
    verdicts
}

/// The certificate as bytes.
pub fn written(loaded: &Loaded, reading: &Reading, problem: &Problem, verdicts: &[Verdict]) -> Vec<u8> {
    let origin = Origin { loaded, reading, problem };
    let document = document(&origin, verdicts).unwrap_or_else(|why| panic!("{}: {why}", loaded.source.name));
    let mut bytes = Vec::new();
    write(&document, &mut bytes).expect("memory takes everything");
    bytes
}

/// What the checker says about a certificate, given the text of the input.
pub fn judge(loaded: &Loaded, bytes: &[u8]) -> Result<Certified, Fault> {
    let document = read(bytes)?;
    let again = throng::lang::load::read(
        throng::lang::source::Source::new("again", loaded.source.text.clone()),
        loaded.format,
        &reading(&document, Some(loaded.format)),
    );
    let loaded = again.map_err(|r| Fault::Unreadable(format!("{:?}", r.diagnostics)))?;
    certify(&loaded, &document, &Limits::none().timeout(Duration::from_secs(60)))
}

/// The problem of an input.
pub fn problem(loaded: &Loaded, path: &Path, question: &Question) -> Problem {
    let posed = question.pose(loaded, path);
    posed.unwrap_or_else(|c| panic!("{}: {c:?}", path.display())).problem
}
