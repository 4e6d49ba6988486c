//! A package of cargo: it and the crates that it depends on.
//!
//! 1. `cargo check` compiles the package with its tests. A script in place of rustc asks for LLVM IR
//!    beside what cargo wants, of the crates whose code may run; it keeps how rustc was called.
//!    Nothing is linked, no machine code is made, and what cargo compiled before is not compiled
//!    again.
//! 2. The functions in there say which ones are modelled. Every crate that the package's own code
//!    calls is compiled once more, as it was, with the passes and these functions kept whole. What
//!    that gives is kept by a hash of all that it depends on.
//!
//! Crates that only this one needs are checked as always, and a stub is compiled in place of the
//! crate that tests ask questions with.

mod metadata;
mod reading;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use throng_lang::source::Diagnostic;

use self::metadata::{Chosen, Metadata, Part};
use self::reading::Listed;
use crate::emission::{Emission, files_of, not_run, refused};
use crate::passes::{self, Run};
use crate::process::{self, Done};
use crate::toolchain::{Toolchain, named};

/// What is compiled of a package, with its tests (`cfg(test)`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// Its library, or else its only program.
    #[default]
    Default,
    /// Its library.
    Lib,
    /// A program of it.
    Bin(String),
    /// An integration test.
    Test(String),
    /// An example.
    Example(String),
    /// The target whose crate has this name, which [`module_path!`] begins with.
    Crate(String),
}

/// A package, and how it is compiled.
#[derive(Clone, Debug)]
pub struct Package {
    /// A folder in it, or in its workspace.
    pub folder: PathBuf,
    /// Its name, if the folder does not say which package of a workspace is meant.
    pub name: Option<String>,
    /// What of it is compiled.
    pub target: Target,
    /// Further arguments for cargo, such as `--features` and their names.
    pub arguments: Vec<String>,
    /// How long one run of cargo may take.
    pub timeout: Duration,
}

impl Package {
    /// Returns the package that a folder is in.
    pub fn new(folder: impl Into<PathBuf>) -> Package {
        Package {
            folder: folder.into(),
            name: None,
            target: Target::Default,
            arguments: Vec::new(),
            timeout: Duration::from_secs(600),
        }
    }

    /// Compiles it; functions for which `is_modelled` holds are kept whole.
    pub fn emit(&self, is_modelled: &dyn Fn(&str) -> bool) -> Result<Emission, Diagnostic> {
        let toolchain = Toolchain::find()?;
        let metadata = self.metadata(&toolchain)?;
        let chosen = metadata.choose(self)?;
        let folder = metadata.target_directory.join("throng");
        let building = Building { package: self, metadata: &metadata, chosen, folder: &folder };
        let built = building.run()?;
        let needed = reading::needed(built.crates);
        let (modules, bare) = reading::read(&needed, &folder, &toolchain, self.timeout, is_modelled)?;
        Ok(Emission {
            modules,
            files: built.files,
            folder: metadata.workspace_root.clone(),
            version: toolchain.version.clone(),
            messages: built.messages,
            kept: Some(folder),
            bare,
        })
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(named("CARGO", "cargo"));
        cargo.arg(command).current_dir(&self.folder);
        cargo
    }

    fn metadata(&self, toolchain: &Toolchain) -> Result<Metadata, Diagnostic> {
        let mut cargo = self.cargo("metadata");
        cargo.args(["--format-version", "1", "--filter-platform", &toolchain.host]);
        let done = process::run(&mut cargo, self.timeout).map_err(|why| not_run("cargo", &why))?;
        if !done.succeeded {
            return Err(refused("cargo metadata", &done));
        }
        serde_json::from_slice(&done.stdout).map_err(|why| unreadable("cargo metadata", &why))
    }
}

fn unreadable(program: &str, why: &serde_json::Error) -> Diagnostic {
    Diagnostic::whole("E842", format!("what `{program}` writes cannot be read: {why}"))
}

/// A file or folder that cannot be used, and why.
fn unusable(path: &std::path::Path) -> impl Fn(std::io::Error) -> Diagnostic + '_ {
    move |why| Diagnostic::whole("E842", format!("{}: {why}", path.display()))
}

/// A run of cargo.
struct Building<'a> {
    package: &'a Package,
    metadata: &'a Metadata,
    chosen: Chosen,
    folder: &'a std::path::Path,
}

/// What a run of cargo made.
struct Built {
    /// The crates, that of the user last.
    crates: Vec<Listed>,
    files: Vec<PathBuf>,
    messages: String,
}

/// A message of cargo.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    target: Option<Part>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// What cargo calls in place of rustc.
const WRAPPER: &str = include_str!("package/wrapper.sh");
/// What is compiled in place of the crate that tests ask questions with.
const STUB: &str = include_str!("package/stub.rs");

impl Building<'_> {
    fn run(&self) -> Result<Built, Diagnostic> {
        let wrapper = self.wrapper()?;
        let mut cargo = self.package.cargo("check");
        cargo.args(["--profile", "test", "--package", &self.chosen.package]);
        cargo.args(self.chosen.part.options()).args(["--message-format", "json-render-diagnostics"]);
        let crates: Vec<String> = self.metadata.crates(&self.chosen.id).into_iter().collect();
        let own = passes::all_functions().join(",");
        let flags = [passes::flags(Run::Listing), vec!["--emit=llvm-ir".into()]].concat().join(",");
        let folder = format!("listing-{}", &reading::hash(&(WRAPPER, STUB, &own, &flags))[..8]);
        cargo.arg("--quiet").arg("--target-dir").arg(self.folder.join(folder));
        cargo.args(&self.package.arguments);
        cargo.env("THRONG_CRATES", crates.join(" ")).env("THRONG_FLAGS", flags).env("THRONG_OWN", own);
        cargo.env("THRONG_STUB", self.stub()?);
        cargo.env("RUSTC_WRAPPER", wrapper).env("CARGO_INCREMENTAL", "0").env("CARGO_TERM_COLOR", "never");
        let done = process::run(&mut cargo, self.package.timeout).map_err(|why| not_run("cargo", &why))?;
        match done.succeeded {
            true => self.collect(&done),
            false => Err(refused("cargo check", &done)),
        }
    }

    fn stub(&self) -> Result<PathBuf, Diagnostic> {
        let path = self.folder.join("stub.rs");
        if !std::fs::read_to_string(&path).is_ok_and(|there| there == STUB) {
            reading::write(&path, STUB)?;
        }
        Ok(path)
    }

    fn wrapper(&self) -> Result<PathBuf, Diagnostic> {
        std::fs::create_dir_all(self.folder).map_err(unusable(self.folder))?;
        let path = self.folder.join("rustc.sh");
        if std::fs::read_to_string(&path).is_ok_and(|there| there == WRAPPER) {
            return Ok(path);
        }
        reading::write(&path, WRAPPER)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, executable).map_err(unusable(&path))?;
        }
        Ok(path)
    }

    fn collect(&self, done: &Done) -> Result<Built, Diagnostic> {
        let (mut crates, mut files, mut own) = (Vec::new(), Vec::new(), None);
        for line in done.stdout.split(|&b| b == b'\n').filter(|line| line.starts_with(b"{")) {
            let message: Message =
                serde_json::from_slice(line).map_err(|why| unreadable("cargo check", &why))?;
            let Some((part, at)) = message.compiled() else { continue };
            let listed = |at| Listed::open(part.crate_name(), at);
            match self.is_chosen(&message, part) {
                true => {
                    files = files_of(&std::fs::read_to_string(at.with_extension("d")).unwrap_or_default());
                    own = Some(listed(at)?);
                }
                // Of crates whose code does not run, there is no LLVM IR.
                false if at.with_extension("ll").exists() => crates.push(listed(at)?),
                false => {}
            }
        }
        let Some(own) = own else {
            return Err(Diagnostic::whole("E842", "`cargo check` does not name the crate that it compiled"));
        };
        crates.push(own);
        Ok(Built { crates, files, messages: done.stderr.clone() })
    }

    fn is_chosen(&self, message: &Message, part: &Part) -> bool {
        message.package_id == self.chosen.id
            && part.name == self.chosen.part.name
            && part.kind == self.chosen.part.kind
            && message.profile.as_ref().is_some_and(|profile| profile.test)
    }
}

impl Message {
    /// Returns the crate that was compiled, and where what was made of it is, up to the extension.
    fn compiled(&self) -> Option<(&Part, PathBuf)> {
        let part = self.target.as_ref().filter(|_| self.reason == "compiler-artifact")?;
        if part.is("proc-macro") || part.is("custom-build") {
            return None;
        }
        let metadata = self.filenames.iter().find(|f| f.extension().is_some_and(|e| e == "rmeta"))?;
        let stem = metadata.file_stem()?.to_str()?;
        Some((part, metadata.with_file_name(stem.strip_prefix("lib")?)))
    }
}
