//! How a C program is compiled, as far as that matters to what it means.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use throng_c::{Flags, Library, Options, SourceFile};
use throng_model::limits::Limits;

/// How a C program is compiled, as far as that matters to what it means.
#[derive(Clone, Debug, Default)]
pub struct Compiling {
    /// The flags of the compiler.
    pub flags: Flags,
    /// Further files of the same program; those that are not there are looked for beside the first.
    pub more: Vec<SourceFile>,
    /// What is known about functions without a body, beside the table that is built in.
    pub library: Arc<Library>,
}

impl Compiling {
    /// Returns how further files are compiled with the flags of the first.
    ///
    /// ```
    /// use throng::{Compiling, Flags};
    /// let flags = Flags::read(["-DN=3", "-include", "stdint.h"])?;
    /// assert_eq!(Compiling::alike(flags, &["b.c", "c.c"]).more.len(), 2);
    /// # Ok::<(), String>(())
    /// ```
    pub fn alike(flags: Flags, more: &[impl AsRef<Path>]) -> Compiling {
        let compiled = |path: &Path| SourceFile { path: path.into(), flags: flags.clone() };
        Compiling {
            more: more.iter().map(|path| compiled(path.as_ref())).collect(),
            flags,
            ..Compiling::default()
        }
    }

    pub(super) fn options(&self, first: &Path, limits: &Limits) -> Options {
        Options {
            flags: self.flags.clone(),
            more: self.files_beside(first),
            library: self.library.clone(),
            timeout: patience(limits),
            ..Options::default()
        }
    }

    /// Returns the further files where they are, or beside the first.
    pub fn files_beside(&self, first: &Path) -> Vec<SourceFile> {
        let there = |path: &PathBuf| match path.exists() {
            true => path.clone(),
            false => first.parent().unwrap_or(Path::new("")).join(path),
        };
        let placed = |file: &SourceFile| SourceFile { path: there(&file.path), ..file.clone() };
        self.more.iter().map(placed).collect()
    }
}

/// Returns how long the preprocessor may take for a file.
pub(super) fn patience(limits: &Limits) -> Duration {
    Options::default().timeout.min(limits.time_left().unwrap_or(Duration::MAX))
}
