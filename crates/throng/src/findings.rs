//! What is known about the objects that threads share: why accesses to them do not race, or which
//! ones may.

mod baseline;

pub use baseline::{Baseline, write as write_baseline};

use serde::Serialize;

/// What an analysis of the whole program has shown about races, object by object.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Findings {
    /// Objects that several threads may access, and those that one thread owns; possible races
    /// first.
    pub objects: Vec<SharedObject>,
    /// What is reached and not modelled, or not known: nothing is proved then.
    pub open: Vec<String>,
    /// Number of these that a baseline accepts.
    #[serde(skip)]
    pub(crate) accepted_open: usize,
}

/// An object in memory, or objects that are not told apart.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct SharedObject {
    /// Its name in the source, with the field.
    pub name: String,
    /// The line in which it is defined or allocated, if that is known.
    pub line: Option<u32>,
    /// Number of accesses in the program.
    pub accesses: usize,
    /// Why its accesses do not race, or that they may.
    pub status: ObjectStatus,
    /// The reason in words: which locks protect it, who owns it.
    pub reasons: Vec<String>,
    /// The pairs of accesses that may race.
    pub races: Vec<PossibleRace>,
}

/// Why accesses to an object do not race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ObjectStatus {
    /// Two of them may happen at the same time.
    PossibleRace,
    /// A lock is held at all of them that matter.
    Protected,
    /// Different reasons keep different accesses apart.
    Apart,
    /// They are atomic while there are several threads.
    Atomic,
    /// One thread makes them, or one at a time.
    Owned,
    /// None of them writes while there are several threads.
    NotWritten,
}

impl ObjectStatus {
    /// All of them, worst first.
    pub const ALL: [ObjectStatus; 6] = [
        ObjectStatus::PossibleRace,
        ObjectStatus::Protected,
        ObjectStatus::Apart,
        ObjectStatus::Atomic,
        ObjectStatus::Owned,
        ObjectStatus::NotWritten,
    ];

    /// Returns what is said about an object in a word or two.
    pub fn words(self) -> &'static str {
        match self {
            ObjectStatus::PossibleRace => "possible race",
            ObjectStatus::Protected => "protected",
            ObjectStatus::Apart => "kept apart",
            ObjectStatus::Atomic => "atomic",
            ObjectStatus::Owned => "owned",
            ObjectStatus::NotWritten => "not written",
        }
    }
}

/// Two accesses that may race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct PossibleRace {
    /// A number in hexadecimal digits that stays when lines are inserted elsewhere.
    pub identity: String,
    /// Whether a run shows it.
    pub confirmed: bool,
    /// Whether a baseline accepts it.
    pub accepted: bool,
    /// One of the accesses, which writes.
    pub first: SharedAccess,
    /// The other.
    pub second: SharedAccess,
    /// Why they may happen at the same time.
    pub why: String,
}

/// An access to a shared object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct SharedAccess {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
    /// The line's text.
    pub text: String,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The thread that makes it.
    pub thread: String,
    /// The calls that lead to it, outermost first: functions, and the lines of the calls.
    pub calls: Vec<CallSite>,
    /// The locks that are held.
    pub locks: Vec<String>,
}

/// A function on the way to an access.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct CallSite {
    /// The function.
    pub function: String,
    /// The line in it: of the next call, or of the access.
    pub line: u32,
}

impl Findings {
    /// Returns the pairs that may race.
    pub fn races(&self) -> impl Iterator<Item = &PossibleRace> {
        self.objects.iter().flat_map(|object| &object.races)
    }

    /// Returns how many pairs may race that no run shows, and on how many objects.
    pub fn unconfirmed(&self) -> (usize, usize) {
        let open = |o: &SharedObject| o.races.iter().filter(|r| !r.confirmed).count();
        let counts = self.objects.iter().map(open).filter(|&n| n > 0);
        counts.fold((0, 0), |(races, objects), n| (races + n, objects + 1))
    }

    /// Makes possible races those that another proof has ruled out.
    #[cfg(feature = "code")]
    pub(crate) fn rule_out(&mut self) {
        for object in self.objects.iter_mut().filter(|o| !o.races.is_empty()) {
            object.races.clear();
            object.status = ObjectStatus::Apart;
            object.reasons = vec!["another proof shows that its accesses do not race".into()];
        }
        self.open.clear();
        self.accepted_open = 0;
    }

    /// Returns whether a baseline accepts all that is known.
    pub fn is_accepted(&self) -> bool {
        !self.has_new_open() && self.races().all(|race| race.accepted)
    }

    /// Returns whether something is not known that no baseline accepts.
    fn has_new_open(&self) -> bool {
        self.accepted_open < self.open.len()
    }

    /// Returns whether some race is possible that no run shows and no baseline accepts.
    pub fn has_new(&self) -> bool {
        self.has_new_open() || self.races().any(|race| !race.confirmed && !race.accepted)
    }

    /// Returns how many objects there are with each status, those without any left out.
    pub fn counts(&self) -> Vec<(ObjectStatus, usize)> {
        let count = |status| self.objects.iter().filter(|o| o.status == status).count();
        let all = ObjectStatus::ALL.into_iter().map(|status| (status, count(status)));
        all.filter(|(_, n)| *n > 0).collect()
    }

    /// Returns the objects with possible races, those with a race that a run shows first, then
    /// those with most races.
    pub fn worst_first(&self) -> Vec<&SharedObject> {
        let mut found: Vec<&SharedObject> = self.objects.iter().filter(|o| !o.races.is_empty()).collect();
        found.sort_by_key(|o| {
            let confirmed = o.races.iter().any(|r| r.confirmed);
            let accepted = o.races.iter().all(|r| r.accepted);
            (!confirmed, accepted, std::cmp::Reverse(o.races.len()))
        });
        found
    }
}

impl SharedAccess {
    /// Returns what it does: `read`, `atomic write`.
    pub fn kind(&self) -> &'static str {
        match (self.writes, self.atomic) {
            (true, false) => "write",
            (false, false) => "read",
            (true, true) => "atomic write",
            (false, true) => "atomic read",
        }
    }

    /// Returns the calls that lead to it: `main (line 50) > push`.
    pub fn path(&self) -> String {
        let Some((last, callers)) = self.calls.split_last() else { return String::new() };
        let callers = callers.iter().map(|c| format!("{} (line {}) > ", c.function, c.line));
        callers.chain([last.function.clone()]).collect()
    }

    /// Returns the locks in words.
    pub fn held(&self) -> String {
        if self.locks.is_empty() { "no lock".into() } else { self.locks.join(", ") }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn access(line: u32, writes: bool) -> SharedAccess {
        let call = |function: &str, line| CallSite { function: function.into(), line };
        SharedAccess {
            file: "q.c".into(),
            line,
            column: 3,
            text: "  q.head = n;".into(),
            writes,
            atomic: false,
            thread: "worker".into(),
            calls: vec![call("worker", 50), call("push", line)],
            locks: if writes { Vec::new() } else { vec!["q.m".into()] },
        }
    }

    /// A race with this identity.
    pub(crate) fn race(identity: &str) -> PossibleRace {
        PossibleRace {
            identity: identity.into(),
            confirmed: false,
            accepted: false,
            first: access(31, true),
            second: access(44, false),
            why: "both threads run after line 60".into(),
        }
    }

    /// An object with these races, and one without.
    pub(crate) fn findings(races: Vec<PossibleRace>) -> Findings {
        let status = if races.is_empty() { ObjectStatus::NotWritten } else { ObjectStatus::PossibleRace };
        let object = |name: &str, status, races, reasons| SharedObject {
            name: name.into(),
            line: Some(7),
            accesses: 4,
            status,
            reasons,
            races,
        };
        let protected = object("count", ObjectStatus::Protected, Vec::new(), vec!["m".into()]);
        Findings {
            objects: vec![object("q.head", status, races, Vec::new()), protected],
            ..Findings::default()
        }
    }

    #[test]
    fn counts_and_order() {
        let mut found = findings(vec![race("a"), race("b")]);
        assert_eq!(found.unconfirmed(), (2, 1));
        assert_eq!(found.counts(), [(ObjectStatus::PossibleRace, 1), (ObjectStatus::Protected, 1)]);
        found.objects.push(findings(vec![PossibleRace { confirmed: true, ..race("c") }]).objects.remove(0));
        assert_eq!(found.worst_first()[0].races[0].identity, "c");
        assert!(found.has_new() && !found.is_accepted());
        let all = Baseline::of(&found);
        all.accept(&mut found);
        assert!(!found.has_new() && found.is_accepted());
        found.open.push("line 3: `f` is not defined".into());
        assert!(found.has_new() && !found.is_accepted(), "nothing accepts what is not known");
    }

    #[test]
    fn accesses_are_described_with_their_calls_and_locks() {
        let race = race("a");
        assert_eq!(race.first.path(), "worker (line 50) > push");
        assert_eq!((race.first.kind(), race.second.kind()), ("write", "read"));
        assert_eq!((race.first.held().as_str(), race.second.held().as_str()), ("no lock", "q.m"));
    }
}
