//! The flags of a C compiler: those that matter to what a program means are for the preprocessor or
//! are honoured by the reader; those that change the meaning in a way that is not modelled are
//! refused; those that only say how code is made, or what is warned of, have no effect.

mod table;
mod words;

use std::path::{Component, Path, PathBuf};

pub use words::split;

use table::{Meaning, Takes};

/// How a translation unit is compiled, as far as that matters to what it means.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// For the preprocessor, in the order in which they were given.
    arguments: Vec<String>,
    /// What `-m32` or `-m64` says.
    ilp32: Option<bool>,
    /// The files that some of them are from.
    files: Vec<PathBuf>,
}

/// Flags are equal if they mean the same, wherever they are from.
impl PartialEq for Flags {
    fn eq(&self, other: &Flags) -> bool {
        (&self.arguments, self.ilp32) == (&other.arguments, other.ilp32)
    }
}

impl Eq for Flags {}

/// What the arguments of a compiler say.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) flags: Flags,
    /// What is neither a flag nor belongs to one.
    pub(crate) files: Vec<String>,
    /// What `-x` says.
    pub(crate) language: Option<String>,
}

impl Flags {
    /// Reads flags as a compiler takes them, `["-I", "include", "-DN=3", "-m32"]`; the error names
    /// the one that is not modelled.
    ///
    /// ```
    /// use throng_c::Flags;
    /// assert!(Flags::read(["-Iinclude", "-DN=3", "-O2", "-Wall"]).is_ok());
    /// assert!(Flags::read(["-fshort-enums"]).unwrap_err().contains("-fshort-enums"));
    /// ```
    pub fn read<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<Flags, String> {
        let words = words.into_iter().map(|w| w.as_ref().to_string()).collect();
        let arguments = Arguments::read(words, Path::new(""))?;
        match (arguments.files.first(), arguments.language.as_deref()) {
            (Some(file), _) => Err(format!("`{file}` is not a flag of a compiler")),
            (None, Some(language)) if language != "c" => Err(format!("`-x {language}` is not C")),
            _ => Ok(arguments.flags),
        }
    }

    /// Returns whether `long`, `size_t` and `ptrdiff_t` have 32 bits.
    pub fn is_ilp32(&self) -> bool {
        self.ilp32 == Some(true)
    }

    /// Returns these flags with more behind them.
    pub fn and(&self, more: &Flags) -> Flags {
        let arguments = [&self.arguments[..], &more.arguments].concat();
        let files = [&self.files[..], &more.files].concat();
        Flags { arguments, ilp32: more.ilp32.or(self.ilp32), files }
    }

    /// Returns the files that were read for them, `@FILE`.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Returns what the preprocessor is told.
    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }
}

impl Arguments {
    /// Reads what follows the name of a compiler that is started in a folder.
    pub(crate) fn read(words: Vec<String>, folder: &Path) -> Result<Arguments, String> {
        let mut read = Arguments::default();
        let read_words = words::with_response_files(words, folder)?;
        read.flags.files = read_words.files;
        let mut words = read_words.words.into_iter();
        while let Some(word) = words.next() {
            if word.len() < 2 || !word.starts_with('-') {
                read.files.push(word);
                continue;
            }
            let (row, joined) = table::look_up(&word)?;
            let value = match row.takes {
                Takes::Nothing => None,
                Takes::Joined => Some(joined.to_string()),
                Takes::Value if joined.is_empty() => {
                    Some(words.next().ok_or_else(|| format!("`{word}` lacks its argument"))?)
                }
                Takes::Value => Some(joined.to_string()),
            };
            read.take(row.meaning, row.name, value, folder)?;
        }
        Ok(read)
    }

    fn take(
        &mut self,
        meaning: Meaning,
        name: &str,
        value: Option<String>,
        folder: &Path,
    ) -> Result<(), String> {
        let value = value.unwrap_or_default();
        match meaning {
            Meaning::None => {}
            Meaning::Passed => self.flags.arguments.push(format!("{name}{value}")),
            Meaning::Folder => self.flags.arguments.extend([name.to_string(), in_folder(folder, &value)]),
            Meaning::Header => {
                // One that is not there is looked for where headers are.
                let there = in_folder(folder, &value);
                let header = if Path::new(&there).is_file() { there } else { value };
                self.flags.arguments.extend([name.to_string(), header]);
            }
            Meaning::Bits(bits) => self.flags.ilp32 = Some(bits == 32),
            Meaning::Language => self.language = Some(value),
            Meaning::List => {
                let words = value.split(',').filter(|w| !w.is_empty()).map(str::to_string).collect();
                let inner = Arguments::read(words, folder)?;
                self.flags.arguments.extend(inner.flags.arguments);
            }
            Meaning::Refused(why) => return Err(format!("the flag `{name}{value}` {why}")),
        }
        Ok(())
    }
}

/// Returns a path that was given in a folder, for one who is elsewhere.
fn in_folder(folder: &Path, path: &str) -> String {
    // `=dir` is below the folder of the system's headers.
    if folder.as_os_str().is_empty() || path.starts_with('=') {
        return path.to_string();
    }
    shown(&folder.join(path)).display().to_string()
}

/// Returns the shortest name of a path: without `.` and `..` where that is the same, and relative if
/// it is below the present folder.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match (part, short.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => _ = short.pop(),
            _ => short.push(part),
        }
    }
    let here = std::env::current_dir().unwrap_or_default();
    let short = short.strip_prefix(&here).map_or(short.clone(), Path::to_path_buf);
    let short = if short.as_os_str().is_empty() { PathBuf::from(".") } else { short };
    // Behind a link, `..` is somewhere else.
    match (std::fs::canonicalize(&short), std::fs::canonicalize(path)) {
        (Ok(a), Ok(b)) if a == b => short,
        (Err(_), Err(_)) => short,
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(words: &[&str]) -> Vec<String> {
        Flags::read(words).unwrap().arguments
    }

    #[test]
    fn what_is_for_the_preprocessor_is_passed_on_in_order() {
        let words = ["-D", "A", "-UA", "-DA=2", "-I", "x", "-Iy", "-include", "z.h", "-isystem", "s"];
        let all = ["-DA", "-UA", "-DA=2", "-I", "x", "-I", "y", "-include", "z.h", "-isystem", "s"];
        assert_eq!(passed(&words), all);
        assert_eq!(passed(&["-std=gnu11", "-Wp,-DA,-MD,x.d", "-pthread"]), ["-std=gnu11", "-DA", "-pthread"]);
        assert_eq!(passed(&["-march=native", "-ansi"]), ["-march=native", "-ansi"]);
    }

    #[test]
    fn what_makes_code_or_warns_has_no_effect() {
        let words = "-c -O2 -Os -Wall -Wno-unused -w -g -ggdb3 -fPIC -o x.o -MD -MF x.d -MTx.o -pipe -lm -L. \
                     -fstack-protector-strong -Wl,-z,now -rdynamic -static -fno-strict-aliasing -mtune=generic";
        let flags = Flags::read(words.split(' ')).unwrap();
        assert_eq!(flags, Flags { arguments: vec!["-mtune=generic".into()], ..Flags::default() });
    }

    #[test]
    fn what_changes_the_meaning_otherwise_is_refused_by_name() {
        let refused = "-fshort-enums -fpack-struct -fpack-struct=4 -m16 -mx32 -mlong-double-64 -ftrapv -fopenmp \
                       -funsigned-bitfields -xc++ -fshort-wchar -Ofast --target=arm -fblocks -Zunheard-of \
                       -ftrivial-auto-var-init=zero -std=c++17";
        for word in refused.split_whitespace() {
            let why = Flags::read([word]).expect_err(word);
            assert!(why.contains(&word[..2]), "{word}: {why}");
        }
        assert!(Flags::read(["-I"]).is_err() && Flags::read(["a.c"]).is_err());
    }

    #[test]
    fn the_last_word_about_the_size_of_long_counts() {
        let is_ilp32 = |words: &[&str]| Flags::read(words).unwrap().is_ilp32();
        let added = Flags::read(["-m64"]).unwrap();
        assert!(!Flags::read(["-m32"]).unwrap().and(&added).is_ilp32());
        assert!(is_ilp32(&["-m32"]) && !is_ilp32(&["-m32", "-m64"]) && !is_ilp32(&[]));
    }

    #[test]
    fn paths_are_those_of_the_folder_where_the_compiler_is_started() {
        let read = |words: &[&str]| {
            let words = words.iter().map(|w| w.to_string()).collect();
            Arguments::read(words, Path::new("/no/such")).unwrap().flags.arguments
        };
        assert_eq!(read(&["-Ia", "-I/b", "-isystem=c"]), ["-I", "/no/such/a", "-I", "/b", "-isystem", "=c"]);
        assert_eq!(read(&["-include", "h.h"]), ["-include", "h.h"]);
    }
}
