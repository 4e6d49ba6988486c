//! The test suites of compilers in the corpus beside the project.

use std::path::{Path, PathBuf};
use std::time::Duration;

use throng_c::Options;

use crate::Outcome;
use crate::answer::{Answer, answer, each, folder, is_there, table};

/// How long the interpreter may take for one program.
const PATIENCE: Duration = Duration::from_secs(10);

/// This program fails if it is not compiled with `-finstrument-functions`.
const NEEDS_AN_OPTION: &str = "torture/eeprof-1.c";

/// A row of the corpus: a program, and whether `main` must return 0.
struct Row {
    path: PathBuf,
    returns_zero: bool,
}

/// The programs of one thread in the corpus whose rows contain one of some words, or any if there
/// are none; `None` if there is no corpus.
fn rows(words: &[String]) -> Option<Vec<Row>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus3");
    let manifest = std::fs::read_to_string(root.join("MANIFEST.csv")).ok()?;
    let chosen = |line: &str| words.is_empty() || words.iter().any(|w| line.contains(w.as_str()));
    let rows = manifest
        .lines()
        .filter(|l| l.starts_with("sequential/") && !l.contains(NEEDS_AN_OPTION) && chosen(l))
        .map(|line| {
            let mut fields = line.split(',');
            let path = root.join(fields.next().unwrap_or_default());
            Row { path, returns_zero: fields.next() == Some("exit-0") }
        });
    Some(rows.collect())
}

/// The start of the programs that call `abort`, and what it should be: a macro with brackets breaks
/// the declarations of `abort` in headers.
const ABORT: [&str; 2] = ["#define abort() reach_error()", "#define abort reach_error"];

/// A copy of a program of which the compiler can read the headers.
fn copied(folder: &Path, path: &Path) -> PathBuf {
    let text = std::fs::read(path).expect("a row of the manifest is a file");
    let to = folder.join(path.file_name().unwrap_or_default());
    // Not all of them are UTF-8.
    let at = text.windows(ABORT[0].len()).position(|w| w == ABORT[0].as_bytes());
    let repaired = match at {
        Some(at) => [&text[..at], ABORT[1].as_bytes(), &text[at + ABORT[0].len()..]].concat(),
        None => text,
    };
    std::fs::write(&to, repaired).expect("a copy can be written");
    to
}

/// A file in which `main` calls that of another one and wants 0.
fn wrapped(folder: &Path, row: &Row) -> PathBuf {
    let text = std::fs::read_to_string(&row.path).expect("a copy was written");
    let bare = ["main()", "main(void)", "main ()", "main (void)"].iter().any(|m| text.contains(m));
    let arguments = if bare { "" } else { "1, arguments" };
    let wrapper = format!(
        "#define main tested_main\n#include \"{}\"\n#undef main\nvoid reach_error(void);\n\
         int main(void) {{ char *arguments[] = {{ \"a\", 0 }}; if (tested_main({arguments}) != 0) reach_error(); }}\n",
        row.path.display()
    );
    let path = folder.join(format!("wrapped_{}", row.path.file_name().unwrap_or_default().to_string_lossy()));
    std::fs::write(&path, wrapper).expect("a file can be written");
    path
}

/// None is answered wrongly, and at least nine of ten are answered.
pub fn run(words: &[String]) -> Outcome {
    let Some(rows) = rows(words) else { return Outcome::Ignored("there is no corpus3 beside the project") };
    if !is_there("cc") {
        return Outcome::Ignored("there is no C compiler");
    }
    let folder = folder("suites");
    // Some include others.
    let copy = |row: Row| Row { path: copied(&folder, &row.path), ..row };
    let rows: Vec<Row> = rows.into_iter().map(copy).collect();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let answers = each(&rows, cores, None, |row| {
        let path = if row.returns_zero { wrapped(&folder, row) } else { row.path.clone() };
        (row.path.clone(), answer(&path, &Options::default(), PATIENCE))
    });
    let (right, all) = (table(&answers), answers.len());
    println!("suites: {right} of {all} programs are answered, and rightly");
    std::fs::remove_dir_all(folder).expect("the folder can be removed");
    let wrong: Vec<_> = answers.iter().filter(|a| matches!(a.1, Answer::Wrong(_))).collect();
    match () {
        () if !wrong.is_empty() => Outcome::Failed(format!("answered wrongly: {wrong:#?}")),
        () if words.is_empty() && 10 * right < 9 * all => {
            Outcome::Failed(format!("{right} of {all} are answered"))
        }
        () => Outcome::Passed,
    }
}
