//! What is known about a question that stays open: runs that may be violations, and places to look
//! at.

use serde::Serialize;

use crate::report::story::Story;

/// The name under which provers of source code say how far they are: their phase is what they do.
pub const PROVER: &str = "abstraction";

/// A run that may violate what is asked about, and what is uncertain about it.
#[derive(Clone, Debug, Serialize)]
pub struct Possible {
    /// The target.
    pub target: String,
    /// What the run rests on that the program may not bear out, each as a sentence.
    pub uncertain: Vec<String>,
    /// The run with its values, if it is one of the model.
    pub trace: Option<Story>,
    /// Else the lines that threads execute, in order.
    pub lines: Vec<Stretch>,
}

/// Lines that one thread executes without interruption.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stretch {
    /// The number of the thread, from 1.
    pub thread: u32,
    /// The lines, in order.
    pub lines: Vec<u32>,
}

/// A place where an answer was lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Look {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The function.
    pub function: String,
    /// The text of the line.
    pub statement: String,
    /// What is not known there.
    pub why: String,
    /// What may help, if that is known.
    pub advice: Option<String>,
}

/// Puts lines of threads into stretches.
#[cfg(feature = "code")]
pub(crate) fn stretches(run: impl IntoIterator<Item = (u32, u32)>) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (thread, line) in run {
        match found.last_mut().filter(|stretch| stretch.thread == thread) {
            Some(stretch) if stretch.lines.last() == Some(&line) => {}
            Some(stretch) => stretch.lines.push(line),
            None => found.push(Stretch { thread, lines: vec![line] }),
        }
    }
    found
}
