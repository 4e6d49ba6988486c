//! The answer of `throng reach`: every thread state, as text and as JSON.

use std::collections::HashSet;
use std::time::Duration;

use serde::Serialize;

use super::story::{State, Values, state};
use super::{plural, threads_text};
use crate::outcome::Subject;
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;
use throng_model::{Local, Model, Place, Shared};

/// The reachable thread states, or why they are not known.
#[derive(Clone)]
#[non_exhaustive]
pub struct ReachOutcome {
    /// Model, initial configuration and bound; the targets do not matter.
    pub problem: Problem,
    /// All reachable thread states.
    pub states: Result<Vec<(Shared, Local)>, Unknown>,
    /// The time it took.
    pub time: Duration,
    /// The positions of threads in any of them, also inside atomic sections: see [`places`].
    pub(crate) places: HashSet<(u32, u32)>,
    pub(crate) subject: Subject,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    file: &'a str,
    complete: bool,
    reason: Option<String>,
    threads: Option<u32>,
    initial: &'a str,
    /// True if `*` stands for both values of a variable, because a list of all values would be too
    /// long.
    values_open: bool,
    thread_states: Vec<ThreadState>,
    /// Statements that no thread reaches.
    unreached: Vec<Unreached>,
    statistics: Numbers,
}

#[derive(Serialize)]
struct Unreached {
    line: u32,
    column: u32,
    statement: String,
    function: String,
}

#[derive(Serialize)]
struct Numbers {
    thread_states: usize,
    shared_states: usize,
    local_states: usize,
    seconds: f64,
}

#[derive(Serialize)]
struct ThreadState {
    shared: Values,
    /// The bits of values that combine several.
    #[serde(skip_serializing_if = "Values::is_empty")]
    shared_bits: Values,
    #[serde(flatten)]
    local: State,
}

/// Returns the positions (line, column) at which threads are.
pub fn places(model: &dyn Model, states: &[(Shared, Local)]) -> HashSet<(u32, u32)> {
    let locals: HashSet<Local> = states.iter().map(|s| s.1).collect();
    locals.into_iter().filter_map(|l| model.place(l)).map(|p| (p.line, p.column)).collect()
}

/// Returns the statements that no thread reaches, in order, given the positions of threads.
pub fn dead(model: &dyn Model, places: &HashSet<(u32, u32)>) -> Vec<Place> {
    let mut dead = model.places();
    dead.retain(|p| !places.contains(&(p.line, p.column)) && !["end", "}"].contains(&p.text.as_str()));
    dead.sort_by_key(|p| (p.line, p.column));
    dead
}

impl ReachOutcome {
    /// Returns the answer as text: a line with the number, the question, then a line per thread
    /// state.
    pub fn text(&self, quiet: bool) -> String {
        let states = match &self.states {
            Err(why) => return format!("UNKNOWN  {why}\n"),
            Ok(states) => states,
        };
        let mut out = format!("{} can be reached\n", plural(states.len() as u64, "thread state"));
        if !quiet {
            out.push_str(&format!(
                "file:    {}\ninitial: {}\nthreads: {}\n\n",
                self.subject.name(),
                self.problem.initial_text,
                threads_text(&self.problem)
            ));
        }
        if self.values_open() {
            out.push_str("`*` stands for both values; listing all of them would be too long\n\n");
        }
        let lines: String = states.iter().map(|&(s, l)| line(&*self.problem.model, s, l)).collect();
        out.push_str(&lines);
        let dead = self.unreached();
        if !dead.is_empty() && !quiet {
            out.push_str(&format!("\nnot reached by any thread ({}):\n", threads_text(&self.problem)));
            for place in dead {
                out.push_str(&format!("line {}: {} (in {})\n", place.line, place.statement, place.function));
            }
        }
        out
    }

    /// Returns the answer as a web page that needs no network and no script.
    #[cfg(feature = "page")]
    pub fn html(&self) -> String {
        use super::page::listing::{Listing, lines, write};
        let model = &*self.problem.model;
        let (headline, rows, dead) = match &self.states {
            Err(why) => (format!("UNKNOWN: {why}"), Vec::new(), None),
            Ok(states) => {
                let row = |&(s, l): &(Shared, Local)| {
                    let statement = model.place(l).map_or_else(String::new, |p| p.text);
                    vec![model.shared_name(s), model.local_name(l), statement]
                };
                let headline = format!("{} can be reached", plural(states.len() as u64, "thread state"));
                (headline, states.iter().map(row).collect(), Some(dead(model, &self.places)))
            }
        };
        let mut facts = vec![
            ("file", self.subject.name().to_string()),
            ("initial", self.problem.initial_text.clone()),
            ("threads", threads_text(&self.problem)),
        ];
        if self.values_open() {
            facts
                .push(("values", "`*` stands for both values; listing all of them would be too long".into()));
        }
        write(&Listing {
            subject: &self.subject,
            headline,
            facts,
            columns: &["shared", "thread", "statement"],
            rows,
            lines: dead.and_then(|dead| lines(model, &dead)),
        })
    }

    fn values_open(&self) -> bool {
        let model = &*self.problem.model;
        self.states.iter().flatten().any(|&(s, l)| model.free_bits(s, l) > 0)
    }

    /// Returns the statements that no thread reaches, if all thread states are known.
    fn unreached(&self) -> Vec<Unreached> {
        let dead = if self.states.is_ok() { dead(&*self.problem.model, &self.places) } else { Vec::new() };
        let described =
            |p: Place| Unreached { line: p.line, column: p.column, statement: p.text, function: p.function };
        dead.into_iter().map(described).collect()
    }

    /// Returns the answer as one JSON document.
    pub fn json(&self) -> String {
        let model = &*self.problem.model;
        let none = Vec::new();
        let states = self.states.as_ref().unwrap_or(&none);
        let distinct = |mut list: Vec<u64>| {
            list.sort_unstable();
            list.dedup();
            list.len()
        };
        let document = Document {
            schema: super::json::SCHEMA,
            tool: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            command: "reach",
            file: self.subject.name(),
            complete: self.states.is_ok(),
            reason: self.states.as_ref().err().map(ToString::to_string),
            threads: self.problem.bound.threads(),
            initial: &self.problem.initial_text,
            values_open: self.values_open(),
            unreached: self.unreached(),
            thread_states: states
                .iter()
                .map(|&(s, l)| ThreadState {
                    shared: Values(model.shared_values(s)),
                    shared_bits: Values(model.shared_bits(s)),
                    local: state(model, l),
                })
                .collect(),
            statistics: Numbers {
                thread_states: states.len(),
                shared_states: distinct(states.iter().map(|s| s.0.0).collect()),
                local_states: distinct(states.iter().map(|s| s.1.0).collect()),
                seconds: self.time.as_secs_f64(),
            },
        };
        super::json::to_text(&document)
    }
}

/// Returns the document of a run that was stopped before there was a question.
pub fn stopped(file: &str, why: &Unknown) -> String {
    super::json::to_text(&Document {
        schema: super::json::SCHEMA,
        tool: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        command: "reach",
        file,
        complete: false,
        reason: Some(why.to_string()),
        threads: None,
        initial: "",
        values_open: false,
        thread_states: Vec::new(),
        unreached: Vec::new(),
        statistics: Numbers { thread_states: 0, shared_states: 0, local_states: 0, seconds: 0.0 },
    })
}

/// Formats a thread state: `0|1` for systems, `lock=0 | line 4 x=1` for programs, the place alone
/// for nets.
fn line(model: &dyn Model, s: Shared, l: Local) -> String {
    let (shared, local) = (model.shared_name(s), model.local_name(l));
    match model.place(l) {
        _ if shared.is_empty() => format!("{local}\n"),
        None => format!("{shared}|{local}\n"),
        Some(_) => format!("{shared} | {local}\n"),
    }
}
