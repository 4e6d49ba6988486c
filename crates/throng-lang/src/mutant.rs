//! Programs with one thing changed, to find out what a proof depends on: if the changed program is
//! still safe, it did not depend on that.

/// A passage of a text, and what stands there instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The first byte.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// What replaces it.
    pub with: String,
}

/// What is changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    /// An assertion: its condition is negated.
    Negated,
    /// A lock: nothing takes or releases it any more.
    Unlocked,
    /// An atomic section: other threads may move between its steps.
    Unatomic,
    /// An atomic operation that reads and writes: it is a read and a write, each atomic.
    Split,
    /// A condition that a thread waits for: it does not wait.
    Unguarded,
}

impl Change {
    /// In words.
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

/// A program with one thing changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    /// What kind of thing.
    pub change: Change,
    /// Where, as the user's lines from 1, in order.
    pub lines: Vec<u32>,
    /// What was changed, as it is written.
    pub what: String,
    /// How, in the order of the text and without overlaps.
    pub edits: Vec<Edit>,
}

/// The text with these passages replaced; they are in order and do not overlap.
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
