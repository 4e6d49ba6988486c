//! Properties as an author writes them, parsed: the origin of targets.
//!
//! Engines and rules do not use them, but the [`Target`](crate::problem::Target) that a property
//! became. Reports name them, warnings are about the places that they mention, and certificates
//! state them. The reader of a language builds them once; the input defines the meaning of places
//! and conditions.

use std::ops::Range;

/// The name of all places in questions about stuck threads.
pub const ANYWHERE: &str = "any";

/// A property of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// No assertion is violated.
    Assertions,
    /// No thread is about to execute the statement with this label.
    ErrorLabel(String),
    /// These threads, which exclude one another, are not there at the same time.
    Mutex(Together),
    /// No more threads are at these places than allowed.
    AtMost(Together),
    /// Threads that match these patterns are not there at the same time.
    Never(Together),
    /// No thread at one of these places is unable to move ever again.
    Stuck(Together),
    /// Under a fair scheduler, no thread stays at one of these places for ever.
    Starvation(Together),
    /// No two threads are about to access this shared variable, or any, one of them to write it.
    Race(Option<String>),
    /// This expression over the shared variables holds.
    Invariant(String),
    /// Threads are not in these states.
    State(String),
    /// Some thread can move, or all have ended.
    Deadlock,
    /// C: memory is only accessed where an object is.
    MemorySafety,
}

/// Distinct threads, one for each pattern, that must not be there at the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Together {
    /// The text that this was parsed from; parts refer to positions in it.
    pub text: String,
    /// The patterns.
    pub threads: Vec<Pattern>,
    /// True if a thread inside an atomic section does not count.
    pub outside_atomic: bool,
}

/// One thread: it is at one of these places, and the condition holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Labels, or numbers of lines.
    pub places: Vec<Part>,
    /// An expression over the variables that the thread sees there.
    pub condition: Option<Part>,
}

/// A part of a text, and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The part.
    pub text: String,
    /// Its first byte.
    pub start: usize,
}

impl Part {
    /// Returns `text`, which begins at `start`, without blanks around it.
    pub fn of(text: &str, start: usize) -> Part {
        let start = start + text.len() - text.trim_start().len();
        Part { text: text.trim().into(), start }
    }

    /// Returns where the part is.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Returns the line, if the part names one.
    pub fn line(&self) -> Option<u32> {
        self.text.strip_prefix("line").unwrap_or(&self.text).trim().parse().ok()
    }
}

impl Property {
    /// Returns the threads that must not be there at the same time, if the property is about
    /// threads.
    pub fn together(&self) -> Option<&Together> {
        match self {
            Property::Mutex(of)
            | Property::AtMost(of)
            | Property::Never(of)
            | Property::Stuck(of)
            | Property::Starvation(of) => Some(of),
            _ => None,
        }
    }

    /// Returns whether threads that are stuck are asked for wherever they are.
    pub fn is_stuck_anywhere(&self) -> bool {
        matches!(self, Property::Stuck(of) if of.text.trim() == ANYWHERE)
    }

    /// Returns its name for people.
    pub fn name(&self) -> String {
        match self {
            Property::Assertions => "assertions".into(),
            Property::ErrorLabel(label) => format!("error label {label}"),
            Property::Mutex(of) => format!("mutex {}", of.wording()),
            Property::AtMost(of) => format!("at-most {}", of.wording()),
            Property::Never(of) => format!("never {}", of.wording()),
            Property::Stuck(of) => format!("stuck {}", of.wording()),
            Property::Starvation(of) => format!("starvation {}", of.wording()),
            Property::Race(Some(name)) => format!("race {name}"),
            Property::Race(None) => "race".into(),
            Property::Invariant(text) => format!("invariant {text}"),
            Property::State(text) => format!("state {text}"),
            Property::Deadlock => "deadlock".into(),
            Property::MemorySafety => "memory-safety".into(),
        }
    }
}

impl Together {
    /// Returns the pair of two threads that are both at one of these places; `text` names the
    /// places.
    pub fn two_at(text: &str, places: Vec<Part>) -> Together {
        let pattern = Pattern { places, condition: None };
        Together { text: text.into(), threads: vec![pattern.clone(), pattern], outside_atomic: true }
    }

    /// Returns the text with single blanks.
    pub fn wording(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns whether it has conditions, which may mention variables of threads.
    pub fn has_conditions(&self) -> bool {
        self.threads.iter().any(|t| t.condition.is_some())
    }

    /// Returns every way to choose one of the candidates of each thread, as a set of threads: equal
    /// patterns do not exchange theirs. `None` if there are more than `most`.
    pub fn choices<T: Clone>(&self, candidates: &[Vec<T>], most: usize) -> Option<Vec<Vec<T>>> {
        let mut chosen: Vec<(Vec<T>, usize)> = vec![(Vec::new(), 0)];
        for (i, list) in candidates.iter().enumerate() {
            let same = i > 0 && self.threads.get(i - 1..=i).is_some_and(|two| two[0] == two[1]);
            let mut longer = Vec::new();
            for (before, last) in &chosen {
                for (k, one) in list.iter().enumerate().skip(if same { *last } else { 0 }) {
                    if longer.len() == most {
                        return None;
                    }
                    longer.push(([&before[..], std::slice::from_ref(one)].concat(), k));
                }
            }
            chosen = longer;
        }
        Some(chosen.into_iter().map(|c| c.0).collect())
    }
}
