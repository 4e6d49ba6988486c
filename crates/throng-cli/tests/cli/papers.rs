//! Programs and systems as papers and other tools write them, and thread states of programs as
//! targets.

use throng_dev::harness as common;

use common::{Scratch, run};

/// Runs `check` and expects this status and this beginning of the output.
fn check(file: &std::path::Path, options: &[&str], status: i32, begins: &str) -> (String, String) {
    let args = [&["check", file.to_str().unwrap()], options].concat();
    let (code, out, err) = run(&args);
    assert_eq!(code, Some(status), "{args:?}\n{out}{err}");
    assert!(out.starts_with(begins), "{args:?}\n{out}{err}");
    (out, err)
}

#[test]
fn main_needs_no_type() {
    let dir = Scratch::new("untyped");
    let file = dir.file(
        "star.bp",
        "decl g;\nmain() begin\n  decl l;\n  L1: l := *; goto L2, L1;\n  L2: assume l; assert(l);\nend\n",
    );
    check(&file, &[], 0, "SAFE");
    check(&file, &["--error-label", "L2"], 10, "UNSAFE");
}

#[test]
fn a_target_out_of_range_in_a_file_is_not_reached() {
    let dir = Scratch::new("range");
    let file = dir.file("small.tts", "2 2\n0 0 -> 1 1\n");
    dir.file("small.prop", "1|7\n");
    let certificate = dir.0.join("small.json");
    let (_, err) = check(&file, &["--certificate", certificate.to_str().unwrap()], 0, "SAFE");
    assert!(err.contains("W611") && err.contains("local state 7 is out of range"), "{err}");
    let (code, out, err) = run(&["certify", file.to_str().unwrap(), certificate.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{out}{err}");
    dir.file("small.prop", "1|7\n1|1\n");
    check(&file, &[], 10, "UNSAFE");
    let (code, _, err) = run(&["check", file.to_str().unwrap(), "--target", "1|7"]);
    assert!(code == Some(2) && err.contains("E655"), "what is typed is refused: {err}");
}

#[test]
fn places_may_have_dots_in_their_names() {
    let dir = Scratch::new("dots");
    let net = "vars p.1 p.1.full a.B$C int[][]\nrules p.1 >= 1 -> p.1' = p.1-1, p.1.full' = p.1.full+1;\ninit p.1 = 1\ntarget p.1.full >= ";
    check(&dir.file("one.spec", format!("{net}1\n")), &[], 10, "UNSAFE");
    check(&dir.file("two.spec", format!("{net}2\n")), &[], 0, "SAFE");
}

#[test]
fn reach_says_that_it_asks_nothing() {
    let dir = Scratch::new("reach");
    let file = dir.file("a.bp", "decl g := 0; void main() begin L: g := 1; end");
    for option in [["--mutex", "L"], ["--error-label", "L"], ["--invariant", "g"], ["--target", "g=1 |"]] {
        let (code, _, err) = run(&[&["reach", file.to_str().unwrap()], &option[..]].concat());
        assert!(code == Some(2) && err.contains("throng check") && err.contains(option[0]), "{err}");
    }
}

#[test]
fn sections_of_functions_do_not_end_a_block() {
    let dir = Scratch::new("blocks");
    let function = "decl g := 0; void f() begin atomic_begin; g := 1; atomic_end; end\n";
    let file = dir.file("in.bp", format!("{function}void main() begin atomic {{ f(); g := 0; }} end"));
    let certificate = dir.0.join("in.json");
    check(&file, &["--invariant", "!g", "--certificate", certificate.to_str().unwrap()], 0, "SAFE");
    let file = dir.file("out.bp", format!("{function}void main() begin f(); g := 0; end"));
    check(&file, &["--invariant", "!g"], 10, "UNSAFE");
}

#[test]
fn one_thread_starts_where_start_thread_is_never_reached_and_the_output_says_why() {
    let dir = Scratch::new("dead");
    let main = "decl g := 0; void main() begin assume !g; g := 1; L: skip; g := 0; end\n";
    let file = dir.file("dead.bp", format!("{main}void unused() begin start_thread goto M; M: skip; end"));
    let (out, _) = check(&file, &["--mutex", "L"], 0, "SAFE");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        out.contains("1 thread at the entry of main, because") && out.contains("never gets there"),
        "{out}"
    );
    check(&file, &["--mutex", "L", "--initial", "any"], 10, "UNSAFE");
    let file = dir.file(
        "live.bp",
        format!("void f() begin start_thread goto M; M: skip; end {}", main.replace("end", "f(); end")),
    );
    let (out, _) = check(&file, &["--invariant", "1"], 0, "SAFE");
    assert!(out.contains("initial: 1 thread at the entry of main\n"), "{out}");
}

/// Two threads take turns; `a` says which branch a thread took, and nothing reads it afterwards.
const BRANCH: &str = "decl x := 0, y := 0;
void main() begin
  decl a;
  if a then
    x := 1;
  else
    y := 1;
  fi;
  L: skip;
  M: skip;
end
";

#[test]
fn thread_states_of_programs_are_targets() {
    let dir = Scratch::new("states");
    let file = dir.file("branch.bp", BRANCH);
    let certificate = dir.0.join("branch.json");
    for (initial, target, reached) in [
        ("1", "x=1 y=0 | L: a=1", true),
        ("1", "x=1 y=0 | L: a=0", false), // `a` is dead at L, and must be remembered all the same
        ("1", "x=1 y=1 |", false),
        ("2", "x=1 y=1 | L: a=1, M: a=0", true),
        ("2", "x=0 | L: a=1, M: a=0", false),
        ("2", "x=1 y=0 | L: a=1, L: a=1", true),
        ("2", "| L, L, L", false),
        ("any", "x=1 y=0 | L: a=1, line 9: a=1, M", true),
        ("any", "x=1 y=0 | L: a=1, line 9: a=0", false),
        ("any", "x=0 x=1 |", false),
    ] {
        let options =
            ["--initial", initial, "--target", target, "--certificate", certificate.to_str().unwrap()];
        let (out, _) =
            check(&file, &options, if reached { 10 } else { 0 }, if reached { "UNSAFE" } else { "SAFE" });
        assert!(out.contains(&format!("state {target}")), "{out}");
        let question = ["--initial", initial, "--target", target];
        let files = ["certify", file.to_str().unwrap(), certificate.to_str().unwrap()];
        let (code, out, err) = run(&[&files[..], &question].concat());
        assert_eq!(code, Some(0), "{target}: {out}{err}");
    }
    for (target, code, under) in [
        ("x=1", "E611", "x=1"),
        ("x=2 | L", "E611", "x=2"),
        ("z=1 | L", "E612", "z"),
        ("| L: b=1", "E612", "b"),
        ("| N", "E606", "N"),
        ("| line 99", "E606", "line 99"),
    ] {
        let (status, _, err) = run(&["check", file.to_str().unwrap(), "--target", target]);
        assert!(status == Some(2) && err.contains(code) && err.contains(under), "{target}: {err}");
    }
}

#[test]
fn a_child_has_the_variables_of_its_parent_in_targets_too() {
    let dir = Scratch::new("copies");
    let file = dir.file(
        "copy.bp",
        "void main() begin\n  decl a;\n  start_thread goto L;\n  M: goto M;\n  L: goto L;\nend\n",
    );
    check(&file, &["--target", "| M: a=1, L: a=1"], 10, "UNSAFE");
    check(&file, &["--target", "| M: a=1, L: a=0"], 0, "SAFE");
}
