//! First contact: what throng says without arguments works; the example of `throng init`;
//! completions and manual pages know every option.

use std::fs;
use std::path::Path;
use std::process::Output;

use throng_dev::harness::{Scratch, throng};

fn within(dir: &Path, args: &[&str]) -> Output {
    throng().current_dir(dir).args(args).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_commands_that_throng_shows_work() {
    let scratch = Scratch::new("setup-welcome");
    let dir = &scratch.0;
    let welcome = within(dir, &[]);
    assert_eq!((welcome.status.code(), welcome.stdout.len()), (Some(2), 0));
    let text = String::from_utf8_lossy(&welcome.stderr).into_owned();
    let commands = text.lines().filter_map(|l| l.strip_prefix("  throng "));
    let commands: Vec<Vec<&str>> =
        commands.map(|l| l.split("  ").next().unwrap().split_whitespace().collect()).collect();
    assert_eq!(commands.len(), 3, "{text}");
    let codes: Vec<Option<i32>> = commands.iter().map(|args| within(dir, args).status.code()).collect();
    assert_eq!(codes, [Some(0), Some(10), Some(10)]);
    assert!(dir.join("lock.html").is_file());
    let help = out(&within(dir, &["help"]));
    assert!(help.contains("throng init lock.c"), "{help}");
}

/// Writes a first program, which must have a bug, and replaces lines of it as its comment says. Returns
/// the verdict about the result.
fn mended(file: &str, first: &str, last: &str, by: &str, ask: &[&str]) -> Output {
    let scratch = Scratch::new(&format!("setup-init-{file}"));
    let dir = &scratch.0;
    assert!(out(&within(dir, &["init", file])).contains(&format!("next: throng check {file}")));
    let text = fs::read_to_string(dir.join(file)).unwrap();
    let again = within(dir, &["init", file]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(fs::read_to_string(dir.join(file)).unwrap(), text, "nothing is written over");
    let broken = within(dir, &["check", file]);
    assert_eq!((broken.status.code(), broken.stderr.len()), (Some(10), 0));
    assert!(text.contains(by.trim()), "the comment says how to mend it");
    let start = text.find(first).unwrap();
    let end = start + text[start..].find(last).unwrap() + last.len();
    fs::write(dir.join(file), format!("{}{by}{}", &text[..start], &text[end..])).unwrap();
    within(dir, &[&["check", file, "--quiet"], ask].concat())
}

#[test]
fn the_first_program_has_a_bug_that_its_comment_mends() {
    let by = "    lock := 1 constrain !lock;\n";
    let safe = mended("first.bp", "    assume(!lock);", "    lock := 1;\n", by, &["--mutex", "CRITICAL"]);
    assert_eq!(safe.status.code(), Some(0), "{}", out(&safe));
}

#[test]
fn the_first_program_in_c_has_a_bug_that_its_comment_mends() {
    if !throng_dev::harness::has_compiler() {
        return;
    }
    for ask in ["--assertions", "--race"] {
        let by = "  while (atomic_exchange(&lock, 1)) {}\n";
        let (first, last) = ("  while (atomic_load(&lock)) {}\n", "  atomic_store(&lock, 1);\n");
        let safe = mended("first.c", first, last, by, &[ask]);
        assert_eq!(safe.status.code(), Some(0), "{}", out(&safe));
    }
}

#[test]
fn the_first_program_in_rust_has_a_bug_that_its_comment_mends() {
    let by = "    while LOCK.swap(true, SeqCst) {}\n";
    let (first, last) = ("    while LOCK.load(SeqCst) {}", "// takes\n");
    let safe = mended("first.rs", first, last, by, &["--entry", "worker"]);
    assert_eq!(safe.status.code(), Some(0), "{}", out(&safe));
}

#[test]
fn a_first_program_is_written_in_what_its_name_says() {
    let scratch = Scratch::new("setup-init-kinds");
    let refused = within(&scratch.0, &["init", "lock.txt"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("files that end in .c, .rs, .bp"));
    assert!(!scratch.0.join("lock.txt").exists());
}

/// Every long option that `--help` of a command lists.
fn options(dir: &Path, command: &str) -> Vec<String> {
    let help = out(&within(dir, &[command, "--help"]));
    let words = help.lines().filter_map(|l| l.split_whitespace().find(|w| w.starts_with("--")));
    words.filter(|w| w.len() > 3 && *w != "--help").map(|w| w.trim_matches(',').to_string()).collect()
}

#[test]
fn completions_and_manual_pages_know_every_option() {
    let scratch = Scratch::new("setup-man");
    let dir = &scratch.0;
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = within(dir, &["completions", shell]);
        assert!(script.status.success() && out(&script).contains("error-label"), "{shell}");
    }
    let bash = out(&within(dir, &["completions", "bash"]));
    assert!(within(dir, &["man", "--dir", "pages"]).status.success());
    let mut seen = 0;
    for command in ["check", "reach", "cutoff", "translate", "simulate"] {
        let page = fs::read_to_string(dir.join(format!("pages/throng-{command}.1"))).unwrap();
        assert_eq!(page, out(&within(dir, &["man", command])));
        for option in options(dir, command) {
            let escaped = option.replace('-', "\\-");
            assert!(page.contains(&escaped) && bash.contains(&option), "{command} {option}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
    assert!(fs::read_to_string(dir.join("pages/throng.1")).unwrap().contains("throng\\-explain(1)"));
    assert_eq!(within(dir, &["man", "nonsense"]).status.code(), Some(2));
}

#[test]
fn a_file_in_the_place_of_a_command_is_recognised() {
    let root = Path::new(throng_dev::ROOT);
    let ran = within(root, &["examples/spinlock.bp"]);
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2));
    assert!(err.contains("throng check examples/spinlock.bp"), "{err}");
    assert_eq!(within(root, &["chekc"]).status.code(), Some(2));
    let typo = within(root, &["check", "examples/spinlock.bp", "--mutex", "CRITCAL"]);
    assert!(String::from_utf8_lossy(&typo.stderr).contains("its labels: CRITICAL"));
}

#[test]
fn without_a_file_throng_says_what_could_be_checked_here() {
    let scratch = Scratch::new("setup-here");
    let dir = &scratch.0;
    let asked = || {
        let output = within(dir, &["check"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(asked().contains("throng init lock.c"));
    fs::write(dir.join("one.bp"), "").unwrap();
    assert!(asked().contains("throng check one.bp"));
    fs::write(dir.join("compile_commands.json"), "[]").unwrap();
    assert!(asked().contains("throng check --project compile_commands.json"));
}

#[test]
fn a_replay_that_is_only_run_needs_no_file() {
    if !throng_dev::harness::has_compiler() {
        return;
    }
    let scratch = Scratch::new("setup-replay-run");
    let dir = &scratch.0;
    within(dir, &["init", "lock.c"]);
    let output = within(dir, &["check", "lock.c", "--replay-run"]);
    assert_eq!(output.status.code(), Some(10));
    assert!(String::from_utf8_lossy(&output.stderr).contains("replay:  reproduced"));
    let files: Vec<_> = fs::read_dir(dir).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(files, ["lock.c"]);
    let piped = fs::File::open(dir.join("lock.c")).unwrap();
    let output = throng().args(["check", "-", "--from", "c", "--quiet"]).stdin(piped).output().unwrap();
    assert!(out(&output).starts_with("UNSAFE"), "C from standard input");
}
