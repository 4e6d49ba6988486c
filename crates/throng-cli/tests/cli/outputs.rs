//! What a command writes, when it cannot, and when there is very much of everything: documented
//! outcomes, never a panic, never half a file.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use throng_dev::harness::{Scratch, has_compiler, throng};

fn run(args: &[&str]) -> Output {
    throng().args(args).output().expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const LOCK: &str = "decl lock := 0; void main() begin decl x := 0; while * do lock := 1 constrain !lock; \
                    C: skip; assert(lock); lock := 0; od end";
const RACE: &str = "decl g := 0; void main() begin g := !g; g := !g; assert(!g); end";

/// Reading takes time and memory, too: an input that needs more than is allowed ends like a search
/// that does.
#[test]
fn limits_hold_while_an_input_is_read() {
    let scratch = Scratch::new("reading");
    let long = format!("void main() begin\n{}end\n", "  decl x; x := !x; assert(x | !x);\n".repeat(300_000));
    let file = scratch.file_argument("long.bp", &long);
    for (limit, much, what) in
        [("--memory", "64", "memory limit of 64 MiB"), ("--timeout", "0.05", "time limit of 0.05 s")]
    {
        let output = run(&["check", &file, limit, much]);
        let text = printed(&output);
        assert!(text.starts_with("UNKNOWN") && text.contains(what), "{text}{}", said(&output));
        assert_eq!(output.status.code(), Some(1));
        let output = run(&["check", &file, limit, much, "--json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(document["verdict"], "unknown");
        assert!(document["attempts"].to_string().contains(what), "{document}");
        for command in ["reach", "cutoff"] {
            let output = run(&[command, &file, limit, much, "--json"]);
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert!(
                document["reason"].to_string().contains(what) && output.status.code() == Some(1),
                "{document}"
            );
        }
        let output = run(&["translate", &file, "--to", "tts", limit, much]);
        assert!(output.status.code() == Some(1) && printed(&output).is_empty(), "{}", said(&output));
        assert!(said(&output).contains(what), "{}", said(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_file_but_not_the_verdict() {
    let dir = Scratch::new("full");
    let lock = dir.file_argument("lock.bp", LOCK);
    for option in ["--certificate", "--html", "--sarif"] {
        let output = run(&["check", &lock, option, "/dev/full"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(printed(&output).starts_with("SAFE"), "{option}: {}", printed(&output));
        assert!(said(&output).contains("cannot write /dev/full"), "{option}: {}", said(&output));
    }
    let output = run(&["cutoff", &lock, "--certificate", "/dev/full"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).starts_with("cutoff"), "{}", printed(&output));
    let output = run(&["translate", &lock, "--to", "tts", "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot write /dev/full"), "{}", said(&output));
    // Standard output itself.
    let commands: [&[&str]; 4] = [
        &["check", &lock],
        &["reach", &lock, "--threads", "2"],
        &["translate", &lock, "--to", "tts"],
        &["man"],
    ];
    for args in commands {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("there");
        let output = throng().args(args).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(said(&output).contains("cannot write to standard output"), "{args:?}: {}", said(&output));
    }
}

/// The other end is closed before anything is written.
#[test]
fn a_closed_output_changes_nothing() {
    let dir = Scratch::new("pipe");
    let (lock, race) = (dir.file_argument("lock.bp", LOCK), dir.file_argument("race.bp", RACE));
    let certificate = dir.argument("lock.json");
    assert_eq!(run(&["check", &lock, "--certificate", &certificate]).status.code(), Some(0));
    let (out, inputs) = (dir.argument("bench"), dir.argument("inputs"));
    fs::create_dir(&inputs).expect("a folder");
    fs::copy(&lock, Path::new(&inputs).join("lock.bp")).expect("a copy");
    let commands: [(&[&str], i32); 14] = [
        (&["check", &lock], 0),
        (&["check", &race], 10),
        (&["check", &race, "--json"], 10),
        (&["check", &race, "--timeout", "0"], 1),
        (&["reach", &lock, "--threads", "2"], 0),
        (&["cutoff", &lock], 0),
        (&["certify", &lock, &certificate], 0),
        (&["translate", &lock, "--to", "tts"], 0),
        (&["bench", &inputs, "--engine", "views", "--timeout", "600", "--out", &out], 0),
        (&["simulate", &race, "--steps", "1000"], 0),
        (&["explain"], 0),
        (&["man"], 0),
        (&["completions", "bash"], 0),
        (&["help"], 0),
    ];
    for (args, status) in commands {
        let mut child =
            throng().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", said(&output));
        assert!(!said(&output).contains("panicked") && !said(&output).contains("error"), "{}", said(&output));
    }
}

#[test]
fn where_nothing_can_be_written_it_is_said_before_the_search() {
    let dir = Scratch::new("read-only");
    let endless = dir.file_argument("lock.tts", "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n");
    // Not even root can write below a file.
    let below = format!("{endless}/x.json");
    let closed = dir.0.join("closed");
    fs::create_dir(&closed).expect("a folder");
    let mut permissions = fs::metadata(&closed).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&closed, permissions).expect("mine");
    let mut places = vec![below, dir.argument("closed")];
    if fs::write(closed.join("probe"), "").is_err() {
        places.push(dir.argument("closed/x.json"));
    }
    for place in &places {
        for option in ["--certificate", "--html", "--sarif", "--checkpoint"] {
            let search = [
                "check",
                &endless,
                "--target",
                "1|1,1",
                "--engine",
                "explicit",
                "--timeout",
                "600",
                option,
                place,
            ];
            let output = run(&search);
            assert_eq!(output.status.code(), Some(2), "{option} {place}: {}", printed(&output));
            assert!(said(&output).contains("cannot"), "{option} {place}: {}", said(&output));
            assert!(output.stdout.is_empty(), "refused before the search: {}", printed(&output));
        }
    }
}

#[test]
fn files_are_replaced_as_a_whole_and_nothing_is_left_beside_them() {
    let dir = Scratch::new("whole");
    let lock = dir.file_argument("lock.bp", LOCK);
    let (html, sarif, certificate, tts) = (
        dir.file_argument("a.html", "old"),
        dir.file_argument("a.sarif", "old"),
        dir.file_argument("a.json", "old"),
        dir.file_argument("a.tts", "old"),
    );
    let output = run(&["check", &lock, "--html", &html, "--sarif", &sarif, "--certificate", &certificate]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(run(&["translate", &lock, "--to", "tts", "-o", &tts]).status.code(), Some(0));
    for file in [&html, &sarif, &certificate, &tts] {
        assert!(fs::read_to_string(file).expect("text").len() > 100, "{file}");
    }
    assert_eq!(dir.names(), ["a.html", "a.json", "a.sarif", "a.tts", "lock.bp"]);
    // A link is followed, not replaced.
    #[cfg(unix)]
    {
        let link = dir.argument("link.html");
        std::os::unix::fs::symlink(&html, &link).expect("a link");
        assert_eq!(run(&["check", &lock, "--html", &link]).status.code(), Some(0));
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    }
}

#[test]
fn numbers_of_jobs_and_limits_at_the_edge() {
    let dir = Scratch::new("edge");
    let lock = dir.file_argument("lock.bp", LOCK);
    for jobs in ["1", "2", "64"] {
        let output = run(&["check", &lock, "--jobs", jobs, "--quiet"]);
        assert_eq!((output.status.code(), &printed(&output)[..4]), (Some(0), "SAFE"), "{jobs}");
    }
    for engine in ["explicit", "auto"] {
        let output = run(&["check", &lock, "--engine", engine, "--threads", "3", "--jobs", "64", "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{engine}");
    }
    for wrong in [["--jobs", "0"], ["--jobs", "-1"], ["--timeout", "-1"], ["--memory", "x"]] {
        let output = run(&["check", &lock, wrong[0], wrong[1]]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{wrong:?}");
    }
    for (option, value, why) in [
        ("--timeout", "0", "time limit"),
        ("--timeout", "1e-9", "time limit"),
        ("--memory", "0", "memory limit"),
        ("--memory", "1", "memory limit"),
    ] {
        for engine in [
            "auto",
            "explicit",
            "symbolic",
            "karp-miller",
            "backward",
            "views",
            "localise",
            "equations",
            "guided",
        ] {
            let mut args = vec!["check", &lock, option, value, "--engine", engine];
            if engine == "symbolic" {
                args.extend(["--threads", "3"]);
            }
            let output = run(&args);
            // Limits are looked at now and then; what is decided before that is decided.
            let at_once = ["views", "equations", "guided"].contains(&engine);
            let says = |word: &str| printed(&output).starts_with(word);
            let in_vain =
                output.status.code() == Some(1) && says("UNKNOWN") && printed(&output).contains(why);
            assert!(
                in_vain
                    || at_once && says("SAFE") && output.status.code() == Some(0)
                    || at_once && says("UNKNOWN") && output.status.code() == Some(1),
                "{engine} {option} {value}: {}{}",
                printed(&output),
                said(&output)
            );
        }
    }
}

#[test]
fn nothing_of_this_depends_on_the_folder() {
    // `-o x` without a folder, from another directory.
    let dir = Scratch::new("folder");
    dir.file_argument("lock.bp", LOCK);
    let output = throng()
        .args(["translate", "lock.bp", "--to", "tts", "-o", "x.tts"])
        .current_dir(&dir.0)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(Path::new(&dir.argument("x.tts")).exists());
}

/// Every way to name an input as an output: refused, whatever is forced, and the input is as it
/// was.
#[test]
fn an_input_is_never_overwritten() {
    let dir = Scratch::new("inputs");
    let system = "2 3\n0 0 -> 1 1\n1 1 -> 0 2\n";
    let (lock, tts, prop) = (
        dir.file_argument("lock.bp", LOCK),
        dir.file_argument("t.tts", system),
        dir.file_argument("t.prop", "1|1,1\n"),
    );
    let (pnml, xml, old) = (dir.argument("n.pnml"), dir.argument("n.xml"), dir.argument("old.json"));
    assert_eq!(run(&["translate", &tts, "--to", "pnml", "-o", &pnml]).status.code(), Some(0));
    assert_eq!(run(&["check", &lock, "--certificate", &old]).status.code(), Some(0));
    let (soft, hard) = (dir.argument("link"), dir.argument("hard"));
    fs::hard_link(&lock, &hard).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&lock, &soft).expect("a link");
    let inputs = [&lock, &tts, &prop, &pnml, &xml, &old];
    let before: Vec<String> = inputs.iter().map(|file| fs::read_to_string(file).expect("there")).collect();
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["cutoff", &lock, "--certificate", &lock],
        vec!["translate", &lock, "--to", "tts", "-o", &lock],
        vec!["check", &tts, "--certificate", &prop],
        vec!["check", &tts, "--html", &prop],
        vec!["check", &tts, "--prop", &prop, "--sarif", &prop],
        vec!["check", &pnml, "--html", &xml],
        vec!["check", &lock, "--reuse", &old, "--html", &old],
        vec!["check", &lock, "--reuse", &old, "--certificate", &old],
        vec!["translate", &pnml, "--to", "pnml", "-o", &pnml],
        vec!["translate", &pnml, "--to", "tts", "-o", &xml],
    ];
    for link in [&soft, &hard].into_iter().filter(|link| cfg!(unix) && Path::new(link).exists()) {
        commands.push(vec!["check", &lock, "--html", link]);
        commands.push(vec!["check", link, "--from", "bp", "--html", &lock]);
        commands.push(vec!["translate", link, "--from", "bp", "--to", "tts", "-o", &lock]);
    }
    for command in commands {
        for force in [&[][..], &["--force"]] {
            let output = run(&[&command[..], force].concat());
            assert_eq!(output.status.code(), Some(2), "{command:?}: {}", printed(&output));
            assert!(
                said(&output).contains("it is an input of this command"),
                "{command:?}: {}",
                said(&output)
            );
            let now: Vec<String> =
                inputs.iter().map(|file| fs::read_to_string(file).expect("there")).collect();
            assert_eq!(now, before, "{command:?}");
        }
    }
    // Standard input is a file, too.
    #[cfg(unix)]
    {
        let input = fs::File::open(&lock).expect("there");
        let mut check = throng();
        check.args(["check", "-", "--from", "bp", "--html", &lock, "--force"]);
        assert_eq!(check.stdin(input).output().expect("it runs").status.code(), Some(2));
        assert_eq!(fs::read_to_string(&lock).expect("there"), LOCK);
    }
}

/// What is read beside a C program is an input as well: headers, files of flags, rows of a library.
#[test]
fn what_is_read_beside_a_c_program_is_not_overwritten() {
    if !has_compiler() {
        return;
    }
    let dir = Scratch::new("beside");
    let program = "#include \"near.h\"\nint main(void) { return known(1) < 0; }\n";
    let (main, near, far) = (
        dir.file_argument("m.c", program),
        dir.file_argument("near.h", "int known(int);\n"),
        dir.file_argument("far.h", "int y;\n"),
    );
    let (inner, outer) = (dir.file_argument("inner", "-DX"), dir.argument("outer"));
    fs::write(&outer, format!("-DY @{inner}")).expect("written");
    let rows = dir.file_argument("rows.toml", "[known]\narguments = [\"value\"]\nreturns = \"0..\"\n");
    let flags = format!("@{outer}");
    let inputs = [&near, &far, &inner, &outer, &rows];
    let before = inputs.map(|file| fs::read_to_string(file).expect("there"));
    for file in inputs {
        let call = [
            "check",
            &main,
            "--library",
            &rows,
            "--include",
            &far,
            "--cflags",
            &flags,
            "--certificate",
            file,
        ];
        let output = run(&call);
        assert_eq!(output.status.code(), Some(2), "{file}: {}", printed(&output));
        assert!(said(&output).contains("it is an input of this command"), "{file}: {}", said(&output));
        assert_eq!(inputs.map(|file| fs::read_to_string(file).expect("there")), before, "{file}");
    }
}

/// The second file of a translation has a name that was not given.
#[test]
fn what_throng_did_not_write_needs_force() {
    let dir = Scratch::new("force");
    let (lock, other) = (dir.file_argument("lock.bp", LOCK), dir.file_argument("other.bp", RACE));
    let (pnml, xml) = (dir.argument("n.pnml"), dir.file_argument("n.xml", "<mine/>"));
    let translate = ["translate", &lock, "--to", "pnml", "-o", &pnml];
    let output = run(&translate);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("--force"), "{}", said(&output));
    assert_eq!(fs::read_to_string(&xml).expect("there"), "<mine/>");
    assert!(!Path::new(&pnml).exists(), "both or none");
    assert_eq!(run(&[&translate[..], &["--force"]].concat()).status.code(), Some(0));
    // What throng wrote it replaces, and what it wrote can be read.
    assert_eq!(run(&translate).status.code(), Some(0));
    assert_eq!(run(&["check", &pnml]).status.code(), Some(0), "{}", said(&run(&["check", &pnml])));
    for option in ["--html", "--sarif", "--certificate"] {
        let output = run(&["check", &lock, option, &other]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert_eq!(fs::read_to_string(&other).expect("there"), RACE, "{option}");
    }
    assert_eq!(run(&["check", &lock, "--html", &other, "--force"]).status.code(), Some(0));
}

#[test]
fn read_only_files_stay_and_a_dash_is_no_file() {
    let dir = Scratch::new("read-only");
    let (lock, page) = (dir.file_argument("lock.bp", LOCK), dir.file_argument("a.html", "old"));
    let mut permissions = fs::metadata(&page).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&page, permissions).expect("mine");
    for args in
        [&["check", &lock, "--html", &page, "--force"][..], &["translate", &lock, "--to", "tts", "-o", &page]]
    {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(said(&output).contains("read-only"), "{}", said(&output));
        assert_eq!(fs::read_to_string(&page).expect("there"), "old");
    }
    for option in ["--html", "--sarif", "--certificate"] {
        let output =
            throng().args(["check", &lock, option, "-"]).current_dir(&dir.0).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{option}: {}", said(&output));
        assert!(printed(&output).is_empty(), "{option}");
    }
    let output = throng()
        .args(["translate", &lock, "--to", "tts", "-o", "-"])
        .current_dir(&dir.0)
        .output()
        .expect("it runs");
    assert_eq!(printed(&output), printed(&run(&["translate", &lock, "--to", "tts"])));
    assert_eq!(dir.names(), ["a.html", "lock.bp"]);
}
