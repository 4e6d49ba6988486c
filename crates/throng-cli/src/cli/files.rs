//! Files that a command writes: as a whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::console::Failure;

/// Whether a file can be written, before hours are spent on what is to go into it.
pub fn probe(path: &Path) -> Result<(), Failure> {
    let probed = match target(path) {
        Target::Device => Ok(()),
        Target::File(path) => temporary(&path).and_then(|(beside, _)| fs::remove_file(beside)),
    };
    probed.map_err(|why| cannot(path, &why))
}

/// Whether each of these files has a name of its own, which is not that of the input either.
pub fn apart<'a>(input: &Path, outputs: impl Iterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let mut taken = vec![fs::canonicalize(input).ok()];
    for path in outputs {
        let Target::File(found) = target(path) else { continue };
        let found = std::path::absolute(&found).ok();
        if found.is_some() && taken.contains(&found) {
            return Err(Failure::Other(format!("{} is the input, or is written twice", path.display())));
        }
        taken.push(found);
    }
    Ok(())
}

/// Writes a temporary file beside it and renames that: nobody ever sees half a file, and an old one stays if this fails.
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
        Target::File(path) => temporary(&path).and_then(|(beside, file)| {
            let done = buffered(&file).and_then(|()| file.sync_all());
            drop(file);
            let done = done.and_then(|()| fs::rename(&beside, &path));
            if done.is_err() {
                let _ = fs::remove_file(&beside);
            }
            done
        }),
    };
    written.map_err(|why| cannot(path, &why))
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
