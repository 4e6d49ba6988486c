//! Headers that programs ask for and that no C library has: those of other verifiers, and a few of
//! the kernel of Linux. They are looked for last, so that those of the user win.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use throng_lang::source::Diagnostic;

/// The headers of other verifiers, by name.
const VERIFIERS: [(&str, &str); 2] = [
    ("genmc.h", include_str!("../../library/include/genmc.h")),
    ("dat3m.h", include_str!("../../library/include/dat3m.h")),
];

/// Headers of the kernel that are empty here: what they would declare is refused by name where it
/// is used.
const KERNEL: [&str; 8] = [
    "asm/barrier.h",
    "asm/mcs_spinlock.h",
    "asm/processor.h",
    "linux/compiler.h",
    "linux/kasan-checks.h",
    "linux/lockdep.h",
    "linux/preempt.h",
    "linux/spinlock.h",
];

/// What the C library asks for where programs of 32 bits are compiled, and that is installed only
/// with such a library.
const STUBS: &str = "gnu/stubs-32.h";

/// A folder with the headers, which is removed at the end.
pub(super) struct Headers(pub(super) PathBuf);

impl Headers {
    /// Writes the headers; those for 32 bits only where they are needed.
    pub(super) fn new(ilp32: bool) -> Result<Headers, Diagnostic> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("throng-headers-{}-{number}", std::process::id());
        let headers = Headers(std::env::temp_dir().join(name));
        let empty = KERNEL.into_iter().chain(ilp32.then_some(STUBS)).map(|name| (name, ""));
        for (name, text) in VERIFIERS.into_iter().chain(empty) {
            let file = headers.0.join(name);
            write(&file, text)
                .map_err(|why| Diagnostic::whole("E801", format!("{}: {why}", file.display())))?;
        }
        Ok(headers)
    }
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(file))?;
    std::fs::write(file, text)
}

impl Drop for Headers {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}
