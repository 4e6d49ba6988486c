//! A package of cargo: it and the crates that it depends on.
//!
//! `cargo check` with flags of ours writes LLVM IR, because a crate that is asked for it is
//! compiled up to there; nothing is linked and no machine code is made. What cargo has compiled
//! once is not compiled again, so a second run takes what cargo needs to look at the files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use throng_lang::source::Diagnostic;

use crate::emission::{Emission, Module, files_of, not_run, refused};
use crate::passes::{self, Run};
use crate::process::{self, Done};
use crate::toolchain::{Toolchain, named};
use crate::whole;

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
        let metadata = self.metadata()?;
        let chosen = metadata.choose(self)?;
        let folder = metadata.target_directory.join("throng");
        let building = Building { package: self, toolchain: &toolchain, chosen: &chosen, folder: &folder };
        let listing = building.run(Run::Listing)?;
        let texts = listing.modules.iter().map(|module| module.text.as_str());
        let kept = keep(&folder, &whole::listed(texts, is_modelled))?;
        let (built, bare) = match building.run(Run::Reading(&kept)) {
            Ok(reading) => (reading, false),
            Err(why) if passes::are_refused(&why.message) => (listing, true),
            Err(why) => return Err(why),
        };
        Ok(Emission {
            modules: built.modules,
            files: built.files,
            folder: metadata.workspace_root.clone(),
            version: toolchain.version,
            messages: built.messages,
            bare,
        })
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(named("CARGO", "cargo"));
        cargo.arg(command).current_dir(&self.folder);
        cargo
    }

    fn metadata(&self) -> Result<Metadata, Diagnostic> {
        let mut cargo = self.cargo("metadata");
        cargo.args(["--no-deps", "--format-version", "1"]);
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

/// Writes the list of functions that are kept whole. Its name says what is in it, so that cargo
/// compiles again where it is another one.
fn keep(folder: &Path, list: &str) -> Result<PathBuf, Diagnostic> {
    let hash = <rustc_hash::FxBuildHasher as std::hash::BuildHasher>::hash_one(&Default::default(), list);
    let path = folder.join(format!("whole-{hash:016x}.csv"));
    let unwritten = |why| Diagnostic::whole("E842", format!("{}: {why}", path.display()));
    std::fs::write(&path, list).map_err(unwritten)?;
    Ok(path)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Described>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
    #[serde(default)]
    workspace_default_members: Vec<String>,
}

#[derive(Deserialize)]
struct Described {
    id: String,
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Part>,
}

/// A target of a package.
#[derive(Clone, Deserialize)]
struct Part {
    name: String,
    kind: Vec<String>,
}

impl Part {
    fn crate_name(&self) -> String {
        self.name.replace('-', "_")
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|k| k == kind)
    }

    fn is_library(&self) -> bool {
        self.kind.iter().any(|kind| ["lib", "rlib", "cdylib", "dylib", "staticlib"].contains(&kind.as_str()))
    }

    /// Returns the options by which cargo compiles it alone.
    fn options(&self) -> Vec<String> {
        let named = |option: &str| vec![option.to_string(), self.name.clone()];
        match () {
            () if self.is("bin") => named("--bin"),
            () if self.is("test") => named("--test"),
            () if self.is("example") => named("--example"),
            () if self.is("bench") => named("--bench"),
            () => vec!["--lib".into()],
        }
    }
}

/// The package and the target of it that are compiled.
struct Chosen {
    package: String,
    id: String,
    part: Part,
}

impl Metadata {
    fn choose(&self, asked: &Package) -> Result<Chosen, Diagnostic> {
        let package = self.package(asked)?;
        let parts = &package.targets;
        let one = |fits: &dyn Fn(&Part) -> bool| parts.iter().find(|part| fits(part)).cloned();
        let part = match &asked.target {
            Target::Default => one(&Part::is_library).or_else(|| only(parts.iter().filter(|p| p.is("bin")))),
            Target::Lib => one(&Part::is_library),
            Target::Bin(name) => one(&|p| p.is("bin") && p.name == *name),
            Target::Test(name) => one(&|p| p.is("test") && p.name == *name),
            Target::Example(name) => one(&|p| p.is("example") && p.name == *name),
            Target::Crate(name) => one(&|p| p.crate_name() == *name && !p.is("custom-build")),
        };
        let Some(part) = part else {
            let there: Vec<String> = parts.iter().map(|p| p.options().join(" ")).collect();
            let message = format!("the package `{}` has no such target, or several", package.name);
            return Err(Diagnostic::whole("E843", message).hint(format!("it has {}", there.join(", "))));
        };
        Ok(Chosen { package: package.name.clone(), id: package.id.clone(), part })
    }

    fn package(&self, asked: &Package) -> Result<&Described, Diagnostic> {
        let names: Vec<&str> = self.packages.iter().map(|p| p.name.as_str()).collect();
        let found = match &asked.name {
            Some(name) => self.packages.iter().find(|p| p.name == *name),
            None => self.around(&asked.folder).or_else(|| {
                let is_default = |p: &&Described| self.workspace_default_members.contains(&p.id);
                only_one(self.packages.iter().filter(is_default))
            }),
        };
        found.ok_or_else(|| match &asked.name {
            Some(name) => Diagnostic::whole("E843", format!("no package is called `{name}`"))
                .hint(format!("there are {}", names.join(", "))),
            None => Diagnostic::whole("E843", "several packages are in this workspace")
                .hint(format!("name one with `-p`: {}", names.join(", "))),
        })
    }

    /// Returns the package whose folder is nearest around a folder.
    fn around(&self, folder: &Path) -> Option<&Described> {
        let folder = folder.canonicalize().ok()?;
        let home = |p: &&Described| p.manifest_path.parent().and_then(|f| f.canonicalize().ok());
        let inside = self.packages.iter().filter(|p| home(p).is_some_and(|h| folder.starts_with(h)));
        inside.max_by_key(|p| p.manifest_path.components().count())
    }
}

fn only<'a>(parts: impl Iterator<Item = &'a Part>) -> Option<Part> {
    only_one(parts).cloned()
}

fn only_one<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// A run of cargo.
struct Building<'a> {
    package: &'a Package,
    toolchain: &'a Toolchain,
    chosen: &'a Chosen,
    folder: &'a Path,
}

/// What a run of cargo made.
struct Built {
    modules: Vec<Module>,
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

impl Building<'_> {
    fn run(&self, run: Run<'_>) -> Result<Built, Diagnostic> {
        let mut cargo = self.package.cargo("check");
        cargo.args(["--profile", "test", "--package", &self.chosen.package]);
        cargo.args(self.chosen.part.options()).args(["--message-format", "json-render-diagnostics"]);
        // With a platform that is named, programs of the build are compiled as always.
        cargo
            .args(["--target", &self.toolchain.host])
            .arg("--target-dir")
            .arg(self.folder.join(folder_of(run)));
        cargo.args(&self.package.arguments);
        cargo.env("CARGO_ENCODED_RUSTFLAGS", rustflags(run)).env_remove("RUSTFLAGS");
        cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_TERM_COLOR", "never");
        let done = process::run(&mut cargo, self.package.timeout).map_err(|why| not_run("cargo", &why))?;
        if !done.succeeded {
            return Err(refused("cargo check", &done));
        }
        self.collect(&done)
    }

    fn collect(&self, done: &Done) -> Result<Built, Diagnostic> {
        let mut built = Built { modules: Vec::new(), files: Vec::new(), messages: done.stderr.clone() };
        let mut own = None;
        for line in done.stdout.split(|&b| b == b'\n').filter(|line| line.starts_with(b"{")) {
            let message: Message =
                serde_json::from_slice(line).map_err(|why| unreadable("cargo check", &why))?;
            let Some((part, written)) = message.crate_written() else { continue };
            let text = read(&written)?;
            let module = Module { name: part.crate_name(), text };
            match self.is_chosen(&message, part) {
                true => {
                    let listed = written.with_extension("d");
                    built.files = files_of(&std::fs::read_to_string(listed).unwrap_or_default());
                    own = Some(module);
                }
                false => built.modules.push(module),
            }
        }
        let Some(own) = own else {
            return Err(Diagnostic::whole("E842", "`cargo check` does not name the crate that it compiled"));
        };
        built.modules.push(own);
        Ok(built)
    }

    fn is_chosen(&self, message: &Message, part: &Part) -> bool {
        message.package_id == self.chosen.id
            && part.name == self.chosen.part.name
            && part.kind == self.chosen.part.kind
            && message.profile.as_ref().is_some_and(|profile| profile.test)
    }
}

impl Message {
    /// Returns the crate that was compiled, and where its LLVM IR is.
    fn crate_written(&self) -> Option<(&Part, PathBuf)> {
        let part = self.target.as_ref().filter(|_| self.reason == "compiler-artifact")?;
        if part.is("proc-macro") || part.is("custom-build") {
            return None;
        }
        let metadata = self.filenames.iter().find(|f| f.extension().is_some_and(|e| e == "rmeta"))?;
        let stem = metadata.file_stem()?.to_str()?;
        Some((part, metadata.with_file_name(format!("{}.ll", stem.strip_prefix("lib")?))))
    }
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    let bytes =
        std::fs::read(path).map_err(|why| Diagnostic::whole("E842", format!("{}: {why}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Both runs have a folder of their own: with other flags in the same one, cargo would compile all
/// crates again each time.
fn folder_of(run: Run<'_>) -> &'static str {
    match run {
        Run::Listing => "listing",
        Run::Reading(_) => "reading",
    }
}

/// Returns the flags for every crate, as cargo takes them: those of the user first, ours last.
fn rustflags(run: Run<'_>) -> String {
    let given = std::env::var("CARGO_ENCODED_RUSTFLAGS").ok().filter(|flags| !flags.is_empty());
    let given = given.or_else(|| Some(std::env::var("RUSTFLAGS").ok()?.replace(' ', "\x1f")));
    let ours = [passes::flags(run), passes::all_functions(), vec!["--emit=llvm-ir".into()]].concat();
    given
        .into_iter()
        .filter(|flags| !flags.is_empty())
        .chain([ours.join("\x1f")])
        .collect::<Vec<_>>()
        .join("\x1f")
}
