//! The front door: an input, a question about it, and the four things one can do with it.
//!
//! A [`Job`] is checked ([`Job::check`]), its thread states are listed ([`Job::reach`]), its cutoff
//! is found ([`Job::cutoff`]), or a certificate about it is checked ([`Job::certify`]). The command
//! line has no other way to do any of this.

mod bounds;
mod cutoff;
mod execution;
mod mutate;
mod orders;
mod reach;
mod refines;
pub(crate) mod slices;

pub use self::cutoff::CutoffMethod;
pub use self::reach::Moments;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

#[cfg(feature = "code")]
use crate::code::{self, Posed};
use crate::error::Error;
use crate::findings::Baseline;
#[cfg(feature = "code")]
use crate::input::Content;
use crate::input::Input;
use crate::outcome::{Outcome, Phases, Subject};
use crate::vacuity::vacuous;
use throng_check::Checked;
use throng_check::certificate::Document;
use throng_check::certificate::write::Origin;
use throng_check::certify::{Asked, Certified, certify};
use throng_check::rules;
use throng_engine::deadlock::{self, Method};
use throng_engine::{self as engine, Answer, Silent, Statistics, Watch};
use throng_engine::{Engine, Settings};
use throng_lang::load::Loaded;
use throng_lang::question::{PosedProblem, Question, SourceDiagnostic};
use throng_lang::source::Source;
use throng_lang::vocabulary::Vocabulary;
use throng_model::assumption::Assumption;
use throng_model::limits::{Limits, memory_in_use, peak_memory};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Unknown, Verdict};

/// Answers the questions that a file asks: for any number of threads, without limits, all evidence
/// checked.
///
/// ```no_run
/// let outcome = throng::verify("examples/spinlock-broken.bp")?;
/// if let Some(run) = outcome.trace() {
///     println!("broken by {} threads in {} steps", run.threads(), run.steps.len());
/// }
/// # Ok::<(), throng::Error>(())
/// ```
pub fn verify(path: impl AsRef<Path>) -> Result<Outcome, Error> {
    Job::new(&Input::open(path)?).check(Engine::Auto, &Limits::none())
}

/// A property of an input. Assertions of programs, and targets that an input or a file beside it
/// names, are asked for without being mentioned.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Property {
    /// Programs: no thread reaches this label.
    NeverAt(String),
    /// Programs: no two threads are at this label, no thread being inside an atomic section. `A|B`:
    /// no two are at these; `A, B`: none is at A while another is at B.
    NeverTwoAt(String),
    /// Programs: `L=2`, at most two threads are at L, no thread being inside an atomic section.
    AtMost(String),
    /// Programs: `L & x, M & !y`, no thread is at L and sees x true while another is at M and sees
    /// y false.
    NeverTogether(String),
    /// Programs: no two threads are about to access this shared variable, one of them to write it,
    /// no thread being inside an atomic section.
    NoRace(String),
    /// No configuration is reached in which no thread can move although some thread has not ended.
    NoDeadlock,
    /// Programs: no thread at this place (`L`, `L|M`, or `wait` for all waits) can get stuck there
    /// for ever, whatever the others do.
    NeverStuckAt(String),
    /// Programs, C: under a fair scheduler every thread at this place (`L`, `L|M`) gets past it
    /// (`--starvation`).
    Leaves(String),
    /// Programs: this expression over the shared variables always holds.
    Invariant(String),
    /// No configuration like this is reached: `s|l,l` of systems, `x=1 | L: a=0, M` of programs.
    Never(String),
    /// Source code: no two threads are about to access the same memory, one of them to write it,
    /// not both atomically.
    NoDataRace,
    /// Source code: no computation with signed integers overflows, divides by zero or shifts too
    /// far.
    NoOverflow,
    /// Source code: no thread releases a lock that it does not hold, no lock is destroyed while it
    /// is held.
    NoLockMisuse,
    /// Source code: nothing is accessed outside of live objects, and nothing is freed twice.
    MemorySafe,
    /// Source code: no assertion fails, which need not be said unless another kind of failure is
    /// asked for.
    Assertions,
}

/// Where an input starts.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Start {
    /// Programs: so many threads at the entry of `main`.
    Threads(u32),
    /// Programs: any number of threads at the entry of `main`.
    AnyNumber,
    /// Systems: `s|l,l/u,u`, threads in l and l, any number in u and u.
    Configuration(String),
    /// Source code: any number of threads each call one of these functions, and `main` is not run.
    Entries(Vec<String>),
}

/// What lists of states take for granted.
const SEQUENTIAL: &[Assumption] = &[Assumption::SequentialConsistency { guaranteed: false }];

/// A question about an input, and how to search for the answer.
///
/// ```
/// use std::time::Duration;
/// use throng::{Engine, Format, Input, Job, Limits, Progress};
///
/// let program = "decl lock := 0;
///     void main() begin
///       while * do lock := 1 constrain !lock; CRITICAL: skip; lock := 0; od
///     end";
/// let input = Input::from_text(program, Format::Bp)?;
/// let watch = |now: &Progress| assert_eq!(now.engine, "backward");
/// let job = Job::new(&input).never_two_at("CRITICAL").watch(&watch);
/// let limits = Limits::none().timeout(Duration::from_secs(20));
/// let stopper = limits.stopper(); // `stopper.stop()` from any thread ends the search
/// let outcome = job.check(Engine::Backward, &limits)?;
/// assert!(outcome.is_safe(), "{outcome}");
/// # drop(stopper);
/// # Ok::<(), throng::Error>(())
/// ```
pub struct Job<'a> {
    input: Option<Input>,
    question: Question,
    pub(crate) settings: Settings,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) checks: bool,
    strict: bool,
    /// What is known of possible races.
    pub(crate) baseline: Option<Arc<Baseline>>,
    fails_on_possible: bool,
    /// What is given the outcome so far, before a search that may not end.
    #[cfg(feature = "code")]
    so_far: Option<&'a (dyn Fn(&Outcome) + Sync)>,
    /// Proofs that can be written as a certificate are preferred.
    #[cfg(feature = "code")]
    pub(crate) certifiable: bool,
    /// The problem, once it was asked for; for [`Job::check`], and for [`Job::reach`] and
    /// [`Job::cutoff`].
    prepared: [OnceLock<Result<Prepared, Error>>; 2],
}

/// A question that was put together: what engines get.
#[derive(Clone)]
#[non_exhaustive]
pub struct Prepared {
    /// What the engines answer.
    pub problem: Problem,
    /// Warnings about the question and about files of properties.
    pub warnings: Vec<SourceDiagnostic>,
    left_out: Vec<(String, String)>,
    /// The input, read as the question needs it.
    input: Option<Input>,
    /// The text behind a problem that was not read from an input.
    source: Option<Arc<Source>>,
    /// The program in a source language behind the problem.
    #[cfg(feature = "code")]
    pub(crate) posed: Option<Arc<Posed>>,
    took: Duration,
}

impl Prepared {
    /// What a certificate of an answer is about, unless the problem was not read from an input.
    pub fn origin(&self) -> Option<Origin<'_>> {
        let input = self.input.as_ref()?;
        Some(Origin { loaded: input.loaded()?, reading: input.reading(), problem: &self.problem })
    }

    /// The model that the reader made of the input, unless it is in a source language.
    pub fn loaded(&self) -> Option<&Arc<Loaded>> {
        self.input.as_ref().and_then(Input::loaded)
    }

    /// What the reader of a source language takes for granted or leaves open.
    pub fn notes(&self) -> &[Assumption] {
        #[cfg(feature = "code")]
        if let Some(posed) = &self.posed {
            return posed.notes();
        }
        if orders::is_weak(self) { SEQUENTIAL } else { &[] }
    }

    /// A program in a source language as it is executed: calls inlined, every access written out.
    #[cfg(feature = "code")]
    pub fn goto(&self) -> Option<String> {
        self.posed.as_ref().map(|posed| posed.print())
    }

    /// The control-flow graph of a program in a source language, for Graphviz.
    #[cfg(feature = "code")]
    pub fn flow(&self) -> Option<String> {
        self.posed.as_ref().map(|posed| posed.dot())
    }

    /// The Boolean program at the end of the predicate abstraction of a program in a source
    /// language; `round` hears of each round.
    #[cfg(feature = "code")]
    pub fn abstraction(&self, limits: &Limits, round: &mut dyn FnMut(&str)) -> Option<Result<String, Error>> {
        self.posed.as_ref().map(|posed| posed.abstraction(limits, round))
    }

    /// Why what is reached is not known, whatever a search finds.
    fn doubt(&self) -> Option<Unknown> {
        #[cfg(feature = "code")]
        if let Some(posed) = &self.posed {
            return posed.doubt();
        }
        None
    }

    /// What reports say about it.
    pub(crate) fn subject(&self, vocabulary: &'static Vocabulary) -> Subject {
        match &self.input {
            None => Subject { source: self.source.clone(), format: None, vocabulary },
            Some(input) => {
                Subject { source: Some(input.source().clone()), format: Some(input.format()), vocabulary }
            }
        }
    }
}

impl<'a> Job<'a> {
    /// What the input itself asks, for any number of threads.
    pub fn new(input: &Input) -> Job<'a> {
        Job {
            input: Some(input.clone()),
            question: Question::default(),
            settings: Settings::default(),
            watch: &Silent,
            checks: true,
            strict: false,
            baseline: None,
            fails_on_possible: false,
            #[cfg(feature = "code")]
            so_far: None,
            #[cfg(feature = "code")]
            certifiable: false,
            prepared: Default::default(),
        }
    }

    /// A problem that is built already: your own, or of your own types ([`crate::template`]).
    pub fn of(problem: Problem) -> Job<'a> {
        let prepared = Prepared {
            problem,
            warnings: Vec::new(),
            left_out: Vec::new(),
            input: None,
            source: None,
            #[cfg(feature = "code")]
            posed: None,
            took: Duration::ZERO,
        };
        let ready = || OnceLock::from(Ok(prepared.clone()));
        Job {
            input: None,
            question: Question::default(),
            settings: Settings::default(),
            watch: &Silent,
            checks: true,
            strict: false,
            baseline: None,
            fails_on_possible: false,
            #[cfg(feature = "code")]
            so_far: None,
            #[cfg(feature = "code")]
            certifiable: false,
            prepared: [ready(), ready()],
        }
    }

    /// The text that a problem of [`Job::of`] was read from, for reports.
    pub fn read_from(mut self, source: Arc<Source>) -> Job<'a> {
        for prepared in self.prepared.iter_mut().filter_map(OnceLock::get_mut).flatten() {
            prepared.source = Some(source.clone());
        }
        self
    }

    /// `Err` if what is reached is not known, whatever a search finds.
    fn check_doubt(&self) -> Result<(), Unknown> {
        self.prepare_listing().ok().and_then(Prepared::doubt).map_or(Ok(()), Err)
    }

    /// Replaces the whole question.
    pub fn question(self, question: Question) -> Job<'a> {
        match self.input {
            Some(_) => Job { question, prepared: Default::default(), ..self },
            // A problem that is built already has its question.
            None => self,
        }
    }

    /// Asks for one more property.
    pub fn property(self, property: Property) -> Job<'a> {
        let mut question = self.question.clone();
        match property {
            Property::NeverAt(label) => question.error_labels.push(label),
            Property::NeverTwoAt(label) => question.mutex.push(label),
            Property::AtMost(text) => question.at_most.push(text),
            Property::NeverTogether(text) => question.never.push(text),
            Property::NoRace(name) => question.races.push(name),
            Property::NoDeadlock => question.deadlock = true,
            Property::NeverStuckAt(place) => question.stuck.push(place),
            Property::Leaves(place) => question.starvation.push(place),
            Property::Invariant(text) => question.invariants.push(text),
            Property::Never(text) => question.targets.push(text),
            Property::NoDataRace => question.code.data_race = true,
            Property::NoOverflow => question.code.overflow = true,
            Property::NoLockMisuse => question.code.locks = true,
            Property::MemorySafe => question.code.memory_safety = true,
            Property::Assertions => question.code.assertions = true,
        }
        self.question(question)
    }

    /// No thread reaches this label.
    pub fn never_at(self, label: &str) -> Job<'a> {
        self.property(Property::NeverAt(label.into()))
    }

    /// No two threads are at this label.
    pub fn never_two_at(self, label: &str) -> Job<'a> {
        self.property(Property::NeverTwoAt(label.into()))
    }

    /// `L=2`: at most two threads are at label L.
    pub fn at_most(self, bound: &str) -> Job<'a> {
        self.property(Property::AtMost(bound.into()))
    }

    /// `L & x, M & !y`: no thread is at L and sees x true while another is at M and sees y false.
    pub fn never_together(self, threads: &str) -> Job<'a> {
        self.property(Property::NeverTogether(threads.into()))
    }

    /// No two threads are about to access this shared variable, one of them to write it.
    pub fn no_race(self, variable: &str) -> Job<'a> {
        self.property(Property::NoRace(variable.into()))
    }

    /// No configuration is reached in which no thread can move although some thread has not ended.
    pub fn no_deadlock(self) -> Job<'a> {
        self.property(Property::NoDeadlock)
    }

    /// Under a fair scheduler every thread at this place gets past it.
    pub fn leaves(self, place: &str) -> Job<'a> {
        self.property(Property::Leaves(place.into()))
    }

    /// No thread at this place can get stuck there for ever, whatever the others do.
    pub fn never_stuck_at(self, place: &str) -> Job<'a> {
        self.property(Property::NeverStuckAt(place.into()))
    }

    /// This expression over the shared variables always holds.
    pub fn always(self, expression: &str) -> Job<'a> {
        self.property(Property::Invariant(expression.into()))
    }

    /// No configuration like this is reached.
    pub fn never(self, configuration: &str) -> Job<'a> {
        self.property(Property::Never(configuration.into()))
    }

    /// Source code: no two threads are about to access the same memory, one of them to write it.
    pub fn no_data_race(self) -> Job<'a> {
        self.property(Property::NoDataRace)
    }

    /// Source code: no computation with signed integers overflows.
    pub fn no_overflow(self) -> Job<'a> {
        self.property(Property::NoOverflow)
    }

    /// Source code: no lock is misused.
    pub fn no_lock_misuse(self) -> Job<'a> {
        self.property(Property::NoLockMisuse)
    }

    /// Source code: no memory error.
    pub fn memory_safe(self) -> Job<'a> {
        self.property(Property::MemorySafe)
    }

    /// Source code: no assertion fails, asked beside other kinds of failure.
    pub fn assertions(self) -> Job<'a> {
        self.property(Property::Assertions)
    }

    /// Source code: any number of threads each call this function, and `main` is not run.
    pub fn entry(self, function: &str) -> Job<'a> {
        let mut entries = self.question.code.entries.clone();
        entries.push(function.into());
        self.start(Start::Entries(entries))
    }

    /// Rust and LLVM IR: this function runs to its end before any other, and what it leaves in
    /// memory is where threads start.
    pub fn setup(self, function: &str) -> Job<'a> {
        let mut question = self.question.clone();
        question.code.setup = Some(function.into());
        self.question(question)
    }

    /// Rust and LLVM IR: one thread calls this function, beside those of [`Job::entry`].
    pub fn one(self, function: &str) -> Job<'a> {
        let mut question = self.question.clone();
        question.code.one.push(function.into());
        self.question(question)
    }

    /// Where to start.
    pub fn start(self, start: Start) -> Job<'a> {
        let mut question = self.question.clone();
        match start {
            Start::Threads(n) => question.initial = Some(n.to_string()),
            Start::AnyNumber => question.initial = Some("any".into()),
            Start::Configuration(text) => question.initial = Some(text),
            Start::Entries(functions) => question.code.entries = functions,
        }
        self.question(question)
    }

    /// How many threads there may be at any time; of nets, how many tokens for each open initial
    /// count.
    pub fn threads(self, bound: Bound) -> Job<'a> {
        let threads = match bound {
            Bound::Any => None,
            Bound::Threads(n) | Bound::Tokens(n) => Some(n),
        };
        let question = Question { threads, ..self.question.clone() };
        self.question(question)
    }

    /// How messages and advice name what can be set: a program that embeds Throng has names of its
    /// own.
    pub fn vocabulary(self, vocabulary: &'static Vocabulary) -> Job<'a> {
        let prepared = if self.input.is_some() { Default::default() } else { self.prepared };
        Job { question: Question { vocabulary, ..self.question }, prepared, ..self }
    }

    /// How engines search.
    pub fn settings(self, settings: Settings) -> Job<'a> {
        Job { settings, ..self }
    }

    /// What is informed about the progress of a search; a closure will do.
    pub fn watch(self, watch: &'a dyn Watch) -> Job<'a> {
        Job { watch, ..self }
    }

    /// Leaves evidence unchecked, unless the engine checks it anyway to choose among answers.
    pub fn unchecked(self) -> Job<'a> {
        Job { checks: false, ..self }
    }

    /// Looks for vacuity ([`Outcome::vacuous`]) also where the proof does not describe all that can
    /// be reached, which costs a search of its own.
    pub fn strict(self) -> Job<'a> {
        Job { strict: true, ..self }
    }

    /// Source code: accepts the possible races that are known, see [`Outcome::exit_code`].
    pub fn baseline(self, baseline: Baseline) -> Job<'a> {
        Job { baseline: Some(Arc::new(baseline)), ..self }
    }

    /// Source code: a possible race that no run shows counts as a violation in
    /// [`Outcome::exit_code`].
    pub fn fail_on_possible(self) -> Job<'a> {
        Job { fails_on_possible: true, ..self }
    }

    /// Source code: gives `keep` what an analysis has found out before a search begins that may not
    /// end, as an outcome that leaves the question open. It stands if there is no other one.
    #[cfg(feature = "code")]
    pub fn so_far(self, keep: &'a (dyn Fn(&Outcome) + Sync)) -> Job<'a> {
        Job { so_far: Some(keep), ..self }
    }

    /// Prefers proofs that [`Outcome::certificate`] can write down: evidence found with partial
    /// orders is none.
    pub fn certifiable(mut self) -> Job<'a> {
        self.settings.partial_order = false;
        #[cfg(feature = "code")]
        {
            self.certifiable = true;
        }
        self
    }

    /// Returns an engine that searches as this job does, for [`Job::check_by`].
    pub fn engine(&self, engine: Engine) -> Box<dyn engine::Algorithm + Send> {
        engine.build(&self.settings)
    }

    /// How messages name what can be set.
    #[cfg(feature = "code")]
    pub(crate) fn names(&self) -> &'static Vocabulary {
        self.question.vocabulary
    }

    /// The file of properties that the question reads, if it does.
    pub fn property_file(&self) -> Option<PathBuf> {
        let input = self.input.as_ref()?;
        match input.loaded() {
            Some(loaded) => self.question.property_file(loaded, input.path()),
            None => self.question.code.property.clone(),
        }
    }

    /// The problem that [`Job::check`] answers, or what is wrong with the question.
    pub fn prepare(&self) -> Result<&Prepared, Error> {
        self.prepared[0].get_or_init(|| self.put_together(false)).as_ref().map_err(Clone::clone)
    }

    /// The problem that [`Job::reach`] and [`Job::cutoff`] answer: it need not have a property.
    pub fn prepare_listing(&self) -> Result<&Prepared, Error> {
        self.prepared[1].get_or_init(|| self.put_together(true)).as_ref().map_err(Clone::clone)
    }

    fn put_together(&self, listing: bool) -> Result<Prepared, Error> {
        let input = self.input.as_ref().expect("a job of a problem is prepared already");
        let began = Instant::now();
        let question =
            Question { may_lack_target: listing || self.question.may_lack_target, ..self.question.clone() };
        #[cfg(feature = "code")]
        if let Content::Code(code) = input.content() {
            let (posed, warnings) = code.ask(&question)?;
            return Ok(Prepared {
                problem: posed.problem.clone(),
                warnings,
                left_out: Vec::new(),
                input: Some(input.clone()),
                source: None,
                posed: Some(Arc::new(posed)),
                took: input.took() + began.elapsed(),
            });
        }
        let loaded = input.loaded().ok_or_else(no_input)?;
        let asked = question.with_annotations(loaded)?;
        let exact = listing || asked.reading(*input.reading()).exact_copies;
        let read = if exact { input.with_exact_copies()? } else { input.clone() };
        let PosedProblem { problem, warnings, left_out } =
            question.pose(read.loaded().unwrap_or(loaded), read.path())?;
        Ok(Prepared {
            problem,
            warnings,
            left_out,
            input: Some(read),
            source: None,
            #[cfg(feature = "code")]
            posed: None,
            took: input.took() + began.elapsed(),
        })
    }

    /// Searches with an engine of Throng, then checks the evidence. Running into a limit is an
    /// outcome, not an error.
    pub fn check(&self, engine: Engine, limits: &Limits) -> Result<Outcome, Error> {
        #[cfg(feature = "code")]
        if let Some(outcome) = self.check_code(code::Search::Engine(engine), limits)? {
            return Ok(outcome);
        }
        let engine = engine.build(&self.settings);
        self.with_orders(self.search(&*engine, limits)?, &*engine, limits)
    }

    /// The same with any engine, such as your own. Its evidence is checked, too.
    pub fn check_by(&self, engine: &dyn engine::Algorithm, limits: &Limits) -> Result<Outcome, Error> {
        #[cfg(feature = "code")]
        if let Some(outcome) = self.check_code(code::Search::Own(engine), limits)? {
            return Ok(outcome);
        }
        // The slices are other models than the one that the engine was made for.
        let slices = Engine::Auto.build(&self.settings);
        self.with_orders(self.search(engine, limits)?, &*slices, limits)
    }

    /// Answers about a program in a source language, whose provers know more than its model.
    #[cfg(feature = "code")]
    fn check_code(&self, search: code::Search<'_>, limits: &Limits) -> Result<Option<Outcome>, Error> {
        let prepared = self.prepare()?;
        let (Some(posed), Some(input)) = (&prepared.posed, &prepared.input) else { return Ok(None) };
        if self.strict {
            let why = "a strict proof is not defined for C: which assertions, locks and atomic sections a proof depends on is what mutants show";
            return Err(Error::Unsuitable(why.into()));
        }
        let mut outcome = code::check(self, posed, search, limits)?;
        self.complete(&mut outcome, prepared, input);
        Ok(Some(outcome))
    }

    /// Adds what the question and its input say to an outcome about a program.
    #[cfg(feature = "code")]
    fn complete(&self, outcome: &mut Outcome, prepared: &Prepared, input: &Input) {
        outcome.fails_on_possible = self.fails_on_possible;
        outcome.phases.reading = prepared.took;
        outcome.warnings = input.warnings().chain(prepared.warnings.iter().cloned()).collect();
        outcome.subject = prepared.subject(self.question.vocabulary);
    }

    /// Returns whether an outcome so far is wanted.
    #[cfg(feature = "code")]
    pub(crate) fn keeps_so_far(&self) -> bool {
        self.so_far.is_some()
    }

    /// Passes on what is known before a search that may not end.
    #[cfg(feature = "code")]
    pub(crate) fn pass_so_far(&self, mut outcome: Outcome) -> Result<(), Error> {
        let prepared = self.prepare()?;
        if let (Some(keep), Some(input)) = (self.so_far, &prepared.input) {
            self.complete(&mut outcome, prepared, input);
            keep(&outcome);
        }
        Ok(())
    }

    fn search(&self, engine: &dyn engine::Algorithm, limits: &Limits) -> Result<Outcome, Error> {
        let prepared = self.prepare()?;
        room_for_the_start(&prepared.problem)?;
        let limits = &limits.clone().jobs(self.settings.jobs);
        let began = Instant::now();
        let mut asked = prepared.problem.clone();
        asked.targets.sort_by_key(Target::is_about_all_threads);
        let mut found: Vec<Target> = Vec::new();
        let mut run = |problem: &Problem, limits: &Limits| {
            // Engines look at one configuration after another, and whether it is bad; of deadlocks
            // and stuck threads there is more to say.
            let mut asked = problem.clone();
            asked.targets.retain(|t| !t.is_about_all_threads());
            let of_all = &problem.targets[asked.targets.len()..];
            let mut answer = match asked.targets.is_empty() && !of_all.is_empty() {
                true => Answer::new(Vec::new(), Statistics::default()),
                false => obeying(&asked, limits, || engine.run(&asked, limits, self.watch)),
            };
            if let Some(flaw) = answer.flaw.take() {
                return Err(Error::Flawed(flaw));
            }
            for target in of_all {
                self.answer_about_all(&mut asked, target, engine.name(), &mut answer, limits)?;
                found.extend(asked.targets.last().cloned());
            }
            if self.checks && answer.checked.is_none() {
                let began = Instant::now();
                answer.checked = check_all(&asked, &mut answer, limits)?;
                answer.checking += began.elapsed();
            }
            Ok(answer)
        };
        let (mut problem, mut answer) = bounds::answer(&asked, limits, &mut run)?;
        // With the configuration that was found, for people.
        let all_of = problem.targets.iter_mut().filter(|target| target.is_about_all_threads());
        all_of.zip(found).for_each(|(target, found)| *target = found);
        leave_out(&prepared.left_out, &mut problem, &mut answer);
        let phases = Phases {
            reading: prepared.took,
            searching: began.elapsed().saturating_sub(answer.checking),
            checking: answer.checking,
        };
        let subject = prepared.subject(self.question.vocabulary);
        let vacuous = vacuous(&problem, &answer.verdicts, subject.source.as_ref(), self.strict, limits);
        let mut warnings: Vec<SourceDiagnostic> = self.input.iter().flat_map(Input::warnings).collect();
        warnings.extend(prepared.warnings.iter().cloned());
        Ok(Outcome {
            engine: engine.name(),
            answer,
            time: began.elapsed(),
            phases,
            memory: memory_in_use(),
            peak_memory: peak_memory(),
            warnings,
            vacuous,
            assumptions: Vec::new(),
            remarks: Vec::new(),
            possible: Vec::new(),
            look: Vec::new(),
            findings: None,
            #[cfg(feature = "code")]
            answered: None,
            memory_model: None,
            memory_words: None,
            litmus: None,
            slices: None,
            most_threads: None,
            certificate: None,
            strict: self.strict,
            fails_on_possible: self.fails_on_possible,
            limits: limits.clone(),
            problem,
            subject,
            shown: OnceLock::new(),
        })
    }

    /// Answers about deadlocks, or stuck threads: the last target.
    fn answer_about_all(
        &self,
        problem: &mut Problem,
        target: &Target,
        engine: &'static str,
        answer: &mut Answer,
        limits: &Limits,
    ) -> Result<(), Error> {
        let method = match engine {
            "auto" => Method::Both,
            "views" | "equations" => Method::Proof,
            #[cfg(feature = "symbolic")]
            "symbolic" => Method::Symbolic,
            _ => Method::Search,
        };
        let refused = matches!(engine, "backward" | "karp-miller" | "guided" | "distributed");
        let (most, watch) = (self.settings.max_threads, self.watch);
        let mut found = if refused {
            let (what, prover) =
                if target.is_stuck() { ("stuck threads", "views") } else { ("deadlocks", "equations") };
            let what = if target.is_starvation() { "starvation" } else { what };
            let why = format!(
                "`{engine}` does not decide {what}; `explicit`, `symbolic`, `{prover}` and `auto` do"
            );
            deadlock::Found::unknown(target, engine, Unknown::NotForThisModel(why))
        } else {
            obeying(problem, limits, || deadlock::find(problem, target, method, most, limits, watch))
        };
        problem.targets.push(found.target);
        if !self.checks {
            // Whatever the engine has checked of its own answers.
            answer.checked = None;
        } else if answer.checked.is_some() {
            let began = Instant::now();
            let target = &problem.targets[problem.targets.len() - 1];
            match rules::check_within(problem, target, &found.verdict, limits) {
                Ok(_) => {}
                Err(rules::Flaw::Limit(why)) => {
                    let why = format!("an answer was found, but its evidence not checked: {why}");
                    found.verdict = Verdict::Unknown(Unknown::Inconclusive(why));
                }
                Err(flaw) => {
                    let why = format!("the evidence for target `{}` does not stand: {flaw}", target.name);
                    return Err(Error::Flawed(why));
                }
            }
            answer.checking += began.elapsed();
        }
        if answer.verdicts.is_empty() {
            answer.statistics = found.statistics;
        }
        answer.verdicts.push(found.verdict);
        answer.fewest.push(found.by == "explicit");
        answer.by.push(Some(found.by));
        Ok(())
    }

    /// Returns whether a certificate answers this question and is valid. A certificate about a
    /// cutoff alone is checked as such unless a property was asked for. What is not accepted is
    /// [`Error::NotCertified`].
    pub fn certify(&self, certificate: &Document, limits: &Limits) -> Result<Certified, Error> {
        let about_cutoff = self.is_about_cutoff(certificate);
        let prepared = if about_cutoff { self.prepare_listing()? } else { self.prepare()? };
        let origin = prepared.origin().ok_or_else(no_input)?;
        let asked = if about_cutoff { Asked::Cutoff(origin) } else { Asked::Check(origin) };
        Ok(self.as_proved(certify(&asked, certificate, limits)?))
    }

    /// Returns whether a certificate is one about a cutoff alone, and no property was asked for.
    pub fn is_about_cutoff(&self, certificate: &Document) -> bool {
        let Question {
            targets,
            prop,
            error_labels,
            mutex,
            at_most,
            never,
            races,
            stuck,
            starvation,
            invariants,
            ..
        } = &self.question;
        let lists = [targets, error_labels, mutex, at_most, never, races, stuck, starvation, invariants];
        let asks = self.question.deadlock
            || self.question.code != Default::default()
            || prop.is_some()
            || lists.iter().any(|list| !list.is_empty());
        certificate.targets.is_empty() && certificate.cutoff.is_some() && !asks
    }

    /// Returns whether a certificate is valid for the question that it states itself, which need
    /// not be this one.
    pub fn certify_as_stated(&self, certificate: &Document, limits: &Limits) -> Result<Certified, Error> {
        let loaded = self.input.as_ref().and_then(Input::loaded).ok_or_else(no_input)?;
        Ok(certify(&Asked::Own(loaded), certificate, limits)?)
    }

    /// Returns whether a file that was written as a certificate answers this question and is valid,
    /// in whatever format the input's language has. What is not accepted is
    /// [`Error::NotCertified`].
    pub fn certify_file(&self, bytes: &[u8], limits: &Limits) -> Result<Certified, Error> {
        #[cfg(feature = "code")]
        if let Some(Content::Code(_)) = self.input.as_ref().map(Input::content)
            && let Some(posed) = &self.prepare()?.posed
        {
            return Ok(code::certify(posed, bytes, limits)?);
        }
        if let Some(certified) = self.certify_orders(bytes, limits)? {
            return Ok(certified);
        }
        self.certify(&throng_check::certify::read(bytes)?, limits)
    }

    /// Returns whether a run follows a violation witness of SV-COMP in YAML; `program`: the bytes
    /// of the file that the witness is about. If not, [`Error::NotCertified`] says why.
    #[cfg(feature = "c")]
    pub fn follow_witness(&self, program: &[u8], witness: &[u8]) -> Result<(), Error> {
        match &self.prepare()?.posed {
            Some(posed) => Ok(code::follow(posed, program, witness)?),
            None => Err(Error::Unsuitable("witnesses are about programs in C".into())),
        }
    }
}

fn no_input() -> Error {
    Error::Unsuitable("certificates are about inputs in files or texts".into())
}

/// Runs a search; the model stops with the limits, too.
pub(crate) fn obeying<T>(problem: &Problem, limits: &Limits, search: impl FnOnce() -> T) -> T {
    let watched = limits.clone();
    problem.model.set_stop_check(Some(Arc::new(move || watched.check().is_err())));
    let found = search();
    problem.model.set_stop_check(None);
    found
}

/// Why a search ended: the limit that was hit, rather than that the model was stopped because of
/// it.
pub(crate) fn hit(limits: &Limits, why: Unknown) -> Unknown {
    limits.check().err().unwrap_or(why)
}

/// Refuses a thread bound that the smallest initial configuration exceeds.
pub(crate) fn room_for_the_start(problem: &Problem) -> Result<(), Error> {
    if let Bound::Threads(bound) = problem.bound
        && let Some(least) = problem.initial.iter().map(|family| family.threads.size()).min()
        && least > bound
    {
        let why = format!("{least} threads exist at the start, but only {bound} are allowed");
        return Err(Error::Impossible(Unknown::NotForThisModel(why)));
    }
    Ok(())
}

/// Adds the properties that could not be asked: nothing is known about them.
fn leave_out(left_out: &[(String, String)], problem: &mut Problem, answer: &mut Answer) {
    for (name, why) in left_out.iter().cloned() {
        problem.targets.push(Target::covering(name, Vec::new()));
        answer.verdicts.push(Verdict::Unknown(Unknown::LeftOut(why)));
        if !answer.fewest.is_empty() {
            answer.fewest.push(false);
        }
        if !answer.by.is_empty() {
            answer.by.push(None);
        }
    }
}

/// Checks all evidence of an answer; what could not be checked in time is withdrawn.
fn check_all(problem: &Problem, answer: &mut Answer, limits: &Limits) -> Result<Option<Checked>, Error> {
    let verdicts: Vec<(usize, &Verdict)> = answer.verdicts.iter().enumerate().collect();
    let mut checked = Vec::new();
    for (i, found) in rules::check_each(problem, &verdicts, limits).into_iter().enumerate() {
        let flaw = match found {
            Ok(stands) => {
                checked.push(stands);
                continue;
            }
            Err(flaw) => flaw,
        };
        let why = match (flaw, problem.complete(), limits.check()) {
            (rules::Flaw::Limit(why), ..) => why,
            // It was found while statements were cut short.
            (_, Err(_), Err(why)) => why,
            (flaw, ..) => {
                let target = &problem.targets[i].name;
                return Err(Error::Flawed(format!(
                    "the evidence for target `{target}` does not stand: {flaw}"
                )));
            }
        };
        // What could not be checked in time is no verdict.
        let why = format!("an answer was found, but its evidence not checked: {why}");
        answer.statistics.withdraw(&answer.verdicts[i]);
        answer.verdicts[i] = Verdict::Unknown(Unknown::Inconclusive(why));
        checked.extend(rules::check(problem, &problem.targets[i], &answer.verdicts[i]));
    }
    Ok(checked.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_lang::load::Format;
    use throng_model::verdict::Certificate;

    const BROKEN: &str = "3 3\n0 0 -> 0 1\n0 1 -> 0 2\n0|2,2\n0|2,2,2\n1|0\n";

    fn text(text: &str) -> Input {
        Input::from_text(text, Format::Tts).unwrap()
    }

    #[test]
    fn an_outcome_has_verdicts_evidence_and_numbers() {
        let asked = Job::new(&text(BROKEN));
        let outcome = asked.check(Engine::Auto, &Limits::none()).unwrap();
        assert!(outcome.is_unsafe() && outcome.is_checked() && outcome.unknown().is_none());
        assert_eq!(outcome.engine, "auto");
        assert_eq!(outcome.trace().map(|t| (t.threads(), t.steps.len())), Some((2, 4)));
        assert!(matches!(outcome.answer.verdicts[2], Verdict::Safe(_)));
        assert!(outcome.answer.statistics.configurations > 0);
        let Phases { reading, searching, checking } = outcome.phases;
        assert!(reading > Duration::ZERO && searching > Duration::ZERO && checking > Duration::ZERO);
        assert!(searching + checking <= outcome.time && outcome.peak_memory >= outcome.memory);
        assert!(outcome.to_string().starts_with("UNSAFE  2 of 3 targets"), "{outcome}");
    }

    #[test]
    fn a_bound_counts_and_a_stopped_run_is_unknown() {
        let bounded = Job::new(&text(BROKEN)).threads(Bound::Threads(2));
        let outcome = bounded.check(Engine::Auto, &Limits::none()).unwrap();
        assert!(matches!(outcome.answer.verdicts[1], Verdict::Safe(_)), "two threads are not three");
        let limits = Limits::none();
        limits.stopper().stop();
        let asked = Job::new(&text("3 3\n0 0 +> 0 1\n")).never("2|");
        let outcome = asked.check(Engine::Explicit, &limits).unwrap();
        assert_eq!(outcome.unknown(), Some(&Unknown::Cancelled));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = Input::from_text("3 3\n0 0 => 1\n", Format::Tts);
        let Err(Error::Refused(messages)) = error else { panic!("accepted") };
        assert!(!messages.is_empty());
        assert!(Error::Refused(messages).to_string().contains("<tts>:2"));
        assert!(verify("no/such/file.bp").is_err());
    }

    #[test]
    fn messages_name_methods_and_not_options() {
        let Err(error) =
            Job::new(&text(BROKEN)).never_two_at("L").threads(Bound::Threads(0)).prepare().cloned()
        else {
            panic!("accepted")
        };
        let said = error.to_string();
        assert!(said.contains("`never_two_at` does not apply") && !said.contains("--mutex"), "{said}");
        assert!(said.contains("threads:1") && !said.contains("--threads"), "{said}");
    }

    #[test]
    fn advice_names_methods_and_types_and_not_options() {
        let outcome =
            Job::new(&text(BROKEN)).check(Engine::Auto, &Limits::none().work(0)).expect("an outcome");
        let said = outcome.text(crate::TextOptions::default());
        assert!(said.starts_with("UNKNOWN") && said.contains("threads 2"), "{said}");
        assert!(!said.contains("--"), "{said}");
    }

    #[test]
    fn forged_evidence_is_no_outcome() {
        struct Liar;
        impl engine::Algorithm for Liar {
            fn name(&self) -> &'static str {
                "liar"
            }
            fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
                let safe = Verdict::Safe(Certificate::Upward(Arc::new(Vec::new())));
                Answer::new(vec![safe; problem.targets.len()], Statistics::default())
            }
        }
        let (ask, limits) = (|| Job::new(&text(BROKEN)), Limits::none());
        assert!(matches!(ask().check_by(&Liar, &limits), Err(Error::Flawed(..))));
        assert!(ask().unchecked().check_by(&Liar, &limits).is_ok_and(|o| !o.is_checked()));
    }
}
