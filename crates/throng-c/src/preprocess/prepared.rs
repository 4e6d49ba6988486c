//! The text of all translation units, and the way back from a position in it to the user's file and
//! line.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use throng_lang::mutant::{self, Edit};
use throng_lang::source::{Diagnostic, Source, Span};

/// A translation unit after the preprocessor.
#[derive(Default)]
pub struct Unit {
    /// The file it is from.
    pub file: String,
    /// Its text.
    pub raw: String,
    /// The files that lines of it are from, as they are written: names and texts. Those of the
    /// system need not be there.
    pub written: Vec<(String, String)>,
    /// Files that were read with it: headers, and files of flags.
    pub beside: Vec<PathBuf>,
}

impl Unit {
    /// Reads the files that the line markers of a text name, apart from those of the system.
    pub fn preprocessed(file: String, raw: String) -> Unit {
        let (mut names, mut beside): (Vec<&str>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
        for line in raw.lines().filter(|l| l.starts_with('#')) {
            let system = line.rsplit_once('"').is_some_and(|(_, flags)| flags.contains('3'));
            let marked = marker(line);
            beside.extend(marked.map(|(_, name)| name).filter(|name| !name.starts_with('<')));
            match marked {
                Some((_, name)) if !system && !names.contains(&name) => names.push(name),
                _ => {}
            }
        }
        let text = |name: &str| Some((name.to_string(), std::fs::read_to_string(name).ok()?));
        let written = names.into_iter().filter_map(text).collect();
        let beside = beside.into_iter().map(PathBuf::from).collect();
        Unit { file, raw, written, beside }
    }
}

/// The text for the parser, with the way back to where it came from.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// For the parser.
    pub text: Arc<str>,
    /// The user's file.
    pub user: Arc<Source>,
    /// The passages of `text` that are translation units, each with the name of its file.
    pub units: Vec<(Range<usize>, String)>,
    /// Files that were read with them: headers, and files of flags.
    pub beside: Arc<[PathBuf]>,
    lines: Arc<Lines>,
    /// Where the passages of a changed text come from, in order; empty if it is not changed.
    passages: Vec<Passage>,
}

/// The lines of the text as the preprocessor left it.
#[derive(Debug)]
struct Lines {
    text: Arc<str>,
    /// All lines, in order.
    lines: Vec<Line>,
    /// The files that are named in line markers.
    files: Vec<File>,
    /// Where the lines of the user's file begin.
    user_lines: Vec<usize>,
    /// Whether the text is the user's file as it is.
    is_user: bool,
}

/// A file that is named in line markers.
#[derive(Debug)]
struct File {
    name: String,
    is_user: bool,
    /// Its lines as they are written, if they are known.
    lines: Vec<String>,
}

/// A line of the text: where it begins, and its number in its file. Before the first line marker
/// there is no file, and the text is the user's.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    number: usize,
    file: Option<usize>,
}

/// A passage of a changed text.
#[derive(Clone, Copy, Debug)]
struct Passage {
    start: usize,
    /// Where it comes from.
    from: usize,
    /// Whether it was copied byte by byte; else all of it stands for the place it comes from.
    copied: bool,
}

impl Prepared {
    /// Reads the line markers of translation units.
    pub fn new(sources: Vec<Unit>, user: Source) -> Prepared {
        let text: Arc<str> = sources.iter().map(|s| s.raw.as_str()).collect::<String>().into();
        let (mut units, mut written, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        let mut from = 0;
        for source in sources {
            let to = from + source.raw.len();
            units.push((from..to, source.file));
            written.extend(source.written);
            beside.extend(source.beside);
            from = to;
        }
        let lines = Arc::new(Lines::new(text.clone(), &user, &written));
        Prepared { text, user: Arc::new(user), units, beside: beside.into(), lines, passages: Vec::new() }
    }

    /// Returns the same with passages of the text replaced, which are in order and do not overlap;
    /// positions lead back as before.
    pub fn edited(&self, edits: &[Edit]) -> Prepared {
        let mut passages = Vec::new();
        let (mut at, mut shift) = (0, 0isize);
        for e in edits {
            self.copied(at..e.from, shift, &mut passages);
            let start = e.from.saturating_add_signed(shift);
            passages.push(Passage { start, from: self.original(e.from), copied: false });
            shift += e.with.len() as isize - (e.to - e.from) as isize;
            at = e.to;
        }
        self.copied(at..self.text.len(), shift, &mut passages);
        let moved = |range: &Range<usize>| moved(edits, range.start)..moved(edits, range.end);
        Prepared {
            text: mutant::apply(&self.text, edits).into(),
            units: self.units.iter().map(|(range, file)| (moved(range), file.clone())).collect(),
            passages,
            ..self.clone()
        }
    }

    /// Appends a passage of this text to those of a changed one, in which it is so much later.
    fn copied(&self, range: Range<usize>, shift: isize, to: &mut Vec<Passage>) {
        let first = self.passages.partition_point(|p| p.start <= range.start);
        let begun = first.checked_sub(1).is_none_or(|i| self.passages[i].copied);
        let head = Passage { start: range.start, from: self.original(range.start), copied: begun };
        let rest = self.passages[first..].iter().take_while(|p| p.start < range.end);
        let shifted = |p: &Passage| Passage { start: p.start.saturating_add_signed(shift), ..*p };
        to.extend(std::iter::once(&head).chain(rest).map(shifted));
    }

    /// Returns where a byte of the text was before the text was changed.
    fn original(&self, at: usize) -> usize {
        let i = self.passages.partition_point(|p| p.start <= at);
        match i.checked_sub(1).map(|i| self.passages[i]) {
            Some(p) if p.copied => p.from + (at - p.start),
            Some(p) => p.from,
            None => at,
        }
    }

    /// Returns an error about a passage of the text.
    pub fn error(
        &self,
        code: &'static str,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> Diagnostic {
        match self.lines.span(&self.user, self.original(start), self.original(end.max(start))) {
            Ok(span) => Diagnostic::error(code, span, message),
            Err(place) => Diagnostic::whole(code, format!("{place}: {}", message.into())),
        }
    }

    /// Returns the line, column and text of a passage, and the file if it is not the user's.
    pub fn origin(&self, start: usize, end: usize) -> (Option<String>, u32, u32, String) {
        let (from, to) = (self.original(start), self.original(end.max(start)));
        self.lines.origin(&self.user, from, to)
    }

    /// Returns the file that a byte of the text is from, if it is not the user's.
    pub fn other_file(&self, at: usize) -> Option<&str> {
        let file = self.lines.files.get(self.lines.at(self.original(at)).file?)?;
        (!file.is_user).then_some(file.name.as_str())
    }
}

impl Lines {
    fn new(text: Arc<str>, user: &Source, written: &[(String, String)]) -> Lines {
        let mut user_lines = vec![0];
        user_lines.extend(user.text.bytes().enumerate().filter(|b| b.1 == b'\n').map(|b| b.0 + 1));
        let is_user = *text == *user.text;
        let mut lines =
            Lines { text: text.clone(), lines: Vec::new(), files: Vec::new(), user_lines, is_user };
        let (mut start, mut number, mut file) = (0, 1, None);
        for line in text.split_inclusive('\n') {
            lines.lines.push(Line { start, number, file });
            start += line.len();
            number += 1;
            if let Some((marked, name)) = marker(line) {
                (number, file) = (marked, Some(lines.file(name, &user.name, written)));
            }
        }
        lines
    }

    /// Returns the number of a file that a line marker names.
    fn file(&mut self, name: &str, user: &str, written: &[(String, String)]) -> usize {
        let shown = name.trim_start_matches("./");
        // Markers go back and forth between few files, most often to one of the last.
        let known = self.files.iter().rposition(|f| f.name == shown);
        known.unwrap_or_else(|| {
            let is_user = shown == user.trim_start_matches("./");
            let text = written.iter().find(|w| w.0 == name).map_or("", |w| &w.1);
            let lines = text.lines().map(|l| l.trim().to_string()).collect();
            self.files.push(File { name: shown.to_string(), is_user, lines });
            self.files.len() - 1
        })
    }

    /// Returns the line that a byte is in.
    fn at(&self, at: usize) -> Line {
        let i = self.lines.partition_point(|l| l.start <= at).saturating_sub(1);
        self.lines.get(i).copied().unwrap_or(Line { start: 0, number: 1, file: None })
    }

    /// Returns whether a file named in a line marker is the user's.
    fn is_users(&self, line: &Line) -> bool {
        line.file.is_none_or(|f| self.files[f].is_user)
    }

    /// Returns the passage in the user's file; `Err` names the place in another one.
    fn span(&self, user: &Source, start: usize, end: usize) -> Result<Span, String> {
        let line = self.at(start);
        if self.is_user {
            return Ok(Span::new(start, end));
        }
        if !self.is_users(&line) {
            let name = line.file.map_or("", |f| &self.files[f].name);
            return Err(format!("{name}:{}", line.number));
        }
        let from = self.user_line(user, &line);
        let own = first_line(&user.text, from);
        let until = from + own.len();
        if first_line(&self.text, line.start).trim_end() == own.trim_end() {
            let column = start - line.start;
            return Ok(Span::new(from + column, (from + column + end.saturating_sub(start)).min(until)));
        }
        // A macro was expanded: the whole line.
        let indent = own.len() - own.trim_start().len();
        Ok(Span::new(from + indent, from + own.trim_end().len().max(indent)))
    }

    /// Returns where a line begins in the user's file.
    fn user_line(&self, user: &Source, line: &Line) -> usize {
        let start = line.number.checked_sub(1).and_then(|n| self.user_lines.get(n));
        start.copied().unwrap_or(user.text.len())
    }

    fn origin(&self, user: &Source, start: usize, end: usize) -> (Option<String>, u32, u32, String) {
        let line = self.at(start);
        let number = line.number as u32;
        let text_of = |text: &str, at: usize| first_line(text, at).trim().to_string();
        match self.span(user, start, end) {
            Ok(_) if self.is_user && self.is_users(&line) => {
                (None, number, 0, text_of(&self.text, line.start))
            }
            Ok(span) if self.is_users(&line) => {
                let at = self.user_line(user, &line);
                let column = (span.start as usize).saturating_sub(at) as u32 + 1;
                (None, number, column, text_of(&user.text, at))
            }
            _ => {
                let file = line.file.map(|f| &self.files[f]);
                // Where a macro was expanded, the text is not what is written there.
                let written = file.and_then(|f| f.lines.get(line.number.checked_sub(1)?).cloned());
                let shown = written.unwrap_or_else(|| text_of(&self.text, line.start));
                (file.map(|f| f.name.clone()), number, 0, shown)
            }
        }
    }
}

/// Returns a text from a position up to the end of the line.
fn first_line(text: &str, from: usize) -> &str {
    let rest = text.get(from..).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default()
}

/// Returns the number of the next line and the file that a line marker says.
fn marker(line: &str) -> Option<(usize, &str)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let file = rest.trim_start().strip_prefix('"')?;
    Some((number.parse().ok()?, file.split('"').next().unwrap_or_default()))
}

/// Returns where an offset of a text is after edits; inside an edit, at its end.
fn moved(edits: &[Edit], at: usize) -> usize {
    let before = edits.iter().filter(|e| e.from < at);
    let shift = |e: &Edit| e.with.len() as isize - (e.to - e.from) as isize;
    let inside = edits.iter().find(|e| e.from < at && at < e.to).map_or(0, |e| e.to - at);
    (at + inside).saturating_add_signed(before.map(shift).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(raw: &str) -> Vec<Unit> {
        vec![Unit { file: "a.c".into(), raw: raw.into(), ..Unit::default() }]
    }

    #[test]
    fn positions_lead_back_to_the_line_in_the_users_file() {
        let user = Source::new("a.c", "#define X 1\n__thread int y;\nint z = X + $;\n");
        let raw = "# 1 \"h.h\" 1\nint h;\n# 2 \"a.c\"\n__thread int y;\nint z = 1 + $;\n";
        let p = Prepared::new(one(raw), user);
        let at = |word: &str| p.text.find(word).unwrap();
        assert_eq!(p.origin(at("y;"), at("y;") + 1), (None, 2, 14, "__thread int y;".into()));
        assert_eq!(p.origin(at("z ="), at("z =") + 1).1, 3);
        assert_eq!(p.origin(at("h;"), at("h;") + 1).0.as_deref(), Some("h.h"));
        assert_eq!((p.other_file(at("h;")), p.other_file(at("z ="))), (Some("h.h"), None));
        let d = p.error("E802", at("$"), at("$") + 1, "unexpected");
        assert_eq!(d.span.map(|s| &p.user.text[s.range()]), Some("int z = X + $;"));
    }

    #[test]
    fn a_line_of_another_file_is_shown_as_it_is_written() {
        let raw = "# 1 \"./h.h\" 1\nint\n# 1 \"h.h\" 3\n(1)\n# 1 \"./h.h\"\n;\n# 1 \"a.c\"\nint x;\n";
        let written = vec![("./h.h".into(), "  int h = ONE;\n".to_string())];
        let unit = Unit { file: "a.c".into(), raw: raw.into(), written, ..Unit::default() };
        let p = Prepared::new(vec![unit], Source::new("a.c", "int x;\n"));
        let at = raw.find("(1)").unwrap();
        assert_eq!(p.origin(at, at + 3), (Some("h.h".into()), 1, 0, "int h = ONE;".into()));
    }

    #[test]
    fn a_text_without_markers_is_the_users() {
        let raw = "int x;\n\nint y;";
        let p = Prepared::new(one(raw), Source::new("a.i", raw));
        assert_eq!(p.origin(8, 9), (None, 3, 0, "int y;".into()));
        assert_eq!(p.origin(500, 900).1, 3);
    }

    #[test]
    fn positions_in_a_changed_text_lead_back_as_before() {
        let raw = "int a;\nint b;\nint c;\nint d;\n";
        let p = Prepared::new(one(raw), Source::new("a.i", raw));
        let edit = |from: usize, to: usize, with: &str| Edit { from, to, with: with.into() };
        let once = p.edited(&[edit(4, 5, "first\n"), edit(18, 19, "third")]);
        assert_eq!(&*once.text, "int first\n;\nint b;\nint third;\nint d;\n");
        assert_eq!(once.units[0].0, 0..once.text.len());
        let line = |p: &Prepared, word: &str| p.origin(p.text.find(word).unwrap(), 0).1;
        assert_eq!(["first", "b;", "third", ";\nint d", "int d"].map(|w| line(&once, w)), [1, 2, 3, 3, 4]);
        let at = once.text.find("b;").unwrap();
        let twice = once.edited(&[edit(at, at + 1, "\n\nsecond")]);
        assert_eq!(["irst", "second", ";\nint t", "int d"].map(|w| line(&twice, w)), [1, 2, 2, 4]);
    }
}
