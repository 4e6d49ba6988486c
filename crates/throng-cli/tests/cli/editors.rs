//! The files for editors know the keywords of the language, all of them and no others.

use std::collections::BTreeMap;
use std::path::Path;

use throng_lang::bp::lexer::{CONTEXTUAL, RESERVED};

fn editors(file: &str) -> String {
    let path = Path::new(throng_dev::ROOT).join("editors").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn groups() -> BTreeMap<String, Vec<String>> {
    serde_json::from_str(&editors("keywords.json")).expect("groups of words")
}

#[test]
fn the_list_of_keywords_is_that_of_the_lexer() {
    let mut listed: Vec<String> = groups().into_values().flatten().collect();
    // `_` is not highlighted.
    let known = RESERVED.iter().chain(&CONTEXTUAL).filter(|w| **w != "_");
    let mut known: Vec<String> = known.map(|w| w.to_string()).collect();
    listed.sort();
    known.sort();
    assert_eq!(listed, known);
}

#[test]
fn every_editor_has_that_list() {
    let vim = editors("vim/syntax/bp.vim");
    let emacs = editors("emacs/bp-mode.el");
    let textmate = editors("vscode/syntaxes/bp.tmLanguage.json");
    let highlights = editors("tree-sitter/queries/highlights.scm");
    let grammar = editors("tree-sitter/grammar.js");
    for (group, words) in groups() {
        let capital = group[..1].to_uppercase() + &group[1..];
        let line = format!("syn keyword bp{capital} {}\n", words.join(" "));
        assert!(vim.contains(&line), "Vim: {line}: run node editors/generate.mjs");
        let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
        let list = format!("(defconst bp-{group}-words\n  '({}))", quoted.join(" "));
        assert!(emacs.contains(&list), "Emacs: {list}: run node editors/generate.mjs");
        // `sync` is refused: the grammar does not have it.
        let parsed: Vec<&str> =
            quoted.iter().filter(|word| *word != "\"sync\"").map(String::as_str).collect();
        let list = format!("[{}] @", parsed.join(" "));
        assert!(highlights.contains(&list), "tree-sitter: {list}: run node editors/generate.mjs");
        for word in parsed {
            assert!(grammar.contains(word), "tree-sitter: {word} is missing in grammar.js");
        }
        let pattern = format!("({})", words.join("|"));
        assert!(textmate.contains(&pattern), "TextMate: {pattern}: run node editors/generate.mjs");
    }
    assert_eq!(vim.matches("syn keyword").count(), groups().len());
    assert_eq!(emacs.matches("(defconst bp-").count(), groups().len() + 1, "and the rules of highlighting");
}
