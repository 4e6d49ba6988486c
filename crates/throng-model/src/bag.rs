//! Multisets of local states: sorted, without zero entries, counts up to ω.

use smallvec::SmallVec;

use super::Local;

/// The count that stands for "any number".
pub const OMEGA: u32 = u32::MAX;

/// The least number of threads that is too large to count: the sizes of two smaller bags add up to
/// less than ω. Inputs have fewer threads. Evidence with this many proves nothing, because its sums
/// may have been cut off.
pub const UNCOUNTABLE: u32 = 1 << 31;

/// A multiset of threads by local state. Entries are sorted by local state and counts are never 0.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Bag(SmallVec<[(Local, u32); 2]>);

impl Bag {
    /// Returns the empty bag.
    pub fn new() -> Bag {
        Bag::default()
    }

    /// Returns one thread.
    pub fn one(l: Local) -> Bag {
        Bag(smallvec::smallvec![(l, 1)])
    }

    /// Returns the entries `(local state, count)`, sorted.
    pub fn entries(&self) -> &[(Local, u32)] {
        &self.0
    }

    /// Returns whether there are no threads.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of threads; [`OMEGA`] if any count is.
    pub fn size(&self) -> u32 {
        self.0.iter().fold(0, |sum, &(_, n)| add(sum, n))
    }

    /// Returns whether there are fewer than [`UNCOUNTABLE`] threads, ω aside.
    pub fn is_countable(&self) -> bool {
        self.finite() < u64::from(UNCOUNTABLE)
    }

    /// Returns the number of threads in local states whose count is finite.
    pub fn finite(&self) -> u64 {
        self.0.iter().filter(|e| e.1 != OMEGA).map(|e| u64::from(e.1)).sum()
    }

    /// Returns the number of threads at `l`.
    pub fn count(&self, l: Local) -> u32 {
        self.0.binary_search_by_key(&l, |e| e.0).map_or(0, |i| self.0[i].1)
    }

    /// Adds `n` threads at `l`; ω absorbs.
    pub fn insert(&mut self, l: Local, n: u32) {
        if n == 0 {
            return;
        }
        match self.0.binary_search_by_key(&l, |e| e.0) {
            Ok(i) => self.0[i].1 = add(self.0[i].1, n),
            Err(i) => self.0.insert(i, (l, n)),
        }
    }

    /// Removes up to `n` threads at `l` and returns how many were missing. ω minus anything is ω;
    /// removing ω removes all.
    pub fn remove(&mut self, l: Local, n: u32) -> u32 {
        let Ok(i) = self.0.binary_search_by_key(&l, |e| e.0) else { return n };
        let have = self.0[i].1;
        if n == OMEGA || have <= n && have != OMEGA {
            self.0.remove(i);
            return n.saturating_sub(have);
        }
        if have != OMEGA {
            self.0[i].1 -= n;
        }
        0
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Bag) {
        for &(l, n) in &other.0 {
            self.insert(l, n);
        }
    }

    /// Returns the difference, or `None` if `other` is not contained.
    pub fn minus(&self, other: &Bag) -> Option<Bag> {
        let mut rest = self.clone();
        other.0.iter().all(|&(l, n)| rest.remove(l, n) == 0).then_some(rest)
    }

    /// Returns whether `other` is contained, with multiplicity.
    pub fn covers(&self, other: &Bag) -> bool {
        let mut mine = self.0.iter();
        other.0.iter().all(|&(l, n)| mine.by_ref().find(|e| e.0 >= l).is_some_and(|e| e.0 == l && e.1 >= n))
    }
}

// The derived `Clone` clones the entries one by one; they are plain numbers that can be copied.
impl Clone for Bag {
    fn clone(&self) -> Bag {
        Bag(SmallVec::from_slice(&self.0))
    }
}

impl FromIterator<(Local, u32)> for Bag {
    fn from_iter<I: IntoIterator<Item = (Local, u32)>>(entries: I) -> Bag {
        let mut entries: SmallVec<[(Local, u32); 2]> = entries.into_iter().filter(|e| e.1 > 0).collect();
        entries.sort_unstable();
        entries.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = add(earlier.1, later.1);
            }
            same
        });
        Bag(entries)
    }
}

impl FromIterator<Local> for Bag {
    fn from_iter<I: IntoIterator<Item = Local>>(threads: I) -> Bag {
        threads.into_iter().map(|l| (l, 1)).collect()
    }
}

/// Adds counts: ω absorbs, and finite counts stay below ω.
fn add(a: u32, b: u32) -> u32 {
    if a == OMEGA || b == OMEGA { OMEGA } else { a.saturating_add(b).min(OMEGA - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bag(entries: &[(u64, u32)]) -> Bag {
        entries.iter().map(|&(l, n)| (Local(l), n)).collect()
    }

    #[test]
    fn counts_add_up_and_zero_entries_vanish() {
        let mut b = bag(&[(3, 1), (1, 2), (3, 1), (7, 0)]);
        assert_eq!(b.entries(), [(Local(1), 2), (Local(3), 2)]);
        assert_eq!(b.remove(Local(3), 5), 3);
        assert_eq!(b, bag(&[(1, 2)]));
        assert_eq!(b.size(), 2);
    }

    #[test]
    fn two_that_are_countable_add_up() {
        let half = bag(&[(1, UNCOUNTABLE / 2), (2, UNCOUNTABLE / 2 - 1), (3, OMEGA)]);
        let all = bag(&[(1, UNCOUNTABLE / 2), (2, UNCOUNTABLE / 2)]);
        assert!(half.is_countable() && !all.is_countable());
        let most = UNCOUNTABLE - 1;
        assert_eq!(add(most, most), 2 * most);
    }

    #[test]
    fn omega_absorbs() {
        let mut b = bag(&[(1, OMEGA)]);
        b.insert(Local(1), 4);
        assert_eq!(b.remove(Local(1), 7), 0);
        assert_eq!(b.count(Local(1)), OMEGA);
        assert_eq!(b.size(), OMEGA);
        assert_eq!(b.remove(Local(1), OMEGA), 0);
        assert!(b.is_empty());
    }

    #[test]
    fn covering_is_inclusion_with_multiplicity() {
        assert!(bag(&[(1, 2), (2, 1), (5, OMEGA)]).covers(&bag(&[(1, 1), (5, 9)])));
        assert!(!bag(&[(1, 2)]).covers(&bag(&[(1, 3)])));
        assert!(!bag(&[(2, 2)]).covers(&bag(&[(1, 1)])));
        assert_eq!(bag(&[(1, 2), (2, 1)]).minus(&bag(&[(1, 1), (2, 1)])), Some(bag(&[(1, 1)])));
        assert_eq!(bag(&[(1, 2)]).minus(&bag(&[(2, 1)])), None);
    }
}
