//! Configurations ⟨s | l₁ … lₙ⟩, counter-abstracted: how many threads are in which local state.

use super::{Bag, Local, Model, OMEGA, Shared};

/// One shared state and a multiset of threads, whose counts may be ω.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Config {
    /// The shared state.
    pub shared: Shared,
    /// The threads.
    pub threads: Bag,
}

impl Config {
    /// Builds ⟨shared | threads⟩.
    pub fn new(shared: Shared, threads: Bag) -> Config {
        Config { shared, threads }
    }

    /// Returns whether `self` has the same shared state as `other` and contains its threads. States
    /// are compared for equality.
    pub fn covers(&self, other: &Config) -> bool {
        self.shared == other.shared && self.threads.covers(&other.threads)
    }

    /// Returns whether some concrete configuration of `self` covers some concrete configuration of
    /// `target`.
    ///
    /// This is [`Config::covers`] for models whose states are singletons.
    pub fn may_cover(&self, target: &Config, model: &dyn Model) -> bool {
        if model.is_exact() {
            return self.covers(target);
        }
        model.meets_shared(self.shared, target.shared)
            && matches(&self.threads, &target.threads, &|have, want| model.meets_local(have, want))
    }

    /// Returns whether every concrete configuration of `self` covers some concrete configuration of
    /// `other`.
    pub fn surely_covers(&self, other: &Config, model: &dyn Model) -> bool {
        if model.is_exact() {
            return self.covers(other);
        }
        model.within_shared(self.shared, other.shared)
            && matches(&self.threads, &other.threads, &|have, want| model.within_local(have, want))
    }

    /// Returns whether every concrete configuration of `self` is one of `other`; counts of both are
    /// finite.
    pub fn is_within(&self, other: &Config, model: &dyn Model) -> bool {
        self == other
            || !model.is_exact()
                && self.threads.size() == other.threads.size()
                && self.surely_covers(other, model)
    }

    /// Returns whether every concrete configuration of `self` is covered by some concrete
    /// configuration of `above`, with ω for any number.
    pub fn is_below(&self, above: &Config, model: &dyn Model) -> bool {
        model.within_shared(self.shared, above.shared) && above.includes_threads(&self.threads, model)
    }

    /// Returns the same for a `part` of `self`, with shared states compared for equality.
    ///
    /// This is [`Config::covers`] for models whose states are singletons.
    pub fn includes(&self, part: &Config, model: &dyn Model) -> bool {
        self.shared == part.shared && self.includes_threads(&part.threads, model)
    }

    fn includes_threads(&self, part: &Bag, model: &dyn Model) -> bool {
        if self.threads.covers(part) || model.is_exact() {
            return self.threads.covers(part);
        }
        let entries = self.threads.entries();
        let any: Vec<Local> = entries.iter().filter(|e| e.1 == OMEGA).map(|e| e.0).collect();
        let have: Bag = entries.iter().copied().filter(|e| e.1 != OMEGA).collect();
        let absorbed = |l: Local| any.iter().any(|&whole| model.within_local(l, whole));
        let mut rest = part.entries().iter().filter(|e| !absorbed(e.0));
        // Listing stops once more threads are wanted than there are. Threads in a state with any
        // number need no match.
        let want = rest.try_fold(Bag::new(), |mut want, &(l, n)| {
            want.insert(l, n);
            (want.size() <= have.size()).then_some(want)
        });
        want.is_some_and(|want| matches(&have, &want, &|whole, l| model.within_local(l, whole)))
    }

    /// Returns a description for people: `⟨lock=0 | 2 × line 4, line 7 b=1⟩`.
    pub fn describe(&self, model: &dyn Model) -> String {
        let threads: Vec<String> = self
            .threads
            .entries()
            .iter()
            .map(|&(l, n)| match n {
                1 => model.local_name(l),
                OMEGA => format!("any number × {}", model.local_name(l)),
                n => format!("{n} × {}", model.local_name(l)),
            })
            .collect();
        format!("⟨{} | {}⟩", model.shared_name(self.shared), threads.join(", "))
    }
}

/// Returns whether the threads of `want` can be matched to different threads of `have` that `fits`
/// accepts for them.
///
/// Bipartite matching by augmenting paths over local states with capacities; targets have few
/// threads.
fn matches(have: &Bag, want: &Bag, fits: &dyn Fn(Local, Local) -> bool) -> bool {
    let wanted: Vec<Local> = want.entries().iter().flat_map(|&(l, n)| (0..n).map(move |_| l)).collect();
    let supply = have.entries();
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); supply.len()];
    (0..wanted.len()).all(|w| augment(w, &wanted, supply, fits, &mut given, &mut vec![false; supply.len()]))
}

fn augment(
    w: usize,
    wanted: &[Local],
    supply: &[(Local, u32)],
    fits: &dyn Fn(Local, Local) -> bool,
    given: &mut [Vec<usize>],
    seen: &mut [bool],
) -> bool {
    for i in 0..supply.len() {
        if seen[i] || !fits(supply[i].0, wanted[w]) {
            continue;
        }
        seen[i] = true;
        if given[i].len() < supply[i].1 as usize {
            given[i].push(w);
            return true;
        }
        for k in 0..given[i].len() {
            if augment(given[i][k], wanted, supply, fits, given, seen) {
                given[i][k] = w;
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_gives_every_wanted_thread_its_own() {
        let bag = |ls: &[u64]| -> Bag { ls.iter().map(|&l| Local(l)).collect() };
        // 1 fits 10 and 20, 2 fits 10 only.
        let fits = |h: Local, w: Local| matches!((h.0, w.0), (1, 10) | (1, 20) | (2, 10));
        assert!(matches(&bag(&[1, 2]), &bag(&[10, 20]), &fits));
        assert!(!matches(&bag(&[2, 2]), &bag(&[10, 20]), &fits));
        assert!(!matches(&bag(&[1]), &bag(&[10, 20]), &fits));
    }
}
