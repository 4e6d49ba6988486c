//! Functions that are modelled and not executed, by their names in the source.

mod memory;
mod panics;

use crate::lower::{Result, Site, Writer};

/// What is written in place of a call.
pub(crate) type Model = for<'l, 'a, 't> fn(&mut Writer<'l, 'a, 't>, &Site<'_, 't>) -> Result<()>;

/// Returns the model of a function, whether it is defined or not.
pub(crate) fn model(name: &str) -> Option<Model> {
    panics::model(name).or_else(|| memory::model(name))
}
