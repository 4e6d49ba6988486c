//! Programs with numbers, enumerations and arrays, from the command line: verdicts by several
//! engines, certificates by both readings, what people see, and the same answers for the bits that
//! `--plain` writes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn throng(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throng")).args(args).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Name, text, and the exit status that `check` must have.
const PROGRAMS: [(&str, &str, i32); 9] = [
    ("range", "decl n : 0..2 := 0; void main() begin n := n + 1; end", 10),
    (
        "range-kept",
        "decl n : 0..2 := 0; void main() begin while * do n := n + 1 constrain n < 2; n := n - 1; od end",
        0,
    ),
    ("wrap", "decl t : u2 := 0; void main() begin while * do t := t + 1; assert(t <= 3); od end", 0),
    ("wrapped", "decl t : u2 := 1; void main() begin t := t + 1; assert(t > 0); end", 10),
    (
        "array",
        "decl a[3] : bool := 0, i : 0..3 := 0; void main() begin a[i] := 1; i := i + 1 constrain i < 3; end",
        10,
    ),
    (
        "array-kept",
        "decl a[3] : 0..1 := 0, i : 0..3 := 0; void main() begin atomic { if i < 3 then a[i] := 1 - a[i]; i := i + 1; fi; } assert(a[0] = 1); end",
        0,
    ),
    (
        "enum",
        "enum phase { idle, trying, critical }; decl p : phase := idle; void main() begin p := trying constrain p = idle; p := critical; assert(p = critical); p := idle; end",
        0,
    ),
    (
        "enum-seen",
        "enum phase { idle, trying, critical }; decl p : phase := idle; void main() begin p := trying; p := critical; assert(p = critical); end",
        10,
    ),
    (
        "calls",
        "decl n : 0..4 := 0; 0..4 more(k : 0..4, by : u2) begin return k + by; end void main() begin decl m : 0..4 := 0; m := more(n, 3); m := more(m, 2); end",
        10,
    ),
];

/// In IJIT's dialect the assignments before the first number only initialise, also where checks are
/// written as statements.
#[test]
fn plain_programs_keep_their_initial_values() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, bits) = (dir.join("numbered.nbp"), dir.join("numbered-bits.bp"));
    let text = "decl m : 0..3;\nvoid main() begin\nm := 0;\n1: atomic {\n2: if m < 3 then\n3: m := m + 1;\nfi;\n}\n4: assert(m > 0);\nend\n";
    for (text, status) in [(text.to_string(), 0), (text.replace("m > 0", "m > 1"), 10)] {
        fs::write(&file, text).unwrap();
        let plain = [
            "translate",
            file.to_str().unwrap(),
            "--to",
            "bp",
            "--plain",
            "--force",
            "-o",
            bits.to_str().unwrap(),
        ];
        assert!(throng(&plain).status.success(), "{}", out(&throng(&plain)));
        for path in [&file, &bits] {
            let ran = throng(&["check", path.to_str().unwrap()]);
            assert_eq!(ran.status.code(), Some(status), "{}", out(&ran));
        }
    }
}

#[test]
fn verdicts_certificates_and_bits_agree() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, text, expected) in PROGRAMS {
        let file = dir.join(format!("{name}.bp"));
        let certificate = dir.join(format!("{name}.cert"));
        fs::write(&file, text).unwrap();
        let (path, cert) = (file.to_str().unwrap(), certificate.to_str().unwrap());
        let _ = fs::remove_file(cert);
        let checked = throng(&["check", path, "--certificate", cert]);
        assert_eq!(checked.status.code(), Some(expected), "{name}: {}", out(&checked));
        if expected == 10 {
            assert!(out(&checked).contains("assertions"), "{name}: {}", out(&checked));
        }
        if Path::new(cert).exists() {
            let certified = throng(&["certify", path, cert]);
            assert_eq!(certified.status.code(), Some(0), "{name}: {}", out(&certified));
        } else {
            assert_eq!(expected, 10, "{name}: a proof has a certificate");
        }
        let symbolic = throng(&["check", path, "--engine", "symbolic", "--threads", "4", "--quiet"]);
        assert_eq!(symbolic.status.code(), Some(expected), "{name}: {}", out(&symbolic));
        let plain = dir.join(format!("{name}-plain.bp"));
        let written = throng(&["translate", path, "--to", "bp", "--plain", "-o", plain.to_str().unwrap()]);
        assert_eq!(written.status.code(), Some(0), "{name}: {}", out(&written));
        let text = fs::read_to_string(&plain).unwrap();
        assert!(!text.contains("..") && !text.contains("enum"), "{name}: {text}");
        let checked = throng(&["check", plain.to_str().unwrap(), "--quiet"]);
        assert_eq!(checked.status.code(), Some(expected), "{name}: {} of {text}", out(&checked));
    }
}

#[test]
fn people_see_values() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = dir.join("seen.bp");
    let text = "enum phase { idle, busy };
decl n : 0..5 := 3, p : phase := idle, a[2] : 0..3 := 2;
void main() begin
  n, p, a[n - 2] := n + 1, busy, 3;
  n := n + 2;
end
";
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let trace = out(&throng(&["check", path]));
    for seen in ["n: 3 -> 4", "p: idle -> busy", "a[1]: 2 -> 3", "n=4", "a[0]=2"] {
        assert!(trace.contains(seen), "{seen} in {trace}");
    }
    assert!(!trace.contains("n.0"), "{trace}");
    let invariant = throng(&["check", path, "--invariant", "n < 4 | a[1] > 2"]);
    assert_eq!(invariant.status.code(), Some(10), "{}", out(&invariant));
    let reach = out(&throng(&["reach", path, "--threads", "1"]));
    assert!(reach.contains("n=4") && reach.contains("p=busy"), "{reach}");
    assert!(
        out(&throng(&["translate", path, "--to", "bp"])).contains("decl n : 0..5 := 3, p : phase := idle")
    );
}
