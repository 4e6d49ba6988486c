//! Random programs of Csmith. Each computes a checksum of its variables; the compiled program says
//! which, and the interpreter must come to the same.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use throng_c::{Flags, Options};

use crate::Outcome;
use crate::answer::{Answer, answer, each, folder, is_there, table};

/// Where the headers of Csmith are, if the package is there.
const HEADERS: &str = "/usr/include/csmith";

/// What is asked for: how many programs, from which seed on, and for how long.
struct Asked {
    count: u64,
    first: u64,
    /// The seconds for all, so that a run of the tests has an end; none for those who ask for a count.
    seconds: Option<u64>,
    patience: Duration,
    jobs: usize,
    /// Where programs that are not answered rightly are kept.
    keep: Option<PathBuf>,
    /// Further arguments of Csmith.
    more: Vec<String>,
}

impl Asked {
    fn read(arguments: &[String]) -> Asked {
        let value = |name: &str| {
            let at = arguments.iter().position(|a| a == name)?;
            arguments.get(at + 1)
        };
        let number = |name: &str| value(name).and_then(|n| n.parse().ok());
        let count = number("--count");
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        Asked {
            count: count.unwrap_or(400),
            first: number("--first").unwrap_or(1),
            seconds: number("--seconds").or(if count.is_none() { Some(60) } else { None }),
            patience: Duration::from_secs(number("--patience").unwrap_or(5)),
            jobs: number("--jobs").map_or(cores, |n| n as usize),
            keep: value("--keep").map(PathBuf::from),
            more: value("--csmith").map_or(Vec::new(), |w| w.split(' ').map(str::to_string).collect()),
        }
    }
}

/// Returns the arguments with which Csmith makes the program with a number: small ones, of several
/// kinds in turn.
fn arguments(seed: u64) -> Vec<String> {
    let mut list: Vec<String> =
        ["--max-funcs", "5", "--max-block-depth", "3", "--max-array-len-per-dim", "6"]
            .map(String::from)
            .into();
    let kind: &[&str] = match seed % 6 {
        0 => &["--float"],
        1 => &["--no-volatiles"],
        2 => &["--builtins"],
        3 => &["--max-pointer-depth", "4", "--no-bitfields"],
        4 => &["--max-struct-fields", "5", "--max-union-fields", "3", "--no-packed-struct"],
        _ => &["--no-arrays", "--max-expr-complexity", "20"],
    };
    list.extend(kind.iter().map(|a| a.to_string()));
    list.extend(["--seed".to_string(), seed.to_string()]);
    list
}

/// What became of a random program.
enum Made {
    /// It checks its own checksum against that of the compiled one.
    Checked(PathBuf),
    /// Csmith or the compiler gave nothing to compare with.
    Nothing(&'static str),
}

fn random_program(folder: &Path, seed: u64, more: &[String]) -> Made {
    let path = folder.join(format!("csmith_{seed}.c"));
    let mut command = Command::new("timeout");
    command.args(["10", "csmith"]).args(arguments(seed)).args(more).arg("--output").arg(&path);
    // It leaves a file where it runs.
    command.current_dir(folder);
    let made = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let text = made.ok().filter(|m| m.success()).and_then(|_| std::fs::read_to_string(&path).ok());
    let Some(text) = text else { return Made::Nothing("Csmith made no program") };
    let program = path.with_extension("exe");
    let mut command = Command::new("cc");
    command.args(["-w", "-O1", "-fwrapv", "-I", HEADERS, "-o"]).arg(&program).arg(&path);
    let compiled = command.stderr(Stdio::null()).status();
    if !compiled.is_ok_and(|s| s.success()) {
        return Made::Nothing("it is not compiled");
    }
    let said = Command::new("timeout").arg("1").arg(&program).output().ok().filter(|o| o.status.success());
    _ = std::fs::remove_file(&program);
    let said = said.and_then(|s| String::from_utf8(s.stdout).ok()).unwrap_or_default();
    let Some(checksum) = said.trim().strip_prefix("checksum = ") else {
        return Made::Nothing("the compiled program does not end in a second");
    };
    std::fs::write(&path, checking(&text, checksum)).expect("a program can be written");
    Made::Checked(path)
}

/// Returns a program that compares its checksum in place of printing it. Its `main` has no
/// parameters, which would be inputs.
fn checking(text: &str, checksum: &str) -> String {
    let end = "platform_main_end(crc32_context ^ 0xFFFFFFFFUL, print_hash_value);";
    let check = format!("if ((crc32_context ^ 0xFFFFFFFFUL) != 0x{checksum}UL) reach_error();");
    let begin = "int main (int argc, char* argv[])\n{";
    let fixed = "int main (void)\n{ int argc = 1; char *argv[] = { \"csmith\", 0 };";
    let text = format!("void reach_error(void);\n{}", text.replace(end, &check).replace(begin, fixed));
    let known = text.contains(&check) && text.contains(fixed);
    assert!(known, "Csmith writes other programs than this test knows");
    text
}

/// None has another checksum than the compiled program, and most are compared.
pub fn run(given: &[String]) -> Outcome {
    if !is_there("csmith") || !Path::new(HEADERS).join("csmith.h").is_file() {
        return Outcome::Ignored("there is no csmith, or no libcsmith-dev");
    }
    if !is_there("cc") {
        return Outcome::Ignored("there is no C compiler");
    }
    let asked = Asked::read(given);
    let folder = folder("csmith");
    let flags = Flags::read([format!("-I{HEADERS}")]).expect("flags that are known");
    let options = Options { flags, ..Options::default() };
    let seeds: Vec<u64> = (asked.first..asked.first.saturating_add(asked.count)).collect();
    let until = asked.seconds.map(|s| Instant::now() + Duration::from_secs(s));
    let answers = each(&seeds, asked.jobs, until, |&seed| {
        let path = match random_program(&folder, seed, &asked.more) {
            Made::Checked(path) => path,
            Made::Nothing(why) => return (format!("seed {seed}").into(), Answer::Open(why.into())),
        };
        let found = answer(&path, &options, asked.patience);
        if let Some(keep) = asked.keep.as_ref().filter(|_| found != Answer::Right) {
            _ = std::fs::copy(&path, keep.join(format!("csmith_{seed}.c")));
        }
        _ = std::fs::remove_file(&path);
        (path, found)
    });
    _ = std::fs::remove_dir_all(folder);
    let (right, all) = (table(&answers), answers.len());
    println!("csmith: {right} of {all} programs have the checksum of the compiled ones");
    let wrong: Vec<_> =
        answers.iter().filter(|a| matches!(a.1, Answer::Wrong(_) | Answer::Refused(_))).collect();
    match () {
        () if !wrong.is_empty() => Outcome::Failed(format!("they differ: {wrong:#?}")),
        () if 2 * right < all => Outcome::Failed(format!("{right} of {all} were compared")),
        () => Outcome::Passed,
    }
}
