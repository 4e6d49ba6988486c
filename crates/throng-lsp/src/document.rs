//! An open text: its diagnostics and its names.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::asked::Asked;
use crate::entries::{entries, has_main};
use crate::names::{Kind, Names, Symbol};
use crate::position::Text;
use crate::verdict::{is_code, is_rust};
use throng::{Format, Input, Job, SourceDiagnostic};
use throng_lang::bp::ast::ASYNC;
use throng_lang::bp::lexer::{CONTEXTUAL, Lexer, Tok};
use throng_lang::bp::{self, parser};
use throng_lang::source::{Diagnostic, Severity, Span};

/// A text that is open in the editor.
#[derive(Debug)]
pub struct Document {
    /// Its address in the editor.
    pub uri: String,
    /// Its path, whether or not the file exists.
    pub path: PathBuf,
    /// The editor's version number of the text.
    pub version: i64,
    /// The text.
    pub text: Text,
    names: OnceLock<Names>,
}

impl Document {
    /// Creates a document for a text that was opened.
    pub fn new(uri: &str, version: i64, text: String) -> Document {
        let text = Text::new(text);
        Document { uri: uri.into(), path: path_of(uri), version, text, names: OnceLock::new() }
    }

    /// Applies edits; returns `false` if one of them is invalid.
    pub fn change(&mut self, version: i64, changes: &[Value]) -> bool {
        self.version = version;
        self.names = OnceLock::new();
        changes.iter().all(|change| self.text.change(change).is_some())
    }

    /// Returns its format; `None` if that is unknown.
    pub fn format(&self) -> Option<Format> {
        format(&self.path)
    }

    fn is_program(&self) -> bool {
        self.format() == Some(Format::Bp)
    }

    /// Returns its names; none unless it is a Boolean program.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            if !self.is_program() {
                return Names::default();
            }
            let (tree, _) = parser::parse(&self.text.text);
            Names::new(&tree, &self.text.text)
        })
    }

    /// Returns its diagnostics in the protocol's form.
    pub fn diagnostics(&self) -> Vec<Value> {
        if is_code(&self.path) || self.format().is_none() {
            return Vec::new();
        }
        let mut found: Vec<Value> =
            input_diagnostics(&self.path, &self.text.text).iter().map(|d| self.diagnostic(d)).collect();
        found.extend(self.unused());
        found
    }

    /// Converts a diagnostic to the protocol's form.
    pub fn diagnostic(&self, d: &Diagnostic) -> Value {
        let mut message = d.message.clone();
        if !d.label.is_empty() {
            message.push_str(&format!("\n{}", d.label));
        }
        if let Some(hint) = &d.hint {
            message.push_str(&format!("\nhelp: {hint}"));
        }
        json!({
            "range": d.span.map_or_else(|| self.text.rest_of_line(1, 1), |span| self.text.range(span)),
            "severity": if d.severity == Severity::Error { 1 } else { 2 },
            "code": d.code,
            "source": "throng",
            "message": message,
        })
    }

    /// Returns hints about unused declarations, which editors grey out. Labels need no use:
    /// questions name them.
    fn unused(&self) -> Vec<Value> {
        let names = self.names();
        let mut uses = vec![0; names.symbols.len()];
        names.uses.iter().for_each(|u| uses[u.1] += 1);
        let odd = |(s, uses): &(&Symbol, usize)| {
            *uses == 1 && s.kind != Kind::Label && !(s.kind == Kind::Function && s.name == "main")
        };
        names
            .symbols
            .iter()
            .zip(uses)
            .filter(odd)
            .map(|(s, _)| {
                json!({
                    "range": self.text.range(s.span),
                    "severity": 4,
                    "tags": [1],
                    "source": "throng",
                    "message": format!("`{}` ({}) is never used", s.name, s.kind.describe()),
                })
            })
            .collect()
    }

    fn symbol_at(&self, position: &Value) -> Option<(Span, usize)> {
        self.names().at(self.text.byte(position)?)
    }

    /// Returns the declaration of the name at a position, in Markdown.
    pub fn hover(&self, position: &Value) -> Option<Value> {
        let (span, symbol) = self.symbol_at(position)?;
        let symbol = &self.names().symbols[symbol];
        let place = self.text.position(symbol.span.start as usize);
        let line = place["line"].as_u64().unwrap_or_default() as usize;
        let declaration = self.declaration(symbol);
        let comment = match symbol.kind {
            Kind::Label => None,
            _ => self.text.line(line).split_once("//").map(|(_, comment)| comment.trim().to_string()),
        };
        let comment = comment.map_or_else(String::new, |c| format!("\n\n{c}"));
        let value =
            format!("```bp\n{declaration}\n```\n{}, line {}{comment}", symbol.kind.describe(), line + 1);
        Some(json!({
            "contents": { "kind": "markdown", "value": value },
            "range": self.text.range(span),
        }))
    }

    /// Returns a declaration on one line.
    fn declaration(&self, symbol: &Symbol) -> String {
        const LONGEST: usize = 300;
        let text = |range| self.text.text.get(range).unwrap_or_default();
        let written = text(symbol.declaration.range());
        let written = match symbol.kind {
            Kind::Function => written.split_inclusive(')').next().unwrap_or_default().to_string(),
            Kind::Parameter => {
                format!("{} (parameter of {written})", symbol.name)
            }
            Kind::Constant => format!("const {written}"),
            Kind::Enumeration | Kind::Value => format!("enum {written} }}"),
            Kind::Loop => format!("for {written}"),
            Kind::Label => format!("{}: {written}", symbol.name),
            Kind::Shared | Kind::ThreadLocal | Kind::Local => written.to_string(),
        };
        let mut line = written.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.len() > LONGEST {
            line.truncate(line.floor_char_boundary(LONGEST));
            line.push('…');
        }
        line
    }

    /// Returns the place where the name at a position is declared.
    pub fn definition(&self, position: &Value) -> Option<Value> {
        let (_, symbol) = self.symbol_at(position)?;
        let span = self.names().symbols[symbol].span;
        Some(json!({ "uri": self.uri, "range": self.text.range(span) }))
    }

    /// Returns every place where the name at a position is written.
    pub fn references(&self, position: &Value, declaration: bool) -> Option<Vec<Value>> {
        let (_, symbol) = self.symbol_at(position)?;
        let declared = self.names().symbols[symbol].span;
        let uses = self.names().uses_of(symbol).filter(|&span| declaration || span != declared);
        Some(uses.map(|span| json!({ "uri": self.uri, "range": self.text.range(span) })).collect())
    }

    /// Returns the name that a rename would change.
    pub fn renamed(&self, position: &Value) -> Result<Value, String> {
        let (span, symbol) = self.symbol_at(position).ok_or("there is no name here")?;
        let symbol = &self.names().symbols[symbol];
        let digits = symbol.name.bytes().next().is_some_and(|b| b.is_ascii_digit());
        match symbol.kind {
            Kind::Function if symbol.name == "main" => {
                Err("threads start at `main`: it keeps its name".into())
            }
            Kind::Label if digits => Err("numeric labels have an order: they keep their numbers".into()),
            Kind::Label if symbol.name.starts_with(ASYNC) => {
                Err(format!("labels that begin with `{ASYNC}` start threads: they keep their names"))
            }
            _ => Ok(json!({ "range": self.text.range(span), "placeholder": symbol.name })),
        }
    }

    /// Renames the name at a position, unless some name would then mean something else.
    pub fn rename(&self, position: &Value, name: &str) -> Result<Value, String> {
        self.renamed(position)?;
        if !is_name(name) {
            return Err(format!("`{name}` cannot be a name"));
        }
        let (_, symbol) = self.symbol_at(position).ok_or("there is no name here")?;
        if self.names().symbols[symbol].kind == Kind::Label && name.starts_with(ASYNC) {
            return Err(format!("labels that begin with `{ASYNC}` start threads"));
        }
        let spans: Vec<_> = self.names().uses_of(symbol).collect();
        let mut text = self.text.text.clone();
        for span in spans.iter().rev() {
            text.replace_range(span.range(), name);
        }
        let is_wrong = |text: &str| {
            let errors = bp::read(text, &bp::Options::default()).1;
            errors.into_iter().find(Diagnostic::is_error)
        };
        let new = Names::new(&parser::parse(&text).0, &text);
        let meanings = |names: &Names| names.uses.iter().map(|u| u.1).collect::<Vec<_>>();
        if meanings(&new) != meanings(self.names()) {
            return Err(format!("`{name}` means something else already"));
        }
        if let (None, Some(error)) = (is_wrong(&self.text.text), is_wrong(&text)) {
            return Err(error.message);
        }
        let edits = spans.iter().map(|&span| json!({ "range": self.text.range(span), "newText": name }));
        Ok(json!({ "changes": { self.uri.clone(): edits.collect::<Vec<_>>() } }))
    }

    /// Returns the declarations as a tree: functions with their parameters, variables and labels.
    pub fn outline(&self) -> Vec<Value> {
        let names = self.names();
        let entry = |s: &Symbol, children: Vec<Value>| {
            // The numbers are the protocol's kinds.
            let kind = match s.kind {
                Kind::Constant => 14,
                Kind::Enumeration => 10,
                Kind::Value => 22,
                Kind::Function => 12,
                Kind::Label => 20,
                Kind::Shared | Kind::ThreadLocal | Kind::Parameter | Kind::Local | Kind::Loop => 13,
            };
            // The protocol requires that the whole range contains the name.
            let whole = match s.kind {
                Kind::Function => s.declaration,
                _ => s.span,
            };
            json!({
                "name": s.name,
                "detail": s.kind.describe(),
                "kind": kind,
                "range": self.text.range(whole),
                "selectionRange": self.text.range(s.span),
                "children": children,
            })
        };
        let top = names.symbols.iter().filter(|s| s.function.is_none());
        let mut functions = 0;
        top.map(|s| {
            let mut children = Vec::new();
            if s.kind == Kind::Function {
                let inner = names.symbols.iter().filter(|c| c.function == Some(functions));
                children = inner.map(|c| entry(c, Vec::new())).collect();
                functions += 1;
            }
            entry(s, children)
        })
        .collect()
    }

    /// Returns the functions that any number of threads could call, and their ranges.
    pub fn entries(&self) -> Vec<(&str, Value)> {
        if !is_code(&self.path) {
            return Vec::new();
        }
        let found = entries(&self.text.text, is_rust(&self.path)).into_iter();
        found.map(|(name, at)| (name, self.text.range(Span::new(at.start, at.end)))).collect()
    }

    /// Returns whether a program in C or Rust has a function `main`.
    pub fn has_main(&self) -> bool {
        has_main(&self.text.text, is_rust(&self.path))
    }

    /// Returns the range of the code lenses: the function `main`, else the first line.
    pub fn lens_range(&self) -> Value {
        let main = self.names().symbols.iter().find(|s| s.kind == Kind::Function && s.name == "main");
        main.map_or_else(|| self.text.rest_of_line(1, 1), |s| self.text.range(s.span))
    }
}

/// Returns whether a word can be a name.
fn is_name(word: &str) -> bool {
    let mut lexer = Lexer::new(word);
    let token = lexer.token();
    token.tok == Tok::Ident
        && token.span.range() == (0..word.len())
        && !word.ends_with('$')
        && !CONTEXTUAL.contains(&word)
}

/// Returns the diagnostics of the reader and of the question about a text.
pub fn input_diagnostics(path: &Path, text: &str) -> Vec<Diagnostic> {
    let own = |found: Vec<SourceDiagnostic>| {
        // Diagnostics about other files, such as properties, are shown without a place.
        let here = |d: SourceDiagnostic| match d.source.text == text {
            true => d.diagnostic,
            false => Diagnostic {
                span: None,
                message: format!("{}: {}", d.source.name, d.diagnostic.message),
                ..d.diagnostic
            },
        };
        found.into_iter().map(here).collect()
    };
    let input = match Input::edited(path, text) {
        Ok(input) => input,
        Err(why) => return own(refused(why)),
    };
    let mut found: Vec<SourceDiagnostic> = input.warnings().collect();
    let job = Job::new(&input).question(Asked::default().question());
    match job.prepare() {
        Ok(prepared) => found.extend(prepared.warnings.iter().cloned()),
        Err(why) => found.extend(refused(why)),
    }
    own(found)
}

/// Returns the messages about the input or the question; other errors are reported by a check.
fn refused(why: throng::Error) -> Vec<SourceDiagnostic> {
    match why {
        throng::Error::Refused(found) => found,
        _ => Vec::new(),
    }
}

/// Returns the format of a file, according to its name.
fn format(path: &Path) -> Option<Format> {
    path.extension()?.to_str()?.parse().ok()
}

/// Returns the path of an address.
pub fn path_of(uri: &str) -> PathBuf {
    let path = uri.strip_prefix("file://").unwrap_or_else(|| uri.split_once(':').map_or(uri, |(_, p)| p));
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match tail {
            [a, b, ..] if *first == b'%' => {
                std::str::from_utf8(&[*a, *b]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // The path is `/c:/x` on Windows.
    let drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    PathBuf::from(if drive { path.trim_start_matches('/').to_string() } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Document {
        Document::new("file:///a%20b.bp", 1, text.into())
    }

    fn at(character: usize) -> Value {
        json!({ "line": 0, "character": character })
    }

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(program("").path, Path::new("/a b.bp"));
        assert_eq!(path_of("untitled:x%zz.bp"), Path::new("x%zz.bp"));
    }

    #[test]
    fn renaming_keeps_meanings() {
        let document = program("decl x, y; void f(a) begin x := a; end void main() begin f(y); end");
        let edits = document.rename(&at(5), "flag").expect("renamed");
        assert_eq!(edits["changes"]["file:///a%20b.bp"].as_array().map(Vec::len), Some(2));
        // `x := a` would mean the parameter.
        let refused = document.rename(&at(5), "a").unwrap_err();
        assert!(refused.contains("means something else"), "{refused}");
        for name in ["", "if", "a b", "1", "x$", "wait", "é", "a;"] {
            assert!(document.rename(&at(5), name).is_err(), "{name}");
        }
        assert!(document.rename(&at(5), "y").is_err(), "declared twice");
        let main = document.text.text.find("main").expect("main");
        assert!(document.rename(&at(main), "start").is_err());
    }

    #[test]
    fn unused_names_are_hints() {
        let document =
            program("decl x, y; void f() begin skip; end void main() begin assert(!x); L: skip; end");
        let found: Vec<String> =
            document.unused().iter().map(|d| d["message"].as_str().unwrap_or_default().to_string()).collect();
        assert_eq!(found, ["`y` (shared variable) is never used", "`f` (function) is never used"]);
    }

    #[test]
    fn the_outline_contains_what_functions_contain() {
        let document = program("decl x; void f(a) begin L: x := a; end void main() begin f(1); end");
        let outline = document.outline();
        let names: Vec<&str> = outline.iter().filter_map(|e| e["name"].as_str()).collect();
        assert_eq!(names, ["x", "f", "main"]);
        assert_eq!(outline[1]["children"].as_array().map(Vec::len), Some(2));
    }
}
