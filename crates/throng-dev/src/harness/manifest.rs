//! Inputs with known answers: the project's own corpus, and the public one, which is not part of
//! the project.

use std::path::{Path, PathBuf};

use throng_lang::load::{Reading, load};
use throng_lang::question::Question;
use throng_model::problem::Problem;

/// A row of MANIFEST.csv.
#[derive(Clone)]
pub struct Row {
    /// The file.
    pub path: String,
    /// Its language.
    pub kind: String,
    /// The question.
    pub property: String,
    /// The initial configuration.
    pub initial: String,
    /// The expected answer.
    pub expected: String,
}

/// The project's own corpus: a few small inputs in every language.
pub fn own_corpus() -> PathBuf {
    Path::new(crate::ROOT).join("tests/corpus")
}

/// The public corpus: `THRONG_CORPUS`, or `../shared/corpus` beside the repository. Tests that need
/// it are ignored where it is absent: `build.rs` sets `public_corpus` where it is there.
pub fn public_corpus() -> PathBuf {
    let beside = || Path::new(crate::ROOT).join("../shared/corpus");
    let folder = std::env::var_os("THRONG_CORPUS").map_or_else(beside, PathBuf::from);
    assert!(folder.join("MANIFEST.csv").is_file(), "there is no corpus in {}", folder.display());
    folder
}

/// All questions.
pub fn manifest(corpus: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(corpus.join("MANIFEST.csv")).expect("readable manifest");
    text.lines().skip(1).map(row).collect()
}

/// Fields are separated by commas; one in double quotes may contain some.
fn row(line: &str) -> Row {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("never empty").push(c),
        }
    }
    let mut next = fields.into_iter();
    let mut take = || next.next().unwrap_or_default();
    Row { path: take(), kind: take(), property: take(), initial: take(), expected: take() }
}

/// The question a row asks, with at most `threads` threads if given; or the codes of the errors for
/// which it is refused.
pub fn try_pose(corpus: &Path, row: &Row, threads: Option<u32>) -> Result<Problem, Vec<&'static str>> {
    let path = corpus.join(&row.path);
    let loaded = load(&path, &Reading::default())
        .map_err(|r| r.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect::<Vec<_>>())?;
    let mut question = Question { threads, ..Question::default() };
    match row.kind.as_str() {
        "bp" => question.initial = Some(row.initial.split(' ').next().unwrap_or("1").to_string()),
        "tts" => {
            question.initial = Some(row.initial.clone());
            question.prop = Some(corpus.join(&row.property));
        }
        _ => {}
    }
    if let Some(label) = row.property.strip_prefix("label ") {
        question.error_labels = vec![label.to_string()];
    }
    let posed = question.pose(&loaded, &path);
    posed.map(|p| p.problem).map_err(|diagnostics| diagnostics.iter().map(|c| c.diagnostic.code).collect())
}

/// As [`try_pose`], for a question that must not be refused.
pub fn pose(corpus: &Path, row: &Row, threads: Option<u32>) -> Problem {
    try_pose(corpus, row, threads).unwrap_or_else(|codes| panic!("{} is refused: {codes:?}", row.path))
}
