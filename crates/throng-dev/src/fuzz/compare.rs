//! Asks all oracles about a case, and compares their claims.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::claim::Claim;
use super::oracles::Oracle;
use throng_lang::load::{Loaded, Reading};
use throng_model::limits::Limits;
use throng_model::problem::Problem;

/// A case, read and posed.
pub struct Asked<'a> {
    /// The case.
    pub case: &'a Case,
    /// The input as it was read.
    pub loaded: &'a Loaded,
    /// The options of reading.
    pub reading: Reading,
    /// The question.
    pub problem: &'a Problem,
}

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// The input, which is correct, was refused.
    Refused,
    /// An oracle panicked.
    Panic,
    /// Evidence does not stand.
    Evidence,
    /// A certificate cannot be written, read, or does not stand.
    Certificate,
    /// A translation cannot be read back.
    Translation,
    /// A list of thread states, dead code or a cutoff is wrong.
    ThreadStates,
    /// Two answers contradict each other.
    Disagreement,
    /// An oracle worked much longer than allowed.
    Overrun,
}

/// Something that is wrong with one answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// The kind of failure.
    pub kind: Kind,
    /// A description of the failure.
    pub what: String,
}

impl Trouble {
    /// Makes a failure with its description.
    pub fn new(kind: Kind, what: impl Into<String>) -> Trouble {
        Trouble { kind, what: what.into() }
    }
}

/// Something that must not happen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure.
    pub kind: Kind,
    /// The oracle whose answer it is about; two, if they disagree.
    #[serde(alias = "who")]
    pub oracles: Vec<String>,
    /// A description of the failure.
    pub what: String,
    /// The subject, if that matters for distinguishing failures.
    #[serde(default)]
    pub sort: String,
}

impl Failure {
    fn new(oracle: &str, trouble: Trouble) -> Failure {
        let Trouble { kind, what } = trouble;
        let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect();
        let sort = if kind == Kind::Panic { letters(&what) } else { String::new() };
        Failure { kind, oracles: vec![oracle.into()], what, sort }
    }

    /// Returns whether it is the same failure, on another case.
    pub fn is_like(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.oracles == other.oracles && self.sort == other.sort
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}: {}", self.kind, self.oracles.join(" against "), self.what)
    }
}

/// Limits on the cost of each answer.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Ticks of work.
    pub work: u64,
    /// Time, where work is not counted.
    pub time: Duration,
    /// Processor time that is too much: a limit was not kept.
    pub overrun: Duration,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { work: 1 << 15, time: Duration::from_secs(2), overrun: Duration::from_secs(20) }
    }
}

/// Number of times each claim was made.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// For each oracle: how often safe, unsafe, unknown; targets with a bound and without are
    /// counted alike.
    #[serde(alias = "said")]
    pub claims: BTreeMap<String, [u64; 3]>,
    /// For each pair: on how many targets both decided, and alike.
    pub agreed: BTreeMap<String, u64>,
}

impl Tally {
    /// The name of a pair.
    pub fn pair(a: &str, b: &str) -> String {
        if a <= b { format!("{a} / {b}") } else { format!("{b} / {a}") }
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Tally) {
        for (oracle, counts) in &other.claims {
            let own = self.claims.entry(oracle.clone()).or_default();
            own.iter_mut().zip(counts).for_each(|(own, more)| *own += more);
        }
        for (pair, count) in &other.agreed {
            *self.agreed.entry(pair.clone()).or_default() += count;
        }
    }
}

/// Asks all oracles; returns what they claim, or the first failure.
pub fn compare(case: &Case, oracles: &[Oracle], effort: &Effort) -> Result<Tally, Failure> {
    let asked = guarded(|| Asked::with(case, |asked| Ok(compare_asked(asked, oracles, effort))));
    asked.map_err(|trouble| Failure::new("reader", trouble))?
}

fn compare_asked(asked: &Asked<'_>, oracles: &[Oracle], effort: &Effort) -> Result<Tally, Failure> {
    let mut all: Vec<(&str, Vec<Claim>)> = Vec::new();
    for oracle in oracles {
        let trouble = |trouble: Trouble| Failure::new(oracle.name, trouble);
        let limits = Limits::none().work(effort.work).timeout(effort.time);
        let began = processor_time();
        let claims = guarded(|| (oracle.ask)(asked, &limits)).map_err(trouble)?;
        let took = processor_time().saturating_sub(began);
        if took > effort.overrun {
            let why = format!(
                "took {:.1} s where {:.1} s were allowed",
                took.as_secs_f64(),
                effort.time.as_secs_f64()
            );
            return Err(trouble(Trouble::new(Kind::Overrun, why)));
        }
        all.extend(claims.map(|claims| (oracle.name, claims)));
    }
    let mut tally = Tally::default();
    for (oracle, claims) in &all {
        let counts = tally.claims.entry(oracle.to_string()).or_default();
        // The last is about all targets together.
        let about = if claims.len() > 1 && !claims[..claims.len() - 1].iter().all(|s| *s == Claim::UNKNOWN) {
            &claims[..claims.len() - 1]
        } else {
            &claims[claims.len() - 1..]
        };
        for claim in about {
            counts[claim.safe().map_or(2, |safe| usize::from(!safe))] += 1;
        }
    }
    for (i, (a, first)) in all.iter().enumerate() {
        for (b, second) in &all[i + 1..] {
            compare_two(asked, (a, first), (b, second), &mut tally)?;
        }
    }
    Ok(tally)
}

fn compare_two(
    asked: &Asked<'_>,
    (a, first): (&str, &[Claim]),
    (b, second): (&str, &[Claim]),
    tally: &mut Tally,
) -> Result<(), Failure> {
    for (i, (one, other)) in first.iter().zip(second).enumerate() {
        if one.contradicts(other) {
            let target = asked.problem.targets.get(i).map_or("all targets", |t| t.name.as_str());
            let what = format!("about {target}: {a} says {one:?}, {b} says {other:?}");
            // Verdicts that differ are not to be shrunk to numbers that differ.
            let sort = format!("{:?} {:?}", one.safe(), other.safe());
            return Err(Failure { kind: Kind::Disagreement, oracles: vec![a.into(), b.into()], what, sort });
        }
        if one.safe().is_some() && other.safe().is_some() {
            *tally.agreed.entry(Tally::pair(a, b)).or_default() += 1;
        }
    }
    Ok(())
}

/// Returns the result of `work`, or reports that it panicked.
fn guarded<T>(work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(Trouble::new(Kind::Panic, text))
        }
    }
}

/// Processor time of this thread so far; wall-clock time where the system does not provide it.
#[cfg(unix)]
pub(super) fn processor_time() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Processor time of this thread so far; wall-clock time where the system does not provide it.
#[cfg(not(unix))]
pub(super) fn processor_time() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed()
}
