//! Every code of an error or warning is explained in errors.md, and the examples there make throng
//! say it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use throng_dev::harness::{Scratch, run};

const PAGE: &str = include_str!("../../src/cli/errors.md");

/// Code, and what stands below it.
fn entries() -> BTreeMap<&'static str, &'static str> {
    let sections = PAGE.split("\n## ").skip(1);
    sections
        .map(|s| s.split_once('\n').unwrap())
        .map(|(code, text)| (code, text.split("\n# ").next().unwrap()))
        .collect()
}

/// Codes in string literals of the source.
fn used(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            used(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs")
            && path.file_stem().is_some_and(|s| s != "tests")
        {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().as_bytes();
            for word in code.windows(6) {
                let quoted = word[0] == b'"' && word[5] == b'"' && matches!(word[1], b'E' | b'W');
                if quoted && word[2..5].iter().all(u8::is_ascii_digit) {
                    found.insert(String::from_utf8_lossy(&word[1..5]).into_owned());
                }
            }
        }
    }
}

#[test]
fn every_code_is_explained_and_nothing_else() {
    let mut codes = BTreeSet::new();
    for entry in fs::read_dir(Path::new(throng_dev::ROOT).join("crates")).unwrap() {
        used(&entry.unwrap().path().join("src"), &mut codes);
    }
    let explained: BTreeSet<String> = entries().keys().map(ToString::to_string).collect();
    assert!(codes.len() > 100, "{codes:?}");
    assert_eq!(codes, explained);
}

/// The example of an entry: language, options, text.
fn example(text: &str) -> (&str, Vec<&str>, String) {
    let mut lines = text.lines().skip_while(|l| !l.starts_with("```"));
    let mut head = lines.next().expect("an example").trim_start_matches('`').split(' ');
    let language = head.next().unwrap();
    let body: Vec<&str> = lines.take_while(|l| *l != "```").collect();
    let end = if body.is_empty() { "" } else { "\n" };
    (language, head.collect(), body.join("\n") + end)
}

#[test]
fn every_example_makes_throng_say_its_code() {
    let scratch = Scratch::new("explain");
    let dir = &scratch.0;
    let (mut listed, mut wrong) = (Vec::new(), Vec::new());
    for (code, text) in entries() {
        assert!(text.trim().lines().next().unwrap().len() > 15, "{code} is explained");
        let (language, options, body) = example(text);
        let path = match language {
            // C may need a preprocessor; the crate that reads it tests its own messages.
            "text" | "c" if code[1..].starts_with('8') => continue,
            "text" => {
                listed.push(code);
                continue;
            }
            "prop" => {
                fs::write(dir.join("example.prop"), body).unwrap();
                fs::write(dir.join("example.tts"), "2 2\n0 0 -> 1 1\n").unwrap();
                dir.join("example.tts")
            }
            "xml" => {
                let kind = "http://www.pnml.org/version-2009/grammar/ptnet";
                let net = format!("<pnml><net id='n' type='{kind}'><place id='p'/></net></pnml>");
                fs::write(dir.join("example.xml"), body).unwrap();
                fs::write(dir.join("example.pnml"), net).unwrap();
                dir.join("example.pnml")
            }
            language => {
                let _ = fs::remove_file(dir.join("example.prop"));
                let _ = fs::remove_file(dir.join("example.xml"));
                let path = dir.join(format!("example.{language}"));
                fs::write(&path, body).unwrap();
                path
            }
        };
        let mut args = vec!["check", path.to_str().unwrap()];
        args.extend(&options);
        let (status, _, said) = run(&args);
        let refused = status == Some(2);
        if !said.contains(&format!("[{code}]")) || refused != code.starts_with('E') {
            wrong.push(format!("{code}:\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Too large to be shown, about files that are not there, or only for a library.
    assert!(listed.len() <= 22, "{listed:?}");
}

#[test]
fn the_command_prints_entries() {
    let (_, text, _) = run(&["explain", "e116"]);
    assert!(text.starts_with("E116: An assignment is written") && text.contains("\n    decl x;\n"), "{text}");
    let (_, all, _) = run(&["explain"]);
    assert_eq!(all.lines().count(), entries().len());
    assert_eq!(run(&["explain", "E000"]).0, Some(2));
}
