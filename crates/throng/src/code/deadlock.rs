//! Deadlocks of C programs: ruled out by the order of locks, for any number of threads; else a
//! search of whole configurations, because more threads may make a deadlock disappear.

use std::sync::Arc;

use super::{Posed, locksets};
use crate::outcome::Outcome;
use throng_check::Checked;
use throng_engine::hunt::breadth_first::{Found, search};
use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_goto::Concrete;
use throng_goto_check::lock_order::{Order, check_order, order};
use throng_lang::property::{starvation, stuck};
use throng_model::Config;
use throng_model::deadlock::deadlocked;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Certificate, SourceProof, Unknown, Verdict};

/// What answers of this kind are signed with.
pub(super) const NAME: &str = "lock-order";

/// Returns the order of locks that rules deadlocks out, if nothing else is asked for, and that it
/// was checked.
pub(super) fn ordered(posed: &Posed) -> Option<(Order, Checked)> {
    let question = &posed.loaded.query.question;
    let asked = question.asks_about_deadlocks_only() && posed.program().asked.is_empty();
    if !asked || !posed.program().is_flat() {
        return None;
    }
    let order = order(posed.program()).ok()?;
    let checked = check_order(posed.program(), &order).ok()?;
    Some((order, checked))
}

/// An engine whose answer is such a proof.
pub(super) struct Proved(pub(super) Order, pub(super) Checked);

impl Algorithm for Proved {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        let proof = SourceProof {
            kind: "order of locks",
            size: self.0.locks.len(),
            member: "lock",
            words: "Every thread takes the locks in this order, waits for nothing else, and ends without one; only the first thread may also wait for the end of \
                    others, without a lock. If all threads waited, one of them would wait for the last lock that is waited for, which a thread holds that waits \
                    for a later one: there is none. And a thread whose end is waited for would wait for a lock."
                .into(),
            obligations: [
                "a thread takes a lock only while it holds earlier ones",
                "a lock is taken only if some thread holds it, and no thread ends with one",
                "threads wait for nothing but these locks, the first one also for the end of others while it holds none",
            ],
        };
        locksets::answer(problem, NAME, proof, self.1)
    }
}

/// The question about deadlocks, as one about configurations to cover: these engines answer it, and
/// not the library, which does not know that a thread that an assumption stops does not wait.
fn target(configs: Vec<Config>) -> Target {
    let property = Property::Deadlock;
    Target { property: Some(Arc::new(property.clone())), ..Target::covering(property.name(), configs) }
}

/// Asks about deadlocks that are ruled out.
pub(super) fn ask(problem: &mut Problem) {
    problem.targets.push(target(Vec::new()));
}

/// Adds all questions about threads that wait to a problem.
pub(super) fn ask_all(posed: &mut Posed) {
    if posed.loaded.query.question.deadlock {
        posed.problem.targets.push(Target::of(Property::Deadlock, Vec::new()));
    }
    ask_stuck(posed);
}

/// Adds the questions about stuck threads and starvation to a problem. Returns whether there are some.
pub(super) fn ask_stuck(posed: &mut Posed) -> bool {
    let question = &posed.loaded.query.question;
    let stuck = question.stuck.iter().filter_map(|text| stuck(text).ok());
    let starvation = question.starvation.iter().filter_map(|text| starvation(text).ok());
    let asked: Vec<Property> = stuck.chain(starvation).collect();
    let before = posed.problem.targets.len();
    posed.problem.targets.extend(asked.into_iter().map(|property| Target::of(property, Vec::new())));
    posed.problem.targets.len() > before
}

/// Returns whether the order of locks is the proof of the answer.
pub(super) fn is_ordered(outcome: &Outcome) -> bool {
    outcome.answer.by.contains(&Some(NAME))
}

/// An engine that answers about deadlocks, as the last target, and leaves the others to another
/// engine.
struct WithDeadlock<'a> {
    others: Box<dyn Algorithm + 'a>,
    verdict: Verdict,
    /// Whether no run into a deadlock has fewer threads.
    fewest: bool,
    statistics: Statistics,
}

/// Searches for a deadlock, and adds the question to the problem.
pub(super) fn also<'a>(
    others: Box<dyn Algorithm + 'a>,
    model: &Concrete,
    problem: &mut Problem,
    limits: &Limits,
) -> Box<dyn Algorithm + 'a> {
    let mut statistics = Statistics::default();
    let (verdict, fewest) = hunt(model, problem, limits, &mut statistics);
    let configs = match &verdict {
        // The run is checked as one into this configuration; that nothing moves there was found out
        // by the model.
        Verdict::Unsafe(trace) => vec![trace.end().clone()],
        _ => Vec::new(),
    };
    problem.targets.push(target(configs));
    Box::new(WithDeadlock { others, verdict, fewest, statistics })
}

impl Algorithm for WithDeadlock<'_> {
    fn name(&self) -> &'static str {
        if matches!(self.verdict, Verdict::Unknown(_)) { self.others.name() } else { "explicit" }
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut rest = problem.clone();
        rest.targets.pop();
        let mut answer = match rest.targets.is_empty() {
            true => Answer::new(Vec::new(), self.statistics.clone()),
            false => self.others.run(&rest, limits, watch),
        };
        answer.verdicts.push(self.verdict.clone());
        answer.by.push(Some("explicit"));
        answer.fewest.push(self.fewest);
        answer.checked = None;
        answer
    }
}

/// Numbers of configurations of the short searches with few threads, which come first: a loop that
/// creates thousands of threads, a few at a time, keeps the search for one number of them busy.
const SHORT: [usize; 3] = [1_000, 5_000, 25_000];

/// Maximum number of threads in these.
const FEW: u32 = 6;

/// Returns an answer, and whether no run has fewer threads. Short searches with few threads, then with 1, 2, 3, … threads, until there is no step that would
/// exceed the number.
fn hunt(
    model: &Concrete,
    problem: &Problem,
    limits: &Limits,
    statistics: &mut Statistics,
) -> (Verdict, bool) {
    let most = problem.bound.threads().unwrap_or(u32::MAX);
    let least = problem.initial.iter().map(|family| family.threads.size()).min().unwrap_or(1).max(1);
    let found = |threads, configurations, statistics: &mut Statistics| {
        search(problem, threads, configurations, limits, statistics, |config| {
            Ok(config.shared == model.memory_error() || deadlocked(model, config, None)?.is_some())
        })
    };
    for configurations in SHORT {
        let mut fewest = true;
        for threads in least..=most.min(FEW) {
            match found(threads, configurations, statistics) {
                Found::Run(trace) => return (Verdict::Unsafe(trace), fewest),
                Found::Stopped(_) => fewest = false,
                Found::Nothing(..) => {}
            }
        }
    }
    for threads in 1..=most {
        match found(threads, usize::MAX, statistics) {
            Found::Run(trace) => return (Verdict::Unsafe(trace), true),
            Found::Stopped(why) => return (Verdict::Unknown(why), false),
            Found::Nothing(all, exceeded, complete) if !exceeded || threads == most => {
                return match complete {
                    Ok(()) => (Verdict::Safe(Certificate::Closed(Arc::new(all))), false),
                    Err(why) => (Verdict::Unknown(why.into()), false),
                };
            }
            Found::Nothing(..) => {}
        }
    }
    (Verdict::Unknown(Unknown::Inconclusive("no number of threads was tried".into())), false)
}
