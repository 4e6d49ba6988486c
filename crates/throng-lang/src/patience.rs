//! When a reader gives up. It asks for every line, statement or element; the clock is looked at now
//! and then.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

/// The limits of a reader, and which of them was hit. Clones share both.
#[derive(Clone, Debug, Default)]
pub struct Patience(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    limits: Limits,
    asked: Cell<usize>,
    hit: OnceCell<Unknown>,
}

impl Patience {
    /// Questions between two looks at the limits.
    const EVERY: usize = 1024;

    /// Lasts as long as these limits.
    pub fn within(limits: &Limits) -> Patience {
        Patience(Rc::new(Inner { limits: limits.clone(), ..Inner::default() }))
    }

    /// Returns whether a limit was hit, as far as was looked.
    pub fn is_over(&self) -> bool {
        self.is_over_after(1)
    }

    /// The same after so many lines, statements or elements; few of them are always read.
    pub fn is_over_after(&self, count: usize) -> bool {
        let asked = self.0.asked.get() + count;
        self.0.asked.set(asked % Patience::EVERY);
        if asked >= Patience::EVERY
            && let Err(why) = self.0.limits.check()
        {
            // The first one stays.
            let _ = self.0.hit.set(why);
        }
        self.hit().is_some()
    }

    /// The limit that was hit. What was read is then not all of the input.
    pub fn hit(&self) -> Option<&Unknown> {
        self.0.hit.get()
    }
}
