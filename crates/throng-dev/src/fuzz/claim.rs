//! What an oracle claims about a target, so that any two can be compared.

/// A claim about a target. Two claims fit together unless one has a run that the other rules out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Claim {
    /// There is a run in which this many threads exist at once; [`Claim::UNCOUNTED`] where threads
    /// are not what is counted.
    pub hit: Option<u32>,
    /// There is none with this many threads or fewer; [`Claim::SAFE`] says that there is none at
    /// all.
    pub none: Option<u32>,
    /// The shortest run with that many threads has this many steps.
    pub steps: Option<usize>,
}

impl Claim {
    /// A run of some number of threads.
    pub const UNCOUNTED: u32 = u32::MAX;

    /// Nothing.
    pub const UNKNOWN: Claim = Claim { hit: None, none: None, steps: None };

    /// There is no run.
    pub const SAFE: Claim = Claim { none: Some(u32::MAX), ..Claim::UNKNOWN };

    /// Claims a run with this many threads, perhaps one with fewer.
    pub fn hit(threads: u32) -> Claim {
        Claim { hit: Some(threads), ..Claim::UNKNOWN }
    }

    /// Claims a run with this many threads and none with fewer.
    pub fn fewest(threads: u32, steps: Option<usize>) -> Claim {
        Claim { hit: Some(threads), none: threads.checked_sub(1), steps }
    }

    /// Claims that there is no run with this many threads or fewer.
    pub fn none_up_to(threads: u32) -> Claim {
        Claim { none: Some(threads), ..Claim::UNKNOWN }
    }

    /// Returns whether the target is safe, if the claim decides that.
    pub fn safe(&self) -> Option<bool> {
        match self {
            Claim { hit: Some(_), .. } => Some(false),
            Claim { none: Some(u32::MAX), .. } => Some(true),
            _ => None,
        }
    }

    /// Returns whether the two claims contradict each other.
    pub fn contradicts(&self, other: &Claim) -> bool {
        let ruled_out = |run: &Claim, by: &Claim| matches!((run.hit, by.none), (Some(h), Some(n)) if h <= n);
        let lengths = || matches!((self.steps, other.steps), (Some(a), Some(b)) if a != b);
        ruled_out(self, other) || ruled_out(other, self) || (self.hit == other.hit && lengths())
    }

    /// Combines claims about several targets into one: whether any can be hit.
    pub fn overall(all: &[Claim]) -> Claim {
        let hit = all.iter().filter_map(|s| s.hit).min();
        let none = all.iter().map(|s| s.none).min().unwrap_or(Some(u32::MAX));
        Claim { hit, none, steps: None }
    }

    /// The same, without numbers of threads.
    pub fn uncounted(self) -> Claim {
        match self.safe() {
            Some(true) => Claim::SAFE,
            Some(false) => Claim::hit(Claim::UNCOUNTED),
            None => Claim::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_contradict_each_other_if_one_rules_out_what_the_other_has() {
        let fits = [
            (Claim::SAFE, Claim::UNKNOWN),
            (Claim::SAFE, Claim::none_up_to(3)),
            (Claim::hit(3), Claim::fewest(2, Some(4))),
            (Claim::hit(3), Claim::none_up_to(2)),
            (Claim::hit(Claim::UNCOUNTED), Claim::none_up_to(9)),
        ];
        let not = [
            (Claim::SAFE, Claim::hit(1)),
            (Claim::SAFE, Claim::hit(Claim::UNCOUNTED)),
            (Claim::hit(2), Claim::none_up_to(2)),
            (Claim::fewest(3, None), Claim::hit(2)),
            (Claim::fewest(3, Some(5)), Claim::fewest(3, Some(6))),
            (Claim::fewest(0, None), Claim::fewest(1, None)),
        ];
        for (a, b) in fits {
            assert!(!a.contradicts(&b) && !b.contradicts(&a), "{a:?} {b:?}");
        }
        for (a, b) in not {
            assert!(a.contradicts(&b) && b.contradicts(&a), "{a:?} {b:?}");
        }
        assert_eq!(Claim::overall(&[Claim::SAFE, Claim::SAFE]).safe(), Some(true));
        assert_eq!(Claim::overall(&[Claim::SAFE, Claim::UNKNOWN]), Claim::UNKNOWN);
        assert_eq!(Claim::overall(&[Claim::fewest(3, Some(1)), Claim::none_up_to(1)]).none, Some(1));
    }
}
