//! Mutants: programs with one change, to find out what a proof depends on. If a mutant is still
//! safe, the proof does not need what was changed.

/// A passage of a text, and its replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The first byte.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// The replacement.
    pub with: String,
}

/// A kind of change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    /// The condition of an assertion is negated.
    Negated,
    /// A lock is neither taken nor released any more.
    Unlocked,
    /// Other threads may move between the steps of an atomic section.
    Unatomic,
    /// An atomic read-modify-write becomes a read and a write, each atomic.
    Split,
    /// A thread does not wait for a condition.
    Unguarded,
}

impl Change {
    /// Returns the change in words.
    pub fn text(self) -> &'static str {
        match self {
            Change::Negated => "assertion negated",
            Change::Unlocked => "lock disabled",
            Change::Unatomic => "atomic section disabled",
            Change::Split => "atomic operation split",
            Change::Unguarded => "condition dropped",
        }
    }
}

/// A program with one change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// The kind of change.
    pub change: Change,
    /// The changed lines of the user's text, from 1, in order.
    pub lines: Vec<u32>,
    /// The text that was changed.
    pub what: String,
    /// The edits, in the order of the text and without overlaps.
    pub edits: Vec<Edit>,
}

/// Applies edits, which are in order and do not overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for edit in edits {
        out.push_str(&text[copied..edit.from]);
        out.push_str(&edit.with);
        copied = edit.to;
    }
    out.push_str(&text[copied..]);
    out
}
