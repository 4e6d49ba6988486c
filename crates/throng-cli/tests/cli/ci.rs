//! The scripts that CI systems run: `tools/ci/check-files`, `tools/install.sh`, and the templates
//! that call them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use throng_dev::harness::{Scratch, program};

const SAFE: &str = "decl x := 0; void main() begin x := 1; assert(x); end\n";
const UNSAFE: &str = "decl x := 0; void main() begin x := 1; assert(!x); end\n";

/// Runs a script of the repository in a folder; `None` without bash.
fn script(name: &str, folder: &Path, args: &[&str]) -> Option<Output> {
    let script = Path::new(throng_dev::ROOT).join(name);
    let mut command = Command::new("bash");
    command.arg(script).args(args).current_dir(folder).env("THRONG", program());
    command.output().ok()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
#[cfg(unix)]
fn many_files_are_checked_once_and_the_worst_status_counts() {
    let scratch = Scratch::new("ci");
    let folder = &scratch.0;
    fs::create_dir(folder.join("models")).unwrap();
    fs::write(folder.join("models/safe one.bp"), SAFE).unwrap();
    fs::write(folder.join("models/unsafe.bp"), UNSAFE).unwrap();
    let run = |args: &[&str]| script("tools/ci/check-files", folder, args).expect("bash");
    let all = ["--cache", "cache", "--", "--timeout", "600", "--", "models/*.bp"];
    let first = run(&all);
    assert_eq!(first.status.code(), Some(10), "{}", said(&first));
    let lines = said(&first);
    assert!(
        lines.contains("SAFE  models/safe one.bp \n") && lines.contains("UNSAFE  models/unsafe.bp \n"),
        "{lines}"
    );
    assert!(folder.join("throng-results/models_unsafe.bp.sarif").exists());
    let again = said(&run(&all));
    assert_eq!(again.matches("(cached)").count(), 2, "{again}");
    // An edited model, other options: other questions.
    fs::write(folder.join("models/unsafe.bp"), SAFE).unwrap();
    let edited = run(&all);
    assert_eq!((edited.status.code(), said(&edited).matches("(cached)").count()), (Some(0), 1));
    let other = said(&run(&["--cache", "cache", "--", "--threads", "1", "--", "models/*.bp"]));
    assert_eq!(other.matches("(cached)").count(), 0, "{other}");
    // Bad input is the worst; a pattern without files is a bad call.
    fs::write(folder.join("models/bad.bp"), "x").unwrap();
    assert_eq!(run(&["models/*.bp"]).status.code(), Some(2));
    assert_eq!(run(&["nothing/*.bp"]).status.code(), Some(2));
    assert_eq!(run(&[]).status.code(), Some(2));
}

#[test]
#[cfg(unix)]
fn a_comparison_says_which_verdicts_are_others() {
    let scratch = Scratch::new("ci-before");
    let folder = &scratch.0;
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let run = |args: &[&str]| script("tools/ci/check-files", folder, args).expect("bash");
    let changes = || fs::read_to_string(folder.join("now/changes.md")).unwrap();
    write("same.bp", SAFE);
    write("worse.bp", SAFE);
    write("gone.bp", SAFE);
    let before = run(&["--out", "base", "*.bp"]);
    assert_eq!(before.status.code(), Some(0), "{}", said(&before));
    let same = run(&["--out", "now", "--before", "base", "*.bp"]);
    assert_eq!((same.status.code(), &*changes()), (Some(0), "No verdict has changed.\n"));
    write("worse.bp", UNSAFE);
    fs::remove_file(folder.join("gone.bp")).unwrap();
    write("new.bp", SAFE);
    let now = run(&["--out", "now", "--before", "base", "*.bp"]);
    assert_eq!(now.status.code(), Some(10), "{}", said(&now));
    let rows: Vec<String> = changes().lines().skip(2).map(String::from).collect();
    assert_eq!(
        rows,
        ["| `new.bp` | - | SAFE |", "| `worse.bp` | SAFE | UNSAFE |", "| `gone.bp` | SAFE | - |"]
    );
    // The folder of before is the one that is written; one that is not there knows nothing.
    let again = ["--out", "now", "--before", "now", "same.bp", "new.bp", "worse.bp"];
    assert_eq!((run(&again).status.code(), &*changes()), (Some(10), "No verdict has changed.\n"));
    assert_eq!(run(&["--out", "now", "--before", "nowhere", "same.bp"]).status.code(), Some(0));
    assert!(changes().ends_with("| `same.bp` | - | SAFE |\n"), "{}", changes());
}

#[test]
#[cfg(unix)]
fn unknown_fails_unless_it_is_said_to_be_fine() {
    let scratch = Scratch::new("ci-unknown");
    fs::write(scratch.0.join("safe.bp"), SAFE).unwrap();
    let run = |unknown: &str| {
        // Explicit search with any number of threads never ends.
        let args =
            ["--unknown", unknown, "--", "--engine", "explicit", "--max-threads", "2", "--", "safe.bp"];
        script("tools/ci/check-files", &scratch.0, &args).expect("bash").status.code()
    };
    assert_eq!((run("fail"), run("ok")), (Some(1), Some(0)));
}

#[test]
#[cfg(unix)]
fn the_installer_compares_the_checksum() {
    let scratch = Scratch::new("ci-install");
    let folder = &scratch.0;
    let name = "throng-0-test";
    fs::create_dir(folder.join(name)).unwrap();
    fs::copy(program(), folder.join(name).join("throng")).unwrap();
    let pack = format!(
        "tar -czf {name}.tar.gz {name} && {{ sha256sum {name}.tar.gz || shasum -a 256 {name}.tar.gz; }} > {name}.tar.gz.sha256"
    );
    assert!(Command::new("bash").args(["-c", &pack]).current_dir(folder).status().unwrap().success());
    let archive = format!("{name}.tar.gz");
    let install = || script("tools/install.sh", folder, &[&archive, "bin"]).expect("bash");
    let done = install();
    assert!(done.status.success() && folder.join("bin/throng").exists(), "{}", said(&done));
    fs::remove_file(folder.join("bin/throng")).unwrap();
    fs::write(folder.join(format!("{archive}.sha256")), format!("{}  {archive}\n", "0".repeat(64))).unwrap();
    let refused = install();
    assert!(!refused.status.success() && !folder.join("bin/throng").exists(), "{}", said(&refused));
}

/// Templates name scripts and options that exist, and actions by commit.
#[test]
fn templates_name_what_there_is() {
    let read = |name: &str| fs::read_to_string(Path::new(throng_dev::ROOT).join(name)).unwrap();
    let action = read("action.yml");
    assert!(action.contains("tools/ci/check-files") && action.contains("crates/throng-cli"));
    for uses in action.lines().filter_map(|l| l.trim().trim_start_matches("- ").strip_prefix("uses: ")) {
        let commit = uses.split('@').nth(1).and_then(|c| c.split(' ').next()).unwrap_or_default();
        assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{uses}");
    }
    let hook = read(".pre-commit-hooks.yaml");
    assert!(
        ["bp", "(c|i)", "rs"]
            .iter()
            .all(|kind| hook.contains(&format!("\\.{kind}")) || hook.contains(&format!("\\.({kind}")))
    );
    let entry = hook.lines().find_map(|l| l.trim().strip_prefix("entry: throng ")).expect("an entry");
    let scratch = Scratch::new("ci-hook");
    fs::write(scratch.0.join("safe.bp"), SAFE).unwrap();
    let checked = Command::new(program())
        .args(entry.split(' '))
        .arg("safe.bp")
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", said(&checked));
    assert!(
        read("tools/ci/gitlab.yml").contains("check-files")
            && read("Dockerfile").contains("tools/ci/check-files")
    );
}
