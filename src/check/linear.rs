//! Vectors that no possible step increases: see [`crate::verdict::Vector`]. Nothing reachable has a larger value than all initial configurations.

use rustc_hash::FxHashMap;

use super::Flaw;
use super::views::Closed;
use crate::limits::Ticker;
use crate::model::{Bag, Config, Local, Others, Shared, Step};
use crate::problem::Problem;
use crate::verdict::Vector;

/// A vector.
struct Linear {
    shared: FxHashMap<Shared, i64>,
    locals: FxHashMap<Local, i64>,
    /// What no reachable configuration exceeds.
    most: i128,
}

/// Vectors that have been checked.
pub(super) struct Vectors(Vec<Linear>);

impl Vectors {
    pub(super) fn new(
        problem: &Problem,
        views: &Closed,
        vectors: &[Vector],
        ticker: &mut Ticker,
    ) -> Result<Vectors, Flaw> {
        let all = vectors.iter().map(|v| Linear::new(problem, v)).collect::<Result<Vec<_>, _>>()?;
        if all.is_empty() {
            return Ok(Vectors(all));
        }
        for (from, to) in views.stayed.borrow().iter() {
            if all.iter().any(|linear| linear.of_local(*to) > linear.of_local(*from)) {
                return Err(Flaw::Grows(views.model.local_name(*from)));
            }
        }
        views.each_possible_step(&mut |group, step| {
            ticker.ticks(all.len() as u32)?;
            let standing_by = views.singles(group).filter(|_| step.others != Others::Stay);
            let fates: Vec<(Local, Vec<Local>)> =
                standing_by.map(|b| (b, views.fates(step, step.to, b))).collect();
            let grows = |linear: &Linear| {
                let moves = |(b, fates): &(Local, Vec<Local>)| {
                    fates.iter().any(|&l| linear.most_of_local(views, l) > linear.of_local(*b))
                };
                linear.most_after(views, step) > linear.value(step.from, &step.take)
                    || fates.iter().any(moves)
            };
            if all.iter().any(grows) {
                Err(Flaw::Grows(views.model.edge_place(step.edge).text))
            } else {
                Ok(())
            }
        })?;
        Ok(Vectors(all))
    }

    /// Whether nothing that covers a concrete configuration of `config` is reachable.
    pub(super) fn exclude(&self, views: &Closed, config: &Config) -> bool {
        self.0.iter().any(|linear| linear.excludes(views, config))
    }
}

impl Linear {
    fn new(problem: &Problem, vector: &Vector) -> Result<Linear, Flaw> {
        let model = &*problem.model;
        let shared = vector.shared.iter().copied().collect();
        let locals: FxHashMap<Local, i64> = vector.locals.iter().copied().collect();
        let mut linear = Linear { shared, locals, most: i128::MIN };
        if let Some((l, _)) = linear.locals.iter().find(|e| *e.1 < 0) {
            return Err(Flaw::Grows(format!("it is negative at {}", model.local_name(*l))));
        }
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

    /// The largest value of what a step leads to; bystanders aside.
    fn most_after(&self, views: &Closed, step: &Step) -> i128 {
        let arrived = step.put.entries().iter().chain(step.spawn.entries());
        let threads = arrived.map(|&(l, n)| self.most_of_local(views, l) * i128::from(n));
        self.most_of_shared(views, step.to) + threads.sum::<i128>()
    }

    /// What a shared state that is arrived at may count; if views were rounded, it may have been taken for any that it meets.
    fn most_of_shared(&self, views: &Closed, s: Shared) -> i128 {
        let known = views.groups.keys().filter(|&&t| views.rounded.get() && views.model.meets_shared(s, t));
        known.map(|&t| self.of_shared(t)).max().unwrap_or_else(|| self.of_shared(s))
    }

    /// The same for a local state.
    fn most_of_local(&self, views: &Closed, l: Local) -> i128 {
        if !views.rounded.get() {
            return self.of_local(l);
        }
        let counting = self.locals.iter().filter(|&(&m, _)| views.model.meets_local(l, m));
        counting.map(|(_, &n)| n.into()).max().unwrap_or(0)
    }

    fn excludes(&self, views: &Closed, config: &Config) -> bool {
        let model = views.model;
        if model.is_exact() {
            return self.value(config.shared, &config.threads) > self.most;
        }
        // The states that occur are those of the views; the least any of them counts.
        let mut meeting = views.groups.iter().filter(|(s, _)| model.meets_shared(**s, config.shared));
        meeting.all(|(&s, group)| {
            let least = |l: Local| {
                let fitting = views.singles(group).filter(|&have| model.meets_local(have, l));
                fitting.map(|have| self.of_local(have)).min().unwrap_or(0)
            };
            let threads = config.threads.entries().iter().map(|&(l, n)| least(l) * i128::from(n));
            self.of_shared(s) + threads.sum::<i128>() > self.most
        })
    }
}
