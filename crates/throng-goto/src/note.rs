//! What was left open in reading a program.

use std::fmt;

/// What a verdict about the program has to say beside its evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// This function is called, and neither defined nor known: it may do anything.
    Undefined(String),
    /// This is taken for granted.
    Assumed(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Undefined(name) => write!(f, "`{name}` is not defined: it may do anything"),
            Note::Assumed(what) => f.write_str(what),
        }
    }
}
