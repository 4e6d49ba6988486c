//! First contact: what throng says without arguments works; the example of `throng init`; completions and manual pages know every option.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn throng(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throng")).current_dir(dir).args(args).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("throng-setup-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn the_commands_that_throng_shows_work() {
    let dir = scratch("welcome");
    let welcome = throng(&dir, &[]);
    assert_eq!((welcome.status.code(), welcome.stdout.len()), (Some(2), 0));
    let text = String::from_utf8_lossy(&welcome.stderr).into_owned();
    let commands = text.lines().filter_map(|l| l.strip_prefix("  throng "));
    let commands: Vec<Vec<&str>> =
        commands.map(|l| l.split("  ").next().unwrap().split_whitespace().collect()).collect();
    assert_eq!(commands.len(), 3, "{text}");
    let codes: Vec<Option<i32>> = commands.iter().map(|args| throng(&dir, args).status.code()).collect();
    assert_eq!(codes, [Some(0), Some(10), Some(10)]);
    assert!(dir.join("lock.html").is_file());
    let help = out(&throng(&dir, &["help"]));
    assert!(help.contains("throng init lock.bp"), "{help}");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_first_program_has_a_bug_that_its_comment_mends() {
    let dir = scratch("init");
    assert!(out(&throng(&dir, &["init", "first.bp"])).contains("next: throng check first.bp"));
    let text = fs::read_to_string(dir.join("first.bp")).unwrap();
    let again = throng(&dir, &["init", "first.bp"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(fs::read_to_string(dir.join("first.bp")).unwrap(), text, "nothing is written over");
    let broken = throng(&dir, &["check", "first.bp"]);
    assert_eq!((broken.status.code(), broken.stderr.len()), (Some(10), 0));
    let start = text.find("    assume(!lock);").unwrap();
    let end = start + text[start..].find("    lock := 1;\n").unwrap() + "    lock := 1;\n".len();
    let mended = format!("{}    lock := 1 constrain !lock;\n{}", &text[..start], &text[end..]);
    fs::write(dir.join("first.bp"), mended).unwrap();
    let safe = throng(&dir, &["check", "first.bp", "--mutex", "CRITICAL"]);
    assert_eq!(safe.status.code(), Some(0), "{}", out(&safe));
    fs::remove_dir_all(dir).unwrap();
}

/// Every long option that `--help` of a command lists.
fn options(dir: &Path, command: &str) -> Vec<String> {
    let help = out(&throng(dir, &[command, "--help"]));
    let words = help.lines().filter_map(|l| l.split_whitespace().find(|w| w.starts_with("--")));
    words.filter(|w| w.len() > 3 && *w != "--help").map(|w| w.trim_matches(',').to_string()).collect()
}

#[test]
fn completions_and_manual_pages_know_every_option() {
    let dir = scratch("man");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = throng(&dir, &["completions", shell]);
        assert!(script.status.success() && out(&script).contains("error-label"), "{shell}");
    }
    let bash = out(&throng(&dir, &["completions", "bash"]));
    assert!(throng(&dir, &["man", "--dir", "pages"]).status.success());
    let mut seen = 0;
    for command in ["check", "reach", "cutoff", "translate", "simulate"] {
        let page = fs::read_to_string(dir.join(format!("pages/throng-{command}.1"))).unwrap();
        assert_eq!(page, out(&throng(&dir, &["man", command])));
        for option in options(&dir, command) {
            let escaped = option.replace('-', "\\-");
            assert!(page.contains(&escaped) && bash.contains(&option), "{command} {option}");
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
    assert!(fs::read_to_string(dir.join("pages/throng.1")).unwrap().contains("throng\\-explain(1)"));
    assert_eq!(throng(&dir, &["man", "nonsense"]).status.code(), Some(2));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_file_in_the_place_of_a_command_is_recognised() {
    let root = Path::new(throng_dev::ROOT);
    let ran = throng(root, &["examples/spinlock.bp"]);
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2));
    assert!(err.contains("throng check examples/spinlock.bp"), "{err}");
    assert_eq!(throng(root, &["chekc"]).status.code(), Some(2));
    let typo = throng(root, &["check", "examples/spinlock.bp", "--mutex", "CRITCAL"]);
    assert!(String::from_utf8_lossy(&typo.stderr).contains("its labels: CRITICAL"));
}
