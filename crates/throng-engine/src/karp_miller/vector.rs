//! ω-vectors: the number of threads in each local state, by small ids, sorted, without zeros.

use throng_model::OMEGA;

/// A local state's id and the number of threads there; [`OMEGA`] stands for any number.
pub type Entry = (u32, u32);

/// A summary of a vector whose comparison is cheap and refutes most pairs: every part is monotone
/// in the vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// The local states, hashed to 64 bits.
    occupied: u64,
    /// Those of them with ω.
    omega: u64,
    /// The counts, summed up in sixteen classes of local states: seven bits each, in bytes; 127
    /// stands for ω.
    sums: [u64; 2],
}

/// The highest bit of every byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

impl Signature {
    /// Returns the signature of a vector.
    pub fn of(counts: &[Entry]) -> Signature {
        Signature::of_all(counts.iter().copied())
    }

    /// Returns the signature of entries that may have the same local state.
    pub fn of_all(counts: impl Iterator<Item = Entry>) -> Signature {
        let mut signature = Signature::default();
        let mut sums = [0_u8; 16];
        for (l, n) in counts {
            let bit = 1 << (l % 64);
            signature.occupied |= bit;
            let sum = &mut sums[l as usize % 16];
            if n == OMEGA {
                signature.omega |= bit;
                *sum = 127;
            } else if *sum < 127 {
                *sum = (u32::from(*sum) + n.min(126)).min(126) as u8;
            }
        }
        for (i, &sum) in sums.iter().enumerate() {
            signature.sums[i / 8] |= u64::from(sum) << (i % 8 * 8);
        }
        signature
    }

    /// Returns whether a vector with this signature may be covered by one with the other.
    #[inline]
    pub fn may_be_below(self, other: Signature) -> bool {
        // Byte by byte, `other - self` borrows the high bit if and only if it is negative.
        let fits = |i: usize| ((other.sums[i] | HIGH) - self.sums[i]) & HIGH == HIGH;
        self.occupied & !other.occupied == 0 && self.omega & !other.omega == 0 && fits(0) && fits(1)
    }
}

/// Returns whether `large` has at least the threads of `small`.
#[inline]
pub fn covers(large: &[Entry], small: &[Entry]) -> bool {
    if large.len() < small.len() {
        return false;
    }
    let mut large = large.iter();
    small.iter().all(|&(l, n)| large.by_ref().find(|e| e.0 >= l).is_some_and(|e| e.0 == l && e.1 >= n))
}

/// Returns whether each thread of `small` is within one of its own in `large`. May return false if
/// the answer would take long to compute.
pub fn included(small: &[Entry], large: &[Entry], within: &dyn Fn(u32, u32) -> bool) -> bool {
    const MOST: usize = 64;
    let mut rest = Vec::new();
    for &(l, n) in small {
        if large.iter().any(|&(m, have)| have == OMEGA && within(l, m)) {
            continue;
        }
        if n as usize > MOST - rest.len() {
            return false;
        }
        rest.extend(std::iter::repeat_n(l, n as usize));
    }
    let supply: Vec<Entry> = large.iter().copied().filter(|e| e.1 != OMEGA).collect();
    let mut given = vec![Vec::new(); supply.len()];
    (0..rest.len()).all(|i| augment(i, &rest, &supply, within, &mut given, &mut vec![false; supply.len()]))
}

/// Finds a place for thread `i`, moving others if necessary (bipartite matching by augmenting
/// paths).
fn augment(
    i: usize,
    rest: &[u32],
    supply: &[Entry],
    within: &dyn Fn(u32, u32) -> bool,
    given: &mut [Vec<usize>],
    seen: &mut [bool],
) -> bool {
    for (j, &(m, n)) in supply.iter().enumerate() {
        if seen[j] || !within(rest[i], m) {
            continue;
        }
        seen[j] = true;
        if given[j].len() < n as usize {
            given[j].push(i);
            return true;
        }
        for k in 0..given[j].len() {
            if augment(given[j][k], rest, supply, within, given, seen) {
                given[j][k] = i;
                return true;
            }
        }
    }
    false
}

/// Returns the number of threads at `l`.
pub fn count(counts: &[Entry], l: u32) -> u32 {
    counts.binary_search_by_key(&l, |e| e.0).map_or(0, |i| counts[i].1)
}

/// Adds `n` threads at `l`; ω absorbs.
pub fn add(counts: &mut Vec<Entry>, l: u32, n: u32) {
    match counts.binary_search_by_key(&l, |e| e.0) {
        Ok(i) if counts[i].1 == OMEGA || n == OMEGA => counts[i].1 = OMEGA,
        Ok(i) => counts[i].1 = counts[i].1.saturating_add(n).min(OMEGA - 1),
        Err(i) => counts.insert(i, (l, n)),
    }
}

/// Removes `n` threads at `l` (ω stays ω). Returns whether there were enough.
pub fn remove(counts: &mut Vec<Entry>, l: u32, n: u32) -> bool {
    let Ok(i) = counts.binary_search_by_key(&l, |e| e.0) else { return false };
    match counts[i].1 {
        OMEGA => true,
        have if have > n => {
            counts[i].1 = have - n;
            true
        }
        have => {
            counts.remove(i);
            have == n
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omega_absorbs_and_covers() {
        let mut v = vec![(1, 2), (5, OMEGA)];
        add(&mut v, 5, 3);
        add(&mut v, 3, 1);
        assert!(remove(&mut v, 5, 9) && remove(&mut v, 1, 2) && !remove(&mut v, 1, 1));
        assert_eq!(v, [(3, 1), (5, OMEGA)]);
        assert!(covers(&v, &[(5, 1000)]) && !covers(&v, &[(3, 2)]) && !covers(&v, &[(4, 1)]));
        assert_eq!((count(&v, 5), count(&v, 4)), (OMEGA, 0));
    }

    #[test]
    fn parts_are_covered_by_wholes_of_their_own() {
        // 10 is within 1, 20 within 1 and 2.
        let within = |l: u32, m: u32| l == m || matches!((l, m), (10, 1) | (20, 1 | 2));
        let is = |small: &[Entry], large: &[Entry]| included(small, large, &within);
        assert!(is(&[(10, 1), (20, 1)], &[(1, 1), (2, 1)]) && is(&[(20, 2)], &[(1, 1), (2, 1)]));
        assert!(!is(&[(10, 2)], &[(1, 1), (2, 1)]) && !is(&[(10, 1), (20, 2)], &[(1, 1), (2, 1)]));
        assert!(is(&[(10, OMEGA), (20, 7)], &[(1, OMEGA)]) && !is(&[(10, OMEGA)], &[(1, 64)]));
        assert!(!is(&[(1, 1)], &[(10, OMEGA)]) && is(&[], &[]));
    }

    #[test]
    fn signatures_refute_only_what_is_not_covered() {
        let vectors = [
            vec![],
            vec![(1, 1)],
            vec![(1, OMEGA)],
            vec![(1, 2), (65, 1)],
            vec![(64, 1)],
            vec![(1, 126), (17, 126)],
            vec![(1, 1000), (17, 2)],
            vec![(1, 5), (17, OMEGA), (33, 3)],
        ];
        for a in &vectors {
            for b in &vectors {
                assert!(!covers(a, b) || Signature::of(b).may_be_below(Signature::of(a)));
            }
        }
        assert!(!Signature::of(&[(1, 3)]).may_be_below(Signature::of(&[(1, 2)])));
        assert!(!Signature::of(&vectors[2]).may_be_below(Signature::of(&vectors[1])));
    }
}
