//! The files that modules were compiled from, for people to read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use throng_lang::source::{Source, Span};

/// Maximum size of a file that is read to be shown.
const LONGEST: u64 = 4 << 20;

/// The texts of the files that modules were compiled from, as far as they are at hand.
#[derive(Debug, Default)]
pub struct Sources {
    texts: BTreeMap<String, String>,
    /// The file that messages are about, as the modules call it.
    main: Option<String>,
}

impl Sources {
    /// Reads the files that modules name. `written` is one that was read before.
    pub(crate) fn of(modules: &[Source], written: Option<&Source>) -> Sources {
        let mut sources = Sources::default();
        for name in modules.iter().flat_map(|m| files(&m.text)) {
            let is_written = written.is_some_and(|w| same_file(&w.name, &name));
            let text = match written.filter(|_| is_written) {
                Some(written) => Some(written.text.clone()),
                None => read(&name),
            };
            if is_written {
                sources.main = Some(name.clone());
            }
            if let Some(text) = text {
                sources.texts.insert(name, text);
            }
        }
        if sources.main.is_none() {
            sources.main =
                modules.iter().find_map(|m| root(&m.text)).filter(|f| sources.texts.contains_key(f));
        }
        sources
    }

    /// Returns the file that the first module was compiled from, if it is at hand.
    pub(crate) fn main(&self) -> Option<Source> {
        let name = self.main.as_ref()?;
        Some(Source::new(name.clone(), self.texts.get(name)?.clone()))
    }

    /// Returns the text of a file.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.texts.get(file).map(String::as_str)
    }

    /// Returns a line of a file, counted from 1, without blanks around it.
    pub(crate) fn line(&self, file: &str, line: u32) -> Option<&str> {
        let text = self.texts.get(file)?;
        text.lines().nth((line as usize).checked_sub(1)?).map(str::trim)
    }

    /// Returns whether messages are about this file.
    pub(crate) fn is_main(&self, file: &str) -> bool {
        self.main.as_deref() == Some(file)
    }
}

/// Returns whether two names are of one file.
fn same_file(a: &str, b: &str) -> bool {
    let plain = |name: &str| Path::new(name).canonicalize().ok();
    a == b || plain(a).is_some_and(|a| plain(b) == Some(a))
}

/// Returns the files of the user's that a module was compiled from, by their descriptions.
fn files(text: &str) -> Vec<String> {
    let described = text.lines().filter_map(|line| line.split_once("!DIFile(")).map(|(_, rest)| rest);
    let name = |rest: &str| {
        let field = |key: &str| rest.split_once(key)?.1.split('"').next();
        let (name, folder) = (field("filename: \"")?, field("directory: \"").unwrap_or_default());
        let joined = match name.starts_with('/') || folder.is_empty() {
            true => name.to_string(),
            false => format!("{}/{name}", folder.trim_end_matches('/')),
        };
        let is_text =
            ["rs", "c", "cc", "cpp", "cxx", "h", "hpp"].contains(&Path::new(&joined).extension()?.to_str()?);
        (is_text && !joined.starts_with("/rustc/")).then_some(joined)
    };
    let mut found: Vec<String> = described.filter_map(name).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the file that a module was compiled from, as its description says.
fn root(text: &str) -> Option<String> {
    let unit = text.split_once("!DICompileUnit(")?.1.split_once("file: !")?.1;
    let number: String = unit.chars().take_while(char::is_ascii_digit).collect();
    let file = text.split_once(&format!("\n!{number} = !DIFile(filename: \""))?.1.lines().next()?;
    let (name, rest) = file.split_once('"')?;
    // rustc adds the name of a part of the crate.
    let name = name.split("/@/").next().unwrap_or(name);
    let folder = rest.split_once("directory: \"").and_then(|(_, rest)| rest.split('"').next());
    Some(match folder {
        Some(folder) if !name.starts_with('/') && !folder.is_empty() => format!("{folder}/{name}"),
        _ => name.to_string(),
    })
}

/// Reads a file that people may want to see; `None` if it is not there, or not a file.
fn read(name: &str) -> Option<String> {
    let kind = fs::metadata(name).ok()?;
    (kind.is_file() && kind.len() <= LONGEST).then(|| fs::read_to_string(name).ok()).flatten()
}

/// Returns the passage at a line and a column of a text: up to the end of the line.
pub(crate) fn span(text: &str, line: u32, column: u32) -> Span {
    let mut start = 0;
    for (n, of) in text.split_inclusive('\n').enumerate() {
        if n as u32 + 1 == line {
            let line = of.trim_end();
            let indent = line.len() - line.trim_start().len();
            let skip = line.char_indices().nth((column as usize).saturating_sub(1)).map_or(0, |c| c.0);
            return Span::new(start + skip.max(indent), start + line.len());
        }
        start += of.len();
    }
    Span::new(text.len(), text.len())
}
