//! The answer of `throng cutoff`, as text and as JSON.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::plural;
use super::story::{State, Values, state};
use crate::outcome::Subject;
use throng_check::Checked;
use throng_check::rules::cutoff::CutoffProof;
use throng_engine::cutoff::{Closed, Cutoff, runs};
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::Unknown;

/// A cutoff, or why it is not known.
#[derive(Clone)]
#[non_exhaustive]
pub struct CutoffOutcome {
    /// Model and initial configuration.
    pub problem: Problem,
    /// The answer.
    pub cutoff: Result<Cutoff, Unknown>,
    /// Says that its evidence was checked.
    pub checked: Option<Checked>,
    /// The time it took.
    pub time: Duration,
    pub(crate) proof: Option<Arc<CutoffProof>>,
    pub(crate) subject: Subject,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    file: &'a str,
    initial: &'a str,
    cutoff: Option<u32>,
    reason: Option<String>,
    thread_states: Option<usize>,
    levels: Vec<Step>,
    evidence: Option<String>,
    checked: bool,
    seconds: f64,
}

#[derive(Serialize)]
struct Step {
    threads: u32,
    new: usize,
    example: Example,
    /// The number of steps of the run to the example.
    steps: usize,
}

#[derive(Serialize)]
struct Example {
    shared: Values,
    #[serde(flatten)]
    local: State,
}

impl CutoffOutcome {
    /// Returns the evidence for a certificate: the checked one, or if there is none, one built now.
    pub fn proof(&self, limits: &Limits) -> Result<Arc<CutoffProof>, Unknown> {
        match (&self.proof, &self.cutoff) {
            (Some(proof), _) => Ok(proof.clone()),
            (None, Ok(cutoff)) => runs::proof(&self.problem, cutoff, limits).map(Arc::new),
            (None, Err(why)) => Err(why.clone()),
        }
    }

    /// Returns the answer as text: the cutoff, then a line for each number of threads that adds
    /// something new.
    pub fn text(&self) -> String {
        let cutoff = match &self.cutoff {
            Err(why) => {
                return format!(
                    "UNKNOWN  {why}\nfile:    {}\ninitial: {}\n",
                    self.subject.name(),
                    self.problem.initial_text
                );
            }
            Ok(cutoff) => cutoff,
        };
        let model = &*self.problem.model;
        let mut out = format!(
            "cutoff {}: {} show every reachable thread state\nfile:    {}\ninitial: {}\nstates:  {}\nproof:   {}; {}\n\n",
            cutoff.threads,
            plural(cutoff.threads.into(), "thread"),
            self.subject.name(),
            self.problem.initial_text,
            plural(cutoff.states(model) as u64, "thread state"),
            evidence(&cutoff.closed),
            if self.checked.is_some() { "checked" } else { "NOT checked" },
        );
        for level in &cutoff.levels {
            let (s, l) = level.example;
            out.push_str(&format!(
                "{:>12}: {:>6} new, e.g. {} | {} ({})\n",
                plural(level.threads.into(), "thread"),
                level.new,
                model.shared_name(s),
                model.local_name(l),
                plural(level.trace.steps.len() as u64, "step"),
            ));
        }
        out
    }

    /// Returns the answer as a web page that needs no network and no script.
    #[cfg(feature = "page")]
    pub fn html(&self) -> String {
        use super::page::listing::{Listing, write};
        let model = &*self.problem.model;
        let mut facts =
            vec![("file", self.subject.name().to_string()), ("initial", self.problem.initial_text.clone())];
        let headline = match &self.cutoff {
            Err(why) => format!("UNKNOWN: {why}"),
            Ok(cutoff) => {
                let checked = if self.checked.is_some() { "checked" } else { "NOT checked" };
                facts.push(("states", plural(cutoff.states(model) as u64, "thread state")));
                facts.push(("proof", format!("{}; {checked}", evidence(&cutoff.closed))));
                let threads = plural(cutoff.threads.into(), "thread");
                format!("cutoff {}: {threads} show every reachable thread state", cutoff.threads)
            }
        };
        let most = self.cutoff.iter().flat_map(|c| &c.levels).map(|level| level.new).max().unwrap_or(1);
        let rows = self.cutoff.iter().flat_map(|c| &c.levels).map(|level| {
            let (s, l) = level.example;
            vec![
                level.threads.to_string(),
                format!("{:>6} {}", level.new, "█".repeat((20 * level.new).div_ceil(most.max(1)))),
                format!("{} | {}", model.shared_name(s), model.local_name(l)),
                level.trace.steps.len().to_string(),
            ]
        });
        write(&Listing {
            subject: &self.subject,
            headline,
            facts,
            columns: &["threads", "new thread states", "for example", "after steps"],
            rows: rows.collect(),
            lines: None,
        })
    }

    /// Returns the answer as one JSON document.
    pub fn json(&self) -> String {
        let model = &*self.problem.model;
        let found = self.cutoff.as_ref().ok();
        let levels = found.iter().flat_map(|c| &c.levels).map(|level| {
            let (s, l) = level.example;
            Step {
                threads: level.threads,
                new: level.new,
                example: Example { shared: Values(model.shared_values(s)), local: state(model, l) },
                steps: level.trace.steps.len(),
            }
        });
        super::json::to_text(&Document {
            schema: super::json::SCHEMA,
            tool: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            command: "cutoff",
            file: self.subject.name(),
            initial: &self.problem.initial_text,
            cutoff: found.map(|c| c.threads),
            reason: self.cutoff.as_ref().err().map(ToString::to_string),
            thread_states: found.map(|c| c.states(model)),
            levels: levels.collect(),
            evidence: found.map(|c| evidence(&c.closed)),
            checked: self.checked.is_some() && found.is_some(),
            seconds: self.time.as_secs_f64(),
        })
    }
}

/// Returns the document of a run that was stopped before there was a question.
pub fn stopped(file: &str, why: &Unknown) -> String {
    super::json::to_text(&Document {
        schema: super::json::SCHEMA,
        tool: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        command: "cutoff",
        file,
        initial: "",
        cutoff: None,
        reason: Some(why.to_string()),
        thread_states: None,
        levels: Vec::new(),
        evidence: None,
        checked: false,
        seconds: 0.0,
    })
}

fn evidence(closed: &Closed) -> String {
    match closed {
        Closed::Downward(set) => {
            format!("{} cover all that is reachable", plural(set.len() as u64, "ω-configuration"))
        }
        Closed::Views(views, None) => {
            format!("{} rule out all others", plural(views.len() as u64, "view"))
        }
        Closed::Views(views, Some((others, _))) => format!(
            "{} and a proof that {} unreachable rule out all others",
            plural(views.len() as u64, "view"),
            match others.len() {
                1 => "1 candidate is".to_string(),
                n => format!("{n} candidates are"),
            }
        ),
    }
}
