//! What is said about each shared object.

use throng_goto::program::Point;

use super::points::Site;

/// What checked facts show about races, object by object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// Objects that several threads may access, and those that one thread owns; possible races
    /// first.
    pub objects: Vec<Shared>,
    /// What is not modelled, or not known, and reached: nothing is proved then.
    pub open: Vec<String>,
}

/// An object, or objects that are not told apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shared {
    /// Which.
    pub site: Site,
    /// Its name in C, with the field: `queue.head`, `list_add: malloc, line 12 .next`.
    pub name: String,
    /// Where it is defined or allocated, if that is known.
    pub line: Option<u32>,
    /// How many accesses there are in the program.
    pub accesses: usize,
    /// What is known about them.
    pub status: Status,
}

/// Why accesses to an object do not race, or which may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// Two accesses may happen at the same time. The first of each pair of lines.
    Possible(Vec<Pair>),
    /// One lock is held at all accesses that matter: what it is called.
    Protected(Vec<String>),
    /// Different accesses are kept apart by different reasons, one sentence each.
    Apart(Vec<String>),
    /// It is accessed atomically while there are several threads.
    Atomic,
    /// Each object is accessed by one thread only, or by one thread at a time: who owns it.
    Owned(String),
    /// It is not written while there are several threads.
    NotWritten,
}

/// Two accesses that may race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// One of them, which writes.
    pub first: Touch,
    /// The other.
    pub second: Touch,
    /// Why they may happen at the same time, in a sentence.
    pub why: String,
    /// A number that does not change when lines are inserted elsewhere: made from the object, the
    /// functions and the statements.
    pub identity: u64,
}

/// An access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The instruction.
    pub at: Point,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The thread: `main`, `worker (started in line 12, any number)`.
    pub thread: String,
    /// The calls that lead to it, outermost first, as functions and lines of the calls; the last is
    /// the function of the access.
    pub calls: Vec<(String, u32)>,
    /// The names of the locks that are held.
    pub locks: Vec<String>,
}
