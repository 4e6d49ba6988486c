//! The question asked: a model, where it starts, what must not happen, and for how many threads.
//!
//! All four change verdicts, so none is ever implicit: they are printed with every answer.

use std::sync::Arc;

use crate::model::{Bag, Config, Local, Model, OMEGA, Shared};

/// Model + initial configurations + targets + thread bound.
#[derive(Clone)]
pub struct Problem {
    /// The thread template.
    pub model: Arc<dyn Model>,
    /// Where the system may start; any of these.
    pub initial: Vec<Initial>,
    /// The initial configurations in the user's words, e.g. `any number of threads at main`.
    pub initial_text: String,
    /// What must not happen, each with its own verdict.
    pub targets: Vec<Target>,
    /// How many threads are allowed.
    pub bound: Bound,
}

/// A family of initial configurations: exactly `threads`, and any number of threads in each state of `any`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Initial {
    /// The shared state.
    pub shared: Shared,
    /// The threads that are there in any case.
    pub threads: Bag,
    /// Local states in which any number of further threads may start.
    pub any: Vec<Local>,
}

/// What must not be reached: configurations that cover one of `configs`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// What to call it: `assertions`, `2|1,1`, `mutex L`.
    pub name: String,
    /// The smallest bad configurations.
    pub configs: Vec<Config>,
}

/// How many threads there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Any number.
    Any,
    /// At most this many at any time; at the bound, a step creates nobody.
    Threads(u32),
    /// Nets: at most this many tokens for each "any number" of the initial marking; firing is not bounded.
    Tokens(u32),
}

impl Initial {
    /// The family as one configuration with ω counts.
    pub fn omega(&self) -> Config {
        let mut threads = self.threads.clone();
        for &l in &self.any {
            threads.insert(l, OMEGA);
        }
        Config::new(self.shared, threads)
    }

    /// Whether `config`, with finite counts, is a member.
    pub fn contains(&self, config: &Config) -> bool {
        config.shared == self.shared
            && config
                .threads
                .minus(&self.threads)
                .is_some_and(|more| more.entries().iter().all(|e| self.any.contains(&e.0)))
    }

    /// Every member with exactly `total` threads.
    pub fn of_size(&self, total: u32) -> Vec<Config> {
        let Some(more) = total.checked_sub(self.threads.size()) else { return Vec::new() };
        if self.any.is_empty() {
            return if more == 0 { vec![Config::new(self.shared, self.threads.clone())] } else { Vec::new() };
        }
        let mut found = Vec::new();
        spread(&self.any, more, self.threads.clone(), &mut |threads| {
            found.push(Config::new(self.shared, threads))
        });
        found
    }
}

/// Every way to put `count` threads into the states `places`.
fn spread(places: &[Local], count: u32, base: Bag, found: &mut impl FnMut(Bag)) {
    match places {
        [] => {}
        [last] => {
            let mut threads = base;
            threads.insert(*last, count);
            found(threads);
        }
        [first, later @ ..] => {
            for n in 0..=count {
                let mut threads = base.clone();
                threads.insert(*first, n);
                spread(later, count - n, threads, found);
            }
        }
    }
}

impl Target {
    /// Whether some concrete configuration of `config` is bad.
    pub fn is_hit(&self, config: &Config, model: &dyn Model) -> bool {
        self.configs.iter().any(|bad| config.may_cover(bad, model))
    }
}

impl Bound {
    /// The largest number of threads at any time, if there is one.
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
        assert_eq!(family.omega().threads.count(Local(1)), OMEGA);
    }
}
