//! Loads an input: recognises the format of a file, reads it, and calls the right reader.
//!
//! Errors of files in general (E7xx) are handled here, so that readers only see text.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use throng_model::Describe;

use super::bp;
use super::configuration::shortened;
use super::patience::Patience;
use super::source::{Diagnostic, Source};
use super::system::System;
use super::vocabulary::Vocabulary;
use super::{ntts, pnml, spec, tts};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;
use throng_model::{Step, UNCOUNTABLE};

/// Maximum size of a file: positions in messages are 32-bit numbers.
pub const LARGEST: u64 = 1 << 30;

/// An input language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Boolean program: `.bp`, `.nbp`.
    Bp,
    /// Thread-transition system: `.tts`, `.ttd`.
    Tts,
    /// Thread-transition system with names: `.ntts`.
    Ntts,
    /// mist net: `.spec`.
    Spec,
    /// Petri net in XML: `.pnml`.
    Pnml,
    /// C, before or after preprocessing: `.c`, `.i`. Another crate reads it.
    C,
    /// Rust: `.rs`. Another crate reads it.
    Rust,
    /// LLVM IR as text: `.ll`. Another crate reads it.
    Llvm,
}

impl Format {
    /// The names of formats.
    pub const NAMES: [&'static str; 11] =
        ["bp", "nbp", "tts", "ttd", "ntts", "spec", "pnml", "c", "i", "rs", "ll"];

    /// Returns a description of an input in this format, with its article.
    pub fn description(self) -> &'static str {
        match self {
            Format::Bp => "a Boolean program",
            Format::Tts | Format::Ntts => "a thread-transition system",
            Format::Spec | Format::Pnml => "a Petri net",
            Format::C => "a C program",
            Format::Rust => "a Rust program",
            Format::Llvm => "a program in LLVM IR",
        }
    }

    /// Returns whether it is a source language, whose programs other crates read.
    pub fn is_code(self) -> bool {
        matches!(self, Format::C | Format::Rust | Format::Llvm)
    }

    /// Returns whether it is a format of Petri nets, in which tokens move, not threads.
    pub fn is_net(self) -> bool {
        matches!(self, Format::Spec | Format::Pnml)
    }

    /// Returns the name of what moves: `thread` or `token`.
    pub fn unit(self) -> &'static str {
        if self.is_net() { "token" } else { "thread" }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        match name.to_ascii_lowercase().as_str() {
            "bp" | "nbp" => Ok(Format::Bp),
            "tts" | "ttd" => Ok(Format::Tts),
            "ntts" => Ok(Format::Ntts),
            "spec" => Ok(Format::Spec),
            "pnml" => Ok(Format::Pnml),
            "c" | "i" => Ok(Format::C),
            "rs" => Ok(Format::Rust),
            "ll" => Ok(Format::Llvm),
            _ => Err(format!("expected one of {}", Format::NAMES.join(", "))),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Bp => "bp",
            Format::Tts => "tts",
            Format::Ntts => "ntts",
            Format::Spec => "spec",
            Format::Pnml => "pnml",
            Format::C => "c",
            Format::Rust => "rs",
            Format::Llvm => "ll",
        })
    }
}

/// Options for reading an input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// The format, if the file's name does not tell.
    pub from: Option<Format>,
    /// mist's reading of nets: a variable that `init` does not mention may start with any number of
    /// tokens.
    pub init_free: bool,
    /// Nets: no target has a formula, see [`spec::Options::goals`].
    pub goals: bool,
    /// Programs: a thread that has ended keeps its slot under a thread bound.
    pub keep_ended: bool,
    /// Programs: see [`bp::Options::exact_copies`].
    pub exact_copies: bool,
    /// Programs: see [`bp::Options::keep_dead`].
    pub keep_dead: bool,
    /// The names of these settings in messages.
    pub vocabulary: &'static Vocabulary,
}

impl Reading {
    fn options(&self) -> bp::Options {
        bp::Options {
            keep_ended: self.keep_ended,
            exact_copies: self.exact_copies,
            keep_dead: self.keep_dead,
        }
    }
}

/// A loaded input.
pub struct Loaded {
    /// Its text.
    pub source: Arc<Source>,
    /// Its format.
    pub format: Format,
    /// Its content.
    pub input: Input,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// The content of an input.
pub enum Input {
    /// A Boolean program.
    Program(Arc<bp::Jit>),
    /// A system whose steps are all listed.
    System(System),
}

/// An input that was refused.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// Its text, as far as it could be read.
    pub source: Arc<Source>,
    /// The diagnostics, at least one of which is an error.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reason why an input was not loaded.
#[derive(Clone, Debug)]
pub enum Unread {
    /// It was refused.
    Rejected(Rejected),
    /// A limit was hit before all of it was read.
    Stopped(Unknown),
}

impl From<Rejected> for Unread {
    fn from(rejected: Rejected) -> Unread {
        Unread::Rejected(rejected)
    }
}

impl Rejected {
    fn new(name: &str, diagnostic: Diagnostic) -> Rejected {
        Rejected { source: Arc::new(Source::new(name, "")), diagnostics: vec![diagnostic] }
    }
}

/// Reads the file at `path`; `-` is standard input.
pub fn load(path: &Path, reading: &Reading) -> Result<Loaded, Rejected> {
    let format = format_of(path, reading)?;
    read(read_source(path)?, format, reading)
}

/// Like [`load`], within limits.
pub fn load_within(path: &Path, reading: &Reading, limits: &Limits) -> Result<Loaded, Unread> {
    let format = format_of(path, reading)?;
    read_within(read_source(path)?, format, reading, limits)
}

/// Reads a text.
pub fn read(source: Source, format: Format, reading: &Reading) -> Result<Loaded, Rejected> {
    read_patiently(source, format, reading, &Patience::default())
}

/// Like [`read`], within limits.
pub fn read_within(
    source: Source,
    format: Format,
    reading: &Reading,
    limits: &Limits,
) -> Result<Loaded, Unread> {
    let patience = Patience::within(limits);
    let loaded = read_patiently(source, format, reading, &patience);
    match patience.hit() {
        Some(why) => Err(Unread::Stopped(why.clone())),
        None => Ok(loaded?),
    }
}

/// Returns the input that a tree is, as if its text had been read. The span of a statement is its
/// number, and stands for a line of its own: the text has that many lines, and nothing on them.
pub fn of_tree(
    name: &str,
    tree: bp::ast::Program,
    statements: u32,
    reading: &Reading,
) -> Result<Loaded, Rejected> {
    let source = Arc::new(Source::new(name, "\n".repeat(statements as usize)));
    let (program, diagnostics) = bp::of_tree(tree, &source.text, &reading.options(), &Patience::default());
    match program {
        Some(program) if !diagnostics.iter().any(Diagnostic::is_error) => {
            let input = Input::Program(Arc::new(program));
            Ok(Loaded { source, format: Format::Bp, input, warnings: diagnostics })
        }
        _ => Err(Rejected { source, diagnostics }),
    }
}

/// Returns another program with the places of this text, such as one with a monitor.
pub fn with_tree(
    source: &Source,
    tree: bp::ast::Program,
    reading: &Reading,
) -> Result<bp::Jit, Vec<Diagnostic>> {
    let (program, found) = bp::of_tree(tree, &source.text, &reading.options(), &Patience::default());
    program.filter(|_| !found.iter().any(Diagnostic::is_error)).ok_or(found)
}

fn read_patiently(
    source: Source,
    format: Format,
    reading: &Reading,
    patience: &Patience,
) -> Result<Loaded, Rejected> {
    let source = Arc::new(source);
    let text = source.text.as_str();
    let (input, diagnostics) = match format {
        Format::Bp => {
            let (program, found) = bp::read_within(text, &reading.options(), patience);
            (program.map(|p| Input::Program(Arc::new(p))), found)
        }
        Format::Tts => system(tts::read_within(text, patience)),
        Format::Ntts => system(ntts::read_within(text, patience)),
        Format::Spec => {
            let Reading { init_free, goals, vocabulary, .. } = *reading;
            counted(spec::read_within(text, spec::Options { init_free, goals, vocabulary }, patience))
        }
        Format::Pnml => counted(pnml::read_within(text, patience)),
        Format::C | Format::Rust | Format::Llvm => {
            let (what, feature) = match format {
                Format::C => ("C", "c"),
                Format::Rust => ("Rust", "rust"),
                _ => ("LLVM IR", "llvm"),
            };
            let message = format!(
                "this is {what}, which is not read here: the crate `throng` reads it, with its feature `{feature}`"
            );
            (None, vec![Diagnostic::whole("E703", message)])
        }
    };
    match input {
        Some(input) if !diagnostics.iter().any(Diagnostic::is_error) => {
            Ok(Loaded { source, format, input, warnings: diagnostics })
        }
        _ => Err(Rejected { source, diagnostics }),
    }
}

fn system((system, found): (Option<System>, Vec<Diagnostic>)) -> (Option<Input>, Vec<Diagnostic>) {
    (system.map(Input::System), found)
}

/// Checks the counts of a net; systems list their threads one by one, so that no file has too many.
fn counted((net, mut found): (Option<System>, Vec<Diagnostic>)) -> (Option<Input>, Vec<Diagnostic>) {
    found.extend(net.as_ref().and_then(uncountable));
    system((net, found))
}

/// Returns an error about the first part of a system that has too many threads to count.
fn uncountable(system: &System) -> Option<Diagnostic> {
    let table = &*system.table;
    let takes_or_puts =
        |step: &&Step| step.take.finite().max(step.put.finite() + step.spawn.finite()) >= UNCOUNTABLE.into();
    let what = if let Some(step) = table.steps().iter().find(takes_or_puts) {
        let place = table.edge_place(step.edge);
        format!("line {}: `{}` takes or puts", place.line, shortened(&place.text))
    } else if system.initial.iter().any(|family| !family.threads.is_countable()) {
        "the initial configuration has".into()
    } else if let Some(target) =
        system.targets.iter().find(|t| t.configs.iter().any(|c| !c.threads.is_countable()))
    {
        format!("the target `{}` asks for", shortened(&target.name))
    } else {
        return None;
    };
    let message = format!("{what} {UNCOUNTABLE} tokens or more: too many to count");
    Some(Diagnostic::whole("E707", message))
}

/// Returns the format given by `reading`, or else by the extension.
pub fn format_of(path: &Path, reading: &Reading) -> Result<Format, Rejected> {
    if let Some(format) = reading.from {
        return Ok(format);
    }
    let from = reading.vocabulary.from;
    let name = path.display().to_string();
    if is_stdin(path) {
        let message = "standard input has no extension that names its format";
        let why = Diagnostic::whole("E703", message)
            .hint(format!("add `{from} KIND`, KIND being one of {}", Format::NAMES.join(", ")));
        return Err(Rejected::new("<stdin>", why));
    }
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    extension.parse().map_err(|_| {
        let looked = match (std::fs::metadata(path), extension) {
            (Err(why), _) => unreadable(&why),
            (Ok(meta), _) if meta.is_dir() => directory(),
            (Ok(_), "") => Diagnostic::whole("E703", "this file has no extension that names its format"),
            (Ok(_), extension) => {
                Diagnostic::whole("E703", format!("`.{extension}` is not an extension I know"))
            }
        };
        let hint = match extension {
            "cpp" | "cc" | "cxx" | "hpp" => {
                format!("C++ is not read; a file that is C as well can be read with `{from} c`")
            }
            "h" => format!("name the files that include a header; `{from} c` reads it by itself"),
            _ => {
                let known = Format::NAMES.map(|n| format!(".{n}")).join(" ");
                format!("known are {known}; `{from} KIND` says what a file is")
            }
        };
        Rejected::new(&name, if looked.code == "E703" { looked.hint(hint) } else { looked })
    })
}

/// Reads a text file, lossily: comments may contain bytes that are not UTF-8.
pub fn read_source(path: &Path) -> Result<Source, Rejected> {
    let name = if is_stdin(path) { "<stdin>".into() } else { path.display().to_string() };
    let bytes = read_bytes(path).map_err(|why| Rejected::new(&name, why))?;
    decode(name, bytes)
}

/// Decodes the bytes of a file, unless they are not text.
pub fn decode(name: impl Into<String>, bytes: Vec<u8>) -> Result<Source, Rejected> {
    let name = name.into();
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Rejected::new(&name, Diagnostic::whole("E704", "this file is empty")));
    }
    if looks_binary(&bytes) {
        let why = Diagnostic::whole("E706", "this looks like a binary file, not like text");
        return Err(Rejected::new(&name, why));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(why) => String::from_utf8_lossy(why.as_bytes()).into_owned(),
    };
    Ok(Source::new(name, text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text)))
}

/// Returns whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    let read = if is_stdin(path) {
        io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes)
    } else {
        if path.is_dir() {
            return Err(directory());
        }
        File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(why) => Err(unreadable(&why)),
        Ok(length) if length as u64 > LARGEST => {
            Err(Diagnostic::whole("E705", format!("this file is larger than {} MiB", LARGEST >> 20)))
        }
        Ok(_) => Ok(bytes),
    }
}

fn directory() -> Diagnostic {
    Diagnostic::whole("E702", "this is a directory").hint("name a file in it")
}

fn unreadable(why: &io::Error) -> Diagnostic {
    match why.kind() {
        io::ErrorKind::NotFound => Diagnostic::whole("E701", "there is no such file"),
        io::ErrorKind::PermissionDenied => Diagnostic::whole("E701", "you are not allowed to read this file"),
        _ => Diagnostic::whole("E701", format!("this file cannot be read: {why}")),
    }
}

/// Returns whether the start of a file has more control characters than any text.
fn looks_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 16)];
    let odd = |b: &&u8| matches!(b, 0..=8 | 14..=31 | 127);
    head.iter().filter(odd).count() * 20 > head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_extension() {
        for (path, format) in [
            ("a.bp", Format::Bp),
            ("a.nbp", Format::Bp),
            ("x/y.TTS", Format::Tts),
            ("a.b.ttd", Format::Tts),
            ("a.ntts", Format::Ntts),
            ("a.spec", Format::Spec),
            ("a.pnml", Format::Pnml),
        ] {
            assert_eq!(format_of(Path::new(path), &Reading::default()).ok(), Some(format), "{path}");
        }
        let spec = Reading { from: Some(Format::Spec), ..Reading::default() };
        assert_eq!(format_of(Path::new("-"), &spec).ok(), Some(Format::Spec));
        let code =
            |path: &str| format_of(Path::new(path), &Reading::default()).unwrap_err().diagnostics[0].code;
        assert_eq!(code("-"), "E703");
        assert_eq!(code("no/such/file.xyz"), "E701");
        assert_eq!(code("."), "E702");
        assert_eq!(code("Cargo.toml"), "E703");
    }

    #[test]
    fn files_that_are_nearly_c_are_answered_by_what_can_be_done() {
        for (extension, done) in [("cpp", "C++ is not read"), ("h", "name the files that include a header")] {
            let path = std::env::temp_dir().join(format!("throng-load-{}.{extension}", std::process::id()));
            std::fs::write(&path, "int x;\n").expect("a file can be written");
            let why = format_of(&path, &Reading::default()).expect_err("no known extension");
            let hint = why.diagnostics[0].hint.clone().unwrap_or_default();
            assert!(hint.contains(done), "{hint}");
            std::fs::remove_file(&path).expect("the file is there");
        }
    }

    #[test]
    fn binary_files_are_recognised_and_comments_may_hold_anything() {
        assert!(looks_binary(&[0, 1, 2, 3, 250, 17]));
        assert!(!looks_binary("// naïve\nskip;".as_bytes()));
        assert!(!looks_binary(b"// \xff\xfe latin\ndecl x;\n"));
    }
}
