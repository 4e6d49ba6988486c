//! Running the C compiler's preprocessor: what it is told, and the text it makes.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use throng_lang::source::{Diagnostic, Source};

use throng_goto::question::Question;

use super::headers::Headers;
use crate::flags::Flags;
use crate::library::Library;

/// How to read C.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the file is compiled.
    pub flags: Flags,
    /// Further source files of the same program.
    pub more: Vec<SourceFile>,
    /// What is known about functions without a body.
    pub library: Arc<Library>,
    /// What is asked, and how threads start.
    pub question: Question,
    /// How long the preprocessor may take for a file.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            flags: Flags::default(),
            more: Vec::new(),
            library: Arc::default(),
            question: Question::default(),
            timeout: Duration::from_secs(20),
        }
    }
}

/// A file of a program, and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is compiled.
    pub flags: Flags,
}

/// Returns whether a file is C that was preprocessed already.
pub fn is_preprocessed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("i"))
}

/// Runs the preprocessor on a file, or on a `text` that stands for it; its messages are part of the
/// error as they are.
pub(crate) fn preprocess(
    file: &SourceFile,
    text: Option<&Source>,
    timeout: Duration,
) -> Result<Vec<u8>, Diagnostic> {
    let SourceFile { path, flags } = file;
    let compiler = std::env::var("CC").ok().filter(|c| !c.trim().is_empty()).unwrap_or_else(|| "cc".into());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words).arg("-E");
    if flags.is_ilp32() {
        command.args(["-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"]);
    }
    command.args(flags.arguments());
    let headers = Headers::new(flags.is_ilp32())?;
    command.arg("-idirafter").arg(&headers.0);
    // A name that begins with a dash would be an option.
    let name = if path.is_absolute() { path.to_path_buf() } else { Path::new(".").join(path) };
    match text {
        // Whatever the name ends in: a compiler takes other endings for other languages, or for
        // files of the linker, of which it would leave nothing.
        None => command.args(["-x", "c"]).arg(&name).stdin(Stdio::null()),
        Some(_) => {
            let folder = name.parent().unwrap_or(Path::new("."));
            command.arg("-iquote").arg(folder).args(["-x", "c", "-"]).stdin(Stdio::piped())
        }
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|why| {
        Diagnostic::whole("E801", format!("the C preprocessor `{compiler} -E` cannot be started: {why}"))
            .hint("install a C compiler, name one in `CC`, or give a preprocessed `.i` file")
    })?;
    if let (Some(text), Some(mut pipe)) = (text, child.stdin.take()) {
        let quoted = text.name.replace('\\', "\\\\").replace('"', "\\\"");
        let text = format!("# 1 \"{quoted}\"\n{}", text.text);
        // A preprocessor that fails does not read all of it, and says why.
        std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    }
    let reader = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(pipe) = pipe {
                _ = pipe.take(256 << 20).read_to_end(&mut bytes);
            }
            bytes
        })
    };
    let out = reader(child.stdout.take().map(|p| Box::new(p) as _));
    let err = reader(child.stderr.take().map(|p| Box::new(p) as _));
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < timeout => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                _ = child.kill();
                _ = child.wait();
                let message = format!("`{compiler} -E` took longer than {:?}", timeout);
                return Err(Diagnostic::whole("E801", message));
            }
        }
    };
    let text = out.join().unwrap_or_default();
    if !status.success() {
        let said = String::from_utf8_lossy(&err.join().unwrap_or_default()).trim_end().to_string();
        return Err(Diagnostic::whole("E801", format!("`{compiler} -E` failed:\n{said}")));
    }
    Ok(text)
}
