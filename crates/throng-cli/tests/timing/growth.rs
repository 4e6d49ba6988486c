//! Reading and searching do not take disproportionately longer when there is more of something.

use std::time::{Duration, Instant};

use throng_dev::harness::{Scratch, run};
use throng_lang::source::Diagnostic;
use throng_lang::system::System;
use throng_lang::{ntts, spec, tts};

use crate::{BUSY, alone};

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

/// Runs the program, which must end in time and in a documented way: exit status, standard output
/// and standard error.
fn within(seconds: u64, args: &[&str]) -> (Option<i32>, String, String) {
    let began = Instant::now();
    let (status, out, err) = run(args);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(seconds), "{args:?}: {took:?}");
    assert!(matches!(status, Some(0 | 1 | 2 | 10)), "{args:?}: {status:?}");
    assert!(!err.contains("internal error"), "{err}");
    (status, out, err)
}

#[test]
fn huge_inputs_are_read_or_refused() {
    let _alone = alone();
    let dir = Scratch::new("huge");
    // Two hundred thousand places, ten megabytes of edges, a million statements, 300 thousand
    // brackets.
    let net = dir.file_argument("net.spec", chain(200_000, 1));
    let (status, _, err) = within(600, &["check", &net, "--timeout", "10", "--quiet"]);
    assert!(matches!(status, Some(0 | 1)), "{}", err);
    let edges: String = (0..600_000)
        .map(|i| format!("{} {} -> {} {}\n", i % 1000, i % 997, i * 7 % 1000, i * 13 % 1000))
        .collect();
    let system = dir.file_argument("edges.tts", format!("1000 1000\n{edges}"));
    let (status, _, err) =
        within(600, &["check", &system, "--target", "5|5,5", "--timeout", "10", "--quiet"]);
    assert!(matches!(status, Some(0 | 1 | 10)), "{}", err);
    let program = format!("decl g := 0; void main() begin {} assert(g); end", "g := !g;\n".repeat(1_100_000));
    let (status, ..) =
        within(600, &["check", &dir.file_argument("long.bp", &program), "--timeout", "500", "--quiet"]);
    assert_eq!(status, Some(2), "more than a million statements");
    let n = 300_000;
    let deep = [
        format!("decl g; void main() begin g := {}g{}; end", "(".repeat(n), ")".repeat(n)),
        format!("decl g; void main() begin g := {}g; end", "!".repeat(n)),
        format!("decl g; void main() begin {}skip; {} end", "if g then ".repeat(n), "fi; ".repeat(n)),
        format!("decl g; void main() begin {}skip; {} end", "while g do ".repeat(n), "od; ".repeat(n)),
    ];
    for (i, text) in deep.iter().enumerate() {
        let (status, _, err) =
            within(600, &["check", &dir.file_argument(&format!("deep{i}.bp"), text), "--quiet"]);
        assert_eq!(status, Some(2), "{}", err);
    }
    let xml = format!("{}{}", "<net>".repeat(n), "</net>".repeat(n));
    let (status, ..) = within(600, &["check", &dir.file_argument("deep.pnml", &xml), "--quiet"]);
    assert_eq!(status, Some(2));
}

/// Ten times the targets may take ten times as long, and some noise, but not a hundred times.
#[test]
fn thousands_of_targets_are_not_quadratic() {
    let _alone = alone();
    let dir = Scratch::new("targets");
    let pairs = |n: usize| (0..n).map(|i| format!("1|{},{}\n", i % 100, i / 100)).collect::<String>();
    let system: String = (0..99).map(|i| format!("0 {i} -> 0 {}\n", i + 1)).collect();
    let system = dir.file_argument("walk.tts", format!("2 100\n{system}"));
    for engine in ["auto", "explicit", "karp-miller", "backward", "views", "equations"] {
        let time = |count: usize| {
            let targets = dir.file_argument(&format!("{count}.prop"), pairs(count));
            let mut args =
                vec!["check", &system, "--prop", &targets, "--engine", engine, "--jobs", "1", "--quiet"];
            if engine == "explicit" {
                args.extend(["--threads", "2"]);
            }
            let began = Instant::now();
            let (status, out, err) = run(&args);
            assert_eq!(status, Some(0), "{engine}: {}", err);
            assert_eq!(out.lines().filter(|l| l.starts_with("SAFE ")).count(), count + 1, "{engine}");
            began.elapsed()
        };
        let (few, many) = (time(500), time(5000));
        // Some for starting.
        assert!(many < few * 40 + Duration::from_millis(100) * BUSY, "{engine}: {few:?}, {many:?}");
    }
    let net = dir.file_argument("net.spec", chain(500, 5000));
    let (status, _, err) = within(600, &["check", &net, "--timeout", "500", "--quiet"]);
    assert_eq!(status, Some(0), "{}", err);
    // Given one by one.
    let targets: Vec<String> = (0..5000).map(|i| format!("1|{},{}", i % 100, i / 100)).collect();
    let mut args = vec!["check", &system, "--quiet"];
    targets.iter().for_each(|t| args.extend(["--target", t]));
    assert_eq!(within(600, &args).0, Some(0));
}

/// Seconds that reading `text` takes, the fastest of five.
fn seconds(text: &str, read: impl Fn(&str) -> (Option<System>, Vec<Diagnostic>)) -> f64 {
    let once = || {
        let start = Instant::now();
        let (system, findings) = read(text);
        assert!(system.is_some(), "{findings:?}");
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| once()).fold(f64::MAX, f64::min)
}

#[test]
fn reading_time_grows_linearly() {
    let _alone = alone();
    let tts = |n: usize| {
        let lines: String =
            (0..n).map(|i| format!("{i} {} -> {} {} 1 ~> 2\n", i % 7, i + 1, i % 5)).collect();
        format!("{} 9\n{lines}", n + 1)
    };
    let net = |n: usize| {
        let vars: String = (0..n).map(|i| format!("x{i} ")).collect();
        let rules: String =
            (0..n - 1).map(|i| format!("x{i}>=1 -> x{i}'=x{i}-1, x{0}'=x{0}+1;\n", i + 1)).collect();
        let init: Vec<String> = (0..n).map(|i| format!("x{i}=1")).collect();
        format!(
            "vars {vars} rules {rules} init {} target x0>=2 invariants {}",
            init.join(","),
            init.join(",")
        )
    };
    let named = |n: usize| {
        let shared: String = (0..n).map(|i| format!("s{i} ")).collect();
        let lines: String = (1..n).map(|i| format!("s{} a -> s{i} b\n", i - 1)).collect();
        format!("shared {shared}\nlocal a b\n{lines}")
    };
    let wide_rule = |n: usize| {
        let vars: String = (0..n).map(|i| format!("x{i} ")).collect();
        let guards: Vec<String> = (0..n).map(|i| format!("x{i}>=2")).collect();
        let updates: Vec<String> = (0..n).map(|i| format!("x{i}'=x{i}-1")).collect();
        let init: Vec<String> = (0..n).map(|i| format!("x{i}=1")).collect();
        format!("vars {vars} rules {} -> {}; init {}", guards.join(","), updates.join(","), init.join(","))
    };
    let spec = |text: &str| spec::read(text, spec::Options::default());
    for (name, small, large) in [
        ("tts", seconds(&tts(4_000), tts::read), seconds(&tts(64_000), tts::read)),
        ("ntts", seconds(&named(4_000), ntts::read), seconds(&named(64_000), ntts::read)),
        ("spec", seconds(&net(3_000), spec), seconds(&net(48_000), spec)),
        ("wide rule", seconds(&wide_rule(2_000), spec), seconds(&wide_rule(32_000), spec)),
    ] {
        // Sixteen times the size: a quadratic reader would take 256 times as long. Tiny times are
        // noise.
        assert!(large < 100.0 * small.max(0.003 * f64::from(BUSY)), "{name}: {small} s, then {large} s");
    }
}
