//! The program as tests run it, and folders to run it in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The built program, beside the test binary that runs. Tests of `throng-cli` can rely on it: Cargo
/// builds it for them.
pub fn program() -> PathBuf {
    built().join(format!("throng{}", std::env::consts::EXE_SUFFIX))
}

/// The folder that Cargo builds programs in.
fn built() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has a path");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path
}

/// The program, ready to be given arguments.
pub fn throng() -> Command {
    Command::new(program())
}

/// Runs the program: exit status, standard output and standard error.
pub fn run(args: &[&str]) -> (Option<i32>, String, String) {
    said(&throng().args(args).output().expect("it runs"))
}

/// Exit status, standard output and standard error.
pub fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// An example, by its name.
pub fn example(name: &str) -> PathBuf {
    Path::new(crate::ROOT).join("examples").join(name)
}

/// Writes a file into Cargo's folder for test files, where it stays until the next run replaces it.
pub fn test_file(name: &str, text: &str) -> PathBuf {
    let folder = built().join("../tmp");
    fs::create_dir_all(&folder).expect("the folder for tests");
    let path = folder.join(name);
    fs::write(&path, text).expect("the folder for tests can be written to");
    path
}

/// A folder of its own for each test, removed afterwards.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A new, empty folder.
    pub fn new(name: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("throng-{name}-{unique}"));
        fs::create_dir_all(&folder).expect("a temporary folder");
        Scratch(folder)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// Writes a file; its path as an argument for the program.
    pub fn file_argument(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        self.file(name, text);
        self.argument(name)
    }

    /// The path of a file in the folder as an argument for the program.
    pub fn argument(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_string()
    }

    /// The names of all files in the folder, including hidden ones, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("readable");
        let name = |e: std::io::Result<fs::DirEntry>| e.expect("entry").file_name();
        let mut names: Vec<String> = entries.map(|e| name(e).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns whether C can be read: the preprocessor comes with a compiler. Prints a note if not.
#[allow(clippy::print_stderr)]
pub fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        eprintln!("skipped: there is no C compiler");
    }
    found.is_ok()
}
