//! What a check found out, and how it is shown.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[cfg(feature = "code")]
use crate::code::{self, Answered};
use crate::findings::Findings;
use crate::job::Prepared;
use crate::report::{json, sarif, text};
use crate::switches::{MOST_LOOKS, fewest_switches};
use crate::undecided::{Look, Possible};
use serde::Serialize;
use throng_check::certificate::shrink;
use throng_check::certificate::write::{Origin, document, write};
use throng_check::rules;
use throng_engine::Answer;
use throng_lang::load::Format;
use throng_lang::question::SourceDiagnostic;
use throng_lang::source::Source;
use throng_lang::vocabulary::Vocabulary;
use throng_model::assumption::Assumption;
use throng_model::concrete::concretise;
use throng_model::limits::Limits;
use throng_model::problem::{Asks, Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Trace, Unknown, Verdict};

/// How long smaller evidence is looked for before it is written down.
const SHRINKING: Duration = Duration::from_secs(2);

pub use throng_model::memory::MemoryModel;

/// Something to say beside a verdict. Prints as a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Remark {
    /// What a round of the predicate abstraction did: a detail.
    Round(String),
    /// What came of the predicate abstraction.
    Abstraction(String),
    /// A lock was misused, which was not asked about: a warning.
    Misuse(String),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Round(what) | Remark::Abstraction(what) | Remark::Misuse(what) => f.write_str(what),
        }
    }
}

/// What was found out. Prints as a report for people.
#[derive(Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The question that was answered.
    pub problem: Problem,
    /// The engine that was asked.
    pub engine: &'static str,
    /// A verdict with evidence for every target of the problem, in order, and numbers about the
    /// search.
    pub answer: Answer,
    /// How long search and check took.
    pub time: Duration,
    /// How long each part took.
    pub phases: Phases,
    /// Bytes of memory in use at the end.
    pub memory: u64,
    /// Bytes of memory in use at most, since the process began.
    pub peak_memory: u64,
    /// What is odd about the input or the question.
    pub warnings: Vec<SourceDiagnostic>,
    /// What makes a proof say less than it seems to: assertions that no thread reaches, assumptions
    /// that never hold. Not among the warnings.
    pub vacuous: Vec<SourceDiagnostic>,
    /// What the verdicts take for granted, in words.
    pub assumptions: Vec<Assumption>,
    /// What to say beside the verdicts.
    pub remarks: Vec<Remark>,
    /// Runs that may be violations, where an answer is missing.
    pub possible: Vec<Possible>,
    /// Places to look at, where an answer is missing.
    pub look: Vec<Look>,
    /// What is known about the objects that threads share, where races in source code are asked for.
    pub findings: Option<Arc<Findings>>,
    /// The memory model of a program that names memory orders, or for which one was asked.
    pub memory_model: Option<MemoryModel>,
    /// Why the verdicts hold under that memory model, in words.
    pub memory_words: Option<Cow<'static, str>>,
    /// The execution that fails as a litmus test in herd's format (C), where weak memory orders were
    /// asked about; or why it cannot be written as one.
    pub litmus: Option<Result<String, String>>,
    /// The proofs that a Boolean program is robust and has no data race.
    pub(crate) slices: Option<Arc<Vec<crate::job::slices::Proved>>>,
    /// How many threads there are at most at a time, where the program starts them itself and this
    /// is known beforehand.
    pub most_threads: Option<u32>,
    /// The certificate that was written, for reports.
    pub certificate: Option<Written>,
    /// Whether a vacuous proof counts as none, see [`crate::Job::strict`].
    pub(crate) strict: bool,
    /// Whether a possible race counts as a violation, see [`crate::Job::fail_on_possible`].
    pub(crate) fails_on_possible: bool,
    /// What describing the outcome may use: what the search and the check have left.
    pub(crate) limits: Limits,
    pub(crate) subject: Subject,
    /// The answers about a program in a source language, each with its provers.
    #[cfg(feature = "code")]
    pub(crate) answered: Option<Arc<Answered>>,
    pub(crate) shown: OnceLock<Answer>,
}

/// What an outcome is about, if it was read from somewhere.
#[derive(Clone, Default)]
pub(crate) struct Subject {
    pub(crate) source: Option<Arc<Source>>,
    pub(crate) format: Option<Format>,
    /// How messages name what can be set.
    pub(crate) vocabulary: &'static Vocabulary,
}

impl Subject {
    /// What the input is called.
    pub(crate) fn name(&self) -> &str {
        self.source.as_ref().map_or("(none)", |source| &source.name)
    }
}

impl Outcome {
    /// What the verdicts take for granted, in words.
    pub(crate) fn assumed(&self) -> Vec<String> {
        self.assumptions.iter().map(Assumption::to_string).collect()
    }

    /// Panics with the report unless everything is safe: with the run if there is one, and with the
    /// reason if the answer is not known.
    #[track_caller]
    pub fn assert_safe(&self) {
        assert!(self.is_safe(), "{self}");
    }

    /// All verdicts in one: unsafe if any is, else unknown if any is, else safe. That a sum reaches
    /// its largest value is an answer, no violation, and does not count.
    pub fn status(&self) -> Status {
        let pairs = self.problem.targets.iter().zip(&self.answer.verdicts);
        let counts = pairs.filter(|(target, _)| !shows_value(target));
        counts.map(|(_, verdict)| Status::of(verdict)).max().unwrap_or(Status::Unknown)
    }

    /// Returns whether the evidence was checked; if so, it stands.
    pub fn is_checked(&self) -> bool {
        self.answer.checked.is_some()
    }

    /// Returns whether no target can be reached.
    pub fn is_safe(&self) -> bool {
        self.status() == Status::Safe
    }

    /// Returns whether some target can be reached.
    pub fn is_unsafe(&self) -> bool {
        self.status() == Status::Unsafe
    }

    /// Returns whether everything was proved, and nothing vacuously.
    pub fn is_strictly_safe(&self) -> bool {
        self.is_safe() && self.vacuous.is_empty()
    }

    /// The exit status of a program that answers this question: that of the verdict; of a vacuous
    /// proof where [`crate::Job::strict`] asks for more, that of UNKNOWN.
    ///
    /// Where a baseline accepts all that is known about races, a question about them counts as
    /// answered; with [`crate::Job::fail_on_possible`], a possible race that none accepts counts as
    /// a violation.
    pub fn exit_code(&self) -> u8 {
        if let Some(findings) = &self.findings {
            if self.fails_on_possible && findings.has_new() {
                return Status::Unsafe.exit_code();
            }
            if findings.is_accepted() {
                return self.status_beside_known(findings).exit_code();
            }
        }
        match self.strict && self.is_safe() && !self.is_strictly_safe() {
            true => Status::Unknown.exit_code(),
            false => self.status().exit_code(),
        }
    }

    /// The verdicts in one, but for those about races that findings, which are all accepted,
    /// describe.
    fn status_beside_known(&self, findings: &Findings) -> Status {
        let shown = findings.races().any(|race| race.confirmed);
        let described = |target: &Target, verdict: &Verdict| match verdict {
            Verdict::Unsafe(_) => shown && matches!(target.property.as_deref(), Some(Property::Race(_))),
            Verdict::Unknown(why) => matches!(why, Unknown::Possible(_)),
            Verdict::Safe(_) => true,
        };
        let pairs = self.problem.targets.iter().zip(&self.answer.verdicts);
        let others = pairs.filter(|(t, v)| !described(t, v) && !shows_value(t));
        others.map(|(_, verdict)| Status::of(verdict)).max().unwrap_or(Status::Safe)
    }

    /// What answered: the engine, or those of a portfolio's engines that did.
    pub fn answered_by(&self) -> String {
        let mut names: Vec<&str> = self.answer.by.iter().flatten().copied().collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { self.engine.to_string() } else { names.join(", ") }
    }

    /// How long those of a portfolio's engines took that decided nothing, facts that others used
    /// included. With several jobs they overlap.
    pub fn thrown_away(&self) -> Duration {
        let idle = self.answer.attempts.iter().filter(|attempt| attempt.decided == 0);
        Duration::from_secs_f64(idle.map(|attempt| attempt.seconds.max(0.0)).sum())
    }

    /// The run into the first target that can be reached. Its states may stand for sets of states;
    /// [`Outcome::shown`] has values.
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

    /// The answer for people: runs switch between threads as rarely as possible for what each
    /// thread does, and have a value for everything that they left open. Once a limit is reached,
    /// runs stay in the order in which they were found.
    ///
    /// The result is for reading. What the checker accepts as evidence is [`Outcome::answer`].
    pub fn shown(&self) -> &Answer {
        self.shown.get_or_init(|| {
            let mut answer = self.answer.clone();
            let mut left = MOST_LOOKS;
            for (target, verdict) in self.problem.targets.iter().zip(&mut answer.verdicts) {
                if let Verdict::Unsafe(trace) = verdict
                    && let Some(readable) = readable(&self.problem, target, trace, &mut left, &self.limits)
                {
                    *trace = readable;
                }
            }
            answer
        })
    }

    /// What the input is called.
    pub fn file(&self) -> &str {
        self.subject.name()
    }

    /// What moves: `thread` or `token`.
    pub fn unit(&self) -> &'static str {
        self.subject.format.map_or("thread", Format::unit)
    }

    /// The verdicts with their evidence as a file for [`crate::Job::certify_file`]; `prepared`: the
    /// question that was answered. `Err`: why there is nothing to write.
    pub fn certificate(
        &self,
        prepared: &Prepared,
        out: &mut dyn io::Write,
    ) -> Result<io::Result<()>, String> {
        #[cfg(feature = "code")]
        if let Some(answered) = &self.answered {
            return code::certificate(answered, self).map(|text| out.write_all(text.as_bytes()));
        }
        if self.memory_model == Some(MemoryModel::C11) && self.slices.is_none() {
            return Err("what was found is no proof about the memory orders of the program".into());
        }
        let origin = prepared.origin().ok_or("certificates are about inputs in files or texts")?;
        let origin = Origin { problem: &self.problem, ..origin };
        if self.answer.verdicts.iter().all(|v| matches!(v, Verdict::Unknown(_))) {
            return Err("nothing was decided".into());
        }
        // Not for longer than it takes to look at it.
        let limits = Limits::none().timeout(SHRINKING);
        let verdicts = shrink(origin.problem, &self.answer.verdicts, &limits);
        let document = document(&origin, &verdicts)?;
        match &self.slices {
            Some(proved) => crate::job::slices::text(prepared, &document, &prepared.orders(), proved, out),
            None => Ok(write(&document, out)),
        }
    }

    /// The run as a C program that is forced through it with real threads; `None` if there is no
    /// run, `Err` if it cannot be replayed.
    #[cfg(feature = "c")]
    pub fn replay(&self) -> Option<Result<code::Replay, String>> {
        self.answered.as_deref().and_then(code::replay)
    }

    /// A witness of SV-COMP in YAML, or why there is none.
    #[cfg(feature = "c")]
    pub fn witness(&self, of: &code::WitnessOf<'_>) -> Result<String, String> {
        let answered = self.answered.as_deref().ok_or("witnesses are about programs in C")?;
        code::witness(answered, of)
    }

    /// The report for people.
    pub fn text(&self, options: text::Options) -> String {
        text::write(self, options)
    }

    /// The report as one JSON document.
    pub fn json(&self) -> String {
        json::write(self)
    }

    /// The report as SARIF 2.1.0, for code-scanning pages and editors.
    pub fn sarif(&self) -> String {
        sarif::write(self)
    }

    /// The report as a web page that needs no network.
    #[cfg(feature = "page")]
    pub fn html(&self) -> String {
        crate::report::page::write(self)
    }
}

/// A run with few switches between threads, which the checker has replayed, if the limits allow
/// looking for it; and with concrete values.
fn readable(
    problem: &Problem,
    target: &Target,
    trace: &Trace,
    left: &mut usize,
    limits: &Limits,
) -> Option<Trace> {
    let concrete = |trace: &Trace| concretise(&*problem.model, target, trace, problem.bound.threads());
    let valid = |trace: Trace| {
        let verdict = Verdict::Unsafe(trace);
        rules::check_within(problem, target, &verdict, limits).ok()?;
        match verdict {
            Verdict::Unsafe(trace) => Some(trace),
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
        }
    };
    if target.is_starvation() {
        // In another order, it may not go around any more.
        return concrete(trace);
    }
    let fewer = fewest_switches(problem, target, trace, left, limits).and_then(valid);
    fewer.and_then(|trace| concrete(&trace)).or_else(|| concrete(trace))
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(text::Options::default()))
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How long each part of a run took. Where several engines search and check at the same time, their
/// checks are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Phases {
    /// From the input to the problem.
    pub reading: Duration,
    /// From the problem to an answer.
    pub searching: Duration,
    /// From the answer to a verdict.
    pub checking: Duration,
}

impl Phases {
    /// Names and times, in order.
    pub fn named(&self) -> [(&'static str, Duration); 3] {
        [("reading", self.reading), ("searching", self.searching), ("checking", self.checking)]
    }
}

/// A certificate that was written to a file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Written {
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// How long it took to check it as `throng certify` does; null if that was not done.
    pub seconds: Option<f64>,
}

/// Returns whether reaching a target is an answer and no violation: it shows the largest value of a
/// sum.
pub(crate) fn shows_value(target: &Target) -> bool {
    matches!(target.asks(), Some(Asks::Reaches(_)))
}

/// A verdict without its evidence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// Cannot happen.
    Safe,
    /// Not known.
    Unknown,
    /// Can happen.
    Unsafe,
}

impl Status {
    /// That of a verdict.
    pub fn of(verdict: &Verdict) -> Status {
        match verdict {
            Verdict::Safe(_) => Status::Safe,
            Verdict::Unsafe(_) => Status::Unsafe,
            Verdict::Unknown(_) => Status::Unknown,
        }
    }

    /// The exit status that goes with it.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Safe => 0,
            Status::Unsafe => 10,
            Status::Unknown => 1,
        }
    }

    /// As JSON spells it.
    pub fn lower(self) -> &'static str {
        match self {
            Status::Safe => "safe",
            Status::Unsafe => "unsafe",
            Status::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Safe => "SAFE",
            Status::Unsafe => "UNSAFE",
            Status::Unknown => "UNKNOWN",
        })
    }
}
