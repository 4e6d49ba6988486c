//! The answer of `throng refines` as text and as JSON.

use std::time::Duration;

use serde::Serialize;

use super::plural;
use super::story::Values;
use throng_check::certificate::refinement::RefinementDocument;
use throng_model::verdict::Unknown;

/// Whether a program refines a machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RefinesOutcome {
    /// What messages call the program.
    pub program: String,
    /// What messages call the machine.
    pub machine: String,
    /// The local states of the machine in which threads of the program start.
    pub roles: Vec<String>,
    /// Maximum number of threads of the program; `None` if there may be any number.
    pub most: Option<u32>,
    /// The answer.
    pub verdict: RefinesVerdict,
    /// The evidence, as a certificate.
    pub document: Option<RefinementDocument>,
    /// The time it took.
    pub time: Duration,
}

/// The answer.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RefinesVerdict {
    /// Each thread of the program moves as the machine allows.
    Refines {
        /// The number of pairs of the simulation.
        pairs: usize,
        /// The number of thread states of the machine that the proof shows not to occur.
        never: usize,
    },
    /// The last of these is a step that the machine does not allow, or the only one a start.
    Deviates(Vec<Event>),
    /// The answer is not known.
    Unknown(Unknown),
}

/// What moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Who {
    /// Nothing yet.
    Start,
    /// The thread.
    Thread,
    /// Others: they change shared variables, or wake the thread.
    Others,
}

/// One line in the life of a thread.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Event {
    /// What moves.
    pub who: Who,
    /// The line of the statement.
    pub line: Option<u32>,
    /// The statement.
    pub statement: Option<String>,
    /// The shared variables afterwards.
    #[serde(serialize_with = "values")]
    pub shared: Vec<(String, String)>,
    /// The shared state of the machine that stands for them.
    pub state: Option<String>,
    /// Local states of the machine in which the thread may be.
    pub machine: Vec<String>,
}

fn values<S: serde::Serializer>(shared: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    Values(shared.to_vec()).serialize(serializer)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: &'static str,
    version: &'static str,
    command: &'static str,
    file: &'a str,
    machine: &'a str,
    result: &'static str,
    reason: Option<String>,
    starts_in: &'a [String],
    threads: Option<u32>,
    pairs: Option<usize>,
    never: Option<usize>,
    run: &'a [Event],
    seconds: f64,
}

impl RefinesOutcome {
    /// Returns whether the program refines the machine.
    pub fn is_refinement(&self) -> bool {
        matches!(self.verdict, RefinesVerdict::Refines { .. })
    }

    /// Returns the exit status: 0, 10 or 1.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            RefinesVerdict::Refines { .. } => 0,
            RefinesVerdict::Deviates(_) => 10,
            RefinesVerdict::Unknown(_) => 1,
        }
    }

    /// Returns the answer as text.
    pub fn text(&self) -> String {
        let (program, machine) = (&self.program, &self.machine);
        match &self.verdict {
            RefinesVerdict::Unknown(why) => format!("UNKNOWN  {why}\n"),
            RefinesVerdict::Refines { pairs, never } => {
                let mut out = format!("SAFE  {program} refines {machine}\n{}", self.question());
                out.push_str(&format!("proof:   a simulation of {}", plural(*pairs as u64, "pair")));
                if *never > 0 {
                    let states = plural(*never as u64, "thread state");
                    out.push_str(&format!("; {states} of the machine never occur"));
                    out.push_str(if *never == 1 { "s" } else { "" });
                }
                out.push_str(
                    "\nso:      shared states that the machine never reaches stand for values \
                              that the program never reaches\n",
                );
                out
            }
            RefinesVerdict::Deviates(events) => {
                let mut out = format!("UNSAFE  {program} does not refine {machine}\n{}\n", self.question());
                let rows: Vec<[String; 4]> = events.iter().map(Event::row).collect();
                out.push_str(&table(&rows));
                if let [.., before, last] = &events[..] {
                    out.push_str(&last.complaint(before));
                } else {
                    out.push_str("\nthe machine does not start with these values\n");
                }
                out
            }
        }
    }

    fn question(&self) -> String {
        let threads = match self.most {
            None => "any number".into(),
            Some(most) => format!("at most {most}"),
        };
        format!("threads: {threads}, each starts in {}\n", self.roles.join(" or "))
    }

    /// Returns the answer as one JSON document.
    pub fn json(&self) -> String {
        let (mut pairs_of, mut never_of, mut reason, mut run) = (None, None, None, &[][..]);
        let result = match &self.verdict {
            RefinesVerdict::Refines { pairs, never } => {
                (pairs_of, never_of) = (Some(*pairs), Some(*never));
                "safe"
            }
            RefinesVerdict::Deviates(events) => {
                run = events;
                "unsafe"
            }
            RefinesVerdict::Unknown(why) => {
                reason = Some(why.to_string());
                "unknown"
            }
        };
        super::json::to_text(&Document {
            schema: super::json::SCHEMA,
            tool: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            command: "refines",
            file: &self.program,
            machine: &self.machine,
            result,
            reason,
            starts_in: &self.roles,
            threads: self.most,
            pairs: pairs_of,
            never: never_of,
            run,
            seconds: self.time.as_secs_f64(),
        })
    }
}

impl Event {
    fn row(&self) -> [String; 4] {
        let what = match (self.who, self.line, &self.statement) {
            (Who::Thread, Some(line), Some(statement)) => format!("line {line}: {statement}"),
            (Who::Thread, ..) => "a step".into(),
            (Who::Others, Some(line), _) => format!("(others wake it at line {line})"),
            (Who::Others, ..) => "(others)".into(),
            (Who::Start, ..) => "(start)".into(),
        };
        let shared: Vec<String> = self.shared.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let state = self.state.clone().unwrap_or_else(|| "-".into());
        let machine = if self.machine.is_empty() { "-".into() } else { self.machine.join(" or ") };
        [what, shared.join(" "), state, machine]
    }

    /// Says what the machine does not allow.
    fn complaint(&self, before: &Event) -> String {
        let what = match (self.line, &self.statement) {
            (Some(line), Some(statement)) => format!("line {line}, `{statement}`"),
            _ => "the last step".into(),
        };
        let from = before.state.clone().unwrap_or_default();
        let may = before.machine.join(" or ");
        match &self.state {
            None => format!("\n{what}, leads to values that no state of the machine stands for\n"),
            Some(to) if *to == from => {
                format!(
                    "\n{what}: no thread of the machine can be in {may} while the shared state is {from}\n"
                )
            }
            Some(to) => {
                format!("\n{what}: the machine has no edge from {from} to {to} for a thread in {may}\n")
            }
        }
    }
}

/// Returns rows with columns one below the other.
fn table(rows: &[[String; 4]]) -> String {
    let heads = ["step", "shared", "machine", "thread in"].map(String::from);
    let all: Vec<&[String; 4]> = std::iter::once(&heads).chain(rows).collect();
    let width = |i: usize| all.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |row: &&[String; 4]| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("  {}\n", cells.join("  ").trim_end())
    };
    all.iter().map(line).collect()
}

/// Returns the document of a run that was stopped before there was an answer.
pub fn stopped(program: &str, machine: &str, why: &Unknown) -> String {
    let outcome = RefinesOutcome {
        program: program.into(),
        machine: machine.into(),
        roles: Vec::new(),
        most: None,
        verdict: RefinesVerdict::Unknown(why.clone()),
        document: None,
        time: Duration::ZERO,
    };
    outcome.json()
}
