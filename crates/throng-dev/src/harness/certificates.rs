//! Certificates for tests: the engines that find an answer, what its certificate looks like, and
//! what the checker says.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use throng_check::certificate::write::{Origin, document, write};
use throng_check::certify::{Asked, Certified, Fault, certify, read, reading};
use throng_engine::auto::Auto;
use throng_engine::backward::{Backward, Pruned};
use throng_engine::equations::Equations;
use throng_engine::explicit::Explicit;
use throng_engine::karp_miller::KarpMiller;
use throng_engine::localise::Localise;
use throng_engine::on_quotient::OnQuotient;
use throng_engine::symbolic::Symbolic;
use throng_engine::views::Views;
use throng_engine::{Algorithm, Silent};
use throng_lang::load::{Loaded, Reading};
use throng_lang::question::Question;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

/// Returns the limits of an engine: the same work on every machine. The time is for what is not
/// counted.
pub fn effort() -> Limits {
    Limits::none().work(1 << 22).timeout(Duration::from_secs(600))
}

/// All engines, without partial orders, so that certificates can be written.
pub fn engines(problem: &Problem) -> Vec<Box<dyn Algorithm>> {
    let mut all: Vec<Box<dyn Algorithm>> = vec![
        Box::new(Auto { jobs: 1, por: false, ..Auto::default() }),
        Box::new(Backward),
        Box::new(Pruned::default()),
        Box::new(OnQuotient(Box::new(Pruned::default()))),
        Box::new(Views::default()),
        Box::<Localise>::default(),
        Box::new(Equations::default()),
        Box::new(OnQuotient(Box::new(Equations::default()))),
        Box::new(KarpMiller::default()),
    ];
    if problem.bound != Bound::Any {
        all.push(Box::new(Explicit { por: false, ..Explicit::default() }));
        all.push(Box::new(Symbolic { por: false, ..Symbolic::default() }));
    }
    all
}

/// The answers of an engine, within some effort.
pub fn answers(engine: &dyn Algorithm, problem: &Problem) -> Vec<Verdict> {
    engine.run(problem, &effort(), &Silent).verdicts
}

/// The certificate as bytes.
pub fn written(loaded: &Loaded, reading: &Reading, problem: &Problem, verdicts: &[Verdict]) -> Vec<u8> {
    let origin = Origin { loaded, reading, problem };
    let document = document(&origin, verdicts).unwrap_or_else(|why| panic!("{}: {why}", loaded.source.name));
    let mut bytes = Vec::new();
    write(&document, &mut bytes).expect("memory takes everything");
    bytes
}

/// Checks a certificate's answer to its own question, given the text of the
/// input.
pub fn judge(loaded: &Loaded, bytes: &[u8]) -> Result<Certified, Fault> {
    let document = read(bytes)?;
    let again = throng_lang::load::read(
        throng_lang::source::Source::new("again", loaded.source.text.clone()),
        loaded.format,
        &reading(&document, Some(loaded.format)),
    );
    let loaded = again.map_err(|r| Fault::Unreadable(format!("{:?}", r.diagnostics)))?;
    certify(&Asked::Own(&loaded), &document, &Limits::none().timeout(Duration::from_secs(600)))
}

/// The problem of an input.
pub fn problem(loaded: &Loaded, path: &Path, question: &Question) -> Problem {
    let posed = question.pose(loaded, path);
    posed.unwrap_or_else(|c| panic!("{}: {c:?}", path.display())).problem
}

/// A number from the environment.
pub fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// The inputs among the examples.
pub fn examples() -> Vec<PathBuf> {
    let folder = Path::new(crate::ROOT).join("examples");
    let files = std::fs::read_dir(folder).expect("examples").map(|e| e.expect("entry").path());
    let known =
        |p: &PathBuf| p.extension().is_some_and(|e| ["bp", "tts", "ntts", "spec"].iter().any(|k| e == *k));
    let mut found: Vec<PathBuf> = files.filter(known).collect();
    found.sort();
    found
}

/// Runs the second checker with the arguments of `throng certify`; returns nothing if there is
/// no Python.
pub fn second(args: &[&str]) -> Option<String> {
    let script = Path::new(crate::ROOT).join("tools/certify.py");
    let output = Command::new("python3").arg(script).args(args).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Exit status and output of the proved checker, given the same arguments as `throng certify`;
/// nothing if `proofs/check` has not built it.
pub fn proved(args: &[&str]) -> Option<(Option<i32>, String)> {
    let output =
        Command::new(Path::new(crate::ROOT).join("proofs/build/throng-proved")).args(args).output().ok()?;
    let output_text = [output.stdout, output.stderr].concat();
    Some((output.status.code(), String::from_utf8_lossy(&output_text).into_owned()))
}
