//! Memory models: what a thread may see of the accesses of others.

use std::fmt;
use std::str::FromStr;

/// What other threads may see of the accesses of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MemoryModel {
    /// Sequential consistency: steps of threads, one after the other, which all threads see alike.
    Sequential,
    /// That of C11, as RC11 repairs it: an atomic read may be of an older write, unless memory
    /// orders forbid it, and a data race may do anything.
    C11,
}

impl MemoryModel {
    /// All of them, with the words for them in options.
    pub const NAMES: [(MemoryModel, &'static str); 2] =
        [(MemoryModel::Sequential, "sc"), (MemoryModel::C11, "c11")];

    /// The word for it in options and in documents.
    pub fn name(self) -> &'static str {
        MemoryModel::NAMES.iter().find(|(model, _)| *model == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryModel::Sequential => "sequential consistency",
            MemoryModel::C11 => "the memory model of C11",
        })
    }
}

impl FromStr for MemoryModel {
    type Err = String;

    fn from_str(text: &str) -> Result<MemoryModel, String> {
        let found = MemoryModel::NAMES.iter().find(|(_, name)| *name == text);
        let names = MemoryModel::NAMES.map(|(_, name)| name).join(", ");
        found.map(|(model, _)| *model).ok_or_else(|| format!("expected one of {names}"))
    }
}
