//! Proofs by locksets and by the order of locks as files: written by a prover, and compared with
//! the program by the checkers of this crate, which search for nothing.

use serde::{Deserialize, Serialize};
use throng_check::certify::Fault;
use throng_goto::Query;
use throng_goto::program::Violation;

use crate::abstraction::certificate::identity;
use crate::lock_order::{Order, check_order};
use crate::locksets::{self, Held, Locksets};
use crate::races::findings::Status;
use crate::races::waits::Ordered;
use crate::races::{self, Facts};

const ORDER: &str = "throng-c-lock-order";
const LOCKSETS: &str = "throng-c-locksets";
const RACES: &str = "throng-c-races";
const WAITS: &str = "throng-c-waits";
const VERSION: u32 = 1;

/// What every document begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// The kind of proof.
    pub format: String,
    /// The version of this kind.
    pub version: u32,
    /// The program that wrote it; for people.
    #[serde(default)]
    pub tool: String,
    /// The file; for people.
    #[serde(default)]
    pub file: String,
    /// The program as it is executed, and what is asked.
    #[serde(default)]
    pub program: String,
}

/// A lock: its name for people, and its address.
type Lock = (String, i64);

/// The locks that a thread holds when it comes to an instruction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct At {
    /// The instruction.
    at: usize,
    /// The locks by their number in the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locks: Vec<usize>,
    /// In how many atomic sections it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    atomic: u32,
    /// Whether other threads may run by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    started: bool,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct OrderDocument {
    #[serde(flatten)]
    head: Head,
    /// In order.
    locks: Vec<Lock>,
    /// How many instructions wait.
    waits: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LocksetsDocument {
    #[serde(flatten)]
    head: Head,
    locks: Vec<Lock>,
    /// For each template, the instructions that a thread may come to.
    templates: Vec<Vec<At>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RacesDocument {
    #[serde(flatten)]
    head: Head,
    /// Whether the facts are about the program with functions in place of their calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    inlined: bool,
    facts: Facts,
}

fn head(query: &Query, format: &str) -> Head {
    Head {
        format: format.into(),
        version: VERSION,
        tool: format!("throng {}", env!("CARGO_PKG_VERSION")),
        file: query.source.name.clone(),
        program: identity(query),
    }
}

/// Returns the kind of proof that a document says it is.
pub fn format(bytes: &[u8]) -> Result<String, Fault> {
    let unreadable = |why| Fault::Unreadable(format!("this is not a certificate about a program: {why}"));
    serde_json::from_slice::<Head>(bytes).map(|head| head.format).map_err(unreadable)
}

/// Returns whether documents of this format are checked here.
pub fn is_known(format: &str) -> bool {
    [ORDER, LOCKSETS, RACES, WAITS].contains(&format)
}

/// Writes a proof by the order of locks.
pub fn write_order(query: &Query, order: &Order) -> serde_json::Result<String> {
    let locks = order.locks.iter().map(|&a| lock(query, a)).collect();
    serde_json::to_string(&OrderDocument { head: head(query, ORDER), locks, waits: order.waits })
}

/// Writes a proof by locksets.
pub fn write_locksets(query: &Query, sets: &Locksets) -> serde_json::Result<String> {
    let mut locks: Vec<i64> = sets.at.iter().flatten().flatten().flat_map(|h| h.locks.clone()).collect();
    locks.sort_unstable();
    locks.dedup();
    let number = |a: &i64| locks.binary_search(a).unwrap_or_default();
    let at = |(at, held): (usize, &Option<Held>)| {
        let Held { locks, atomic, started } = held.as_ref()?;
        Some(At { at, locks: locks.iter().map(number).collect(), atomic: *atomic, started: *started })
    };
    let templates = sets.at.iter().map(|t| t.iter().enumerate().filter_map(at).collect()).collect();
    let named = locks.iter().map(|&a| lock(query, a)).collect();
    serde_json::to_string(&LocksetsDocument { head: head(query, LOCKSETS), locks: named, templates })
}

/// Writes a proof by facts of a static analysis, of the program with its calls or with functions in
/// place of them (`inlined`).
pub fn write_races(query: &Query, facts: &Facts, inlined: bool) -> serde_json::Result<String> {
    serde_json::to_string(&RacesDocument { head: head(query, RACES), inlined, facts: facts.clone() })
}

/// Writes a proof that there is no deadlock by facts of a static analysis, which have an order, of
/// the program with functions in place of their calls.
pub fn write_waits(query: &Query, facts: &Facts) -> serde_json::Result<String> {
    let head = head(query, WAITS);
    serde_json::to_string(&RacesDocument { head, inlined: true, facts: facts.clone() })
}

fn lock(query: &Query, a: i64) -> Lock {
    (query.program.name_of(a).unwrap_or_default(), a)
}

/// What a document of this crate shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// The property that cannot be violated.
    pub property: String,
    /// The kind of evidence.
    pub kind: &'static str,
    /// Its number of elements: locks in an order, instructions with locksets.
    pub elements: usize,
}

/// Checks a document as an answer to what is asked about a program.
pub fn certify(query: &Query, bytes: &[u8]) -> Result<Shown, Fault> {
    let format = format(bytes)?;
    match format.as_str() {
        ORDER => certify_order(query, read(bytes, |d: &OrderDocument| &d.head)?),
        LOCKSETS => certify_locksets(query, read(bytes, |d: &LocksetsDocument| &d.head)?),
        RACES => certify_races(query, read(bytes, |d: &RacesDocument| &d.head)?),
        WAITS => certify_waits(query, read(bytes, |d: &RacesDocument| &d.head)?),
        other => Err(Fault::Unreadable(format!("a certificate of the kind `{other}` is not known"))),
    }
}

fn read<D: for<'a> Deserialize<'a>>(bytes: &[u8], head: impl Fn(&D) -> &Head) -> Result<D, Fault> {
    let no = |why: String| Fault::Unreadable(format!("this is not a certificate about a program: {why}"));
    let document: D = serde_json::from_slice(bytes).map_err(|why| no(why.to_string()))?;
    match head(&document).version {
        VERSION => Ok(document),
        other => Err(no(format!("it has version {other}, but this checker knows version {VERSION}"))),
    }
}

fn invalid<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Invalid(why.into()))
}

const OTHER: &str = "it is about another program or another question";
const NOT_ASKED: &str = "it does not answer what is asked";

fn certify_order(query: &Query, document: OrderDocument) -> Result<Shown, Fault> {
    if document.head.program != identity(query) {
        return invalid(OTHER);
    }
    if !(query.question.asks_about_deadlocks_only() && query.program.asked.is_empty()) {
        return invalid(NOT_ASKED);
    }
    let order = Order { locks: document.locks.iter().map(|l| l.1).collect(), waits: document.waits };
    check_order(&query.program, &order).map_err(Fault::Invalid)?;
    Ok(Shown { property: "deadlock".into(), kind: "order of locks", elements: order.locks.len() })
}

fn certify_locksets(query: &Query, document: LocksetsDocument) -> Result<Shown, Fault> {
    if document.head.program != identity(query) {
        return invalid(OTHER);
    }
    if query.question.asks_who_waits() || query.program.asked != [Violation::Race] {
        return invalid(NOT_ASKED);
    }
    if query.is_weak() {
        return invalid(
            "the program names memory orders that are weaker than seq_cst, which locksets do not cover",
        );
    }
    let sets = document.sets(query).map_err(Fault::Invalid)?;
    let compared = locksets::check(&query.program, &sets).map_err(Fault::Invalid)?;
    Ok(Shown {
        property: query.question.name(Violation::Race),
        kind: "locksets",
        elements: compared.instructions,
    })
}

fn certify_races(query: &Query, document: RacesDocument) -> Result<Shown, Fault> {
    if document.head.program != identity(query) {
        return invalid(OTHER);
    }
    if query.question.deadlock || query.program.asked != [Violation::Race] {
        return invalid(NOT_ASKED);
    }
    if query.is_weak() {
        return invalid(
            "the program names memory orders that are weaker than seq_cst, which this proof does not cover",
        );
    }
    let whole = query.whole.as_deref().filter(|_| !document.inlined).unwrap_or(&query.program);
    let findings = races::check(whole, &document.facts).map_err(Fault::Invalid)?;
    let findings = races::narrowed(whole, findings);
    if let Some(open) = findings.open.first() {
        return Err(Fault::Invalid(format!("not everything is known: {open}")));
    }
    let possible = findings.objects.iter().find(|o| matches!(o.status, Status::Possible(_)));
    if let Some(object) = possible {
        return Err(Fault::Invalid(format!("two threads may race for `{}`", object.name)));
    }
    Ok(Shown {
        property: query.question.name(Violation::Race),
        kind: "facts about pointers, threads and locks",
        elements: findings.objects.len(),
    })
}

fn certify_waits(query: &Query, document: RacesDocument) -> Result<Shown, Fault> {
    if document.head.program != identity(query) {
        return invalid(OTHER);
    }
    if !(query.question.asks_about_deadlocks_only() && query.program.asked.is_empty()) {
        return invalid(NOT_ASKED);
    }
    match races::order_of_waits(&query.program, &document.facts).map_err(Fault::Invalid)? {
        Ordered::Yes { order, .. } if order == document.facts.order => Ok(Shown {
            property: "deadlock".into(),
            kind: "order of what threads wait for",
            elements: order.len(),
        }),
        Ordered::Yes { .. } => invalid("it has no order"),
        Ordered::Circle(_) => invalid("threads may wait for each other in a circle"),
        Ordered::No(why) => Err(Fault::Invalid(why)),
    }
}

impl LocksetsDocument {
    /// Returns the sets by template and instruction.
    fn sets(&self, query: &Query) -> Result<Locksets, String> {
        let templates = &query.program.templates;
        let sizes = templates.iter().map(|t| t.code.len());
        let mut at: Vec<Vec<Option<Held>>> = sizes.map(|size| vec![None; size]).collect();
        if at.len() != self.templates.len() {
            return Err("there are other templates".into());
        }
        for (all, known) in at.iter_mut().zip(&self.templates) {
            for known in known {
                let place = all.get_mut(known.at).ok_or("there are other instructions")?;
                let lock = |n: &usize| Some(self.locks.get(*n)?.1);
                let locks = known.locks.iter().map(lock).collect::<Option<_>>();
                let locks = locks.ok_or("a lock has no address")?;
                *place = Some(Held { locks, atomic: known.atomic, started: known.started });
            }
        }
        Ok(Locksets { at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock_order::order;
    use crate::locksets::locksets;
    use throng_goto::Question;

    const PROGRAM: &str = "
        typedef union { int a[10]; } pthread_mutex_t;
        int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
        pthread_mutex_t m; int x;
        void worker(void) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }";

    fn asked(ask: fn(&mut Question)) -> Query {
        let mut options = throng_c::Options::default();
        options.question.entries = vec!["worker".into()];
        ask(&mut options.question);
        let source = throng_lang::source::Source::new("a.i", PROGRAM);
        throng_c::read(source, PROGRAM.into(), &options).map_err(|r| r.diagnostics).expect("read").query
    }

    fn changed(document: &str, from: &str, to: &str) -> Vec<u8> {
        assert!(document.contains(from), "{from} is not in {document}");
        document.replacen(from, to, 1).into_bytes()
    }

    #[test]
    fn a_proof_by_locksets_stands_and_a_changed_one_does_not() {
        let query = asked(|q| q.race = true);
        let document = write_locksets(&query, &locksets(&query.program)).expect("written");
        let shown = certify(&query, document.as_bytes()).expect("valid");
        assert_eq!((shown.property.as_str(), shown.kind), ("race", "locksets"));
        let refused = [
            // A lock that is not held.
            changed(&document, "\"locks\":[0]", "\"locks\":[7]"),
            changed(&document, ",\"locks\":[0]", ""),
            // An instruction that a thread comes to.
            changed(&document, "{\"at\":0", "{\"at\":1"),
            changed(&document, "\"program\":\"", "\"program\":\"0"),
            changed(&document, "\"version\":1", "\"version\":2"),
        ];
        for bytes in refused {
            assert!(certify(&query, &bytes).is_err(), "{}", String::from_utf8_lossy(&bytes));
        }
        // Another question.
        assert!(certify(&asked(|q| q.deadlock = true), document.as_bytes()).is_err());
        assert!(certify(&asked(|_| {}), document.as_bytes()).is_err());
    }

    #[test]
    fn a_proof_by_the_order_of_locks_stands_and_a_changed_one_does_not() {
        let query = asked(|q| q.deadlock = true);
        let document = write_order(&query, &order(&query.program).expect("an order")).expect("written");
        let shown = certify(&query, document.as_bytes()).expect("valid");
        assert_eq!((shown.property.as_str(), shown.elements), ("deadlock", 1));
        for bytes in [
            changed(&document, "\"waits\":1", "\"waits\":0"),
            changed(&document, "[[\"m", "[[\"m\",0],[\"m"),
            changed(&document, "\"program\":\"", "\"program\":\"0"),
        ] {
            let done = certify(&query, &bytes);
            let harmless = String::from_utf8_lossy(&bytes).contains("[\"m\",0]");
            assert_eq!(done.is_ok(), harmless, "{}", String::from_utf8_lossy(&bytes));
        }
        assert!(certify(&asked(|q| q.race = true), document.as_bytes()).is_err());
    }
}
