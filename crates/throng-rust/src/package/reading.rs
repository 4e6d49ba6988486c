//! Crates that cargo compiled, compiled once more with passes of ours.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use throng_lang::source::Diagnostic;

use super::unusable;
use crate::emission::{Module, not_run, refused};
use crate::passes::{self, Run};
use crate::process;
use crate::toolchain::Toolchain;
use crate::{shared, whole};

/// A crate whose functions are listed: LLVM IR in which nothing is inlined.
pub(super) struct Listed {
    name: String,
    text: String,
    /// Where how it was compiled is, up to the extension.
    at: PathBuf,
}

impl Listed {
    pub(super) fn open(name: String, at: PathBuf) -> Result<Listed, Diagnostic> {
        let path = at.with_extension("ll");
        let bytes = fs::read(&path).map_err(unusable(&path))?;
        Ok(Listed { name, text: String::from_utf8_lossy(&bytes).into_owned(), at })
    }
}

/// Returns the crates that the last one calls, by what they define and what others declare; the last
/// one stays the last.
pub(super) fn needed(mut crates: Vec<Listed>) -> Vec<Listed> {
    let mut found: Vec<Listed> = crates.pop().into_iter().collect();
    let mut open: BTreeSet<String> = found.iter().flat_map(|c| declared(&c.text)).map(String::from).collect();
    while let Some(at) = crates.iter().position(|c| defined(&c.text).any(|symbol| open.contains(symbol))) {
        let next = crates.remove(at);
        open.extend(declared(&next.text).map(String::from));
        found.push(next);
    }
    found.reverse();
    found
}

/// The symbols that a module uses and does not define.
fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| match line.strip_prefix("declare ") {
        Some(head) => whole::symbol(head),
        None => line.strip_prefix('@')?.split_once(" = external ").map(|(name, _)| name.trim_matches('"')),
    })
}

/// The symbols that a module defines for others.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| match line.strip_prefix("define ") {
        Some(head) => whole::symbol(head),
        None => line.strip_prefix('@')?.split_once(" = ").map(|(name, _)| name.trim_matches('"')),
    })
}

/// Compiles crates with the passes, and says whether LLVM refused them, so that nothing is inlined.
pub(super) fn read(
    crates: &[Listed],
    folder: &Path,
    toolchain: &Toolchain,
    timeout: Duration,
    is_modelled: &dyn Fn(&str) -> bool,
) -> Result<(Vec<Module>, bool), Diagnostic> {
    let folder = folder.join("reading");
    fs::create_dir_all(&folder).map_err(unusable(&folder))?;
    let mut modules = Vec::new();
    for listed in crates {
        let compiling = Compiling { listed, folder: &folder, toolchain, timeout };
        match compiling.text(&whole::listed([listed.text.as_str()], is_modelled))? {
            Some(text) => {
                modules.extend(compiling.instances(&text)?);
                modules.push(Module { name: listed.name.clone(), text });
            }
            None => {
                let bare = |c: &Listed| Module { name: c.name.clone(), text: c.text.clone() };
                return Ok((crates.iter().map(bare).collect(), true));
            }
        }
    }
    Ok((modules, false))
}

struct Compiling<'a> {
    listed: &'a Listed,
    folder: &'a Path,
    toolchain: &'a Toolchain,
    timeout: Duration,
}

impl Compiling<'_> {
    /// Returns the text with the functions of a list kept whole, if LLVM knows the passes.
    fn text(&self, list: &str) -> Result<Option<String>, Diagnostic> {
        let key = self.key(list);
        let kept = self.folder.join(format!("{}-{key}.csv", self.listed.name));
        write(&kept, list)?;
        self.compiled(Run::Reading(&kept), &key)
    }

    /// Returns the functions that the crate uses and other crates have compiled.
    fn instances(&self, text: &str) -> Result<Option<Module>, Diagnostic> {
        if !shared::may_miss(text) {
            return Ok(None);
        }
        let other = self.compiled(Run::Instances, &self.key("instances"))?;
        let missing = other.and_then(|other| shared::missing(text, &other));
        Ok(missing.map(|text| Module { name: format!("{}-std", self.listed.name), text }))
    }

    /// All that a result depends on: the first run took the same source and flags.
    fn key(&self, what: &str) -> String {
        hash(&(&self.toolchain.version, passes::PASSES, what, &self.listed.text))
    }

    fn compiled(&self, run: Run<'_>, key: &str) -> Result<Option<String>, Diagnostic> {
        let output = self.folder.join(format!("{}-{key}.ll", self.listed.name));
        if let Ok(text) = fs::read_to_string(&output) {
            return Ok(Some(text));
        }
        let partial = self.folder.join(format!("{}-{key}.{}.ll", self.listed.name, std::process::id()));
        let mut command = self.command()?;
        command.args(passes::flags(run));
        command.arg(format!("--emit=llvm-ir={}", partial.display()));
        let done = process::run(&mut command, self.timeout).map_err(|why| not_run("rustc", &why))?;
        if !done.succeeded {
            return if passes::are_refused(&done.stderr) { Ok(None) } else { Err(refused("rustc", &done)) };
        }
        self.forget_older();
        fs::rename(&partial, &output).map_err(unusable(&output))?;
        fs::read_to_string(&output).map(Some).map_err(unusable(&output))
    }

    /// The call of rustc by cargo, without what it asks to be written.
    fn command(&self) -> Result<Command, Diagnostic> {
        let kept = |extension: &str| {
            let path = self.listed.at.with_extension(extension);
            fs::read(&path).map_err(unusable(&path))
        };
        let words = kept("words")?;
        let mut words =
            words.split(|&b| b == 0).filter(|w| !w.is_empty()).map(|w| OsString::from_vec(w.into()));
        let mut command = Command::new(words.next().unwrap_or_else(|| "rustc".into()));
        let own = self.is_test()?;
        command.args(words.filter(|word| !is_about_output(word)));
        if own {
            command.args(passes::all_functions());
        }
        let environment = kept("environment")?;
        for pair in environment.split(|&b| b == 0) {
            if let Some(at) = pair.iter().position(|&b| b == b'=').filter(|&at| at > 0) {
                command.env(OsString::from_vec(pair[..at].into()), OsString::from_vec(pair[at + 1..].into()));
            }
        }
        let folder = String::from_utf8_lossy(&kept("folder")?).trim_end_matches('\n').to_string();
        command.current_dir(folder);
        Ok(command)
    }

    fn is_test(&self) -> Result<bool, Diagnostic> {
        let path = self.listed.at.with_extension("words");
        let words = fs::read(&path).map_err(unusable(&path))?;
        Ok(words.split(|&b| b == 0).any(|word| word == b"--test"))
    }

    /// Removes what an earlier state of the crate gave, except the last few: tests with different
    /// features take turns.
    fn forget_older(&self) {
        const KEPT: usize = 6;
        let prefix = format!("{}-", self.listed.name);
        let entries = fs::read_dir(self.folder).into_iter().flatten().flatten();
        let own = entries.filter(|e| e.file_name().to_string_lossy().starts_with(&prefix));
        let mut dated: Vec<_> =
            own.filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path()))).collect();
        dated.sort();
        let old = dated.len().saturating_sub(3 * KEPT);
        dated.into_iter().take(old).for_each(|(_, path)| _ = fs::remove_file(path));
    }
}

/// Returns whether a word of a call says what is written, or how messages look.
fn is_about_output(word: &OsString) -> bool {
    let word = word.to_string_lossy();
    ["--emit=", "--error-format=", "--json=", "--diagnostic-width="]
        .iter()
        .any(|option| word.starts_with(option))
}

/// Writes a file that others may be reading: at once, or not at all.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    let partial = path.with_extension(format!("{}.part", std::process::id()));
    fs::write(&partial, text).map_err(unusable(&partial))?;
    fs::rename(&partial, path).map_err(unusable(path))
}

/// Returns 128 bits that differ where values do.
pub(super) fn hash(value: &impl Hash) -> String {
    let half = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, value).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}
