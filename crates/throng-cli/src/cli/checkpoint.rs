//! `--checkpoint FILE`: the state of a search, written now and then, so that the same command
//! resumes after it was stopped or killed.
//!
//! The file is one line of JSON ([`Header`]), the state as the engine writes it, and a checksum
//! over both (CRC-32, four bytes). It is written beside and renamed once it is safely on disk: at
//! any moment there is the old state or the new one. A file that is not a checkpoint of the same
//! question is never touched.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::CheckArgs;
use super::console::{Failure, complain};
use throng::Engine;
use throng_check::certificate::hash;
use throng_engine::checkpoint::{Damaged, Keeper, Reader, Writer};
use throng_lang::load::Loaded;
use throng_model::problem::Problem;

/// The number of this layout. It changes with what engines write.
const LAYOUT: u32 = 4;

/// Bytes of the checksum.
pub(super) const CHECKSUM: u64 = 4;

/// Writing the state may take at most 1/N of the running time.
const SHARE: u32 = 20;

/// Maximum length of a header.
const LONGEST_HEADER: u64 = 1 << 20;

/// Identifies the search whose state this is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version that wrote it.
    throng: String,
    layout: u32,
    /// Hash of the input's text, and how it was read.
    input: String,
    /// Start, bound and targets.
    question: String,
    /// The engine and its options.
    options: String,
    /// Seconds searched so far.
    seconds: f64,
}

impl Header {
    /// Of this search, which has not begun.
    pub(super) fn new(args: &CheckArgs, loaded: &Loaded, problem: &Problem) -> Header {
        Header {
            throng: env!("CARGO_PKG_VERSION").into(),
            layout: LAYOUT,
            input: format!("{} {} {:?}", hash(&loaded.source.text), loaded.format, args.input.reading()),
            question: question(problem),
            options: options(args),
            seconds: 0.0,
        }
    }
}

/// The file and when it was written.
pub(super) struct Checkpoint {
    path: PathBuf,
    header: Header,
    every: Duration,
    began: Instant,
    /// True if there was a file at the beginning.
    found: bool,
    state: Mutex<State>,
    busy: AtomicBool,
}

/// The checkpoint of a command, shared with the thread that ends the process.
#[derive(Default)]
pub(super) struct Kept {
    /// The file, as soon as the command begins.
    pub(super) path: OnceLock<PathBuf>,
    /// The same once the question is known.
    pub(super) checkpoint: OnceLock<Checkpoint>,
}

impl Kept {
    /// Returns whether the state is being written right now.
    pub(super) fn is_busy(&self) -> bool {
        self.checkpoint.get().is_some_and(|checkpoint| checkpoint.busy.load(Ordering::SeqCst))
    }

    /// Says what is in the file if the process ends now, without an answer.
    pub(super) fn parting(&self) -> Option<String> {
        match self.checkpoint.get() {
            Some(checkpoint) => checkpoint.end(true),
            None => self.path.get().map(|path| not_written(path)),
        }
    }
}

struct State {
    written: Instant,
    /// Time until the next write.
    pause: Duration,
    /// True if this process has written the file.
    kept: bool,
    warned: bool,
    damaged: bool,
}

impl Checkpoint {
    /// Opens the file, if there is one, and sees whether it belongs to this question.
    pub(super) fn open(
        path: &Path,
        args: &CheckArgs,
        loaded: &Loaded,
        problem: &Problem,
    ) -> Result<Checkpoint, Failure> {
        if !matches!(args.search.engine, Engine::Explicit | Engine::KarpMiller) {
            let why = "--checkpoint is for `--engine explicit` and `--engine karp-miller`";
            return Err(Failure::Other(why.into()));
        }
        let mut header = Header::new(args, loaded, problem);
        let found = match fs::metadata(path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => false,
            Err(why) => return Err(refused(path, &why.to_string())),
            Ok(file) if !file.is_file() => return Err(refused(path, "this is not a file")),
            Ok(_) => {
                let earlier = examine(path).map_err(|why| refused(path, &why))?;
                differs(&earlier, &header).map_or(Ok(()), |why| Err(refused(path, &why)))?;
                header.seconds = earlier.seconds;
                true
            }
        };
        let every = args.checkpoint_every.unwrap_or(Duration::from_secs(20));
        let (written, pause) = (Instant::now(), every);
        let state = Mutex::new(State { written, pause, kept: false, warned: false, damaged: false });
        Ok(Checkpoint {
            path: path.into(),
            header,
            every,
            began: written,
            found,
            state,
            busy: AtomicBool::default(),
        })
    }

    /// Returns a description of what is resumed, if anything.
    pub(super) fn earlier(&self) -> Option<String> {
        let Checkpoint { path, header, .. } = self;
        self.found.then(|| format!("resuming from {}, after {:.0} s", path.display(), header.seconds))
    }

    /// After the search: whether it could not make use of the state it was given.
    pub(super) fn refusal(&self) -> Result<(), Failure> {
        if self.state().damaged {
            return Err(refused(
                &self.path,
                "its contents are not what throng writes; remove it to start anew",
            ));
        }
        Ok(())
    }

    /// When everything has been printed and written: the state is no longer needed, or this says
    /// how to resume.
    pub(super) fn end(&self, unanswered: bool) -> Option<String> {
        let path = self.path.display();
        if unanswered {
            let state = self.state();
            return match state.kept {
                true => Some(format!("the search so far is in {path}: the same command resumes there")),
                // That it could not be written has been said.
                false if state.warned => None,
                false => Some(not_written(&self.path)),
            };
        }
        match fs::remove_file(&self.path) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                Some(format!("warning: cannot remove {path}: {why}"))
            }
            _ => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, write: &dyn Fn(&mut Writer<'_>)) -> io::Result<()> {
        let beside = beside(&self.path);
        let file = File::create(&beside)?;
        let mut out =
            BufWriter::with_capacity(1 << 16, Summing { file: &file, sum: crc32fast::Hasher::new() });
        let seconds = self.header.seconds + self.began.elapsed().as_secs_f64();
        serde_json::to_writer(&mut out, &Header { seconds, ..self.header.clone() })?;
        out.write_all(b"\n")?;
        let mut done = Ok(());
        write(&mut Writer::new(&mut |bytes: &[u8]| {
            if done.is_ok() {
                done = out.write_all(bytes);
            }
        }));
        done.and_then(|()| out.flush())?;
        let sum = out.get_ref().sum.clone().finalize();
        (&file).write_all(&sum.to_le_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        // So that the new name survives, too, if the machine stops; where a directory cannot be
        // opened, that is as good as it gets.
        if let Some(folder) = self.path.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Keeper for Checkpoint {
    fn is_due(&self) -> bool {
        let state = self.state();
        state.written.elapsed() >= state.pause
    }

    /// A state that cannot be written does not stop the search; the one before it is still
    /// there.
    fn keep(&self, write: &dyn Fn(&mut Writer<'_>)) {
        let began = Instant::now();
        self.busy.store(true, Ordering::SeqCst);
        let done = self.write(write);
        self.busy.store(false, Ordering::SeqCst);
        let mut state = self.state();
        state.kept |= done.is_ok();
        if let Err(why) = done {
            let _ = fs::remove_file(beside(&self.path));
            if !state.warned {
                complain(&format!(
                    "warning: cannot write {}: {why}; the search goes on",
                    self.path.display()
                ));
            }
            state.warned = true;
        }
        (state.written, state.pause) = (Instant::now(), self.every.max(began.elapsed() * SHARE));
    }

    fn recall(&self, read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Damaged>) -> Result<bool, Damaged> {
        if !self.found {
            return Ok(false);
        }
        let recalled = body(&self.path).map_err(|_| Damaged).and_then(|(mut file, left)| {
            let mut fill = |block: &mut [u8]| file.read_exact(block).is_ok();
            let mut reader = Reader::new(left, &mut fill);
            read(&mut reader).and_then(|()| reader.finish())
        });
        self.state().damaged = recalled.is_err();
        recalled.map(|()| true)
    }
}

/// Says what is in the file of a search that ended before it could be written.
fn not_written(path: &Path) -> String {
    let why = "this run ended without a state of the search to write";
    match path.exists() {
        true => format!("{} was left as it is: {why}", path.display()),
        false => format!("no checkpoint was written to {}: {why}", path.display()),
    }
}

/// The temporary file. Its name is always the same, so that a killed process leaves at most one.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}

/// Adds up what goes through.
pub(super) struct Summing<'a> {
    pub(super) file: &'a File,
    pub(super) sum: crc32fast::Hasher,
}

impl Write for Summing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the header of a file and checks its sum.
fn examine(path: &Path) -> Result<Header, String> {
    let damaged = || "it is not a checkpoint of throng, or damaged; it is left as it is".to_string();
    let file = File::open(path).map_err(|why| why.to_string())?;
    let length = file.metadata().map_err(|why| why.to_string())?.len();
    let summed = length.checked_sub(CHECKSUM).ok_or_else(damaged)?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let (mut line, mut sum) = (Vec::new(), crc32fast::Hasher::new());
    file.by_ref().take(summed.min(LONGEST_HEADER)).read_until(b'\n', &mut line).map_err(|_| damaged())?;
    let header: Header = serde_json::from_slice(&line).map_err(|_| damaged())?;
    if (&*header.throng, header.layout) != (env!("CARGO_PKG_VERSION"), LAYOUT) {
        return Err(format!(
            "it was written by throng {} (layout {}), and this is throng {} (layout {LAYOUT})",
            header.throng,
            header.layout,
            env!("CARGO_PKG_VERSION")
        ));
    }
    sum.update(&line);
    let mut rest = file.by_ref().take(summed - line.len() as u64);
    loop {
        let block = rest.fill_buf().map_err(|why| why.to_string())?;
        if block.is_empty() {
            break;
        }
        sum.update(block);
        let read = block.len();
        rest.consume(read);
    }
    let mut wanted = [0; CHECKSUM as usize];
    file.read_exact(&mut wanted).map_err(|_| damaged())?;
    if u32::from_le_bytes(wanted) == sum.finalize() { Ok(header) } else { Err(damaged()) }
}

/// The file after its header, and how long the state is.
fn body(path: &Path) -> io::Result<(BufReader<File>, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut file = BufReader::with_capacity(1 << 16, file);
    let header = file.read_until(b'\n', &mut Vec::new())? as u64;
    Ok((file, length.saturating_sub(header + CHECKSUM)))
}

/// Returns the question in one line.
fn question(problem: &Problem) -> String {
    let Problem { initial, initial_text, targets, bound, .. } = problem;
    let targets = hash(&format!("{initial:?} {targets:?}"));
    format!("{initial_text}, {bound:?}, {} targets {targets}", problem.targets.len())
}

/// Returns the options that change the search, in one line. Limits on time and the number of cores
/// do not.
fn options(args: &CheckArgs) -> String {
    let mut options = match args.search.engine {
        Engine::KarpMiller => return "karp-miller".into(),
        engine => engine.name().to_string(),
    };
    let said = [
        (
            args.search.engine == Engine::Explicit && !super::check::settings(args).partial_order,
            " without partial orders",
        ),
        (args.stop_at_first, " --stop-at-first"),
    ];
    said.into_iter().filter(|(is, _)| *is).for_each(|(_, words)| options.push_str(words));
    options
}

/// Returns what differs between two headers, if anything.
pub(super) fn differs(earlier: &Header, now: &Header) -> Option<String> {
    let both = |what: &str, earlier: &str, now: &str| {
        Some(format!("it is about another {what}\n  then: {earlier}\n  now:  {now}"))
    };
    if (&earlier.throng, earlier.layout) != (&now.throng, now.layout) {
        return Some(format!("it was written by throng {} (layout {})", earlier.throng, earlier.layout));
    }
    if earlier.input != now.input {
        return Some("it is about another input, or the input has changed".into());
    }
    if earlier.question != now.question {
        return both("question", &earlier.question, &now.question);
    }
    if earlier.options != now.options {
        return both("search", &earlier.options, &now.options);
    }
    None
}

pub(super) fn refused(path: &Path, why: &str) -> Failure {
    Failure::Other(format!("cannot use the checkpoint {}: {why}", path.display()))
}
