//! Vectors that no possible step increases: see [`throng_model::verdict::Vector`]. No reachable
//! configuration has a larger value than all initial ones.

use rustc_hash::FxHashMap;

use super::Flaw;
use super::views::Closed;
use throng_model::problem::Problem;
use throng_model::verdict::Vector;
use throng_model::{Bag, Config, Local, Shared, Step};

/// A vector.
struct Linear {
    shared: FxHashMap<Shared, i64>,
    locals: FxHashMap<Local, i64>,
    /// The largest value of an initial configuration, which no reachable one exceeds.
    most: i128,
}

/// Vectors; [`super::views::Closed`] checks for every step that views allow that they do not grow.
pub(super) struct Vectors(Vec<Linear>);

impl Vectors {
    pub(super) fn new(problem: &Problem, vectors: &[Vector]) -> Result<Vectors, Flaw> {
        Ok(Vectors(vectors.iter().map(|v| Linear::new(problem, v)).collect::<Result<_, _>>()?))
    }

    /// Reads vectors that may be negative at local states, and so do not exclude a configuration
    /// because of one that it covers.
    pub(super) fn signed(problem: &Problem, vectors: &[Vector]) -> Result<Vectors, Flaw> {
        Ok(Vectors(vectors.iter().map(|v| Linear::signed(problem, v)).collect::<Result<_, _>>()?))
    }

    /// Returns whether one is negative at a local state.
    pub(super) fn some_negative(&self) -> bool {
        self.0.iter().any(|linear| linear.locals.values().any(|&n| n < 0))
    }

    /// Returns whether no reachable configuration has shared state `s`, a thread at `l`, and all
    /// its threads at `l` and `others`.
    pub(super) fn exclude_stuck(&self, s: Shared, l: Local, others: &[Local]) -> bool {
        self.0.iter().any(|linear| {
            linear.of_shared(s) + linear.of_local(l) > linear.most
                && others.iter().all(|&other| linear.of_local(other) >= 0)
        })
    }

    /// Returns whether a step to `to` after which `arrived` are there increases none; bystanders
    /// aside.
    pub(super) fn allow_step(&self, step: &Step, to: Shared, arrived: &Bag) -> bool {
        self.0.iter().all(|linear| linear.value(to, arrived) <= linear.value(step.from, &step.take))
    }

    /// Returns whether none has a larger value for a thread in the second local state than in the
    /// first.
    pub(super) fn allow_move(&self, from: Local, to: Local) -> bool {
        from == to || self.0.iter().all(|linear| linear.of_local(to) <= linear.of_local(from))
    }

    /// Returns whether some vector shows that no configuration that covers a concrete one of
    /// `config` is reachable.
    pub(super) fn exclude(&self, views: &Closed, config: &Config) -> bool {
        self.0.iter().any(|linear| linear.excludes(views, config))
    }
}

impl Linear {
    fn new(problem: &Problem, vector: &Vector) -> Result<Linear, Flaw> {
        let linear = Linear::signed(problem, vector)?;
        match linear.locals.iter().find(|e| *e.1 < 0) {
            Some((l, _)) => Err(Flaw::Grows(format!("it is negative at {}", problem.model.local_name(*l)))),
            None => Ok(linear),
        }
    }

    fn signed(problem: &Problem, vector: &Vector) -> Result<Linear, Flaw> {
        let model = &*problem.model;
        let shared = vector.shared.iter().copied().collect();
        let locals: FxHashMap<Local, i64> = vector.locals.iter().copied().collect();
        let mut linear = Linear { shared, locals, most: i128::MIN };
        for family in &problem.initial {
            if let Some(l) = family.any.iter().find(|l| linear.of_local(**l) > 0) {
                let name = model.local_name(*l);
                return Err(Flaw::Grows(format!("any number of threads may start at {name}, which counts")));
            }
            linear.most = linear.most.max(linear.value(family.shared, &family.threads));
        }
        Ok(linear)
    }

    fn of_shared(&self, s: Shared) -> i128 {
        self.shared.get(&s).copied().unwrap_or(0).into()
    }

    fn of_local(&self, l: Local) -> i128 {
        self.locals.get(&l).copied().unwrap_or(0).into()
    }

    // At most 2³² threads in each of 2³² local states, 2⁶³ each: 128 bits are enough.
    fn value(&self, s: Shared, threads: &Bag) -> i128 {
        let each = threads.entries().iter().map(|&(l, n)| self.of_local(l) * i128::from(n));
        self.of_shared(s) + each.sum::<i128>()
    }

    fn excludes(&self, views: &Closed, config: &Config) -> bool {
        let model = views.model;
        if model.is_exact() {
            return self.value(config.shared, &config.threads) > self.most;
        }
        // Only states of the views occur; the one with the least value is assumed.
        let mut meeting = views.groups().filter(|(s, _)| model.meets_shared(*s, config.shared));
        meeting.all(|(s, group)| {
            let least = |l: Local| {
                let fitting = views.singles(group).filter(|&have| model.meets_local(have, l));
                fitting.map(|have| self.of_local(have)).min().unwrap_or(0)
            };
            let threads = config.threads.entries().iter().map(|&(l, n)| least(l) * i128::from(n));
            self.of_shared(s) + threads.sum::<i128>() > self.most
        })
    }
}
