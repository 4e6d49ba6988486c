//! The verification problem: a model, its initial configurations, the targets, and the number of
//! threads.
//!
//! Each of these affects verdicts, so none is ever implicit: they are printed with every answer.

use std::convert::Infallible;
use std::sync::Arc;

use crate::predicate::{Predicate, Sum};
use crate::property::Property;
use crate::quotient::QuotientMap;
use crate::{Bag, Config, Incomplete, Local, Model, OMEGA, Shared};

/// Model + initial configurations + targets + thread bound.
#[derive(Clone)]
pub struct Problem {
    /// The thread template.
    pub model: Arc<dyn Model>,
    /// The families of initial configurations.
    pub initial: Vec<Initial>,
    /// The initial configurations in the user's words, e.g. `any number of threads at main`.
    pub initial_text: String,
    /// The targets, each with its own verdict.
    pub targets: Vec<Target>,
    /// The bound on the number of threads.
    pub bound: Bound,
}

/// A family of initial configurations: exactly `threads`, and any number of threads in each state
/// of `any`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Initial {
    /// The shared state.
    pub shared: Shared,
    /// The threads that are always present.
    pub threads: Bag,
    /// Local states in which any number of further threads may start.
    pub any: Vec<Local>,
}

/// Configurations that must not be reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// Its name for people: `assertions`, `2|1,1`, `mutex L`. Nothing depends on it.
    pub name: String,
    /// The kind of question about `configs`.
    pub what: What,
    /// The smallest bad configurations; all bad ones cover one of them. [`What::Deadlock`] and
    /// [`What::Stuck`] use them differently.
    pub configs: Vec<Config>,
    /// The property that it was made from, if the input states one.
    pub property: Option<Arc<Property>>,
}

/// The question that a target asks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum What {
    /// Configurations that cover one of `configs` are bad.
    #[default]
    Covers,
    /// Configurations that cover one of `configs` and satisfy the formula are bad.
    Formula(Arc<Formula>),
    /// Deadlocks are bad, see [`crate::deadlock`]. They are not upward closed: `configs` is empty,
    /// except for a deadlock that was found, for people.
    Deadlock,
    /// Configurations with a thread that can never move again are bad, see [`crate::stuck`].
    /// `configs` are the local states to check, one thread each, whatever the shared state; and,
    /// before them, a configuration with a stuck thread if one was found, for people.
    Stuck,
    /// Executions are bad in which the scheduler is fair and a thread stays in one of the local
    /// states `configs` for ever, see [`crate::starvation`]; as for [`What::Stuck`], before them may
    /// be a configuration that was found.
    Starvation,
}

/// A question about single configurations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    /// The condition that bad configurations satisfy.
    pub when: Predicate,
    /// What the verdict means for the formula as it is written.
    pub asks: Asks,
}

/// What a verdict means for a formula as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asks {
    /// Nothing beyond the target.
    Target,
    /// It is true if the target can be reached (`EF`).
    Exists,
    /// It is true if the target cannot be reached (`AG`).
    Always,
    /// The largest value of this sum that is reached. It is decided by two other targets: a run to
    /// some value ([`Asks::Reaches`]), and a proof that none is larger ([`Asks::AtMost`]).
    Largest(Sum),
    /// Whether a sum reaches this value; the target is that value.
    Reaches(i64),
    /// Whether a sum never exceeds this value; the target is the next one.
    AtMost(i64),
}

/// The bound on the number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Any number.
    Any,
    /// At most this many at any time; at the bound, a step creates no thread.
    Threads(u32),
    /// For nets: at most this many tokens in each place that may start with any number (or its
    /// least number, if that is larger); firing is not bounded.
    Tokens(u32),
}

impl Problem {
    /// Returns an error unless every step was listed so far: a model that had to leave something
    /// out reports that from then on.
    pub fn complete(&self) -> Result<(), Incomplete> {
        self.initial.iter().try_for_each(|family| self.model.post_shared(family.shared, &mut Vec::new()))
    }

    /// Returns the least and the largest number of initial threads, if these are finite and no step
    /// creates a thread: then the answer is about these numbers of threads only.
    pub fn fixed_threads(&self) -> Option<(u32, u32)> {
        if self.initial.iter().any(|family| !family.any.is_empty()) || self.model.spawns() {
            return None;
        }
        let most = self.bound.threads().unwrap_or(u32::MAX);
        let sizes = self.initial.iter().map(|family| family.threads.size()).filter(|&size| size <= most);
        Some((sizes.clone().min()?, sizes.max()?))
    }
}

impl Initial {
    /// Returns the image of the family in the quotient.
    pub fn merged(&self, map: &QuotientMap) -> Initial {
        let mut any: Vec<Local> = self.any.iter().filter_map(|&l| map.merge_one(l)).collect();
        any.sort_unstable();
        any.dedup();
        Initial { threads: map.merge(&self.threads), any, ..self.clone() }
    }

    /// Returns the family as one configuration with ω counts.
    pub fn omega(&self) -> Config {
        let mut threads = self.threads.clone();
        for &l in &self.any {
            threads.insert(l, OMEGA);
        }
        Config::new(self.shared, threads)
    }

    /// Returns whether `config`, with finite counts, is a member.
    pub fn contains(&self, config: &Config) -> bool {
        config.shared == self.shared
            && config
                .threads
                .minus(&self.threads)
                .is_some_and(|more| more.entries().iter().all(|e| self.any.contains(&e.0)))
    }

    /// Returns every member with exactly `total` threads.
    pub fn of_size(&self, total: u32) -> Vec<Config> {
        let mut found = Vec::new();
        let Ok(()) = self.each_of_size(total, &mut |c| {
            found.push(c);
            Ok::<(), Infallible>(())
        });
        found
    }

    /// Calls `found` with every member with exactly `total` threads, until it returns an error:
    /// there can be very many.
    pub fn each_of_size<E>(
        &self,
        total: u32,
        found: &mut impl FnMut(Config) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(more) = total.checked_sub(self.threads.size()) else { return Ok(()) };
        let any = self.distinct_any();
        if any.is_empty() && more > 0 {
            return Ok(());
        }
        spread(&any, more, Config::new(self.shared, self.threads.clone()), found)
    }

    /// Calls `found` with every member with at most `most` threads in each state of `any` (or the
    /// number always present, if that is larger), and exactly that many in one of them; for `most`
    /// 0, with the smallest member.
    pub fn each_of_tokens<E>(
        &self,
        most: u32,
        found: &mut impl FnMut(Config) -> Result<(), E>,
    ) -> Result<(), E> {
        let any = self.distinct_any();
        fill(&any, most, most == 0, Config::new(self.shared, self.threads.clone()), found)
    }

    /// Returns the smallest member that covers a configuration, state by state.
    pub fn least_above(&self, config: &Config) -> Option<Config> {
        let mut threads = self.threads.clone();
        for &(l, n) in config.threads.entries() {
            let missing = n.saturating_sub(threads.count(l));
            if missing > 0 && !self.any.contains(&l) {
                return None;
            }
            threads.insert(l, missing);
        }
        (self.shared == config.shared).then(|| Config::new(self.shared, threads))
    }

    /// Returns the next number after `most` (or the first) for which [`Initial::each_of_tokens`]
    /// finds a member.
    pub fn next_of_tokens(&self, most: Option<u32>) -> Option<u32> {
        let Some(most) = most else { return Some(0) };
        let least = self.any.iter().map(|&l| self.threads.count(l)).min()?;
        most.max(least).checked_add(1)
    }

    /// Returns the size of the smallest member that is larger than `size` (or of the smallest at
    /// all), if there is one.
    pub fn next_size(&self, size: Option<u32>) -> Option<u32> {
        let least = self.threads.size();
        match size {
            Some(size) if size >= least => {
                if self.any.is_empty() {
                    None
                } else {
                    size.checked_add(1)
                }
            }
            _ => Some(least),
        }
    }

    fn distinct_any(&self) -> Vec<Local> {
        let mut any = self.any.clone();
        any.sort_unstable();
        any.dedup();
        any
    }
}

/// Calls `found` with every way to put `count` further threads into the states `places`.
fn spread<E>(
    places: &[Local],
    count: u32,
    base: Config,
    found: &mut impl FnMut(Config) -> Result<(), E>,
) -> Result<(), E> {
    let Some((&last, earlier)) = places.split_last() else { return found(base) };
    if count == 0 {
        return found(base);
    }
    // Branching on the first state that gets any keeps only such states on the stack.
    found(with(&base, last, count))?;
    for i in (0..earlier.len()).rev() {
        for n in 1..=count {
            spread(&places[i + 1..], count - n, with(&base, places[i], n), found)?;
        }
    }
    Ok(())
}

/// Calls `found` with every way to fill each of `places` up to at most `most`, and one of them up
/// to exactly that unless that is `done` already.
fn fill<E>(
    places: &[Local],
    most: u32,
    done: bool,
    base: Config,
    found: &mut impl FnMut(Config) -> Result<(), E>,
) -> Result<(), E> {
    if done {
        found(base.clone())?;
    }
    // Branching on the first state that gets any keeps only such states on the stack.
    for (i, &l) in places.iter().enumerate().rev() {
        let room = most.saturating_sub(base.threads.count(l));
        let least = if done || i + 1 < places.len() { 1 } else { room.max(1) };
        for n in least..=room {
            fill(&places[i + 1..], most, done || n == room, with(&base, l, n), found)?;
        }
    }
    Ok(())
}

fn with(base: &Config, l: Local, n: u32) -> Config {
    let mut config = base.clone();
    config.threads.insert(l, n);
    config
}

impl Target {
    /// Returns the target of deadlocks.
    pub fn deadlock() -> Target {
        let property = Some(Arc::new(Property::Deadlock));
        Target { name: Property::Deadlock.name(), what: What::Deadlock, configs: Vec::new(), property }
    }

    /// Returns the target of configurations that cover one of `configs`.
    pub fn covering(name: impl Into<String>, configs: Vec<Config>) -> Target {
        Target { name: name.into(), what: What::Covers, configs, property: None }
    }

    /// Returns the target of configurations that cover one of `configs` and satisfy a formula.
    pub fn satisfying(name: impl Into<String>, configs: Vec<Config>, formula: Formula) -> Target {
        Target { what: What::Formula(Arc::new(formula)), ..Target::covering(name, configs) }
    }

    /// Returns the target of a property of the input, with its configurations.
    pub fn of(property: Property, configs: Vec<Config>) -> Target {
        let what = match property {
            Property::Deadlock => What::Deadlock,
            Property::Stuck(_) => What::Stuck,
            Property::Starvation(_) => What::Starvation,
            _ => What::Covers,
        };
        Target { name: property.name(), what, configs, property: Some(Arc::new(property)) }
    }

    /// Returns the same target with other configurations.
    pub fn with_configs(&self, configs: Vec<Config>) -> Target {
        let Target { name, what, property, .. } = self;
        Target { name: name.clone(), what: what.clone(), configs, property: property.clone() }
    }

    /// Returns the formula that bad configurations satisfy, if there is one.
    pub fn formula(&self) -> Option<&Arc<Formula>> {
        match &self.what {
            What::Formula(formula) => Some(formula),
            What::Covers | What::Deadlock | What::Stuck | What::Starvation => None,
        }
    }

    /// Returns what the verdict means for the formula as it is written, if there is one.
    pub fn asks(&self) -> Option<&Asks> {
        self.formula().map(|formula| &formula.asks)
    }

    /// Returns whether deadlocks are bad.
    pub fn is_deadlock(&self) -> bool {
        self.what == What::Deadlock
    }

    /// Returns whether stuck threads are bad.
    pub fn is_stuck(&self) -> bool {
        self.what == What::Stuck
    }

    /// Returns whether starvation is bad.
    pub fn is_starvation(&self) -> bool {
        self.what == What::Starvation
    }

    /// Returns whether the target is about whole configurations, with no other threads: deadlocks,
    /// stuck threads, starvation. These are not upward closed.
    pub fn is_about_all_threads(&self) -> bool {
        self.is_deadlock() || self.is_stuck() || self.is_starvation()
    }

    /// Returns whether some concrete configuration of `config` is bad; false also if a formula asks
    /// for steps that cannot be listed.
    pub fn is_hit(&self, config: &Config, model: &dyn Model) -> bool {
        self.hits(config, model).unwrap_or(false)
    }

    /// Returns whether some concrete configuration of `config` is bad. If there is a formula,
    /// counts must be finite.
    pub fn hits(&self, config: &Config, model: &dyn Model) -> Result<bool, Incomplete> {
        if !self.may_be_hit(config, model) {
            return Ok(false);
        }
        match self.formula() {
            None => Ok(true),
            Some(formula) if matches!(formula.asks, Asks::Largest(_)) => Ok(false),
            Some(formula) => formula.when.holds(config, model),
        }
    }

    /// Returns whether some concrete configuration of `config` covers one of `configs`, as all bad
    /// ones do.
    pub fn may_be_hit(&self, config: &Config, model: &dyn Model) -> bool {
        self.configs.iter().any(|bad| config.may_cover(bad, model))
    }

    /// Returns whether only covering counts: then larger configurations are bad, too.
    pub fn is_upward_closed(&self) -> bool {
        match &self.what {
            What::Covers => true,
            What::Formula(f) => f.when == Predicate::TRUE && !matches!(f.asks, Asks::Largest(_)),
            What::Deadlock | What::Stuck | What::Starvation => false,
        }
    }

    /// Returns the bad configurations as a condition on counts. For models with one shared state.
    pub fn predicate(&self) -> Predicate {
        let covers = Predicate::any(self.configs.iter().map(|c| Predicate::covers(&c.threads)).collect());
        match self.formula() {
            None => covers,
            Some(formula) => Predicate::all(vec![covers, formula.when.clone()]),
        }
    }
}

impl Bound {
    /// Returns the largest number of threads at any time, if there is one.
    pub fn threads(self) -> Option<u32> {
        match self {
            Bound::Threads(n) => Some(n),
            Bound::Any | Bound::Tokens(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_family_are_listed_by_size() {
        let family =
            Initial { shared: Shared(0), threads: Bag::one(Local(7)), any: vec![Local(1), Local(2)] };
        assert!(family.of_size(0).is_empty());
        assert_eq!(family.of_size(3).len(), 3);
        assert!(family.of_size(3).iter().all(|c| family.contains(c) && c.threads.size() == 3));
        assert!(!family.contains(&Config::new(Shared(0), Bag::one(Local(1)))));
        assert_eq!((family.next_size(None), family.next_size(Some(4))), (Some(1), Some(5)));
        assert_eq!(family.omega().threads.count(Local(1)), OMEGA);
    }

    #[test]
    fn members_of_a_family_are_listed_by_tokens() {
        let family = Initial {
            shared: Shared(0),
            threads: Bag::one(Local(7)),
            any: vec![Local(1), Local(2), Local(1)],
        };
        let listed = |most| {
            let mut found = Vec::new();
            let Ok(()) = family.each_of_tokens(most, &mut |c| {
                found.push(c);
                Ok::<(), Infallible>(())
            });
            assert!(found.iter().all(|c| family.contains(c)));
            found.len()
        };
        assert_eq!((listed(0), listed(1), listed(2)), (1, 3, 5));
        let one = Initial { shared: Shared(0), threads: Bag::one(Local(1)), any: vec![Local(1)] };
        let mut totals = Vec::new();
        for most in 0..=3 {
            let Ok(()) = one.each_of_tokens(most, &mut |c| {
                totals.push(c.threads.size());
                Ok::<(), Infallible>(())
            });
        }
        assert_eq!(totals, [1, 2, 3], "at most three in all, not three more");
        assert_eq!((one.next_of_tokens(None), one.next_of_tokens(Some(0))), (Some(0), Some(2)));
        let fixed = Initial { any: Vec::new(), ..family.clone() };
        assert_eq!(fixed.next_of_tokens(Some(0)), None);
        assert_eq!((fixed.next_size(None), fixed.next_size(Some(1))), (Some(1), None));
    }
}
