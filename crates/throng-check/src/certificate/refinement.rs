//! Certificates about refinement as files: a program, a machine, and a simulation or a step that
//! the machine does not allow; `docs/formats.md` defines them.

use serde::{Deserialize, Serialize};

use super::{Claim, Document, Input, States};

/// The name of the format.
pub const FORMAT: &str = "throng-refinement";
/// Version of the layout and of its meaning.
pub const VERSION: u32 = 1;

/// A whole certificate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefinementDocument {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote it; informative only.
    pub tool: String,
    /// A description of the program; informative only.
    pub program: Input,
    /// A description of the machine; informative only.
    pub machine: Input,
    /// The local states of the machine in which threads of the program start.
    pub roles: Vec<String>,
    /// Whether the program refines the machine.
    pub verdict: Claim,
    /// Every state of the program that occurs, by name.
    pub states: States,
    /// What threads of the machine can reach, and what not; left out if that does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_states: Option<Document>,
    /// The simulation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Pair>,
    /// The life of a thread up to a step that the machine does not allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Life>,
}

/// A pair of a simulation; states of the program are given by index.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The local state of the thread.
    pub local: u32,
    /// The shared state, if the thread is inside an atomic section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<u32>,
    /// Names of local states of the machine.
    pub machine: Vec<String>,
}

/// The life of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Life {
    /// The shared and the local state at the start.
    pub start: (u32, u32),
    /// The moves.
    pub moves: Vec<Moved>,
}

/// One move in the life of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moved {
    /// Other threads leave this shared state behind.
    Others(u32),
    /// Another thread wakes this one.
    Woken(u32),
    /// A step of its own, to this shared and this local state, if it has not ended.
    Own(u32, Option<u32>),
}
