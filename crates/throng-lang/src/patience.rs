//! Limits of a reader. The reader asks for every line, statement or element whether to give up; the
//! limits are checked at every 1024th question.

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
    /// Number of questions between two checks of the limits.
    const EVERY: usize = 1024;

    /// Creates the patience of a reader with these limits.
    pub fn within(limits: &Limits) -> Patience {
        Patience(Rc::new(Inner { limits: limits.clone(), ..Inner::default() }))
    }

    /// Returns whether a check has found a limit hit.
    pub fn is_over(&self) -> bool {
        self.is_over_after(1)
    }

    /// Like [`Patience::is_over`], after `count` lines, statements or elements. The first 1024 or
    /// so are always read.
    pub fn is_over_after(&self, count: usize) -> bool {
        let asked = self.0.asked.get() + count;
        self.0.asked.set(asked % Patience::EVERY);
        if asked >= Patience::EVERY
            && let Err(why) = self.0.limits.check()
        {
            // Only the first limit hit is kept.
            let _ = self.0.hit.set(why);
        }
        self.hit().is_some()
    }

    /// Returns the limit that was hit. The input was then not read to its end.
    pub fn hit(&self) -> Option<&Unknown> {
        self.0.hit.get()
    }
}
