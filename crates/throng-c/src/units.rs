//! Reading the files of a program: each through the preprocessor with flags of its own, several at
//! a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use throng_lang::load::{Rejected, read_source};
use throng_lang::source::{Diagnostic, Source};

use crate::preprocess::{SourceFile, Unit, is_preprocessed, preprocess};
use crate::project::Read;

/// Returns whether `long` has 32 bits in all files; they cannot be one program if it has in some.
pub(crate) fn data_model(files: &[SourceFile]) -> Result<bool, Diagnostic> {
    let of = |wanted: bool| files.iter().find(|f| f.flags.is_ilp32() == wanted);
    match (of(true), of(false)) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.path.display(), b.path.display());
            let message = format!("`{a}` is compiled with `-m32`, and `{b}` without: no program has both");
            Err(Diagnostic::whole("E804", message))
        }
        (ilp32, _) => Ok(ilp32.is_some()),
    }
}

/// Reads all files, in their order. `given` stands for the text of the first.
pub(crate) fn read_all(
    files: &[SourceFile],
    given: Option<&Source>,
    timeout: Duration,
) -> Result<Vec<Read>, Rejected> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(n) else { return done };
            done.push((n, read(file, given.filter(|_| n == 0), files.len() > 1, timeout)));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        let joined = |w: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            w.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        };
        all.extend(workers.into_iter().flat_map(joined));
        all
    });
    all.sort_by_key(|(n, _)| *n);
    all.into_iter().map(|(_, read)| read).collect()
}

fn read(
    file: &SourceFile,
    given: Option<&Source>,
    several: bool,
    timeout: Duration,
) -> Result<Read, Rejected> {
    let name = file.path.display().to_string();
    let preprocessed = is_preprocessed(&file.path);
    let mut raw = match (preprocessed, given) {
        (true, Some(text)) => text.text.clone(),
        (true, None) if several => format!("# 1 \"{name}\"\n{}", read_source(&file.path)?.text),
        (true, None) => read_source(&file.path)?.text,
        (false, given) => {
            let source = || Arc::new(given.cloned().unwrap_or_else(|| Source::new(&name[..], "")));
            let bytes = preprocess(file, given, timeout)
                .map_err(|why| Rejected { source: source(), diagnostics: vec![why] })?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    if several {
        raw.push('\n');
    }
    let mut unit = match preprocessed {
        // Who knows where it was preprocessed.
        true => Unit { file: name, raw, ..Unit::default() },
        false => Unit::preprocessed(name, raw),
    };
    unit.beside.extend_from_slice(file.flags.files());
    Ok(Read { path: file.path.clone(), unit })
}
