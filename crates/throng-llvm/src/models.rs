//! Functions that are modelled and not executed, by their names in the source.

mod channels;
mod locks;
mod memory;
mod once;
mod panics;
mod threads;

use crate::lower::{Result, Site, Writer};

/// What is written in place of a call.
pub(crate) type Model = for<'l, 'a, 't> fn(&mut Writer<'l, 'a, 't>, &Site<'_, 't>) -> Result<()>;

/// Returns the model of a function, whether it is defined or not.
pub(crate) fn model(name: &str) -> Option<Model> {
    let others = [memory::model, locks::model, once::model, threads::model, channels::model];
    panics::model(name).or_else(|| others.iter().find_map(|model| model(name)))
}

pub(crate) use locks::{slow_path, words};

/// Returns whether a function is modelled, or is read in a way of its own, so that a compiler has to
/// keep its calls.
pub fn is_modelled(name: &str) -> bool {
    model(name).is_some() || words(name).is_some() || threads::is_kept(name)
}
