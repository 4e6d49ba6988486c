//! Flags of a C compiler, builds as `compile_commands.json` describes them, and programs that do
//! not say where threads begin.

use throng_dev::harness::{Scratch, has_compiler, said, throng};

/// What a call in a folder says, and its exit status.
fn check(folder: &Scratch, args: &[&str]) -> (Option<i32>, String) {
    let ran = throng().current_dir(&folder.0).arg("check").args(args).output().expect("throng runs");
    let (status, out, err) = said(&ran);
    (status, out + &err)
}

/// Asserts that calls end with a status and say something.
fn all(folder: &Scratch, cases: &[(&[&str], i32, &str)]) {
    for (args, status, words) in cases {
        let (ended, text) = check(folder, args);
        assert!(
            ended == Some(*status) && text.contains(words),
            "{args:?}: {ended:?}, not {words:?} in\n{text}"
        );
    }
}

const ERROR: &str = "void reach_error(void);\n";

#[test]
fn flags_are_passed_on_as_a_compiler_takes_them() {
    if !has_compiler() {
        return;
    }
    let folder = Scratch::new("flags");
    std::fs::create_dir_all(folder.0.join("inc")).unwrap();
    folder.file("inc/one.h", "#define N 1\n");
    folder.file("two.h", "#undef N\n#define N 2\n");
    folder.file("is.c", format!("{ERROR}int main(void) {{ if (N != WANTED) reach_error(); return 0; }}\n"));
    folder.file("words", "-DN=5 '-DWANTED=N'");
    folder.file(
        "long.c",
        format!("{ERROR}int main(void) {{ if (sizeof(long) != 4) reach_error(); return 0; }}\n"),
    );
    folder.file(
        "std.c",
        format!("{ERROR}int main(void) {{ if (__STDC_VERSION__ < 201112L) reach_error(); return 0; }}\n"),
    );
    all(
        &folder,
        &[
            (&["is.c", "-include", "two.h", "-DWANTED=2"], 0, "SAFE"),
            (&["is.c", "--include=two.h", "-D", "WANTED=3"], 10, "UNSAFE"),
            (&["is.c", "-I", "inc", "-include", "one.h", "-include", "two.h", "-DWANTED=2"], 0, "SAFE"),
            (&["is.c", "-isysteminc", "-include", "two.h", "-include", "one.h", "-DWANTED=1"], 0, "SAFE"),
            (&["is.c", "-DN=3", "-UN", "-DN=4", "-DWANTED=4"], 0, "SAFE"),
            (&["is.c", "-DN=3", "-DWANTED=4", "-UN"], 2, "N"),
            (&["is.c", "--cflags", "-O2 -Wall '-DN=(1 + 1)' -DWANTED=2"], 0, "SAFE"),
            (&["is.c", "--cflags", "@words"], 0, "SAFE"),
            (&["long.c", "-m32"], 0, "SAFE"),
            (&["long.c", "--cflags", "-m32"], 0, "SAFE"),
            (&["long.c"], 10, "UNSAFE"),
            (&["std.c", "-std=gnu17"], 0, "SAFE"),
            (&["std.c", "-std=c99"], 10, "UNSAFE"),
            (&["is.c", "-include", "none.h"], 2, "none.h"),
            (
                &["is.c", "--cflags", "-fshort-enums"],
                2,
                "the flag `-fshort-enums` changes the layout of types",
            ),
            (&["is.c", "--cflags", "'"], 2, "a quote is not closed"),
            (&["is.c", "-O2"], 2, "--cflags '-O"),
        ],
    );
}

/// A build of a library and two programs that use it.
fn build() -> Scratch {
    let folder = Scratch::new("build");
    for name in ["src", "src/inc", "out"] {
        std::fs::create_dir_all(folder.0.join(name)).unwrap();
    }
    folder.file("src/inc/lib.h", "int number(void);\n");
    folder.file("src/lib.c", "#include <lib.h>\nstatic int n = N;\nint number(void) { return n; }\n");
    let main = "#include <lib.h>\nvoid reach_error(void);\nstatic int n = N;\n\
                int main(void) { if (number() != 7 || n != 3) reach_error(); return 0; }\n";
    folder.file("src/good.c", main);
    folder.file("src/bad.c", main.replace("!= 7", "!= 8"));
    folder.file("src/words", "-DN=3");
    let entries = [
        r#""file": "../src/good.c", "command": "ccache gcc -O2 -I../src/inc @../src/words -c ../src/good.c -o good.o""#,
        r#""file": "../src/bad.c", "arguments": ["clang", "-I", "../src/inc", "-DN=3", "-c", "../src/bad.c"]"#,
        r#""file": "../src/lib.c", "command": "gcc -fPIC -isystem ../src/inc '-DN=(3 + 4)' -c ../src/lib.c""#,
        r#""file": "../src/lib.c", "command": "gcc -isystem ../src/inc -DN=9 -c ../src/lib.c""#,
        r#""file": "../src/more.cpp", "command": "g++ -c ../src/more.cpp""#,
    ];
    let out = folder.0.join("out").display().to_string();
    let entry = |text: &&str| format!("  {{\"directory\": \"{out}\", {text}}}");
    let text = entries.iter().map(entry).collect::<Vec<_>>().join(",\n");
    folder.file("out/compile_commands.json", format!("[\n{text}\n]\n"));
    folder
}

#[test]
fn a_build_is_read_with_the_flags_of_each_file() {
    if !has_compiler() {
        return;
    }
    let folder = build();
    let build = "out/compile_commands.json";
    all(
        &folder,
        &[
            (&["--project", build, "--main", "src/good.c"], 0, "file:    src/good.c"),
            (&["--project", "out", "--main", "bad.c"], 10, "file:    src/bad.c"),
            (&["--project", build, "src/lib.c", "src/good.c"], 0, "file:    src/good.c"),
            (&["--project", build, "--main", "good.c"], 0, "`src/more.cpp` is left out: it is C++"),
            (&["--project", build, "--main", "good.c"], 0, "different flags: the first ones count"),
            (&["--project", build], 2, "2 programs: `main` is defined in `src/good.c`, `src/bad.c`"),
            (&["--project", build], 2, "--main FILE"),
            (&["--project", build, "--main", "lib.c"], 2, "is not a file of this build that defines `main`"),
            (&["--project", build, "src/none.c"], 2, "`src/none.c` is not a C file of this build"),
            (&["--project", build, "--entry", "number"], 0, "left out are `src/good.c`, `src/bad.c`"),
            (&["--project", build, "--main", "good.c", "-m32"], 0, "SAFE"),
            (&["--project", "none.json"], 2, "none.json"),
        ],
    );
}

#[test]
fn a_build_that_cannot_be_read_is_refused_with_the_place() {
    let folder = Scratch::new("builds");
    folder.file("a.c", "int main(void) { return 0; }\n");
    let cases = [
        ("[{\n  \"file\": 3}]", "w.json:2:11"),
        ("[\n  {,}]", "w.json:2:4"),
        ("[]", "there are no files in this build"),
        (
            r#"[{"file": "a.cpp", "command": "c++ a.cpp"}]"#,
            "no C files in this build: `a.cpp` is left out: it is C++",
        ),
        (r#"[{"file": "a.c"}]"#, "`a.c` has neither `arguments` nor a `command`"),
        (r#"[{"file": "a.c", "command": "cc 'a.c"}]"#, "the command for `a.c`: a quote is not closed"),
        (
            r#"[{"file": "a.c", "command": "cc -fpack-struct a.c"}]"#,
            "`a.c`: the flag `-fpack-struct` changes",
        ),
    ];
    for (text, words) in cases {
        folder.file("w.json", text);
        all(&folder, &[(&["--project", "w.json"], 2, words)]);
    }
}

#[test]
fn a_program_without_a_beginning_lists_where_threads_could_begin() {
    if !has_compiler() {
        return;
    }
    let folder = Scratch::new("entries");
    folder.file(
        "lib.c",
        "#include <stdlib.h>\nstatic int used(int a) { return a; }\n\nvoid *worker(void *unused)\n{ used(1); return 0; }\nvoid other(int n) { }\n",
    );
    let many: String = (0..15).map(|n| format!("void f{n}(void) {{ }}\n")).collect();
    folder.file("many.c", many);
    folder.file("none.c", "int x;\n");
    let listed = "*worker(void *unused)  (line 4)\n  other(int n)  (line 6)\n  static used(int a)  (line 2)";
    let (status, text) = check(&folder, &["lib.c"]);
    let unindented = text.lines().map(|l| l.trim_start()).collect::<Vec<_>>().join("\n  ");
    assert!(status == Some(2) && unindented.contains(listed), "{text}");
    assert!(text.contains("`--entry worker`") && !text.contains("abort"), "{text}");
    all(
        &folder,
        &[
            (&["many.c"], 2, "and 3 more"),
            (&["none.c"], 2, "there is no function `main`"),
            (&["lib.c", "--entry", "wroker"], 2, "did you mean `worker`?"),
            (&["lib.c", "--entry", "nothing"], 2, "other(int n)"),
            (&["lib.c", "none.c"], 2, "lib.c"),
        ],
    );
}

#[test]
fn the_default_limit_of_memory_is_explained() {
    let help = throng().args(["check", "--help"]).output().expect("throng runs");
    let text = String::from_utf8_lossy(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("without it, more than three quarters of the memory of the machine"), "{text}");
}
