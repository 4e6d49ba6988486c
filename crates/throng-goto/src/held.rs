//! What is known about the open registers of threads, as the events of a run go by.

use std::collections::HashMap;

use crate::program::Reg;
use crate::step::Event;

/// Something known about registers: by thread, by how many calls have not returned, and by register.
#[derive(Clone, Debug)]
pub struct Held<T> {
    depths: HashMap<usize, usize>,
    known: HashMap<(usize, usize, Reg), T>,
}

impl<T> Default for Held<T> {
    fn default() -> Held<T> {
        Held { depths: HashMap::new(), known: HashMap::new() }
    }
}

impl<T: Clone> Held<T> {
    /// Returns what is known about a register of the function that a thread is in.
    pub fn get(&self, thread: usize, r: Reg) -> Option<&T> {
        self.known.get(&(thread, self.depth(thread), r))
    }

    /// Says what is known about a register of the function that a thread is in.
    pub fn set(&mut self, thread: usize, r: Reg, known: Option<T>) {
        self.put((thread, self.depth(thread), r), known);
    }

    /// Follows a thread through copies, calls and returns.
    pub fn follow(&mut self, thread: usize, event: &Event) {
        let depth = self.depth(thread);
        match event {
            Event::Copied(from, to) => self.set(thread, *to, self.get(thread, *from).cloned()),
            Event::Called(open) => {
                self.forget(thread, depth + 1);
                for &(from, to) in open {
                    self.put((thread, depth + 1, to), self.get(thread, from).cloned());
                }
                self.depths.insert(thread, depth + 1);
            }
            Event::Returned(open) => {
                let caller = depth.saturating_sub(1);
                if let Some((from, to)) = *open {
                    self.put((thread, caller, to), self.get(thread, from).cloned());
                }
                self.forget(thread, depth);
                self.depths.insert(thread, caller);
            }
            _ => {}
        }
    }

    fn depth(&self, thread: usize) -> usize {
        self.depths.get(&thread).copied().unwrap_or(0)
    }

    fn put(&mut self, register: (usize, usize, Reg), known: Option<T>) {
        match known {
            Some(known) => _ = self.known.insert(register, known),
            None => _ = self.known.remove(&register),
        }
    }

    fn forget(&mut self, thread: usize, depth: usize) {
        self.known.retain(|(t, d, _), _| (*t, *d) != (thread, depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_different_calls_are_told_apart() {
        let mut held: Held<char> = Held::default();
        held.set(0, 1, Some('a'));
        held.follow(0, &Event::Called(vec![(1, 0)]));
        assert_eq!((held.get(0, 0), held.get(0, 1), held.get(1, 0)), (Some(&'a'), None, None));
        held.follow(0, &Event::Copied(0, 1));
        held.follow(0, &Event::Called(Vec::new()));
        assert_eq!((held.get(0, 0), held.get(0, 1)), (None, None));
        held.set(0, 7, Some('b'));
        held.follow(0, &Event::Returned(Some((7, 0))));
        assert_eq!((held.get(0, 0), held.get(0, 1)), (Some(&'b'), Some(&'a')));
        held.follow(0, &Event::Returned(None));
        assert_eq!((held.get(0, 0), held.get(0, 1)), (None, Some(&'a')));
        // A later call at the same depth knows nothing of the earlier one.
        held.follow(0, &Event::Called(Vec::new()));
        assert_eq!((held.get(0, 0), held.get(0, 1)), (None, None));
    }
}
