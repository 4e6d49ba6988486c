//! Benchmarks that anyone can repeat: every instance with every tool, each run a process of its own
//! that is measured from outside.
//!
//! A *tool* is a configuration of this program or another program ([`tools`]), an *instance* a file
//! with a question and, where known, the expected verdict ([`instances`]). A [`Run`] is what came
//! of one pair; it is appended to a file as soon as it is known ([`store`]), so that a stopped
//! benchmark is resumed. From the runs come tables ([`summary`]), comparisons with an earlier
//! benchmark ([`compare`]) and pictures ([`plot`], [`page`]).
//!
//! Limits and comparisons use processor time, not the clock on the wall, because the former hardly
//! depends on what else the machine does. Nothing here knows an engine: runs are command lines.

pub mod child;
pub mod compare;
#[cfg(feature = "cluster")]
pub mod elsewhere;
mod group;
pub mod instances;
pub mod page;
pub mod plot;
pub mod schedule;
pub mod store;
pub mod summary;
pub mod tools;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of one tool on one instance: a line of `runs.jsonl`, a row of `runs.csv`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The input, as the manifest or the folder names it.
    pub file: String,
    /// The property that was asked about, as the manifest states it.
    pub property: String,
    /// The initial configuration, as the manifest states it.
    pub initial: String,
    /// The thread bound that was asked about; none: any number.
    pub threads: Option<u32>,
    /// The family of the input.
    pub family: String,
    /// `safe`, `unsafe` or `?`.
    pub expected: String,
    /// The name of the tool.
    pub tool: String,
    /// Its options or command, before anything is filled in.
    pub command: String,
    /// A hash of the input, its property file and the description of the tool: what changed is run
    /// again.
    #[serde(default)]
    pub hash: String,
    /// The limit in seconds of processor time.
    pub timeout: f64,
    /// The limit in MiB; 0: none.
    pub memory: u64,
    /// The way it ended.
    pub result: Ending,
    /// Seconds of processor time, user and system.
    pub cpu: f64,
    /// Seconds on the wall clock.
    pub wall: f64,
    /// The most memory it had, in MiB.
    pub peak: f64,
    /// The exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// Configurations stored, if the tool says.
    pub configurations: Option<u64>,
    /// A number of the tool's output that its configuration asks for.
    pub value: Option<f64>,
    /// The reason for having no verdict, if the tool gives one.
    pub note: String,
}

/// The ways a run can end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The verdict safe.
    Safe,
    /// The verdict unsafe.
    Unsafe,
    /// It did all its work; there is no verdict in it.
    Finished,
    /// It gave up by itself.
    Unknown,
    /// It ran into the time limit.
    Timeout,
    /// It ran into the memory limit.
    Memory,
    /// It does not take this input or question.
    Refused,
    /// It ended in a way that its description does not explain.
    Crash,
    /// It was not started, because it gave up on the same file with fewer threads.
    Skipped,
}

impl Ending {
    /// All of them.
    pub const ALL: [Ending; 9] = [
        Ending::Safe,
        Ending::Unsafe,
        Ending::Finished,
        Ending::Unknown,
        Ending::Timeout,
        Ending::Memory,
        Ending::Refused,
        Ending::Crash,
        Ending::Skipped,
    ];

    /// Returns whether it is a verdict.
    pub fn is_verdict(self) -> bool {
        matches!(self, Ending::Safe | Ending::Unsafe)
    }

    /// As files spell it.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Safe => "safe",
            Ending::Unsafe => "unsafe",
            Ending::Finished => "finished",
            Ending::Unknown => "unknown",
            Ending::Timeout => "timeout",
            Ending::Memory => "memory",
            Ending::Refused => "refused",
            Ending::Crash => "crash",
            Ending::Skipped => "skipped",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Run {
    /// Returns whether it finished what was asked and does not contradict what is known.
    pub fn solved(&self) -> bool {
        !self.wrong() && (self.result.is_verdict() || self.result == Ending::Finished)
    }

    /// Returns whether its verdict contradicts the expected one.
    pub fn wrong(&self) -> bool {
        self.result.is_verdict()
            && ["safe", "unsafe"].contains(&self.expected.as_str())
            && self.result.word() != self.expected
    }

    /// The question it answers; runs of different tools with the same one can be compared.
    pub fn question(&self) -> Question<'_> {
        (&self.file, self.threads.unwrap_or(u32::MAX), &self.initial, &self.property)
    }

    /// The question in words.
    pub fn title(&self) -> String {
        let bound = self.threads.map_or(String::new(), |n| format!(" ≤{n} threads"));
        let start =
            if self.initial.contains(['|', '/']) { format!(" {}", self.initial) } else { String::new() };
        format!("{}{start}{bound}", self.file)
    }
}

/// File, thread bound (the largest number: none), start, property.
pub type Question<'a> = (&'a str, u32, &'a str, &'a str);

/// The names of the tools, in the order in which they first occur.
pub fn names<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.tool.as_str()) {
            names.push(&run.tool);
        }
    }
    names
}
