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
use throng_goto_check::races::waits::Ordered;
use throng_goto_check::races::{Facts, check_waits};
use throng_lang::property::{starvation, stuck};
use throng_model::Config;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Certificate, SourceProof, Unknown, Verdict};

/// What answers of this kind are signed with.
pub(super) const NAME: &str = "lock-order";

/// What is known about deadlocks without a search.
pub(super) enum Known {
    /// They are ruled out.
    Proof(Proof, Checked),
    /// Threads may wait for each other in a circle: where.
    Possible(String),
}

/// What rules deadlocks out.
pub(super) enum Proof {
    /// The order in which locks are taken.
    Order(Order),
    /// Facts of a static analysis, with an order of what threads wait for, and the number of
    /// instructions that wait.
    Facts(Box<Facts>, usize),
}

/// Returns what is known about deadlocks, if nothing else is asked for and the limits allow it.
pub(super) fn known(posed: &Posed, limits: &Limits) -> Option<Known> {
    let question = &posed.loaded.query.question;
    let asked = question.asks_about_deadlocks_only() && posed.program().asked.is_empty();
    if !asked || !posed.program().is_flat() {
        return None;
    }
    let order = order(posed.program()).ok();
    if let Some((order, checked)) =
        order.and_then(|o| Some((o.clone(), check_order(posed.program(), &o).ok()?)))
    {
        return Some(Known::Proof(Proof::Order(order), checked));
    }
    by_facts(posed, limits)
}

impl Known {
    /// Returns where threads may wait for each other, if they may.
    pub(super) fn possible(self) -> Option<String> {
        match self {
            Known::Possible(places) => Some(places),
            Known::Proof(..) => None,
        }
    }
}

/// Adds to an answer that is not known where threads may wait for each other.
pub(super) fn mention(outcome: &mut Outcome, places: &str) {
    for verdict in &mut outcome.answer.verdicts {
        if let Verdict::Unknown(why) = verdict {
            let text =
                format!("threads may wait for each other in a circle ({places}), not confirmed; {why}");
            *why = Unknown::Inconclusive(text);
        }
    }
}

/// Maximum number of instructions of a program that is analysed.
const MOST_INSTRUCTIONS: usize = 30_000;

fn by_facts(posed: &Posed, limits: &Limits) -> Option<Known> {
    let program = posed.program();
    let size: usize = program.templates.iter().map(|t| t.code.len()).sum();
    // What is known of values is so under sequential consistency.
    if posed.loaded.query.is_weak() || size > MOST_INSTRUCTIONS {
        return None;
    }
    // The search is left half of the time.
    let share = limits.time_left().map_or(limits.part(), |time| limits.part().timeout(time / 2));
    let mut facts = throng_static::analyse_waits(program, &|| share.check().is_err())?;
    match check_waits(program, &facts).ok()? {
        (Ordered::Yes { order, waits }, checked) => {
            facts.order = order;
            Some(Known::Proof(Proof::Facts(Box::new(facts), waits), checked))
        }
        (Ordered::Circle(circle), _) => {
            let line = |(t, pc): &(u32, u32)| program.origin(*t as usize, *pc as usize).line;
            let mut lines: Vec<String> = circle.iter().map(|at| format!("line {}", line(at))).collect();
            lines.dedup();
            Some(Known::Possible(lines.join(" and ")))
        }
        (Ordered::No(_), _) => None,
    }
}

/// An engine whose answer is such a proof.
pub(super) struct Proved(pub(super) Proof, pub(super) Checked);

impl Algorithm for Proved {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        let proof = match &self.0 {
            Proof::Order(order) => SourceProof {
                kind: "order of locks",
                size: order.locks.len(),
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
            },
            Proof::Facts(_, waits) => SourceProof {
                kind: "order of what threads wait for",
                size: *waits,
                member: "wait",
                words: "If all threads that are left waited, some of them would wait for each other in a circle: each for a lock that the next one may hold, or for its \
                        end. An order of locks and threads rules circles out, and where an edge goes back, each circle through it has two threads that hold one lock, or that \
                        never run at the same time."
                    .into(),
                obligations: [
                    "the facts hold at the start, and every instruction keeps them",
                    "a lock is taken only if some thread holds it, and no thread ends with one",
                    "threads wait for locks and for the end of threads only, and in no circle",
                ],
            },
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
            Ok(config.shared == model.memory_error() || model.is_deadlock(config)?)
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
