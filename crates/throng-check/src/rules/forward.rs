//! The rule for inductive invariants: a set that contains every initial configuration, is closed
//! under steps, and contains no target. By induction over the length of a run, only members are
//! reached.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

use super::Flaw;
use super::run::{Led, countable, each_initial};
use super::sets::{Order, Set};
use throng_model::Config;
use throng_model::limits::Ticker;
use throng_model::packed::{Finder, Packed};
use throng_model::problem::{Initial, Problem, Target};

/// The kind of a set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Every configuration that is reachable within the bound.
    Closed,
    /// Every configuration that is reached by a run that never has more threads than the bound: a
    /// step that would create more is not taken, rather than creating fewer.
    Within,
    /// Configurations with counts up to ω that cover every configuration reachable with any number
    /// of threads. This only requires that larger configurations have at least the same steps;
    /// firing handles ω exactly, or by its least upper bound. A thread bound only removes
    /// behaviour: where it keeps a step from creating threads, the result is covered by the result
    /// without the bound.
    Downward,
}

pub(super) fn check_forward(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    kind: Kind,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    check_closed(problem, target, set, kind, &mut |_, _, _| false, ticker)
}

/// A function that decides whether successors of a member may be outside.
pub(super) type Exempt<'a> = &'a (dyn Fn(&Config, Inside<'_>, &mut Led) -> bool + Sync);

/// Like [`check_closed`], for a set as a search stored it, in which only its members are. As many
/// threads as the limits allow share the members.
pub(super) fn check_packed(
    problem: &Problem,
    target: &Target,
    set: &Packed,
    exempt: Exempt<'_>,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    check_starts(problem, &mut set.finder(), Kind::Closed)?;
    let limits = ticker.limits();
    let workers = if set.len() < MANY { 1 } else { limits.checkers() };
    let work = |worker: usize| {
        let (mut finder, mut ticker) = (set.finder(), Ticker::new(limits));
        let members = set.share(worker, workers).map(Cow::Owned);
        let mut exempt = |_, config: &Config, inside: Inside<'_>, led: &mut Led| exempt(config, inside, led);
        check_members(problem, target, members, &mut finder, Kind::Closed, &mut exempt, &mut ticker)
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let own = work(0);
        let join = |other: ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|panic| resume_unwind(panic));
        others.into_iter().map(join).fold(own, Result::and)
    })
}

/// Number of members from which a set is checked by several threads.
const MANY: usize = 1 << 14;

/// A membership test.
trait Members {
    /// Returns whether a configuration is inside.
    fn holds(&mut self, config: &Config) -> bool;

    /// Returns the index of the first configuration that is not inside.
    fn first_missing(&mut self, configs: &[Config]) -> Option<usize> {
        configs.iter().position(|config| !self.holds(config))
    }
}

impl Members for Set<'_> {
    fn holds(&mut self, config: &Config) -> bool {
        Set::holds(self, config)
    }
}

impl Members for Finder<'_> {
    fn holds(&mut self, config: &Config) -> bool {
        Finder::holds(self, config)
    }

    fn first_missing(&mut self, configs: &[Config]) -> Option<usize> {
        Finder::first_missing(self, configs)
    }
}

/// A function that decides whether a configuration is in a set.
pub(super) type Inside<'a> = &'a mut dyn FnMut(&Config) -> bool;

/// Like [`check_forward`], but members that are `exempt`, given by their number, may have
/// successors outside.
pub(super) fn check_closed(
    problem: &Problem,
    target: &Target,
    set: &[Config],
    kind: Kind,
    exempt: &mut dyn FnMut(usize, Inside<'_>, &mut Led) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let order = if kind == Kind::Downward { Order::Below } else { Order::Same };
    let mut inside = Set::new(&*problem.model, set, order);
    let members = set.iter().map(Cow::Borrowed);
    let mut exempt = |i, _: &Config, inside: Inside<'_>, led: &mut Led| exempt(i, inside, led);
    check_starts(problem, &mut inside, kind)?;
    check_members(problem, target, members, &mut inside, kind, &mut exempt, ticker)
}

/// Checks that every initial configuration is inside.
fn check_starts(problem: &Problem, inside: &mut dyn Members, kind: Kind) -> Result<(), Flaw> {
    let model = &*problem.model;
    let mut starts = |config: Config| {
        if inside.holds(&config) { Ok(()) } else { Err(Flaw::InitialMissing(config.describe(model))) }
    };
    match (kind, model.blocking()) {
        (Kind::Downward, Some(why)) => Err(Flaw::NotForThisModel(why)),
        (Kind::Downward, None) => problem.initial.iter().map(Initial::omega).try_for_each(starts),
        _ => each_initial(problem, &mut starts),
    }
}

/// Checks that none of these members hits the target and all their successors are inside.
fn check_members<'a>(
    problem: &Problem,
    target: &Target,
    members: impl Iterator<Item = Cow<'a, Config>>,
    inside: &mut dyn Members,
    kind: Kind,
    exempt: &mut dyn FnMut(usize, &Config, Inside<'_>, &mut Led) -> bool,
    ticker: &mut Ticker,
) -> Result<(), Flaw> {
    let model = &*problem.model;
    let bound = problem.bound.threads();
    let counts = |c: &Config| kind != Kind::Within || bound.is_none_or(|n| c.threads.size() <= n);
    let bound = bound.filter(|_| kind == Kind::Closed);
    let (mut led, mut after) = (Led::new(model), Vec::new());
    for (i, config) in members.enumerate() {
        let config = &*config;
        ticker.ticks(16)?;
        countable(config)?;
        // Where members represent all configurations below them, a formula cannot be evaluated.
        let is_bad = match kind {
            Kind::Downward => target.may_be_hit(config, model),
            Kind::Closed | Kind::Within => target.hits(config, model)?,
        };
        if is_bad {
            return Err(Flaw::BadMember(config.describe(model)));
        }
        if exempt(i, config, &mut |c| inside.holds(c), &mut led) {
            continue;
        }
        led.fire(config, None, bound, &mut after)?;
        config.threads.entries().iter().try_for_each(|e| led.fire(config, Some(e.0), bound, &mut after))?;
        ticker.ticks(after.len() as u32)?;
        after.retain(counts);
        if let Some(outside) = inside.first_missing(&after) {
            return Err(Flaw::NotClosed(config.describe(model), after[outside].describe(model)));
        }
        after.clear();
    }
    Ok(())
}
