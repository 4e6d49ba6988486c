//! Diagnostics keep up with typing.

use std::time::{Duration, Instant};

use throng_dev::harness::editor::Editor;

use crate::{BUSY, alone};

const URI: &str = "file:///nowhere/long.bp";

/// A program of so many lines, with functions, numbers, loops and an error in its last statement if
/// `wrong`.
fn program(lines: usize, wrong: bool) -> String {
    let mut text = String::from("decl lock := 0, busy := 0;\ndecl n : 0..7 := 0;\n");
    let functions = (lines - 10) / 11;
    for i in 0..functions {
        text += &format!(
            "void f{i}(a) begin\n  decl x, y;\n  while * do\n    x := a & !lock; // round {i}\n    if (x | y) then\n      lock := 1 constrain !lock;\n      assert(!busy | lock);\n      n := (x ? 3 : n);\n    fi;\n  od;\nend\n"
        );
    }
    text += "void main() begin\n";
    text += &(0..functions.min(5)).map(|i| format!("  f{i}(lock);\n")).collect::<String>();
    text + if wrong { "  lokc := 0;\nend\n" } else { "  lock := 0;\nend\n" }
}

#[test]
#[allow(clippy::print_stdout)]
fn diagnostics_of_a_thousand_lines_come_at_once() {
    let _alone = alone();
    assert!(program(1000, false).lines().count() >= 990);
    let mut editor = Editor::start();
    editor.open(URI, &program(1000, false));
    let mut times = Vec::new();
    for version in 2..32 {
        let text = program(1000, version % 2 == 0);
        let began = Instant::now();
        editor.replace(URI, version, &text);
        let found = editor.diagnostics(URI);
        times.push(began.elapsed());
        let errors = found.iter().filter(|d| d["severity"] == 1).count();
        assert_eq!(errors, usize::from(version % 2 == 0), "{found:?}");
    }
    times.sort();
    println!(
        "fastest {:?}, median {:?}, slowest {:?}",
        times[0],
        times[times.len() / 2],
        times[times.len() - 1]
    );
    // 50 milliseconds for half of the keystrokes.
    assert!(times[times.len() / 2] < Duration::from_millis(50) * BUSY, "{times:?}");
}
