//! Sets of small numbers, 64 at a time; words without members are not kept.

/// A set of numbers: pairs of a place and the members among its 64 numbers, sorted.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<(u32, u64)>);

impl Bits {
    pub(super) fn new(mut numbers: Vec<u32>) -> Bits {
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

    pub(super) fn contains(&self, n: u32) -> bool {
        let at = self.0.binary_search_by_key(&(n / 64), |e| e.0);
        at.is_ok_and(|i| self.0[i].1 >> (n % 64) & 1 == 1)
    }

    pub(super) fn and(&self, other: &Bits) -> Bits {
        let mut theirs = other.0.iter().peekable();
        let both = self.0.iter().filter_map(|&(place, word)| {
            while theirs.next_if(|e| e.0 < place).is_some() {}
            let common = theirs.next_if(|e| e.0 == place)?.1 & word;
            (common != 0).then_some((place, common))
        });
        Bits(both.collect())
    }

    /// Some member that is not one of `other`.
    pub(super) fn beyond(&self, other: &Bits) -> Option<u32> {
        let mut theirs = other.0.iter().peekable();
        self.0.iter().find_map(|&(place, word)| {
            while theirs.next_if(|e| e.0 < place).is_some() {}
            let more = word & !theirs.next_if(|e| e.0 == place).map_or(0, |e| e.1);
            (more != 0).then(|| place * 64 + more.trailing_zeros())
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(place, word)| {
            (0..64).filter(move |i| word >> i & 1 == 1).map(move |i| place * 64 + i)
        })
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
}
