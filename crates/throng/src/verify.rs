//! The front door of the library: from an input to a checked outcome in one call, or with every choice made by hand.
//!
//! [`verify`] takes a path and defaults. A [`Verification`] lets you ask your own question ([`Question`]), pick the engine,
//! set limits, cancel from elsewhere ([`Limits::stopper`]) and watch. What comes back is an [`Outcome`]: a verdict per target,
//! its evidence, and numbers about the search. It prints as the report that the command line shows.
//!
//! There is no second way to do any of this: the command line goes through here as well.
//!
//! ```
//! use std::time::Duration;
//! use crate::engine::Progress;
//! use crate::engine::backward::Backward;
//! use throng_lang::load::Format;
//! use throng_model::limits::Limits;
//! use throng_lang::question::Question;
//! use crate::verify::Verification;
//!
//! let program = "decl lock := 0;
//!     void main() begin
//!       while * do lock := 1 constrain !lock; CRITICAL: skip; lock := 0; od
//!     end";
//! let question = Question { mutex: vec!["CRITICAL".into()], ..Question::default() };
//! let limits = Limits::none().timeout(Duration::from_secs(20));
//! let stopper = limits.stopper(); // `stopper.stop()` from any thread ends the search
//! let outcome = Verification::of_text(program, Format::Bp, &question)?
//!     .engine(&Backward)
//!     .limits(limits)
//!     .watch(&|now: &Progress| assert_eq!(now.engine, "backward"))
//!     .run()?;
//! assert!(outcome.is_safe(), "{outcome}");
//! # drop(stopper);
//! # Ok::<(), crate::verify::Error>(())
//! ```

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::auto::Auto;
use crate::engine::{Answer, Engine, Silent, Watch};
use crate::report::{Phases, Report, Word, text};
use throng_check::rules;
use throng_lang::load::{Format, Loaded, Reading, Rejected, load, read};
use throng_lang::question::{Complaint, Posed, Question};
use throng_lang::source::{Source, render};
use throng_model::concrete::concretise;
use throng_model::limits::{Limits, memory_in_use, peak_memory};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Trace, Unknown, Verdict};

/// Answers the questions that a file asks: for any number of threads, without limits, all evidence checked.
///
/// ```no_run
/// let outcome = crate::verify("examples/spinlock-broken.bp")?;
/// if let Some(run) = outcome.trace() {
///     println!("broken by {} threads in {} steps", run.threads(), run.steps.len());
/// }
/// # Ok::<(), crate::verify::Error>(())
/// ```
pub fn verify(path: impl AsRef<Path>) -> Result<Outcome, Error> {
    Verification::of_file(path, &Question::default())?.run()
}

/// A question, and how to go about it.
pub struct Verification<'a> {
    name: String,
    unit: &'static str,
    problem: Problem,
    warnings: Vec<Complaint>,
    left_out: Vec<(String, String)>,
    engine: Option<&'a dyn Engine>,
    limits: Limits,
    watch: &'a dyn Watch,
    checks: bool,
    reading: Duration,
}

impl<'a> Verification<'a> {
    /// Of any problem: one you have built, or one of your own types ([`crate::template`]).
    pub fn of(problem: Problem) -> Verification<'a> {
        Verification {
            name: String::new(),
            unit: "thread",
            problem,
            warnings: Vec::new(),
            left_out: Vec::new(),
            engine: None,
            limits: Limits::none(),
            watch: &Silent,
            checks: true,
            reading: Duration::ZERO,
        }
    }

    /// Of a file in any format that its extension names.
    pub fn of_file(path: impl AsRef<Path>, question: &Question) -> Result<Verification<'a>, Error> {
        let (path, began) = (path.as_ref(), Instant::now());
        let asked =
            Verification::of_loaded(load(path, &question.reading(Reading::default()))?, question, path)?;
        Ok(asked.reading_took(began.elapsed()))
    }

    /// Of a text.
    pub fn of_text(text: &str, format: Format, question: &Question) -> Result<Verification<'a>, Error> {
        let (source, began) = (Source::new(format!("<{format}>"), text), Instant::now());
        let loaded = read(source, format, &question.reading(Reading::default()))?;
        Ok(Verification::of_loaded(loaded, question, Path::new(""))?.reading_took(began.elapsed()))
    }

    fn of_loaded(loaded: Loaded, question: &Question, path: &Path) -> Result<Verification<'a>, Error> {
        let Posed { problem, warnings: about_question, left_out } = question.pose(&loaded, path)?;
        let about_input = loaded.warnings.into_iter();
        let mut warnings: Vec<Complaint> =
            about_input.map(|diagnostic| Complaint { source: loaded.source.clone(), diagnostic }).collect();
        warnings.extend(about_question);
        let name = loaded.source.name.clone();
        let asked = Verification { name, unit: loaded.format.unit(), warnings, ..Verification::of(problem) };
        Ok(asked.left_out(left_out))
    }

    /// Who searches. By default [`Auto`] on one core, which runs several engines in turns and is deterministic.
    pub fn engine(self, engine: &'a dyn Engine) -> Verification<'a> {
        Verification { engine: Some(engine), ..self }
    }

    /// How much time and memory the search may take, and who may stop it.
    pub fn limits(self, limits: Limits) -> Verification<'a> {
        Verification { limits, ..self }
    }

    /// Who is told how far the search has come; a closure will do.
    pub fn watch(self, watch: &'a dyn Watch) -> Verification<'a> {
        Verification { watch, ..self }
    }

    /// Properties about which nothing will be known, and why; the outcome says so.
    pub fn left_out(self, left_out: Vec<(String, String)>) -> Verification<'a> {
        Verification { left_out, ..self }
    }

    /// How long it took to get the problem, if somebody else read it: for the outcome's [`Phases`].
    pub fn reading_took(self, reading: Duration) -> Verification<'a> {
        Verification { reading, ..self }
    }

    /// Leaves the evidence unchecked, unless the engine checks it anyway to choose among answers.
    pub fn unchecked(self) -> Verification<'a> {
        Verification { checks: false, ..self }
    }

    /// The problem that will be answered.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Searches, then checks the evidence. Running into a limit is an outcome, not an error.
    pub fn run(mut self) -> Result<Outcome, Error> {
        if let Bound::Threads(bound) = self.problem.bound
            && let Some(least) = self.problem.initial.iter().map(|family| family.threads.size()).min()
            && least > bound
        {
            let why = format!("{least} threads exist at the start, but only {bound} are allowed");
            return Err(Error::Impossible(Unknown::NotForThisModel(why)));
        }
        let began = Instant::now();
        let auto = Auto::default();
        let engine = self.engine.unwrap_or(&auto);
        let limits = self.limits.clone();
        self.problem.model.obey(Some(Arc::new(move || limits.check().is_err())));
        let mut answer = engine.run(&self.problem, &self.limits, self.watch);
        self.problem.model.obey(None);
        if let Some(flaw) = answer.flaw.take() {
            return Err(Error::Flawed(flaw));
        }
        if self.checks && !answer.checked {
            let began = Instant::now();
            check_all(&self.problem, &mut answer, &self.limits)?;
            answer.checked = true;
            answer.checking += began.elapsed();
        }
        for (name, why) in self.left_out {
            self.problem.targets.push(Target { name, configs: Vec::new() });
            answer.verdicts.push(Verdict::Unknown(Unknown::LeftOut(why)));
            if !answer.fewest.is_empty() {
                answer.fewest.push(false);
            }
            if !answer.by.is_empty() {
                answer.by.push(None);
            }
        }
        let phases = Phases {
            reading: self.reading,
            searching: began.elapsed().saturating_sub(answer.checking),
            checking: answer.checking,
        };
        Ok(Outcome {
            engine: engine.name(),
            checked: answer.checked,
            answer,
            time: began.elapsed(),
            phases,
            memory: memory_in_use(),
            peak_memory: peak_memory(),
            warnings: self.warnings,
            problem: self.problem,
            name: self.name,
            unit: self.unit,
        })
    }
}

/// What was found out. Prints as a report for people.
#[derive(Clone)]
pub struct Outcome {
    /// The question that was answered.
    pub problem: Problem,
    /// The engine that was asked.
    pub engine: &'static str,
    /// A verdict with evidence for every target of the problem, in order, and numbers about the search.
    pub answer: Answer,
    /// Whether the evidence was checked; if so, it stands.
    pub checked: bool,
    /// How long search and check took.
    pub time: Duration,
    /// How long each part took.
    pub phases: Phases,
    /// Bytes of memory in use at the end.
    pub memory: u64,
    /// Bytes of memory in use at most, since the process began.
    pub peak_memory: u64,
    /// What somebody should look at in the input or the question.
    pub warnings: Vec<Complaint>,
    name: String,
    unit: &'static str,
}

impl Outcome {
    /// All verdicts in one word: unsafe if any is, else unknown if any is, else safe.
    pub fn word(&self) -> Word {
        Word::overall(&self.answer.verdicts)
    }

    /// Whether no target can be reached.
    pub fn is_safe(&self) -> bool {
        self.word() == Word::Safe
    }

    /// Whether some target can be reached.
    pub fn is_unsafe(&self) -> bool {
        self.word() == Word::Unsafe
    }

    /// Who answered: the engine, or those of its helpers that did.
    pub fn answered_by(&self) -> String {
        let mut names: Vec<&str> = self.answer.by.iter().flatten().copied().collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { self.engine.to_string() } else { names.join(", ") }
    }

    /// The run into the first target that can be reached. Its words may stand for sets of states; [`Outcome::shown`] has values.
    pub fn trace(&self) -> Option<&Trace> {
        self.answer.verdicts.iter().find_map(|v| match v {
            Verdict::Unsafe(trace) => Some(trace),
            _ => None,
        })
    }

    /// Why there is no answer about the first target without one.
    pub fn unknown(&self) -> Option<&Unknown> {
        self.answer.verdicts.iter().find_map(|v| match v {
            Verdict::Unknown(why) => Some(why),
            _ => None,
        })
    }

    /// The answer with a value for everything that a run leaves open: people want to see values, not sets of them.
    ///
    /// The result is for reading. What the checker accepts as evidence is [`Outcome::answer`].
    pub fn shown(&self) -> Answer {
        let mut answer = self.answer.clone();
        let Problem { model, bound, targets, .. } = &self.problem;
        for (target, verdict) in targets.iter().zip(&mut answer.verdicts) {
            if let Verdict::Unsafe(trace) = verdict
                && let Some(concrete) = concretise(&**model, target, trace, bound.threads())
            {
                *trace = concrete;
            }
        }
        answer
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = Report {
            file: if self.name.is_empty() { "(none)" } else { &self.name },
            problem: &self.problem,
            unit: self.unit,
            engine: &self.answered_by(),
            answer: &self.shown(),
            checked: self.checked,
            checking: self.answer.checking,
            certificate: None,
            time: self.time,
            phases: self.phases,
            peak_memory: self.peak_memory,
            memory: self.memory,
        };
        f.write_str(&text::write(&report, text::Options::default()))
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why there is no outcome at all.
#[derive(Clone, Debug)]
pub enum Error {
    /// The input or the question is wrong.
    Refused(Vec<Complaint>),
    /// The problem could not be built.
    Impossible(Unknown),
    /// Evidence does not stand, and why: a bug in an engine or in the model, never in the input.
    Flawed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(complaints) => complaints
                .iter()
                .try_for_each(|c| writeln!(f, "{}", render(&c.diagnostic, &c.source, false).trim_end())),
            Error::Impossible(why) => why.fmt(f),
            Error::Flawed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Error {
        let Rejected { source, diagnostics } = rejected;
        let complaint = |diagnostic| Complaint { source: source.clone(), diagnostic };
        Error::Refused(diagnostics.into_iter().map(complaint).collect())
    }
}

impl From<Vec<Complaint>> for Error {
    fn from(complaints: Vec<Complaint>) -> Error {
        Error::Refused(complaints)
    }
}

impl From<Unknown> for Error {
    fn from(why: Unknown) -> Error {
        Error::Impossible(why)
    }
}

/// Checks all evidence of an answer.
fn check_all(problem: &Problem, answer: &mut Answer, limits: &Limits) -> Result<(), Error> {
    let verdicts: Vec<(usize, &Verdict)> = answer.verdicts.iter().enumerate().collect();
    for (i, flaw) in rules::check_each(problem, &verdicts, limits) {
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
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Statistics;
    use crate::engine::explicit::Explicit;
    use throng_model::verdict::Certificate;

    const BROKEN: &str = "3 3\n0 0 -> 0 1\n0 1 -> 0 2\n0|2,2\n0|2,2,2\n1|0\n";

    #[test]
    fn an_outcome_has_verdicts_evidence_and_numbers() {
        let asked = Verification::of_text(BROKEN, Format::Tts, &Question::default()).unwrap();
        let outcome = asked.run().unwrap();
        assert!(outcome.is_unsafe() && outcome.checked && outcome.unknown().is_none());
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
        let bounded = Question { threads: Some(2), ..Question::default() };
        let outcome = Verification::of_text(BROKEN, Format::Tts, &bounded).unwrap().run().unwrap();
        assert!(matches!(outcome.answer.verdicts[1], Verdict::Safe(_)), "two threads are not three");
        let limits = Limits::none();
        limits.stopper().stop();
        let endless = Question { targets: vec!["2|".into()], ..Question::default() };
        let asked = Verification::of_text("3 3\n0 0 +> 0 1\n", Format::Tts, &endless).unwrap();
        let outcome = asked.engine(&Explicit::default()).limits(limits).run().unwrap();
        assert_eq!(outcome.unknown(), Some(&Unknown::Cancelled));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = Verification::of_text("3 3\n0 0 => 1\n", Format::Tts, &Question::default());
        let Err(Error::Refused(complaints)) = error else { panic!("accepted") };
        assert!(!complaints.is_empty());
        assert!(Error::Refused(complaints).to_string().contains("<tts>:2"));
        assert!(verify("no/such/file.bp").is_err());
    }

    #[test]
    fn forged_evidence_is_no_outcome() {
        struct Liar;
        impl Engine for Liar {
            fn name(&self) -> &'static str {
                "liar"
            }
            fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
                let safe = Verdict::Safe(Certificate::Upward(Arc::new(Vec::new())));
                Answer::new(vec![safe; problem.targets.len()], Statistics::default())
            }
        }
        let ask = || Verification::of_text(BROKEN, Format::Tts, &Question::default()).unwrap();
        assert!(matches!(ask().engine(&Liar).run(), Err(Error::Flawed(..))));
        assert!(ask().engine(&Liar).unchecked().run().is_ok_and(|o| !o.checked));
    }
}
