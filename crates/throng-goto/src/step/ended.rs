//! Which threads have ended, and with what result.

use super::sequence::{Item, Seen, Sequence};

impl Item for Option<i64> {
    const BLANK: Self = None;
    const BLANKS: &'static [Self] = &[None; 4];

    fn code(&self) -> u64 {
        self.map_or(0, |v| (v as u64 ^ 0x5851_f42d_4c95_7f2d).max(1))
    }
}

/// For each thread by number, its result if it has ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ended {
    results: Sequence<Option<i64>, 4>,
    /// Number of threads that have not ended.
    running: u32,
}

impl Ended {
    /// Returns the list of no threads: they have no numbers.
    pub const fn none() -> Ended {
        Ended { results: Sequence::blank(0), running: 0 }
    }

    /// Returns whether threads have no numbers.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Number of threads that were ever created.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Returns the result of a thread, if it has ended; `None` if there is none with this number.
    pub fn get(&self, number: usize) -> Option<Option<i64>> {
        self.results.get(number).copied()
    }

    /// Returns the results of all threads.
    pub fn iter(&self) -> impl Iterator<Item = Option<i64>> {
        self.results.iter().copied()
    }

    /// A thread begins.
    pub fn begin(&mut self) {
        self.results.push(None);
        self.running += 1;
    }

    /// A thread ends. Returns whether it is there.
    pub fn end(&mut self, number: usize, result: i64) -> bool {
        if self.get(number) == Some(None) {
            self.running -= 1;
        }
        self.results.update(number, |ended| *ended = Some(result));
        number < self.len()
    }

    /// Returns whether another thread than this one has not ended.
    pub fn others_run(&self, number: usize) -> bool {
        self.running > u32::from(self.get(number) == Some(None))
    }

    /// Adds the bytes that were not seen before.
    pub fn count(&self, seen: &mut Seen) {
        self.results.count(seen);
    }
}

impl FromIterator<Option<i64>> for Ended {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(results: I) -> Ended {
        let results: Vec<Option<i64>> = results.into_iter().collect();
        let running = results.iter().filter(|r| r.is_none()).count() as u32;
        Ended { results: results.into(), running }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_run_are_counted() {
        let mut ended = Ended::none();
        ended.begin();
        assert!(!ended.others_run(0));
        ended.begin();
        assert!(ended.others_run(0) && ended.others_run(1));
        assert!(ended.end(1, 5) && ended.end(1, 6) && !ended.end(2, 0));
        assert!(!ended.others_run(0) && ended.others_run(1));
        assert_eq!(ended.iter().collect::<Vec<_>>(), [None, Some(6)]);
        assert_eq!(ended, [None, Some(6)].into_iter().collect());
    }
}
