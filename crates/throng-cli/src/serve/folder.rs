//! The files of one folder, and no others: names come from requests.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use throng_lang::load::{Format, decode};

/// The most files that are listed.
const MOST: usize = 1000;

/// Maximum depth below the folder at which files are searched.
const DEEPEST: usize = 4;

/// The largest file that is opened in the page.
const LARGEST: u64 = 4 << 20;

/// A folder whose files are served.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder that exists.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let path = path.canonicalize()?;
        if !path.is_dir() {
            return Err(io::Error::other("this is not a folder"));
        }
        Ok(Folder(path))
    }

    /// The inputs in the folder and the folders in it, by names that [`Folder::read`] takes. Links
    /// are not followed.
    pub fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect(&self.0, 0, &mut found);
        found.sort();
        found
    }

    fn collect(&self, folder: &Path, depth: usize, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            if found.len() >= MOST || entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) && depth < DEEPEST {
                self.collect(&path, depth + 1, found);
            } else if kind.is_ok_and(|k| k.is_file())
                && is_input(&path)
                && let Ok(inside) = path.strip_prefix(&self.0)
                && let Some(name) = inside.to_str()
            {
                found.push(name.to_string());
            }
        }
    }

    /// Returns the path in the folder that a text of this name stands for; a file need not exist:
    /// the text finds the files beside it.
    pub fn place(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        let inside = || {
            let folder = path.parent()?.canonicalize().ok()?;
            Some(folder.join(path.file_name()?)).filter(|_| folder.starts_with(&self.0))
        };
        inside().ok_or_else(|| format!("`{}` is not in the folder", name.escape_debug()))
    }

    /// The text of an input of the folder.
    pub fn read(&self, name: &str) -> Result<String, String> {
        let path = self.0.join(name).canonicalize().map_err(|_| no_such(name))?;
        // After links and `..` were followed: what counts is where the file is.
        if !path.starts_with(&self.0) || !path.is_file() || !is_input(&path) {
            return Err(no_such(name));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).map_err(|_| no_such(name))?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|_| no_such(name))?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!("`{name}` is larger than {} MiB", LARGEST >> 20));
        }
        match decode(name, bytes) {
            Ok(source) => Ok(source.text),
            Err(why) => Err(why.diagnostics.first().map_or_else(String::new, |d| d.message.clone())),
        }
    }
}

fn no_such(name: &str) -> String {
    format!("there is no input `{}` in the folder", name.escape_debug())
}

fn is_input(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| e.parse::<Format>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_the_folder_are_not_read() {
        let root = std::env::temp_dir().join(format!("throng-folder-{}", std::process::id()));
        let inside = root.join("inside/deep");
        fs::create_dir_all(&inside).expect("a folder");
        let program = "void main() begin skip; end";
        for file in
            ["outside.bp", "inside/a.bp", "inside/deep/b.bp", "inside/secret.txt", "inside/.hidden.bp"]
        {
            fs::write(root.join(file), program).expect("written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("outside.bp"), root.join("inside/link.bp")).expect("a link");
        let folder = Folder::open(&root.join("inside")).expect("a folder");
        assert_eq!(folder.list(), ["a.bp", "deep/b.bp"]);
        assert_eq!(folder.read("a.bp").as_deref(), Ok(program));
        let absolute = root.join("outside.bp");
        for name in
            ["../outside.bp", "deep/../../outside.bp", "link.bp", "secret.txt", "", ".", "x.bp", "a.bp\0"]
        {
            assert!(folder.read(name).is_err(), "{name:?}");
        }
        let inside = folder.0.clone();
        assert_eq!(folder.place("deep/new.c"), Ok(inside.join("deep/new.c")));
        assert_eq!(folder.place("deep/../new.c"), Ok(inside.join("new.c")));
        for name in
            ["../outside.c", "..", "", "deep/../../outside.c", "/etc/passwd", "no/folder.c", "a\0/b.c"]
        {
            assert!(folder.place(name).is_err(), "{name:?}");
        }
        assert!(folder.read(absolute.to_str().expect("UTF-8")).is_err());
        fs::remove_dir_all(root).expect("removed");
    }
}
