//! Which files of a build are one program.

use std::sync::Arc;

use crate::library::Library;
use std::path::{Path, PathBuf};

use throng_lang::source::Diagnostic;

use super::list;
use crate::flags::Flags;
use crate::preprocess::Unit;

/// Which files of a build are asked about.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// These only, if there are any.
    pub files: Vec<PathBuf>,
    /// The one whose `main` it is, where several have one.
    pub main: Option<PathBuf>,
    /// The functions that threads call instead of `main`, if there are any.
    pub entries: Vec<String>,
    /// Added to the flags of each file.
    pub flags: Flags,
    /// What is known about functions without a body.
    pub library: Arc<Library>,
}

/// A file behind the preprocessor.
pub(crate) struct Read {
    pub(crate) path: PathBuf,
    pub(crate) unit: Unit,
}

/// The files of a program, that which it begins in first; and what is said about the choice.
pub(crate) struct Chosen {
    pub(crate) files: Vec<Read>,
    pub(crate) remarks: Vec<String>,
}

impl Selection {
    /// Chooses among the files of a build those of one program.
    pub(crate) fn choose(&self, mut files: Vec<Read>) -> Result<Chosen, Diagnostic> {
        let mut remarks = Vec::new();
        let with_main = |files: &[Read]| -> Vec<PathBuf> {
            let defining = files.iter().filter(|f| defines(&f.unit.raw, "main"));
            defining.map(|f| f.path.clone()).collect()
        };
        let mut mains = with_main(&files);
        if let Some(main) = &self.main {
            self.keep_main(main, &mut files, &mains)?;
        } else if mains.len() > 1 && !self.entries.is_empty() {
            // No thread runs `main`.
            let is_kept = |f: &Read| !mains.contains(&f.path) || self.has_entry(f);
            let (kept, left) = files.into_iter().partition::<Vec<_>, _>(is_kept);
            files = kept;
            remarks.push(format!(
                "several files define `main`, which is not run; left out are {}",
                list(left.iter().map(|f| f.path.as_path()))
            ));
        }
        mains = with_main(&files);
        if mains.len() > 1 {
            return Err(several(&mains));
        }
        let begins = |f: &Read| match self.entries.is_empty() {
            true => mains.contains(&f.path),
            false => self.has_entry(f),
        };
        let first = files.iter().position(begins).unwrap_or(0);
        files[..=first].rotate_right(1);
        Ok(Chosen { files, remarks })
    }

    fn has_entry(&self, file: &Read) -> bool {
        self.entries.iter().any(|name| defines(&file.unit.raw, name))
    }

    /// Leaves out the other files that define `main`.
    fn keep_main(&self, main: &Path, files: &mut Vec<Read>, mains: &[PathBuf]) -> Result<(), Diagnostic> {
        let identity = std::fs::canonicalize(main).ok();
        let is_it = |path: &PathBuf| {
            path.ends_with(main) || identity.is_some() && std::fs::canonicalize(path).ok() == identity
        };
        let found: Vec<&PathBuf> = mains.iter().filter(|path| is_it(path)).collect();
        let [found] = found[..] else {
            let message = format!("`{}` is not a file of this build that defines `main`", main.display());
            let which = list(mains.iter().map(PathBuf::as_path));
            let d = Diagnostic::whole("E811", message);
            return Err(if mains.is_empty() { d } else { d.hint(format!("`main` is defined in {which}")) });
        };
        files.retain(|f| f.path == *found || !mains.contains(&f.path));
        Ok(())
    }
}

fn several(mains: &[PathBuf]) -> Diagnostic {
    let which = list(mains.iter().map(PathBuf::as_path));
    let message = format!("this build has {} programs: `main` is defined in {which}", mains.len());
    Diagnostic::whole("E811", message)
        .hint("say which one (on the command line: `--main FILE`), or name the files that belong to it")
}

/// Returns whether preprocessed text has the body of a function of this name.
fn defines(text: &str, name: &str) -> bool {
    let mut tokens = Tokens { rest: text, depth: 0 };
    while let Some(token) = tokens.next() {
        if tokens.depth == 0 && token == name && tokens.next() == Some("(") {
            tokens.skip_group();
            if tokens.is_body() {
                return true;
            }
        }
    }
    false
}

/// The tokens of a text, as far as is needed to find functions: words, and single characters.
struct Tokens<'a> {
    rest: &'a str,
    /// The number of open brackets.
    depth: usize,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.rest = self.rest.trim_start();
            let first = self.rest.chars().next()?;
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let end = match first {
                // Line markers and pragmas.
                '#' => self.rest.find('\n').unwrap_or(self.rest.len()),
                '"' | '\'' => literal(self.rest, first),
                c if is_part(c) => self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()),
                c => c.len_utf8(),
            };
            let (token, rest) = self.rest.split_at(end);
            self.rest = rest;
            match first {
                '(' | '{' | '[' => self.depth += 1,
                ')' | '}' | ']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if first != '#' {
                return Some(token);
            }
        }
    }

    /// Goes behind the bracket that was opened last.
    fn skip_group(&mut self) {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside && self.next().is_some() {}
    }

    /// Returns whether what follows the parameters of a function is its body, or declarations of
    /// these parameters before it.
    fn is_body(&mut self) -> bool {
        while let Some(token) = self.next() {
            match token {
                "__attribute__" | "__attribute" | "asm" | "__asm__" | "__asm" => {
                    if self.next() == Some("(") {
                        self.skip_group();
                    }
                }
                word => return word == "{" || word.starts_with(|c: char| c.is_alphabetic() || c == '_'),
            }
        }
        false
    }
}

/// Returns the length of a literal at the beginning of a text.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_functions_are_found() {
        let defined = [
            "int main(void) { }",
            "# 1 \"main(\"\nstatic struct { int x; } s = { 1 };\nint main ( int (*f)(void) )\n{",
            "main(argc, argv) int argc; char **argv; { }",
            "int main(void) __attribute__((noreturn, section(\"x\"))) { }",
            "char *s = \"\\\"{\"; char c = '{'; int main() {}",
        ];
        let others = [
            "int main(void);",
            "int f(void) { main(); { int main(void); } }",
            "int main(void) __attribute__((noreturn)), x;",
            "int main2(void) { } int amain() { } int main;",
            "int (*f)(void) = main; \"main() {\"",
            "",
        ];
        for text in defined {
            assert!(defines(text, "main"), "{text}");
        }
        for text in others {
            assert!(!defines(text, "main"), "{text}");
        }
    }

    fn read(path: &str, text: &str) -> Read {
        Read { path: path.into(), unit: Unit { file: path.into(), raw: text.into(), ..Unit::default() } }
    }

    fn chosen(selection: &Selection) -> Result<Vec<String>, String> {
        let files = [
            read("lib.c", "int lib(void) { return 1; }"),
            read("a/m.c", "int main(void) { return lib(); } void work(void) { }"),
            read("b/m.c", "int main(void) { return 0; }"),
        ];
        let chosen = selection.choose(files.into()).map_err(|d| d.message)?;
        Ok(chosen.files.iter().map(|f| f.path.display().to_string()).collect())
    }

    #[test]
    fn one_program_is_chosen_and_several_are_not_mixed() {
        let why = chosen(&Selection::default()).unwrap_err();
        assert!(why.contains("2 programs: `main` is defined in `a/m.c`, `b/m.c`"), "{why}");
        let of = |main: &str| chosen(&Selection { main: Some(main.into()), ..Selection::default() });
        assert_eq!(of("a/m.c").unwrap(), ["a/m.c", "lib.c"]);
        assert!(of("m.c").is_err() && of("lib.c").is_err());
        let entering = |name: &str| chosen(&Selection { entries: vec![name.into()], ..Selection::default() });
        assert_eq!(entering("lib").unwrap(), ["lib.c"]);
        assert_eq!(entering("work").unwrap(), ["a/m.c", "lib.c"]);
    }
}
