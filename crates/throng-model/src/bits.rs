//! Sets of small numbers, 64 at a time; words without members are not kept.

/// A set of numbers: pairs of a place and the members among its 64 numbers, sorted.
///
/// A set costs 16 bytes for every 64 numbers among which it has a member, so that both few members among many numbers and most of
/// a few are cheap.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bits(Vec<(u32, u64)>);

impl Bits {
    /// The set of these numbers.
    pub fn new(mut numbers: Vec<u32>) -> Bits {
        // Where there are at least as many numbers as words up to the largest, no sorting is needed.
        let dense = numbers.iter().max().map_or(0, |n| n / 64 + 1) as usize;
        if dense <= numbers.len() {
            let mut words = vec![0_u64; dense];
            numbers.iter().for_each(|n| words[(n / 64) as usize] |= 1 << (n % 64));
            return Bits((0..).zip(words).filter(|e| e.1 != 0).collect());
        }
        numbers.sort_unstable();
        let mut words: Vec<(u32, u64)> = Vec::new();
        for n in numbers {
            match words.last_mut() {
                Some((place, word)) if *place == n / 64 => *word |= 1 << (n % 64),
                _ => words.push((n / 64, 1 << (n % 64))),
            }
        }
        Bits(words)
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many members there are.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|&(_, word)| u64::from(word.count_ones())).sum()
    }

    /// How many words the set consists of: the cost of going through it.
    pub fn words(&self) -> u32 {
        self.0.len() as u32
    }

    /// Whether `n` is a member.
    pub fn contains(&self, n: u32) -> bool {
        self.place(n / 64).is_ok_and(|i| self.0[i].1 >> (n % 64) & 1 == 1)
    }

    fn place(&self, place: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&place, |e| e.0)
    }

    /// Adds a member; it says whether it is new.
    pub fn insert(&mut self, n: u32) -> bool {
        let bit = 1 << (n % 64);
        match self.place(n / 64) {
            Ok(i) => {
                let before = self.0[i].1;
                self.0[i].1 |= bit;
                self.0[i].1 != before
            }
            Err(i) => {
                self.0.insert(i, (n / 64, bit));
                true
            }
        }
    }

    /// Adds all members of `other`, and returns those that are new.
    pub fn absorb(&mut self, other: &Bits) -> Bits {
        let new = other.minus(self);
        if new.is_empty() {
            return new;
        }
        // From the back, so that every word is moved once.
        let (mut from, mut to) = (self.0.len(), self.0.len() + self.missing_words(&new));
        self.0.resize(to, (0, 0));
        for &(place, word) in new.0.iter().rev() {
            while from > 0 && self.0[from - 1].0 > place {
                (from, to) = (from - 1, to - 1);
                self.0[to] = self.0[from];
            }
            to -= 1;
            if from > 0 && self.0[from - 1].0 == place {
                from -= 1;
                self.0[to] = (place, self.0[from].1 | word);
            } else {
                self.0[to] = (place, word);
            }
        }
        new
    }

    /// How many words of `other` have no counterpart here.
    fn missing_words(&self, other: &Bits) -> usize {
        let mut ours = self.0.iter().peekable();
        let missing = |&&(place, _): &&(u32, u64)| {
            while ours.next_if(|e| e.0 < place).is_some() {}
            ours.next_if(|e| e.0 == place).is_none()
        };
        other.0.iter().filter(missing).count()
    }

    /// The members of both.
    pub fn and(&self, other: &Bits) -> Bits {
        let mut theirs = other.0.iter().peekable();
        let both = self.0.iter().filter_map(|&(place, word)| {
            while theirs.next_if(|e| e.0 < place).is_some() {}
            let common = theirs.next_if(|e| e.0 == place)?.1 & word;
            (common != 0).then_some((place, common))
        });
        Bits(both.collect())
    }

    /// The members that are not members of `other`.
    pub fn minus(&self, other: &Bits) -> Bits {
        Bits(self.words_beyond(other).collect())
    }

    /// The members from `n` on.
    pub fn at_least(&self, n: u32) -> Bits {
        let rest = self.0.iter().filter(|e| e.0 >= n / 64).map(|&(place, word)| match place == n / 64 {
            true => (place, word & (u64::MAX << (n % 64))),
            false => (place, word),
        });
        Bits(rest.filter(|e| e.1 != 0).collect())
    }

    /// Some member that is not one of `other`.
    pub fn beyond(&self, other: &Bits) -> Option<u32> {
        let (place, word) = self.words_beyond(other).next()?;
        Some(place * 64 + word.trailing_zeros())
    }

    fn words_beyond<'a>(&'a self, other: &'a Bits) -> impl Iterator<Item = (u32, u64)> + 'a {
        let mut theirs = other.0.iter().peekable();
        self.0.iter().filter_map(move |&(place, word)| {
            while theirs.next_if(|e| e.0 < place).is_some() {}
            let more = word & !theirs.next_if(|e| e.0 == place).map_or(0, |e| e.1);
            (more != 0).then_some((place, more))
        })
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_word().flat_map(|(place, within)| within.map(move |n| place * 64 + n))
    }

    /// The members in order, 64 numbers at a time: a place, and the members among its numbers, counted from the first of these.
    pub fn by_word(&self) -> impl Iterator<Item = (u32, impl Iterator<Item = u32> + use<>)> + '_ {
        self.0.iter().map(|&(place, word)| {
            let next = |&left: &u64| (left & (left - 1) != 0).then_some(left & (left - 1));
            (place, std::iter::successors(Some(word), next).map(u64::trailing_zeros))
        })
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Bits {
        Bits::new(numbers.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_numbers() {
        let (a, b) = (Bits::new(vec![300, 1, 64, 1]), Bits::new(vec![1, 65, 300, 900]));
        assert_eq!(a.iter().collect::<Vec<_>>(), [1, 64, 300]);
        assert_eq!(a.and(&b).iter().collect::<Vec<_>>(), [1, 300]);
        assert_eq!((a.beyond(&b), a.and(&b).beyond(&b), b.beyond(&a)), (Some(64), None, Some(65)));
        assert!(a.contains(64) && !a.contains(65) && !a.contains(901));
        assert!(Bits::default().beyond(&a).is_none() && a.beyond(&Bits::default()) == Some(1));
    }

    #[test]
    fn operations_agree_with_those_of_sorted_sets() {
        use std::collections::BTreeSet;
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as u32
        };
        for round in 0..2000 {
            let (size, below) = ([0, 1, 5, 80][round % 4], [64, 200, 1000][round % 3]);
            let set = |random: &mut dyn FnMut(u64) -> u32| -> BTreeSet<u32> {
                (0..size).map(|_| random(below)).collect()
            };
            let (a, b, n) = (set(&mut random), set(&mut random), random(below));
            let bits = |set: &BTreeSet<u32>| set.iter().copied().collect::<Bits>();
            let (x, y) = (bits(&a), bits(&b));
            assert_eq!((x.len(), x.is_empty()), (a.len() as u64, a.is_empty()));
            assert!(x.iter().eq(a.iter().copied()));
            assert_eq!(x.and(&y), bits(&(&a & &b)));
            assert_eq!(x.minus(&y), bits(&(&a - &b)));
            assert_eq!(x.at_least(n), bits(&a.range(n..).copied().collect()));
            let (mut grown, mut one) = (x.clone(), x.clone());
            assert_eq!((grown.absorb(&y), &grown), (bits(&(&b - &a)), &bits(&(&a | &b))));
            assert_eq!((one.insert(n), one.contains(n)), (!a.contains(&n), true));
            assert_eq!(one, bits(&(&a | &[n].into())));
        }
    }
}
