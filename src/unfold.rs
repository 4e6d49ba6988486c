//! Any model, written out.

use crate::model::table::Table;
use crate::problem::{Initial, Target};

/// A model written out.
#[derive(Clone, Debug)]
pub struct Unfolded {
    /// The table.
    pub table: Table,
    /// Initial.
    pub initial: Vec<Initial>,
    /// Text.
    pub initial_text: String,
    /// Targets.
    pub targets: Vec<Target>,
}
