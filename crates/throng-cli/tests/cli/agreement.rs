//! The command line, the language server and the page of `throng serve` give the same verdicts for
//! the same file: for every example, asked as the example itself says.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use throng_dev::harness::editor::Editor;
use throng_dev::harness::{example, has_compiler, run};

use crate::serve::serve;

/// An example: its name in the folder, its text, and what its first line asks besides the text, as
/// options and as JSON.
struct Example {
    name: String,
    text: String,
    options: Vec<String>,
    question: Value,
}

/// Returns every example. Files of properties are not inputs: they belong to those beside them.
fn examples() -> Vec<Example> {
    let root = example("");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e != "prop") && !is_part(&path) {
                let name = path.strip_prefix(&root).expect("inside").to_str().expect("UTF-8").to_string();
                let text = fs::read_to_string(&path).expect("text");
                let options = options(&name, &text);
                found.push(Example { question: question(&options), name, text, options });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Returns whether a file is one of several of a program, or has tests of its own that say what is
/// asked about it (memory orders), or is in Rust, which editors and the page do not take. The ticket
/// lock takes longer than an editor waits on a busy machine.
fn is_part(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|e| e == "h" || e == "rs")
        || path.ends_with("c/tickets.c")
        || path.components().any(|c| c.as_os_str() == "crawler" || c.as_os_str() == "orders")
}

/// The options in the first line of an example in C; others ask in their text.
fn options(name: &str, text: &str) -> Vec<String> {
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("// throng check ")) else {
        assert!(!name.starts_with("c/"), "{name}");
        return Vec::new();
    };
    let (command, _) = line.split_once(" : ").expect("a verdict");
    command.split(' ').skip(1).map(str::to_string).collect()
}

fn question(options: &[String]) -> Value {
    let (mut fields, mut words) = (Map::new(), options.iter());
    while let Some(word) = words.next() {
        let mut list = || json!(words.next().expect("a value").split(',').collect::<Vec<_>>());
        let (field, value) = match word.as_str() {
            "--entry" => ("entries", list()),
            "--mutex" => ("mutex", list()),
            "--race" => ("dataRace", json!(true)),
            "--assertions" => ("assertions", json!(true)),
            "--deadlock" => ("deadlock", json!(true)),
            "--memory-safety" => ("memorySafety", json!(true)),
            "--stuck" => ("stuck", list()),
            "--starvation" => ("starvation", list()),
            other => panic!("{other} has no field here yet"),
        };
        fields.insert(field.into(), value);
    }
    fields.into()
}

/// The verdicts in a report, each with the name of its target: the rest of their lines, and the
/// other lines, are about the search.
fn verdicts(report: &str) -> Vec<(String, String)> {
    let columns = |line: &str| {
        let mut columns = line.split("  ").map(str::trim).filter(|column| !column.is_empty());
        let verdict = columns.next().filter(|word| matches!(*word, "SAFE" | "UNSAFE" | "UNKNOWN"))?;
        Some((verdict.to_string(), columns.next().unwrap_or_default().to_string()))
    };
    report.lines().filter_map(columns).collect()
}

#[test]
fn every_example_has_the_same_verdicts_everywhere() {
    let compiler = has_compiler();
    let asked: Vec<Example> =
        examples().into_iter().filter(|e| compiler || !e.name.starts_with("c/")).collect();
    let path = |e: &Example| -> PathBuf { example(&e.name) };
    let by_command = || -> Vec<_> {
        let check = |e: &Example| {
            let path = path(e);
            let mut args = vec!["check", path.to_str().expect("UTF-8")];
            args.extend(e.options.iter().map(String::as_str));
            verdicts(&run(&args).1)
        };
        asked.iter().map(check).collect()
    };
    let by_editor = || -> Vec<_> {
        let mut editor = Editor::start();
        let mut check = |e: &Example| {
            let uri = format!("file://{}", path(e).display());
            editor.open(&uri, &e.text);
            let answer = editor.command("throng.check", json!([uri, e.question]));
            verdicts(answer["result"]["report"].as_str().unwrap_or_else(|| panic!("{}: {answer}", e.name)))
        };
        asked.iter().map(&mut check).collect()
    };
    let by_page = || -> Vec<_> {
        let served = serve(example("").to_str().expect("UTF-8"), &[]);
        let check = |e: &Example| {
            let asked = json!({ "name": e.name, "text": e.text, "question": e.question });
            let (_, body) = served.post("check", &asked);
            let last: Value = serde_json::from_str(body.lines().last().unwrap_or_default())
                .unwrap_or_else(|why| panic!("{}: {why}: {body}", e.name));
            verdicts(last["report"].as_str().unwrap_or_else(|| panic!("{}: {last}", e.name)))
        };
        asked.iter().map(check).collect()
    };
    let (command, editor, page) = std::thread::scope(|scope| {
        let (editor, page) = (scope.spawn(by_editor), scope.spawn(by_page));
        (by_command(), editor.join().expect("verdicts"), page.join().expect("verdicts"))
    });
    for (i, e) in asked.iter().enumerate() {
        assert!(!command[i].is_empty() && command[i].iter().all(|v| v.0 != "UNKNOWN"), "{}", e.name);
        assert_eq!(command[i], editor[i], "{}: command line, editor", e.name);
        assert_eq!(command[i], page[i], "{}: command line, page", e.name);
    }
}
