//! Sparse sets of small numbers in words of 64 bits; words without members are not stored.
//!
//! A set is a sorted list of places, each with the members among its 64 numbers. It takes 12 bytes
//! for each place that has a member, so both a few members of a large range and most members of a
//! small one are cheap. [`Row`] borrows such a list, [`Bits`] owns one.

/// A borrowed set of numbers: places with a word each, which may be 0.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    places: &'a [u32],
    words: &'a [u64],
}

/// Sets are equal if they have the same members, whatever words are 0.
impl PartialEq for Row<'_> {
    fn eq(&self, other: &Row<'_>) -> bool {
        self.by_word().eq(other.by_word())
    }
}

impl Eq for Row<'_> {}

/// Returns the members of a word.
pub(crate) fn members(word: u64) -> impl Iterator<Item = u32> {
    let next = |&left: &u64| Some(left & (left - 1)).filter(|&left| left != 0);
    std::iter::successors(Some(word).filter(|&word| word != 0), next).map(u64::trailing_zeros)
}

impl<'a> Row<'a> {
    /// Returns the set with these words, one for each place; places are sorted.
    pub fn new(places: &'a [u32], words: &'a [u64]) -> Row<'a> {
        debug_assert!(places.len() == words.len() && places.is_sorted_by(|a, b| a < b));
        Row { places, words }
    }

    /// Returns whether there is no member.
    pub fn is_empty(self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Returns the number of members.
    pub fn len(self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the number of words: the cost of iterating over the set.
    pub fn size(self) -> u32 {
        self.words.len() as u32
    }

    /// Returns whether `n` is a member.
    pub fn contains(self, n: u32) -> bool {
        self.places.binary_search(&(n / 64)).is_ok_and(|i| self.words[i] >> (n % 64) & 1 == 1)
    }

    /// Returns the members in order.
    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.by_word().flat_map(|(place, word)| members(word).map(move |n| place * 64 + n))
    }

    /// Returns the words that have a member, with their places.
    pub fn by_word(self) -> impl Iterator<Item = (u32, u64)> + Clone + 'a {
        self.places.iter().copied().zip(self.words.iter().copied()).filter(|e| e.1 != 0)
    }

    /// Returns a look-up of words by place; places must be asked for in ascending order.
    fn ascending(self) -> impl FnMut(u32) -> u64 + 'a {
        let mut at = 0;
        move |place| {
            while self.places.get(at).is_some_and(|&p| p < place) {
                at += 1;
            }
            if self.places.get(at) == Some(&place) { self.words[at] } else { 0 }
        }
    }

    /// Returns the intersection.
    pub fn and(self, other: Row<'_>) -> Bits {
        let mut theirs = other.ascending();
        self.by_word().map(|(place, word)| (place, word & theirs(place))).collect()
    }

    /// Returns the difference.
    pub fn minus(self, other: Row<'_>) -> Bits {
        let mut theirs = other.ascending();
        self.by_word().map(|(place, word)| (place, word & !theirs(place))).collect()
    }

    /// Returns the union.
    pub fn or(self, other: Row<'_>) -> Bits {
        let (mut ours, mut theirs) = (self.by_word().peekable(), other.by_word().peekable());
        let next = || match (ours.peek(), theirs.peek()) {
            (Some(a), Some(b)) if b.0 < a.0 => theirs.next(),
            (Some(_), _) => ours.next(),
            (None, _) => theirs.next(),
        };
        std::iter::from_fn(next).collect()
    }

    /// Returns some member that is not in `other`.
    pub fn beyond(self, other: Row<'_>) -> Option<u32> {
        let mut theirs = other.ascending();
        first(self.by_word().map(|(place, word)| (place, word & !theirs(place))))
    }

    /// Returns some member that is also in `with`, but not in `other`.
    pub fn common_beyond(self, with: Row<'_>, other: Row<'_>) -> Option<u32> {
        let (mut with, mut theirs) = (with.ascending(), other.ascending());
        first(self.by_word().map(|(place, word)| (place, word & with(place) & !theirs(place))))
    }
}

/// Returns the first member of these words.
fn first(mut words: impl Iterator<Item = (u32, u64)>) -> Option<u32> {
    words.find(|e| e.1 != 0).map(|(place, word)| place * 64 + word.trailing_zeros())
}

/// A set of numbers; no word is 0.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Bits {
    places: Vec<u32>,
    words: Vec<u64>,
}

impl Bits {
    /// Returns the set as a [`Row`].
    pub fn row(&self) -> Row<'_> {
        Row { places: &self.places, words: &self.words }
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.places.clear();
        self.words.clear();
    }

    /// Appends the members of a word at a place beyond all others.
    fn push(&mut self, place: u32, word: u64) {
        match self.places.last() {
            _ if word == 0 => {}
            Some(&last) if last == place => *self.words.last_mut().expect("as many as places") |= word,
            _ => {
                self.places.push(place);
                self.words.push(word);
            }
        }
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Bits {
        let mut numbers: Vec<u32> = numbers.into_iter().collect();
        // Sorting can be skipped where the range has at most as many words as there are numbers.
        let dense = numbers.iter().max().map_or(0, |n| n / 64 + 1) as usize;
        if dense <= numbers.len() {
            let mut words = vec![0_u64; dense];
            numbers.iter().for_each(|n| words[(n / 64) as usize] |= 1 << (n % 64));
            return (0..).zip(words).collect();
        }
        numbers.sort_unstable();
        numbers.into_iter().map(|n| (n / 64, 1 << (n % 64))).collect()
    }
}

/// Collects words that are sorted by place; words of the same place are united.
impl FromIterator<(u32, u64)> for Bits {
    fn from_iter<I: IntoIterator<Item = (u32, u64)>>(words: I) -> Bits {
        let mut bits = Bits::default();
        bits.extend(words);
        bits
    }
}

/// Appends words that are sorted by place, all beyond the present ones.
impl Extend<(u32, u64)> for Bits {
    fn extend<I: IntoIterator<Item = (u32, u64)>>(&mut self, words: I) {
        words.into_iter().for_each(|(place, word)| self.push(place, word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_numbers() {
        let set = |numbers: &[u32]| numbers.iter().copied().collect::<Bits>();
        let (a, b) = (set(&[300, 1, 64, 1]), set(&[1, 65, 300, 900]));
        let (a, b, none) = (a.row(), b.row(), Bits::default());
        assert_eq!(a.iter().collect::<Vec<_>>(), [1, 64, 300]);
        assert_eq!(a.and(b).row().iter().collect::<Vec<_>>(), [1, 300]);
        assert_eq!((a.beyond(b), a.and(b).row().beyond(b), b.beyond(a)), (Some(64), None, Some(65)));
        assert!(a.contains(64) && !a.contains(65) && !a.contains(901));
        assert!(none.row().beyond(a).is_none() && a.beyond(none.row()) == Some(1));
    }

    #[test]
    fn operations_agree_with_those_of_sorted_sets() {
        use std::collections::BTreeSet;
        let mut numbers = crate::random::Random::new(1);
        let mut random = |below: u64| numbers.below(below as usize) as u32;
        for round in 0..2000 {
            let (size, below) = ([0, 1, 5, 80][round % 4], [64, 200, 1000][round % 3]);
            let mut set = || (0..size).map(|_| random(below)).collect::<BTreeSet<u32>>();
            let (a, b, c) = (set(), set(), set());
            let bits = |set: &BTreeSet<u32>| set.iter().copied().collect::<Bits>();
            let (x, y, z) = (bits(&a), bits(&b), bits(&c));
            // Words that are 0 make no difference.
            let (places, words): (Vec<u32>, Vec<u64>) = (0..below as u32 / 64 + 1)
                .map(|place| (place, x.row().by_word().find(|e| e.0 == place).map_or(0, |e| e.1)))
                .unzip();
            for x in [x.row(), Row::new(&places, &words)] {
                assert_eq!((x.len(), x.is_empty()), (a.len() as u64, a.is_empty()));
                assert!(x.iter().eq(a.iter().copied()) && x == bits(&a).row());
                assert_eq!((x.and(y.row()), y.row().and(x)), (bits(&(&a & &b)), bits(&(&a & &b))));
                assert_eq!((x.minus(y.row()), y.row().minus(x)), (bits(&(&a - &b)), bits(&(&b - &a))));
                assert_eq!((x.or(y.row()), y.row().or(x)), (bits(&(&a | &b)), bits(&(&a | &b))));
                assert_eq!(x.beyond(y.row()), (&a - &b).first().copied());
                assert_eq!(x.common_beyond(y.row(), z.row()), (&(&a & &b) - &c).first().copied());
                assert!((0..below as u32).all(|n| x.contains(n) == a.contains(&n)));
            }
        }
    }
}
