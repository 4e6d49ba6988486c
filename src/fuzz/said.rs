//! What somebody says about a target, so that any two can be compared.

/// What is said about a target. Two answers fit together unless one has a run that the other rules out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Said {
    /// There is a run in which so many threads exist at once; [`Said::UNCOUNTED`] where threads are not what is counted.
    pub hit: Option<u32>,
    /// There is none with so many threads or fewer; [`Said::SAFE`] says that there is none at all.
    pub none: Option<u32>,
    /// The shortest run with that many threads has so many steps.
    pub steps: Option<usize>,
}

impl Said {
    /// A run of some number of threads.
    pub const UNCOUNTED: u32 = u32::MAX;

    /// Nothing.
    pub const UNKNOWN: Said = Said { hit: None, none: None, steps: None };

    /// There is no run.
    pub const SAFE: Said = Said { none: Some(u32::MAX), ..Said::UNKNOWN };

    /// There is a run with so many threads, perhaps with fewer.
    pub fn hit(threads: u32) -> Said {
        Said { hit: Some(threads), ..Said::UNKNOWN }
    }

    /// There is a run with so many threads and none with fewer.
    pub fn fewest(threads: u32, steps: Option<usize>) -> Said {
        Said { hit: Some(threads), none: threads.checked_sub(1), steps }
    }

    /// There is no run with so many threads or fewer.
    pub fn none_up_to(threads: u32) -> Said {
        Said { none: Some(threads), ..Said::UNKNOWN }
    }

    /// Whether it is safe, if this says so.
    pub fn safe(&self) -> Option<bool> {
        match self {
            Said { hit: Some(_), .. } => Some(false),
            Said { none: Some(u32::MAX), .. } => Some(true),
            _ => None,
        }
    }

    /// Whether both cannot be true.
    pub fn contradicts(&self, other: &Said) -> bool {
        let ruled_out = |run: &Said, by: &Said| matches!((run.hit, by.none), (Some(h), Some(n)) if h <= n);
        let lengths = || matches!((self.steps, other.steps), (Some(a), Some(b)) if a != b);
        ruled_out(self, other) || ruled_out(other, self) || (self.hit == other.hit && lengths())
    }

    /// What several answers about several targets say about all of them: whether any can be hit.
    pub fn overall(all: &[Said]) -> Said {
        let hit = all.iter().filter_map(|s| s.hit).min();
        let none = all.iter().map(|s| s.none).min().unwrap_or(Some(u32::MAX));
        Said { hit, none, steps: None }
    }

    /// The same, without numbers of threads.
    pub fn uncounted(self) -> Said {
        match self.safe() {
            Some(true) => Said::SAFE,
            Some(false) => Said::hit(Said::UNCOUNTED),
            None => Said::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_contradict_each_other_if_one_rules_out_what_the_other_has() {
        let fits = [
            (Said::SAFE, Said::UNKNOWN),
            (Said::SAFE, Said::none_up_to(3)),
            (Said::hit(3), Said::fewest(2, Some(4))),
            (Said::hit(3), Said::none_up_to(2)),
            (Said::hit(Said::UNCOUNTED), Said::none_up_to(9)),
        ];
        let not = [
            (Said::SAFE, Said::hit(1)),
            (Said::SAFE, Said::hit(Said::UNCOUNTED)),
            (Said::hit(2), Said::none_up_to(2)),
            (Said::fewest(3, None), Said::hit(2)),
            (Said::fewest(3, Some(5)), Said::fewest(3, Some(6))),
            (Said::fewest(0, None), Said::fewest(1, None)),
        ];
        for (a, b) in fits {
            assert!(!a.contradicts(&b) && !b.contradicts(&a), "{a:?} {b:?}");
        }
        for (a, b) in not {
            assert!(a.contradicts(&b) && b.contradicts(&a), "{a:?} {b:?}");
        }
        assert_eq!(Said::overall(&[Said::SAFE, Said::SAFE]).safe(), Some(true));
        assert_eq!(Said::overall(&[Said::SAFE, Said::UNKNOWN]), Said::UNKNOWN);
        assert_eq!(Said::overall(&[Said::fewest(3, Some(1)), Said::none_up_to(1)]).none, Some(1));
    }
}
