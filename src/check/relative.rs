//! Whether a basis holds relative to invariants, and the invariants themselves: see [`crate::verdict::Relative`].
//!
//! In this order: the views are closed; no step that they allow increases a vector; the basis is closed under predecessors, except those that
//! the views or a vector rule out. Why that suffices: suppose a run reaches something bad. Its last configuration is
//! reachable, so nothing rules out what it covers, and it is above the basis. Then so is the one before: it covers a
//! predecessor that is above the basis, or is ruled out; but nothing reachable covers what is ruled out. And so on, back to the first one, which
//! is not above the basis.

use rustc_hash::FxHashMap;

use super::views::Set;
use super::{Flaw, check_basis};
use crate::limits::Ticker;
use crate::model::{Bag, Config, Local, Others, Shared};
use crate::problem::{Problem, Target};
use crate::verdict::{Relative, Vector};

pub(super) fn check_relative(
    problem: &Problem,
    target: &Target,
    relative: &Relative,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let views = Set::closed(problem, &relative.views, ticker)?;
    let mut linear = Vec::new();
    for vector in &relative.vectors {
        linear.push(Linear::new(problem, &views, vector, ticker)?);
    }
    let ruled_out = |c: &Config| !views.allows(c) || linear.iter().any(|l| l.excludes(&views, c));
    if relative.basis.is_empty() {
        // Larger configurations may do less: invariants alone do not care.
        return match target.configs.iter().find(|c| !ruled_out(c)) {
            Some(bad) => Err(Flaw::BadMember(bad.describe(views.model))),
            None => Ok(()),
        };
    }
    check_basis(problem, target, &relative.basis, &ruled_out, ticker)
}

/// A vector that no step increases.
struct Linear {
    shared: FxHashMap<Shared, i64>,
    locals: FxHashMap<Local, i64>,
    /// What no reachable configuration exceeds.
    most: i128,
}

impl Linear {
    fn new(problem: &Problem, views: &Set, vector: &Vector, ticker: &mut Ticker) -> Result<Linear, Flaw> {
        let shared = vector.shared.iter().copied().collect();
        let locals: FxHashMap<Local, i64> = vector.locals.iter().copied().collect();
        let mut linear = Linear { shared, locals, most: i128::MIN };
        if let Some((l, _)) = linear.locals.iter().find(|e| *e.1 < 0) {
            return Err(Flaw::Malformed(format!("a vector is negative at {}", views.model.local_name(*l))));
        }
        for family in &problem.initial {
            if let Some(&l) = family.any.iter().find(|l| linear.of_local(**l) > 0) {
                let name = views.model.local_name(l);
                return Err(Flaw::Grows(format!("any number of threads may start at {name}, which counts")));
            }
            linear.most = linear.most.max(linear.value(family.shared, &family.threads));
        }
        views.each_possible_step(&mut |group, step| {
            ticker.tick()?;
            let arrived = step.put.entries().iter().chain(step.spawn.entries());
            let threads: i128 = arrived.map(|&(l, n)| linear.most_of_local(views, l) * i128::from(n)).sum();
            if linear.most_of_shared(views, step.to) + threads > linear.value(step.from, &step.take) {
                return Err(Flaw::Grows(views.model.edge_place(step.edge).text));
            }
            for &b in group.singles.iter().filter(|_| step.others != Others::Stay) {
                let grows = |&l: &Local| linear.most_of_local(views, l) > linear.of_local(b);
                if views.fates(step, step.to, b).iter().any(grows) {
                    return Err(Flaw::Grows(views.model.edge_place(step.edge).text));
                }
            }
            Ok(())
        })?;
        Ok(linear)
    }

    fn of_shared(&self, s: Shared) -> i128 {
        self.shared.get(&s).copied().unwrap_or(0).into()
    }

    fn of_local(&self, l: Local) -> i128 {
        self.locals.get(&l).copied().unwrap_or(0).into()
    }

    /// What a shared state that is arrived at may count; if views were rounded, it may have been taken for any that it meets.
    fn most_of_shared(&self, views: &Set, s: Shared) -> i128 {
        let known = views.groups.keys().filter(|&&t| views.rounded.get() && views.model.meets_shared(s, t));
        known.map(|&t| self.of_shared(t)).max().unwrap_or_else(|| self.of_shared(s))
    }

    /// The same for a local state.
    fn most_of_local(&self, views: &Set, l: Local) -> i128 {
        if !views.rounded.get() {
            return self.of_local(l);
        }
        let counting = self.locals.iter().filter(|&(&m, _)| views.model.meets_local(l, m));
        counting.map(|(_, &n)| n.into()).max().unwrap_or(0)
    }

    // At most 2³² threads in each of 2³² local states, 2⁶³ each: 128 bits are enough.
    fn of_threads(&self, threads: &Bag) -> i128 {
        threads.entries().iter().map(|&(l, n)| self.of_local(l) * i128::from(n)).sum()
    }

    fn value(&self, s: Shared, threads: &Bag) -> i128 {
        self.of_shared(s) + self.of_threads(threads)
    }

    /// Whether nothing that covers a concrete configuration of `config` is reachable.
    fn excludes(&self, views: &Set, config: &Config) -> bool {
        let model = views.model;
        if model.is_exact() {
            return self.value(config.shared, &config.threads) > self.most;
        }
        // The states that occur are those of the views; the least any of them counts.
        let mut meeting = views.groups.iter().filter(|(s, _)| model.meets_shared(**s, config.shared));
        meeting.all(|(&s, group)| {
            let least = |l: Local| {
                let fitting = group.singles.iter().filter(|&&have| model.meets_local(have, l));
                fitting.map(|&have| self.of_local(have)).min().unwrap_or(0)
            };
            let threads = config.threads.entries().iter().map(|&(l, n)| least(l) * i128::from(n));
            self.of_shared(s) + threads.sum::<i128>() > self.most
        })
    }
}
