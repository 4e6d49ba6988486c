//! The book: every command in a `console` block of docs/ and of README.md is run, and what is shown
//! below it is compared with what it prints. `...` stands for lines that are left out; of lines
//! with measured numbers only the beginning counts.
//!
//! Blocks of a chapter run in one directory, in order, with the repository's examples; a fenced
//! program before the words "Saved as `NAME`" is there under that name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use throng_dev::harness::{Scratch, program};

fn root() -> PathBuf {
    PathBuf::from(throng_dev::ROOT)
}

/// Commands that build the project; other tests do that.
fn is_skipped(command: &str) -> bool {
    command.starts_with("cargo ")
}

struct Step {
    command: String,
    shown: Vec<String>,
}

/// What a chapter has: files to save and blocks to run, in order.
enum Part {
    File(String, String),
    Block(Vec<Step>),
}

fn parts(text: &str) -> Vec<Part> {
    let (mut parts, mut last) = (Vec::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("Saved as `").and_then(|l| l.split('`').next()) {
            parts.push(Part::File(name.to_string(), last.clone()));
        }
        let Some(language) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        if language == "console" {
            parts.push(Part::Block(steps(&body)));
        } else {
            last = body.join("\n") + "\n";
        }
    }
    parts
}

fn steps(body: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in body {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: command.to_string(), shown: Vec::new() }),
            (None, Some(step)) => step.shown.push(line.to_string()),
            (None, None) => panic!("output without a command: {line}"),
        }
    }
    steps
}

/// What is compared of a line: numbers of searches and times differ from machine to machine.
fn essence(line: &str) -> &str {
    for volatile in ["search:", "checked:", "saved:"] {
        if line.starts_with(volatile) {
            return volatile;
        }
    }
    line.split("; checked in").next().unwrap_or(line).trim_end()
}

/// Returns whether the shown lines are printed, one after the other, with anything where `...`
/// stands.
fn agrees(shown: &[String], printed: &[&str]) -> bool {
    let Some(first) = shown.first() else { return true };
    if first == "..." {
        return (0..=printed.len()).any(|skip| agrees(&shown[1..], &printed[skip..]));
    }
    // Blank lines at the end do not matter.
    let Some(next) = printed.first() else { return shown.iter().all(|l| l.is_empty()) };
    essence(first) == essence(next)
        && (shown.len() > 1 || printed.len() == 1 || printed[1..].is_empty())
        && agrees(&shown[1..], &printed[1..])
}

/// Runs the commands of a chapter, and adds those that print something else. Returns their number.
fn run(chapter: &Path, dir: &Path, wrong: &mut Vec<String>) -> usize {
    let text = fs::read_to_string(chapter).unwrap();
    let program = program();
    let bin = program.parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut count = 0;
    for part in parts(&text) {
        let steps = match part {
            Part::File(name, body) => {
                fs::write(dir.join(name), body).unwrap();
                continue;
            }
            Part::Block(steps) => steps,
        };
        for Step { command, shown } in steps {
            if is_skipped(&command) {
                continue;
            }
            let ran = Command::new("sh")
                .args(["-c", &command])
                .current_dir(dir)
                .env("PATH", &path)
                .output()
                .unwrap();
            let out = String::from_utf8_lossy(&ran.stdout).into_owned();
            let err = String::from_utf8_lossy(&ran.stderr).into_owned();
            let printed: Vec<&str> = out.lines().collect();
            let what =
                format!("{}: $ {command}\n{out}{err}\nshown:\n{}", chapter.display(), shown.join("\n"));
            let status = ran.status.code().unwrap_or(-1);
            let as_shown = shown.is_empty() || agrees(&shown, &printed);
            wrong.extend((!as_shown || ![0, 1, 10].contains(&status)).then_some(what));
            count += 1;
        }
    }
    count
}

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(&format!("docs-{name}"));
    let dir = &scratch.0;
    for folder in [
        "examples",
        "examples/modelling",
        "examples/rust",
        "examples/c",
        "examples/c/orders",
        "examples/c/crawler",
        "examples/machines",
        "examples/memory",
    ] {
        fs::create_dir_all(dir.join(folder)).unwrap();
        let files = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.is_file()) {
            fs::copy(&path, dir.join(folder).join(path.file_name().unwrap())).unwrap();
        }
    }
    scratch
}

#[cfg(unix)]
#[test]
fn every_command_of_the_book_prints_what_it_shows() {
    let mut chapters: Vec<PathBuf> =
        fs::read_dir(root().join("docs")).unwrap().map(|e| e.unwrap().path()).collect();
    chapters.retain(|p| p.extension().is_some_and(|e| e == "md"));
    chapters.push(root().join("README.md"));
    let (mut count, mut wrong) = (0, Vec::new());
    for chapter in chapters {
        let dir = scratch(chapter.file_stem().unwrap().to_str().unwrap());
        count += run(&chapter, &dir.0, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 25, "only {count} commands");
}

#[test]
fn the_comparison_sees_differences() {
    let own = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(agrees(&own(&["a", "...", "c"]), &["a", "b", "b", "c"]));
    assert!(agrees(&own(&["a", "..."]), &["a", "b"]) && agrees(&own(&["search:  1"]), &["search:  2"]));
    assert!(!agrees(&own(&["a", "c"]), &["a", "b", "c"]) && !agrees(&own(&["a"]), &["a", "b"]));
    assert!(!agrees(&own(&["a", "...", "d"]), &["a", "b"]));
}

/// The question and the verdict of each pattern are those of the first line of its program, which is
/// tested with all examples; and the mistakes beside it are UNSAFE.
#[test]
fn the_cookbook_says_what_its_programs_say() {
    let text = fs::read_to_string(root().join("docs/cookbook.md")).unwrap();
    let first = |cell: &str| {
        let file = cell.split("](../").nth(1)?.split(')').next()?;
        let text = fs::read_to_string(root().join(file)).unwrap();
        let line = text.lines().next().unwrap().strip_prefix("// throng check ").unwrap().to_string();
        let (command, verdict) = line.split_once(" : ").unwrap();
        let asked = command.strip_prefix(file).unwrap().trim().to_string();
        Some((asked, verdict.to_string()))
    };
    let rows = text.lines().filter(|line| line.starts_with("| ["));
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [pattern, question, verdict, mistake] = cells[..] else { panic!("{row}") };
        let (asked, said) = first(pattern).unwrap();
        assert_eq!(question.trim_matches('`').replace("none", ""), asked, "{row}");
        assert!(verdict.starts_with(&said), "{row}");
        assert!(first(mistake).is_none_or(|(_, said)| said == "UNSAFE"), "{row}");
        count += 1;
    }
    assert!(count >= 20, "{count} patterns");
}

/// Every Markdown file of the repository, without what is built, downloaded or measured.
fn pages() -> Vec<PathBuf> {
    let (mut pages, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let ours = !name.starts_with('.') && !["target", "node_modules", "artifacts"].contains(&name);
                folders.extend(ours.then_some(path));
            } else if name.ends_with(".md") && name != "summary.md" {
                pages.push(path);
            }
        }
    }
    assert!(pages.len() > 50, "{pages:?}");
    pages
}

/// Links to files lead somewhere.
#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|l| l.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !link.contains("://") {
                assert!(page.with_file_name(file).exists(), "{}: {link}", page.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 150, "{seen}");
}

/// Returns a line without the text of `code` and the targets of links.
fn prose(line: &str) -> String {
    let plain: String = line.split('`').enumerate().map(|(i, t)| if i % 2 == 0 { t } else { "X" }).collect();
    let links = plain.split("](").enumerate();
    links.map(|(i, t)| if i == 0 { t } else { t.split_once(')').map_or(t, |(_, rest)| rest) }).collect()
}

const CLOSING: &[char] = &[')', ']', '"', '”', '*', '_'];

/// Returns whether a line of Markdown has the end of one sentence and the beginning of another.
fn has_two_sentences(line: &str) -> bool {
    let line = prose(line);
    line.match_indices(' ').any(|(at, _)| {
        let (before, after) = (line[..at].trim_end_matches(CLOSING), line[at..].trim_start());
        let begins = after.trim_start_matches(['*', '_', '(', '[', '"']).starts_with(char::is_uppercase);
        // The number of an item is no sentence.
        let number = before.trim().trim_end_matches('.').chars().all(|c| c.is_ascii_digit());
        begins && ends_a_sentence(before) && !number
    })
}

fn ends_a_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(CLOSING);
    let word = text.rsplit([' ', '(']).next().unwrap_or_default();
    text.ends_with(['.', '!', '?']) && !["e.g.", "i.e.", "vs.", "cf."].contains(&word)
}

/// Lines that are text, as opposed to tables, headings, marks and pictures.
fn is_text(line: &str) -> bool {
    let line = line.trim_start();
    !(line.is_empty() || line.starts_with(['|', '#', '<', '>']) || line.starts_with("!["))
}

fn begins_an_item(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || (rest.len() < line.len() && rest.starts_with(". "))
}

/// One sentence per line, so that a change of a sentence is a change of one line.
#[test]
fn every_sentence_has_a_line() {
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|p| !p.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(&page).unwrap();
        let mut inside = false;
        let mut last = "";
        for (number, line) in (1..).zip(text.lines()) {
            let fence = line.trim_start().starts_with("```");
            inside ^= fence;
            if inside || fence {
                last = "";
                continue;
            }
            let goes_on = is_text(last) && is_text(line) && !begins_an_item(line);
            if (is_text(line) && has_two_sentences(line)) || (goes_on && !ends_a_sentence(last)) {
                wrong.push(format!("{}:{number}: {line}", page.display()));
            }
            last = line;
        }
    }
    assert!(wrong.is_empty(), "{} lines\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn two_sentences_in_a_line_are_seen() {
    for line in ["One. Two.", "Is it `x.y`? **It** is.", "A [link. B](c) D. (E.)"] {
        assert!(has_two_sentences(line), "{line}");
    }
    for line in ["One, e.g. Two.", "A `b. C` d.", "A [b](c. D).", "Version 1.2 of 3. item"] {
        assert!(!has_two_sentences(line), "{line}");
    }
}
