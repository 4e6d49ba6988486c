//! Words of a command line: as a shell splits them, and those in files that `@FILE` names.

use std::path::{Path, PathBuf};

/// The deepest nesting of files that name files with words.
const DEEPEST: usize = 20;

/// Splits a command line as a shell does: at blanks, outside of quotes. Nothing is expanded.
///
/// ```
/// let words = throng_c::flags::split(r#"-DTEXT="a b" '-DOTHER="c"' -I\ x"#)?;
/// assert_eq!(words, ["-DTEXT=a b", "-DOTHER=\"c\"", "-I x"]);
/// # Ok::<(), String>(())
/// ```
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // The word that has begun.
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' => quoted(c, &mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err("a backslash at the end has nothing to quote".into()),
            },
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads up to the closing quote.
fn quoted(quote: char, rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    while let Some(c) = rest.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match rest.next() {
                Some('\n') => {}
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => break,
            },
            c => word.push(c),
        }
    }
    Err(format!("a quote is not closed: {quote}"))
}

/// Words of a command line, and the files that some of them are from.
#[derive(Default)]
pub(super) struct Words {
    pub(super) words: Vec<String>,
    pub(super) files: Vec<PathBuf>,
}

/// Returns the words with those of the files in place of `@FILE`; one that is not there is a word.
pub(super) fn with_response_files(words: Vec<String>, folder: &Path) -> Result<Words, String> {
    let mut expanded = Words::default();
    expand(words, folder, DEEPEST, &mut expanded)?;
    Ok(expanded)
}

fn expand(words: Vec<String>, folder: &Path, deeper: usize, into: &mut Words) -> Result<(), String> {
    for word in words {
        let named = word.strip_prefix('@').map(|name| folder.join(name)).filter(|path| path.is_file());
        let Some(path) = named else {
            into.words.push(word);
            continue;
        };
        let shown = path.display().to_string();
        let fault = |why: String| format!("{shown}: {why}");
        if deeper == 0 {
            return Err(fault("files of flags name one another without end".into()));
        }
        let text = std::fs::read_to_string(&path).map_err(|why| fault(why.to_string()))?;
        expand(split(&text).map_err(fault)?, folder, deeper - 1, into)?;
        into.files.push(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let cases: [(&str, &[&str]); 6] = [
            ("  -a\t-b\n-c ", &["-a", "-b", "-c"]),
            (r#"-DS=\"x\" -DT='"y z"'"#, &["-DS=\"x\"", "-DT=\"y z\""]),
            (r#""a\"b\n" 'c\d'"#, &["a\"b\\n", "c\\d"]),
            ("'' \"\"", &["", ""]),
            ("a\\\nb", &["ab"]),
            ("", &[]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        for line in ["'a", "\"a", "a\\", "\"a\\"] {
            assert!(split(line).is_err(), "{line}");
        }
    }

    #[test]
    fn files_of_flags_are_read_and_may_not_name_themselves() {
        let folder = std::env::temp_dir().join(format!("throng-words-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a"), "-DA '-DB=1 2' @b").unwrap();
        std::fs::write(folder.join("b"), "-DC").unwrap();
        std::fs::write(folder.join("c"), "@c").unwrap();
        let read = |word: &str| with_response_files(vec![word.into(), "@none".into()], &folder);
        let said = (read("@a"), read("@c"));
        std::fs::remove_dir_all(&folder).unwrap();
        let read = said.0.unwrap();
        assert_eq!(read.words, ["-DA", "-DB=1 2", "-DC", "@none"]);
        assert_eq!(read.files, ["b", "a"].map(|file| folder.join(file)));
        assert!(said.1.err().unwrap().contains("without end"));
    }
}
