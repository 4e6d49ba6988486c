//! `--checkpoint`: a search that was stopped or killed at any moment goes on, and the answer is
//! that of a search that was not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use throng_check::rules::check;
use throng_dev::harness::large::{crowd, wide};
use throng_dev::harness::{Scratch, throng};
use throng_dev::{Knobs, Rng, random_problem, random_table};
use throng_engine::checkpoint::{Damaged, Keeper, Reader, Writer};
use throng_engine::explicit::Explicit;
use throng_engine::karp_miller::KarpMiller;
use throng_engine::{Algorithm, Answer, Watch};
use throng_lang::bp::{Options, read};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

/// Keeps everything that it is asked to keep, and has kept one state before.
#[derive(Default)]
struct All {
    kept: Mutex<Vec<Vec<u8>>>,
    before: Option<Vec<u8>>,
}

impl Keeper for All {
    fn is_due(&self) -> bool {
        true
    }

    fn keep(&self, write: &dyn Fn(&mut Writer<'_>)) {
        let mut bytes = Vec::new();
        write(&mut Writer::new(&mut |part: &[u8]| bytes.extend_from_slice(part)));
        self.kept.lock().expect("no panic").push(bytes);
    }

    fn recall(&self, read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Damaged>) -> Result<bool, Damaged> {
        let Some(before) = &self.before else { return Ok(false) };
        let mut rest = &before[..];
        let mut fill = |block: &mut [u8]| {
            let Some((first, later)) = rest.split_at_checked(block.len()) else { return false };
            block.copy_from_slice(first);
            rest = later;
            true
        };
        let mut reader = Reader::new(before.len() as u64, &mut fill);
        read(&mut reader).and_then(|()| reader.finish()).map(|()| true)
    }
}

impl Watch for All {
    fn keeper(&self) -> Option<&dyn Keeper> {
        Some(self)
    }
}

/// Verdicts in words that do not depend on how states are numbered, and what was counted.
fn summary(problem: &Problem, answer: &Answer) -> Vec<String> {
    for (target, verdict) in problem.targets.iter().zip(&answer.verdicts) {
        if let Err(flaw) = check(problem, target, verdict) {
            panic!("{}: {flaw}", target.name);
        }
    }
    let verdict = |v: &Verdict| match v {
        Verdict::Unsafe(trace) => format!("unsafe {} {}", trace.threads(), trace.steps.len()),
        Verdict::Safe(proof) => format!("safe {:?}", proof.measure()),
        Verdict::Unknown(why) => format!("unknown {why}"),
    };
    let mut words: Vec<String> = answer.verdicts.iter().map(verdict).collect();
    let mut numbers = answer.statistics.clone();
    // How much is compared depends on how the antichain happens to be listed.
    numbers.tree.iter_mut().for_each(|tree| tree.comparisons = 0);
    words.push(format!("{numbers:?}"));
    words
}

/// Goes on from some of the states that a search passes, each time with a model that knows nothing
/// yet, and says how many there were.
fn goes_on_from_anywhere(
    engine: &dyn Algorithm,
    ask: &dyn Fn() -> Problem,
    limits: &dyn Fn() -> Limits,
) -> usize {
    let (problem, all) = (ask(), All::default());
    let whole = summary(&problem, &engine.run(&problem, &limits(), &all));
    let kept = all.kept.into_inner().expect("no panic");
    let every = kept.len().div_ceil(6).max(1);
    for state in kept.iter().step_by(every) {
        let (problem, again) = (ask(), All { before: Some(state.clone()), ..All::default() });
        assert_eq!(summary(&problem, &engine.run(&problem, &limits(), &again)), whole);
    }
    kept.len()
}

fn ask(text: &str, initial: Option<u32>, bound: Bound) -> Problem {
    let (jit, diagnostics) = read(text, &Options::default());
    let jit = Arc::new(jit.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}")));
    let mut targets: Vec<_> = jit.assertions().into_iter().collect();
    targets.extend(["N", "E"].into_iter().filter_map(|label| jit.mutex(label).ok()));
    Problem { initial: vec![jit.initial(initial)], initial_text: String::new(), targets, bound, model: jit }
}

fn no_limits() -> Limits {
    Limits::none()
}

#[test]
fn wide_states_mean_the_same_afterwards() {
    let text = wide(3, "assert(!s39 | s0 | s1 | s2 | s38); E: skip;");
    let explicit = || ask(&text, None, Bound::Threads(2));
    let states = goes_on_from_anywhere(&Explicit::default(), &explicit, &no_limits);
    assert!(states > 10, "{states}");
    let text = wide(4, "assert(!s39 | s39);");
    let states =
        goes_on_from_anywhere(&KarpMiller::default(), &|| ask(&text, Some(1), Bound::Any), &no_limits);
    assert!(states > 1, "{states}");
}

#[test]
fn shortest_runs_are_found_again() {
    // With reduction runs get longer, so each violation is looked for twice; the process may end in
    // between.
    let text = "decl a := 0, b := 0, c := 0; void main() begin decl x := 0, y := 0; x := *; y := *; \
                if x then a := 1; fi; if y then b := a; fi; while * do x := !x; y := x; od; c := b & x; \
                N: skip; assert(!c); E: skip; end";
    let states =
        goes_on_from_anywhere(&Explicit::default(), &|| ask(text, None, Bound::Threads(3)), &no_limits);
    assert!(states > 5, "{states}");
}

#[test]
fn random_systems_go_on_from_anywhere() {
    let knobs = Knobs { shared: 4, locals: 6, steps: 24, ..Knobs::default() };
    let alone = Knobs { shared: 6, locals: 12, steps: 60, broadcasts: 0, ..Knobs::default() };
    let (mut explicit, mut trees) = (0, 0);
    for seed in 0..60 {
        let system = |knobs: &Knobs, bound| {
            let mut rng = Rng::new(seed);
            let table = Arc::new(random_table(&mut rng, knobs));
            random_problem(&mut rng, knobs, table, bound)
        };
        let bounded = || system(&knobs, Bound::Threads(5));
        let engine = Explicit { max_threads: Some(4), ..Explicit::default() };
        explicit += goes_on_from_anywhere(&Explicit::default(), &bounded, &no_limits);
        explicit += goes_on_from_anywhere(&engine, &|| system(&knobs, Bound::Any), &no_limits);
        // Two threads from the beginning, and a store in parts.
        let shared = Explicit { jobs: 2, share_from: 0, ..Explicit::default() };
        explicit += goes_on_from_anywhere(&shared, &bounded, &no_limits);
        trees += goes_on_from_anywhere(&KarpMiller::default(), &|| system(&alone, Bound::Any), &no_limits);
    }
    assert!(explicit > 450 && trees > 50, "{explicit} {trees}");
}

#[test]
fn a_search_that_runs_out_of_work_goes_on() {
    // Stopped again and again, each time a little later.
    let text = crowd(16);
    let engines: [(&dyn Algorithm, Option<u32>, Bound); 2] =
        [(&Explicit::default(), None, Bound::Threads(4)), (&KarpMiller::default(), Some(3), Bound::Any)];
    for (engine, initial, bound) in engines {
        let whole = {
            let problem = ask(&text, initial, bound);
            summary(&problem, &engine.run(&problem, &Limits::none(), &All::default()))
        };
        let (mut before, mut stops) = (None, 0);
        loop {
            let (problem, keeper) =
                (ask(&text, initial, bound), All { before: before.clone(), ..All::default() });
            // More each time, since listing the evidence has to fit into one share.
            let answer = engine.run(&problem, &Limits::none().work(1500 + 200 * stops), &keeper);
            if !answer.verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_))) {
                assert_eq!(summary(&problem, &answer), whole);
                break;
            }
            before = keeper.kept.into_inner().expect("no panic").pop().or(before);
            stops += 1;
            assert!(before.is_some() && stops < 1000, "it does not come further");
        }
        assert!(stops > 3, "{}: {stops}", engine.name());
    }
}

fn check_command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = throng();
    command.arg("check").arg(program).args(arguments).arg("--jobs").arg("1");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A checkpoint of a search that ran out of time; on a slow machine, it gets more time until there
/// is something to keep.
fn stopped(scratch: &Scratch, program: &Path, arguments: &[&str]) -> PathBuf {
    let kept = scratch.0.join("checkpoint");
    let path = kept.to_string_lossy().into_owned();
    let keeps = |seconds: &str| {
        let mut command = check_command(program, arguments);
        let output = command.args(["--timeout", seconds, "--checkpoint", &path]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(output.stdout.starts_with(b"UNKNOWN"));
        said(&output).contains("the same command resumes there")
    };
    assert!(["0.2", "2", "20"].into_iter().any(keeps), "nothing is kept");
    assert!(kept.exists());
    kept
}

/// It is refused, and stays as it is.
fn refused(program: &Path, kept: &Path, arguments: &[&str], why: &str) {
    let before = fs::read(kept).expect("readable");
    let path = kept.to_string_lossy().into_owned();
    let output = check_command(program, arguments).args(["--checkpoint", &path]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{why}: {}", said(&output));
    assert!(said(&output).contains(why) && output.stdout.is_empty(), "{why}: {}", said(&output));
    assert!(!said(&output).contains("internal error"), "{}", said(&output));
    assert_eq!(fs::read(kept).expect("readable"), before);
}

#[test]
fn a_checkpoint_is_for_one_question() {
    let scratch = Scratch::new("question");
    let program = scratch.file("input.bp", crowd(40));
    let search = ["--engine", "explicit", "--threads", "7"];
    let kept = stopped(&scratch, &program, &search);
    refused(&program, &kept, &["--engine", "explicit", "--threads", "6"], "another question");
    refused(
        &program,
        &kept,
        &["--engine", "explicit", "--threads", "7", "--initial", "1"],
        "another question",
    );
    refused(&program, &kept, &["--engine", "explicit", "--threads", "7", "--no-por"], "another search");
    refused(&program, &kept, &["--engine", "karp-miller"], "another question");
    refused(&scratch.file("other.bp", crowd(39)), &kept, &search, "another input");
    refused(&program, &kept, &["--engine", "backward"], "--checkpoint is for");
    refused(&program, &program, &search, "is an input of this command");
    let text = fs::read(&kept).expect("readable");
    let other = String::from_utf8_lossy(&text[..60]).contains(env!("CARGO_PKG_VERSION"));
    assert!(other, "the header begins with the version");
    let version = [env!("CARGO_PKG_VERSION").as_bytes(), b"\""].concat();
    let at = text.windows(version.len()).position(|w| w == version).expect("there");
    let newer = [&text[..at], b"9.9.9\"", &text[at + version.len()..]].concat();
    fs::write(&kept, newer).expect("writable");
    refused(&program, &kept, &search, "written by throng 9.9.9");
}

#[test]
fn damage_is_noticed() {
    for (name, program, search) in [
        ("explicit", crowd(40), &["--engine", "explicit", "--threads", "7"][..]),
        ("tree", wide(12, "assert(!s39 | s39);"), &["--engine", "karp-miller", "--initial", "1"]),
    ] {
        let scratch = Scratch::new(&format!("damage-{name}"));
        let program = scratch.file("input.bp", program);
        let kept = stopped(&scratch, &program, search);
        let whole = fs::read(&kept).expect("readable");
        let mut rng = Rng::new(11);
        for round in 0..40 {
            let mut bytes = whole.clone();
            // At first in the header; there, a change may also look like another version or
            // question.
            let near = if round < 10 { 200 } else { bytes.len() as u64 };
            let at = rng.below(near) as usize;
            match round % 4 {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, rng.below(256) as u8),
                2 => bytes[at] ^= 1 << rng.below(8),
                _ => bytes.extend([0; 4]),
            }
            fs::write(&kept, &bytes).expect("writable");
            refused(&program, &kept, search, "cannot use the checkpoint");
        }
        for bytes in [Vec::new(), b"{}\n".to_vec(), vec![b'{'; 1 << 21]] {
            fs::write(&kept, &bytes).expect("writable");
            refused(&program, &kept, search, "not a checkpoint of throng");
        }
        fs::write(&kept, &whole).expect("writable");
        let path = kept.to_string_lossy().into_owned();
        let output =
            check_command(&program, search).args(["--checkpoint", &path, "--timeout", "0.1"]).output();
        assert_eq!(output.expect("it runs").status.code(), Some(1), "undamaged, it goes on");
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_said_at_once() {
    let scratch = Scratch::new("nowhere");
    let program = scratch.file("input.bp", crowd(6));
    let search = ["--engine", "explicit", "--threads", "3", "--checkpoint", "no/such/folder/x"];
    let output = check_command(&program, &search).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("cannot write no/such/folder/x"), "{}", said(&output));
}

/// The time is up before the input is read: nothing is written, the run says so, and what was there
/// stays.
#[test]
fn a_run_that_ends_while_reading_says_that_nothing_was_written() {
    let scratch = Scratch::new("reading");
    // Nobody writes to it, so that it is read for ever.
    let ask = |kept: &Path| {
        let path = kept.to_string_lossy();
        let mut command = throng();
        command.args(["check", "-", "--from", "bp", "--engine", "explicit", "--timeout", "0.1"]);
        let mut child = command
            .args(["--checkpoint", &path])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let open = child.stdin.take();
        let output = child.wait_with_output().expect("it ends");
        drop(open);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(output.stdout.starts_with(b"UNKNOWN  time limit of 0.1 s reached"));
        said(&output)
    };
    let kept = scratch.0.join("none");
    assert!(ask(&kept).contains("no checkpoint was written to") && !kept.exists());
    let kept = scratch.file("earlier", "as it was");
    assert!(ask(&kept).contains("earlier was left as it is"));
    assert_eq!(fs::read(&kept).expect("readable"), b"as it was");
    assert_eq!(fs::read_dir(&scratch.0).expect("readable").count(), 1, "nothing else is left");
}
