//! Deadlocks of C programs: ruled out by the order of locks, for any number of threads; else a
//! search of whole configurations, because more threads may make a deadlock disappear.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::abstraction::{Certification, Shown, limited};
use super::search::{Found, search};
use super::{Failure, Loaded, Outcome, files};
use throng::report::plural;
use throng_abstract::certificate::identity;
use throng_check::Checked;
use throng_check::certify::Fault;
use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_goto::Concrete;
use throng_goto_check::lock_order::{Order, check_order, order};
use throng_model::Config;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Certificate, SourceProof, Unknown, Verdict};

/// What answers of this kind are signed with.
const NAME: &str = "lock-order";

/// The order of locks that rules deadlocks out, if nothing else is asked for, and that it was
/// checked.
pub(super) fn ordered(loaded: &Loaded) -> Option<(Order, Checked)> {
    if !loaded.query.question.deadlock || !loaded.query.program.asked.is_empty() {
        return None;
    }
    let order = order(&loaded.query.program).ok()?;
    let checked = check_order(&loaded.query.program, &order).ok()?;
    Some((order, checked))
}

/// The answer of such a proof.
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
            words: "Every thread takes the locks in this order, waits for nothing else, and ends without one. If all threads waited, one of them would wait \
                    for the last lock that is waited for, which a thread holds that waits for a later one: there is none."
                .into(),
            obligations: [
                "a thread takes a lock only while it holds earlier ones",
                "a lock is taken only if some thread holds it, and no thread ends with one",
                "threads wait for nothing but these locks",
            ],
        };
        super::locksets::answer(problem, NAME, proof, self.1)
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

/// Returns whether the order of locks is the proof of the answer, and says what it takes for
/// granted.
pub(super) fn report(outcome: &mut Outcome) -> bool {
    let ordered = outcome.answer.by.contains(&Some(NAME));
    if ordered {
        super::locksets::report(outcome);
    }
    ordered
}

/// What a certificate of this kind calls itself.
const FORMAT: &str = "throng-c-lock-order";
const VERSION: u32 = 1;

/// A proof by the order of locks, as a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    tool: String,
    file: String,
    /// The program as it is executed, and what is asked.
    program: String,
    /// The locks in order: names for people, and addresses.
    locks: Vec<(String, i64)>,
    /// How many instructions wait.
    waits: usize,
}

/// Writes the certificate of a proof.
pub(super) fn write(path: &Path, loaded: &Loaded, order: &Order) -> Result<(), Failure> {
    let name = |&a: &i64| (loaded.query.program.name_of(a).unwrap_or_default(), a);
    let document = Document {
        format: FORMAT.into(),
        version: VERSION,
        tool: format!("throng {}", env!("CARGO_PKG_VERSION")),
        file: loaded.query.source.name.clone(),
        program: identity(&loaded.query),
        locks: order.locks.iter().map(name).collect(),
        waits: order.waits,
    };
    let text = serde_json::to_string(&document).map_err(|why| Failure::Other(why.to_string()))?;
    files::replace(path, &(text + "\n"))
}

/// Whether some bytes are meant to be such a certificate.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(bytes).is_ok_and(|v| v["format"] == FORMAT)
}

/// Checks such a certificate: the order is compared with the program; nothing is searched for.
pub(super) fn certify(loaded: &Loaded, bytes: &[u8]) -> Certification {
    let no = |why: &str| Fault::Unreadable(format!("this is no certificate about deadlocks: {why}"));
    let document: Document = serde_json::from_slice(bytes).map_err(|why| no(&why.to_string()))?;
    if document.version != VERSION {
        return Err(no(&format!(
            "it has version {}, but this checker knows version {VERSION}",
            document.version
        )));
    }
    let invalid = |why: &str| Err(Fault::Invalid(why.into()));
    if document.program != identity(&loaded.query) {
        return invalid("it is about another program or another question");
    }
    if !loaded.query.question.deadlock || !loaded.query.program.asked.is_empty() {
        return invalid("it does not answer what is asked");
    }
    let order = Order { locks: document.locks.iter().map(|l| l.1).collect(), waits: document.waits };
    check_order(&loaded.query.program, &order).map_err(Fault::Invalid)?;
    let limited = limited(loaded)?;
    Ok(Shown {
        properties: vec!["deadlock".into()],
        how: format!("by the order of {}{limited}", plural(order.locks.len() as u64, "lock")),
        sizes: (0, order.waits),
        initial: loaded.query.problem().initial_text,
        assumptions: [loaded.query.assumptions(&Default::default()), vec![super::locksets::ASSUMED.into()]]
            .concat(),
    })
}

/// An engine that answers about deadlocks, as the last target, and leaves the others to another
/// engine.
struct WithDeadlock {
    others: Box<dyn Algorithm + Send>,
    verdict: Verdict,
    statistics: Statistics,
}

/// Searches for a deadlock, and adds the question to the problem.
pub(super) fn also(
    others: Box<dyn Algorithm + Send>,
    model: &Concrete,
    problem: &mut Problem,
    limits: &Limits,
) -> Box<dyn Algorithm + Send> {
    let mut statistics = Statistics::default();
    let verdict = hunt(model, problem, limits, &mut statistics);
    let configs = match &verdict {
        // The run is checked as one into this configuration; that nothing moves there was found out
        // by the model.
        Verdict::Unsafe(trace) => vec![trace.end().clone()],
        _ => Vec::new(),
    };
    problem.targets.push(target(configs));
    Box::new(WithDeadlock { others, verdict, statistics })
}

impl Algorithm for WithDeadlock {
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
        answer.fewest.push(matches!(self.verdict, Verdict::Unsafe(_)));
        answer.checked = None;
        answer
    }
}

/// With 1, 2, 3, … threads, until there is no step that would exceed the number.
fn hunt(model: &Concrete, problem: &Problem, limits: &Limits, statistics: &mut Statistics) -> Verdict {
    let most = problem.bound.threads().unwrap_or(u32::MAX);
    for threads in 1..=most {
        match search(problem, threads, usize::MAX, limits, statistics, |config| {
            Ok(config.shared == model.memory_error() || model.is_deadlock(config)?)
        }) {
            Found::Run(trace) => return Verdict::Unsafe(trace),
            Found::Stopped(why) => return Verdict::Unknown(why),
            Found::Nothing(all, exceeded, complete) if !exceeded || threads == most => {
                return match complete {
                    Ok(()) => Verdict::Safe(Certificate::Closed(Arc::new(all))),
                    Err(why) => Verdict::Unknown(why.into()),
                };
            }
            Found::Nothing(..) => {}
        }
    }
    Verdict::Unknown(Unknown::Inconclusive("no number of threads was tried".into()))
}
