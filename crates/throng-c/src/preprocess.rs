//! From a file to text that the parser reads: the preprocessor, a pass over the tokens for what the
//! parser does not know, and the way back from a position in that text to the user's file and line.

mod marks;
mod rewrite;

use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use throng_lang::mutant::{self, Edit};
use throng_lang::source::{Diagnostic, Source, Span};

use throng_goto::question::Question;

pub use marks::Mark;

/// How to read C.
#[derive(Clone, Debug)]
pub struct Options {
    /// `-D NAME` or `-D NAME=VALUE`.
    pub defines: Vec<String>,
    /// `-I DIR`
    pub includes: Vec<PathBuf>,
    /// Further source files of the same program.
    pub more: Vec<PathBuf>,
    /// What is asked, and how threads start.
    pub question: Question,
    /// How long the preprocessor may take.
    pub timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            defines: Vec::new(),
            includes: Vec::new(),
            more: Vec::new(),
            question: Question::default(),
            timeout: Duration::from_secs(20),
        }
    }
}

/// Returns whether a file is C that was preprocessed already.
pub fn is_preprocessed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("i"))
}

/// Runs the preprocessor on a file, or on a `text` that stands for it; its messages are part of the
/// error as they are.
pub fn preprocess(path: &Path, text: Option<&Source>, options: &Options) -> Result<Vec<u8>, Diagnostic> {
    let compiler = std::env::var("CC").ok().filter(|c| !c.trim().is_empty()).unwrap_or_else(|| "cc".into());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words).arg("-E");
    let stubs = if options.question.ilp32 { Some(Stubs::new()?) } else { None };
    if let Some(stubs) = &stubs {
        command.arg("-m32");
        for folder in [Path::new("/usr/include/x86_64-linux-gnu"), &stubs.0] {
            command.arg("-idirafter").arg(folder);
        }
    }
    command.args(options.defines.iter().map(|d| format!("-D{d}")));
    for dir in &options.includes {
        command.arg("-I").arg(dir);
    }
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
            Ok(None) if begun.elapsed() < options.timeout => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                _ = child.kill();
                _ = child.wait();
                let message = format!("`{compiler} -E` took longer than {:?}", options.timeout);
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

/// A folder with a header that the C library asks for where programs of 32 bits are compiled, and
/// that is installed only with such a library. It is looked for last.
struct Stubs(PathBuf);

impl Stubs {
    fn new() -> Result<Stubs, Diagnostic> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("throng-headers-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(folder.join("gnu"))?;
            std::fs::write(folder.join("gnu/stubs-32.h"), "")
        };
        match write() {
            Ok(()) => Ok(Stubs(folder)),
            Err(why) => Err(Diagnostic::whole("E801", format!("{}: {why}", folder.display()))),
        }
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Text for the parser, with the way back to where it came from.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// For the parser.
    pub text: String,
    /// (offset in `text`, offset in the raw text), sorted: from there on both advance together.
    back: Vec<(usize, usize)>,
    raw: String,
    /// (offset in the raw text of the line after a line marker, its number, file)
    markers: Vec<(usize, usize, usize)>,
    files: Vec<String>,
    /// The user's file.
    pub user: Source,
    user_lines: Vec<usize>,
    /// The passages of `text` that are translation units, each with the name of its file.
    pub units: Vec<(Range<usize>, String)>,
    /// Constructs with an effect that the parser does not see, by offset.
    marks: Vec<Mark>,
    /// From which offset on `#pragma pack` holds, or does not.
    packed: Vec<(usize, bool)>,
    pack_stack: Vec<bool>,
}

/// A translation unit after the preprocessor.
pub struct Unit {
    /// The file it is from.
    pub file: String,
    /// Its text.
    pub raw: String,
}

/// The deepest nesting of brackets.
const DEEPEST: usize = 200;

/// Types that compilers know without a declaration.
pub(crate) const PRELUDE: &str = "typedef struct __throng_auto __auto_type; ";

/// What a `?:` without a middle gets as one.
pub const SAME: &str = "__throng_same";

impl Prepared {
    /// Reads line markers and rewrites what the parser does not know.
    pub fn new(sources: Vec<Unit>, user: Source) -> Result<Prepared, Diagnostic> {
        let raw: String = sources.iter().map(|s| s.raw.as_str()).collect();
        let mut user_lines = vec![0];
        user_lines.extend(user.text.bytes().enumerate().filter(|b| b.1 == b'\n').map(|b| b.0 + 1));
        let mut p = Prepared {
            text: String::with_capacity(raw.len() + 64),
            back: Vec::new(),
            markers: Vec::new(),
            files: Vec::new(),
            user,
            user_lines,
            raw: String::new(),
            units: Vec::new(),
            marks: Vec::new(),
            packed: Vec::new(),
            pack_stack: Vec::new(),
        };
        p.markers(&raw);
        let mut from = 0;
        for source in sources {
            let (to, start) = (from + source.raw.len(), p.text.len());
            p.packed.push((start, false));
            p.rewrite(&raw, from..to)?;
            p.units.push((start..p.text.len(), source.file));
            from = to;
        }
        p.raw = raw;
        Ok(p)
    }

    /// Returns the same with passages of the text replaced, which are in order and do not overlap;
    /// positions lead back as before.
    pub fn edited(&self, edits: &[Edit]) -> Prepared {
        let mut edited =
            Prepared { text: mutant::apply(&self.text, edits), back: Vec::new(), ..self.clone() };
        let (mut entries, mut shift) = (self.back.iter().peekable(), 0isize);
        for e in edits {
            while let Some(&(at, raw)) = entries.next_if(|b| b.0 <= e.from) {
                edited.back.push((at.saturating_add_signed(shift), raw));
            }
            // Whatever is inside comes from where the passage began.
            let (start, raw) = (e.from.saturating_add_signed(shift), self.raw_offset(e.from));
            edited.back.extend((start..start + e.with.len().max(1)).map(|at| (at, raw)));
            // What follows comes from where the passage ended, or later.
            while entries.next_if(|b| b.0 <= e.to).is_some() {}
            shift += e.with.len() as isize - (e.to - e.from) as isize;
            edited.back.push((e.to.saturating_add_signed(shift), self.raw_offset(e.to)));
        }
        edited.back.extend(entries.map(|&(at, raw)| (at.saturating_add_signed(shift), raw)));
        let moved = |at: usize| moved(edits, at);
        for (range, _) in &mut edited.units {
            *range = moved(range.start)..moved(range.end);
        }
        edited.marks.iter_mut().for_each(|m| m.at = moved(m.at));
        edited.packed.iter_mut().for_each(|p| p.0 = moved(p.0));
        edited
    }

    fn markers(&mut self, raw: &str) {
        let mut offset = 0;
        for line in raw.split_inclusive('\n') {
            offset += line.len();
            let Some(rest) = line.strip_prefix('#') else { continue };
            let rest = rest.trim_start().strip_prefix("line").unwrap_or(rest).trim_start();
            let Some((number, rest)) = rest.split_once(' ') else { continue };
            let (Ok(number), Some(file)) = (number.parse(), rest.trim_start().strip_prefix('"')) else {
                continue;
            };
            let file = file.split('"').next().unwrap_or_default();
            let index = self.files.iter().position(|f| f == file).unwrap_or_else(|| {
                self.files.push(file.to_string());
                self.files.len() - 1
            });
            self.markers.push((offset, number, index));
        }
    }

    fn emit(&mut self, raw_at: usize, text: &str) {
        self.back.push((self.text.len(), raw_at));
        self.text.push_str(text);
    }

    /// Returns where a byte of `text` was in the raw text.
    fn raw_offset(&self, at: usize) -> usize {
        let i = self.back.partition_point(|b| b.0 <= at).saturating_sub(1);
        self.back.get(i).map_or(0, |b| b.1 + (at - b.0.min(at)))
    }

    /// Returns the file, line and (in raw text) column offset of a byte of the raw text.
    fn line_of(&self, raw: &str, at: usize) -> (Option<usize>, usize, usize) {
        let at = at.min(raw.len());
        let i = self.markers.partition_point(|m| m.0 <= at);
        let (from, number, file) = match i.checked_sub(1).map(|i| self.markers[i]) {
            Some((from, number, file)) => (from, number, Some(file)),
            None => (0, 1, None),
        };
        let start = raw.as_bytes()[..at].iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1).max(from);
        let lines = raw.as_bytes()[from.min(start)..start].iter().filter(|&&b| b == b'\n').count();
        (file, number + lines, start)
    }

    /// Returns whether a file named in a line marker is the user's.
    fn is_user(&self, file: Option<usize>) -> bool {
        let Some(file) = file else { return true };
        let name = self.files[file].trim_start_matches("./");
        let user = self.user.name.trim_start_matches("./");
        name == user
    }

    /// Returns the passage in the user's file; `Err` names the place in another one.
    fn span(&self, raw: &str, start: usize, end: usize) -> Result<Span, String> {
        let (file, line, line_start) = self.line_of(raw, start);
        if !self.is_user(file) {
            return match self.user.text == raw {
                true => Ok(Span::new(start, end)),
                false => Err(format!("{}:{line}", file.map_or("", |f| &self.files[f]))),
            };
        }
        if self.user.text == raw {
            return Ok(Span::new(start, end));
        }
        let from = self.user_lines.get(line - 1).copied().unwrap_or(self.user.text.len());
        let until = self.user.text[from..].find('\n').map_or(self.user.text.len(), |n| from + n);
        let own = &self.user.text[from..until];
        let raw_end = raw[line_start..].find('\n').map_or(raw.len(), |n| line_start + n);
        if raw[line_start..raw_end].trim_end() == own.trim_end() {
            let column = start - line_start;
            return Ok(Span::new(from + column, (from + column + end.saturating_sub(start)).min(until)));
        }
        // A macro was expanded: the whole line.
        let indent = own.len() - own.trim_start().len();
        Ok(Span::new(from + indent, from + own.trim_end().len().max(indent)))
    }

    /// An error about a passage of `text`.
    pub fn error(
        &self,
        code: &'static str,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> Diagnostic {
        let (from, to) = (self.raw_offset(start), self.raw_offset(end.max(start)));
        whole_or_at(code, self.span(&self.raw, from, to), message)
    }

    /// Returns the line, column and text of a passage, and the file if it is not the user's.
    pub fn origin(&self, start: usize, end: usize) -> (Option<String>, u32, u32, String) {
        let (from, to) = (self.raw_offset(start), self.raw_offset(end.max(start)));
        let (file, line, line_start) = self.line_of(&self.raw, from);
        let text_of = |text: &str, at: usize| -> String {
            let end = text[at..].find('\n').map_or(text.len(), |n| at + n);
            text[at..end].trim().to_string()
        };
        match self.span(&self.raw, from, to) {
            Ok(span) if self.is_user(file) && !self.user_lines.is_empty() => {
                let at = self.user_lines.get(line - 1).copied().unwrap_or(0);
                let raw_same = self.user.text == self.raw;
                if raw_same {
                    return (None, line as u32, 0, text_of(&self.raw, line_start));
                }
                let column = (span.start as usize).saturating_sub(at) as u32 + 1;
                (None, line as u32, column, text_of(&self.user.text, at.min(self.user.text.len())))
            }
            _ => (file.map(|f| self.files[f].clone()), line as u32, 0, text_of(&self.raw, line_start)),
        }
    }
}

/// Returns where an offset of a text is after edits; inside an edit, at its end.
fn moved(edits: &[Edit], at: usize) -> usize {
    let before = edits.iter().filter(|e| e.from < at);
    let shift = |e: &Edit| e.with.len() as isize - (e.to - e.from) as isize;
    let inside = edits.iter().find(|e| e.from < at && at < e.to).map_or(0, |e| e.to - at);
    (at + inside).saturating_add_signed(before.map(shift).sum())
}

/// Returns the bracket that a digraph stands for.
fn digraph(bytes: &[u8]) -> Option<&'static str> {
    match bytes.get(..2)? {
        b"<:" => Some("["),
        b":>" => Some("]"),
        b"<%" => Some("{"),
        b"%>" => Some("}"),
        _ => None,
    }
}

/// What the parser reads in place of a word.
fn listed(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|row| row.0 == word).map(|row| row.1)
}

/// Returns whether a token before `asm` is a name, so that a name in assembly follows and no
/// statement.
fn is_operand(last: &str) -> bool {
    last.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !matches!(last, "else" | "do")
}

fn whole_or_at(code: &'static str, span: Result<Span, String>, message: impl Into<String>) -> Diagnostic {
    match span {
        Ok(span) => Diagnostic::error(code, span, message),
        Err(place) => Diagnostic::whole(code, format!("{place}: {}", message.into())),
    }
}

/// Returns one past the closing bracket of the bracket that comes next.
fn balanced(text: &str, from: usize) -> usize {
    let mut depth = 0usize;
    let (mut quoted, mut escaped) = (None, false);
    for (i, b) in text.bytes().enumerate().skip(from) {
        match (quoted, b) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(q), b) if b == q => quoted = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quoted = Some(b),
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return i + 1;
                }
            }
            (None, b) if depth == 0 && !b.is_ascii_whitespace() => return i,
            _ => {}
        }
    }
    text.len()
}

/// Returns whether a word before a bracket outside functions is anything but the name of a
/// function.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "_Static_assert"
            | "asm"
            | "__asm__"
            | "__asm"
            | "typeof"
            | "__typeof__"
            | "__typeof"
            | "_Alignas"
            | "_Atomic"
            | "__extension__"
    )
}

/// Returns whether a word before a colon at the start of a statement is a label that may get an
/// empty statement. (`__CPROVER_ASYNC_1:` says something about the statement that follows.)
fn is_label(word: &str) -> bool {
    let identifier = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let keyword = matches!(
        word,
        "default" | "case" | "unsigned" | "int" | "signed" | "long" | "short" | "char" | "_Bool"
    );
    identifier && !keyword && !word.starts_with(crate::library::special::ASYNC_LABEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(raw: &str) -> Vec<Unit> {
        vec![Unit { file: "a.c".into(), raw: raw.into() }]
    }

    #[test]
    fn positions_lead_back_to_the_line_in_the_users_file() {
        let user = Source::new("a.c", "#define X 1\n__thread int y;\nint z = X + $;\n");
        let raw = "# 1 \"h.h\" 1\nint h;\n# 2 \"a.c\"\n__thread int y;\nint z = 1 + $;\n";
        let p = Prepared::new(one(raw), user).unwrap();
        assert!(p.text.contains("_Thread_local int y;"), "{}", p.text);
        let at = |word: &str| p.text.find(word).unwrap();
        assert_eq!(p.origin(at("y;"), at("y;") + 1), (None, 2, 14, "__thread int y;".into()));
        assert_eq!(p.origin(at("z ="), at("z =") + 1).1, 3);
        assert_eq!(p.origin(at("h;"), at("h;") + 1).0.as_deref(), Some("h.h"));
        let d = p.error("E802", at("$"), at("$") + 1, "unexpected");
        assert_eq!(d.span.map(|s| &p.user.text[s.range()]), Some("int z = X + $;"));
    }

    #[test]
    fn tokens_that_the_parser_does_not_know_are_rewritten() {
        let text = |raw: &str| Prepared::new(one(raw), Source::new("a.i", raw)).unwrap().text;
        assert!(text("int x = a ?: b;").contains("a ?__throng_same: b"));
        assert!(text("void f() { L: int x; }").contains("L:; int x"));
        assert!(!text("void f() { __CPROVER_ASYNC_1: g(); }").contains(":;"));
        assert!(text("int x; main(){}").contains("int main(){}"));
        assert!(!text("int f() /* no */ __attribute__((x(\")\"))); // c").contains("__attribute__"));
        assert!(Prepared::new(one(&"(".repeat(500)), Source::new("a.i", "")).is_err());
    }
}
