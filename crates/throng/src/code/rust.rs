//! Programs in Rust: compiled to LLVM IR, and read as such.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use throng_lang::load::{Format, Rejected, read_source};
use throng_lang::source::{Diagnostic, Severity, Source};
use throng_model::limits::Limits;
use throng_rust::{Emission, Package, file};

use super::Code;
use super::text::{Ir, Text};
use crate::error::Error;

pub use throng_rust::Options;

/// How the compiler is called, as reports say it.
const HOW: &str = "nothing optimised, arithmetic checked, debug assertions off";

/// Reads a file, which is compiled as a crate of its own.
pub(crate) fn open(path: &Path, options: &Options, limits: &Limits) -> Result<Code, Error> {
    let written = read_source(path)?;
    if path == Path::new("-") {
        return text(Path::new("stdin.rs"), written, &within(options, limits));
    }
    match file::emit(path, &within(options, limits), &throng_llvm::models::is_modelled) {
        Ok(emission) => Ok(code(emission, written)),
        Err(why) => Err(refused(written, why)),
    }
}

/// Reads a text that stands for a file, which is compiled as a crate of its own.
pub(crate) fn edited(path: &Path, source: Source, limits: &Limits) -> Result<Code, Error> {
    text(path, source, &within(&Options::default(), limits))
}

fn text(path: &Path, source: Source, options: &Options) -> Result<Code, Error> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    match file::emit_text(&path, &source.text, options, &throng_llvm::models::is_modelled) {
        // The compiler calls the file by its whole path.
        Ok(emission) => Ok(code(emission, Source::new(path.display().to_string(), source.text))),
        Err(why) => Err(refused(source, why)),
    }
}

fn within(options: &Options, limits: &Limits) -> Options {
    let timeout = limits.time_left().map_or(options.timeout, |left| options.timeout.min(left));
    Options { timeout, ..options.clone() }
}

/// A program as it was compiled, before anything is asked about it.
pub(crate) struct Compiled {
    emission: Emission,
    written: Source,
    /// Where the package is.
    pub(crate) manifest: PathBuf,
}

impl Compiled {
    /// Returns the file in which the answer to a question is kept, if anything is. Its name depends
    /// on all that the answer does.
    pub(crate) fn kept(&self, question: &str) -> Option<PathBuf> {
        let folder = self.emission.kept.as_ref()?.join("answers");
        // The program that answers is part of what the answer depends on.
        let program = std::env::current_exe().and_then(|path| path.metadata()).ok()?;
        let program = (program.len(), program.modified().ok()?);
        let half = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            let texts: Vec<&str> = self.emission.modules.iter().map(|m| m.text.as_str()).collect();
            (seed, &program, question, &self.emission.version, texts).hash(&mut hasher);
            hasher.finish()
        };
        Some(folder.join(format!("{:016x}{:016x}.txt", half(0), half(1))))
    }

    pub(crate) fn code(self) -> Code {
        code(self.emission, self.written)
    }
}

/// Compiles a package, with all that it depends on.
pub(crate) fn compile(package: &Package, limits: &Limits) -> Result<Compiled, Error> {
    let timeout = limits.time_left().map_or(package.timeout, |left| package.timeout.min(left));
    let package = Package { timeout, ..package.clone() };
    let path = package.folder.join("Cargo.toml");
    let manifest = path.display().to_string();
    let emission = package
        .emit(&throng_llvm::models::is_modelled)
        .map_err(|why| refused(Source::new(manifest.clone(), ""), why))?;
    let first = emission.files.first().cloned().unwrap_or_default();
    let written = match read_source(&emission.folder.join(first)) {
        Ok(written) => written,
        Err(_) => Source::new(manifest, ""),
    };
    Ok(Compiled { emission, written, manifest: path })
}

fn refused(source: Source, why: Diagnostic) -> Error {
    Rejected { source: source.into(), diagnostics: vec![why] }.into()
}

fn code(emission: Emission, written: Source) -> Code {
    let warnings = said(&emission);
    let compiler = Some(format!("{}: {HOW}", emission.version));
    let modules = emission.modules.into_iter().map(|m| Source::new(format!("{}.ll", m.name), m.text));
    let text = throng_llvm::Text::of(modules.collect(), Some(written));
    let files = emission.files.iter().map(|file| emission.folder.join(file)).collect();
    let ir = Ir { text, format: Format::Rust, files, compiler, mutant: None };
    Code { text: Text::Ir(Box::new(ir)), files: 1, warnings }
}

/// Returns what is said about compiling: the compiler's own words, and where its LLVM is another
/// one.
fn said(emission: &Emission) -> Vec<Diagnostic> {
    let warning =
        |code, message| Diagnostic { severity: Severity::Warning, message, ..Diagnostic::whole(code, "") };
    let messages = emission.messages.trim_end();
    let words = (!messages.is_empty()).then(|| warning("W842", format!("the compiler says:\n{messages}")));
    let bare = emission.bare.then(|| {
        let message = format!("the LLVM of {} does not know the passes that are needed: nothing is inlined before reading, and less is proved", emission.version);
        warning("W841", message)
    });
    words.into_iter().chain(bare).collect()
}
