//! Conditions on single configurations that need not be upward closed: Boolean combinations of
//! linear comparisons of counts, and "nothing can move".
//!
//! Negation is pushed down to the comparisons when a predicate is built, so there is no case for
//! it: over integers, not `a ≥ n` is `-a ≥ 1 - n`.

use crate::{Bag, Bystanders, Config, Incomplete, Local, Model, OMEGA, Step, semantics};

/// Σ coefficient · number of threads in a local state; sorted, without zeros.
pub type Sum = Vec<(Local, i64)>;

/// A condition on a configuration.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Predicate {
    /// The sum is at least this.
    AtLeast(Sum, i64),
    /// No step is enabled.
    Dead,
    /// Some step is enabled.
    Live,
    /// All of these hold; of none: true.
    All(Vec<Predicate>),
    /// One of these holds; of none: false.
    Any(Vec<Predicate>),
}

impl Predicate {
    /// True everywhere.
    pub const TRUE: Predicate = Predicate::All(Vec::new());

    /// False everywhere.
    pub const FALSE: Predicate = Predicate::Any(Vec::new());

    /// Builds: the sum of these terms, in any order, is at least `least`. Counts are never
    /// negative. `None` if a coefficient is too large.
    pub fn at_least(mut terms: Vec<(Local, i64)>, least: i64) -> Option<Predicate> {
        terms.sort_unstable();
        let mut sum: Sum = Vec::new();
        for (l, n) in terms {
            match sum.last_mut() {
                Some(last) if last.0 == l => last.1 = last.1.checked_add(n)?,
                _ => sum.push((l, n)),
            }
        }
        sum.retain(|t| t.1 != 0);
        // The negation must be representable, too.
        if sum.iter().any(|t| t.1 == i64::MIN) || least.checked_neg()?.checked_add(1).is_none() {
            return None;
        }
        Some(match (sum.iter().all(|t| t.1 > 0), sum.iter().all(|t| t.1 < 0)) {
            (true, _) if least <= 0 => Predicate::TRUE,
            (_, true) if least > 0 => Predicate::FALSE,
            _ => Predicate::AtLeast(sum, least),
        })
    }

    /// Builds: there are at least these threads.
    pub fn covers(bag: &Bag) -> Predicate {
        let each = |&(l, n): &(Local, u32)| Predicate::AtLeast(vec![(l, 1)], i64::from(n));
        Predicate::all(bag.entries().iter().map(each).collect())
    }

    /// Builds the conjunction.
    pub fn all(parts: Vec<Predicate>) -> Predicate {
        let mut found = Vec::new();
        for part in parts {
            match part {
                Predicate::All(inner) => found.extend(inner),
                Predicate::Any(inner) if inner.is_empty() => return Predicate::FALSE,
                part => found.push(part),
            }
        }
        Predicate::only(found, Predicate::All)
    }

    /// Builds the disjunction.
    pub fn any(parts: Vec<Predicate>) -> Predicate {
        let mut found = Vec::new();
        for part in parts {
            match part {
                Predicate::Any(inner) => found.extend(inner),
                Predicate::All(inner) if inner.is_empty() => return Predicate::TRUE,
                part => found.push(part),
            }
        }
        Predicate::only(found, Predicate::Any)
    }

    fn only(mut parts: Vec<Predicate>, several: impl FnOnce(Vec<Predicate>) -> Predicate) -> Predicate {
        parts.sort_unstable();
        parts.dedup();
        match parts.pop() {
            Some(one) if parts.is_empty() => one,
            last => {
                parts.extend(last);
                several(parts)
            }
        }
    }

    /// Returns the negation.
    pub fn negated(&self) -> Predicate {
        match self {
            Predicate::AtLeast(sum, least) => {
                Predicate::AtLeast(sum.iter().map(|&(l, n)| (l, -n)).collect(), 1 - least)
            }
            Predicate::Dead => Predicate::Live,
            Predicate::Live => Predicate::Dead,
            Predicate::All(parts) => Predicate::any(parts.iter().map(Predicate::negated).collect()),
            Predicate::Any(parts) => Predicate::all(parts.iter().map(Predicate::negated).collect()),
        }
    }

    /// Returns whether the predicate holds in a configuration with finite counts.
    pub fn holds(&self, config: &Config, model: &dyn Model) -> Result<bool, Incomplete> {
        match self {
            Predicate::AtLeast(sum, least) => Ok(value(sum, &config.threads) >= i128::from(*least)),
            Predicate::Dead => is_dead(config, model),
            Predicate::Live => Ok(!is_dead(config, model)?),
            Predicate::All(parts) => {
                for part in parts {
                    if !part.holds(config, model)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Predicate::Any(parts) => {
                for part in parts {
                    if part.holds(config, model)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Returns the same predicate over counts alone: with these steps, a configuration is dead if
    /// each of them lacks threads in some local state. `None` if a step affects bystanders.
    pub fn counted(&self, steps: &[Step]) -> Option<Predicate> {
        let each = |parts: &[Predicate]| parts.iter().map(|p| p.counted(steps)).collect::<Option<Vec<_>>>();
        Some(match self {
            Predicate::AtLeast(..) => self.clone(),
            Predicate::Live => {
                let plain = steps.iter().all(|step| step.others == Bystanders::Stay && step.from == step.to);
                plain.then(|| Predicate::any(steps.iter().map(|s| Predicate::covers(&s.take)).collect()))?
            }
            Predicate::Dead => Predicate::Live.counted(steps)?.negated(),
            Predicate::All(parts) => Predicate::all(each(parts)?),
            Predicate::Any(parts) => Predicate::any(each(parts)?),
        })
    }

    /// Calls `see` with every local state whose count matters.
    pub fn each_local(&self, see: &mut impl FnMut(Local)) {
        match self {
            Predicate::AtLeast(sum, _) => sum.iter().for_each(|t| see(t.0)),
            Predicate::Dead | Predicate::Live => {}
            Predicate::All(parts) | Predicate::Any(parts) => parts.iter().for_each(|p| p.each_local(see)),
        }
    }

    /// Returns whether the predicate refers to enabled steps.
    pub fn asks_for_steps(&self) -> bool {
        match self {
            Predicate::AtLeast(..) => false,
            Predicate::Dead | Predicate::Live => true,
            Predicate::All(parts) | Predicate::Any(parts) => parts.iter().any(Predicate::asks_for_steps),
        }
    }
}

/// Evaluates a sum. At most 2³² threads in each of 2³² local states, with coefficients of at most
/// 2⁶³, fit into 128 bits.
pub fn value(sum: &[(Local, i64)], threads: &Bag) -> i128 {
    debug_assert!(threads.entries().iter().all(|e| e.1 != OMEGA), "predicates are about finite counts");
    sum.iter().map(|&(l, n)| i128::from(n) * i128::from(threads.count(l))).sum()
}

fn is_dead(config: &Config, model: &dyn Model) -> Result<bool, Incomplete> {
    let mut after = Vec::new();
    semantics::successors(model, config, None, &mut after)?;
    Ok(after.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Names, Table};
    use crate::{Edge, Place, Shared};

    fn at_least(terms: &[(u64, i64)], least: i64) -> Predicate {
        Predicate::at_least(terms.iter().map(|&(l, n)| (Local(l), n)).collect(), least).unwrap()
    }

    /// Returns one step, which takes two threads at 0 and puts one at 1.
    fn net() -> Table {
        let mut table = Table::new(Names::Numbers(1), Names::Numbers(2));
        let step = Step {
            from: Shared(0),
            to: Shared(0),
            take: [(Local(0), 2)].into_iter().collect(),
            put: Bag::one(Local(1)),
            spawn: Bag::new(),
            others: Bystanders::Stay,
            edge: Edge(0),
            choice: 0,
        };
        table.add(step, Vec::new(), Place::default());
        table
    }

    fn config(zero: u32, one: u32) -> Config {
        Config::new(Shared(0), [(Local(0), zero), (Local(1), one)].into_iter().filter(|e| e.1 > 0).collect())
    }

    #[test]
    fn what_is_decided_without_a_configuration_is_simplified() {
        assert_eq!(at_least(&[(0, 1), (0, -1)], 0), Predicate::TRUE);
        assert_eq!(at_least(&[(0, 2)], 0), Predicate::TRUE);
        assert_eq!(at_least(&[(0, -1), (1, -1)], 1), Predicate::FALSE);
        assert_eq!(at_least(&[], 1), Predicate::FALSE);
        assert_eq!(
            at_least(&[(1, 1), (0, 1), (1, 1)], 3),
            Predicate::AtLeast(vec![(Local(0), 1), (Local(1), 2)], 3)
        );
        assert_eq!(Predicate::at_least(vec![(Local(0), i64::MAX), (Local(0), 1)], 0), None);
        assert_eq!(Predicate::at_least(vec![(Local(0), 1)], i64::MIN), None);
    }

    #[test]
    fn a_predicate_or_its_negation_holds() {
        let (few, more) = (at_least(&[(0, -1)], -1), at_least(&[(1, 1), (0, -1)], 0));
        let table = net();
        let both = Predicate::all(vec![few.clone(), Predicate::any(vec![more, Predicate::Dead])]);
        for (zero, one) in [(0, 0), (1, 0), (2, 0), (0, 3), (2, 2), (1, 1)] {
            let config = config(zero, one);
            let holds = |p: &Predicate| p.holds(&config, &table).unwrap();
            assert_ne!(holds(&both), holds(&both.negated()), "{config:?}");
            assert_eq!(holds(&few), zero <= 1);
            assert_eq!(holds(&Predicate::Dead), zero < 2);
            let counted = both.counted(table.steps()).unwrap();
            assert!(!counted.asks_for_steps());
            assert_eq!(holds(&counted), holds(&both));
        }
    }
}
