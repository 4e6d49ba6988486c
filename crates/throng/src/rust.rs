//! Rust as an input: files, packages, and functions of a test.
//!
//! ```no_run
//! # mod spin { pub struct SpinLock<T>(T); impl<T> SpinLock<T> {
//! # pub const fn new(t: T) -> Self { SpinLock(t) } pub fn lock(&self) {} } }
//! # use spin::SpinLock;
//! static LOCK: SpinLock<u32> = SpinLock::new(0);
//!
//! fn worker() {
//!     let _guard = LOCK.lock();
//! }
//!
//! # #[allow(clippy::test_attr_in_doctest)]
//! #[test]
//! fn it_excludes_for_any_number_of_threads() {
//!     throng::rust::check!(any: worker).race().run();
//! }
//! ```
//!
//! The test compiles its own crate a second time, to LLVM IR, in `target/throng`, and asks about
//! functions of it. It fails if there is a violation, with the run in lines of Rust, and if the
//! answer is not known, unless [`Check::or_bounded`] is said.

use std::any::type_name;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::code::rust::{Compiled, compile};
use crate::error::Error;
use crate::input::Input;
use crate::job::{Job, Property};
use crate::outcome::Outcome;
use crate::report::text;
use throng_engine::Engine;
use throng_lang::question::Question;
use throng_model::limits::Limits;

pub use crate::__rust_check as check;
pub use throng_rust::{Options, Package, Target};

/// Asks about functions of the crate that it is written in, by the roles that threads have:
/// `any: f`, any number of threads call f; `one: f`, one thread calls it; `setup: f`, it runs first,
/// and what it leaves in memory is where the others start. Each role may be given several times,
/// `setup` once.
///
/// The result is a [`Check`], to be asked more, and [run](Check::run).
#[doc(hidden)]
#[macro_export]
macro_rules! __rust_check {
    ($($role:ident : $function:expr),+ $(,)?) => {{
        let place = (env!("CARGO_MANIFEST_DIR"), env!("CARGO_PKG_NAME"), module_path!());
        $crate::rust::Check::new(place, |report| println!("{report}"))
            $(.$role(&$function))+
    }};
}

/// A question about functions of a crate, put together in a test of it.
#[must_use = "nothing is checked before `run`"]
pub struct Check {
    package: Package,
    print: fn(&str),
    question: Question,
    properties: Vec<Property>,
    bounded: Option<u32>,
    timeout: Duration,
    /// What is wrong with the question.
    wrong: Option<String>,
}

impl Check {
    /// Returns the question whether a panic is reached, about the crate of a package that a module
    /// is in; `print` shows a report.
    #[doc(hidden)]
    pub fn new((folder, package, module): (&str, &str, &str), print: fn(&str)) -> Check {
        let name = module.split("::").next().unwrap_or_default().to_string();
        let target = Target::Crate(name);
        Check {
            package: Package { name: Some(package.into()), target, ..Package::new(folder) },
            print,
            question: Question::default(),
            properties: Vec::new(),
            bounded: None,
            timeout: Duration::from_secs(60),
            wrong: None,
        }
    }

    /// Any number of threads call this function.
    pub fn any<F>(mut self, _: &F) -> Check {
        let name = self.path::<F>();
        self.question.code.entries.push(name);
        self
    }

    /// One thread calls this function.
    pub fn one<F>(mut self, _: &F) -> Check {
        let name = self.path::<F>();
        self.question.code.one.push(name);
        self
    }

    /// This function runs to its end before any other.
    pub fn setup<F>(mut self, _: &F) -> Check {
        let name = self.path::<F>();
        if self.question.code.setup.replace(name).is_some() {
            self.wrong = Some("`setup` is given twice: call both functions in one".into());
        }
        self
    }

    /// The path of a function, as the compiler calls its type.
    fn path<F>(&mut self) -> String {
        let path = type_name::<F>();
        if path.contains("{{closure}}") || path.starts_with(['&', '(']) || !path.contains("::") {
            self.wrong = Some(format!("`{path}` is not a function: name a function of the crate"));
        }
        path.into()
    }

    /// Asks also that there is no data race.
    pub fn race(self) -> Check {
        self.also(Property::NoDataRace)
    }

    /// Asks also that there is no deadlock.
    pub fn deadlock(self) -> Check {
        self.also(Property::NoDeadlock)
    }

    /// Asks also that nothing is accessed outside of live objects, and nothing is freed twice.
    pub fn memory_safe(self) -> Check {
        self.also(Property::MemorySafe)
    }

    fn also(mut self, property: Property) -> Check {
        self.properties.push(property);
        self
    }

    /// Asks about sequential consistency only, whatever memory orders the program names.
    pub fn sequentially_consistent(mut self) -> Check {
        self.question.code.memory_model = Some(throng_model::memory::MemoryModel::Sequential);
        self
    }

    /// Asks about at most so many threads at a time.
    pub fn threads(mut self, most: u32) -> Check {
        self.question.threads = Some(most);
        self
    }

    /// Where there is no answer for any number of threads, one for at most so many will do.
    pub fn or_bounded(mut self, most: u32) -> Check {
        self.bounded = Some(most);
        self
    }

    /// Gives up after this long, which is a minute otherwise.
    pub fn timeout(mut self, limit: Duration) -> Check {
        self.timeout = limit;
        self
    }

    /// With arguments for cargo: features, which are those of the package by default.
    pub fn cargo_arguments<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Check {
        self.package.arguments.extend(words.into_iter().map(String::from));
        self
    }

    /// Answers the question, and prints what the answer takes for granted.
    ///
    /// # Panics
    ///
    /// Where there is a violation, or no answer.
    #[track_caller]
    pub fn run(self) {
        let print = self.print;
        match self.answer() {
            Ok(Answered { report, holds: true }) => print(&report),
            Ok(Answered { report, holds: false }) => panic!("\n{report}"),
            Err(why) => panic!("\n{why}"),
        }
    }

    fn answer(self) -> Result<Answered, Refused> {
        if let Some(why) = &self.wrong {
            return Err(Refused(why.clone()));
        }
        let compiled = compile(&self.package, &Limits::none())?;
        let kept = compiled.kept(&format!("{:?} {:?} {:?}", self.question, self.properties, self.bounded));
        if let Some(report) = kept.as_ref().and_then(|path| fs::read_to_string(path).ok()) {
            return Ok(Answered {
                report: format!("{report}(as before: nothing has changed)\n"),
                holds: true,
            });
        }
        let answered = self.ask(compiled)?;
        if let Some(path) = kept.filter(|_| answered.holds) {
            keep(&path, &answered.report);
        }
        Ok(answered)
    }

    /// Searches; within a bound, if nothing is known without one and a bound was given.
    fn ask(&self, compiled: Compiled) -> Result<Answered, Refused> {
        let input = Input::compiled(compiled);
        let outcome = self.outcome(&input, self.question.threads)?;
        let unknown = !outcome.is_safe() && !outcome.is_unsafe();
        let Some(most) = self.bounded.filter(|_| unknown) else {
            return Ok(answered(&outcome, ""));
        };
        let bounded = self.outcome(&input, Some(most))?;
        Ok(answered(&bounded, &format!("for any number of threads: {}\n", first_line(&outcome))))
    }

    fn outcome(&self, input: &Input, threads: Option<u32>) -> Result<Outcome, Error> {
        let question = Question { threads, ..self.question.clone() };
        let mut job = Job::new(input).question(question);
        for property in self.properties.iter().cloned().chain(self.beside()) {
            job = job.property(property);
        }
        job.check(Engine::Auto, &Limits::none().timeout(self.timeout))
    }

    /// Panics are asked about whatever else is.
    fn beside(&self) -> Option<Property> {
        (!self.properties.is_empty()).then_some(Property::Assertions)
    }
}

/// What came of a question.
struct Answered {
    report: String,
    holds: bool,
}

fn answered(outcome: &Outcome, before: &str) -> Answered {
    let report = outcome.text(text::Options::default());
    Answered { report: format!("{before}{report}"), holds: outcome.is_safe() }
}

fn first_line(outcome: &Outcome) -> String {
    let report = outcome.text(text::Options::default());
    report.lines().next().unwrap_or_default().to_string()
}

/// Keeps a report for the next run. Where that fails, the next run takes longer.
fn keep(path: &Path, report: &str) {
    if let Some(folder) = path.parent() {
        _ = fs::create_dir_all(folder);
    }
    let partial: PathBuf = path.with_extension(format!("{}.part", std::process::id()));
    if fs::write(&partial, report).is_ok() {
        _ = fs::rename(&partial, path);
    }
}

/// Why a question was not answered.
struct Refused(String);

impl From<Error> for Refused {
    fn from(why: Error) -> Refused {
        Refused(why.to_string())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
