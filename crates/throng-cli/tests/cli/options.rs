//! Every option means the same for every language, or is refused by its name.

use throng_dev::ROOT;
use throng_dev::harness::throng;

/// Calls `throng check` on an example; the exit status and what was said on standard error.
fn check(file: &str, options: &[&str]) -> (Option<i32>, String) {
    let mut command = throng();
    let done = command.current_dir(ROOT).args(["check", file, "--timeout", "20"]).args(options).output();
    let done = done.expect("throng runs");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

const PROGRAM: &str = "examples/spinlock.bp";
const SYSTEM: &str = "examples/winner.tts";
const C: &str = "examples/c/total.c";

/// Options, and the inputs to which they do not apply.
const REFUSED: &[(&[&str], &[&str])] = &[
    (&["-DX"], &[PROGRAM, SYSTEM]),
    (&["-I", "."], &[PROGRAM, SYSTEM]),
    (&["--entry", "f"], &[PROGRAM, SYSTEM]),
    (&["--overflow"], &[PROGRAM, SYSTEM]),
    (&["--locks"], &[PROGRAM, SYSTEM]),
    (&["--memory-safety"], &[PROGRAM, SYSTEM]),
    (&["--assertions"], &[PROGRAM, SYSTEM]),
    (&["--no-spurious"], &[PROGRAM, SYSTEM]),
    (&["--whole-statements"], &[PROGRAM, SYSTEM]),
    (&["--memory-model", "sc"], &[SYSTEM]),
    (&["--ilp32"], &[PROGRAM, SYSTEM]),
    (&["--library", "no-such-file.toml"], &[PROGRAM, SYSTEM]),
    (&["--lp64"], &[PROGRAM, SYSTEM]),
    (&["--property", "no-such-file.prp"], &[PROGRAM, SYSTEM]),
    (&["--replay", "no-such-folder/x.c"], &[PROGRAM, SYSTEM]),
    (&["--witness", "no-such-folder/x.yml"], &[PROGRAM, SYSTEM]),
    (&["--race"], &[PROGRAM, SYSTEM]),
    (&["--race", "x"], &[SYSTEM, C]),
    (&["--init-free"], &[PROGRAM, SYSTEM, C]),
    (&["--no-slot-reuse"], &[SYSTEM, C]),
    (&["--lint"], &[SYSTEM, C]),
    (&["--strict"], &[C]),
    (&["--initial", "2"], &[C]),
    (&["--target", "x=1 |"], &[C]),
    (&["--prop", "no-such-file.prop"], &[PROGRAM, C]),
    (&["--error-label", "L"], &[SYSTEM]),
    (&["--mutex", "L"], &[SYSTEM]),
    (&["--at-most", "L=2"], &[SYSTEM, C]),
    (&["--never", "L, M"], &[SYSTEM, C]),
    (&["--stuck", "L"], &[SYSTEM]),
    (&["--invariant", "1"], &[SYSTEM, C]),
    (&["--checkpoint", "no-such-folder/x"], &[C]),
    (&["--reuse", "no-such-file.cert"], &[C]),
];

#[test]
fn what_does_not_apply_is_refused_by_name() {
    for (options, inputs) in REFUSED {
        for input in *inputs {
            let (status, said) = check(input, options);
            let name = options[0].trim_end_matches('X');
            assert!(status == Some(2) && said.contains(name), "{input} {options:?}: {status:?} {said}");
        }
    }
}

#[test]
fn what_applies_to_all_is_taken_for_all() {
    let quick: &[&[&str]] = &[&["--threads", "3"], &["--deadlock"], &["--no-check"], &["--max-threads", "3"]];
    for input in [PROGRAM, C] {
        for options in quick {
            let (status, said) = check(input, options);
            assert!(matches!(status, Some(0 | 1 | 10)), "{input} {options:?}: {status:?} {said}");
        }
    }
}
