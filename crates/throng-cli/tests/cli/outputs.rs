//! What a command writes, when it cannot, and when there is very much of everything: documented outcomes, never a panic, never half a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder for tests can be written to");
        Scratch(folder)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("the folder for tests can be written to");
        path.to_string_lossy().into_owned()
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// What lies there, hidden files included.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("readable");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn throng(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.args(args);
    command
}

fn run(args: &[&str]) -> Output {
    throng(args).output().expect("it runs")
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

/// Reading takes time and memory, too: an input that needs more than is allowed ends like a search that does.
#[test]
fn limits_hold_while_an_input_is_read() {
    let scratch = Scratch::new("reading");
    let long = format!("void main() begin\n{}end\n", "  decl x; x := !x; assert(x | !x);\n".repeat(300_000));
    let file = scratch.file("long.bp", &long);
    for (limit, much, what) in
        [("--memory", "64", "memory limit of 64 MiB"), ("--timeout", "0.05", "time limit of 0.05 s")]
    {
        let began = Instant::now();
        let output = run(&["check", &file, limit, much]);
        let text = printed(&output);
        assert!(text.starts_with("UNKNOWN") && text.contains(what), "{text}{}", said(&output));
        assert_eq!(output.status.code(), Some(1));
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
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
    let lock = dir.file("lock.bp", LOCK);
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
        let output = throng(args).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(said(&output).contains("cannot write to standard output"), "{args:?}: {}", said(&output));
    }
}

/// The other end is closed before anything is written.
#[test]
fn nobody_listening_changes_nothing() {
    let dir = Scratch::new("pipe");
    let (lock, race) = (dir.file("lock.bp", LOCK), dir.file("race.bp", RACE));
    let certificate = dir.path("lock.json");
    assert_eq!(run(&["check", &lock, "--certificate", &certificate]).status.code(), Some(0));
    let (out, inputs) = (dir.path("bench"), dir.path("inputs"));
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
        (&["bench", &inputs, "--engine", "views", "--timeout", "20", "--out", &out], 0),
        (&["simulate", &race, "--steps", "1000"], 0),
        (&["explain"], 0),
        (&["man"], 0),
        (&["completions", "bash"], 0),
        (&["help"], 0),
    ];
    for (args, status) in commands {
        let mut child =
            throng(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", said(&output));
        assert!(!said(&output).contains("panicked") && !said(&output).contains("error"), "{}", said(&output));
    }
}

#[test]
fn where_nothing_can_be_written_it_is_said_before_the_search() {
    let dir = Scratch::new("read-only");
    let endless = dir.file("lock.tts", "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n");
    // Nobody, not even root, can write below a file.
    let below = format!("{endless}/x.json");
    let closed = dir.0.join("closed");
    fs::create_dir(&closed).expect("a folder");
    let mut permissions = fs::metadata(&closed).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&closed, permissions).expect("mine");
    let mut places = vec![below, dir.path("closed")];
    if fs::write(closed.join("probe"), "").is_err() {
        places.push(dir.path("closed/x.json"));
    }
    for place in &places {
        for option in ["--certificate", "--html", "--sarif", "--checkpoint"] {
            let began = Instant::now();
            let search = ["check", &endless, "--target", "1|1,1", "--engine", "explicit", option, place];
            let output = run(&search);
            assert_eq!(output.status.code(), Some(2), "{option} {place}: {}", printed(&output));
            assert!(said(&output).contains("cannot"), "{option} {place}: {}", said(&output));
            assert!(output.stdout.is_empty() && began.elapsed() < Duration::from_secs(20));
        }
    }
}

#[test]
fn files_are_replaced_as_a_whole_and_nothing_is_left_beside_them() {
    let dir = Scratch::new("whole");
    let lock = dir.file("lock.bp", LOCK);
    let (html, sarif, certificate, tts) = (
        dir.file("a.html", "old"),
        dir.file("a.sarif", "old"),
        dir.file("a.json", "old"),
        dir.file("a.tts", "old"),
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
        let link = dir.path("link.html");
        std::os::unix::fs::symlink(&html, &link).expect("a link");
        assert_eq!(run(&["check", &lock, "--html", &link]).status.code(), Some(0));
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    }
}

/// One that is killed while it writes leaves the old file.
#[test]
fn an_old_file_stays_until_the_new_one_is_complete() {
    let dir = Scratch::new("killed");
    let race = dir.file("race.bp", RACE);
    let html = dir.file("a.html", "old");
    for pause in [0, 1, 2, 4, 8, 16, 32] {
        let mut child =
            throng(&["check", &race, "--html", &html]).stdout(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().expect("mine");
        child.wait().expect("it ends");
        let text = fs::read_to_string(&html).expect("there");
        assert!(text == "old" || text.trim_end().ends_with("</html>"), "half a page: {} bytes", text.len());
    }
}

#[test]
fn numbers_of_jobs_and_limits_at_the_edge() {
    let dir = Scratch::new("edge");
    let lock = dir.file("lock.bp", LOCK);
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
        for engine in
            ["auto", "explicit", "symbolic", "karp-miller", "backward", "views", "equations", "guided"]
        {
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

/// A chain of places along which one token goes.
fn chain(places: usize, targets: usize) -> String {
    let names: Vec<String> = (0..places).map(|i| format!("p{i}")).collect();
    let rules: String =
        (1..places).map(|i| format!("p{0} >= 1 -> p{0}' = p{0}-1, p{1}' = p{1}+1;\n", i - 1, i)).collect();
    let init: Vec<String> = (0..places).map(|i| format!("p{i} = {}", usize::from(i == 0))).collect();
    let targets: Vec<String> = (0..targets).map(|i| format!("p{} >= 2", i % places)).collect();
    format!(
        "vars\n{}\nrules\n{rules}init\n{}\ntarget\n{}\n",
        names.join(" "),
        init.join(", "),
        targets.join("\n")
    )
}

fn within(seconds: u64, args: &[&str]) -> Output {
    let began = Instant::now();
    let output = run(args);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(seconds), "{args:?}: {took:?}");
    assert!(matches!(output.status.code(), Some(0 | 1 | 2 | 10)), "{args:?}: {:?}", output.status);
    assert!(!said(&output).contains("internal error"), "{}", said(&output));
    output
}

#[test]
fn huge_inputs_are_read_or_refused() {
    let dir = Scratch::new("huge");
    // Two hundred thousand places, ten megabytes of edges, a million statements, a million brackets.
    let net = dir.file("net.spec", &chain(200_000, 1));
    let output = within(120, &["check", &net, "--timeout", "10", "--quiet"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", said(&output));
    let edges: String = (0..600_000)
        .map(|i| format!("{} {} -> {} {}\n", i % 1000, i % 997, i * 7 % 1000, i * 13 % 1000))
        .collect();
    let system = dir.file("edges.tts", &format!("1000 1000\n{edges}"));
    let output = within(120, &["check", &system, "--target", "5|5,5", "--timeout", "10", "--quiet"]);
    assert!(matches!(output.status.code(), Some(0 | 1 | 10)), "{}", said(&output));
    let program = format!("decl g := 0; void main() begin {} assert(g); end", "g := !g;\n".repeat(1_100_000));
    let output = within(120, &["check", &dir.file("long.bp", &program), "--timeout", "10", "--quiet"]);
    assert_eq!(output.status.code(), Some(2), "more than a million statements");
    let n = 1_000_000;
    let deep = [
        format!("decl g; void main() begin g := {}g{}; end", "(".repeat(n), ")".repeat(n)),
        format!("decl g; void main() begin g := {}g; end", "!".repeat(n)),
        format!("decl g; void main() begin {}skip; {} end", "if g then ".repeat(n), "fi; ".repeat(n)),
        format!("decl g; void main() begin {}skip; {} end", "while g do ".repeat(n), "od; ".repeat(n)),
    ];
    for (i, text) in deep.iter().enumerate() {
        let output = within(60, &["check", &dir.file(&format!("deep{i}.bp"), text), "--quiet"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    }
    let xml = format!("{}{}", "<net>".repeat(n), "</net>".repeat(n));
    let output = within(60, &["check", &dir.file("deep.pnml", &xml), "--quiet"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Ten times the targets may take ten times as long, and some noise, but not a hundred times.
#[test]
fn thousands_of_targets_are_not_quadratic() {
    let dir = Scratch::new("targets");
    let pairs = |n: usize| (0..n).map(|i| format!("1|{},{}\n", i % 100, i / 100)).collect::<String>();
    let system: String = (0..99).map(|i| format!("0 {i} -> 0 {}\n", i + 1)).collect();
    let system = dir.file("walk.tts", &format!("2 100\n{system}"));
    for engine in ["auto", "explicit", "karp-miller", "backward", "views", "equations"] {
        let time = |count: usize| {
            let targets = dir.file(&format!("{count}.prop"), &pairs(count));
            let mut args =
                vec!["check", &system, "--prop", &targets, "--engine", engine, "--jobs", "1", "--quiet"];
            if engine == "explicit" {
                args.extend(["--threads", "2"]);
            }
            let began = Instant::now();
            let output = run(&args);
            assert_eq!(output.status.code(), Some(0), "{engine}: {}", said(&output));
            assert_eq!(
                printed(&output).lines().filter(|l| l.starts_with("SAFE ")).count(),
                count + 1,
                "{engine}"
            );
            began.elapsed()
        };
        let (few, many) = (time(500), time(5000));
        // Half a second each for starting, on a busy machine.
        assert!(many < few * 40 + Duration::from_secs(3), "{engine}: {few:?}, {many:?}");
    }
    let net = dir.file("net.spec", &chain(500, 5000));
    let output = within(60, &["check", &net, "--timeout", "30", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    // Given one by one.
    let targets: Vec<String> = (0..5000).map(|i| format!("1|{},{}", i % 100, i / 100)).collect();
    let mut args = vec!["check", &system, "--quiet"];
    targets.iter().for_each(|t| args.extend(["--target", t]));
    assert_eq!(within(60, &args).status.code(), Some(0));
}

#[test]
fn nothing_of_this_depends_on_the_folder() {
    // `-o x` without a folder, from another directory.
    let dir = Scratch::new("folder");
    dir.file("lock.bp", LOCK);
    let output = throng(&["translate", "lock.bp", "--to", "tts", "-o", "x.tts"])
        .current_dir(&dir.0)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(Path::new(&dir.path("x.tts")).exists());
}

/// Every way to name an input as an output: refused, whatever is forced, and the input is as it was.
#[test]
fn an_input_is_never_overwritten() {
    let dir = Scratch::new("inputs");
    let system = "2 3\n0 0 -> 1 1\n1 1 -> 0 2\n";
    let (lock, tts, prop) =
        (dir.file("lock.bp", LOCK), dir.file("t.tts", system), dir.file("t.prop", "1|1,1\n"));
    let (pnml, xml, old) = (dir.path("n.pnml"), dir.path("n.xml"), dir.path("old.json"));
    assert_eq!(run(&["translate", &tts, "--to", "pnml", "-o", &pnml]).status.code(), Some(0));
    assert_eq!(run(&["check", &lock, "--certificate", &old]).status.code(), Some(0));
    let (soft, hard) = (dir.path("link"), dir.path("hard"));
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
        let mut check = throng(&["check", "-", "--from", "bp", "--html", &lock, "--force"]);
        assert_eq!(check.stdin(input).output().expect("it runs").status.code(), Some(2));
        assert_eq!(fs::read_to_string(&lock).expect("there"), LOCK);
    }
}

/// The second file of a translation has a name that was not given.
#[test]
fn what_throng_did_not_write_needs_force() {
    let dir = Scratch::new("force");
    let (lock, other) = (dir.file("lock.bp", LOCK), dir.file("other.bp", RACE));
    let (pnml, xml) = (dir.path("n.pnml"), dir.file("n.xml", "<mine/>"));
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
    let (lock, page) = (dir.file("lock.bp", LOCK), dir.file("a.html", "old"));
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
        let output = throng(&["check", &lock, option, "-"]).current_dir(&dir.0).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{option}: {}", said(&output));
        assert!(printed(&output).is_empty(), "{option}");
    }
    let output = throng(&["translate", &lock, "--to", "tts", "-o", "-"])
        .current_dir(&dir.0)
        .output()
        .expect("it runs");
    assert_eq!(printed(&output), printed(&run(&["translate", &lock, "--to", "tts"])));
    assert_eq!(dir.names(), ["a.html", "lock.bp"]);
}
