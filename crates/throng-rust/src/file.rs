//! A single file, compiled as a crate of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use throng_lang::source::Diagnostic;

use crate::emission::{Emission, Module, files_of, not_run, refused};
use crate::passes::{self, Run};
use crate::process::{self, Done};
use crate::toolchain::Toolchain;
use crate::{shared, whole};

/// Maximum number of files beside a text that its modules are looked for among.
const MOST_BESIDE: usize = 10_000;

/// How a file is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The edition of the language.
    pub edition: String,
    /// Further flags for rustc, such as `--cfg` and `--extern`.
    pub flags: Vec<String>,
    /// How long one run of the compiler may take.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options { edition: "2021".into(), flags: Vec::new(), timeout: Duration::from_secs(120) }
    }
}

/// Compiles a file; functions for which `is_modelled` holds are kept whole.
pub fn emit(
    path: &Path,
    options: &Options,
    is_modelled: &dyn Fn(&str) -> bool,
) -> Result<Emission, Diagnostic> {
    let toolchain = Toolchain::find()?;
    let folder = tempfile::Builder::new().prefix("throng-rust-").tempdir().map_err(unwritten)?;
    let compiling = Compiling { path, options, toolchain: &toolchain, folder: &folder };
    let listing = compiling.run(Run::Listing, "listing.ll")?;
    if !listing.succeeded {
        return Err(refused(&toolchain.rustc, &listing));
    }
    let listed = compiling.read("listing.ll")?;
    let kept = folder.path().join("whole.csv");
    std::fs::write(&kept, whole::listed([listed.as_str()], is_modelled)).map_err(unwritten)?;
    let reading = compiling.run(Run::Reading(&kept), "reading.ll")?;
    let text = match reading.succeeded {
        true => compiling.read("reading.ll")?,
        false if passes::are_refused(&reading.stderr) => listed,
        false => return Err(refused(&toolchain.rustc, &reading)),
    };
    let instances = match shared::may_miss(&text) {
        true if compiling.run(Run::Instances, "instances.ll")?.succeeded => {
            shared::missing(&text, &compiling.read("instances.ll")?)
        }
        _ => None,
    };
    let dependencies = compiling.read("listing.d")?;
    let others = instances.map(|text| Module { name: format!("{}-std", crate_name(path)), text });
    Ok(Emission {
        modules: others.into_iter().chain([Module { name: crate_name(path), text }]).collect(),
        files: files_of(&dependencies),
        folder: std::env::current_dir().unwrap_or_default(),
        version: toolchain.version.clone(),
        messages: listing.stderr,
        kept: None,
        bare: !reading.succeeded,
    })
}

/// Compiles a text that stands for a file. The modules that it names are the files beside that
/// file, and messages call it by the file's path.
pub fn emit_text(
    path: &Path,
    text: &str,
    options: &Options,
    is_modelled: &dyn Fn(&str) -> bool,
) -> Result<Emission, Diagnostic> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let copy = tempfile::Builder::new().prefix("throng-text-").tempdir().map_err(unwritten)?;
    let name = path.file_name().unwrap_or(OsStr::new("text.rs"));
    stand_beside(folder, name, copy.path()).map_err(unwritten)?;
    std::fs::write(copy.path().join(name), text).map_err(unwritten)?;
    let mut options = options.clone();
    options.flags.push(format!("--remap-path-prefix={}={}", copy.path().display(), folder.display()));
    let mut emission = emit(&copy.path().join(name), &options, is_modelled)?;
    for file in &mut emission.files {
        if let Ok(inside) = file.strip_prefix(copy.path()) {
            *file = folder.join(inside);
        }
    }
    Ok(emission)
}

/// Links what is beside a file into another folder.
fn stand_beside(folder: &Path, except: &OsStr, into: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_BESIDE) {
        if entry.file_name() != except {
            link(&entry.path(), &into.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(path: &Path, name: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(path, name)
}

/// Links need rights of their own elsewhere; a module beside the file is then not found, and rustc
/// says so.
#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Ok(())
}

struct Compiling<'a> {
    path: &'a Path,
    options: &'a Options,
    toolchain: &'a Toolchain,
    folder: &'a TempDir,
}

impl Compiling<'_> {
    fn run(&self, run: Run<'_>, output: &str) -> Result<Done, Diagnostic> {
        let output = self.place(output);
        let mut command = Command::new(&self.toolchain.rustc);
        command.args(["--crate-type", "lib", "--edition", &self.options.edition]);
        command.args(["--crate-name", &crate_name(self.path)]).args(passes::flags(run));
        // As a library, a program has no function that is used.
        command.args(passes::all_functions()).args(["-A", "dead_code"]);
        // Where files go in between, which else would be the current folder.
        command.arg("--out-dir").arg(self.folder.path());
        command.arg("--emit").arg(format!("llvm-ir={}", output.display()));
        command.arg("--emit").arg(format!("dep-info={}", output.with_extension("d").display()));
        command.args(&self.options.flags).arg(not_an_option(self.path));
        process::run(&mut command, self.options.timeout).map_err(|why| not_run(&self.toolchain.rustc, &why))
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> Result<String, Diagnostic> {
        let bytes = std::fs::read(self.place(name)).map_err(unwritten)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn unwritten(why: std::io::Error) -> Diagnostic {
    Diagnostic::whole("E842", format!("the folder for what `rustc` writes cannot be used: {why}"))
}

/// A name that begins with a dash would be an option.
fn not_an_option(path: &Path) -> PathBuf {
    let dashed = path.to_string_lossy().starts_with('-');
    if dashed { Path::new(".").join(path) } else { path.to_path_buf() }
}

/// Returns the name of the crate that a file is compiled as.
pub fn crate_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let letters = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let name: String = letters.collect();
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => format!("file_{name}"),
    }
}
