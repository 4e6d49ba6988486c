//! Programs of one thread that were not written here, through the interpreter: the test suites of
//! compilers, and random programs of Csmith, whose checksums are compared with the compiled ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use throng_c::{Flags, Loaded, Options, load};
use throng_goto::interpreter::Interpreter;
use throng_goto::step::{After, step};
use throng_lang::load::Rejected;

use crate::compiled::{folder, has_compiler};
use crate::corpus::NEEDS_AN_OPTION;

/// What the interpreter says about a program that must end without a violation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Answer {
    Right,
    /// It says something else than the compiled program.
    Wrong(String),
    /// The reader refuses the program, by name.
    Refused(String),
    /// A value or an effect is not known, or it takes too long.
    Open(String),
}

/// How long the interpreter may take for one program.
const PATIENCE: Duration = Duration::from_secs(10);

fn answer(read: Result<Loaded, Rejected>) -> Answer {
    let loaded = match read {
        Ok(loaded) => loaded,
        Err(why) => {
            let said: Vec<&str> = why.diagnostics.iter().map(|d| d.message.as_str()).collect();
            return Answer::Refused(said.first().map_or(String::new(), |m| m.to_string()));
        }
    };
    let program = &loaded.query.program;
    let mut run = Interpreter::new(program);
    let begun = Instant::now();
    loop {
        let mut choices = run.choices();
        match (choices.len(), &run.ended) {
            (_, Some(After::Halted)) => return Answer::Right,
            (_, Some(After::Failed(what, why))) => return Answer::Wrong(format!("{what:?}: {why}")),
            (0, _) => {
                let thread = run.threads.iter().flatten().next();
                let missing = thread.and_then(|t| step(program, &run.memory, t).missing);
                return Answer::Open(missing.unwrap_or_else(|| "it cannot go on".into()));
            }
            (1, _) if begun.elapsed() > PATIENCE => return Answer::Open("it takes too long".into()),
            (1, _) => {}
            _ => return Answer::Open("it depends on a value that is open".into()),
        }
        let (i, outcome) = choices.swap_remove(0);
        run.take(i, outcome);
    }
}

/// A row of the corpus: a program, and whether `main` must return 0.
struct Row {
    path: PathBuf,
    returns_zero: bool,
}

/// The programs of one thread in the corpus, or none if it is absent.
fn rows() -> Vec<Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus3");
    let Ok(manifest) = std::fs::read_to_string(root.join("MANIFEST.csv")) else {
        println!("ignored: there is no corpus");
        return Vec::new();
    };
    let only = std::env::var("ONLY").unwrap_or_default();
    let chosen = |line: &str| only.split(' ').any(|part| line.contains(part));
    let rows = manifest
        .lines()
        .filter(|line| line.starts_with("sequential/") && !line.contains(NEEDS_AN_OPTION) && chosen(line));
    rows.map(|line| {
        let mut fields = line.split(',');
        let path = root.join(fields.next().unwrap_or_default());
        Row { path, returns_zero: fields.next() == Some("exit-0") }
    })
    .collect()
}

/// The start of the programs that call `abort`, and what it should be: a macro with brackets breaks
/// the declarations of `abort` in headers.
const ABORT: [&str; 2] = ["#define abort() reach_error()", "#define abort reach_error"];

/// A copy of a program of which the compiler can read the headers.
fn copied(folder: &Path, path: &Path) -> PathBuf {
    let text = std::fs::read(path).unwrap();
    let to = folder.join(path.file_name().unwrap());
    // Not all of them are UTF-8.
    let at = text.windows(ABORT[0].len()).position(|w| w == ABORT[0].as_bytes());
    let repaired = match at {
        Some(at) => [&text[..at], ABORT[1].as_bytes(), &text[at + ABORT[0].len()..]].concat(),
        None => text,
    };
    std::fs::write(&to, repaired).unwrap();
    to
}

/// A file in which `main` calls that of another one and wants 0.
fn wrapped(folder: &Path, row: &Row) -> PathBuf {
    let text = std::fs::read_to_string(&row.path).unwrap();
    let bare = ["main()", "main(void)", "main ()", "main (void)"].iter().any(|m| text.contains(m));
    let arguments = if bare { "" } else { "1, arguments" };
    let wrapper = format!(
        "#define main tested_main\n#include \"{}\"\n#undef main\nvoid reach_error(void);\n\
         int main(void) {{ char *arguments[] = {{ \"a\", 0 }}; if (tested_main({arguments}) != 0) reach_error(); }}\n",
        row.path.display()
    );
    let path = folder.join(format!("wrapped_{}", row.path.file_name().unwrap().to_string_lossy()));
    std::fs::write(&path, wrapper).unwrap();
    path
}

/// Counts answers by kind and reason, prints them, and returns how many were right of how many.
fn table(answers: &[(PathBuf, Answer)]) -> (usize, usize) {
    let mut reasons: BTreeMap<Answer, Vec<String>> = BTreeMap::new();
    for (path, answer) in answers {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        reasons.entry(answer.clone()).or_default().push(name);
    }
    for (answer, names) in reasons.iter().filter(|r| *r.0 != Answer::Right) {
        println!("{:4} {answer:?}: {}", names.len(), names.join(" "));
    }
    let right = answers.iter().filter(|a| a.1 == Answer::Right).count();
    println!("{right} of {} right", answers.len());
    (right, answers.len())
}

/// Answers for all, by as many threads as there are cores.
fn each<T: Sync>(items: &[T], answer: impl Fn(&T) -> (PathBuf, Answer) + Sync) -> Vec<(PathBuf, Answer)> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let work = || {
        let mut found = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            found.push(answer(item));
        }
        found
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    })
}

#[test]
fn test_suites_of_compilers_are_computed_as_compiled_or_refused_by_name() {
    let rows = rows();
    if rows.is_empty() || !has_compiler() {
        return;
    }
    let folder = folder("fidelity");
    // Some include others.
    let rows: Vec<Row> =
        rows.into_iter().map(|row| Row { path: copied(&folder, &row.path), ..row }).collect();
    let answers = each(&rows, |row| {
        let path = if row.returns_zero { wrapped(&folder, row) } else { row.path.clone() };
        (row.path.clone(), answer(load(&path, &Options::default())))
    });
    let (right, all) = table(&answers);
    std::fs::remove_dir_all(folder).unwrap();
    let wrong: Vec<_> = answers.iter().filter(|a| matches!(a.1, Answer::Wrong(_))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(10 * right >= 9 * all, "{right} of {all} are answered");
}

/// A random program that checks its own checksum against that of the compiled one; `None` if it
/// does not end when it is compiled.
fn random_program(folder: &Path, seed: u64) -> Option<PathBuf> {
    let path = folder.join(format!("csmith_{seed}.c"));
    let seed = seed.to_string();
    let limits = ["--max-funcs", "6", "--max-block-depth", "3", "--no-volatiles", "--seed", &seed];
    let made = Command::new("csmith").args(limits).arg("--output").arg(&path).output().ok()?;
    let text = made.status.success().then(|| std::fs::read_to_string(&path).ok()).flatten()?;
    let program = path.with_extension("exe");
    let compiler = ["-w", "-O1", "-fwrapv", "-I/usr/include/csmith", "-o"];
    let done =
        Command::new("cc").args(compiler).arg(&program).arg(&path).stderr(Stdio::null()).status().ok()?;
    let said = Command::new("timeout").arg("2").arg(&program).output().ok().filter(|_| done.success())?;
    let said = String::from_utf8(said.stdout).ok()?;
    let checksum = said.trim().strip_prefix("checksum = ")?;
    let end = "platform_main_end(crc32_context ^ 0xFFFFFFFFUL, print_hash_value);";
    let check = format!("if ((crc32_context ^ 0xFFFFFFFFUL) != 0x{checksum}UL) reach_error();");
    let begin = "int main (int argc, char* argv[])\n{";
    let fixed = "int main (void)\n{ int argc = 1; char *argv[] = { \"csmith\", 0 };";
    let text = format!("void reach_error(void);\n{}", text.replace(end, &check).replace(begin, fixed));
    assert!(
        text.contains(&check) && text.contains(fixed),
        "Csmith writes other programs than this test knows"
    );
    std::fs::write(&path, text).ok()?;
    Some(path)
}

#[test]
fn random_programs_of_csmith_have_the_checksum_of_the_compiled_ones() {
    let present = Command::new("csmith").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !present || !has_compiler() {
        println!("ignored: there is no csmith");
        return;
    }
    let number = |name, otherwise| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (count, first) = (number("CSMITH", 100u64), number("SEED", 1u64));
    let folder = folder("csmith");
    let seeds: Vec<u64> = (first..first + count).collect();
    let flags = Flags::read(["-I/usr/include/csmith"]).expect("flags that are known");
    let options = Options { flags, ..Options::default() };
    let answers = each(&seeds, |&seed| {
        let Some(path) = random_program(&folder, seed) else {
            return (format!("seed {seed}").into(), Answer::Open("it does not end when compiled".into()));
        };
        let found = answer(load(&path, &options));
        (path, found)
    });
    let (right, all) = table(&answers);
    let wrong: Vec<_> =
        answers.iter().filter(|a| matches!(a.1, Answer::Wrong(_) | Answer::Refused(_))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(2 * right >= all, "{right} of {all} were compared");
    std::fs::remove_dir_all(folder).unwrap();
}
