//! Standard output, standard error, and the thread that the work runs on.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::ColorChoice;

use super::checkpoint::{Checkpoint, Kept};
use super::machine;
use super::meter::Meter;
use super::{InputArgs, OutputArgs, files};
use throng::{Error, Input, Job, PROVER, Prepared, Remark};
use throng_engine::checkpoint::Keeper;
use throng_engine::{Progress, Watch};
use throng_lang::load::{self, Format, Reading, Rejected};
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::{Diagnostic, Source, render};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

/// Deeply nested inputs recurse deeply; this is address space, not memory.
const STACK: usize = 256 << 20;

/// Time limit for a stopped search to report what it knows.
const GRACE: Duration = Duration::from_millis(900);

/// Interval at which limits are checked.
const GLANCE: Duration = Duration::from_millis(10);

/// Time for which a limit may be exceeded while the input is read,
const MOMENT: Duration = Duration::from_millis(100);

/// and while searching: the search looks at limits, too, and has something to say then. Half a
/// second is what is promised; the rest of it is for the process to end.
const PATIENCE: Duration = Duration::from_millis(300);

/// The same where several processes stop together.
const TOGETHER: Duration = Duration::from_secs(5);

/// Makes the text for standard output if nothing else will be written, given the reason and what is
/// still being done.
pub type LastWords = Arc<dyn Fn(&Unknown, &str) -> String + Send + Sync>;

/// What is written if a search does not come to an end, although something is known before it.
pub struct Known {
    /// The report.
    pub text: String,
    /// The exit status.
    pub status: u8,
    /// Files beside it.
    pub files: Vec<(PathBuf, String)>,
}

/// The output of a command and its settings.
pub struct Console {
    /// The output options of the user.
    pub output: OutputArgs,
    /// True if standard output shows colours.
    pub colour: bool,
    colour_messages: bool,
    meter: Meter,
    said: Arc<Mutex<Printed>>,
    doing: Arc<Mutex<Doing>>,
    /// True if a stopped search has to wait for other processes.
    patient: Arc<AtomicBool>,
    kept: Arc<Kept>,
    known: Arc<Mutex<Option<Known>>>,
}

/// The phases of a command.
#[derive(Clone, PartialEq, Eq, Default)]
enum Doing {
    /// Nothing that limits are for.
    #[default]
    Else,
    /// It reads the input, without looking at limits.
    Reading,
    /// It searches: what was last heard of that, if anything.
    Searching(Option<String>),
}

impl Doing {
    fn words(&self) -> String {
        match self {
            Doing::Else => "still ending".into(),
            Doing::Reading => "still reading the input".into(),
            Doing::Searching(None) => "still preparing the search".into(),
            Doing::Searching(Some(what)) => format!("still {what}"),
        }
    }
}

/// The report that has been written to standard output: never both.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Printed {
    #[default]
    Nothing,
    /// The command.
    Answer,
    /// The watchdog, because a command that was asked to stop did not.
    LastWords,
}

/// Reasons why a command cannot be carried out: the exit status is 2.
pub enum Failure {
    /// The input or an option is wrong.
    Wrong(Vec<SourceDiagnostic>),
    /// Something else, in one or more lines.
    Other(String),
    /// A file could not be written.
    Unwritten(String),
}

impl Failure {
    /// A result, and apart from it a file that could not be written.
    pub fn unwritten<T: Default>(done: Result<T, Failure>) -> Result<(T, Option<Failure>), Failure> {
        match done {
            Ok(done) => Ok((done, None)),
            Err(why @ Failure::Unwritten(_)) => Ok((T::default(), Some(why))),
            Err(why) => Err(why),
        }
    }
}

/// As text without colours, for documents.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Wrong(diagnostics) => {
                let shown = |c: &SourceDiagnostic| render(&c.diagnostic, &c.source, false);
                f.write_str(diagnostics.iter().map(shown).collect::<String>().trim_end())
            }
            Failure::Other(message) | Failure::Unwritten(message) => f.write_str(message),
        }
    }
}

impl From<Rejected> for Failure {
    fn from(rejected: Rejected) -> Failure {
        Error::from(rejected).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Refused(diagnostics) => Failure::Wrong(diagnostics),
            Error::Flawed(..) => Failure::Other(format!(
                "internal error: {error}\nThis is a bug in throng, not in your input. Please report it with the command \
                 you ran, the input file and the version ({}).",
                env!("CARGO_PKG_VERSION")
            )),
            error => Failure::Other(error.to_string()),
        }
    }
}

impl From<Vec<SourceDiagnostic>> for Failure {
    fn from(diagnostics: Vec<SourceDiagnostic>) -> Failure {
        Failure::Wrong(diagnostics)
    }
}

impl From<io::Error> for Failure {
    fn from(why: io::Error) -> Failure {
        Failure::Other(why.to_string())
    }
}

impl Console {
    /// A console with the colours that the options and the terminals ask for.
    pub fn new(output: OutputArgs) -> Console {
        Console {
            output,
            colour: coloured(output.color, io::stdout().is_terminal()),
            colour_messages: coloured(output.color, io::stderr().is_terminal()),
            meter: Meter::new(output),
            said: Arc::default(),
            doing: Arc::default(),
            patient: Arc::default(),
            kept: Arc::default(),
            known: Arc::default(),
        }
    }

    /// What is known is written if the search that comes does not end.
    pub(super) fn keep_known(&self, known: Known) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }

    /// The state of the search that comes will be kept in this file.
    pub(super) fn will_keep_in(&self, path: &Path) {
        let _ = self.kept.path.set(path.into());
    }

    /// Keeps the state of the search that comes in a file.
    pub(super) fn keep_in(&self, checkpoint: Checkpoint) {
        let _ = self.kept.checkpoint.set(checkpoint);
    }

    /// The file with the state of the search, if there is one.
    pub(super) fn checkpoint(&self) -> Option<&Checkpoint> {
        self.kept.checkpoint.get()
    }

    /// Lets Ctrl-C (or a request to terminate) stop whatever obeys `limits`, and shows progress
    /// until something is printed.
    ///
    /// What does not obey soon is not waited for: `last_words` go to standard output and the exit
    /// status is 1; so they do if a limit is hit before the input has been read, or if a search
    /// does not come to an end soon after one was hit. A second Ctrl-C ends the process at once.
    pub fn begin(&self, limits: &Limits, last_words: LastWords) {
        self.meter.start(limits);
        self.listen(limits, Some(last_words.clone()));
        self.now(Doing::Reading);
        let (ending, doing, limits) = (self.ending(), self.doing.clone(), limits.clone());
        let patient = self.patient.clone();
        let _ = thread::Builder::new().spawn(move || {
            let mut over: Option<Instant> = None;
            loop {
                let doing = doing.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let patience = match doing {
                    Doing::Else => return,
                    Doing::Reading => MOMENT,
                    Doing::Searching(_) if patient.load(Ordering::SeqCst) => TOGETHER,
                    Doing::Searching(_) => PATIENCE,
                };
                // A search that is writing down how far it has come has noticed.
                let busy = ending.kept.is_busy();
                match limits.check() {
                    // The interrupt handler takes care of that.
                    Err(Unknown::Cancelled) => return,
                    Err(why) if !busy => {
                        let since = over.get_or_insert_with(Instant::now).elapsed();
                        let far = limits.memory_limit().is_some_and(|most| {
                            // The operating system would end the process soon.
                            let all = machine::memory().map_or(u64::MAX, |bytes| bytes / 8 * 7);
                            limits.memory_in_use() > all.min(2 * most)
                        });
                        if since >= patience || far {
                            return ending.give_up(&last_words, &why);
                        }
                    }
                    Ok(()) | Err(_) => over = None,
                }
                thread::sleep(GLANCE);
            }
        });
    }

    /// A search that stops has to wait for other processes.
    #[cfg(feature = "cluster")]
    pub fn wait_for_others(&self) {
        self.patient.store(true, Ordering::SeqCst);
    }

    /// Returns a function that ends the process with these last words, unless there is an answer.
    #[cfg(feature = "cluster")]
    pub fn emergency(&self, last_words: LastWords) -> Arc<dyn Fn(&str) + Send + Sync> {
        let ending = self.ending();
        Arc::new(move |why| ending.give_up(&last_words, &Unknown::Inconclusive(why.into())))
    }

    fn ending(&self) -> Ending {
        let doing = self.doing.clone();
        let (said, kept, known) = (self.said.clone(), self.kept.clone(), self.known.clone());
        Ending { said, doing, kept, known, quiet: self.output.quiet }
    }

    fn now(&self, doing: Doing) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
    }

    /// Lets Ctrl-C (or a request to terminate) stop whatever obeys `limits`, and waits for it.
    pub fn stoppable(&self, limits: &Limits) {
        self.listen(limits, None);
    }

    fn listen(&self, limits: &Limits, last_words: Option<LastWords>) {
        let stopper = limits.stopper();
        let asked = AtomicBool::new(false);
        let (ending, patient) = (self.ending(), self.patient.clone());
        let handled = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            stopper.stop();
            let Some(last_words) = last_words.clone() else { return };
            let (ending, patient) = (ending.clone(), patient.clone());
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(if patient.load(Ordering::SeqCst) { TOGETHER } else { GRACE });
                // A search that is writing down how far it has come has heard.
                while ending.kept.is_busy() {
                    thread::sleep(GRACE);
                }
                ending.give_up(&last_words, &Unknown::Cancelled);
            });
        });
        if let Err(why) = handled {
            complain(&format!("warning: Ctrl-C will end throng at once: {why}"));
        }
    }

    /// Writes to standard output. A closed pipe (`| head`) is not an error.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        self.has_answer();
        self.meter.stop();
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Printed::Answer;
        let mut out = io::stdout().lock();
        forgive_closed_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// A message on standard error.
    pub fn note(&self, text: &str) {
        if !self.output.quiet {
            complain(text);
        }
    }

    /// Reads the input of a command and shows its warnings.
    pub(super) fn open(&self, args: &InputArgs, reading: Reading) -> Result<Input, Failure> {
        self.open_within(args, &[], reading, &Limits::none())?.map_err(|why| Error::Impossible(why).into())
    }

    /// The same within limits; the inner result says which one was hit. `more`: further files of
    /// the same program.
    pub(super) fn open_within(
        &self,
        args: &InputArgs,
        more: &[PathBuf],
        reading: Reading,
        limits: &Limits,
    ) -> Result<Result<Input, Unknown>, Failure> {
        args.refuse()?;
        let named = args.file.iter().chain(&args.project).chain(&args.library);
        named.for_each(|file| files::was_read(file));
        let opened = match args.format() {
            Some(Format::C) => args.read_c(more, limits)?,
            Some(Format::Rust) => args.read_rust(limits),
            _ => Input::open_within(args.file(), reading, limits),
        };
        match opened {
            Err(Error::Impossible(why)) => Ok(Err(why)),
            Err(error) => Err(error.into()),
            Ok(input) => {
                input.files().iter().for_each(|file| files::was_read(file));
                self.describe(&input);
                Ok(Ok(input))
            }
        }
    }

    /// Shows the warnings about an input, and what it is.
    fn describe(&self, input: &Input) {
        self.warn(&input.warnings().collect::<Vec<_>>());
        if self.output.verbose {
            let what = input.format().description();
            let steps = input.loaded().and_then(|loaded| match &loaded.input {
                load::Input::Program(_) => None,
                load::Input::System(s) => Some(format!(", {} steps", s.table.steps().len())),
            });
            self.note(&format!("{}: {what}{}", input.name(), steps.unwrap_or_default()));
        }
    }

    /// Shows what the reader of a program takes for granted or leaves open, for commands whose
    /// reports do not say so.
    pub fn assume(&self, prepared: &Prepared) {
        prepared.notes().iter().for_each(|note| self.note(&format!("note: {note}")));
    }

    /// Shows what is said beside a verdict.
    pub fn remark(&self, remarks: &[Remark]) {
        for remark in remarks {
            match remark {
                Remark::Round(what) if self.output.verbose => self.note(what),
                Remark::Round(_) => {}
                Remark::Misuse(what) => self.note(&format!("warning: {what}")),
                other => self.note(&format!("note: {other}")),
            }
        }
    }

    /// Says what is in the checkpoint of a command that ends without an answer.
    pub fn part(&self) {
        self.kept.parting().into_iter().for_each(|how| self.note(&how));
    }

    /// Puts the question of a job together; shows warnings.
    pub fn prepare<'j, 'a>(
        &self,
        job: &'j Job<'a>,
        prepare: impl FnOnce(&'j Job<'a>) -> Result<&'j Prepared, Error>,
    ) -> Result<&'j Prepared, Failure> {
        job.property_file().iter().for_each(|file| files::was_read(file));
        let prepared = prepare(job)?;
        self.has_read();
        self.warn(&prepared.warnings);
        Ok(prepared)
    }

    /// Shows warnings, unless they are not wanted.
    pub fn warn(&self, warnings: &[SourceDiagnostic]) {
        if !self.output.quiet {
            warnings.iter().for_each(|c| self.diagnostics(&c.source, std::slice::from_ref(&c.diagnostic)));
        }
    }

    /// Marks the input as read: from here on the command itself checks limits.
    pub fn has_read(&self) {
        let mut doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        if *doing == Doing::Reading {
            *doing = Doing::Searching(None);
        }
    }

    /// There is an answer; to write it down takes as long as it takes.
    pub fn has_answer(&self) {
        self.now(Doing::Else);
    }

    /// Shows why a command cannot be carried out.
    pub fn fail(&self, failure: &Failure) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Printed::Answer;
        self.has_answer();
        self.meter.stop();
        match failure {
            Failure::Other(message) | Failure::Unwritten(message) => complain(&format!("error: {message}")),
            Failure::Wrong(diagnostics) => {
                let quiet = |c: &&SourceDiagnostic| !self.output.quiet || c.diagnostic.is_error();
                for c in diagnostics.iter().filter(quiet) {
                    self.diagnostics(&c.source, std::slice::from_ref(&c.diagnostic));
                }
                if let Some(first) = diagnostics.iter().find(|c| c.diagnostic.is_error())
                    && io::stderr().is_terminal()
                {
                    self.note(&format!("`throng explain {}` says more", first.diagnostic.code));
                }
            }
        }
    }

    fn diagnostics(&self, source: &Arc<Source>, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            complain(&render(diagnostic, source, self.colour_messages));
        }
    }
}

impl Watch for Console {
    fn progress(&self, now: &Progress) {
        self.meter.hear(now);
        let mut doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Doing::Searching(heard) = &mut *doing {
            *heard = Some(match now.engine {
                PROVER => now.phase.clone(),
                engine => format!("searching ({engine}: {})", now.phase),
            });
        }
    }

    fn keeper(&self) -> Option<&dyn Keeper> {
        self.kept.checkpoint.get().map(|checkpoint| checkpoint as &dyn Keeper)
    }
}

/// Ends the process from a thread other than that of the command.
#[derive(Clone)]
struct Ending {
    said: Arc<Mutex<Printed>>,
    doing: Arc<Mutex<Doing>>,
    kept: Arc<Kept>,
    known: Arc<Mutex<Option<Known>>>,
    quiet: bool,
}

impl Ending {
    /// Ends the process with these words, unless there is an answer.
    fn give_up(&self, last_words: &LastWords, why: &Unknown) {
        let doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner).words();
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if *said == Printed::Answer {
            return;
        }
        *said = Printed::LastWords;
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).take();
        let known =
            known.unwrap_or_else(|| Known { text: last_words(why, &doing), status: 1, files: Vec::new() });
        let mut out = io::stdout().lock();
        let _ = out.write_all(known.text.as_bytes()).and_then(|()| out.flush());
        for (path, text) in &known.files {
            files::replace(path, text).unwrap_or_else(|why| complain(&format!("error: {why}")));
        }
        self.kept.parting().filter(|_| !self.quiet).into_iter().for_each(|how| complain(&how));
        std::process::exit(known.status.into());
    }
}

/// A closed pipe is not an error.
pub fn forgive_closed_pipe(done: io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Other(format!("cannot write to standard output: {why}")))
        }
        _ => Ok(()),
    }
}

/// A line on standard error; if that is closed, the line is lost.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}

fn coloured(choice: ColorChoice, terminal: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}

/// Runs `work` on a thread with a large stack; a panic there becomes an `Err` with its message.
pub fn with_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let message = Arc::new(Mutex::new(String::new()));
    let hook = message.clone();
    panic::set_hook(Box::new(move |info| {
        hook.lock().unwrap_or_else(PoisonError::into_inner).push_str(&info.to_string());
    }));
    let started = thread::Builder::new().name("throng".into()).stack_size(STACK).spawn(work);
    match started {
        Err(why) => Err(format!("cannot start a thread: {why}")),
        Ok(running) => {
            running.join().map_err(|_| message.lock().unwrap_or_else(PoisonError::into_inner).clone())
        }
    }
}
