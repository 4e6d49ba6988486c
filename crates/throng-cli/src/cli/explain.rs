//! `throng explain`: what a code of an error or warning means, with an example. The entries are
//! those of `errors.md`, a chapter of the book that is here because a published crate has only its
//! own files.

use super::ExplainArgs;
use super::console::{Console, Failure};

const PAGE: &str = include_str!("errors.md");

/// The explanation of one code.
struct Entry {
    code: &'static str,
    text: &'static str,
}

pub(super) fn run(args: &ExplainArgs, console: &Console) -> Result<u8, Failure> {
    let Some(asked) = &args.code else {
        let lines = entries().map(|e| format!("{}  {}\n", e.code, first_sentence(e.text)));
        return console.print(&lines.collect::<String>()).map(|()| 0);
    };
    let code = asked.trim().to_ascii_uppercase();
    match entries().find(|e| e.code == code) {
        Some(entry) => console.print(&format!("{code}: {}", plain(entry.text))).map(|()| 0),
        None => Err(Failure::Other(format!(
            "there is no error or warning `{asked}`; `throng explain` without a code lists all of them"
        ))),
    }
}

fn entries() -> impl Iterator<Item = Entry> {
    PAGE.split("\n## ").skip(1).filter_map(|section| {
        let (code, text) = section.split_once('\n')?;
        Some(Entry { code: code.trim(), text: text.split("\n# ").next()?.trim() })
    })
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Without marks: examples are indented.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if let Some((_, options)) = language.split_once(' ') {
                out.push_str(&format!("    with {options}:\n"));
            }
        } else if inside {
            out.push_str(&format!("    {line}\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
