//! `throng lsp`, met by a client that speaks the protocol over pipes.

use serde_json::{Value, json};
use throng_dev::harness::editor::Editor;
use throng_dev::harness::{Scratch, example, has_compiler};

const URI: &str = "file:///nowhere/lock.bp";

fn broken() -> String {
    std::fs::read_to_string(example("spinlock-broken.bp")).expect("an example")
}

fn correct() -> String {
    std::fs::read_to_string(example("spinlock.bp")).expect("an example")
}

/// The position of the nth occurrence of a word, which must be ASCII.
fn at(text: &str, word: &str, nth: usize) -> Value {
    let (byte, _) = text.match_indices(word).nth(nth).expect("it occurs");
    let line_start = text[..byte].rfind('\n').map_or(0, |i| i + 1);
    json!({ "line": text[..byte].matches('\n').count(), "character": byte - line_start })
}

fn about(uri: &str, position: Value) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": position })
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().filter_map(|d| d["code"].as_str()).collect()
}

#[test]
fn diagnostics_follow_the_text() {
    let mut editor = Editor::start();
    assert!(editor.open(URI, &broken()).is_empty());
    editor.replace(URI, 2, &broken().replace("lock := 1;", "lokc := 1;"));
    let found = editor.diagnostics(URI);
    assert_eq!(codes(&found), ["E201"]);
    assert_eq!(found[0]["range"]["start"], at(&broken(), "lock := 1", 0));
    assert!(found[0]["message"].as_str().is_some_and(|m| m.contains("is not declared")), "{found:?}");
    // A change of a range, in UTF-16 units: the comment before it has a character of two.
    let text = "decl x; /* 𝄞 */ void main() begin assert(y); end";
    editor.replace(URI, 3, text);
    assert_eq!(codes(&editor.diagnostics(URI)), ["E201"]);
    let y = text.find("y)").expect("y") - 2;
    let range = json!({ "start": { "line": 0, "character": y }, "end": { "line": 0, "character": y + 1 } });
    let change = json!({
        "textDocument": { "uri": URI, "version": 4 },
        "contentChanges": [{ "range": range, "text": "x" }],
    });
    editor.notify("textDocument/didChange", change);
    assert!(editor.diagnostics(URI).is_empty());
    // Types, warnings and syntax.
    editor.replace(URI, 5, "decl n : 0..3 := 7; void main() begin assert(n = 1); end");
    assert_eq!(codes(&editor.diagnostics(URI)), ["E226"]);
    editor.replace(URI, 6, "decl x; void main() begin x := 1; end");
    assert_eq!(codes(&editor.diagnostics(URI)), ["W601"], "nothing is asserted");
    editor.replace(URI, 7, "void main() begin if end");
    assert!(!editor.diagnostics(URI).is_empty());
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert!(editor.diagnostics(URI).is_empty());
}

#[test]
fn every_language_has_diagnostics() {
    let mut editor = Editor::start();
    let found = editor.open("file:///nowhere/a.tts", "3 3\n0 0 => 1\n");
    assert!(!found.is_empty() && found[0]["range"]["start"]["line"] == 1, "{found:?}");
    assert_eq!(codes(&editor.open("file:///nowhere/b.spec", "vars x rules")).len(), 1);
    assert!(editor.open("file:///nowhere/c.txt", "anything").is_empty());
}

#[test]
fn c_is_read_while_it_is_typed() {
    if !has_compiler() {
        return;
    }
    let dir = Scratch::new("lsp-c");
    // What is on the disk is another text, and an older header.
    let path = dir.file("a.c", "int other;\n");
    dir.file("a.h", "\n");
    let uri = format!("file://{}", path.display());
    let text = "#include \"a.h\"\nint main(void) { return nothing; }\n";
    let mut editor = Editor::start();
    let found = editor.open(&uri, text);
    assert!(codes(&found).iter().all(|c| c.starts_with("E8")) && !found.is_empty(), "{found:?}");
    assert_eq!(found[0]["range"]["start"]["line"], 1, "{found:?}");
    editor.replace(&uri, 2, &text.replace("nothing", "0"));
    assert_eq!(codes(&editor.diagnostics(&uri)), ["W601"], "nothing is asserted");
    editor.replace(&uri, 3, text);
    assert!(codes(&editor.diagnostics(&uri))[0].starts_with("E8"));
    // A file that is included has changed on the disk.
    dir.file("a.h", "#include <assert.h>\n#define nothing (assert(1), 0)\n");
    editor.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(editor.diagnostics(&uri), [json!(null); 0]);
    assert_eq!(editor.command("throng.check", json!([uri]))["result"]["status"], "SAFE");
}

#[test]
fn c_is_asked_as_on_the_command_line() {
    if !has_compiler() {
        return;
    }
    let mut editor = Editor::start();
    let mut open = |name: &str| {
        let path = example(&format!("c/{name}"));
        let uri = format!("file://{}", path.display());
        editor.open(&uri, &std::fs::read_to_string(path).expect("an example"));
        uri
    };
    let (broken, correct) = (open("spinlock-broken.c"), open("spinlock.c"));
    let mut check = |uri: &str, question: Value| editor.command("throng.check", json!([uri, question]));
    let answer = check(&broken, json!({ "entries": ["worker"] }))["result"].take();
    assert_eq!(answer["status"], "UNSAFE", "{answer}");
    let steps = answer["runs"][0]["steps"].as_array().expect("steps");
    assert!(steps.iter().any(|s| s["location"]["uri"] == broken && s["thread"].is_string()), "{answer}");
    let all = json!({ "entries": ["worker"], "dataRace": true, "assertions": true });
    assert_eq!(check(&correct, all)["result"]["status"], "SAFE");
    // What does not apply is refused by the name of its field, in both languages.
    for (question, option) in [
        (json!({ "initial": "2" }), "initial"),
        (json!({ "atMost": ["worker=2"] }), "atMost"),
        (json!({ "never": ["worker, worker"] }), "never"),
        (json!({ "targets": ["lock=1"] }), "targets"),
    ] {
        let refused = check(&correct, question);
        let said = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(&format!("`{option}` does not apply")), "{option}: {refused}");
    }
    let found = editor.diagnostics(&broken);
    let violated = found.iter().find(|d| d["code"] == "violated").expect("a diagnostic");
    let text = std::fs::read_to_string(example("c/spinlock-broken.c")).expect("an example");
    assert_eq!(violated["range"]["start"], at(&text, "assert(inside", 0));
}

/// Clicks the lens with this title; the answer of the server.
fn click(editor: &mut Editor, uri: &str, title: &str) -> Value {
    let found = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let lens = found["result"].as_array().expect("a list").iter().find(|l| l["command"]["title"] == title);
    let command = lens.unwrap_or_else(|| panic!("no lens {title}: {found}"))["command"].clone();
    editor.command(command["command"].as_str().expect("a name"), command["arguments"].clone())["result"]
        .take()
}

fn titles(editor: &mut Editor, uri: &str) -> Vec<String> {
    let found = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let lenses = found["result"].as_array().expect("a list").iter();
    lenses.filter_map(|l| l["command"]["title"].as_str()).map(String::from).collect()
}

#[test]
fn functions_of_c_are_asked_about_by_their_lenses() {
    if !has_compiler() {
        return;
    }
    let mut editor = Editor::start();
    let path = example("c/once-broken.c");
    let uri = format!("file://{}", path.display());
    let text = std::fs::read_to_string(path).expect("an example");
    editor.open(&uri, &text);
    assert_eq!(titles(&mut editor, &uri), ["check with any number of threads", "races?"]);
    let answer = click(&mut editor, &uri, "races?");
    assert_eq!(answer["status"], "UNSAFE", "{answer}");
    let shown = titles(&mut editor, &uri);
    assert!(shown[0].starts_with("UNSAFE race") && shown[2] == "show run", "{shown:?}");
    let violated = editor.diagnostics(&uri);
    let violated = violated.iter().find(|d| d["code"] == "violated").expect("a diagnostic");
    assert!(violated["relatedInformation"].as_array().is_some_and(|places| places.len() > 3));
}

#[test]
fn possible_races_are_hints_with_the_other_access() {
    if !has_compiler() {
        return;
    }
    // A search finds no run within what it may use, and the analysis finds no lock.
    let text = "#include <pthread.h>\nint data, turn;\nvoid worker(void) {\n  for (int i = 0; i < 1000000; i++) turn = turn * 3 + 1;\n  if (turn == 77777777) data = 1;\n}\n";
    let dir = Scratch::new("lsp-possible");
    let uri = format!("file://{}", dir.file("a.c", text).display());
    let mut editor = Editor::start();
    editor.open(&uri, text);
    click(&mut editor, &uri, "races?");
    let found = editor.diagnostics(&uri);
    let hints: Vec<&Value> = found.iter().filter(|d| d["code"] == "possible-race").collect();
    assert!(!hints.is_empty(), "{found:?}");
    for hint in hints {
        assert_eq!(hint["severity"], 4, "{hint}");
        assert_eq!(hint["relatedInformation"].as_array().map(Vec::len), Some(1), "{hint}");
    }
}

#[test]
fn functions_of_rust_are_asked_about_by_their_lenses() {
    let mut editor = Editor::start();
    let path = example("rust/spin_lock.rs");
    let uri = format!("file://{}", path.display());
    let text = std::fs::read_to_string(path).expect("an example");
    editor.open(&uri, &text);
    let shown = titles(&mut editor, &uri);
    assert_eq!(shown, ["check with any number of threads", "races?"]);
    // The text counts, not the file.
    let edited = text.replace("compare_exchange_weak(false, true", "compare_exchange_weak(true, true");
    assert_ne!(edited, text);
    editor.replace(&uri, 2, &edited);
    let answer = click(&mut editor, &uri, &shown[0]);
    assert!(answer["status"].is_string(), "{answer}");
    editor.replace(&uri, 3, &text);
    let answer = click(&mut editor, &uri, &shown[0]);
    assert_eq!(answer["status"], "SAFE", "{answer}");
}

#[test]
fn models_refuse_by_name_what_is_for_c() {
    let mut editor = Editor::start();
    editor.open(URI, &correct());
    for (question, option) in [
        (json!({ "entries": ["main"] }), "entries"),
        (json!({ "overflow": true }), "overflow"),
        (json!({ "locks": true }), "locks"),
        (json!({ "memorySafety": true }), "memorySafety"),
        (json!({ "assertions": true }), "assertions"),
        (json!({ "dataRace": true }), "dataRace"),
    ] {
        let refused = editor.command("throng.check", json!([URI, question]));
        let said = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(&format!("`{option}`")), "{option}: {refused}");
    }
    let all = json!({ "deadlock": true, "atMost": ["CRITICAL=1"], "never": ["CRITICAL, CRITICAL"] });
    let answer = editor.command("throng.check", json!([URI, all]))["result"].take();
    assert_eq!(answer["status"], "SAFE", "{answer}");
    let races = editor.command("throng.check", json!([URI, { "races": ["busy"], "stuck": ["CRITICAL"] }]));
    assert_eq!(races["result"]["status"], "SAFE", "{races}");
}

#[test]
fn names_are_explained_found_and_renamed() {
    let mut editor = Editor::start();
    let text = broken();
    editor.open(URI, &text);
    let hover = editor.request("textDocument/hover", about(URI, at(&text, "busy := 1", 0)));
    let shown = hover["result"]["contents"]["value"].as_str().expect("text");
    assert!(shown.contains("decl busy := 0"), "{shown}");
    assert!(
        shown.contains("shared variable, line 7") && shown.contains("in the critical section"),
        "{shown}"
    );
    let definition = editor.request("textDocument/definition", about(URI, at(&text, "busy := 1", 0)));
    assert_eq!(definition["result"]["range"]["start"], at(&text, "busy := 0;", 0));
    let mut params = about(URI, at(&text, "busy := 1", 0));
    params["context"] = json!({ "includeDeclaration": true });
    assert_eq!(editor.request("textDocument/references", params)["result"].as_array().map(Vec::len), Some(4));
    assert!(
        editor.request("textDocument/hover", about(URI, json!({ "line": 0, "character": 0 })))["result"]
            .is_null()
    );

    let mut params = about(URI, at(&text, "busy := 1", 0));
    params["newName"] = "taken".into();
    let renamed = editor.request("textDocument/rename", params.clone());
    let edits = renamed["result"]["changes"][URI].as_array().expect("edits");
    assert_eq!(edits.len(), 4);
    params["newName"] = "lock".into();
    assert_eq!(editor.request("textDocument/rename", params)["error"]["code"], -32803);

    let outline = editor.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    let names: Vec<&str> =
        outline["result"].as_array().expect("a list").iter().filter_map(|e| e["name"].as_str()).collect();
    assert_eq!(names, ["lock", "busy", "main"]);
    assert_eq!(outline["result"][2]["children"][0]["name"], "CRITICAL");
}

#[test]
fn formatting_indents_and_keeps_comments() {
    let mut editor = Editor::start();
    let squashed: String = broken().lines().map(|line| format!("{}\n", line.trim_start())).collect();
    editor.open(URI, &squashed);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": URI }, "options": options });
    let edits = editor.request("textDocument/formatting", params.clone());
    assert_eq!(edits["result"][0]["newText"], broken());
    editor.replace(URI, 2, &broken());
    assert_eq!(editor.request("textDocument/formatting", params)["result"], json!([]));
}

fn lenses(editor: &mut Editor) -> Vec<String> {
    let found = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let lenses = found["result"].as_array().expect("a list").iter();
    lenses.filter_map(|l| l["command"]["title"].as_str()).map(String::from).collect()
}

#[test]
fn a_check_gives_a_run_as_locations_and_is_remembered() {
    let mut editor = Editor::start();
    let text = broken();
    editor.open(URI, &text);
    assert_eq!(lenses(&mut editor), ["check"]);
    let none = editor.command("throng.showRun", json!([URI]));
    assert_eq!(none["error"]["code"], -32803);
    let answer = editor.command("throng.check", json!([URI]))["result"].take();
    assert_eq!(answer["status"], "UNSAFE");
    assert!(answer["report"].as_str().is_some_and(|r| r.contains("initial: any number of threads")));
    let begin = editor.heard("$/progress");
    assert_eq!(
        (&begin["value"]["kind"], &begin["value"]["title"]),
        (&json!("begin"), &json!("checking lock.bp"))
    );
    let found = editor.diagnostics(URI);
    assert_eq!(codes(&found), ["violated"]);
    assert_eq!(found[0]["range"]["start"], at(&text, "assert(!busy)", 0));
    assert_eq!(found[0]["relatedInformation"].as_array().map(Vec::len), Some(8));

    let runs = editor.command("throng.showRun", json!([URI]))["result"].take();
    assert_eq!(runs, answer["runs"]);
    let steps = runs[0]["steps"].as_array().expect("steps");
    assert_eq!((steps.len(), &runs[0]["threads"]), (8, &json!(2)));
    assert!(steps.iter().all(|s| s["location"]["uri"] == URI && s["thread"].is_string()));
    assert!(steps.iter().any(|s| s["location"]["range"]["start"] == at(&text, "lock := 1", 0)));
    let shown = lenses(&mut editor);
    assert_eq!(shown, ["UNSAFE assertions 2 threads, 8 steps", "show run"]);

    // Another text has no verdict; the first one has it still.
    editor.replace(URI, 2, &correct());
    assert!(editor.diagnostics(URI).is_empty());
    assert_eq!(lenses(&mut editor), ["check"]);
    assert_eq!(editor.command("throng.check", json!([URI]))["result"]["status"], "SAFE");
    let proof = editor.command("throng.showProof", json!([URI]))["result"].take();
    assert!(
        proof["html"]
            .as_str()
            .is_some_and(|h| h.starts_with("<!doctype html>") || h.starts_with("<!DOCTYPE html>"))
    );
    assert_eq!(lenses(&mut editor)[1], "show proof");
    editor.replace(URI, 3, &text);
    assert_eq!(lenses(&mut editor), shown);
}

#[test]
fn a_line_says_what_was_proved_about_it() {
    let mut editor = Editor::start();
    let text = correct();
    editor.open(URI, &text);
    let hover = |editor: &mut Editor, text: &str, word: &str| {
        let found = editor.request("textDocument/hover", about(URI, at(text, word, 0)));
        found["result"]["contents"]["value"].as_str().unwrap_or_default().to_string()
    };
    assert_eq!(hover(&mut editor, &text, "assert"), "", "nothing is proved yet");
    editor.command("throng.check", json!([URI]));
    let proved = hover(&mut editor, &text, "assert");
    assert!(proved.starts_with("Proved whenever a thread is here (threads: any number)"), "{proved}");
    assert!(
        proved.contains("- lock = 1\n") && proved.contains("no other thread is at lines 13–16"),
        "{proved}"
    );
    let both = hover(&mut editor, &text, "busy := 1");
    assert!(both.contains("shared variable, line 8") && both.contains("- busy = 0\n"), "{both}");
    assert!(!hover(&mut editor, &text, "lock := 0;").contains("Proved"), "a declaration");
    let odd = about(URI, json!({ "line": u64::MAX, "character": 0 }));
    assert!(editor.request("textDocument/hover", odd)["error"].is_null());

    // A later proof about fewer threads, whether it says anything about the line or not, hides
    // nothing that is known.
    editor.command("throng.check", json!([URI, { "threads": 2 }]));
    assert!(hover(&mut editor, &text, "assert").contains("- lock = 1\n"));
    // A text that was not checked has no facts.
    let edited = text.replace("busy := 0;\n    lock", "busy := F;\n    lock");
    editor.replace(URI, 2, &edited);
    assert_eq!(hover(&mut editor, &edited, "assert"), "");
}

#[test]
fn the_proof_of_the_text_before_an_edit_is_tried_first() {
    let mut editor = Editor::start();
    editor.open(URI, &correct());
    let mut check = |version: i64, text: &str| {
        editor.replace(URI, version, text);
        editor.command("throng.check", json!([URI]))["result"].take()
    };
    let report = |answer: &Value| answer["report"].as_str().unwrap_or_default().to_string();
    let first = check(2, &correct());
    assert!(first["status"] == "SAFE" && !report(&first).contains("reuse"), "{first}");
    // The same steps: what was proved stands, and no engine searches.
    let second = check(3, &correct().replace("while * do", "while (*) do  // for ever"));
    assert!(second["status"] == "SAFE" && report(&second).contains("engine:  reuse"), "{second}");
    let broken = check(4, &correct().replace(" constrain !lock", ""));
    assert!(broken["status"] == "UNSAFE" && !report(&broken).contains("reuse"), "{broken}");
}

#[test]
fn other_properties_can_be_asked_for() {
    let mut editor = Editor::start();
    editor.open(URI, &broken());
    let answer = editor.command("throng.check", json!([URI, { "mutex": ["CRITICAL"], "threads": 1 }]));
    assert_eq!(answer["result"]["status"], "SAFE", "{answer}");
    let answer = editor.command("throng.check", json!([URI, { "mutex": ["NOWHERE"] }]));
    assert_eq!(answer["error"]["code"], -32803);
    let answer = editor.command("throng.check", json!([URI, { "colour": 1 }]));
    assert_eq!(answer["error"]["code"], -32602);
    for arguments in [json!([]), json!(["file:///other.bp"]), json!([7])] {
        assert_eq!(editor.command("throng.check", arguments)["error"]["code"], -32602);
    }
}

/// A program whose check takes long: no proof and no bug is near.
fn long() -> String {
    let bits = 20;
    let variables: Vec<String> = (0..bits).map(|i| format!("x{i}")).collect();
    let mut text = format!(
        "decl {};\nvoid main() begin\n  while * do\n",
        variables.iter().map(|v| format!("{v} := 0")).collect::<Vec<_>>().join(", ")
    );
    // A counter of twenty bits: violated after a million rounds.
    for i in 0..bits {
        let carry = variables[..i].join(" & ");
        text += &match i {
            0 => "    atomic_begin; x0 := !x0;\n".to_string(),
            _ => format!("    if ({}) then x{i} := !x{i}; fi;\n", carry.replace("x", "!x")),
        };
    }
    text + &format!("    atomic_end;\n    assert(!({}));\n  od\nend\n", variables.join(" & "))
}

#[test]
fn a_check_is_cancelled_by_the_client_and_by_an_edit() {
    let mut editor = Editor::start();
    editor.open(URI, &long());
    let check = |editor: &mut Editor| {
        editor.ask("workspace/executeCommand", json!({ "command": "throng.check", "arguments": [URI] }))
    };
    let id = check(&mut editor);
    editor.wait(|m| m["method"] == "$/progress" && m["params"]["value"]["kind"] == "report");
    assert_eq!(lenses(&mut editor), ["checking … (stop)"]);
    // Names are answered meanwhile.
    assert!(
        editor.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }))["error"]
            .is_null()
    );
    editor.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(editor.response(id)["error"]["code"], -32800);
    let id = check(&mut editor);
    editor.replace(URI, 2, &(long() + "\n"));
    assert_eq!(editor.response(id)["error"]["code"], -32801);
    let id = check(&mut editor);
    assert!(editor.command("throng.stop", json!([URI]))["error"].is_null());
    assert_eq!(editor.response(id)["error"]["code"], -32800);
    assert_eq!(lenses(&mut editor), ["check"]);
}

#[test]
fn the_protocol_is_kept_whatever_arrives() {
    let mut editor = Editor::connect(&[]);
    assert_eq!(editor.request("textDocument/hover", json!({}))["error"]["code"], -32002);
    editor.request("initialize", json!({ "capabilities": {} }));
    assert_eq!(editor.request("initialize", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("no/such/method", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", json!({}))["error"]["code"], -32602);
    editor.send_bytes(b"Content-Length: 3\r\n\r\n{]}");
    assert_eq!(editor.wait(|m| m["id"].is_null() && m.get("method").is_none())["error"]["code"], -32700);
    for odd in ["7", "[]", "null", "{}", r#"{"id":[1],"method":7}"#] {
        editor.send_bytes(format!("Content-Length: {}\r\n\r\n{odd}", odd.len()).as_bytes());
        let answer = editor.wait(|m| m["id"].is_null() && m.get("method").is_none());
        assert_eq!(answer["error"]["code"], -32600, "{odd}");
    }
    // Nonsense in notifications is passed over.
    editor.notify("textDocument/didChange", json!({ "textDocument": 7, "contentChanges": { "a": [] } }));
    editor.notify("textDocument/didOpen", json!(null));
    assert_eq!(editor.request("shutdown", json!(null))["result"], Value::Null);
    assert_eq!(editor.request("textDocument/hover", json!({}))["error"]["code"], -32600);
    editor.notify("exit", json!(null));
    assert_eq!(editor.hang_up(), Some(0));
}

#[test]
fn an_end_without_shutdown_is_1_and_a_broken_header_is_2() {
    assert_eq!(Editor::start().hang_up(), Some(1));
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"Content-Length: 99999999999999999\r\n\r\n",
        b"Content-Length: 5\r\n\r\n{",
    ] {
        let mut editor = Editor::connect(&[]);
        editor.send_bytes(bytes);
        assert_eq!(editor.hang_up(), Some(2), "{}", String::from_utf8_lossy(bytes));
    }
}
