//! Programs of one thread: the interpreter against the compiler, for random programs and for a
//! table of the constructs of C.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use throng_c::interpreter::Interpreter;
use throng_c::step::{After, step};
use throng_c::{Options, constructs, read};
use throng_lang::source::Source;

use crate::compiled::{folder, has_compiler};
use crate::generated;

/// What `NAME` returns by the interpreter, or why the program is refused.
fn interpreted(text: &str, name: &str) -> Result<u64, String> {
    let raw = format!("{text}\nunsigned long result;\nint main(void) {{ result = {name}(); return 0; }}\n");
    let loaded = read(Source::new("a.i", raw.clone()), raw, &Options::default()).map_err(|why| {
        let said: Vec<&str> = why.diagnostics.iter().map(|d| d.message.as_str()).collect();
        said.join("; ")
    })?;
    let mut run = Interpreter::new(&loaded.program);
    run.run(100_000, |_| 0);
    if run.ended != Some(After::Halted) {
        let last = run.threads[0].as_ref().map(|t| {
            let missing = step(&loaded.program, &run.memory, t).missing;
            format!("{missing:?} at line {}", loaded.program.origin(t.template as usize, t.pc as usize).line)
        });
        return Err(format!("does not end: {:?}, {last:?}", run.ended));
    }
    let object = loaded.program.objects.iter().find(|o| o.name == "result").expect("it is declared");
    let bytes = &run.memory.fixed[object.base..object.base + 8];
    Ok(bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)))
}

/// What the functions `NAME_0`, `NAME_1`, … of as many files return when they are compiled.
fn compiled(folder: &Path, name: &str, texts: &[String]) -> Vec<u64> {
    let mut main = String::from("#include <stdio.h>\n");
    let mut body = String::new();
    let mut command = Command::new("cc");
    command.args(["-w", "-fwrapv", "-std=gnu17", "-o", "all", "main.c"]).current_dir(folder);
    for (n, text) in texts.iter().enumerate() {
        _ = writeln!(main, "unsigned long {name}_{n}(void);");
        _ = writeln!(body, "  printf(\"%lu\\n\", {name}_{n}());");
        let file = format!("p{n}.c");
        std::fs::write(folder.join(&file), text).unwrap();
        command.arg(file);
    }
    std::fs::write(folder.join("main.c"), format!("{main}int main(void) {{\n{body}}}\n")).unwrap();
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = Command::new(folder.join("all")).output().unwrap();
    assert!(said.status.success(), "the compiled programs fail: {:?}", said.status);
    String::from_utf8(said.stdout).unwrap().lines().map(|l| l.parse().unwrap()).collect()
}

#[test]
fn random_programs_of_one_thread_compute_what_the_compiler_says() {
    if !has_compiler() {
        return;
    }
    let count = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200usize);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0u64);
    let folder = folder("sequential");
    let texts: Vec<String> =
        (0..count).map(|n| generated::program(first + n as u64, &format!("program_{n}"))).collect();
    let expected = compiled(&folder, "program", &texts);
    let mut wrong = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        let found = interpreted(text, &format!("program_{n}"));
        if found != Ok(expected[n]) {
            println!("seed {}: {found:?}, not {}\n{text}", first + n as u64, expected[n]);
            wrong.push(first + n as u64);
        }
    }
    assert!(wrong.is_empty(), "computed wrongly, by seed: {wrong:?}");
    std::fs::remove_dir_all(folder).unwrap();
}
