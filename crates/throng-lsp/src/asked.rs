//! A question as JSON: what the command `throng.check` and the page of `throng serve` take.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use throng::{CodeQuestion, MemoryModel, Question};
use throng_lang::vocabulary::Vocabulary;

/// The names of the fields of [`Asked`] in messages.
static FIELDS: Vocabulary = Vocabulary {
    initial: "initial",
    threads: "threads",
    target: "targets",
    prop: "a file of properties",
    error_label: "errorLabels",
    mutex: "mutex",
    at_most: "atMost",
    never: "never",
    race: "races",
    data_race: "dataRace",
    overflow: "overflow",
    locks: "locks",
    memory_safety: "memorySafety",
    assertions: "assertions",
    baseline: "`throng check --baseline`",
    library: "`throng check --library`",
    entry: "entries",
    one: "one",
    setup: "setup",
    memory_model: "memoryModel",
    deadlock: "deadlock",
    stuck: "stuck",
    starvation: "starvation",
    invariant: "invariants",
    ..Vocabulary::LIBRARY
};

/// What is asked besides what the text itself asks. Every field has the meaning of the option of
/// `throng check` that has its name.
#[derive(Clone, Default, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Asked {
    initial: Option<String>,
    threads: Option<u32>,
    targets: Vec<String>,
    error_labels: Vec<String>,
    mutex: Vec<String>,
    at_most: Vec<String>,
    never: Vec<String>,
    races: Vec<String>,
    deadlock: bool,
    stuck: Vec<String>,
    starvation: Vec<String>,
    invariants: Vec<String>,
    entries: Vec<String>,
    one: Vec<String>,
    setup: Option<String>,
    #[serde(deserialize_with = "memory_model")]
    memory_model: Option<MemoryModel>,
    data_race: bool,
    overflow: bool,
    locks: bool,
    memory_safety: bool,
    assertions: bool,
}

/// Reads the name of a memory model.
fn memory_model<'d, D: Deserializer<'d>>(from: D) -> Result<Option<MemoryModel>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    name.map(|name| name.parse()).transpose().map_err(D::Error::custom)
}

impl Asked {
    /// Returns the functions that any number of threads call.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Converts it to a question of the library.
    pub fn question(&self) -> Question {
        let asked = self.clone();
        Question {
            initial: asked.initial,
            threads: asked.threads,
            targets: asked.targets,
            error_labels: asked.error_labels,
            mutex: asked.mutex,
            at_most: asked.at_most,
            never: asked.never,
            races: asked.races,
            deadlock: asked.deadlock,
            stuck: asked.stuck,
            starvation: asked.starvation,
            invariants: asked.invariants,
            code: CodeQuestion {
                entries: asked.entries,
                one: asked.one,
                setup: asked.setup,
                memory_model: asked.memory_model,
                data_race: asked.data_race,
                overflow: asked.overflow,
                locks: asked.locks,
                memory_safety: asked.memory_safety,
                assertions: asked.assertions,
                ..CodeQuestion::default()
            },
            vocabulary: &FIELDS,
            ..Question::default()
        }
    }
}
