//! Where addresses may be: inclusion constraints (Andersen), by object and offset, whatever the
//! order of instructions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use throng_goto::program::Point;

/// Objects that the analysis does not tell apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Site {
    /// The object with this number, which is one object.
    Object(i64),
    /// All that an instruction allocates.
    Heap(Place),
    /// A variable in memory of a function, one for each call: its template and its number there.
    Local(u32, u32),
    /// The variable in private memory with this object number, one for each thread.
    Private(i64),
    /// The function with this number.
    Function(u32),
    /// The numbers of the threads that an instruction starts.
    Thread(Place),
    /// All that nobody knows: what a function that is not defined returns, for example.
    Unknown,
}

/// An instruction: template and place in its code.
pub type Place = (u32, u32);

/// Returns the place of a point.
pub fn place(at: Point) -> Place {
    (at.template, at.pc)
}

/// Offsets from the start of an object: `start` and, if `stride` is not 0, all that differ from it by
/// a multiple of `stride`, in both directions. `start` is less than `stride` and not negative then.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Offsets {
    /// One of them.
    pub start: i64,
    /// What they differ by; 0 if there is only one.
    pub stride: i64,
}

/// The addresses that a value may be: by object, the offsets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pointers(pub BTreeMap<Site, Vec<Offsets>>);

/// Where addresses may be.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Points {
    /// By template and register.
    pub registers: Vec<Vec<Pointers>>,
    /// By object, what is at which offsets.
    pub memory: BTreeMap<Site, Vec<(Offsets, Pointers)>>,
    /// By template, what a call of it returns, or a thread that starts in it ends with.
    pub returned: Vec<Pointers>,
}
