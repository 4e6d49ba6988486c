//! Files that a command writes: as a whole or not at all, and never over a file that it has read.
//!
//! Every command says what it reads ([`was_read`]) and, before it spends hours, what it will write
//! ([`claim`]). Writing asks once more, so no command can forget. Files are compared by what they
//! are, not by name: links, hard links and standard input count.

use std::fs::{self, Metadata};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::console::Failure;

/// Kinds of files that a command writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A page, a log or a certificate, under a name that was given; one that ends like that of an
    /// input is taken for a slip.
    Report,
    /// A translation, or what a command keeps for itself: it replaces what is there.
    Own,
    /// The properties that go with a translation, under a name that was not given: they replace
    /// only what was written as such.
    Properties,
}

/// In front of the properties that go with a translation: how they are known again.
pub const PROPERTIES_MARK: &str = "<!-- written by throng translate -->\n";

/// File name extensions of inputs.
const INPUTS: [&str; 10] = ["bp", "nbp", "tts", "ttd", "ntts", "spec", "pnml", "prop", "xml", "c"];

/// Number of bytes of a file that are read to recognise what wrote it.
const HEAD: u64 = 1 << 10;

impl Kind {
    /// Returns whether it replaces an existing file without `--force`; or why not.
    fn replaces(self, path: &Path) -> io::Result<Result<(), &'static str>> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_input = INPUTS.contains(&&*extension);
        Ok(match self {
            Kind::Report if is_input => Err("its name is that of an input"),
            Kind::Properties if !head(path)?.contains(PROPERTIES_MARK.trim_end()) => {
                Err("it would get the properties of the translation, and `throng translate` did not write it")
            }
            Kind::Report | Kind::Own | Kind::Properties => Ok(()),
        })
    }
}

/// Files that were read so far. A process carries out one command.
static READ: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

fn read_so_far() -> MutexGuard<'static, Vec<Identity>> {
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This file is an input, `-` being standard input.
pub fn was_read(path: &Path) {
    let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    read_so_far().extend(Identity::of(path));
}

/// Checks that all these files may be written, before hours are spent on their contents.
/// `force` is for existing files that are not inputs.
pub fn claim<'a>(outputs: impl IntoIterator<Item = (&'a PathBuf, Kind)>, force: bool) -> Result<(), Failure> {
    let mut names: Vec<PathBuf> = Vec::new();
    for (path, kind) in outputs {
        if path == Path::new("-") {
            let why = "`-` is not a file: standard output has the report; `./-` is a file of that name";
            return Err(Failure::Other(why.into()));
        }
        let Target::File(file) = target(path) else { continue };
        let absolute = std::path::absolute(&file).unwrap_or(file.clone());
        if names.contains(&absolute) {
            return Err(Failure::Other(format!("{} would be written twice", path.display())));
        }
        names.push(absolute);
        allowed(path)?;
        if !force && file.is_file() {
            let replaces = kind.replaces(&file).map_err(|why| cannot(path, &why))?;
            let refused = |why| format!("{} exists: {why}; --force replaces it", path.display());
            replaces.map_err(|why| Failure::Other(refused(why)))?;
        }
        temporary(&file).and_then(|(beside, _)| fs::remove_file(beside)).map_err(|why| cannot(path, &why))?;
    }
    Ok(())
}

fn head(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(HEAD).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Checks that writing the file destroys neither an input nor a read-only file.
fn allowed(path: &Path) -> Result<(), Failure> {
    let refused = |why: &str| Err(Failure::Other(format!("{} is not overwritten: {why}", path.display())));
    if Identity::of(path).is_some_and(|id| read_so_far().contains(&id)) {
        return refused("it is an input of this command");
    }
    if fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().readonly()) {
        return refused("it is read-only");
    }
    Ok(())
}

/// Writes a temporary file beside it and renames that: no reader ever sees half a file, and an old
/// one stays if this fails.
pub fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    stream(path, |out| out.write_all(text.as_bytes()))
}

/// The same for what is written bit by bit.
pub fn stream(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let buffered = |file: &fs::File| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out).and_then(|()| out.flush())
    };
    let written = match target(path) {
        Target::Device => fs::OpenOptions::new().write(true).open(path).and_then(|file| buffered(&file)),
        Target::File(file) => {
            allowed(path)?;
            temporary(&file).and_then(|(beside, opened)| {
                let done = buffered(&opened).and_then(|()| opened.sync_all());
                drop(opened);
                let done = done.and_then(|()| fs::rename(&beside, &file));
                if done.is_err() {
                    let _ = fs::remove_file(&beside);
                }
                done
            })
        }
    };
    written.map_err(|why| cannot(path, &why))
}

/// The identity of a file, independent of its name.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Identity {
    /// The device, and the number of the file there.
    #[cfg(unix)]
    Number(u64, u64),
    /// Its path with links resolved.
    #[cfg(not(unix))]
    Place(PathBuf),
}

impl Identity {
    /// Of an existing file; devices and pipes lose nothing when they are written to.
    fn of(path: &Path) -> Option<Identity> {
        let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Identity::Number(found.dev(), found.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = found;
            fs::canonicalize(path).ok().map(Identity::Place)
        }
    }
}

enum Target {
    /// Something like /dev/stdout, which must not be replaced.
    Device,
    /// A file, links followed.
    File(PathBuf),
}

fn target(path: &Path) -> Target {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => Target::Device,
        Ok(_) => Target::File(fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())),
        Err(_) => Target::File(path.to_path_buf()),
    }
}

/// A new file beside `path`.
fn temporary(path: &Path) -> io::Result<(PathBuf, fs::File)> {
    if path.is_dir() {
        return Err(io::Error::other("this is a directory"));
    }
    let name = path.file_name().ok_or_else(|| io::Error::other("this names no file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(hidden);
    let file = fs::File::create(&beside)?;
    Ok((beside, file))
}

fn cannot(path: &Path, why: &io::Error) -> Failure {
    Failure::Unwritten(format!("cannot write {}: {why}", path.display()))
}
