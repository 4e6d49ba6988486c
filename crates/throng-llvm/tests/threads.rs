//! Random Rust programs with threads: what the compiled program comes to, over many runs, is among
//! what the goto program can come to.
//!
//! `THREADS_PROGRAMS=200 THREADS_FIRST=7 cargo test -p throng-llvm --test threads -- --nocapture` compares
//! more of them.

#![allow(clippy::print_stderr)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use throng_goto::Question;
use throng_lang::source::Source;
use throng_llvm::{Roles, Text};
use throng_rust::{Emission, Options, file};

mod threads {
    pub mod explore;
    pub mod generate;
}

use threads::explore::{End, ends};
use threads::generate::programs;

/// Maximum number of states of one program.
const MOST: usize = 300_000;

/// The runs of each compiled program.
const RUNS: usize = 300;

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// What a compiled program does between two statements: nothing, or it lets others run.
const PAUSE: &str = "
thread_local! { static SEED: std::cell::Cell<u64> = std::cell::Cell::new(0); }
fn pause() {
    let time = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let x = SEED.with(|seed| {
        let old = if seed.get() == 0 { time() as u64 | 1 } else { seed.get() };
        seed.set(old.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f));
        old >> 40
    });
    match x % 4 { 0 => {} 1 => thread::yield_now(), _ => for _ in 0..x % 3000 { std::hint::spin_loop() } }
}
";

/// Returns what each of some programs comes to when it is compiled and run.
fn native(folder: &Path, text: &str, count: usize) -> Vec<BTreeSet<End>> {
    let bodies: String = (0..count).map(|k| format!("p{k}::body, ")).collect();
    let main = format!(
        "fn main() {{ std::panic::set_hook(Box::new(|_| {{}}));\n\
         let bodies: [fn() -> u32; {count}] = [{bodies}];\n\
         for (k, body) in bodies.iter().enumerate() {{ for _ in 0..{RUNS} {{\n\
         match std::panic::catch_unwind(body) {{ Ok(n) => println!(\"{{k}} {{n}}\"), Err(_) => println!(\"{{k}} panics\") }} }} }} }}"
    );
    let (source, program) = (folder.join("native.rs"), folder.join("native"));
    std::fs::write(&source, format!("{text}\n{PAUSE}\n{main}\n")).expect("written");
    let done = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into()))
        .args(["--edition=2021", "-Awarnings", "-Coverflow-checks=on", "-o"])
        .args([&program, &source])
        .output()
        .expect("rustc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = Command::new(&program).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut found = vec![BTreeSet::new(); count];
    for line in String::from_utf8(done.stdout).expect("text").lines() {
        let (k, end) = line.split_once(' ').expect("two words");
        let end = end.parse().map_or(End::Panics, End::Number);
        found[k.parse::<usize>().expect("a number")].insert(end);
    }
    found
}

/// Returns what the compiler makes of the programs for the reader.
fn emitted(folder: &Path, text: &str) -> Emission {
    let path = folder.join("programs.rs");
    std::fs::write(&path, format!("{text}\n#[inline(always)] fn pause() {{}}\n")).expect("written");
    let emission = file::emit(&path, &Options::default(), &throng_llvm::models::is_modelled);
    emission.unwrap_or_else(|why| panic!("{}", why.message))
}

/// Returns what a program can come to.
fn modelled(emission: &Emission, k: usize) -> Result<BTreeSet<End>, String> {
    let modules = emission.modules.iter().map(|m| Source::new(m.name.clone(), m.text.clone())).collect();
    let text = Text::of(modules, None).with(Roles::new(None, vec![format!("p{k}::run")]));
    let loaded = text.asking(&Question::default()).map_err(|rejected| {
        rejected.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
    })?;
    ends(&loaded.query.program, "OUT", MOST)
}

/// Returns the text of a program.
fn program(text: &str, k: usize) -> &str {
    let rest = text.split_once(&format!("pub mod p{k} ")).map_or("", |(_, rest)| rest);
    rest.split("pub mod ").next().unwrap_or_default()
}

#[test]
fn what_threads_come_to_is_what_the_model_can_come_to() {
    let (count, seed) = (setting("THREADS_PROGRAMS", 20), setting("THREADS_FIRST", 1) as u64);
    let folder = tempfile::tempdir().expect("a folder");
    let text = programs(seed, count);
    let seen = native(folder.path(), &text, count);
    let emission = emitted(folder.path(), &text);
    let (mut compared, mut known, mut open, mut met) = (0, 0, 0, 0);
    for (k, seen) in seen.iter().enumerate() {
        let shown = program(&text, k);
        let can = match modelled(&emission, k) {
            Ok(can) => can,
            Err(why) if why.contains("states") => {
                open += 1;
                continue;
            }
            Err(why) => panic!("seed {seed}: {why}\n{shown}"),
        };
        assert!(seen.is_subset(&can), "seed {seed}: {seen:?} is met, {can:?} is known\n{shown}");
        assert!(!can.contains(&End::Stuck), "seed {seed}: threads wait for ever\n{shown}");
        compared += 1;
        known += can.len();
        met += seen.len();
    }
    eprintln!("{compared} programs compared, {met} of {known} ends met; {open} with too many states");
    assert!(compared * 10 >= count * 8, "{open} of {count} programs have too many states");
    assert!(met > compared, "no program came to two ends");
}
