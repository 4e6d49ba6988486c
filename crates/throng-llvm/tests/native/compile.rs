//! Rust compiled, as a program and as LLVM IR.

use std::path::PathBuf;
use std::process::Command;

/// How much of the compiler's passes are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// None: every function of the library is a call.
    Plain,
    /// Inlined, with variables in registers.
    Inlined,
    /// As ordinary optimisation leaves it.
    Optimised,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Plain, Level::Inlined, Level::Optimised];

    fn flags(self) -> &'static [&'static str] {
        match self {
            Level::Plain => &["-Copt-level=0", "-Cno-prepopulate-passes"],
            Level::Inlined => &[
                "-Copt-level=0",
                "-Cno-prepopulate-passes",
                "-Cpasses=forceattrs,lower-invoke,simplifycfg,inline,sroa,simplifycfg",
                "-Cllvm-args=-inline-threshold=20000",
            ],
            Level::Optimised => &["-Copt-level=1", "-Cno-vectorize-loops", "-Cno-vectorize-slp"],
        }
    }
}

/// Returns the compiler, if there is one.
pub fn rustc() -> Option<String> {
    let name = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    Command::new(&name).arg("--version").output().ok().filter(|o| o.status.success()).map(|_| name)
}

fn folder(seed: u64) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("throng-llvm-{}-{seed}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(arguments: &[&str], file: &PathBuf, out: &PathBuf) {
    let done = Command::new(rustc().expect("rustc"))
        .args(["--edition=2021", "-Awarnings", "-Cpanic=abort", "-Ccodegen-units=1", "-Cdebuginfo=2"])
        .args(["-Coverflow-checks=on", "-Cdebug-assertions=off", "-Csymbol-mangling-version=v0"])
        .args(arguments)
        .arg("-o")
        .args([out, file])
        .output()
        .expect("rustc runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Returns what a program writes to `OUT`, compiled and run.
pub fn native_values(text: &str, seed: u64) -> Vec<u64> {
    let folder = folder(seed);
    let (file, out) = (folder.join("native.rs"), folder.join("native"));
    let main = "fn main() { run(); unsafe { for k in 0..N { println!(\"{}\", OUT[k]); } } }";
    std::fs::write(&file, format!("{text}\n{main}\n")).expect("written");
    run(&["-Copt-level=0"], &file, &out);
    let done = Command::new(&out).output().expect("it runs");
    assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
    let values = String::from_utf8(done.stdout).expect("text");
    std::fs::remove_dir_all(&folder).expect("removed");
    values.lines().map(|line| line.parse().expect("a number")).collect()
}

/// Returns the LLVM IR of a program.
pub fn compiled_text(text: &str, seed: u64, level: Level) -> String {
    let folder = folder(seed);
    let (file, out) = (folder.join("lib.rs"), folder.join("lib.ll"));
    std::fs::write(&file, text).expect("written");
    let mut flags = level.flags().to_vec();
    flags.extend(["--crate-type=lib", "--emit=llvm-ir"]);
    run(&flags, &file, &out);
    let module = std::fs::read_to_string(&out).expect("read");
    std::fs::remove_dir_all(&folder).expect("removed");
    module
}
